"""Random edits of the tiny checkpoints of hooks.py: at any hook point that PyTorch's hooks can change, in any part, with any op.

    python3 tests/references/hooks_random.py --out tests/fixtures
    python3 tests/references/hooks_random.py --out <folder> --count 100 --seed x
"""

import random

import torch

from common import FIXTURES, Group, arguments, float64_everywhere, largest_difference
from hooks import MODELS, inputs_of, load, run, wide
from hooks_edits import axes_of, functions
from models_common import double_of

OPS = ("zero", "mean", "scale", "add", "replace", "clamp", "project_out")  # the last needs features


def draw_indices(rng, size):
    """An index, or several in order; some count from the end."""
    indices = [index - size if rng.random() < 0.3 else index for index in sorted(rng.sample(range(size), rng.randint(1, size)))]
    return indices[0] if rng.random() < 0.5 else indices


def selected(edit, key, size):
    """The length of an axis in the region; None if it is dropped."""
    pick = edit.get(key)
    return size if pick is None else len(pick) if isinstance(pick, list) else None


def draw_edit(rng, hook, value, tensors):
    axes = axes_of(hook, value.dim())
    edit = {"hook": hook, "op": rng.choice(OPS if "feature" in axes else OPS[:-1])}
    if edit["op"] == "mean" and hook.endswith("hook_attn_scores"):  # the mean of masked scores may mask every key
        edit["op"] = "zero"
    for key, axis in axes.items():
        if rng.random() < 0.35 and not (key == "feature" and edit["op"] == "project_out"):
            edit[key] = draw_indices(rng, value.shape[axis])
    shape = [value.shape[axis] for axis in range(value.dim())]
    for key, axis in axes.items():
        shape[axis] = selected(edit, key, value.shape[axis])
    shape = [size for size in shape if size is not None]

    def tensor(sizes):
        name = f"value_{len(tensors)}"
        tensors[name] = torch.randn(sizes, generator=torch.Generator().manual_seed(rng.randrange(2**31)))
        return name

    if edit["op"] in ("scale", "add", "replace"):
        if rng.random() < 0.4 or not shape:
            edit["value"] = rng.choice([0.5, -1.0, 2.0, 0.0, 1.25])
        else:
            sizes = shape[rng.randint(0, len(shape)):] if rng.random() < 0.5 else shape
            edit["value"] = tensor([1 if rng.random() < 0.2 else size for size in sizes])
    elif edit["op"] == "mean" and shape and rng.random() < 0.3:
        edit["value"] = tensor(shape[-1:])
    elif edit["op"] == "clamp":
        edit |= rng.choice([{"min": -0.25}, {"max": 0.3}, {"min": -0.5, "max": 0.1}])
    elif edit["op"] == "project_out":
        edit["value"] = tensor([value.shape[-1]] if rng.random() < 0.5 else [rng.randint(1, 2), value.shape[-1]])
    return edit


def draw_edits(rng, inputs, values):
    """(edits, tensors) for a pass with these values of the hook points."""
    batch = next(iter(inputs.values())).shape[0]
    hooks = [hook for hook, value in values.items() if value.dim() in (3, 4) and value.shape[0] == batch]
    tensors = {}
    edits = [draw_edit(rng, hook, values[hook], tensors) for hook in rng.choices(hooks, k=rng.choice([1, 1, 2, 3]))]
    return edits, tensors


def add_random(group, name, model, double, inputs, values, case):
    """A case; nothing if a hook cannot change that value, or for infinities."""
    rng = random.Random(case)
    edits, tensors = draw_edits(rng, inputs, values)
    try:
        logits = run(model, inputs, functions(edits, tensors))[0].logits
        with float64_everywhere():
            exact = run(double, wide(inputs), functions(edits, tensors))[0].logits
    except ValueError:  # only read
        return
    if not logits.isfinite().all():
        return
    checkpoint, task = MODELS[name]
    group.case(case, "run_with_hooks", {"checkpoint": checkpoint, "task": task, "edits": edits}, inputs | tensors, {"logits": logits},
               file=f"{name}.safetensors", errors={"logits": largest_difference(logits, exact)})


def main():
    args = arguments(__doc__, count=4, seed="")
    group = Group(args, "hooks_random", "hooks_random.py", ["transformers"])
    args.out = FIXTURES
    for name in MODELS:
        model = load(args, name)
        inputs = inputs_of(name, model.config)
        out, values = run(model, inputs)
        if "logits" not in out:
            continue
        double = double_of(model)
        for number in range(args.count):
            add_random(group, name, model, double, inputs, values, f"{name}_{args.seed}{number}")
    group.save()


if __name__ == "__main__":
    main()
