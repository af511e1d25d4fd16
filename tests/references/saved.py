"""Checkpoints that the library wrote (tests/web/saved.test.ts, SAVED=write), opened with transformers: nothing is missing
or left over, and these are their logits."""

import json
import os

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

from common import Group, arguments, float64_everywhere, integers, largest_difference
from models_common import double_of

SAVED = {"gpt2": AutoModelForCausalLM, "bart": AutoModelForSeq2SeqLM}


def opened(folder, model_class):
    model, info = model_class.from_pretrained(folder, attn_implementation="eager", output_loading_info=True)
    for kind, names in info.items():
        if names:
            raise ValueError(f"{folder}: {kind}: {names}")
    if model.dtype != torch.float32:
        raise ValueError(f"{folder}: {model.dtype} instead of float32")
    return model.eval()


def main():
    args = arguments(__doc__)
    group = Group(args, "saved", "saved.py", ("transformers",))
    for name, model_class in SAVED.items():
        folder = os.path.join(args.out, "saved", name)
        model = opened(folder, model_class)
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            architecture = json.load(file)["architectures"][0]
        if type(model) is not getattr(transformers, architecture):
            raise ValueError(f"{folder}: {type(model).__name__} instead of {architecture}")
        inputs = {"input_ids": integers(f"{name} ids", (2, 6), 3, model.config.vocab_size)}
        if model.config.is_encoder_decoder:
            inputs["decoder_input_ids"] = integers(f"{name} decoder ids", (2, 4), 3, model.config.vocab_size)
        single = model(**inputs, use_cache=False).logits
        with float64_everywhere():
            double = double_of(model)(**inputs, use_cache=False).logits
        group.case(name, "saved", {"class": model_class.__name__}, inputs, {"logits": double}, file="logits.safetensors",
                   errors={"logits": largest_difference(single, double)})
    group.save()


if __name__ == "__main__":
    main()
