"""Rows on which naive float32 is inaccurate; every expected value comes from float64 or more.

`float32_error` is PyTorch's own; `relative` means that errors are relative to the size of the expected value.
"""

import math

import torch
from torch.nn import functional

from common import Group, arguments, normal

FILE = "adversarial.safetensors"
HUGE = 1e30


def single(x):
    return torch.as_tensor(x, dtype=torch.float64).float().double()


def layer_norm_rows():
    rows = {}
    for d in (5, 64, 600, 768):
        rows[f"mean_1e4_d{d}"] = single(normal(f"adversarial/mean/{d}", (2, d), 0.1, mean=1e4))
        rows[f"scale_1e18_d{d}"] = single(normal(f"adversarial/scale/{d}", (2, d)) * 1e18)
    rows["mean_minus_1e6_d30"] = single(normal("adversarial/mean/minus", (2, 30), 1.0, mean=-1e6))
    rows["scale_1e-18_d64"] = single(normal("adversarial/tiny", (2, 64)) * 1e-18)
    rows["scale_1e-4_d64"] = single(normal("adversarial/small", (2, 64)) * 1e-4)
    rows["all_equal"] = torch.full((1, 37), 3.25, dtype=torch.float64)
    rows["all_equal_third"] = single(torch.full((1, 37), 1 / 3))
    rows["all_equal_1e18"] = single(torch.full((1, 37), 1e18))
    rows["zeros"] = torch.zeros(1, 37, dtype=torch.float64)
    rows["one_outlier"] = single([[1e6] + [1e-3] * 63])
    rows["alternating"] = single([[1e4, -1e4] * 32 + [1.0]])
    rows["growing"] = single([[2.0 ** i for i in range(-30, 31)]])
    return rows


def add_norms(group):
    for name, x in layer_norm_rows().items():
        shape, eps = x.shape[-1:], 1e-5
        weight, bias = normal(f"adversarial/{name}/weight", shape, 0.2, mean=1.0), normal(f"adversarial/{name}/bias", shape, 0.3)
        inputs = {"input": x, "weight": weight, "bias": bias}
        group.run(f"layer_norm_{name}", "LayerNorm", {"normalized_shape": list(shape), "eps": eps}, inputs,
                  lambda input, weight, bias: {"output": functional.layer_norm(input, shape, weight, bias, eps),
                                               "normalized": functional.layer_norm(input, shape, None, None, eps)}, file=FILE)
        group.run(f"rms_norm_{name}", "RMSNorm", {"normalized_shape": list(shape), "eps": eps}, {"input": x, "weight": weight},
                  lambda input, weight: {"output": functional.rms_norm(input, shape, weight, eps)}, file=FILE)


def softmax_rows():
    infinite = math.inf
    return {
        "huge": [[HUGE, -HUGE, 0.0], [-HUGE, -HUGE, -HUGE], [HUGE, HUGE, 1.0], [HUGE, 1.0, 2.0], [-HUGE, 1.0, 2.0]],
        "huge_neighbours": [[HUGE, float(torch.nextafter(torch.tensor(HUGE), torch.tensor(0.0))), 0.0]],
        "largest_float": [[3.4028234663852886e38, -3.4028234663852886e38, 0.0, 3.4028234663852886e38]],
        "minus_infinity": [[-infinite, 0.0, 1.0], [0.0, -infinite, -infinite], [-infinite, -HUGE, -HUGE]],
        "all_equal": [[0.1] * 7, [HUGE] * 7, [-HUGE] * 7, [1e4] * 7],
        "all_equal_600": [[0.3] * 600],
        "far_apart": [[0.0, -87.0, -88.0, -103.0, -104.0, -150.0], [88.0, 0.0, -88.0, 87.9, 80.0, 1.0]],
        "large_offset": [[1e6 + i for i in range(6)], [-1e6 + i / 8 for i in range(6)]],
        "subnormal": [[1e-40, -1e-40, 0.0, 1e-45]],
    }


def add_softmax(group):
    for name, rows in softmax_rows().items():
        group.run(f"softmax_{name}", "softmax", {"dim": -1}, {"input": single(rows)},
                  lambda input: {"output": input.softmax(-1)}, file=FILE)
    group.case("softmax_nothing_left", "masked_row", {"dim": -1}, {"input": torch.full((2, 4), -math.inf)},
               {"output": torch.zeros(2, 4)}, file=FILE, nan_upstream=["output"],
               note="softmax alone is NaN; as attention weights a row of -inf is 0")


def add_attention(group):
    """Scores of +-1e30 and beyond through whole attention; equal scores give the mean."""
    d, m = 4, 6
    value = normal("adversarial/attention/value", (1, 1, m, 3))
    keys = {"huge": torch.tensor([1.0, -1.0, 0.5, 1.0, -2.0, 0.0])[:, None].double() * torch.ones(d, dtype=torch.float64) * 1e15,
            "equal": torch.ones(m, d, dtype=torch.float64), "zero": torch.zeros(m, d, dtype=torch.float64)}
    queries = {"huge": torch.tensor([1.0, -1.0, 0.0])[:, None].double() * torch.ones(d, dtype=torch.float64) * 5e14,
               "equal": normal("adversarial/attention/query", (3, d)), "zero": normal("adversarial/attention/query", (3, d))}
    for name in keys:
        for mask in (None, torch.tensor([[0.0, -math.inf, 0.0, -math.inf, 0.0, 0.0]], dtype=torch.float64)):
            inputs = {"query": single(queries[name])[None, None], "key": single(keys[name])[None, None], "value": value}
            label = name if mask is None else f"{name}_masked"
            if mask is not None:
                inputs["attn_mask_additive"] = mask
            group.run(f"attention_{label}", "scaled_dot_product_attention", {}, inputs, attention, file=FILE)


def attention(query, key, value, attn_mask_additive=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = (scores if attn_mask_additive is None else scores + attn_mask_additive).softmax(-1)
    return {"weights": weights, "output": weights @ value}


def accurate(name, x):
    """GELU and SiLU in float64, with their limits at the infinities, where the formulas give inf * 0."""
    if name == "gelu":
        y = 0.5 * x * torch.special.erfc(-x / math.sqrt(2))
    elif name == "gelu_tanh":
        y = x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))  # (1 + tanh u) / 2 = sigmoid(2 u)
    else:
        y = x * torch.sigmoid(x)
    return torch.where(x == -math.inf, torch.zeros_like(x), y)


def add_activations(group):
    x = single([math.inf, -math.inf, 0.0, -0.0, HUGE, -HUGE, 1e38, -1e38, 1e-40, -1e-40, 5.0, -5.0, 8.0, -8.0, 10.0, -10.0, 13.0, -13.0,
                13.5, -13.5, 14.5, -14.5, 26.0, -26.0, 88.0, -88.0, 104.0, -104.0, 1000.0, -1000.0])
    torchs = {"gelu": functional.gelu, "gelu_tanh": lambda v: functional.gelu(v, approximate="tanh"), "silu": functional.silu}
    for name, function in torchs.items():
        upstream = function(x.float())
        nan = x[upstream.isnan()].tolist()
        exact = accurate(name, x)
        error = float((upstream.double() - exact)[~upstream.isnan() & exact.isfinite()].abs().max())
        group.case(f"activation_{name}", "activation", {"activation": name}, {"input": x}, {"output": exact}, file=FILE,
                   errors={"output": error}, nan_upstream_at=[str(value) for value in nan])


def add_sums(group):
    """Dot products with cancellation, as inputs of matmul and bmm; the error bound is eps * sum |a b|."""
    for k in (600, 4096):
        a, b = normal(f"adversarial/sum/{k}/a", (2, k)), normal(f"adversarial/sum/{k}/b", (k, 2))
        a[1] = single(a[1] * 1e4)
        group.run(f"matmul_k{k}", "matmul", {}, {"input": a, "mat2": b},
                  lambda input, mat2: {"output": input @ mat2, "sum_of_absolute": input.abs() @ mat2.abs()}, file=FILE)


def main():
    args = arguments(__doc__)
    group = Group(args, "adversarial", "adversarial.py")
    for part in (add_norms, add_softmax, add_attention, add_activations, add_sums):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
