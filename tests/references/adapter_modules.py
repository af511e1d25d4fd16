"""The modules that PEFT adapts with target_modules="all-linear", by their names in transformers: tests/fixtures/adapters/modules.json.

PEFT's rule is written out (peft.tuners.tuners_utils._maybe_include_all_linear_layers, peft 0.20): torch's and
transformers' linear layers but the output layer. Each has the sizes of its matrices: A (r, in), B (out, r).
"""

import json
import os

import torch
import transformers
from transformers import AutoConfig
from transformers.pytorch_utils import Conv1D

from common import arguments

# Checkpoints in tests/fixtures/models, by the class that loads them.
CHECKPOINTS = {
    "AutoModel": ["bert/even_base", "vit/even_base", "clip/even", "siglip/even", "dinov2/even_base", "dinov3_vit/even_base",
                  "deberta_v2/even_base", "nomic_bert/even_base"],
    "AutoModelForMaskedLM": [f"{kind}/even_masked_lm" for kind in ("albert", "bert", "distilbert", "electra", "esm", "modernbert",
                                                                   "mpnet", "roberta")],
    "AutoModelForSequenceClassification": ["bert/odd_sequence_classification"],
    "AutoModelForImageClassification": [f"{one}_image_classification" for one in ("deit/even", "dinov2/even", "vit/even", "vit/odd")],
    "AutoModelForAudioClassification": ["audio_spectrogram_transformer/even_sequence_classification"],
    "AutoModelForCausalLM": [f"{kind}/even" for kind in (
        "bloom", "biogpt", "codegen", "falcon", "gemma2", "gemma3_text", "gpt2", "gpt_neo", "gpt_bigcode", "gpt_neox", "granitemoehybrid", "gptj", "glm4", "lfm2", "modernbert_decoder", "nanochat", "nemotron", "mistral", "mpt", "olmo2", "openai_gpt",
        "opt", "phi", "phi3", "qwen3", "qwen3_5_text", "stablelm", "starcoder2")] + ["gpt_neox/odd", "openai_gpt/odd"],
    "AutoModelForSeq2SeqLM": ["bart/even", "blenderbot/even", "m2m_100/even", "marian/even", "mt5/even", "t5/even"],
    "AutoModelForSpeechSeq2Seq": ["whisper/even"],
}


def sizes(layer):
    return list(layer.weight.shape if isinstance(layer, Conv1D) else layer.weight.shape[::-1])


def modules_of(folder, class_name):
    model = getattr(transformers, class_name).from_config(AutoConfig.from_pretrained(folder))
    output = model.get_output_embeddings()
    return {name: sizes(layer) for name, layer in model.named_modules()
            if isinstance(layer, (torch.nn.Linear, Conv1D)) and layer is not output and "contact_head" not in name}


def main():
    args = arguments(__doc__)
    lines = []
    for class_name, checkpoints in CHECKPOINTS.items():
        for checkpoint in checkpoints:
            found = {"class": class_name, "modules": modules_of(os.path.join(args.out, "models", checkpoint), class_name)}
            lines.append(f"{json.dumps(checkpoint)}: {json.dumps(found)}")
    with open(os.path.join(args.out, "adapters", "modules.json"), "w", encoding="ascii") as out:
        out.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
