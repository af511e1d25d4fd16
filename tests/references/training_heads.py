"""Models of every kind of head trained by torch.optim.AdamW on the loss that transformers computes from `labels`: the loss of
each step, and a weight at the end. float64, with the error of the same run in float32."""

import json
import os

import torch
import transformers

from common import Group, arguments, float64_everywhere, integers, largest_difference, normal
from models_common import double_of

STEPS = 12
RATE = 2e-3
# name: checkpoint, class, problem_type, a weight to compare.
RUNS = {
    "sequences": ("bert/odd_sequence_classification", "AutoModelForSequenceClassification", None, "classifier.weight"),
    "regression": ("distilbert/odd_sequence_classification", "AutoModelForSequenceClassification", "regression", "classifier.weight"),
    "several labels": ("roberta/odd_sequence_classification", "AutoModelForSequenceClassification", None, "classifier.out_proj.weight"),
    "tokens": ("bert/even_token_classification", "AutoModelForTokenClassification", None, "classifier.weight"),
    "masked": ("bert/odd_masked_lm", "AutoModelForMaskedLM", None, "cls.predictions.transform.dense.weight"),
    "answers": ("bert/odd_question_answering", "AutoModelForQuestionAnswering", None, "qa_outputs.weight"),
    "text to text": ("t5/even", "AutoModelForSeq2SeqLM", None, "decoder.block.0.layer.1.EncDecAttention.v.weight"),
    "languages": ("mbart/odd", "AutoModelForSeq2SeqLM", None, "model.decoder.layers.0.encoder_attn.v_proj.weight"),
    "premises": ("bart/even_sequence_classification", "AutoModelForSequenceClassification", None, "classification_head.dense.weight"),
    "scores": ("mbart/odd_sequence_classification", "AutoModelForSequenceClassification", None, "model.encoder.layers.0.fc1.weight"),
    "extracts": ("bart/odd_question_answering", "AutoModelForQuestionAnswering", None, "model.decoder.layers.0.encoder_attn.v_proj.weight"),
    "spans": ("t5/odd_question_answering", "AutoModelForQuestionAnswering", None, "encoder.block.0.layer.0.SelfAttention.v.weight"),
    "judgements": ("t5/even_sequence_classification", "AutoModelForSequenceClassification", None, "classification_head.dense.weight"),
    "tags": ("t5/odd_token_classification", "AutoModelForTokenClassification", None, "classifier.weight"),
    "images": ("vit/odd_image_classification", "AutoModelForImageClassification", None, "classifier.weight"),
}


def labels_of(name, config, ids):
    rows = ids.shape[0] if ids is not None else 3
    count = config.num_labels
    if name in ("sequences", "premises", "judgements", "images"):
        return torch.arange(rows) * 2 % count
    if name in ("regression", "scores", "several labels"):
        values = normal(f"training_heads/{name}", (rows, count)).float()
        return (values > 0).float() if name == "several labels" else values
    if name in ("answers", "extracts", "spans"):
        return torch.stack([torch.arange(rows) + 1, torch.arange(rows) + 3], dim=1)
    labels = (ids * 5 + 3) % (count if name in ("tokens", "tags") else config.vocab_size)
    if name in ("text to text", "languages"):
        labels = labels[:, :5].clamp(min=4)
    labels[0, -2:] = -100
    return labels


def checkpoint_of(folder, kind, problem):
    overrides = {"problem_type": problem} if problem else {}
    model = getattr(transformers, kind).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager", **overrides)
    return model.eval()


def trained(model, weight, inputs, labels):
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, eps=1e-5)
    given = {"labels": labels}
    if model.config.architectures[0].endswith("QuestionAnswering"):
        given = {"start_positions": labels[:, 0], "end_positions": labels[:, 1]}
    losses = []
    with torch.enable_grad():
        for parameter in model.parameters():
            parameter.requires_grad_(True)
        for _ in range(STEPS):
            loss = model(**inputs, **given).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return torch.tensor(losses, dtype=torch.float64), dict(model.named_parameters())[weight].detach()


def main():
    args = arguments(__doc__)
    group = Group(args, "training_heads", "training_heads.py", ("transformers",))
    for name, (checkpoint, kind, problem, weight) in RUNS.items():
        folder = os.path.join(args.out, "models", checkpoint)
        model = checkpoint_of(folder, kind, problem)
        config = model.config
        if kind == "AutoModelForImageClassification":
            ids, inputs = None, {"pixel_values": normal(f"training_heads/{name}", (3, config.num_channels, config.image_size, config.image_size)).float()}
        else:
            ids = integers(f"training_heads/{name}", (3, 9), 4, config.vocab_size)
            if name in ("premises", "scores", "judgements"):  # classified where they end
                ids[:, -1] = config.eos_token_id
            inputs = {"input_ids": ids}
        labels = labels_of(name, config, ids)
        double = double_of(model).eval()
        losses, after = trained(model, weight, inputs, labels)
        with float64_everywhere():
            wide = {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()}
            exact, exact_after = trained(double, weight, wide, labels.double() if labels.is_floating_point() else labels)
        group.case(name, "training_heads",
                   {"checkpoint": f"models/{checkpoint}", "class": kind, "problem_type": problem, "steps": STEPS, "lr": RATE, "weight": weight},
                   {**inputs, "labels": labels}, {"losses": exact, "weight": exact_after}, file="training_heads.safetensors",
                   errors={"losses": largest_difference(losses, exact), "weights": largest_difference(after, exact_after)})
        print(name, json.dumps([round(float(losses[at]), 4) for at in (0, -1)]), largest_difference(losses, exact), largest_difference(after, exact_after))
    group.save()


if __name__ == "__main__":
    main()
