"""Small functions of tensors: log_softmax, softplus, conv1d, gated units, and every elementwise activation of transformers' ACT2FN.

Adversarial rows (+-1e30, infinities) have the limits as expected values, where the formulas give inf * 0 or inf - inf.
"""

import math

import torch
from torch.nn import functional
from transformers.activations import ACT2FN

from common import Group, arguments, normal

FILE = "functional.safetensors"
INFINITE = math.inf


def single(x):
    return torch.as_tensor(x, dtype=torch.float64).float().double()


def add_log_softmax(group):
    shapes = {"one": (1,), "row": (7,), "matrix": (4, 5), "cube": (2, 3, 4), "long": (2, 600)}
    for name, shape in shapes.items():
        x = normal(f"functional/log_softmax/{name}", shape, 3.0)
        for dim in range(-len(shape), len(shape)):
            group.run(f"log_softmax_{name}_dim{dim}", "log_softmax", {"dim": dim}, {"input": x},
                      lambda input, dim=dim: {"output": input.log_softmax(dim)}, file=FILE)
    rows = {"huge": [[1e30, -1e30, 0.0], [-1e30, -1e30, -1e30], [1e30, 1e30, 1.0]],
            "minus_infinity": [[-INFINITE, 0.0, 1.0], [0.0, -INFINITE, -INFINITE]],
            "far_apart": [[0.0, -87.0, -88.0, -103.0, -104.0, -150.0], [88.0, 0.0, -88.0, 87.9, 80.0, 1.0]],
            "large_offset": [[1e6 + i for i in range(6)], [-1e6 + i / 8 for i in range(6)]]}
    for name, values in rows.items():
        group.run(f"log_softmax_{name}", "log_softmax", {"dim": -1}, {"input": single(values)},
                  lambda input: {"output": input.log_softmax(-1)}, file=FILE)
    group.case("log_softmax_nothing_left", "log_softmax", {"dim": -1}, {"input": torch.full((2, 4), -INFINITE)},
               {"output": torch.full((2, 4), -INFINITE)}, file=FILE, nan_upstream=["output"],
               note="upstream is NaN; softmax of such a row is 0 here, and ln 0 = -inf")


def with_limits(function, x):
    """The function in float64; at the infinities its limit, evaluated far out."""
    far = function(torch.where(x.isinf(), x.sign() * 1e200, x))
    return torch.where(x.isinf() & (far.abs() > 1e100), far.sign() * INFINITE, far)


def exact_gelu(x):
    """x Phi(x) by erfc, which stays accurate where 1 + erf(x / sqrt 2) cancels."""
    return 0.5 * x * torch.special.erfc(-x / math.sqrt(2))


def exact_laplace(x):
    return 0.5 * torch.special.erfc(-(x - 0.707107) / (0.282095 * math.sqrt(2.0)))


def exact_gelu_tanh(x):
    return x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))


# More accurate forms of functions where upstream's cancel or overflow even in float64.
EXACT = {"gelu": exact_gelu, "gelu_python": exact_gelu, "gelu_10": lambda x: exact_gelu(x).clamp(max=10.0), "laplace": exact_laplace,
         "mish": lambda x: x * torch.tanh(functional.softplus(x, threshold=50.0)),
         "sqrtsoftplus": lambda x: functional.softplus(x, threshold=50.0).sqrt(),
         "hardswish": lambda x: x * (x + 3).clamp(0, 6) / 6}
EXACT |= {name: exact_gelu_tanh for name in ("gelu_fast", "gelu_new", "gelu_accurate", "gelu_pytorch_tanh", "gelu_python_tanh")}
LEARNED = ("prelu", "xielu")  # have parameters


def add_activations(group):
    grid = torch.cat([torch.linspace(-12, 12, 121), torch.tensor([0.0, -0.0, 1e-30, -1e-30, 1e-8, 20.0, -20.0, 80.0, -80.0, 1e30, -1e30,
                                                                  INFINITE, -INFINITE])]).float().double()
    names = [name for name in ACT2FN if name not in LEARNED]
    functions = {name: EXACT.get(name, ACT2FN[name]) for name in names} | {"erf": torch.erf}
    for name, function in functions.items():
        if name in ACT2FN:  # the exact form is the same function
            inner = grid[grid.abs() < 5]
            assert torch.allclose(function(inner), ACT2FN[name](inner), atol=1e-7), name
        output = with_limits(function, grid) if name != "linear" else grid
        group.case(f"activation_{name}", "activation", {"activation": name}, {"input": grid}, {"output": output}, file=FILE)


def add_softplus(group):
    x = torch.cat([torch.linspace(-30, 30, 61), torch.tensor([0.0, -100.0, 100.0, 1e30, -1e30, 19.99, 20.01])]).float().double()
    settings = {"plain": {}, "beta_2": {"beta": 2.0}, "beta_half": {"beta": 0.5}, "beta_minus_1": {"beta": -1.0},
                "threshold_1": {"threshold": 1.0}, "threshold_-1": {"threshold": -1.0}, "both": {"beta": 3.0, "threshold": 0.5},
                "threshold_90": {"threshold": 90.0}}
    for name, options in settings.items():
        group.run(f"softplus_{name}", "softplus", options, {"input": x},
                  lambda input, options=options: {"output": functional.softplus(input, **options)}, file=FILE)


GATES = {"glu": torch.sigmoid, "reglu": torch.relu, "geglu": exact_gelu, "swiglu": functional.silu}


def gated(name, x, dim):
    first, second = x.chunk(2, dim)
    return first * GATES[name](second)


def add_gated_units(group):
    for unit in GATES:
        for label, shape, dim in (("row", (6,), -1), ("matrix", (3, 10), -1), ("first", (4, 5), 0), ("middle", (2, 6, 3), 1),
                                  ("long", (2, 66), -1)):
            x = normal(f"functional/{unit}/{label}", shape, 2.0)

            def function(input, unit=unit, dim=dim):
                return {"output": functional.glu(input, dim) if unit == "glu" else gated(unit, input, dim)}
            group.run(f"{unit}_{label}", unit, {"dim": dim}, {"input": x}, function, file=FILE)


def add_conv1d(group):
    cases = {
        "plain": ((2, 3, 11), (4, 3, 3), {}), "no_batch": ((3, 9), (2, 3, 4), {}), "pointwise": ((2, 5, 7), (6, 5, 1), {}),
        "stride": ((2, 3, 11), (4, 3, 3), {"stride": 2}), "stride_5": ((1, 2, 17), (3, 2, 2), {"stride": 5}),
        "padding": ((2, 3, 5), (4, 3, 3), {"padding": 2}), "dilation": ((1, 3, 14), (2, 3, 3), {"dilation": 4}),
        "groups": ((2, 6, 8), (4, 3, 3), {"groups": 2}), "depthwise": ((2, 5, 9), (10, 1, 3), {"groups": 5, "padding": 1}),
        "same": ((2, 3, 8), (4, 3, 3), {"padding": "same"}), "same_even": ((2, 3, 8), (4, 3, 4), {"padding": "same", "dilation": 3}),
        "valid": ((1, 2, 6), (3, 2, 3), {"padding": "valid"}),
        "all": ((2, 4, 19), (6, 2, 3), {"stride": 3, "padding": 4, "dilation": 2, "groups": 2}), "one": ((1, 1, 1), (1, 1, 1), {}),
        "wide": ((1, 40, 64), (33, 40, 5), {"padding": 2}),
    }
    for name, (shape, kernel, options) in cases.items():
        for bias in (True, False):
            inputs = {"input": normal(f"functional/conv1d/{name}/x", shape), "weight": normal(f"functional/conv1d/{name}/w", kernel, 0.5)}
            if bias:
                inputs["bias"] = normal(f"functional/conv1d/{name}/b", (kernel[0],), 0.5)

            def function(input, weight, bias=None, options=options):
                magnitude = functional.conv1d(input.abs(), weight.abs(), None if bias is None else bias.abs(), **options)
                return {"output": functional.conv1d(input, weight, bias, **options), "sum_of_absolute": magnitude}
            group.run(f"conv1d_{name}" + ("" if bias else "_no_bias"), "conv1d", options, inputs, function, file=FILE)


def main():
    args = arguments(__doc__)
    group = Group(args, "functional", "functional.py")
    for part in (add_log_softmax, add_activations, add_softplus, add_gated_units, add_conv1d):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
