"""Every hook point of the tiny checkpoints, read with forward hooks, and edits made with them.

Uses the checkpoints that models_*.py and llama_tiny.py write: run it again when those change.
"""

import json
import os

import torch
import transformers
from transformers import GenerationMixin

from common import Group, arguments, float64_everywhere, integers, largest_difference, normal
from hooks_attach import attach
from hooks_edit_cases import edit_cases
from hooks_edits import functions
from hooks_watch import Watch
from models_common import double_of, load_checkpoint, padded, token_ids

LENGTH, SOURCE = 6, 7  # SOURCE is longer than Gemma's and Qwen's window
VISIBLE = 0.02  # an edit changes the output by more than a thousand times the difference between two correct runs
# One sequence or image suffices.
ALONE = ("clip", "qwen3", "lfm2", "qwen3_5", "olmo2", "olmoe", "mixtral", "opt", "modernbert", "electra", "deberta_v2", "esm", "whisper", "vit_base", "siglip", "dinov2",
         "dinov2_with_registers", "dinov3_vit", "hunyuan", "ast")
# name: checkpoint, task
MODELS = {
    "gpt2": ("models/gpt2/odd", "causal-lm"),
    "llama": ("llama_tiny/odd", "causal-lm"),
    "phi": ("models/phi/even", "causal-lm"),
    "gpt_neox": ("models/gpt_neox/even", "causal-lm"),
    "bloom": ("models/bloom/odd", "causal-lm"),
    "qwen3": ("models/qwen3/odd", "causal-lm"),
    "gemma2": ("models/gemma2/even", "causal-lm"),
    "olmo2": ("models/olmo2/even", "causal-lm"),
    "lfm2": ("models/lfm2/odd", "causal-lm"),
    "hunyuan": ("models/hunyuan_v1_dense/odd", "causal-lm"),
    "qwen3_5": ("models/qwen3_5_text/odd", "causal-lm"),
    "olmoe": ("models/olmoe/even", "causal-lm"),
    "mixtral": ("models/mixtral/odd", "causal-lm"),
    "opt": ("models/opt/odd", "causal-lm"),
    "bert": ("models/bert/odd_masked_lm", "masked-lm"),
    "bert_base": ("models/bert/odd_base", "base"),
    "bert_classifier": ("models/bert/odd_sequence_classification", "sequence-classification"),
    "modernbert": ("models/modernbert/odd_masked_lm", "masked-lm"),
    "electra": ("models/electra/even_masked_lm", "masked-lm"),
    "deberta_v2": ("models/deberta_v2/odd_masked_lm", "masked-lm"),
    "esm": ("models/esm/odd_masked_lm", "masked-lm"),
    "bart": ("models/bart/odd", "seq2seq-lm"),
    "t5": ("models/t5/odd", "seq2seq-lm"),
    "whisper": ("models/whisper/odd", "seq2seq-lm"),
    "clip": ("models/clip/odd", "zero-shot-image-classification"),
    "mbart": ("models/mbart/odd", "seq2seq-lm"),
    "siglip": ("models/siglip/odd", "zero-shot-image-classification"),
    "dinov2": ("models/dinov2/even_image_classification", "image-classification"),
    "dinov2_with_registers": ("models/dinov2_with_registers/odd_base", "base"),
    "dinov3_vit": ("models/dinov3_vit/odd_base", "base"),
    "vit": ("models/vit/odd_image_classification", "image-classification"),
    "vit_base": ("models/vit/odd_base", "base"),
    "ast": ("models/audio_spectrogram_transformer/odd_sequence_classification", "sequence-classification"),
}


def load(args, name):
    folder = os.path.join(args.out, MODELS[name][0])
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        return load_checkpoint(folder, getattr(transformers, json.load(file)["architectures"][0]))


def images(name, config, batch):
    return normal(f"hooks/{name}/pixel_values", (batch, config.num_channels, config.image_size, config.image_size)).float()


def inputs_of(name, config):
    batch = 1 if name in ALONE else 2
    if config.model_type == "vit" or config.model_type.startswith("dino"):
        return {"pixel_values": images(name, config, batch)}
    if config.model_type == "audio-spectrogram-transformer":
        return {"input_values": normal(f"hooks/{name}/input_values", (batch, config.max_length, config.num_mel_bins)).float()}
    if config.model_type == "whisper":
        sound = (batch, config.num_mel_bins, 2 * config.max_source_positions)
        inputs = {"input_features": normal(f"hooks/{name}/input_features", sound, 0.7).float()}
    else:
        text = config.text_config if config.model_type in ("clip", "siglip") else config
        inputs = {"input_ids": token_ids(f"hooks/{name}/input_ids", (batch, SOURCE), text)}
    if config.model_type in ("clip", "siglip"):
        inputs["input_ids"][:, -1] = text.eos_token_id  # the position at which the text is pooled
        inputs["pixel_values"] = images(name, config.vision_config, batch)
    if config.model_type in ("bert", "electra", "deberta-v2"):
        inputs["token_type_ids"] = integers(f"hooks/{name}/types", (batch, SOURCE), 0, config.type_vocab_size)
    if config.model_type == "esm":
        inputs["input_ids"][:, 2] = config.mask_token_id
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = token_ids(f"hooks/{name}/targets", (batch, LENGTH), config)
    return inputs


def run(model, inputs, edits=None):
    """(outputs, values by hook name) of a traced run."""
    options = {"use_cache": False} if isinstance(model, GenerationMixin) else {}
    watch = Watch(edits)
    attach(watch, model)
    with watch.around(model):
        out = model(**inputs, **options)
    if lost := set(edits or {}) - set(watch.values):
        raise ValueError(f"no such hook points: {lost}")
    return out, watch.values


def check_watching(model, inputs):
    """Checks that the traced run is transformers' own: the same outputs, the same attention maps."""
    out, values = run(model, inputs)
    plain = model(**inputs, output_attentions=True)
    first = next(key for key in ("logits", "logits_per_image", "last_hidden_state") if key in plain)
    size = float(plain[first].abs().max())
    assert largest_difference(out[first], plain[first]) <= 2e-6 * size, first
    for key in ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions"):
        scope = {"attentions": "blocks.{}.attn", "cross_attentions": "decoder.{}.cross_attn"}.get(
            key, key.split("_")[0] + ".{}.attn")
        names = [f"{scope.format(layer)}.hook_pattern" for layer in range(model.config.num_hidden_layers)]
        given = plain.get(key) or ()
        for name, pattern in zip((one for one in names if one in values), given, strict=bool(given)):
            assert largest_difference(values[name], pattern) <= 2e-6, (key, name)


def wide(inputs):
    return {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()}


def mask_of(name, inputs, side):
    """(mask of the rows, mask of the columns) of a hook point: of queries and keys, or of positions only."""
    source, target = inputs.get("attention_mask"), inputs.get("decoder_attention_mask")
    own = target if side == "decoder" else source
    memory = ".cross_attn." in name
    rows = source if memory and name.endswith(("hook_k", "hook_v")) else own
    return rows, source if memory else own


def without_padding(name, value, inputs):
    """Values at padded positions are arbitrary upstream: NaN, which is not compared."""
    rows, columns = mask_of(name, inputs, name.split(".")[0])
    if rows is None or bool(rows.all() and columns.all()):
        return value
    value = value.clone()
    map_ = name.endswith(("scores_raw", "scores_softcapped", "scores", "pattern"))
    if map_:
        value[(rows == 0)[:, None, :, None].expand(value.shape)] = torch.nan
    elif value.dim() >= 3 and value.shape[:2] == rows.shape:
        value[rows == 0] = torch.nan
    if name.endswith(("scores_raw", "scores_softcapped")):
        value[(columns == 0)[:, None, None, :].expand(value.shape)] = torch.nan
    return value


def add_values(group, case, name, model, inputs):
    """A run_with_cache case: the value of every hook point."""
    check_watching(model, inputs)
    single = run(model, inputs)[1]
    double_model = double_of(model)
    with float64_everywhere():
        double = run(double_model, wide(inputs))[1]
    assert single.keys() == double.keys()
    single, double = ({key: without_padding(key, value, inputs) for key, value in values.items()}
                      for values in (single, double))
    errors = {key: largest_difference(single[key], double[key]) for key in single}
    checkpoint, task = MODELS[name]
    masks = [key for key in inputs if key.endswith("attention_mask")]
    more = {"padded_with": masks, "note": "values of padded positions are NaN: not compared"} if masks else {}
    group.case(case, "run_with_cache", {"checkpoint": checkpoint, "task": task}, inputs, single,
               file=f"{name}.safetensors", errors=errors, **more)


def add_edits(group, name, model, inputs, case, edits, tensors):
    """A run_with_hooks case: the edits as passed to run_with_hooks, where a string value names an input; and the logits."""
    plain = run(model, inputs)[0].logits
    logits = run(model, inputs, functions(edits, tensors))[0].logits
    double_model = double_of(model)
    with float64_everywhere():
        double = run(double_model, wide(inputs), functions(edits, tensors))[0].logits
    change = largest_difference(logits, plain)
    if change < VISIBLE:
        raise ValueError(f"{name} {case}: the edit changes the logits by {change} only")
    checkpoint, task = MODELS[name]
    options = {"checkpoint": checkpoint, "task": task, "edits": edits}
    group.case(f"{name}_{case}", "run_with_hooks", options, inputs | tensors, {"logits": logits},
               file=f"{name}.safetensors", errors={"logits": largest_difference(logits, double)},
               change=float(f"{change:.3g}"))


def padded_inputs(name, config, inputs):
    """{side: inputs} for models with padded cases: left as in generation, right, both towers."""
    if name not in ("gpt2", "bert", "bart"):
        return {}
    sides = {"gpt2": ("left",), "bert": ("right",), "bart": ("left",)}[name]
    result = {}
    for side in sides:
        ids, mask = padded(inputs["input_ids"], (4, SOURCE), side, config.pad_token_id)
        result[side] = inputs | {"input_ids": ids, "attention_mask": mask}
        if name == "gpt2":
            result[side]["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)
        if config.is_encoder_decoder:
            target, target_mask = padded(inputs["decoder_input_ids"], (LENGTH, 4), "right", config.pad_token_id)
            result[side] |= {"decoder_input_ids": target, "decoder_attention_mask": target_mask}
    return result


def main():
    args = arguments(__doc__)
    group = Group(args, "hooks", "hooks.py", ["transformers"])
    for name in MODELS:
        model = load(args, name)
        inputs = inputs_of(name, model.config)
        add_values(group, name, name, model, inputs)
        for side, more in padded_inputs(name, model.config, inputs).items():
            add_values(group, f"{name}_{side}_padding", name, model, more)
        if name not in ("gpt2", "llama", "bert", "bart", "vit"):
            continue
        values = run(model, inputs)[1]
        other = run(model, inputs_of(f"{name}/other", model.config))[1]
        for case, (edits, tensors) in edit_cases(name, values, other).items():
            add_edits(group, name, model, inputs, case, edits, tensors)
    group.save()


if __name__ == "__main__":
    main()
