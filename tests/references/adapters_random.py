"""Random LoRA adapters of the tiny checkpoints of all architectures, by PEFT's formula (adapters.py) in float64.

    python3 tests/references/adapters_random.py --out tests/fixtures
    python3 tests/references/adapters_random.py --out <folder> --count 300 --seed x
"""

import os
import random
import re

import torch
import transformers
from safetensors.torch import load_file
from transformers.pytorch_utils import Conv1D

import adapters
from common import Group, arguments, float64_everywhere, largest_difference
from gradients_models import inputs_of
from models_common import double_of, forward_passes, model_of

OUTPUTS = ["logits", "start_logits", "logits_per_image", "last_hidden_state"]


def sources():
    """The forward passes with an output to compare; not SigLIP's for images, which leaves its pooling head unread."""
    return [found for found in forward_passes() if set(OUTPUTS) & set(found[2]["outputs"])
            and (found[0], found[2]["options"]["task"]) != ("siglip", "image-classification")]


def own_modules(model, folder):
    """The linear layers but tied output layers; none if the file has other names for their weights."""
    files = [name for name in os.listdir(folder) if name.endswith(".safetensors")]
    stored = {key for name in files for key in load_file(os.path.join(folder, name))}
    prefix = f"{model.base_model_prefix}."
    tables = [table.weight.data_ptr() for table in model.modules() if isinstance(table, torch.nn.Embedding)]
    linear = [module for module, layer in model.named_modules()
              if type(layer) in (torch.nn.Linear, Conv1D) and layer.weight.data_ptr() not in tables]
    known = [{f"{module}.weight", f"{prefix}{module}.weight", f"{module}.weight".removeprefix(prefix)} & stored for module in linear]
    return linear if all(known) else []


def ending(rng, module):
    """Its last name, or some more of them, or all."""
    parts = module.split(".")
    return ".".join(parts[-rng.choice([1, 1, 1, 2, 3, len(parts)]):])


def some(rng, values, most=4):
    values = sorted(values)
    return rng.sample(values, rng.randint(1, min(most, len(values))))


def draw_names(rng, modules):
    """A list of endings, or an expression for whole names."""
    names = {ending(rng, module) for module in some(rng, modules)}
    if rng.random() < 0.7:
        return sorted(names)
    middle = rng.choice([r".*", r"(.*\.)?", r"[a-z_.0-9]*?"])
    return middle + "(?:" + "|".join(re.escape(name) if rng.random() < 0.5 else name.replace(".", r"\.") for name in sorted(names)) + ")"


def draw_patterns(rng, modules, values):
    patterns = {}
    for module in some(rng, modules, 3):
        key = re.sub(r"\.\d+\.", r".\\d+.", ending(rng, module)) if rng.random() < 0.4 else ending(rng, module)
        patterns[("^" if key == module and rng.random() < 0.5 else "") + key] = rng.choice(values)
    return patterns


def draw_config(rng, modules):
    config = {"r": rng.randint(1, 6), "lora_alpha": rng.choice([1, 3, 6, 2.5]), "target_modules": draw_names(rng, modules)}
    config |= {"use_rslora": True} if rng.random() < 0.3 else {}
    config |= {"exclude_modules": draw_names(rng, modules)} if rng.random() < 0.25 else {}
    if isinstance(config["target_modules"], list) and rng.random() < 0.35:
        config["layers_to_transform"] = rng.choice([0, 1, [0], [1], [0, 1], [1, 2], []])
        numbered = {match for module in modules for match in re.findall(r"([^.]+)\.\d+\.", module)}
        pattern = rng.choice([None, [], *numbered, sorted(numbered), list(reversed(sorted(numbered)))])
        config["layers_pattern"] = None if config["layers_to_transform"] == [] else pattern  # PEFT refuses it without layers
    config |= {"rank_pattern": draw_patterns(rng, modules, [1, 2, 3, 8])} if rng.random() < 0.35 else {}
    config |= {"alpha_pattern": draw_patterns(rng, modules, [1, 3, 10])} if rng.random() < 0.35 else {}
    return config


def add_random(group, name, file, architecture, folder, case):
    rng = random.Random(name)
    checkpoint, single = model_of(folder, case)
    inputs = {key: value for key, value in inputs_of(folder, case).items() if not key.endswith("attention_mask")}
    own = own_modules(single, checkpoint)
    if not own:
        return
    config = draw_config(rng, own)
    matrices = adapters.matrices_of(name, config, single)
    if not matrices or not set(matrices) <= set(own):
        return
    key = next(output for output in OUTPUTS if output in case["outputs"])
    exact_inputs = {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()}
    with float64_everywhere():
        exact = adapters.adapted(double_of(single), [(matrices, 1.0)])(**exact_inputs)[key]
    rough = adapters.adapted(single, [(matrices, 1.0)])(**inputs)[key]
    group.case(f"{architecture}/{case['name']}/{name}", "adapters_random", case["options"] | {"architecture": architecture, "config": config},
               adapters.tensors_of(matrices), {key: exact}, file=file, source=case["name"],
               errors={key: largest_difference(rough, exact)})


def main():
    args = arguments(__doc__, count=40, seed="a")
    transformers.logging.set_verbosity_error()
    group = Group(args, "adapters_random", "adapters_random.py", ["transformers"])
    found = sources()
    for number in range(args.count):
        name = f"adapter_{args.seed}{number}"
        add_random(group, name, f"adapters_{number // 60}.safetensors", *random.Random(f"source {name}").choice(found))
    group.save()


if __name__ == "__main__":
    main()
