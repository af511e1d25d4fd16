"""Softmax, masked softmax, bmm and attention pooling with every scoring function, in plain PyTorch.

scores: dot q k^T; scaled_dot q k^T / sqrt(d); general q M k^T; additive w_v^T tanh(W_q q + W_k k);
distance -|q - k|^2 / (2 sigma^2), whose softmax is the Gaussian kernel of Nadaraya and Watson.
valid_lens is the number of unmasked keys, for a batch (B,) or for each query (B, T); as in d2l.ai masked scores
become -1e6, so that a row with valid_len 0 gets uniform weights.
"""

import math

import torch

from common import Group, arguments, integers, normal

FILE = "scoring.safetensors"


def dot(queries, keys):
    return queries @ keys.transpose(-2, -1)


def scaled_dot(queries, keys):
    return dot(queries, keys) / math.sqrt(queries.shape[-1])


def general(queries, keys, M):
    return queries @ M @ keys.transpose(-2, -1)


def additive(queries, keys, W_q, W_k, w_v):
    features = torch.tanh((queries @ W_q.T).unsqueeze(-2) + (keys @ W_k.T).unsqueeze(-3))
    return features @ w_v.flatten()


def additive_magnitude(queries, keys, W_q, W_k, w_v):
    """tanh has a slope of at most 1: the sum of its argument, plus its own 1."""
    return (1 + (queries @ W_q.T).unsqueeze(-2) + (keys @ W_k.T).unsqueeze(-3)) @ w_v.flatten()


def distance(queries, keys, sigma=1.0):
    return -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).pow(2).sum(-1) / (2 * sigma * sigma)


def distance_magnitude(queries, keys, sigma=1.0):
    return -distance(queries, -keys, sigma)


# Each scoring function, the sum of its magnitudes, and the number of successive sums: rounding errors are
# within a multiple of these, so that tests need no other knowledge of a function.
SCORES = {
    "dot": (dot, dot, ("queries",)),
    "scaled_dot": (scaled_dot, scaled_dot, ("queries",)),
    "general": (general, general, ("queries", "keys")),
    "additive": (additive, additive_magnitude, ("queries", "keys", "w_v")),
    "distance": (distance, distance_magnitude, ("queries",)),
}


def masked_softmax(scores, valid_lens=None):
    if valid_lens is None:
        return scores.softmax(-1)
    lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
    beyond = torch.arange(scores.shape[-1]) >= lens[..., None]
    return scores.masked_fill(beyond, -1e6).softmax(-1)


def pool(score, options):
    def function(queries, keys, values, valid_lens=None, **parameters):
        if "sigma" in options:
            parameters["sigma"] = options["sigma"]
        function, magnitude, _ = SCORES[score]
        scores = function(queries, keys, **parameters)
        weights = masked_softmax(scores, valid_lens)
        positive = {name: value.abs() if isinstance(value, torch.Tensor) else value for name, value in parameters.items()}
        magnitudes = magnitude(queries.abs(), keys.abs(), **positive)
        return {"scores": scores, "weights": weights, "output": weights @ values, "magnitudes": magnitudes}
    return function


def parameters_of(score, name, d_q, d_k, hidden=6):
    shapes = {"general": {"M": (d_q, d_k)}, "additive": {"W_q": (hidden, d_q), "W_k": (hidden, d_k), "w_v": (1, hidden)}}
    return {key: normal(f"scoring/{name}/{key}", shape, 0.7) for key, shape in shapes.get(score, {}).items()}


def add_pooling(group, score, label, lead, n, m, d_q, d_k, d_v, valid_lens=None, **options):
    name = f"{score}_{label}"
    inputs = {
        "queries": normal(f"scoring/{name}/queries", (*lead, n, d_q)),
        "keys": normal(f"scoring/{name}/keys", (*lead, m, d_k)),
        "values": normal(f"scoring/{name}/values", (*lead, m, d_v)),
    } | parameters_of(score, name, d_q, d_k)
    if valid_lens is not None:
        inputs["valid_lens"] = torch.tensor(valid_lens)
    roundings = sum(inputs[operand].shape[-1] for operand in SCORES[score][2])
    group.run(name, "attention_pooling", {"score": score} | options, inputs, pool(score, options), file=FILE, roundings=roundings)


def add_scores(group):
    for score in SCORES:
        two_sizes = score in ("general", "additive")
        d_q, d_k = (5, 3) if two_sizes else (5, 5)
        add_pooling(group, score, "batch", (2,), 4, 7, d_q, d_k, 3)
        add_pooling(group, score, "square", (1,), 7, 7, 10, 10, 10)
        add_pooling(group, score, "one", (2,), 1, 1, d_q, d_k, 1)
        add_pooling(group, score, "no_batch", (), 3, 5, d_q, d_k, 2)
        add_pooling(group, score, "heads", (2, 3), 4, 5, d_q, d_k, 6)
        add_pooling(group, score, "valid_lens_1d", (3,), 4, 7, d_q, d_k, 3, [2, 7, 1])
        add_pooling(group, score, "valid_lens_2d", (2,), 3, 6, d_q, d_k, 4, [[1, 2, 3], [6, 4, 5]])
        add_pooling(group, score, "valid_lens_zero", (2,), 3, 4, d_q, d_k, 4, [0, 4])
        add_pooling(group, score, "valid_lens_zero_rows", (2,), 3, 4, d_q, d_k, 4, [[0, 2, 0], [4, 0, 1]])
        add_pooling(group, score, "valid_lens_beyond", (2,), 3, 4, d_q, d_k, 4, [9, 3])
    add_pooling(group, "distance", "narrow", (2,), 4, 7, 5, 5, 3, sigma=0.25)
    add_pooling(group, "distance", "wide", (2,), 4, 7, 1, 1, 1, sigma=3.0)
    add_pooling(group, "dot", "n600", (1,), 5, 600, 5, 5, 3)


def add_equal_weights(group):
    """|q - k|^2 = |q|^2 + |k|^2 - 2 q k: with keys of equal length, distance and dot give the same weights."""
    queries = normal("scoring/normalised/queries", (2, 4, 5))
    keys = torch.nn.functional.normalize(normal("scoring/normalised/keys", (2, 7, 5)), dim=-1).float().double()

    def function(queries, keys):
        return {"dot_weights": dot(queries, keys).softmax(-1), "distance_weights": distance(queries, keys).softmax(-1)}

    outputs = group.run("normalised_keys", "dot_equals_distance", {}, {"queries": queries, "keys": keys}, function, file=FILE)
    assert float((outputs["dot_weights"] - outputs["distance_weights"]).abs().max()) < 1e-6


def add_softmax(group):
    shapes = {"one": (1,), "row": (7,), "matrix": (4, 5), "cube": (2, 3, 4), "long": (2, 600), "four": (2, 2, 3, 5)}
    for name, shape in shapes.items():
        x = normal(f"scoring/softmax/{name}", shape, 3.0)
        for dim in range(-1, -1 - len(shape), -1):
            group.run(f"softmax_{name}_dim{dim}", "softmax", {"dim": dim}, {"input": x},
                      lambda input, dim=dim: {"output": input.softmax(dim)}, file=FILE)
    lens = {
        "none": None, "1d": [3, 1], "1d_full": [5, 5], "1d_zero": [0, 5], "1d_all_zero": [0, 0], "1d_beyond": [8, 2],
        "2d": [[1, 2, 3], [5, 4, 2]], "2d_zero": [[0, 1, 5], [0, 0, 0]],
    }
    for name, valid_lens in lens.items():
        inputs = {"X": normal(f"scoring/masked_softmax/{name}", (2, 3, 5), 2.0)}
        if valid_lens is not None:
            inputs["valid_lens"] = torch.tensor(valid_lens)
        group.run(f"masked_softmax_{name}", "masked_softmax", {}, inputs,
                  lambda X, valid_lens=None: {"output": masked_softmax(X, valid_lens)}, file=FILE)


def add_bmm(group):
    sizes = {"plain": (2, 3, 4, 5), "one": (1, 1, 1, 1), "row": (3, 1, 7, 5), "column": (3, 5, 7, 1), "odd": (2, 13, 17, 11),
             "inner_one": (2, 3, 1, 5), "many": (9, 2, 3, 2), "long": (1, 3, 600, 2)}
    for name, (b, n, k, m) in sizes.items():
        inputs = {"input": normal(f"scoring/bmm/{name}/a", (b, n, k)), "mat2": normal(f"scoring/bmm/{name}/b", (b, k, m))}
        group.run(f"bmm_{name}", "bmm", {}, inputs, lambda input, mat2: {"output": torch.bmm(input, mat2)}, file=FILE)


def add_lengths(group):
    """Many rows with all lengths 0 … m, pooled as in d2l."""
    m = 9
    lens = torch.arange(m + 1)[None, :]
    inputs = {"X": normal("scoring/lengths", (1, m + 1, m), 4.0), "valid_lens": lens}
    group.run("masked_softmax_all_lengths", "masked_softmax", {}, inputs,
              lambda X, valid_lens: {"output": masked_softmax(X, valid_lens)}, file=FILE)
    lens = integers("scoring/lengths/random", (4, 6), 0, 6)
    add_pooling(group, "scaled_dot", "valid_lens_random", (4,), 6, 5, 8, 8, 2, lens.tolist())


def main():
    args = arguments(__doc__)
    group = Group(args, "scoring", "scoring.py")
    for part in (add_scores, add_equal_weights, add_softmax, add_bmm, add_lengths):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
