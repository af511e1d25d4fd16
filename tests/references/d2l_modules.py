"""The teaching blocks of d2l.ai, reimplemented: same constructor names, same state_dict keys, same numbers.

Dropout is omitted: it does nothing at inference. `trained=True` in the decoder means d2l's training mode, in which
a whole target sequence is processed at once and every query attends to the keys up to its own.
"""

import math

import torch
from torch import nn

from scoring import additive, masked_softmax, scaled_dot


class DotProductAttention(nn.Module):
    def forward(self, queries, keys, values, valid_lens=None):
        self.attention_weights = masked_softmax(scaled_dot(queries, keys), valid_lens)
        return self.attention_weights @ values


class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = additive(queries, keys, self.W_q.weight, self.W_k.weight, self.w_v.weight)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.attention_weights @ values


class MultiHeadAttention(nn.Module):
    """`sizes` are those of query, key and value (default: all num_hiddens); heads are in the batch dimension."""

    def __init__(self, num_hiddens, num_heads, bias=False, sizes=None, attention=None):
        super().__init__()
        self.num_heads = num_heads
        self.attention = attention or DotProductAttention()
        for name, size in zip(("W_q", "W_k", "W_v"), sizes or (num_hiddens,) * 3):
            setattr(self, name, nn.Linear(size, num_hiddens, bias=bias))
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def split(self, x):
        """(B, T, H d) -> (B H, T, d)"""
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2).flatten(0, 1)

    def forward(self, queries, keys, values, valid_lens=None):
        batch = queries.shape[0]
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        heads = [self.split(p(x)) for p, x in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values))]
        z = self.attention(*heads, valid_lens)
        self.attention_weights = self.attention.attention_weights.unflatten(0, (batch, self.num_heads))
        return self.W_o(z.unflatten(0, (batch, self.num_heads)).transpose(1, 2).flatten(2))


class PositionalEncoding(nn.Module):
    """Without state: columns 2j and 2j + 1 are sin and cos of position / 10000^(2j / d)."""

    def __init__(self, num_hiddens, max_len=1000):
        super().__init__()
        self.num_hiddens, self.max_len = num_hiddens, max_len

    def forward(self, X):
        even = torch.arange(0, self.num_hiddens, 2, dtype=X.dtype)
        angles = torch.arange(X.shape[1], dtype=X.dtype)[:, None] / 10000 ** (even / self.num_hiddens)
        return X + torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


class AddNorm(nn.Module):
    def __init__(self, norm_shape):
        super().__init__()
        self.ln = nn.LayerNorm(norm_shape)

    def forward(self, X, Y):
        return self.ln(Y + X)


class PositionWiseFFN(nn.Module):
    def __init__(self, num_inputs, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(num_inputs, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        return self.dense2(self.dense1(X).relu())


class TransformerEncoderBlock(nn.Module):
    def __init__(self, num_hiddens, ffn_num_hiddens, num_heads, use_bias=False):
        super().__init__()
        self.attention = MultiHeadAttention(num_hiddens, num_heads, use_bias)
        self.addnorm1 = AddNorm(num_hiddens)
        self.ffn = PositionWiseFFN(num_hiddens, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(num_hiddens)

    def forward(self, X, valid_lens=None):
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))


class TransformerDecoderBlock(nn.Module):
    def __init__(self, num_hiddens, ffn_num_hiddens, num_heads):
        super().__init__()
        self.attention1 = MultiHeadAttention(num_hiddens, num_heads)
        self.addnorm1 = AddNorm(num_hiddens)
        self.attention2 = MultiHeadAttention(num_hiddens, num_heads)
        self.addnorm2 = AddNorm(num_hiddens)
        self.ffn = PositionWiseFFN(num_hiddens, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(num_hiddens)

    def forward(self, X, enc_outputs, enc_valid_lens=None, past=None, trained=True):
        """(output, keys and values for the next step): `past` are those decoded so far."""
        seen = X if past is None else torch.cat([past, X], dim=1)
        own = torch.arange(1, X.shape[1] + 1).expand(X.shape[0], -1) if trained else None
        Y = self.addnorm1(X, self.attention1(X, seen, seen, own))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), seen


class TransformerEncoder(nn.Module):
    def __init__(self, vocab_size, num_hiddens, ffn_num_hiddens, num_heads, num_blks, use_bias=False):
        super().__init__()
        self.scale = math.sqrt(num_hiddens)
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens)
        self.blks = nn.Sequential()
        for i in range(num_blks):
            self.blks.add_module(f"block{i}", TransformerEncoderBlock(num_hiddens, ffn_num_hiddens, num_heads, use_bias))

    def forward(self, X, valid_lens=None):
        X = self.pos_encoding(self.embedding(X) * self.scale)
        for block in self.blks:
            X = block(X, valid_lens)
        return X


class TransformerDecoder(nn.Module):
    def __init__(self, vocab_size, num_hiddens, ffn_num_hiddens, num_heads, num_blks):
        super().__init__()
        self.scale = math.sqrt(num_hiddens)
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens)
        self.blks = nn.Sequential()
        for i in range(num_blks):
            self.blks.add_module(f"block{i}", TransformerDecoderBlock(num_hiddens, ffn_num_hiddens, num_heads))
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def forward(self, X, enc_outputs, enc_valid_lens=None):
        """Teacher forcing: all target tokens at once."""
        X = self.pos_encoding(self.embedding(X) * self.scale)
        for block in self.blks:
            X, _ = block(X, enc_outputs, enc_valid_lens)
        return self.dense(X)


class PatchEmbedding(nn.Module):
    def __init__(self, img_size, patch_size, num_hiddens, num_channels):
        super().__init__()
        self.num_patches = (img_size[0] // patch_size[0]) * (img_size[1] // patch_size[1])
        self.conv = nn.Conv2d(num_channels, num_hiddens, kernel_size=patch_size, stride=patch_size)

    def forward(self, X):
        return self.conv(X).flatten(2).transpose(1, 2)


class ViTMLP(nn.Module):
    def __init__(self, num_hiddens, mlp_num_hiddens):
        super().__init__()
        self.dense1 = nn.Linear(num_hiddens, mlp_num_hiddens)
        self.dense2 = nn.Linear(mlp_num_hiddens, num_hiddens)

    def forward(self, X):
        return self.dense2(nn.functional.gelu(self.dense1(X)))


class ViTBlock(nn.Module):
    def __init__(self, num_hiddens, mlp_num_hiddens, num_heads, use_bias=False):
        super().__init__()
        self.ln1 = nn.LayerNorm(num_hiddens)
        self.attention = MultiHeadAttention(num_hiddens, num_heads, use_bias)
        self.ln2 = nn.LayerNorm(num_hiddens)
        self.mlp = ViTMLP(num_hiddens, mlp_num_hiddens)

    def forward(self, X, valid_lens=None):
        normal = self.ln1(X)
        X = X + self.attention(normal, normal, normal, valid_lens)
        return X + self.mlp(self.ln2(X))


class ViT(nn.Module):
    def __init__(self, img_size, patch_size, num_channels, num_hiddens, mlp_num_hiddens, num_heads, num_blks, num_classes):
        super().__init__()
        self.patch_embedding = PatchEmbedding(img_size, patch_size, num_hiddens, num_channels)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, num_hiddens))
        self.pos_embedding = nn.Parameter(torch.zeros(1, self.patch_embedding.num_patches + 1, num_hiddens))
        self.blks = nn.Sequential(*[ViTBlock(num_hiddens, mlp_num_hiddens, num_heads) for _ in range(num_blks)])
        self.head = nn.Sequential(nn.LayerNorm(num_hiddens), nn.Linear(num_hiddens, num_classes))

    def forward(self, X):
        X = self.patch_embedding(X)
        X = torch.cat([self.cls_token.expand(len(X), -1, -1), X], dim=1) + self.pos_embedding
        for block in self.blks:
            X = block(X)
        return self.head(X[:, 0])
