"""What transformers fills the weights of a new model with, for the configs of the tiny checkpoints and every task that they
have here: for each tensor that would be saved the distribution and its parameters, recorded where it is drawn."""

import contextlib
import json
import os
import tempfile

import torch
import transformers
from safetensors.torch import load_file
from transformers import initialization

from common import Group, arguments

DRAWN = ("normal_", "trunc_normal_", "uniform_", "xavier_uniform_", "kaiming_uniform_", "zeros_", "ones_", "constant_")


def described(name, tensor, args, kwargs):
    """The distribution as a list: its kind and parameters."""
    given = list(args)

    def number(key, place, default):
        return float(kwargs.get(key, given[place] if len(given) > place else default))

    if name == "normal_":
        return ["normal", number("mean", 0, 0), number("std", 1, 1)]
    if name == "trunc_normal_":
        return ["truncated", number("std", 1, 1), number("a", 2, -2), number("b", 3, 2)]
    if name == "uniform_":
        return ["uniform", number("b", 1, 1)]
    if name in ("xavier_uniform_", "kaiming_uniform_"):
        fan_in, fan_out = torch.nn.init._calculate_fan_in_and_fan_out(tensor)
        slope = number("a", 0, 0) if name == "kaiming_uniform_" else 0
        return ["uniform", (6 / (fan_in + fan_out) if name == "xavier_uniform_" else 6 / ((1 + slope**2) * fan_in)) ** 0.5]
    return ["constant", {"zeros_": 0.0, "ones_": 1.0}.get(name, number("val", 0, 0))]


@contextlib.contextmanager
def recorded(drawn):
    """Notes by memory address what each tensor, or its first elements, was filled with last."""
    plain = dict(initialization.TORCH_INIT_FUNCTIONS)

    def noting(name):
        def call(tensor, *args, **kwargs):
            if tensor.numel() > 0:
                drawn[tensor.data_ptr(), tensor.numel()] = described(name, tensor, args, kwargs)
            return plain[name](tensor, *args, **kwargs)

        return call

    for name in DRAWN:
        initialization.TORCH_INIT_FUNCTIONS[name] = noting(name)
        setattr(torch.nn.init, name, initialization.TORCH_INIT_FUNCTIONS[name])
    copy, uniform, log = initialization.copy_, torch.Tensor.uniform_, torch.Tensor.log_

    def copied(tensor, other):
        found = drawn.pop((other.data_ptr(), other.numel()), None)
        drawn[tensor.data_ptr(), tensor.numel()] = found if found and found[0] == "logarithm" else ["copied"]
        return copy(tensor, other)

    def spread(tensor, low=0, high=1, **others):
        if low == 0:  # others are drawn by the functions above
            drawn[tensor.data_ptr(), tensor.numel()] = ["uniform", float(high)]
        return uniform(tensor, low, high, **others)

    def logarithm(tensor):
        place = tensor.data_ptr(), tensor.numel()
        drawn[place] = ["logarithm", *drawn[place][1:]]
        return log(tensor)

    initialization.copy_, torch.Tensor.uniform_, torch.Tensor.log_ = copied, spread, logarithm
    try:
        yield
    finally:
        initialization.copy_, torch.Tensor.uniform_, torch.Tensor.log_ = copy, uniform, log
        initialization.TORCH_INIT_FUNCTIONS.update(plain)
        for name in DRAWN:
            setattr(torch.nn.init, name, plain[name])


def filled_with(tensor, drawn):
    found = drawn.get((tensor.data_ptr(), tensor.numel()))
    if found is None:  # copied, or made by torch's own reset_parameters
        flat = tensor.reshape(-1)
        return ["constant", float(flat[0])] if bool((flat == flat[0]).all()) else ["other", float(flat.abs().max())]
    return found


def zero_row(tensor, found):
    """The row of a table that is set to zero: that of padding."""
    if found[0] in ("constant", "copied") or tensor.dim() != 2:
        return []
    rows = (tensor == 0).all(dim=1).nonzero().reshape(-1).tolist()
    return rows if len(rows) == 1 else []


def stored_tensors(model):
    """The names in the file that save_pretrained writes, with the tensors' sizes there and the model's tensors: of several that
    are stacked in one the first."""
    with tempfile.TemporaryDirectory() as saved:
        model.save_pretrained(saved)
        stored = load_file(os.path.join(saved, "model.safetensors"))
    state = model.state_dict()
    for name, value in stored.items():
        if "inv_freq" in name or "contact_head" in name:  # of ESM: no weights, and not read here
            continue
        # transformers 5.12 writes ESM's norms under names that no other file has had for years, and reads both.
        name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        if name in state:
            yield name, value.shape, state[name]
        else:  # renamed in the file
            same = [other for other in state.values() if other.shape[1:] == value.shape[1:] and torch.equal(other, value[: len(other)])]
            yield name, value.shape, same[0]


def case_of(checkpoint):
    config = transformers.AutoConfig.from_pretrained(checkpoint)
    drawn = {}
    torch.manual_seed(0)
    with recorded(drawn):
        model = getattr(transformers, config.architectures[0])(config)
    tensors = {}
    for name, shape, tensor in stored_tensors(model):
        found = filled_with(tensor, drawn)
        tensors[name] = [list(shape), found, *zero_row(tensor, found)]
    return tensors


def main():
    args = arguments(__doc__)
    group = Group(args, "initial_weights", "initial_weights.py", ("transformers",))
    models = os.path.join(args.out, "models")
    for architecture in sorted(os.listdir(models)):
        if architecture in ("nn_transformer", "sentence_transformers"):
            continue
        with open(os.path.join(models, architecture, "cases.json"), encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        tasks = {case["options"]["checkpoint"]: case["options"]["task"] for case in cases if case["op"] == "model_forward"}
        for checkpoint, task in tasks.items():
            if checkpoint.startswith(("old", "whole")) or checkpoint.replace("even", "odd") in tasks and checkpoint.startswith("even"):
                continue
            tensors = case_of(os.path.join(models, architecture, checkpoint))
            kinds = sorted({json.dumps(one[1]) for one in tensors.values()})
            placed = {key: [dims, kinds.index(json.dumps(kind)), *row] for key, (dims, kind, *row) in tensors.items()}
            group.cases.append({"name": f"{architecture}/{checkpoint}", "op": "initial_weights", "options": {"task": task},
                                "distributions": [json.loads(kind) for kind in kinds], "tensors": placed})
            print(architecture, checkpoint, len(tensors), kinds)
    group.save()


if __name__ == "__main__":
    main()
