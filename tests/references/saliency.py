"""Saliency of a translation and of an image, by autograd through transformers in float64: what web/examples/saliency.md shows."""

import os

import torch
from tokenizers import Tokenizer
from transformers import MarianMTModel, ViTForImageClassification

from common import Group, arguments, bundled, float64_everywhere
from models_common import double_of, load_checkpoint
from page_models import SAMPLE, TEXT, pixels, sample


def gradient_at(model, name, inputs, logit):
    """The output x of a module, and the gradient of a logit with respect to it."""
    found = []

    def keep(_module, _inputs, output):
        found.append(output)

    hook = dict(model.named_modules())[name].register_forward_hook(keep)
    with torch.enable_grad():
        value = logit(model(**inputs).logits[0])
        (gradient,) = torch.autograd.grad(value, found[0])
    hook.remove()
    return found[0].detach(), gradient


def add_translation(group):
    folder = bundled("marian-tiny-en-fr")
    single = load_checkpoint(folder, MarianMTModel)
    source = torch.tensor([Tokenizer.from_file(os.path.join(folder, "tokenizer.json")).encode(TEXT).ids])
    written = single.generate(source, num_beams=1, do_sample=False, max_new_tokens=63)
    model = double_of(single).eval()
    scale = model.config.d_model**0.5 if model.config.scale_embedding else 1.0  # of the embedding, before positions are added
    rows = {"gradient": [], "gradient_x_input": []}
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    with float64_everywhere():
        for at in range(written.shape[1] - 1):
            x, gradient = gradient_at(model, "model.encoder.embed_tokens",
                                      {"input_ids": source, "decoder_input_ids": written[:, :-1], "use_cache": False},
                                      lambda logits: logits[at, written[0, at + 1]])
            rows["gradient"].append((gradient / scale).norm(dim=-1)[0])
            rows["gradient_x_input"].append((gradient * x).sum(dim=-1)[0])
    group.case("translation", "token_saliency", {"checkpoint": "marian-tiny-en-fr", "text": TEXT}, {"input_ids": source, "written": written},
               {key: torch.stack(value) for key, value in rows.items()}, file="saliency.safetensors")


def add_digit(group):
    single = load_checkpoint(bundled("vit-mnist"), ViTForImageClassification)
    model = double_of(single).eval()
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    image = pixels(sample()).double()
    with float64_everywhere():
        x, gradient = gradient_at(model, "vit.embeddings.patch_embeddings.projection", {"pixel_values": image}, lambda logits: logits.max())
    group.case("digit", "patch_saliency", {"checkpoint": "vit-mnist", "sample": SAMPLE}, {"pixel_values": image},
               {"gradient": gradient.norm(dim=1), "gradient_x_input": (gradient * x).sum(dim=1)}, file="saliency.safetensors")


def main():
    args = arguments(__doc__)
    group = Group(args, "saliency", "saliency.py", ("transformers", "tokenizers"))
    add_translation(group)
    add_digit(group)
    group.save()


if __name__ == "__main__":
    main()
