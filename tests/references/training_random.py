"""Training with random optimisers, schedules and labels of the tiny checkpoints of all architectures, by torch.optim through
transformers in float64. Ids are of the whole vocabulary, so that padding tokens occur within the text.

    python3 tests/references/training_random.py --out tests/fixtures
    python3 tests/references/training_random.py --out <folder> --count 300 --seed x
"""

import random

import torch
import transformers
from transformers import get_scheduler

from common import Group, arguments, float64_everywhere, largest_difference
from gradients_models import inputs_of, row_of, stored_names
from labels_random import draw_labels, sources
from models_common import double_of, load_checkpoint, model_of
from training import matches

PATTERNS = ["*", "*", "*weight", "*bias", "*.0.*", "*embed*"]
SHOWN = 6  # weights of a case


def draw_optimizer(rng):
    options = {"lr": 10 ** rng.uniform(-4, -2)}
    if rng.random() < 0.5:
        options |= {"weight_decay": rng.choice([0, 0.01, 0.3])} if rng.random() < 0.6 else {}
        kind, more = "AdamW", {"betas": rng.choice([(0.9, 0.999), (0.5, 0.6), (0.0, 0.9)]), "eps": rng.choice([1e-5, 1e-3])}
    else:
        momentum = rng.choice([0, 0.5, 0.9])
        nesterov = momentum > 0 and rng.random() < 0.4
        kind = "SGD"
        more = {"momentum": momentum, "nesterov": nesterov, "dampening": 0 if nesterov else rng.choice([0, 0.3]),
                "weight_decay": rng.choice([0, 0.1])}
    return kind, options | {key: value for key, value in more.items() if rng.random() < 0.8 or key in ("eps", "momentum")}


def draw_run(rng):
    kind, options = draw_optimizer(rng)
    steps = rng.randint(2, 5)
    schedule = rng.choice(["constant", "constant_with_warmup", "linear", "cosine"])
    return {"kind": kind, "optimizer": options, "steps": steps, "schedule": schedule,
            "warmup": 0 if schedule == "constant" else rng.choice([0, 0, 1, 3, 8]), "training_steps": rng.choice([steps, steps, steps + 3, 1]),
            "max_norm": rng.choice([None, 1.0, 0.01, 100.0]), "parameters": rng.choice(PATTERNS)}


def draw_ids(rng, text, inputs):
    """Some ids anew, among them the padding token where the text has none."""
    special = [token for token in (text.pad_token_id, text.eos_token_id) if isinstance(token, int) and 0 <= token < text.vocab_size]
    for key in ("input_ids", "decoder_input_ids"):
        if key in inputs:
            drawn = [[rng.choice(special) if special and rng.random() < 0.2 else rng.randrange(text.vocab_size) for _ in row]
                     for row in inputs[key]]
            again = torch.tensor([[rng.random() < 0.6 for _ in row] for row in inputs[key]])
            inputs[key] = torch.where(again, torch.tensor(drawn), inputs[key])


def train(model, run, names, inputs, given):
    """Losses, norms of the gradients, learning rates, and the weights afterwards by their names in the file."""
    for name, weight in model.named_parameters():
        weight.requires_grad_(name in names and matches(run["parameters"], names[name]))
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = getattr(torch.optim, run["kind"])(trained, **run["optimizer"])
    rates = get_scheduler(run["schedule"], optimizer, num_warmup_steps=run["warmup"], num_training_steps=run["training_steps"])
    found = []
    with torch.enable_grad():
        for _ in range(run["steps"]):
            loss = model(**inputs, **given).loss
            optimizer.zero_grad()
            if not loss.requires_grad:  # of none of them
                return None, None
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(trained, run["max_norm"] or float("inf"))
            found.append([float(loss), float(norm), optimizer.param_groups[0]["lr"]])
            optimizer.step()
            rates.step()
    weights = {names[name]: weight.detach() for name, weight in model.named_parameters() if name in names}
    return torch.tensor(found, dtype=torch.float64), weights


def add_random(group, name, architecture, folder, case):
    rng = random.Random(name)
    task = case["options"]["task"]
    checkpoint, single = model_of(folder, case)
    if "WithTeacher" in type(single).__name__:
        return
    inputs, run = inputs_of(folder, case), draw_run(rng)
    classified_at_end = task == "sequence-classification" and single.config.is_encoder_decoder
    if task != "image-classification" and not classified_at_end:
        draw_ids(rng, single.config.get_text_config(), inputs)
    labels = draw_labels(rng, task, single.config, inputs)
    sinusoids = {"whisper": "model.encoder.embed_positions", "pegasus": "embed_positions"}.get(architecture, "mask_token")
    untrained = sinusoids, "mask_token", "vision_model.head"  # the latter unused
    names = {name: stored for name, stored in stored_names(single, checkpoint).items() if not any(one in name for one in untrained)}
    if not any(matches(run["parameters"], stored) for stored in names.values()):
        return
    answers = {"start_positions": labels[:, 0], "end_positions": labels[:, 1]} if task == "question-answering" else {}
    kept = {key: value for key, value in inputs.items() if key in ("input_ids", "decoder_input_ids")}
    double = double_of(single)
    with float64_everywhere():
        given = answers or {"labels": labels.double() if labels.is_floating_point() else labels}
        exact, after = train(double, run, names, {key: value.double() if value.is_floating_point() else value
                                                  for key, value in inputs.items()}, given)
    if exact is None:
        return
    rough, near = train(single, run, names, inputs, answers or {"labels": labels})
    if not bool(exact.isfinite().all()):  # no label counts
        return
    sure = sorted(set(after) & set(stored_names(load_checkpoint(checkpoint, type(single)), checkpoint, once=True).values()))
    shown = rng.sample(sure, min(SHOWN, len(sure)))
    rows = torch.tensor([row_of(after[key], largest_difference(near[key], after[key])) for key in shown], dtype=torch.float64)
    group.case(f"{architecture}/{case['name']}/{name}", "training_random",
               case["options"] | {"architecture": architecture} | run | {"floats": labels.is_floating_point(), "weights": shown},
               kept | {"labels": labels}, {"steps": exact, "rows": rows}, file="training_random.safetensors", source=case["name"],
               errors={"loss": largest_difference(rough[:, 0], exact[:, 0]), "norm": largest_difference(rough[:, 1], exact[:, 1])})


def main():
    args = arguments(__doc__, count=60, seed="a")
    transformers.logging.set_verbosity_error()
    group = Group(args, "training_random", "training_random.py", ["transformers"])
    found = sources()
    for number in range(args.count):
        name = f"training_{args.seed}{number}"
        add_random(group, name, *random.Random(f"source {name}").choice(found))
    group.save()


if __name__ == "__main__":
    main()
