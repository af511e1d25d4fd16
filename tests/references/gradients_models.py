"""Gradients of the tiny checkpoints of all architectures, by autograd through transformers in float64.

The metric of a case is the loss of its labels, if its task has one, plus some weighted elements of the outputs. Of each
gradient a row of numbers is stored: its largest element, the error of a float32 run, its dot product with fixed factors,
and some elements. Uses the checkpoints and cases that models_*.py write: run it again when those change.
"""

import json
import math
import os

import torch
from safetensors.torch import load_file
from transformers import GenerationMixin

from common import Group, arguments, float64_everywhere, largest_difference, random_state
from models_common import double_of, flatten, model_of

ELEMENTS = 10  # of each gradient
TERMS = 4  # weighted elements of each output
NAMES = ("logits", "last_hidden_state", "pooler_output", "start_logits", "end_logits", "logits_per_image", "text_embeds",
         "image_embeds", "encoder_last_hidden_state", "cls_logits", "distillation_logits")
LABELLED = ("causal-lm", "masked-lm", "seq2seq-lm", "token-classification", "sequence-classification", "image-classification")


def chosen(cases):
    """One case of each kind of checkpoint, in turn without and with padding; of equal ones the odd sizes."""
    by_checkpoint = {}
    for case in cases:
        if case["op"] == "model_forward":
            by_checkpoint.setdefault(case["options"]["checkpoint"], []).append(case)
    odd = {name.removeprefix("odd") for name in by_checkpoint if name.startswith("odd")}
    picked = []
    for name, group in by_checkpoint.items():
        if name.startswith(("old", "whole")) or (name.startswith("even") and name.removeprefix("even") in odd):
            continue
        picked.append(group[-1] if len(picked) % 2 == 0 and len(group) > 1 else group[0])
    return picked


def inputs_of(folder, case):
    tensors = load_file(os.path.join(folder, case["file"]))
    return {key: tensors[value] for key, value in case["inputs"].items()}


def labels_of(task, config, inputs):
    """Labels as transformers takes them; -100 at padding, and at some other places."""
    if task not in LABELLED:
        return None
    rows = next(iter(inputs.values())).shape[0]
    if task.endswith("sequence-classification") or task == "image-classification":
        return (torch.arange(rows) * 5 + 1) % config.num_labels
    decodes = task == "seq2seq-lm"
    ids = inputs["decoder_input_ids" if decodes else "input_ids"]
    mask = inputs.get("decoder_attention_mask" if decodes else "attention_mask", torch.ones_like(ids))
    count = config.num_labels if task == "token-classification" else config.vocab_size
    labels = ids.clone() if task == "causal-lm" else (ids * 7 + torch.arange(ids.shape[1]) + 3) % count
    labels[:, 2] = -100
    if task == "causal-lm":  # what is predicted at padding before the first token
        labels[:, 1:].masked_fill_(mask[:, :-1] == 0, -100)
    return labels.masked_fill(mask == 0, -100)


def terms_of(name, output, key, mask):
    """[output, index, weight] of some of its elements, not at padding."""
    state = random_state(f"gradients/{name}/{key}")
    terms = []
    while len(terms) < TERMS:
        index = int(state.randint(output.numel()))
        if mask is not None and output.dim() >= 2 and output.shape[:2] == mask.shape:
            if mask.reshape(-1)[index // math.prod(output.shape[2:])] == 0:
                continue
        terms.append([key, index, round(float(state.standard_normal()), 3)])
    return terms


def run(model, inputs, labels, terms):
    """The metric's value and its gradients by name."""
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    inputs = {key: value.clone().requires_grad_(value.is_floating_point()) for key, value in inputs.items()}
    options = {"output_hidden_states": True, "output_attentions": True}
    if isinstance(model, GenerationMixin) or model.config.is_encoder_decoder:
        options["use_cache"] = False
    if labels is not None:
        options["labels"] = labels
    with torch.enable_grad():
        outputs = flatten(model(**inputs, **options))
        metric = outputs["loss"] if labels is not None else torch.zeros(())
        for key, index, weight in terms:
            metric = metric + weight * outputs[key].reshape(-1)[index]
        of = {key: value for key, value in outputs.items() if "hidden_states." in key or "attentions." in key}
        of |= {key: value for key, value in inputs.items() if value.is_floating_point()}
        of |= {f"weight {key}": value for key, value in model.named_parameters()}
        found = torch.autograd.grad(metric, list(of.values()), allow_unused=True)
    return float(metric), {key: value for key, value in zip(of, found) if value is not None}


def stored_names(model, folder, once=False):
    """The names of the parameters in the file: of the tensors with the same numbers; `once`: only if there is one."""
    files = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".safetensors")]
    stored = {key: value for file in files for key, value in load_file(file).items()}
    names = {}
    for name, parameter in model.named_parameters():
        same = [key for key, value in stored.items() if value.shape == parameter.shape and torch.equal(value.float(), parameter.float())]
        if same and not (once and len(same) > 1):
            names[name] = same[0]
    return names


def row_of(gradient, error):
    flat = gradient.reshape(-1).double()
    factors = torch.tensor([(i * 7919 % 101) / 50 - 1 for i in range(flat.numel())], dtype=torch.float64)
    places = [i * (flat.numel() - 1) // (ELEMENTS - 1) for i in range(ELEMENTS)]
    return [float(flat.abs().max()), error, float((flat * factors).sum()), *(float(flat[i]) for i in places)]


def add_case(group, architecture, folder, case):
    checkpoint, single = model_of(folder, case)
    names = stored_names(single, checkpoint)
    inputs, task = inputs_of(folder, case), case["options"]["task"]
    name = f"{architecture}/{case['name']}"
    labels = labels_of(task, single.config, inputs)
    if "WithTeacher" in type(single).__name__:  # takes no labels
        labels = None
    outputs = flatten(single(**inputs))
    side = "decoder_attention_mask" if "decoder_input_ids" in inputs else "attention_mask"
    terms = [term for key in NAMES if key in outputs and torch.is_tensor(outputs[key]) for term in terms_of(
        name, outputs[key], key, inputs.get("attention_mask" if key.startswith("encoder_") else side))]
    double = double_of(single)
    with float64_everywhere():
        wide = {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()}
        value, gradients = run(double, wide, labels, terms)
    rough_value, rough = run(single, inputs, labels, terms)
    of, rows = [], []
    for key, gradient in gradients.items():
        weight = key.removeprefix("weight ")
        if key.startswith("weight ") and weight not in names:
            continue
        if "attentions." in key and "padding" in case["name"]:  # those to padding depend on its undefined values
            continue
        of.append(f"weight {names[weight]}" if key.startswith("weight ") else key)
        rows.append(row_of(gradient, largest_difference(rough[key], gradient)))
    given = {} if labels is None else {"labels": labels}
    group.case(name, "gradient", case["options"] | {"architecture": architecture}, given, {"rows": torch.tensor(rows)},
               file=f"{architecture}.safetensors", prefix=f"{case['name']}.", source=case["name"], terms=terms, of=of, value=value,
               value_error=abs(rough_value - value))


def main():
    args = arguments(__doc__)
    group = Group(args, "gradients_models", "gradients_models.py", ["transformers"])
    for architecture in sorted(os.listdir(os.path.join(args.out, "models"))):
        folder = os.path.join(args.out, "models", architecture)
        if architecture in ("nn_transformer", "sentence_transformers"):  # not transformers' models
            continue
        with open(os.path.join(folder, "cases.json"), encoding="utf-8") as file:
            for case in chosen(json.load(file)["cases"]):
                add_case(group, architecture, folder, case)
    group.save()


if __name__ == "__main__":
    main()
