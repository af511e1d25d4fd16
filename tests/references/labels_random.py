"""Losses of random labels and problem types for the tiny checkpoints of all architectures, by transformers in float64.

    python3 tests/references/labels_random.py --out tests/fixtures
    python3 tests/references/labels_random.py --out <folder> --count 1000 --seed x
"""

import random

import torch
import transformers

from common import Group, arguments, float64_everywhere
from gradients_models import LABELLED, inputs_of
from models_common import double_of, forward_passes, model_of

PROBLEMS = [None, None, "regression", "single_label_classification", "multi_label_classification"]
WHOLE = ("sequence-classification", "image-classification")


def sources():
    """The forward passes whose task has labels."""
    return [found for found in forward_passes() if found[2]["options"]["task"] in (*LABELLED, "question-answering")]


def uncounted(rng, labels):
    """Some of them -100, or all."""
    share = rng.choice([0, 0, 0.3, 0.7, 1])
    drawn = [rng.random() < share for _ in range(labels.numel())]
    return labels.masked_fill(torch.tensor(drawn).reshape(labels.shape), -100)


def draw_tokens(rng, task, config, inputs):
    """Classes or tokens of positions, not of padding: what is computed there is undefined."""
    side = "decoder_" if task == "seq2seq-lm" else ""
    ids = inputs[f"{side}input_ids"]
    count = config.num_labels if task == "token-classification" else config.get_text_config().vocab_size
    labels = uncounted(rng, torch.tensor([[rng.randrange(count) for _ in row] for row in ids]))
    mask = inputs.get(f"{side}attention_mask", torch.ones_like(ids))
    if task == "causal-lm":
        labels[:, 1:].masked_fill_(mask[:, :-1] == 0, -100)
    return labels.masked_fill(mask == 0, -100)


def draw_whole(rng, problem, batch, count):
    """Labels of whole sequences or images, as the problem type or else their own type says."""
    classes = torch.tensor([rng.randrange(count) for _ in range(batch)])
    numbers = torch.tensor([[rng.choice([0.0, 1.0, round(rng.random(), 3)]) for _ in range(count)] for _ in range(batch)])
    if problem == "single_label_classification" or problem is None and rng.random() < 0.5:
        return uncounted(rng, classes) if rng.random() < 0.3 else classes
    return numbers


def draw_answers(rng, inputs):
    """First and last positions, some of them outside of the sequence."""
    batch, length = inputs["input_ids"].shape
    last = [length if mask is None else int(mask.nonzero().max()) + 1 for mask in inputs.get("attention_mask", [None] * batch)]
    return torch.tensor([[length + 3 if rng.random() < 0.15 else rng.randrange(end) for _ in range(2)] for end in last])


def loss(model, inputs, task, labels):
    if task == "question-answering":
        return float(model(**inputs, start_positions=labels[:, 0], end_positions=labels[:, 1]).loss)
    floats = next(model.parameters()).dtype
    return float(model(**inputs, labels=labels.to(floats) if labels.is_floating_point() else labels).loss)


def draw_labels(rng, task, config, inputs):
    if task == "question-answering":
        return draw_answers(rng, inputs)
    if task in WHOLE:
        return draw_whole(rng, config.problem_type, len(next(iter(inputs.values()))), config.num_labels)
    return draw_tokens(rng, task, config, inputs)


def add_random(group, name, architecture, folder, case):
    rng = random.Random(name)
    task = case["options"]["task"]
    _, single = model_of(folder, case)
    if "WithTeacher" in type(single).__name__:
        return
    inputs = inputs_of(folder, case)
    problem = rng.choice(PROBLEMS) if task in WHOLE else None
    single.config.problem_type = problem
    labels = draw_labels(rng, task, single.config, inputs)
    if architecture == "deberta_v2" and task in WHOLE and problem is None and not labels.is_floating_point() and bool((labels < 0).all()):
        return  # 0 there, here NaN as of all other models
    double = double_of(single)
    with float64_everywhere():
        exact = loss(double, {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()}, task, labels)
    error = abs(loss(single, inputs, task, labels) - exact)
    nothing = exact != exact  # no label counts
    group.add({
        "name": f"{architecture}/{case['name']}/{name}", "op": "labels", "source": case["name"], "file": case["file"],
        "options": case["options"] | {"architecture": architecture, "problem_type": problem}, "inputs": {}, "outputs": {},
        "labels": labels.tolist(), "floats": labels.is_floating_point(), "loss": None if nothing else exact,
        "float32_error": {"loss": 0 if nothing else error}})


def main():
    args = arguments(__doc__, count=80, seed="a")
    transformers.logging.set_verbosity_error()
    group = Group(args, "labels_random", "labels_random.py", ["transformers"])
    found = sources()
    found += 3 * [source for source in found if source[2]["options"]["task"] in WHOLE]  # their labels are of several kinds
    for number in range(args.count):
        name = f"labels_{args.seed}{number}"
        add_random(group, name, *random.Random(f"source {name}").choice(found))
    group.save()


if __name__ == "__main__":
    main()
