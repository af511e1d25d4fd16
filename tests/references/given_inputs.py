"""inputs_embeds and labels: the results of transformers' models for token embeddings in place of ids, and the loss."""

import json
import os

import torch
import transformers

from common import Group, arguments, integers, normal
from models_common import forward_twice, load_checkpoint

CLASSES = {
    "causal-lm": "AutoModelForCausalLM",
    "masked-lm": "AutoModelForMaskedLM",
    "seq2seq-lm": "AutoModelForSeq2SeqLM",
    "base": "AutoModel",
    "sequence-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "question-answering": "AutoModelForQuestionAnswering",
    "replaced-token-detection": "AutoModelForPreTraining",
    "image-classification": "AutoModelForImageClassification",
}
PER_TOKEN = ("causal-lm", "masked-lm", "seq2seq-lm")
WITHOUT_IDS_ONLY = ("clip", "siglip", "nn_transformer", "sentence_transformers")  # upstream has no inputs_embeds
KEPT = ("logits", "last_hidden_state", "loss", "start_logits", "end_logits")


def checkpoints(folder):
    """(checkpoint, task, the case's inputs) of an architecture: one for each task, the first one of a padded text if any."""
    with open(os.path.join(folder, "cases.json"), encoding="ascii") as file:
        cases = json.load(file)["cases"]
    chosen = {}
    for case in cases:
        if case["op"] == "model_forward" and case["options"]["task"] in CLASSES:
            chosen.setdefault(case["options"]["task"], case["options"]["checkpoint"])
    return chosen


def labels_of(name, task, config, shape):
    """Labels with ignored positions, and one sequence with a single label that counts."""
    classes = config.vocab_size if task in PER_TOKEN else config.num_labels
    if task in ("sequence-classification", "image-classification"):
        return integers(name, shape[:1], 0, classes)
    labels = integers(name, shape, 0, classes)
    labels[0, 0] = labels[-1, 1:-1] = -100
    return labels


def add(group, architecture, task, checkpoint, folder, *, loss):
    whisper = architecture == "whisper"
    kind = "AutoModelForSpeechSeq2Seq" if whisper else CLASSES[task]
    model = load_checkpoint(os.path.join(folder, checkpoint), getattr(transformers, kind))
    config = model.config
    name = f"{architecture}_{task}"
    if config.is_encoder_decoder and loss:
        name += "_loss"
    width = model.get_input_embeddings().weight.shape[1]
    inputs = {}
    if whisper:
        inputs["input_features"] = normal(f"{name}/features", (2, config.num_mel_bins, 2 * config.max_source_positions), 0.5).float()
    else:
        inputs["inputs_embeds"] = normal(f"{name}/embeds", (2, 5, width), 0.6).float()
        inputs["attention_mask"] = torch.ones(2, 5, dtype=torch.int64)
        inputs["attention_mask"][1, 3:] = 0
    if config.is_encoder_decoder and loss:  # upstream makes the decoder's tokens of the labels if it finds no others
        inputs["decoder_input_ids"] = integers(f"{name}/decoder", (2, 4), 5, config.vocab_size)
    elif config.is_encoder_decoder:
        inputs["decoder_inputs_embeds"] = normal(f"{name}/decoder", (2, 4, width), 0.6).float()
    if loss and task not in ("base", "question-answering", "replaced-token-detection"):
        inputs["labels"] = labels_of(name, task, config, (2, 4 if config.is_encoder_decoder else 5))
    outputs, errors = forward_twice(model, inputs)
    outputs = {key: value.reshape(1) if key == "loss" else value for key, value in outputs.items() if key in KEPT}
    if "attention_mask" in inputs and not config.is_encoder_decoder:
        for key, value in outputs.items():
            if key != "loss" and value.dim() >= 2 and value.shape[:2] == (2, 5):
                value *= inputs["attention_mask"].reshape((2, 5) + (1,) * (value.dim() - 2))
    group.case(name, "model_forward", {"checkpoint": f"{architecture}/{checkpoint}", "task": task}, inputs, outputs,
               file="given.safetensors", errors={key: errors[key] for key in outputs})


def main():
    args = arguments(__doc__)
    group = Group(args, "given_inputs", "given_inputs.py", ["transformers"])
    models = os.path.join(args.out, "models")
    for architecture in sorted(os.listdir(models)):
        if architecture in WITHOUT_IDS_ONLY:
            continue
        folder = os.path.join(models, architecture)
        found = checkpoints(folder)
        tasks = found if architecture in ("bert",) else sorted(found, key=lambda task: task == "base")[:1]
        for task in tasks:
            if os.path.exists(os.path.join(folder, found[task], "config.json")):
                with open(os.path.join(folder, found[task], "config.json"), encoding="utf-8") as file:
                    if "image_size" in json.load(file):
                        continue
                for loss in (False, True) if task == "seq2seq-lm" else (True,):
                    add(group, architecture, task, found[task], folder, loss=loss)
    group.save()


if __name__ == "__main__":
    main()
