"""torch.nn's Linear, Embedding, LayerNorm, RMSNorm, the activations, gated feed-forward, and the output layer."""

import math

import torch
from torch import nn
from torch.nn import functional

from common import Group, arguments, fill_state_dict, integers, normal

FILE = "modules.safetensors"


def add_module(group, name, op, module, options, inputs):
    fill_state_dict(module, f"modules/{name}").eval()
    weights = group.put_weights(FILE, f"{name}.weights.", module) if module.state_dict() else None
    group.run(name, op, options, inputs, lambda **inputs: {"output": module(*inputs.values())}, file=FILE, module=module,
              weights=weights)


def x_of(name, shape, scale=1.0):
    return {"input": normal(f"modules/{name}/input", shape, scale)}


def add_linear(group):
    sizes = {"vector": ((7,), 7, 3), "matrix": ((4, 5), 5, 30), "batch": ((2, 3, 30), 30, 44), "four": ((2, 2, 3, 6), 6, 5),
             "one": ((1, 1), 1, 1), "row": ((1, 64), 64, 17), "wide": ((3, 17), 17, 129), "deep": ((2, 600), 600, 9)}
    for name, (shape, d_in, d_out) in sizes.items():
        for bias in (True, False):
            full = f"linear_{name}" + ("" if bias else "_no_bias")
            options = {"in_features": d_in, "out_features": d_out, "bias": bias}
            add_module(group, full, "Linear", nn.Linear(**options), options, x_of(full, shape))


def add_embedding(group):
    for name, (count, size, shape, padding) in {"plain": (11, 6, (2, 5), None), "one": (1, 1, (3,), None), "padding": (9, 5, (2, 4), 0),
                                                "scalar": (7, 3, (), None)}.items():
        module = nn.Embedding(count, size, padding_idx=padding)
        options = {"num_embeddings": count, "embedding_dim": size, "padding_idx": padding}
        ids = torch.tensor(3) if shape == () else integers(f"modules/embedding/{name}", shape, 0, count)
        add_module(group, f"embedding_{name}", "Embedding", module, options, {"input": ids})


def add_norms(group):
    shapes = {"vector": ((2, 3, 5), (5,)), "30": ((2, 4, 30), (30,)), "one_row": ((1, 17), (17,)), "two": ((2, 3, 4, 5), (4, 5)),
              "all": ((3, 4), (3, 4)), "64": ((3, 64), (64,)), "600": ((2, 600), (600,)), "size_1": ((4, 1), (1,))}
    for name, (shape, normalized) in shapes.items():
        options = {"normalized_shape": list(normalized), "eps": 1e-5}
        add_module(group, f"layer_norm_{name}", "LayerNorm", nn.LayerNorm(normalized), options, x_of(f"layer_norm/{name}", shape, 2.0))
        add_module(group, f"rms_norm_{name}", "RMSNorm", nn.RMSNorm(normalized, eps=1e-6), options | {"eps": 1e-6},
                   x_of(f"rms_norm/{name}", shape, 2.0))
    for name, settings in {"no_affine": {"elementwise_affine": False}, "no_bias": {"bias": False}, "eps_1e-12": {"eps": 1e-12},
                           "eps_half": {"eps": 0.5}}.items():
        module = nn.LayerNorm(10, **settings)
        add_module(group, f"layer_norm_{name}", "LayerNorm", module, {"normalized_shape": [10]} | settings, x_of(f"ln/{name}", (3, 10)))
    for name, settings in {"no_affine": {"elementwise_affine": False, "eps": 1e-5}, "eps_half": {"eps": 0.5}}.items():
        module = nn.RMSNorm(10, **settings)
        add_module(group, f"rms_norm_{name}", "RMSNorm", module, {"normalized_shape": [10]} | settings, x_of(f"rms/{name}", (3, 10)))
    # eps=None means the machine epsilon of the input's dtype: of float32, although the reference runs in float64.
    epsilon = torch.finfo(torch.float32).eps
    small = x_of("rms/eps_none", (3, 10), 1e-3)
    add_module(group, "rms_norm_eps_none", "RMSNorm", nn.RMSNorm(10, eps=epsilon), {"normalized_shape": [10], "eps": None}, small)


ACTIVATIONS = {
    "relu": functional.relu, "gelu": functional.gelu, "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "exp": torch.exp, "erf": torch.erf,
}


def add_activations(group):
    grid = torch.cat([torch.linspace(-12, 12, 481), torch.tensor([0.0, -0.0, 1e-30, -1e-30, 1e-8, 20.0, -20.0, 80.0, -80.0])])
    grid = torch.cat([grid, normal("modules/activations", (37,), 3.0)]).float().double()
    for name, function in ACTIVATIONS.items():
        x = grid.clamp(max=10.0 if name == "exp" else 80.0)
        group.run(f"activation_{name}", "activation", {"activation": name}, {"input": x},
                  lambda input, function=function: {"output": exact_gelu(input) if name == "gelu" else function(input)}, file=FILE)


def exact_gelu(x):
    """x Phi(x) by erfc, which stays accurate where 1 + erf(x / sqrt 2) cancels; float32 is PyTorch's own."""
    if x.dtype is torch.float32:
        return functional.gelu(x)
    return 0.5 * x * torch.special.erfc(-x / math.sqrt(2))


class Gated(nn.Module):
    """down(act(gate(x)) * up(x)): SwiGLU with silu, GeGLU with gelu; the keys of Llama's feed-forward."""

    def __init__(self, d_model, hidden, activation, bias):
        super().__init__()
        self.gate_proj = nn.Linear(d_model, hidden, bias=bias)
        self.up_proj = nn.Linear(d_model, hidden, bias=bias)
        self.down_proj = nn.Linear(hidden, d_model, bias=bias)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x):
        return self.down_proj(self.activation(self.gate_proj(x)) * self.up_proj(x))


class FeedForward(nn.Module):
    def __init__(self, d_model, hidden, activation, bias):
        super().__init__()
        self.dense1 = nn.Linear(d_model, hidden, bias=bias)
        self.dense2 = nn.Linear(hidden, d_model, bias=bias)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x):
        return self.dense2(self.activation(self.dense1(x)))


def add_feed_forward(group):
    for kind, op in ((FeedForward, "feed_forward"), (Gated, "gated_feed_forward")):
        for activation in ("relu", "gelu", "gelu_tanh", "silu"):
            for bias in (True, False):
                name = f"{op}_{activation}" + ("" if bias else "_no_bias")
                module = kind(10, 13, activation, bias)
                options = {"d_model": 10, "hidden": 13, "activation": activation, "bias": bias}
                add_module(group, name, op, module, options, x_of(name, (2, 3, 10)))


def add_output_layer(group):
    """logits = x W^T (+ b), tied to the embedding or not, and their softmax."""
    for name, bias in (("tied", False), ("linear", True)):
        inputs = {"hidden_states": normal(f"modules/output/{name}/x", (2, 3, 10)), "weight": normal(f"modules/output/{name}/w", (23, 10), 0.5)}
        if bias:
            inputs["bias"] = normal(f"modules/output/{name}/b", (23,), 0.3)

        def function(hidden_states, weight, bias=None):
            logits = functional.linear(hidden_states, weight, bias)
            return {"logits": logits, "probabilities": logits.softmax(-1), "log_probabilities": logits.log_softmax(-1)}
        group.run(f"output_layer_{name}", "output_layer", {"tied": name == "tied"}, inputs, function, file=FILE)


def main():
    args = arguments(__doc__)
    group = Group(args, "modules", "modules.py")
    for part in (add_linear, add_embedding, add_norms, add_activations, add_feed_forward, add_output_layer):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
