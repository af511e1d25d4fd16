"""Gradients through random edits of hooks_random.py: of activations, of the edits' values and of weights, by autograd in float64.

    python3 tests/references/gradients_random.py --out tests/fixtures
    python3 tests/references/gradients_random.py --out <folder> --count 100 --seed x
"""

import os
import random

import torch
from transformers import GenerationMixin

from common import FIXTURES, Group, arguments, float64_everywhere, largest_difference
from gradients_models import stored_names
from hooks import MODELS, inputs_of, load, wide
from hooks_attach import attach
from hooks_edits import functions
from hooks_random import draw_edits
from hooks_watch import Watch
from models_common import double_of

HOOKS, WEIGHTS = 3, 2  # of a case
LARGEST = 700  # numbers of a gradient


class Kept(Watch):
    """Keeps the values themselves, after their edits."""

    def __init__(self, edits):
        super().__init__(edits)
        self.live = {}

    def visit(self, name, value):
        new = super().visit(name, value)
        self.live.setdefault(name, new)  # OPT's with its axes apart, which an inner visit kept
        return new


def run(model, inputs, edits, tensors, of, weights=None):
    """The gradients, by name, of the logits' product with `weights`: of hook points, of weights and of the edits' tensors; and the
    logits. Without weights no gradients."""
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    tensors = {key: value.to(next(model.parameters()).dtype).requires_grad_(True) for key, value in tensors.items()}
    watch = Kept(functions(edits, tensors))
    with torch.enable_grad():
        attach(watch, model)
        with watch.around(model):
            logits = model(**inputs, **({"use_cache": False} if isinstance(model, GenerationMixin) else {})).logits
        if weights is None:
            return logits, watch.live, {}
        parameters = dict(model.named_parameters())
        where = {f"hook {name}": watch.live[name] for name in of["hooks"]}
        where |= {f"weight {name}": parameters[name] for name in of["weights"]} | {f"edit {key}": value for key, value in tensors.items()}
        found = torch.autograd.grad((logits * weights).sum(), list(where.values()), allow_unused=True)
    return logits, watch.live, {key: value for key, value in zip(where, found) if value is not None}


def add_random(group, name, model, double, inputs, values, stored, case):
    """A case; nothing if a hook cannot change a value or for what is not finite."""
    rng = random.Random(case)
    edits, tensors = draw_edits(rng, inputs, values) if rng.random() < 0.8 else ([], {})
    try:
        logits, live, _ = run(model, inputs, edits, tensors, None)
    except ValueError:  # only read
        return
    hooks = [hook for hook, value in live.items() if value.requires_grad and value.dim() > 1 and value.numel() <= LARGEST]
    parameters = [key for key, value in model.named_parameters() if key in stored and value.numel() <= LARGEST]
    of = {"hooks": rng.sample(hooks, HOOKS), "weights": rng.sample(parameters, WEIGHTS)}
    weights = torch.randn(logits.shape, generator=torch.Generator().manual_seed(rng.randrange(2**31)))
    _, _, rough = run(model, inputs, edits, tensors, of, weights)
    with float64_everywhere():
        _, _, exact = run(double, wide(inputs), edits, tensors, of, weights)
    if not all(value.isfinite().all() for value in (*rough.values(), *exact.values())):
        return
    checkpoint, task = MODELS[name]
    named = {f"weight {stored[key[7:]]}" if key.startswith("weight ") else key: (value, rough[key]) for key, value in exact.items()}
    group.case(case, "gradient", {"checkpoint": checkpoint, "task": task, "edits": edits}, inputs | tensors | {"weights": weights},
               {key: value for key, (value, _) in named.items()}, file=f"{name}.safetensors",
               errors={key: largest_difference(single, value) for key, (value, single) in named.items()})


def main():
    args = arguments(__doc__, count=2, seed="")
    group = Group(args, "gradients_random", "gradients_random.py", ["transformers"])
    args.out = FIXTURES
    for name, (checkpoint, task) in MODELS.items():
        if task in ("base", "zero-shot-image-classification"):
            continue
        model = load(args, name)
        inputs = inputs_of(name, model.config)
        _, values, _ = run(model, inputs, [], {}, None)
        stored, double = stored_names(model, os.path.join(FIXTURES, checkpoint)), double_of(model)
        for number in range(args.count):
            add_random(group, name, model, double, inputs, values, stored, f"{name}_{args.seed}{number}")
    group.save()


if __name__ == "__main__":
    main()
