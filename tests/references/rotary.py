"""Rotary positions: halves and interleaved, partial, and the frequencies of every scaling in transformers.

A pair (a, b) at angle t becomes (a cos t - b sin t, a sin t + b cos t) times the attention factor. halves: the pair is
(x[j], x[j + r/2]); interleaved: (x[2j], x[2j + 1]), r the number of rotated dimensions; the rest is unchanged. Position p
rotates pair j by p * inv_freq[j]. Expected values use frequencies in float64; transformers computes them in float32, as
`float32_error` shows: at large positions it is large.
"""

import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.gptj.modeling_gptj import rotate_every_two
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from common import Group, arguments, float64_everywhere, largest_difference, normal

FILE = "rotary.safetensors"


def rotate(x, positions, inv_freq, layout, factor=1.0):
    """x (B, H, T, d), positions (B, T)."""
    angles = positions[:, None, :, None].to(x.dtype) * inv_freq.to(x.dtype)
    cos, sin = angles.cos() * factor, angles.sin() * factor
    size = 2 * len(inv_freq)
    if layout == "halves":
        a, b = x[..., : size // 2], x[..., size // 2:size]
        turned = torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
        known, _ = apply_rotary_pos_emb(x[..., :size], x[..., :size], *(torch.cat([t, t], -1)[:, 0] for t in (cos, sin)))
    else:
        a, b = x[..., 0:size:2], x[..., 1:size:2]
        turned = torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
        wide = [t.repeat_interleave(2, -1) for t in (cos, sin)]
        known = x[..., :size] * wide[0] + rotate_every_two(x[..., :size]) * wide[1]
    assert largest_difference(turned, known) < 1e-5
    return torch.cat([turned, x[..., size:]], -1), cos, sin


def frequencies(size, base=10000.0, dtype=torch.float64):
    return 1.0 / base ** (torch.arange(0, size, 2, dtype=dtype) / size)


def add_rotation(group, name, shape, positions, layout="halves", rotary_dim=None, base=10000.0):
    size = shape[-1] if rotary_dim is None else rotary_dim
    options = {"layout": layout, "rotary_dim": size, "base": base}
    inputs = {"x": normal(f"rotary/{name}/x", shape), "positions": positions}
    exact = rotate(inputs["x"], positions, frequencies(size, base), layout)
    single = rotate(inputs["x"].float(), positions, frequencies(size, base, torch.float32), layout)
    names = ("output", "cos", "sin")
    group.case(name, "rotary", options, inputs, dict(zip(names, exact)), file=FILE,
               errors={key: largest_difference(a, b) for key, a, b in zip(names, single, exact)})


def add_layouts(group):
    near = torch.arange(7).expand(2, -1)
    for layout in ("halves", "interleaved"):
        add_rotation(group, f"{layout}_d10", (2, 3, 7, 10), near, layout)
        add_rotation(group, f"{layout}_d2", (2, 1, 7, 2), near, layout)
        add_rotation(group, f"{layout}_d64", (1, 1, 5, 64), torch.arange(5)[None], layout)
        add_rotation(group, f"{layout}_partial_4_of_10", (2, 2, 7, 10), near, layout, 4)
        add_rotation(group, f"{layout}_partial_2_of_5", (2, 2, 7, 5), near, layout, 2)
        add_rotation(group, f"{layout}_base_500000", (2, 2, 7, 8), near, layout, base=500000.0)
        add_rotation(group, f"{layout}_offset", (1, 2, 4, 8), torch.arange(37, 41)[None], layout)
        add_rotation(group, f"{layout}_positions", (2, 2, 4, 8), torch.tensor([[0, 0, 1, 2], [5, 3, 9, 3]]), layout)
        add_rotation(group, f"{layout}_far", (1, 1, 6, 16), torch.tensor([[0, 511, 4095, 32767, 99999, 100000]]), layout)


SCALINGS = {
    "linear": {"rope_type": "linear", "factor": 4.0},
    "dynamic": {"rope_type": "dynamic", "factor": 2.0},
    "dynamic_factor_4": {"rope_type": "dynamic", "factor": 4.0},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64},
    "llama3_hub": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 8192, "rope_theta": 500000.0},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
    "yarn_hub": {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096},
    "yarn_attention_factor": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "attention_factor": 1.7},
    "yarn_betas": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "beta_fast": 8, "beta_slow": 2},
    "yarn_mscale": {"rope_type": "yarn", "factor": 40.0, "original_max_position_embeddings": 64, "mscale": 0.707, "mscale_all_dim": 0.5},
    "yarn_no_truncate": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "truncate": False},
    "yarn_factor_1": {"rope_type": "yarn", "factor": 1.0, "original_max_position_embeddings": 64},
    "longrope": {"rope_type": "longrope", "factor": 4.0, "original_max_position_embeddings": 64,
                 "short_factor": [1.0 + 0.05 * i for i in range(8)], "long_factor": [1.0 + 0.5 * i for i in range(8)]},
    "linear_partial": {"rope_type": "linear", "factor": 3.0, "partial_rotary_factor": 0.5},
    "proportional": {"rope_type": "proportional", "partial_rotary_factor": 0.5, "factor": 2.0},  # v5 only
}
LENGTHS = {"dynamic": (None, 100, 256, 257, 1000), "longrope": (None, 64, 65)}


def config_of(scaling, head_dim=16):
    parameters = {"rope_theta": 10000.0} | scaling
    limit = int(scaling.get("original_max_position_embeddings", 256 / scaling["factor"]) * scaling["factor"])
    return LlamaConfig(hidden_size=2 * head_dim, num_attention_heads=2, head_dim=head_dim, max_position_embeddings=limit,
                       rope_parameters=parameters)


def compute(scaling, seq_len):
    config = config_of(scaling)
    inv_freq, factor = ROPE_INIT_FUNCTIONS[scaling["rope_type"]](config, None, seq_len=seq_len)
    return inv_freq, torch.tensor([factor], dtype=torch.float64), config


def add_scaling(group, name, scaling, seq_len):
    single, _, _ = compute(scaling, seq_len)
    with float64_everywhere():
        inv_freq, factor, config = compute(scaling, seq_len)
    label = name if seq_len is None else f"{name}_length_{seq_len}"
    x = {part: normal(f"rotary/{label}/{part}", (1, 2, 4, 16)) for part in ("query", "key")}
    positions = torch.tensor([[0, 1, 50, 200]])
    turned = {f"rotated_{part}": rotate(value, positions, inv_freq, "halves", float(factor)) for part, value in x.items()}
    outputs = {"inv_freq": inv_freq, "attention_factor": factor} | {key: value[0] for key, value in turned.items()}
    options = {"rope_parameters": {"rope_theta": 10000.0} | scaling, "head_dim": 16, "seq_len": seq_len,
               "max_position_embeddings": config.max_position_embeddings}
    group.case(f"scaling_{label}", "rope_scaling", options, x | {"positions": positions}, outputs, file=FILE,
               errors={"inv_freq": largest_difference(single, inv_freq)})


def add_module(group):
    """transformers' whole module, new each time: the frequencies depend on the longest position of the call."""
    for name, lengths in (("dynamic", (100, 300)), ("longrope", (50, 100))):
        config = config_of(SCALINGS[name])
        for longest in lengths:
            positions = torch.tensor([[0, 7, longest]])
            with float64_everywhere():
                module = LlamaRotaryEmbedding(config).double()
                cos, sin = module(torch.zeros(1, dtype=torch.float64), positions)
            outputs = {"cos": cos[..., :8], "sin": sin[..., :8], "inv_freq": module.inv_freq}
            options = {"rope_parameters": {"rope_theta": 10000.0} | SCALINGS[name], "head_dim": 16,
                       "max_position_embeddings": config.max_position_embeddings}
            group.case(f"module_{name}_{longest}", "rope_module", options, {"positions": positions}, outputs, file=FILE)


def main():
    args = arguments(__doc__)
    group = Group(args, "rotary", "rotary.py", ["transformers"])
    add_layouts(group)
    for name, scaling in SCALINGS.items():
        for seq_len in LENGTHS.get(name, (None,)):
            add_scaling(group, name, scaling, seq_len)
    add_module(group)
    group.save()


if __name__ == "__main__":
    main()
