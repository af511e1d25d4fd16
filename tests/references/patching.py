"""TransformerLens' activation patching grids and direct paths, and path patching, defined with PyTorch hooks.

A grid runs the corrupted input once per index with one part of one activation replaced by its value on the clean input.
The parts and axes are those of transformer_lens/patching.py, the direct paths those of
transformer_lens/tools/analysis/direct_path_patching.py with weights processed as from_pretrained does by default (norms
folded, writing weights centred). Uses the checkpoints that models_*.py and llama_tiny.py write.
"""

import itertools

import torch

from common import Group, arguments, float64_everywhere, largest_difference
from hooks import MODELS as CHECKPOINTS, load, run
from models_common import double_of, token_ids

LENGTH = 6
CHANGED = (1, 3)  # positions at which the corrupted tokens differ
TOKENS = (5, 11)  # the metric is the difference of their logits at the last position, averaged over the batch
MODELS = ("gpt2", "gpt_neox", "llama")

# name: hook, axes behind the layer as (name, axis of the activation)
POS, HEAD = ("pos", 1), ("head", 2)
PATTERN = [("head", 1), ("dest", 2), ("src", 3)]
GRIDS = {
    "resid_pre": ("hook_resid_pre", [POS]),
    "resid_mid": ("hook_resid_mid", [POS]),
    "attn_out": ("hook_attn_out", [POS]),
    "mlp_out": ("hook_mlp_out", [POS]),
    "attn_head_out_by_pos": ("attn.hook_z", [POS, HEAD]),
    "attn_head_q_by_pos": ("attn.hook_q", [POS, HEAD]),
    "attn_head_k_by_pos": ("attn.hook_k", [POS, HEAD]),
    "attn_head_v_by_pos": ("attn.hook_v", [POS, HEAD]),
    "attn_head_pattern_by_pos": ("attn.hook_pattern", PATTERN[:2]),
    "attn_head_pattern_dest_src_pos": ("attn.hook_pattern", PATTERN),
    "attn_head_out_all_pos": ("attn.hook_z", [HEAD]),
    "attn_head_q_all_pos": ("attn.hook_q", [HEAD]),
    "attn_head_k_all_pos": ("attn.hook_k", [HEAD]),
    "attn_head_v_all_pos": ("attn.hook_v", [HEAD]),
    "attn_head_pattern_all_pos": ("attn.hook_pattern", PATTERN[:1]),
}


def metric(logits):
    right, wrong = TOKENS
    return float((logits[:, -1, right] - logits[:, -1, wrong]).double().mean())


def at(indices, axes):
    """The index of a part of an activation."""
    index = [slice(None)] * (1 + max(axis for _, axis in axes))
    for (_, axis), place in zip(axes, indices, strict=True):
        index[axis] = place
    return tuple(index)


def replaced(index, clean):
    def change(value):
        value = value.clone()
        value[index] = clean[index]
        return value
    return change


def mid_replaced(index, clean, before):
    """hook_resid_mid in a pre-norm block, where it is the sum of the stream and the attention's output."""
    def change(value):
        value = value.clone()
        value[index] = clean[index] - before[index]
        return value
    return change


def grid(model, corrupted, clean, wrong, leaf, axes):
    layers = model.config.num_hidden_layers
    shape = [clean[f"blocks.0.{leaf}"].shape[axis] for _, axis in axes]
    result = torch.zeros([layers, *shape], dtype=torch.float64)
    for layer, *indices in itertools.product(range(layers), *map(range, shape)):
        name, index = f"blocks.{layer}.{leaf}", at(indices, axes)
        edits = {name: replaced(index, clean[name])}
        if leaf == "hook_resid_mid":
            before = wrong[f"blocks.{layer}.hook_resid_pre"]
            edits = {f"blocks.{layer}.hook_attn_out": mid_replaced(index, clean[name], before)}
        out, _ = run(model, corrupted, edits)
        result[(layer, *indices)] = metric(out.logits)
    return result


def blocks_of(model):
    return next(module for name, module in model.named_modules() if name.endswith((".h", ".layers")))


def linear_part(function, x):
    """What a projection does without its bias."""
    return function(x) - function(torch.zeros_like(x))


def projected(block, part, x, heads, groups):
    """x (B, T, D), normalized, as q, k or v (B, T, H, d) of a block, without biases."""
    if hasattr(block, "attn"):
        return linear_part(block.attn.c_attn, x).chunk(3, dim=-1)["qkv".index(part)].unflatten(-1, (heads, -1))
    if hasattr(block, "attention"):
        both = linear_part(block.attention.query_key_value, x).unflatten(-1, (heads, 3, -1))
        return both.unbind(-2)["qkv".index(part)]
    return linear_part(getattr(block.self_attn, f"{part}_proj"), x).unflatten(-1, (heads if part == "q" else groups, -1))


def added_by_head(block, z, head):
    """What a head's output z (B, T, H, d) adds to the residual stream: (B, T, D)."""
    alone = torch.zeros_like(z)
    alone[:, :, head] = z[:, :, head]
    output = (block.attn.c_proj if hasattr(block, "attn") else
              block.attention.dense if hasattr(block, "attention") else block.self_attn.o_proj)
    return linear_part(output, alone.flatten(-2))


def direct_paths(model, corrupted, clean, wrong, source, part):
    """[layer, head]: the metric with the path from the head `source` to that head's q, k or v patched, linearised with
    the norm's divisor on the corrupted input; 0 where there is no path."""
    layers, heads = model.config.num_hidden_layers, model.config.num_attention_heads
    groups = getattr(model.config, "num_key_value_heads", None) or heads
    blocks, (layer, head) = blocks_of(model), source
    difference = clean[f"blocks.{layer}.attn.hook_z"] - wrong[f"blocks.{layer}.attn.hook_z"]
    delta = added_by_head(blocks[layer], difference, head)
    result = torch.zeros([layers, heads if part == "q" else groups], dtype=torch.float64)
    for to, own in itertools.product(range(layer + 1, layers), range(result.shape[1])):
        block = blocks[to]
        norm = block.ln_1 if hasattr(block, "ln_1") else block.input_layernorm
        centred = delta - delta.mean(-1, keepdim=True) if isinstance(norm, torch.nn.LayerNorm) else delta
        seen = centred / wrong[f"blocks.{to}.ln1.hook_scale"] * norm.weight
        moved = projected(block, part, seen, heads, groups)

        def change(value, own=own, moved=moved):
            value = value.clone()
            value[:, :, own] += moved[:, :, own]
            return value
        out, _ = run(model, corrupted, {f"blocks.{to}.attn.hook_{part}": change})
        result[to, own] = metric(out.logits)
    return result


def whole(value):
    return lambda _: value


def head_from(value, other, head):
    value = value.clone()
    value[:, :, head] = other[:, :, head]
    return value


def path_patching(model, base, right, wrong, receivers, mlps):
    """[layer, head]: the metric on the base input where the receivers (part, layer, head) see that head as on the other
    input, through the residual stream and, unless frozen, the MLPs; all other heads are as on the base input."""
    layers, heads = model.config.num_hidden_layers, model.config.num_attention_heads
    result = torch.full([layers, heads], metric(run(model, base)[0].logits), dtype=torch.float64)
    last = max((layer for _, layer, _ in receivers), default=layers)
    for layer, head in itertools.product(range(last), range(heads)):
        z = f"blocks.{layer}.attn.hook_z"
        edits = {z: whole(head_from(right[z], wrong[z], head))}
        for later in range(layer + 1, layers):
            edits[f"blocks.{later}.attn.hook_z"] = whole(right[f"blocks.{later}.attn.hook_z"])
        if mlps == "frozen":
            for later in range(layer, layers):
                edits[f"blocks.{later}.hook_mlp_out"] = whole(right[f"blocks.{later}.hook_mlp_out"])
        out, seen = run(model, base, edits)
        if receivers:
            names = {f"blocks.{to}.attn.hook_{part}" for part, to, _ in receivers}
            values = {name: right[name].clone() for name in names}
            for part, to, own in receivers:
                name = f"blocks.{to}.attn.hook_{part}"
                values[name][:, :, own] = seen[name][:, :, own]
            out, _ = run(model, base, {name: whole(value) for name, value in values.items()})
        result[layer, head] = metric(out.logits)
    return result


def results(model, clean_ids, corrupted_ids):
    clean, corrupted = {"input_ids": clean_ids}, {"input_ids": corrupted_ids}
    (right_out, right), (wrong_out, wrong) = run(model, clean), run(model, corrupted)
    found = {"clean": metric(right_out.logits), "corrupted": metric(wrong_out.logits)}
    for name, (leaf, axes) in GRIDS.items():
        if f"blocks.0.{leaf}" in right:
            found[name] = grid(model, corrupted, right, wrong, leaf, axes)
    for part in "qkv":
        found[f"direct_path_{part}"] = direct_paths(model, corrupted, right, wrong, (0, 1), part)
    receivers = [("q", 1, 0), ("q", 1, 1), ("v", 1, 0)]
    for mlps in ("recomputed", "frozen"):
        found[f"path_to_heads_{mlps}"] = path_patching(model, clean, right, wrong, receivers, mlps)
        found[f"path_to_logits_{mlps}"] = path_patching(model, clean, right, wrong, [], mlps)
    return {name: torch.as_tensor(value) for name, value in found.items()}


def main():
    args = arguments(__doc__)
    group = Group(args, "patching", "patching.py", ["transformers"])
    for name in MODELS:
        model = load(args, name)
        ids = token_ids(f"patching/{name}", (2, LENGTH), model.config)
        other = token_ids(f"patching/{name}/other", (2, LENGTH), model.config)
        corrupted = ids.clone()
        corrupted[:, CHANGED] = other[:, CHANGED]
        single = results(model, ids, corrupted)
        double = double_of(model)
        with float64_everywhere():
            exact = results(double, ids, corrupted)
        errors = {key: largest_difference(single[key], exact[key]) for key in exact}
        group.case(name, "patching", {"checkpoint": CHECKPOINTS[name][0], "tokens": list(TOKENS)},
                   {"clean": ids, "corrupted": corrupted}, {f"{key}_result": value for key, value in exact.items()},
                   file="patching.safetensors", errors={f"{key}_result": value for key, value in errors.items()})
    group.save()


if __name__ == "__main__":
    main()
