"""Gradients of the modules of torch.nn, d2l.ai and sentence-transformers, by PyTorch's autograd in float64.

A case has the inputs of a call, masks by the names of Module::Inputs with their kind in `masks`, and `d_output`, the gradient of the
output; its outputs are the output, and `d.<input>` and `w.<state_dict key>`, the gradients of inputs and weights. Those of attention_pooling have no
weights: the tensors of a scoring function are inputs.
"""

import torch
from torch import nn

import d2l_modules as d2l
from common import Group, arguments, fill_state_dict, integers, normal

FILE = "gradients.safetensors"


class Dense(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, input):
        return self.linear(input).tanh()


class Patches(nn.Module):
    """d2l's PatchEmbedding."""

    def __init__(self, channels, patch, num_hiddens):
        super().__init__()
        self.conv = nn.Conv2d(channels, num_hiddens, patch, stride=patch)

    def forward(self, X):
        return self.conv(X).flatten(2).transpose(1, 2)


class ViTBlock(nn.Module):
    """d2l's: norms first, GELU."""

    def __init__(self, num_hiddens, mlp_num_hiddens, num_heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(num_hiddens), nn.LayerNorm(num_hiddens)
        self.attention = d2l.MultiHeadAttention(num_hiddens, num_heads)
        self.mlp = nn.Module()
        self.mlp.dense1, self.mlp.dense2 = nn.Linear(num_hiddens, mlp_num_hiddens), nn.Linear(mlp_num_hiddens, num_hiddens)

    def forward(self, X, valid_lens=None):
        y = self.ln1(X)
        X = X + self.attention(y, y, y, valid_lens)
        return X + self.mlp.dense2(nn.functional.gelu(self.mlp.dense1(self.ln2(X))))


def add(group, name, kind, options, module, inputs, call=None, masks=None):
    """`call(module, **inputs, **masks)`; masks: name -> (kind, tensor)."""
    module = fill_state_dict(module, f"gradients/{name}").double().eval()
    masks = masks or {}
    leaves = {key: value.clone().requires_grad_(value.is_floating_point()) for key, value in inputs.items()}
    given = {key: value for key, (_, value) in masks.items()}
    with torch.enable_grad():
        for parameter in module.parameters():
            parameter.requires_grad_(True)
        output = call(module, **leaves, **given) if call else module(*leaves.values())
        d_output = normal(f"gradients/{name}/d_output", output.shape)
        output.backward(d_output)
    outputs = {"output": output.detach()}
    outputs |= {f"d.{key}": value.grad for key, value in leaves.items() if value.grad is not None}
    outputs |= {f"w.{key}": value.grad for key, value in module.named_parameters()}
    weights = group.put_weights(FILE, f"{name}.weights.", module) if module.state_dict() else None
    group.case(name, kind, options, inputs | given | {"d_output": d_output}, outputs, file=FILE, weights=weights,
               masks={key: kind for key, (kind, _) in masks.items()})


def x(name, *shape):
    return normal(f"gradients/inputs/{name}", shape)


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).triu(1)


def lengths(*values):
    return torch.tensor(values)


def add_torch(group):
    add(group, "linear", "nn.Linear", {"in_features": 5, "out_features": 19}, nn.Linear(5, 19), {"input": x("linear", 2, 3, 5)})
    add(group, "embedding", "nn.Embedding", {"num_embeddings": 7, "embedding_dim": 5, "padding_idx": 2}, nn.Embedding(7, 5, 2),
        {"input": integers("gradients/ids", (2, 6), 0, 7)})
    add(group, "layer_norm", "nn.LayerNorm", {"normalized_shape": [4, 5]}, nn.LayerNorm((4, 5)), {"input": x("layer_norm", 2, 4, 5)})
    add(group, "rms_norm", "nn.RMSNorm", {"normalized_shape": [7], "eps": 1e-6}, nn.RMSNorm(7, eps=1e-6), {"input": x("rms_norm", 3, 7)})

    def attend(module, query, key, value, mask=None):
        return module(query, key, value, attn_mask=mask, need_weights=False)[0]
    attention = {"query": x("query", 2, 5, 12), "key": x("key", 2, 6, 12), "value": x("value", 2, 6, 12)}
    add(group, "attention", "nn.MultiheadAttention", {"embed_dim": 12, "num_heads": 3}, nn.MultiheadAttention(12, 3, batch_first=True),
        attention, attend, {"mask": ("ignore", torch.ones(5, 6, dtype=torch.bool).triu(2))})
    add(group, "attention_extra_keys", "nn.MultiheadAttention", {"embed_dim": 12, "num_heads": 3, "add_bias_kv": True, "add_zero_attn": True},
        nn.MultiheadAttention(12, 3, add_bias_kv=True, add_zero_attn=True, batch_first=True), attention, attend)
    sizes = {"query": x("query", 2, 5, 12), "key": x("key4", 2, 6, 4), "value": x("value7", 2, 6, 7)}
    add(group, "attention_sizes", "nn.MultiheadAttention", {"embed_dim": 12, "num_heads": 2, "kdim": 4, "vdim": 7, "bias": False},
        nn.MultiheadAttention(12, 2, kdim=4, vdim=7, bias=False, batch_first=True), sizes, attend)

    small = {"d_model": 8, "nhead": 2, "dim_feedforward": 11}
    torch_small = small | {"dropout": 0.0, "batch_first": True}
    src, memory, tgt = x("src", 2, 5, 8), x("memory", 2, 6, 8), x("tgt", 2, 4, 8)

    def encode(module, src, mask=None):
        return module(src, mask)
    for order in (False, True):
        for activation in ("relu", "gelu"):
            options = {"norm_first": order, "activation": activation}
            add(group, f"encoder_layer_{'pre' if order else 'post'}_{activation}", "nn.TransformerEncoderLayer", small | options,
                nn.TransformerEncoderLayer(**torch_small, **options), {"src": src}, encode, {"mask": ("ignore", causal(5))})
        options = {"norm_first": order}
        add(group, f"decoder_layer_{'pre' if order else 'post'}", "nn.TransformerDecoderLayer", small | options,
            nn.TransformerDecoderLayer(**torch_small, **options), {"tgt": tgt, "memory": memory},
            lambda module, tgt, memory, tgt_mask: module(tgt, memory, tgt_mask), {"tgt_mask": ("ignore", causal(4))})
    pre = {"norm_first": True}
    add(group, "encoder", "nn.TransformerEncoder", small | pre | {"num_layers": 2, "norm": True},
        nn.TransformerEncoder(nn.TransformerEncoderLayer(**torch_small, **pre), 2, nn.LayerNorm(8), enable_nested_tensor=False), {"src": src})
    add(group, "decoder", "nn.TransformerDecoder", small | {"num_layers": 2},
        nn.TransformerDecoder(nn.TransformerDecoderLayer(**torch_small), 2), {"tgt": tgt, "memory": memory})
    add(group, "transformer", "nn.Transformer", small | {"num_encoder_layers": 1, "num_decoder_layers": 1},
        nn.Transformer(**torch_small, num_encoder_layers=1, num_decoder_layers=1), {"src": src, "tgt": tgt},
        lambda module, src, tgt, tgt_mask: module(src, tgt, tgt_mask=tgt_mask), {"tgt_mask": ("ignore", causal(4))})


def add_d2l(group):
    def masked(module, mask=None, **inputs):
        return module(**inputs, valid_lens=mask)
    operands = {"queries": x("queries", 2, 5, 4), "keys": x("keys", 2, 6, 3), "values": x("values", 2, 6, 7)}
    for name, lens in {"additive": lengths(2, 6), "additive_zero": lengths(0, 3)}.items():
        add(group, name, "d2l.AdditiveAttention", {"num_hiddens": 9}, d2l.AdditiveAttention(4, 3, 9), operands, masked,
            {"mask": ("valid_lens", lens)})
    same = {name: x(name + "8", 2, 5, 8) for name in ("queries", "keys", "values")}
    add(group, "multi_head", "d2l.MultiHeadAttention", {"num_hiddens": 8, "num_heads": 2, "bias": True}, d2l.MultiHeadAttention(8, 2, True),
        same, masked, {"mask": ("valid_lens", lengths(0, 4))})
    options = {"num_hiddens": 8, "num_heads": 2, "attention": "additive", "attention_num_hiddens": 5}
    add(group, "multi_head_additive", "d2l.MultiHeadAttention", options,
        d2l.MultiHeadAttention(8, 2, attention=d2l.AdditiveAttention(4, 4, 5)), same, masked, {"mask": ("valid_lens", lengths(3, 4))})
    add(group, "add_norm", "d2l.AddNorm", {"norm_shape": [6]}, d2l.AddNorm([6]), {"X": x("X6", 2, 3, 6), "Y": x("Y6", 2, 3, 6)})
    add(group, "ffn", "d2l.PositionWiseFFN", {"ffn_num_hiddens": 9, "ffn_num_outputs": 4}, d2l.PositionWiseFFN(6, 9, 4), {"X": x("X6", 2, 3, 6)})
    add(group, "patches", "d2l.PatchEmbedding", {"patch_size": [2, 3], "num_hiddens": 5}, Patches(2, (2, 3), 5), {"X": x("images", 2, 2, 5, 7)})
    add(group, "positions", "d2l.PositionalEncoding", {"num_hiddens": 6}, d2l.PositionalEncoding(6), {"X": x("X6", 2, 3, 6)})
    add(group, "encoder_block", "d2l.TransformerEncoderBlock", {"num_hiddens": 8, "ffn_num_hiddens": 9, "num_heads": 2},
        d2l.TransformerEncoderBlock(8, 9, 2), {"X": x("X8", 2, 5, 8)}, masked, {"mask": ("valid_lens", lengths(3, 5))})
    add(group, "vit_block", "d2l.ViTBlock", {"num_hiddens": 8, "mlp_num_hiddens": 9, "num_heads": 2}, ViTBlock(8, 9, 2),
        {"X": x("X8", 2, 5, 8)}, masked, {"mask": ("valid_lens", lengths(5, 2))})
    add(group, "decoder_block", "d2l.TransformerDecoderBlock", {"num_hiddens": 8, "ffn_num_hiddens": 9, "num_heads": 2},
        d2l.TransformerDecoderBlock(8, 9, 2), {"X": x("X8", 2, 5, 8), "enc_outputs": x("enc8", 2, 4, 8)},
        lambda module, X, enc_outputs, mask, enc_mask: module(X, enc_outputs, enc_mask)[0],
        {"mask": ("causal", lengths(0)), "enc_mask": ("valid_lens", lengths(4, 2))})


def scores_of(score, q, k, options, tensors):
    if score == "additive":
        hidden = torch.tanh((q @ tensors["W_q"].T).unsqueeze(-2) + (k @ tensors["W_k"].T).unsqueeze(-3))
        return hidden @ tensors["w_v"] * options.get("scale", 1.0)
    if score == "distance":
        return -(q.unsqueeze(-2) - k.unsqueeze(-3)).square().sum(-1) / (2.0 * options["sigma"] ** 2)
    if score == "general":
        q = q @ tensors["M"]
    return q @ k.transpose(-1, -2) * options.get("scale", q.shape[-1] ** -0.5 if score == "scaled_dot" else 1.0)


def add_pooling(group, name, score, options, inputs, mask=None, softcap=0.0, empty_row="zeros"):
    """softmax(score(query, key) + mask) value; `mask`: booleans, true attends."""
    leaves = {key: value.clone().double().requires_grad_(True) for key, value in inputs.items()}
    with torch.enable_grad():
        q, k, v = leaves["query"], leaves["key"], leaves["value"]
        if options.get("enable_gqa"):
            k, v = (x.repeat_interleave(q.shape[-3] // x.shape[-3], -3) for x in (k, v))
        scores = scores_of(score, q, k, options, leaves)
        if softcap:
            scores = softcap * torch.tanh(scores / softcap)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.where(torch.isneginf(scores).all(-1, keepdim=True), torch.tensor(0.0), scores).softmax(-1)
        if mask is not None and empty_row == "zeros":
            weights = weights * mask.any(-1, keepdim=True)
        output = weights @ v
        d_output = normal(f"gradients/{name}/d_output", output.shape)
        output.backward(d_output)
    given = inputs | {"d_output": d_output} | ({} if mask is None else {"mask": mask})
    outputs = {"output": output.detach()} | {f"d.{key}": value.grad for key, value in leaves.items()}
    group.case(name, "attention_pooling", options | {"score": score, "softcap": softcap, "empty_row": empty_row}, given, outputs, file=FILE)


def add_poolings(group):
    def operands(name, query, key, value):
        return {one: x(f"{name}/{one}", *shape) for one, shape in (("query", query), ("key", key), ("value", value))}
    some = torch.ones(5, 6, dtype=torch.bool).tril(1)
    none = some.clone()
    none[2] = False
    add_pooling(group, "pooling_grouped", "scaled_dot", {"enable_gqa": True}, operands("grouped", (2, 4, 5, 3), (2, 2, 6, 3), (2, 2, 6, 7)),
                some, 1.5)
    add_pooling(group, "pooling_broadcast", "dot", {"scale": 0.5}, operands("broadcast", (2, 3, 5, 4), (1, 3, 6, 4), (6, 2)), none)
    add_pooling(group, "pooling_plain", "scaled_dot", {}, operands("plain", (5, 4), (6, 4), (6, 3)))
    add_pooling(group, "pooling_uniform", "scaled_dot", {}, operands("uniform", (2, 5, 4), (2, 6, 4), (6, 3)), none, empty_row="uniform")
    add_pooling(group, "pooling_general", "general", {"scale": 0.7}, operands("general", (2, 5, 4), (2, 6, 3), (2, 6, 2)) | {"M": x("M", 4, 3)})
    add_pooling(group, "pooling_additive", "additive", {"scale": 0.7}, operands("additive", (2, 5, 4), (6, 3), (2, 6, 2))
                | {"W_q": x("W_q", 8, 4), "W_k": x("W_k", 8, 3), "w_v": x("w_v", 8)}, some)
    add_pooling(group, "pooling_distance", "distance", {"sigma": 1.25}, operands("distance", (2, 5, 4), (2, 6, 4), (2, 6, 2)), some)


def main():
    args = arguments(__doc__)
    group = Group(args, "gradients", "gradients.py")
    add_torch(group)
    add_d2l(group)
    add_poolings(group)
    add(group, "dense", "sentence_transformers.Dense", {"in_features": 6, "out_features": 4}, Dense(6, 4), {"input": x("dense", 2, 6)})
    group.save()


if __name__ == "__main__":
    main()
