"""Intermediate values of two bundled models: for the digit and the translation that the page's chapters begin with."""

import os

import numpy
import torch
from PIL import Image
from tokenizers import Tokenizer
from transformers import MarianMTModel, ViTForImageClassification

from common import Group, arguments, bundled, twice
from models_common import load_checkpoint

SAMPLE = 5  # of samples.png, ten digits in a row
HIDDEN = (11, 12)  # positions of patches, in row-major order
SIDE = 28
PATCH = 4
GRID = SIDE // PATCH
TEXT = "The cat is sleeping under the table."


def sample():
    strip = numpy.asarray(Image.open(os.path.join(bundled("vit-mnist"), "samples.png")).convert("L"))
    return strip[:, SAMPLE * SIDE:(SAMPLE + 1) * SIDE].copy()


def pixels(picture):
    return (torch.from_numpy(picture).float()[None, None] / 255 - 0.5) / 0.5


def seen(model, pixel_values):
    """Probabilities, patch vectors, weights of the last block and the rollout of all (Abnar & Zuidema 2020)."""
    output = model(pixel_values=pixel_values, output_attentions=True)
    embeddings = model.vit.embeddings
    identity = torch.eye(output.attentions[0].shape[-1], dtype=output.attentions[0].dtype)
    rollout = identity
    for attention in output.attentions:
        rollout = (attention[0].mean(0) / 2 + identity / 2) @ rollout
    positions = embeddings.position_embeddings[0, 1:]
    unit = positions / positions.norm(dim=-1, keepdim=True)
    return {
        "probabilities": output.logits.softmax(-1),
        "patches": embeddings.patch_embeddings(pixel_values),
        "full": embeddings(pixel_values),
        "attention": output.attentions[-1],
        "rollout": rollout,
        "likeness": unit @ unit.T,
    }


def add_digit(group):
    model = load_checkpoint(bundled("vit-mnist"), ViTForImageClassification)
    blank = sample()
    for place in HIDDEN:
        row, column = place // GRID * PATCH, place % GRID * PATCH
        blank[row:row + PATCH, column:column + PATCH] = 0
    for name, picture, keep in (("digit", sample(), None), ("hidden", blank, ["probabilities"])):
        outputs, errors = twice(lambda pixel_values: seen(model, pixel_values), {"pixel_values": pixels(picture)}, model)
        kept = {key: outputs[key] for key in keep or outputs}
        group.case(name, "model_forward", {"checkpoint": "vit-mnist"}, {}, kept, file="digit.safetensors",
                   errors={key: errors[key] for key in kept}, sample=SAMPLE, hidden=[] if keep is None else list(HIDDEN))


def add_translation(group):
    folder = bundled("marian-tiny-en-fr")
    model = load_checkpoint(folder, MarianMTModel)
    source = torch.tensor([Tokenizer.from_file(os.path.join(folder, "tokenizer.json")).encode(TEXT).ids])
    written = model.generate(source, num_beams=1, do_sample=False, max_new_tokens=63)

    def told():
        output = model(input_ids=source, decoder_input_ids=written[:, :-1], output_attentions=True)
        return {
            "probabilities": output.logits.softmax(-1),
            "cross_attention": output.cross_attentions[-1],
            "memory": output.encoder_last_hidden_state,
        }

    outputs, errors = twice(told, {}, model)
    best = outputs.pop("probabilities").topk(3).values
    errors = {key: errors[key] for key in outputs} | {"best": errors["probabilities"]}
    group.case("translation", "model_forward", {"checkpoint": "marian-tiny-en-fr"}, {"input_ids": source, "written": written},
               outputs | {"best": best}, file="translation.safetensors", errors=errors, text=TEXT)


def main():
    args = arguments(__doc__)
    group = Group(args, "page_models", "page_models.py", ["transformers", "tokenizers"])
    add_digit(group)
    add_translation(group)
    group.save()


if __name__ == "__main__":
    main()
