"""Tiny decoder-only checkpoints of all such architectures but Llama, which has its own script."""

import os

import torch
from transformers import AutoModelForCausalLM

import generation
from common import arguments
from models_common import (
    add_forward, add_greedy, double_of, first_telling, open_group, padded, token_ids, write_checkpoint,
)
from models_decoder_configs import CONFIGURATIONS
from models_spellings import (
    BESIDE_TEXT, gpt2_masks, gpt_neo_masks, liquid, modern, of_language_model, old_gpt2, pythia, version_4, with_vision,
)

LENGTH = 11  # longer than every window below
# Files that differ from a single one in fp32.
STORED = {
    ("qwen3_5_text", "whole"): {"dtype": torch.bfloat16},
    ("gpt_neo", "even"): {"dtype": torch.float16},
    ("mistral", "even"): {"dtype": torch.bfloat16},
    ("qwen2", "odd"): {"max_shard_size": "20KB"},
    ("gemma", "even"): {"dtype": torch.bfloat16},
    ("gemma2", "odd"): {"dtype": torch.bfloat16},
    ("opt", "even"): {"dtype": torch.float16},
    ("gpt_neox", "even"): {"dtype": torch.float16},
    ("bloom", "even"): {"dtype": torch.bfloat16},
    ("biogpt", "even"): {"dtype": torch.float16},
    ("phi", "odd"): {"dtype": torch.float16},
    # Experts stacked, as transformers 5 holds them; it saves them one by one.
    ("olmoe", "odd"): {"save_original_format": False},
    ("qwen3_moe", "odd"): {"save_original_format": False},
    ("mixtral", "odd"): {"save_original_format": False},
}
SPELLED = {
    ("lfm2", "even"): liquid,
    ("qwen3_5_text", "whole"): with_vision,
    ("qwen2", "odd"): version_4("layer_types"),
    ("qwen3", "odd"): version_4("layer_types"),
    ("phi3", "mini"): version_4(full_attn_mod=1, interpolate_factor=1, lm_head_bias=False, mlp_bias=False),
    ("gemma", "odd"): version_4(hidden_activation=None),
    ("smollm3", "even"): version_4("layer_types"),
    ("qwen3_moe", "even"): version_4(max_window_layers=2, router_jitter_noise=0.1),
    ("gpt_neox", "odd"): pythia,
    ("cohere2", "even"): version_4("layer_types", sliding_window_pattern=4),
    ("exaone4", "even"): version_4("layer_types"),
    ("modernbert_decoder", "even"): modern,
    ("vaultgemma", "odd"): version_4("layer_types"),
    ("gemma2", "odd"): version_4("layer_types"),
    ("gemma3_text", "odd"): version_4("layer_types", sliding_window_pattern=2),
}
SPELLED |= {(name, "odd"): version_4() for name in ("mistral", "phi", "phi3", "granite", "granitemoe", "stablelm", "ernie4_5", "glm4")}
SPELLED |= {(name, "even"): version_4() for name in ("olmo", "olmoe", "mixtral", "starcoder2", "glm", "arcee", "hunyuan_v1_dense", "granitemoehybrid", "nemotron")}
BEAM_SEARCHED = ("gemma", "olmo", "olmo2", "olmo3", "smollm3", "granite", "starcoder2", "opt", "openai_gpt", "gpt_neox", "gptj",
                 "codegen", "bloom", "falcon", "mpt", "stablelm", "cohere", "cohere2", "lfm2", "qwen3_5_text", "granitemoe", "olmoe", "qwen3_moe", "mixtral", "gpt_bigcode", "ernie4_5", "helium",
                 "glm", "glm4", "exaone4", "arcee", "vaultgemma", "hunyuan_v1_dense", "nanochat", "modernbert_decoder", "granitemoehybrid", "nemotron", "xglm", "biogpt")
COUNTING = ("opt",)  # without position_ids positions are counted in the attention mask
GAINS = {"gemma": {"embed_tokens": 0.35}, "gemma2": {"embed_tokens": 0.35}, "gemma3_text": {"embed_tokens": 0.35}, "vaultgemma": {"embed_tokens": 0.35}, "xglm": {"embed_tokens": 0.35}, "biogpt": {"embed_tokens": 0.35}}  # these models multiply it by sqrt(d_model)


OLD_FILES = {
    ("qwen3_5_text", "whole"): dict(rename=of_language_model, extra=BESIDE_TEXT),
    ("gpt2", "odd"): dict(rename=old_gpt2, extra=gpt2_masks(2, 40)),
    ("openai_gpt", "even"): dict(rename=old_gpt2, extra=gpt2_masks(2, 40)),
    ("gpt_neo", "odd"): dict(extra=gpt_neo_masks(3, 40)),
}


def add_beams(group, architecture, size, model):
    """A beam search whose result no rounding can change."""
    double, options = double_of(model), {"num_beams": 3}
    for seed in range(60):
        inputs = generation.inputs_of(f"{architecture}_{size}", model, seed)
        found = generation.generate(model, inputs, options)
        if not generation.is_certain(model, double, inputs, options, found)[0]:
            continue
        told = {"checkpoint": size, "do_sample": False, "max_new_tokens": generation.STEPS, "eos_token_id": None,
                "pad_token_id": model.config.pad_token_id or 0}
        group.case(f"{size}_beams", "generate", told | options, inputs, {"sequences": found["sequences"]},
                   file=f"{size}.safetensors")
        return
    raise ValueError(f"{architecture}/{size}: no certain search")


def add_checkpoint(group, architecture, size):
    folder = os.path.join(group.folder, size)
    stored = dict(STORED.get((architecture, size), {}), spelling=SPELLED.get((architecture, size)),
                  gains=GAINS.get(architecture))
    stored |= OLD_FILES.get((architecture, size), {})
    config = CONFIGURATIONS[architecture][size]()
    name = f"models/{architecture}/{size}"
    ids = token_ids(name, (2, LENGTH), config)
    left, mask = padded(ids, (7, LENGTH), "left", config.pad_token_id)
    runs = [{"input_ids": ids, "attention_mask": torch.ones_like(ids)}, {"input_ids": left, "attention_mask": mask}]

    def make(seed):
        new = CONFIGURATIONS[architecture][size]()
        model_class = AutoModelForCausalLM._model_mapping[type(new)]
        return write_checkpoint(folder, model_class, new, f"{name}/{seed}", **stored)

    model = first_telling(make, runs)
    add_forward(group, f"{size}_plain", size, "causal-lm", model, {"input_ids": ids})
    for side in ("left", "right"):
        padded_ids, mask = padded(ids, (7, LENGTH), side, config.pad_token_id)
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        add_forward(group, f"{size}_{side}_padding", size, "causal-lm", model,
                    {"input_ids": padded_ids, "attention_mask": mask, "position_ids": positions})
    if architecture in COUNTING:
        add_forward(group, f"{size}_counted_padding", size, "causal-lm", model, runs[1])
    for run, name in zip(runs, ("greedy", "greedy_left_padding")):
        add_greedy(group, f"{size}_{name}", size, model, run)
    if architecture in BEAM_SEARCHED and size == "even":
        add_beams(group, architecture, size, model)


def main():
    args = arguments(__doc__)
    for architecture, sizes in CONFIGURATIONS.items():
        group = open_group(args, architecture, "models_decoder_only.py")
        for size in sizes:
            add_checkpoint(group, architecture, size)
        group.save()


if __name__ == "__main__":
    main()
