"""LoRA adapters as PEFT's folders, and the logits of models with them.

PEFT's definition is written out (peft.tuners.lora.layer.Linear.forward and LoraLayer.update_layer, peft 0.20):
y = W x + b + (alpha / r) * B(A(x)), with alpha / sqrt(r) for use_rslora, r and alpha of the first pattern of rank_pattern
and alpha_pattern that matches the end of the module's name (peft.utils.other.get_pattern_key); with several adapters the
sum of their updates. Files: adapter_config.json and adapter_model.safetensors with base_model.model.<module>.lora_A.weight
(r, in) and lora_B.weight (out, r), whatever the layout of W (peft.utils.save_and_load).
"""

import json
import math
import os
import re
import shutil

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM
from transformers.pytorch_utils import Conv1D

from common import Group, arguments, float64_everywhere, integers, largest_difference, normal
from models_common import double_of

# name: checkpoint, class, and what the configuration has beside the defaults.
ADAPTERS = {
    "llama": ("llama_tiny/bias", AutoModelForCausalLM, {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj", "down_proj"]}),
    "llama_patterns": ("llama_tiny/bias", AutoModelForCausalLM, {
        "r": 3, "lora_alpha": 6, "use_rslora": True, "target_modules": r".*layers\.\d\.(self_attn\.[ko]_proj|mlp\.gate_proj)",
        "rank_pattern": {r"^model.layers.0.self_attn.k_proj": 5, "gate_proj": 2}, "alpha_pattern": {r"layers\.[12]\.mlp.gate_proj": 1},
    }),
    "gpt2": ("models/gpt2/odd", AutoModelForCausalLM, {
        "r": 2, "lora_alpha": 5, "fan_in_fan_out": True, "target_modules": ["c_attn", "c_proj", "c_fc"],
    }),
    "gpt_neox": ("models/gpt_neox/odd", AutoModelForCausalLM, {
        "r": 3, "lora_alpha": 3, "target_modules": ["query_key_value", "embed_out"], "layers_to_transform": None,
    }),
    "bert": ("models/bert/odd_masked_lm", AutoModelForMaskedLM, {
        "r": 2, "lora_alpha": 4, "target_modules": ["query", "dense"], "exclude_modules": ["transform.dense"],
    }),
    "bart": ("models/bart/odd", AutoModelForSeq2SeqLM, {
        "r": 2, "lora_alpha": 4, "target_modules": ["q_proj", "k_proj", "fc1"], "layers_to_transform": [1],
        "layers_pattern": "layers",
    }),
}
# Several at once, with factors.
SUMS = {"llama and llama_patterns": [("llama", 0.5), ("llama_patterns", 1.5)]}


def named(names, module):
    if isinstance(names, str):
        return re.fullmatch(names, module) is not None
    return any(module == name or module.endswith(f".{name}") for name in names)


def is_target(config, module):
    """peft.tuners.tuners_utils.check_target_module_exists"""
    if config.get("exclude_modules") and named(config["exclude_modules"], module):
        return False
    if not named(config["target_modules"], module):
        return False
    layers = config.get("layers_to_transform")
    if isinstance(config["target_modules"], str) or module in config["target_modules"] or layers is None or layers == []:
        return True
    patterns = config.get("layers_pattern") or ["[^.]*"]
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        found = re.match(rf".*?\.{pattern}\.(\d+)\.", module)
        if found is not None:
            return int(found.group(1)) in (layers if isinstance(layers, list) else [layers])
    return False


def pattern_value(patterns, module, default):
    for pattern, value in (patterns or {}).items():
        if re.match(rf"(.*\.)?({pattern})$", module):
            return value
    return default


def sizes(layer):
    return layer.weight.shape if isinstance(layer, Conv1D) else layer.weight.shape[::-1]


def matrices_of(name, config, model):
    """module: (A, B, scaling) of every linear layer that the configuration targets."""
    found = {}
    for module, layer in model.named_modules():
        if not isinstance(layer, (torch.nn.Linear, Conv1D)) or not is_target(config, module):
            continue
        inputs, outputs = sizes(layer)
        rank = pattern_value(config.get("rank_pattern"), module, config["r"])
        alpha = pattern_value(config.get("alpha_pattern"), module, config["lora_alpha"])
        scaling = alpha / (math.sqrt(rank) if config.get("use_rslora") else rank)
        down = normal(f"{name} {module} A", (rank, inputs), 1 / math.sqrt(inputs))
        up = normal(f"{name} {module} B", (outputs, rank), 1 / math.sqrt(rank))
        found[module] = (down, up, scaling)
    return found


def tensors_of(matrices):
    """The file's tensors."""
    tensors = {}
    for module, (down, up, _) in matrices.items():
        tensors[f"base_model.model.{module}.lora_A.weight"] = down.float()
        tensors[f"base_model.model.{module}.lora_B.weight"] = up.float()
    return tensors


def write(args, name, matrices):
    folder = os.path.join(args.out, "adapters", name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    config = {"base_model_name_or_path": ADAPTERS[name][0], "bias": "none", "inference_mode": True, "lora_dropout": 0.05,
              "peft_type": "LORA", "task_type": None, "modules_to_save": None, "use_dora": False} | ADAPTERS[name][2]
    with open(os.path.join(folder, "adapter_config.json"), "w", encoding="ascii") as out:
        out.write(json.dumps(config, indent=2, sort_keys=True) + "\n")
    path = os.path.join(folder, "adapter_model.safetensors")
    save_file(tensors_of(matrices), path, metadata={"format": "pt"})
    os.chmod(path, 0o644)


def adapted(model, adapters):
    """Adds the updates of [(matrices, factor)] to the outputs of the layers."""
    for module, layer in model.named_modules():
        updates = [(*matrices[module], factor) for matrices, factor in adapters if module in matrices]
        if not updates:
            continue

        def hook(_, inputs, output, updates=updates):
            x = inputs[0]
            for down, up, scaling, factor in updates:
                reduced = torch.nn.functional.linear(x, down.to(x.dtype))
                output = output + torch.nn.functional.linear(reduced, up.to(x.dtype)) * (scaling * factor)
            return output

        layer.register_forward_hook(hook)
    return model


def logits_of(load, adapters, inputs):
    single = adapted(load(), adapters)(**inputs).logits
    with float64_everywhere():
        double = adapted(double_of(load()), adapters)(**inputs).logits
    return double, largest_difference(single, double)


def inputs_of(name, model):
    vocabulary = model.config.vocab_size
    inputs = {"input_ids": integers(f"{name} ids", (2, 7), 3, vocabulary)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = integers(f"{name} decoder ids", (2, 5), 3, vocabulary)
    return inputs


def main():
    args = arguments(__doc__)
    group = Group(args, "adapters", "adapters.py", ("transformers",))
    for name, parts in {**{name: [(name, 1.0)] for name in ADAPTERS}, **SUMS}.items():
        checkpoint, model_class, _ = ADAPTERS[parts[0][0]]

        def load(checkpoint=checkpoint, model_class=model_class):
            folder = os.path.join(args.out, checkpoint)
            return model_class.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()

        model = load()
        adapters = [(matrices_of(part, ADAPTERS[part][2], model), factor) for part, factor in parts]
        for (part, _), (matrices, _) in zip(parts, adapters):
            write(args, part, matrices)
        inputs = inputs_of(name, model)
        logits, error = logits_of(load, adapters, inputs)
        options = {"checkpoint": checkpoint, "class": model_class.__name__, "adapters": parts, "modules": [len(m) for m, _ in adapters]}
        group.case(name, "adapter", options, inputs, {"logits": logits}, file="logits.safetensors", errors={"logits": error})
    group.save()


if __name__ == "__main__":
    main()
