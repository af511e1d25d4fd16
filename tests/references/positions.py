"""Additive positions: sinusoids, the shift matrix, ALiBi, T5's and DeBERTa's relative buckets, learned tables.

Sinusoids, pair j of dimension d: angle = position / base^(2j / d); interleaved: columns 2j, 2j + 1 are sin, cos (paper,
d2l); halves: all sines, then all cosines (Marian). An odd d has one more sine than cosines. Whisper's and fairseq's tables
differ: halves, base^(j / (d / 2 - 1)).
"""

import math

import numpy
import torch
from transformers import T5Config
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.deberta_v2.modeling_deberta_v2 import build_relative_position
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.whisper.modeling_whisper import sinusoids

from common import Group, arguments, float64_everywhere, largest_difference, normal

FILE = "positions.safetensors"


def sinusoid(positions, d, base=10000.0, layout="interleaved", dtype=torch.float64):
    pairs = torch.arange((d + 1) // 2, dtype=dtype)
    angles = positions.to(dtype)[:, None] / base ** (2 * pairs / d)
    sines, cosines = angles.sin(), angles.cos()[:, : d // 2]
    if layout == "halves":
        return torch.cat([sines, cosines], 1)
    table = torch.empty(len(positions), d, dtype=dtype)
    table[:, 0::2], table[:, 1::2] = sines, cosines
    return table


def add_sinusoid(group, name, positions, d, **options):
    exact = sinusoid(positions, d, **options)
    single = sinusoid(positions, d, dtype=torch.float32, **options)
    group.case(name, "sinusoidal", {"num_hiddens": d, "base": 10000.0, "layout": "interleaved"} | options,
               {"positions": positions}, {"table": exact}, file=FILE, errors={"table": largest_difference(exact, single)})
    return exact


def add_sinusoids(group):
    far = torch.tensor([0, 1, 2, 3, 63, 64, 100, 999, 1000, 4095, 10007, 31415, 65535, 65536, 99999, 100000])
    for d in (1, 2, 3, 5, 6, 10, 16, 33, 64):
        for layout in ("interleaved", "halves"):
            exact = add_sinusoid(group, f"sinusoidal_{layout}_d{d}", far, d, layout=layout)
            if layout == "halves":
                marian = MarianSinusoidalPositionalEmbedding(100, d).create_weight()
                assert largest_difference(marian, sinusoid(torch.arange(100), d, layout="halves")) < 1e-7
    add_sinusoid(group, "sinusoidal_d512", far[::3], 512)
    add_sinusoid(group, "sinusoidal_base_500", torch.arange(9), 10, base=500.0)
    add_sinusoid(group, "sinusoidal_offset_37", torch.arange(37, 48), 6)
    for d in (4, 10, 64):
        table = sinusoids(50, d)
        with float64_everywhere():
            exact = sinusoids(50, d)
        rows = torch.arange(0, 50, 7)
        group.case(f"sinusoidal_whisper_d{d}", "sinusoidal", {"num_hiddens": d, "base": 10000.0, "layout": "whisper"},
                   {"positions": rows}, {"table": exact[rows]}, file=FILE, errors={"table": largest_difference(table, exact)})


def add_shift(group):
    """E(i + delta) = E(i) M with one M for all i: blocks [[cos, sin], [-sin, cos]] on (sin, cos) columns, transposed here
    so that `matrix @ E(i)` is the shifted encoding."""
    for d, delta in ((2, 1), (6, 1), (6, -3), (10, 100), (16, 0), (6, 99999)):
        angles = delta / 10000.0 ** (2 * torch.arange(d // 2, dtype=torch.float64) / d)
        matrix = torch.zeros(d, d, dtype=torch.float64)
        for j, angle in enumerate(angles):
            matrix[2 * j, 2 * j], matrix[2 * j, 2 * j + 1] = angle.cos(), angle.sin()
            matrix[2 * j + 1, 2 * j], matrix[2 * j + 1, 2 * j + 1] = -angle.sin(), angle.cos()
        start = torch.tensor([100, 0, 7, 12345])
        shifted = sinusoid(start + delta, d)
        assert largest_difference(sinusoid(start, d) @ matrix.T, shifted) < 1e-9
        group.case(f"shift_d{d}_delta{delta}", "shift_matrix", {"num_hiddens": d, "delta": delta, "base": 10000.0},
                   {"positions": start}, {"matrix": matrix, "shifted": shifted}, file=FILE)


def add_distinct(group):
    """How many of the first n encodings are distinct in float32."""
    for d in (1, 2, 3):
        for n in (10, 1000, 100000):
            rows = sinusoid(torch.arange(n), d).float().numpy()
            group.add({"name": f"distinct_d{d}_n{n}", "op": "distinct_encodings", "options": {"num_hiddens": d, "n": n},
                       "distinct": len(numpy.unique(rows, axis=0)),
                       "smallest_distance": smallest_distance(sinusoid(torch.arange(n), d)) if n <= 1000 else None})


def smallest_distance(table):
    return float(torch.pdist(table).min())


def add_alibi(group):
    """slopes: geometric for a power of two; otherwise those of the next lower one, and every other of twice that power."""
    for heads in range(1, 14):
        power = 2 ** math.floor(math.log2(heads))
        slopes = [2.0 ** (-8.0 * (i + 1) / power) for i in range(power)]
        slopes += [2.0 ** (-4.0 * (2 * i + 1) / power) for i in range(heads - power)]
        slopes = torch.tensor(slopes, dtype=torch.float64)
        bloom = build_alibi_tensor(torch.ones(1, 2, dtype=torch.int64), heads, torch.float32)[:, 0, 1]
        assert largest_difference(slopes, bloom) < 1e-7
        outputs = {"slopes": slopes}
        for label, (n, m) in {"square": (5, 5), "cached": (2, 5)}.items():
            distance = torch.arange(m - n, m)[:, None] - torch.arange(m)[None, :]
            outputs[f"bias_{label}"] = -slopes[:, None, None] * distance.abs()
        group.case(f"alibi_{heads}", "alibi", {"num_heads": heads, "bias_square": [5, 5], "bias_cached": [2, 5]}, {}, outputs,
                   file=FILE, errors={"slopes": largest_difference(slopes, bloom)},
                   note="bias = -slope |query position - key position|; cached: the queries are the last positions")
        mpt = build_mpt_alibi_tensor(heads, 2)[:, 0, 0].neg()
        if largest_difference(mpt, slopes) > 1e-6:
            group.case(f"alibi_{heads}_mpt", "alibi", {"num_heads": heads, "order": "mpt"}, {}, {"slopes": mpt}, file=FILE)


def add_t5(group):
    distances = torch.cat([torch.arange(-300, 301), torch.tensor([-100000, -1024, 1024, 100000])])
    settings = {"default": (32, 128), "small": (8, 20), "odd": (12, 50), "wide": (64, 512), "two": (4, 16)}
    for name, (buckets, longest) in settings.items():
        for bidirectional in (True, False):
            found = T5Attention._relative_position_bucket(distances, bidirectional, buckets, longest)
            with float64_everywhere():
                exact = T5Attention._relative_position_bucket(distances, bidirectional, buckets, longest)
            label = f"t5_buckets_{name}_{'bidirectional' if bidirectional else 'causal'}"
            options = {"num_buckets": buckets, "max_distance": longest, "bidirectional": bidirectional}
            group.case(label, "relative_position_bucket", options, {"relative_position": distances}, {"bucket": found},
                       file=FILE, differs_in_float64=distances[found != exact].tolist())
    for name, decoder in {"encoder": False, "decoder": True}.items():
        for label, (n, m, past) in {"square": (7, 7, 0), "wide": (4, 9, 0), "cached": (1, 9, 8), "long": (3, 150, 147)}.items():
            full = f"t5_bias_{name}_{label}"
            config = T5Config(d_model=12, num_heads=3, d_kv=4, is_decoder=decoder, relative_attention_num_buckets=8,
                              relative_attention_max_distance=20)
            attention = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
            table = normal(f"positions/{full}/table", (8, 3))
            attention.relative_attention_bias.weight.copy_(table)
            bias = attention.compute_bias(n, m, past_seen_tokens=past)
            options = {"num_buckets": 8, "max_distance": 20, "bidirectional": not decoder, "query_length": n, "key_length": m,
                       "query_offset": past}
            group.case(full, "relative_position_bias", options, {"table": table}, {"bias": bias}, file=FILE)


def add_deberta(group):
    """The rows of DeBERTa's table for all relative positions -(length - 1) to length - 1, query minus key."""
    settings = {"v3": (256, 512, 700), "small": (6, 24, 60), "odd": (9, 40, 90), "narrow": (2, 9, 20), "wide": (64, 700, 720),
                "none": (-1, 5, 12)}
    for name, (buckets, longest, length) in settings.items():
        span = buckets if buckets > 0 else longest
        positions = torch.zeros(1, length, 1)
        relative = build_relative_position(positions, positions, bucket_size=buckets, max_position=longest)[0]
        rows = torch.clamp(torch.cat([relative[0].flip(0), relative[1:, 0]]) + span, 0, 2 * span - 1)
        group.case(f"deberta_rows_{name}", "relative_rows", {"buckets": max(buckets, 0), "max_distance": longest, "span": span,
                                                             "length": length}, {}, {"rows": rows}, file=FILE)


def add_learned(group):
    table = normal("positions/learned/table", (9, 5))
    for name, positions in {"start": [0, 1, 2, 3], "offset": [4, 5, 6, 7, 8], "any": [8, 0, 3, 3]}.items():
        rows = torch.tensor(positions)
        group.case(f"learned_{name}", "learned", {}, {"table": table, "positions": rows}, {"embedding": table[rows]}, file=FILE)


def main():
    args = arguments(__doc__)
    group = Group(args, "positions", "positions.py", ["transformers"])
    for part in (add_sinusoids, add_shift, add_distinct, add_alibi, add_t5, add_deberta, add_learned):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
