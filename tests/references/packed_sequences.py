"""Logits of decoders where position_ids [1, T] tell several packed sequences apart, which most of them mask from one another.

Uses the checkpoints that models_*.py and llama_tiny.py write: run it again when those change.
"""

import json
import os

import torch
import transformers

from common import Group, arguments, float64_everywhere, largest_difference, normal
from models_common import double_of, load_checkpoint, token_ids

POSITIONS = [0, 1, 2, 0, 1, 5, 6, 7, 0]  # four sequences: of 3, 2, 3 and 1 tokens
LLAMA = "llama_tiny/odd"
# Neither BLOOM nor MPT takes position_ids.
DECODERS = ("gpt2", "gpt_neo", "mistral", "qwen2", "qwen3", "phi", "phi3", "gemma", "olmo", "olmo2", "olmo3", "smollm3", "granite",
            "starcoder2", "opt", "gemma2", "gemma3_text", "openai_gpt", "gpt_neox", "gptj", "codegen", "falcon", "stablelm", "cohere",
            "cohere2")


def logits(model, inputs):
    return model(**inputs, use_cache=False).logits if model.config.model_type != "openai-gpt" else model(**inputs).logits


def add(group, args, checkpoint):
    folder = os.path.join(args.out, checkpoint)
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        model = load_checkpoint(folder, getattr(transformers, json.load(file)["architectures"][0]))
    config, prefix, inputs = model.config, "", {}
    if config.is_encoder_decoder:
        sound = (2, config.num_mel_bins, 2 * config.max_source_positions)
        inputs, prefix = {"input_features": normal(f"packed/{checkpoint}/sound", sound, 0.7).float()}, "decoder_"
    inputs[f"{prefix}input_ids"] = token_ids(f"packed/{checkpoint}", (2, len(POSITIONS)), config)
    inputs[f"{prefix}position_ids"] = torch.tensor([POSITIONS])
    single, double = logits(model, inputs), double_of(model)
    with float64_everywhere():
        exact = logits(double, {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()})
    group.case(checkpoint, "packed_sequences", {"checkpoint": checkpoint}, inputs, {"logits": single}, file="packed.safetensors",
               errors={"logits": largest_difference(single, exact)})


def main():
    args = arguments(__doc__)
    group = Group(args, "packed_sequences", "packed_sequences.py", ["transformers"])
    for checkpoint in (LLAMA, *(f"models/{name}/even" for name in DECODERS), "models/whisper/odd"):
        add(group, args, checkpoint)
    group.save()


if __name__ == "__main__":
    main()
