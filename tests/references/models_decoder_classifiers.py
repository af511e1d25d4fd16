"""Tiny checkpoints of decoder-only architectures as classifiers of texts and of tokens: tests/fixtures/models/decoder_classifiers."""

import os

import torch
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification

from common import arguments
from models_common import add_forward, open_group, padded, token_ids, write_checkpoint
from models_decoder_configs import CONFIGURATIONS
from models_decoder_only import GAINS

CLASSES = {"sequence_classification": AutoModelForSequenceClassification, "token_classification": AutoModelForTokenClassification}
LABELS = {"sequence_classification": 3, "token_classification": 5}
# Of each way in which transformers names a head and a trunk, stores a projection, or computes positions.
CHECKPOINTS = [("qwen3", "even", "sequence_classification"), ("gemma2", "even", "sequence_classification"),
               ("gpt2", "odd", "sequence_classification"), ("gpt2", "even", "token_classification"),
               ("gpt_neox", "even", "token_classification"), ("bloom", "odd", "sequence_classification"),
               ("glm4", "odd", "token_classification"), ("gemma3_text", "odd", "sequence_classification"),
               ("gptj", "even", "sequence_classification"), ("openai_gpt", "even", "sequence_classification"),
               ("modernbert_decoder", "odd", "sequence_classification"), ("opt", "odd", "sequence_classification")]
LENGTH = 9


def add_checkpoint(group, architecture, size, head):
    config = CONFIGURATIONS[architecture][size]()
    config.id2label = {i: f"LABEL_{i}" for i in range(LABELS[head])}
    config.label2id = {label: i for i, label in config.id2label.items()}
    folder = f"{architecture}_{head}"
    model_class = CLASSES[head]._model_mapping[type(config)]
    model = write_checkpoint(os.path.join(group.folder, folder), model_class, config, f"models/decoder_classifiers/{folder}",
                             dtype=torch.bfloat16, gains=GAINS.get(architecture))
    name, task = f"models/decoder_classifiers/{folder}", head.replace("_", "-")
    ids = token_ids(name, (2, LENGTH), config)
    ids[ids == config.pad_token_id] = 7
    add_forward(group, f"{folder}_plain", folder, task, model, {"input_ids": ids})
    for side in ("right", "left"):
        padded_ids, mask = padded(ids, (6, LENGTH), side, config.pad_token_id)
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        add_forward(group, f"{folder}_{side}_padding", folder, task, model,
                    {"input_ids": padded_ids, "attention_mask": mask} | ({} if architecture == "openai_gpt" else {"position_ids": positions}))


def main():
    args = arguments(__doc__)
    group = open_group(args, "decoder_classifiers", "models_decoder_classifiers.py")
    for architecture, size, head in CHECKPOINTS:
        add_checkpoint(group, architecture, size, head)
    group.save()


if __name__ == "__main__":
    main()
