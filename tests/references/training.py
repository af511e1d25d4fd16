"""Models trained by torch.optim with clipping and transformers' schedules: the loss and the norm of the gradients of each
step, and weights at the end. float64, with the error of the same run in float32."""

import contextlib
import os

import torch
from transformers import AutoModelForCausalLM, get_scheduler

from adapters import ADAPTERS, adapted, matrices_of
from common import Group, arguments, float64_everywhere, integers, largest_difference
from models_common import double_of

# name: checkpoint, optimiser with its options, schedule, steps, largest norm, label smoothing, weights that are trained.
RUNS = {
    "adamw": ("llama_tiny/tied", "AdamW", {"lr": 1e-3, "weight_decay": 0.05, "eps": 1e-5}, ("cosine", 20), 200, 1.0, 0.0, "*"),
    "sgd": ("models/gpt2/odd", "SGD", {"lr": 2e-2, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
            ("linear", 5), 40, 1.0, 0.1, "*"),
    "some": ("models/gpt_neox/odd", "AdamW", {"lr": 1e-3, "betas": (0.8, 0.95), "eps": 1e-6}, ("constant", 0), 30, 0.5, 0.0,
             "*mlp*weight"),
}
# The matrices of this adapter, with the model's weights frozen.
LORA = ("lora", "gpt2", ("models/gpt2/odd", "AdamW", {"lr": 1e-3}, ("constant", 0), 30, 1.0, 0.0, "*"))
BATCHES = 4
IGNORED = 3  # positions of the first row


def matches(pattern, name):
    parts = pattern.split("*")
    return name.startswith(parts[0]) and name.endswith(parts[-1]) and all(part in name for part in parts)


def loss_of(model, ids, smoothing):
    labels = ids.clone()
    labels[0, :IGNORED] = -100
    logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
    return torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels[:, 1:].reshape(-1), label_smoothing=smoothing)


def chosen(model, pattern):
    for name, weight in model.named_parameters():
        weight.requires_grad_(matches(pattern, name))
    return [weight for weight in model.parameters() if weight.requires_grad]


def trained(model, trained_weights, batches, run):
    _, kind, options, (schedule, warmup), steps, largest, smoothing, _ = run
    optimizer = getattr(torch.optim, kind)(trained_weights, **options)
    rates = get_scheduler(schedule, optimizer, num_warmup_steps=warmup, num_training_steps=steps)
    losses, norms = [], []
    with torch.enable_grad():
        for step in range(steps):
            loss = loss_of(model, batches[step % BATCHES], smoothing)
            optimizer.zero_grad()
            loss.backward()
            norms.append(float(torch.nn.utils.clip_grad_norm_(trained_weights, largest)))
            losses.append(loss.item())
            optimizer.step()
            rates.step()
    return torch.tensor(losses, dtype=torch.float64), torch.tensor(norms, dtype=torch.float64)


def with_adapter(model, adapter):
    """The adapter's matrices, which are added to the outputs of the model's layers, by PEFT's names."""
    model.requires_grad_(False)
    matrices = {}
    for module, (down, up, scaling) in matrices_of(adapter, model).items():
        matrices[module] = tuple(x.to(model.dtype).requires_grad_(True) for x in (down, up)) + (scaling,)
    adapted(model, [(matrices, 1.0)])
    named = {}
    for module, (down, up, _) in matrices.items():
        named |= {f"base_model.model.{module}.lora_A.weight": down, f"base_model.model.{module}.lora_B.weight": up}
    return named


def lora_case(group, args):
    name, adapter, run = LORA
    checkpoint, kind, options, (schedule, warmup), steps, largest, smoothing, pattern = run
    results = []
    for double in (False, True):
        folder = os.path.join(args.out, checkpoint)
        model = ADAPTERS[adapter][1].from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        batches = [integers(f"{name} {i}", (3, 9), 3, model.config.vocab_size) for i in range(BATCHES)]
        with float64_everywhere() if double else contextlib.nullcontext():
            model = double_of(model).eval() if double else model
            matrices = with_adapter(model, adapter)
            results.append((*trained(model, list(matrices.values()), batches, run), matrices))
    (losses, norms, single), (exact_losses, exact_norms, after) = results
    shown = [key for key in after if "h.0.attn.c_attn" in key]
    error = max(largest_difference(single[key], after[key]) for key in shown)
    group.case(name, "lora",
               {"checkpoint": checkpoint, "adapter": adapter, "kind": kind, "options": options, "schedule": schedule, "warmup": warmup,
                "steps": steps, "max_norm": largest, "label_smoothing": smoothing, "parameters": pattern},
               {f"ids{i}": ids for i, ids in enumerate(batches)},
               {"losses": exact_losses, "norms": exact_norms} | {key: after[key] for key in shown}, file="training.safetensors",
               errors={"losses": largest_difference(losses, exact_losses), "norms": largest_difference(norms, exact_norms), "weights": error})
    print(name, float(losses[0]), float(losses[-1]), largest_difference(losses, exact_losses), error)


def main():
    args = arguments(__doc__)
    group = Group(args, "training", "training.py", ("transformers",))
    for name, run in RUNS.items():
        checkpoint, kind, options, (schedule, warmup), steps, largest, smoothing, pattern = run
        folder = os.path.join(args.out, checkpoint)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        batches = [integers(f"{name} {i}", (3, 9), 3, model.config.vocab_size) for i in range(BATCHES)]
        double = double_of(model).eval()
        losses, norms = trained(model, chosen(model, pattern), batches, run)
        with float64_everywhere():
            exact_losses, exact_norms = trained(double, chosen(double, pattern), batches, run)
        after = dict(double.named_parameters())
        shown = [key for key in after if key.endswith(("down_proj.weight", "embed_tokens.weight", "wpe.weight", "dense_h_to_4h.weight"))][:2]
        error = max(largest_difference(value, after[key]) for key, value in model.named_parameters() if key in shown)
        group.case(name, "training",
                   {"checkpoint": checkpoint, "kind": kind, "options": options, "schedule": schedule, "warmup": warmup,
                    "steps": steps, "max_norm": largest, "label_smoothing": smoothing, "parameters": pattern},
                   {f"ids{i}": ids for i, ids in enumerate(batches)},
                   {"losses": exact_losses, "norms": exact_norms} | {key.removeprefix("transformer."): after[key] for key in shown},
                   file="training.safetensors",
                   errors={"losses": largest_difference(losses, exact_losses), "norms": largest_difference(norms, exact_norms), "weights": error})
        print(name, float(losses[0]), float(losses[-1]), largest_difference(losses, exact_losses), error)
    lora_case(group, args)
    group.save()


if __name__ == "__main__":
    main()
