"""Trajectories of torch.optim's AdamW and SGD, gradient clipping, and the learning rates of transformers' schedules.

The loss of a trajectory, convex since c > 1, is sum c (w - t)^2 / 2 + sum sin(w), whose gradient c (w - t) + cos w a test computes from the weights
at hand: w, t and c are the inputs. Everything runs in float64.
"""

import torch
from transformers import get_scheduler

from common import Group, arguments, normal

FILE = "gradients_optimizers.safetensors"
SHAPES = {"matrix": (5, 19), "vector": (7,)}
OPTIMIZERS = {
    "adamw": (torch.optim.AdamW, {"lr": 0.03, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.1}),
    "adamw_plain": (torch.optim.AdamW, {"lr": 0.01, "betas": (0.8, 0.999), "eps": 1e-6, "weight_decay": 0.0}),
    "sgd": (torch.optim.SGD, {"lr": 0.05}),
    "sgd_momentum": (torch.optim.SGD, {"lr": 0.02, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01}),
    "sgd_nesterov": (torch.optim.SGD, {"lr": 0.02, "momentum": 0.8, "nesterov": True}),
}


def trajectory(name, kind, options, clip, schedule):
    """The weights after 1 and after 200 steps, and the norms that clipping found at these."""
    parts = {part: {key: normal(f"optimizers/{part}/{key}", shape, scale) for key, scale in (("w", 1.0), ("t", 1.0), ("c", 0.7))}
             for part, shape in SHAPES.items()}
    for numbers in parts.values():
        numbers["c"] = numbers["c"].abs() + 1.2
    weights = {part: torch.nn.Parameter(numbers["w"].clone()) for part, numbers in parts.items()}
    optimizer = kind(weights.values(), **options)
    scheduler = get_scheduler(schedule, optimizer, num_warmup_steps=10, num_training_steps=250) if schedule else None
    outputs = {}
    for step in range(200):
        for part, weight in weights.items():
            weight.grad = parts[part]["c"] * (weight.detach() - parts[part]["t"]) + weight.detach().cos()
        if clip:
            norm = torch.nn.utils.clip_grad_norm_(weights.values(), clip)
        optimizer.step()
        if scheduler:
            scheduler.step()
        if step in (0, 199):
            for part, weight in weights.items():
                outputs[f"{part}_{step + 1}"] = weight.detach().clone()
            if clip:
                outputs[f"norm_{step + 1}"] = norm.reshape(1)
    inputs = {f"{part}_{key}": value for part, numbers in parts.items() for key, value in numbers.items()}
    return inputs, outputs


def main():
    args = arguments(__doc__)
    group = Group(args, "gradients_optimizers", "gradients_optimizers.py")
    runs = {name: (*optimizer, None, None) for name, optimizer in OPTIMIZERS.items()}
    runs["adamw_clipped_linear"] = (*OPTIMIZERS["adamw"], 0.8, "linear")
    runs["sgd_clipped_cosine"] = (*OPTIMIZERS["sgd_momentum"], 0.5, "cosine")
    for name, (kind, options, clip, schedule) in runs.items():
        inputs, outputs = trajectory(name, kind, options, clip, schedule)
        settings = {key: value for key, value in options.items() if key != "betas"}
        if "betas" in options:
            settings |= {"beta1": options["betas"][0], "beta2": options["betas"][1]}
        settings |= {"max_norm": clip, "schedule": schedule}
        group.case(name, kind.__name__, settings, inputs, outputs, file=FILE)
    for schedule in ("constant_with_warmup", "linear", "cosine"):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        scheduler = get_scheduler(schedule, optimizer, num_warmup_steps=4, num_training_steps=20)
        factors = []
        for _ in range(24):
            factors.append(scheduler.get_last_lr()[0])
            optimizer.step()
            scheduler.step()
        group.case(f"schedule_{schedule}", "schedule", {"schedule": schedule, "warmup_steps": 4, "steps": 20}, {},
                  {"factors": torch.tensor(factors, dtype=torch.float64)}, file=FILE)
    group.save()


if __name__ == "__main__":
    main()
