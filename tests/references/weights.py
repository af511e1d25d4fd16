"""Weights as TransformerLens names, orients and processes them, scores of head composition, and logits of edited models.

TransformerLens' formulas are written out: HookedTransformer's weight conversions, fold_layer_norm with center_weights,
center_writing_weights, FactoredMatrix and all_composition_scores.
"""

import os

import torch
from transformers import AutoModelForCausalLM

from common import Group, arguments, float64_everywhere, integers, largest_difference, normal
from models_common import double_of

# The folders of tests/fixtures with the checkpoints, and the layer whose weights are stored.
CHECKPOINTS = ["models/gpt2/odd", "llama_tiny/sharded", "models/phi3/even", "models/gemma2/even"]
LAYER = 1


def heads_of(weight, d_head):
    """[head, d_model, d_head] of a linear layer's weight (head·d_head, d_model)."""
    return weight.view(-1, d_head, weight.shape[1]).transpose(1, 2)


def gpt2_block(block, d_head):
    attention, mlp = block.attn, block.mlp
    query, key, value = attention.c_attn.weight.chunk(3, dim=1)
    biases = attention.c_attn.bias.chunk(3)
    return {
        "attn.W_Q": heads_of(query.T, d_head), "attn.W_K": heads_of(key.T, d_head), "attn.W_V": heads_of(value.T, d_head),
        "attn.b_Q": biases[0].view(-1, d_head), "attn.b_K": biases[1].view(-1, d_head),
        "attn.b_V": biases[2].view(-1, d_head),
        "attn.W_O": attention.c_proj.weight.view(-1, d_head, attention.c_proj.weight.shape[1]),
        "attn.b_O": attention.c_proj.bias,
        "mlp.W_in": mlp.c_fc.weight, "mlp.b_in": mlp.c_fc.bias, "mlp.W_out": mlp.c_proj.weight, "mlp.b_out": mlp.c_proj.bias,
        "ln1.w": block.ln_1.weight, "ln1.b": block.ln_1.bias, "ln2.w": block.ln_2.weight, "ln2.b": block.ln_2.bias,
    }


def llama_block(block, d_head, config):
    attention, mlp = block.self_attn, block.mlp
    if hasattr(attention, "qkv_proj"):
        groups = config.num_key_value_heads * d_head
        query, key, value = attention.qkv_proj.weight.split([config.num_attention_heads * d_head, groups, groups])
        gate, up = mlp.gate_up_proj.weight.chunk(2)
    else:
        query, key, value = attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight
        gate, up = mlp.gate_proj.weight, mlp.up_proj.weight
    offset = 1 if config.model_type == "gemma2" else 0
    before_mlp = block.pre_feedforward_layernorm if offset else block.post_attention_layernorm
    return {
        "attn.W_Q": heads_of(query, d_head), "attn.W_K": heads_of(key, d_head), "attn.W_V": heads_of(value, d_head),
        "attn.b_Q": torch.zeros(config.num_attention_heads, d_head, dtype=query.dtype),
        "attn.W_O": attention.o_proj.weight.T.reshape(-1, d_head, attention.o_proj.weight.shape[0]),
        "attn.b_O": torch.zeros(config.hidden_size, dtype=query.dtype),
        "mlp.W_in": up.T, "mlp.W_gate": gate.T, "mlp.W_out": mlp.down_proj.weight.T,
        "mlp.b_in": torch.zeros(up.shape[0], dtype=query.dtype),
        "ln1.w": block.input_layernorm.weight + offset, "ln2.w": before_mlp.weight + offset,
    }


def lens_weights(model):
    """All weights by TransformerLens' names."""
    config = model.config
    named = {"W_U": model.lm_head.weight.T, "b_U": torch.zeros(config.vocab_size, dtype=model.lm_head.weight.dtype)}
    if config.model_type == "gpt2":
        body = model.transformer
        named |= {"W_E": body.wte.weight, "W_pos": body.wpe.weight}
        named |= {"ln_final.w": body.ln_f.weight, "ln_final.b": body.ln_f.bias}
        blocks = [gpt2_block(block, config.n_embd // config.n_head) for block in body.h]
    else:
        d_head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        gemma = config.model_type == "gemma2"
        named["W_E"] = model.model.embed_tokens.weight * (config.hidden_size ** 0.5 if gemma else 1)
        named["ln_final.w"] = model.model.norm.weight + (1 if gemma else 0)
        blocks = [llama_block(block, d_head, config) for block in model.model.layers]
    for layer, block in enumerate(blocks):
        named |= {f"blocks.{layer}.{name}": value for name, value in block.items()}
    return {name: value.detach().clone() for name, value in named.items()}


def folded(named, layer_norm):
    """fold_layer_norm: norms become part of what reads them; with LayerNorm, columns are centred."""
    out = dict(named)
    layers = 1 + max(int(name.split(".")[1]) for name in named if name.startswith("blocks."))
    readers = [("W_U", "b_U", "ln_final")]
    for layer in range(layers):
        block = f"blocks.{layer}."
        readers += [(f"{block}attn.W_{x}", f"{block}attn.b_{x}", f"{block}ln1") for x in "QKV"]
        readers += [(f"{block}mlp.W_in", f"{block}mlp.b_in", f"{block}ln2"), (f"{block}mlp.W_gate", "", f"{block}ln2")]
    for weight, bias, norm in readers:
        if weight not in named:
            continue
        w = named[f"{norm}.w"][:, None]
        if f"{norm}.b" in named and bias in named:
            out[bias] = named[bias] + (named[weight] * named[f"{norm}.b"][:, None]).sum(-2)
        out[weight] = named[weight] * w
        if layer_norm:
            out[weight] = out[weight] - out[weight].mean(-2, keepdim=True)
    return out


def centred(named):
    """center_writing_weights"""
    leaves = ("W_E", "W_pos", "W_O", "b_O", "W_out", "b_out")
    return {
        name: value - value.mean(-1, keepdim=True) if name.split(".")[-1] in leaves else value
        for name, value in named.items()
    }


def circuits(named, layer):
    """QK and OV [head, d_model, d_model], keys and values repeated for grouped queries."""
    query, key, value, output = (named[f"blocks.{layer}.attn.W_{x}"] for x in "QKVO")
    repeats = query.shape[0] // key.shape[0]
    key, value = key.repeat_interleave(repeats, 0), value.repeat_interleave(repeats, 0)
    return query @ key.transpose(-2, -1), value @ output


def composition(named, layers):
    """all_composition_scores [layer, head, layer, head] of the modes Q, K and V."""
    products = [circuits(named, layer) for layer in range(layers)]
    heads = products[0][0].shape[0]
    scores = {mode: torch.zeros(layers, heads, layers, heads, dtype=torch.float64) for mode in "QKV"}
    for first in range(layers):
        for second in range(first + 1, layers):
            for one in range(heads):
                for other in range(heads):
                    left = products[first][1][one]
                    right = {"Q": products[second][0][other], "K": products[second][0][other].T, "V": products[second][1][other]}
                    for mode, matrix in right.items():
                        scores[mode][first, one, second, other] = (left @ matrix).norm() / left.norm() / matrix.norm()
    return scores


def load(args, name):
    folder = os.path.join(args.out, name)
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def weight_cases(group, args, name):
    model = load(args, name)
    named = {key: value.double() for key, value in lens_weights(model).items()}
    kept = [key for key in named if not key.startswith("blocks.") or key.startswith(f"blocks.{LAYER}.")]
    file = f"{name.replace('/', '_')}.safetensors"
    single = lens_weights(model)
    group.case(f"{name} named", "weights", {"checkpoint": name}, {}, {key: single[key] for key in kept}, file=file)
    if model.config.model_type not in ("gpt2", "llama"):
        return
    layer_norm = model.config.model_type == "gpt2"
    after = folded(named, layer_norm)
    changed = [key for key in kept if not torch.equal(after[key], named[key])]
    group.case(f"{name} fold_ln", "weights", {"checkpoint": name, "fold_ln": True}, {}, {key: after[key] for key in changed}, file=file)
    if layer_norm:
        after = centred(named)
        changed = [key for key in kept if not torch.equal(after[key], named[key])]
        options = {"checkpoint": name, "center_writing_weights": True}
        group.case(f"{name} centred", "weights", options, {}, {key: after[key] for key in changed}, file=file)
    layers = model.config.num_hidden_layers
    for processing, weights in (({}, named), ({"fold_ln": True}, folded(named, layer_norm))):
        key = f"{name} composition{' fold_ln' if processing else ''}"
        group.case(key, "composition", {"checkpoint": name} | processing, {}, composition(weights, layers), file=file)
    queries_keys, values_outputs = circuits(named, LAYER)
    values = {
        "QK": torch.linalg.svdvals(queries_keys), "OV": torch.linalg.svdvals(values_outputs),
        "W_in": torch.linalg.svdvals(named[f"blocks.{LAYER}.mlp.W_in"]),
    }
    group.case(f"{name} svd", "svd", {"checkpoint": name, "layer": LAYER}, {}, values, file=file)


def apply(parameter, edit, given, at):
    """Changes the part `at` of a PyTorch parameter in place."""
    value = given.get("value")
    part = parameter[at]
    parameter[at] = {
        "zero": lambda: torch.zeros_like(part),
        "replace": lambda: torch.zeros_like(part) + value,
        "add": lambda: part + value,
        "scale": lambda: part * value,
        "rank_one": lambda: part + given["left"][..., :, None] * given["right"][..., None, :],
    }[edit["op"]]()


def edits_of(name, model):
    """(edit, its tensors, the PyTorch parameter, the index) of each case."""
    config = model.config
    if config.model_type == "gpt2":
        body, d_head = model.transformer, config.n_embd // config.n_head
        table, stacked = body.wte.weight, body.h[0].attn.c_attn.weight
        return [
            ({"name": "wte.weight", "op": "add", "at": [[3, 60]]}, {"value": normal(f"{name} wte", (57, config.n_embd), 0.1)},
             table, slice(3, 60)),
            ({"name": "h.0.attn.c_attn.weight", "op": "rank_one"},
             {"left": normal(f"{name} left", stacked.shape[:1]), "right": normal(f"{name} right", stacked.shape[1:], 0.1)},
             stacked, slice(None)),
            ({"name": "blocks.1.attn.W_O", "op": "zero", "at": [2]}, {}, body.h[1].attn.c_proj.weight, slice(2 * d_head, 3 * d_head)),
            ({"name": "blocks.0.mlp.W_out", "op": "zero", "at": [5]}, {}, body.h[0].mlp.c_proj.weight, 5),
            ({"name": "ln_final.w", "op": "scale"}, {"value": normal(f"{name} ln_f", (config.n_embd,), 0.1, mean=1.0)},
             body.ln_f.weight, slice(None)),
        ]
    layer, d_head = model.model.layers[1], config.head_dim
    key = layer.self_attn.k_proj.weight
    return [
        ({"name": "blocks.1.attn.W_K", "op": "replace", "at": [-1]},
         {"value": normal(f"{name} W_K", (config.hidden_size, d_head), 0.2)}, key.T, (slice(None), slice(d_head, 2 * d_head))),
        ({"name": "model.norm.weight", "op": "scale", "at": [[0, 7]]}, {"value": normal(f"{name} norm", (7,), 0.1, mean=1.0)},
         model.model.norm.weight, slice(0, 7)),
    ]


def logits_of(model, ids):
    with float64_everywhere():
        double = double_of(model)(input_ids=ids, use_cache=False).logits
    single = model(input_ids=ids, use_cache=False).logits
    return single, largest_difference(single, double)


def edit_cases(group, args, name):
    ids = integers(f"{name} ids", (2, 9), 3, load(args, name).config.vocab_size)
    for number in range(len(edits_of(name, load(args, name)))):
        model = load(args, name)
        edit, given, parameter, at = edits_of(name, model)[number]
        given = {key: value.float() for key, value in given.items()}
        apply(parameter, edit, given, at)
        logits, error = logits_of(model, ids)
        group.case(f"{name} edit {number}", "edit", {"checkpoint": name, "edit": edit}, {"input_ids": ids} | given,
                   {"logits": logits}, file="edits.safetensors", errors={"logits": error})


def main():
    args = arguments(__doc__)
    group = Group(args, "weights", "weights.py", ("transformers",))
    for name in CHECKPOINTS:
        weight_cases(group, args, name)
    for name in CHECKPOINTS[:2]:
        edit_cases(group, args, name)
    group.save()


if __name__ == "__main__":
    main()
