"""Tiny random checkpoints of all architectures, and transformers' results with them."""

import contextlib
import copy
import json
import math
import os
import shutil

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import GenerationConfig, GenerationMixin
from transformers.pytorch_utils import Conv1D

from common import FIXTURES, Group, float64_everywhere, integers, largest_difference, normal

NEW_TOKENS = 24
CERTAIN = 1e-3  # smallest distance between the two best logits of a greedy step; float32 errors are far below
VARIED = 4  # minimum number of distinct tokens in a greedy row


def open_group(args, architecture, script):
    """The group models/<architecture>; checkpoints of an earlier run are removed."""
    shutil.rmtree(os.path.join(args.out, "models", architecture), ignore_errors=True)
    return Group(args, f"models/{architecture}", script, ["transformers"])


def _scale_of(module, shape):
    """Embeddings are smaller than a norm's output; matrices preserve the scale of activations."""
    if isinstance(module, torch.nn.Embedding):
        return 0.6
    if isinstance(module, (Conv1D, torch.nn.Linear, torch.nn.Conv1d, torch.nn.Conv2d)):
        fan_in = shape[0] if isinstance(module, Conv1D) else math.prod(shape[1:])
        return 1.3 / math.sqrt(fan_in)
    if "Experts" in type(module).__name__ or "Router" in type(module).__name__:
        return 1.3 / math.sqrt(shape[-1])
    return 0.6  # other parameters: class tokens, learned positions, projections


def last_norms(config):
    """The norm before a tied output layer: with weights of both signs no token predicts itself for ever."""
    names = ("ln_f.weight", "norm_f.weight", "model.norm.weight", "embedding_norm.weight", "decoder.final_layer_norm.weight", "decoder.layer_norm.weight",
             "model.layer_norm.weight", "biogpt.layer_norm.weight")
    if config.model_type in ("bart", "marian", "blenderbot-small"):
        names += (f"decoder.layers.{config.decoder_layers - 1}.final_layer_norm.weight",)
    return names


def fill(model, name, gains=None):
    """Weights with visible effects: nothing near zero, norms differ from 1, biases from 0.

    The numbers depend on `name` and the key without the base model's prefix, so a trunk is the same with every head.
    `gains` scales the weights whose key contains the given text.
    """
    from_one = model.config.model_type.startswith("gemma")  # whose norms multiply by 1 + weight
    seen = set()
    for path, module in model.named_modules():
        if "Sinusoidal" in type(module).__name__ or "RotaryEmbedding" in type(module).__name__:
            continue
        centre = -1.0 if from_one or type(module).__name__ in ("Qwen3_5RMSNorm", "NemotronLayerNorm1P") else 0.0
        for key, value in [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]:
            full = f"{path}.{key}" if path else key
            if full not in model.state_dict() or not value.is_floating_point() or value.dim() == 0:
                continue
            if value.data_ptr() in seen:  # tied
                continue
            seen.add(value.data_ptr())
            seeded = f"{name}/{full.removeprefix(model.base_model_prefix + '.')}"
            if value.dim() >= 2:
                new = normal(seeded, value.shape, 0.3 if key.endswith("bias") else _scale_of(module, value.shape))
            elif key.endswith("weight"):
                last = full.endswith(last_norms(model.config))
                new = normal(seeded, value.shape, *((1.0, centre) if last else (0.2, centre + 1.0)))
            else:
                new = normal(seeded, value.shape, 0.6 if "embedding" in key else 0.3)
            for part, gain in (gains or {}).items():
                new = new * gain if part in full else new
            value.data.copy_(new)
    model.tie_weights()
    return model


def write_checkpoint(folder, model_class, config, name, *, dtype=torch.float32, rename=None, extra=None, spelling=None, gains=None, **saved):
    """Runs save_pretrained into a clean folder; returns the model that transformers loads from it, in float32.

    `rename` maps the tensors' names to an older scheme of the same file, `extra` are tensors (or a function that computes
    them from the file's) that such files had and no current model has, `spelling` converts config.json to an older form.
    All must still load.
    """
    shutil.rmtree(folder, ignore_errors=True)
    model = fill(model_class(config), name, gains)
    model.to(dtype).save_pretrained(folder, **saved)
    for file in sorted(os.listdir(folder)):
        path = os.path.join(folder, file)
        if file.endswith(".safetensors") and (rename or extra):
            tensors = load_file(path)
            tensors = {rename(key) if rename else key: value for key, value in tensors.items()}
            added = extra(tensors) if callable(extra) else extra or {}
            save_file(tensors | added, path, metadata={"format": "pt"})
        os.chmod(path, 0o644)
    if spelling:
        edit_config(folder, spelling)
    return load_checkpoint(folder, model_class)


def load_checkpoint(folder, model_class):
    model, report = model_class.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", experts_implementation="eager", output_loading_info=True)
    if report["missing_keys"] or report["mismatched_keys"]:
        raise ValueError(f"{folder}: transformers does not find {report}")
    return model.eval()


def forward_passes():
    """The architecture, folder and case of every forward pass of the checkpoints that transformers opens."""
    for architecture in sorted(set(os.listdir(os.path.join(FIXTURES, "models"))) - {"nn_transformer", "sentence_transformers"}):
        folder = os.path.join(FIXTURES, "models", architecture)
        with open(os.path.join(folder, "cases.json"), encoding="utf-8") as file:
            for case in json.load(file)["cases"]:
                if case["op"] == "model_forward":
                    yield architecture, folder, case


def model_of(folder, case):
    """The folder of the case's checkpoint, and the model that its config names."""
    checkpoint = os.path.join(folder, case["options"]["checkpoint"])
    with open(os.path.join(checkpoint, "config.json"), encoding="utf-8") as file:
        return checkpoint, load_checkpoint(checkpoint, getattr(transformers, json.load(file)["architectures"][0]))


def double_of(model):
    """The same model in float64, including what transformers computes in float32 otherwise."""
    config = copy.deepcopy(model.config)
    config._attn_implementation = config._experts_implementation = "eager"
    head = model.get_output_embeddings()
    if head is not None and head.weight is not model.get_input_embeddings().weight:
        config.tie_word_embeddings = False
    with float64_everywhere():
        double = type(model)(config).double().eval()
        double.load_state_dict(model.state_dict())
    return double


def flatten(value, name=""):
    """A ModelOutput as tensors by name: hidden_states.0, text_model_output.attentions.1, …"""
    if torch.is_tensor(value):
        return {name: value}
    if isinstance(value, (tuple, list)):
        items = enumerate(value)
    elif hasattr(value, "items"):
        items = value.items()
    else:
        return {}
    prefix = f"{name}." if name else ""
    return {key: tensor for part, item in items for key, tensor in flatten(item, f"{prefix}{part}").items()}


def forward(model, inputs):
    options = {"output_hidden_states": True, "output_attentions": True}
    if isinstance(model, GenerationMixin) or model.config.is_encoder_decoder:
        options["use_cache"] = False
    return {key: value.clone() for key, value in flatten(model(**inputs, **options)).items()}


def forward_twice(model, inputs):
    """The outputs in float32, and their difference to the float64 run."""
    single = forward(model, inputs)
    double_model = double_of(model)
    with float64_everywhere():
        wide = {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()}
        double = forward(double_model, wide)
    assert single.keys() == double.keys()
    return single, {key: largest_difference(single[key], double[key]) for key in single}


PER_POSITION = ("last_hidden_state", "hidden_states", "start_logits", "end_logits")


def _without_padding(outputs, mask, keep, per_token_logits):
    """Values at padded positions are arbitrary upstream: 0 in the fixture. Rows of attention maps are queries."""
    result = {}
    for key, value in outputs.items():
        base = key.removeprefix("text_model_output.").split(".")[0].removeprefix("encoder_").removeprefix("decoder_")
        if not keep(key) or key.startswith("vision_model_output."):
            result[key] = value
        elif base in ("attentions", "cross_attentions"):
            result[key] = value * mask[:, None, :, None]
        elif base in PER_POSITION or (base == "logits" and per_token_logits):
            result[key] = value * mask.reshape(mask.shape + (1,) * (value.dim() - 2))
        else:
            result[key] = value
    return result


TASKS_WITH_LOGITS_PER_TOKEN = ("masked-lm", "token-classification", "replaced-token-detection", "causal-lm", "seq2seq-lm")


def add_forward(group, name, checkpoint, task, model, inputs):
    """A model_forward case: every output under its Hugging Face name, with 0 at padded positions."""
    outputs, errors = forward_twice(model, inputs)
    for key, value in outputs.items():
        if not bool(value.isfinite().all()):
            raise ValueError(f"{name}: {key} is not finite")
    per_token = task in TASKS_WITH_LOGITS_PER_TOKEN
    more = {}
    sides = {"attention_mask": lambda key: True}
    if model.config.is_encoder_decoder:
        sides = {"attention_mask": lambda key: key.startswith("encoder_"),
                 "decoder_attention_mask": lambda key: not key.startswith("encoder_")}
    for side, belongs in sides.items():
        if side in inputs and not bool(inputs[side].all()):
            outputs = _without_padding(outputs, inputs[side], belongs, per_token)
            more["compare_where" if side == "attention_mask" else "compare_decoder_where"] = side
    if more:
        more["note"] = "values of padded positions are stored as 0; compare where the mask named is 1"
    group.case(name, "model_forward", {"checkpoint": checkpoint, "task": task}, inputs, outputs,
               file=f"{checkpoint}.safetensors", errors=errors, **more)
    return outputs


def padded(ids, lengths, side, pad_token_id):
    """(input_ids, attention_mask) of rows truncated to `lengths` tokens and padded on the given side."""
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths):
        mask[row, (slice(ids.shape[1] - length, None) if side == "left" else slice(0, length))] = 1
    return torch.where(mask == 1, ids, torch.full_like(ids, pad_token_id)), mask


def greedy(model, inputs, count=NEW_TOKENS, **more):
    """generate() without special start and end: (sequences, smallest distance of the two best logits)."""
    settings = dict(do_sample=False, max_new_tokens=count, eos_token_id=None, return_dict_in_generate=True,
                    output_logits=True, decoder_start_token_id=getattr(model.config, "decoder_start_token_id", None),
                    pad_token_id=model.config.pad_token_id or 0) | more
    kept, model.generation_config = model.generation_config, GenerationConfig()
    out = GenerationMixin.generate(model, **inputs, generation_config=GenerationConfig(**settings))
    again = GenerationMixin.generate(model, **inputs, generation_config=GenerationConfig(**settings, use_cache=False))
    model.generation_config = kept
    if not torch.equal(out.sequences, again.sequences):
        raise CacheMatters
    best = torch.stack(out.logits).topk(2).values
    return out.sequences, float((best[..., 0] - best[..., 1]).min())


class CacheMatters(ValueError):
    """transformers' cache changes the text, such as M2M100's positions after a padding token in the text."""


def is_telling(sequences, margin, count=NEW_TOKENS):
    return margin > CERTAIN and all(len(set(row[-count:].tolist())) >= VARIED for row in sequences)


def first_telling(make, runs, tries=200):
    """make(seed) for the first seed whose greedy texts are unambiguous and not one token repeatedly."""
    for seed in range(tries):
        model = make(seed)
        with contextlib.suppress(CacheMatters):
            if all(is_telling(*greedy(model, inputs)) for inputs in runs):
                return model
    raise ValueError("no seed gives a telling greedy text")


def add_greedy(group, name, checkpoint, model, inputs):
    sequences, margin = greedy(model, inputs)
    options = {"checkpoint": checkpoint, "do_sample": False, "max_new_tokens": NEW_TOKENS, "eos_token_id": None,
               "pad_token_id": model.config.pad_token_id or 0}
    group.case(name, "generate", options, inputs, {"sequences": sequences},
               file=f"{checkpoint}.safetensors", smallest_margin=float(f"{margin:.3g}"))


def token_ids(name, shape, config):
    """Ids of ordinary tokens: special ones are below 5 in all these checkpoints."""
    return integers(name, shape, 5, config.vocab_size)


def edit_config(folder, change):
    """Rewrites config.json with change(dict), for the forms of older files."""
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(change(config), file, indent=2, sort_keys=True)
        file.write("\n")
