"""torch.nn's attention, transformer layers, stacks and Transformer with random sizes, options and masks.

    python3 tests/references/modules_random.py --out tests/fixtures
    python3 tests/references/modules_random.py --out <folder> --count 300 --seed x
"""

import random

import multihead_attention as attention
import scaled_dot_product_attention as products
import transformer as blocks
from common import Group, arguments

KINDS = ["MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "TransformerEncoder", "TransformerDecoder", "Transformer",
         "scaled_dot_product_attention"]


def draw_masks(rng, name, of, prefix, sizes, heads):
    """At random a mask of scores, for all heads or for each, and one of keys; each boolean or additive, in one call of one kind."""
    batch, n, m = sizes
    make = rng.choice([of.ignore, of.additive])
    masks = {}
    if rng.random() < 0.5:
        lead = rng.choice([(), (heads * (batch or 1),)])
        masks["attn_mask" if prefix is None else f"{prefix}_mask"] = make(f"{name}/{prefix}", (*lead, n, m))
    if rng.random() < 0.4:
        masks["key_padding_mask" if prefix is None else f"{prefix}_key_padding_mask"] = make(
            f"{name}/{prefix}/keys", (m,) if batch is None else (batch, m))
    return masks


def draw_sizes(rng):
    return rng.choice([None, 1, 2, 3]), rng.randint(1, 9), rng.randint(1, 9)


def add_attention(group, rng, name):
    heads, batch, n, m = rng.randint(1, 4), *draw_sizes(rng)
    embed = heads * rng.randint(1, 9)
    options = {"bias": False} if rng.random() < 0.3 else {}
    options |= {key: True for key in ("add_bias_kv", "add_zero_attn") if rng.random() < 0.25}
    options |= {key: rng.randint(1, 20) for key in ("kdim", "vdim") if rng.random() < 0.25}
    itself = not {"kdim", "vdim"} & set(options) and rng.random() < 0.3
    m = n if itself else m
    call = draw_masks(rng, name, attention, None, (batch, n, m), heads)
    call |= {"need_weights": False} if rng.random() < 0.3 else {"average_attn_weights": rng.random() < 0.5}
    subject = attention.Subject(group, name, embed, heads, **options)
    subject.add("drawn", n, m, batch, self_attention=itself, batch_first=batch is None or rng.random() < 0.7, **call)


def add_product(group, rng, name, file):
    n, m, d, d_v = (rng.randint(1, 12) for _ in range(4))
    options, lead = {}, tuple(rng.randint(1, 3) for _ in range(rng.randint(0, 3)))
    key_lead = tuple(1 if rng.random() < 0.15 else size for size in lead)
    if lead and rng.random() < 0.4:
        options["enable_gqa"] = True
        key_lead = (*lead[:-1], rng.randint(1, 4))
        lead = (*lead[:-1], key_lead[-1] * rng.randint(1, 3))
    options |= {"scale": round(rng.uniform(-1, 2), 2)} if rng.random() < 0.3 else {}
    options |= {"softcap": round(rng.uniform(0.5, 30), 2)} if rng.random() < 0.15 else {}
    options |= {"is_causal": True} if rng.random() < 0.3 else {}
    masks = {}
    for kind in ("boolean", "additive"):
        if rng.random() < 0.3:
            axes = tuple(1 if rng.random() < 0.4 else size for size in lead)[rng.randint(0, len(lead)):]
            shape = (*axes, rng.choice([1, n, n]), m)
            masks[f"attn_mask_{kind}"] = getattr(products, kind)(f"{name}/{kind}", shape)
    products.add(group, name, options, **products.qkv(name, lead, n, m, d, d_v, kv_lead=key_lead), file=file, **masks)


def draw_norm(rng):
    if rng.random() < 0.5:
        return rng.random() < 0.5
    norm = {"kind": rng.choice(["LayerNorm", "RMSNorm"])}
    norm |= {"eps": rng.choice([1e-3, 0.5])} if rng.random() < 0.5 else {}
    norm |= {"elementwise_affine": False} if rng.random() < 0.2 else {}
    return norm | ({"bias": False} if norm["kind"] == "LayerNorm" and rng.random() < 0.4 else {})


def add_blocks(group, rng, name, kind, file):
    heads, batch, n, m = rng.randint(1, 4), *draw_sizes(rng)
    settings = {"d_model": heads * rng.randint(2, 9), "nhead": heads, "dim_feedforward": rng.randint(1, 40), "bias": rng.random() < 0.7}
    if kind == "Transformer":
        settings |= {"num_encoder_layers": rng.randint(1, 2), "num_decoder_layers": rng.randint(1, 2)}
    options = {"norm_first": rng.random() < 0.5, "activation": rng.choice(["relu", "gelu"])}
    options |= {"layer_norm_eps": rng.choice([1e-12, 1e-3, 0.5])} if rng.random() < 0.4 else {}
    if kind in ("TransformerEncoder", "TransformerDecoder"):
        settings |= {"num_layers": rng.randint(1, 3), "norm": draw_norm(rng)}
    prefixes = {"src": (m, m), "tgt": (n, n), "memory": (n, m)} if kind == "Transformer" else (
        {"src": (n, n)} if "Encoder" in kind else {"tgt": (n, n), "memory": (n, m)})
    call = {}
    for prefix, (rows, keys) in prefixes.items():
        call |= draw_masks(rng, name, blocks, prefix, (batch, rows, keys), heads)
    own = next(iter(prefixes)) if "Encoder" in kind else "tgt"
    if kind != "TransformerEncoder" and f"{own}_mask" not in call and rng.random() < 0.4:
        call |= {f"{own}_mask": blocks.causal(n)} | ({"is_causal" if own == "src" else "tgt_is_causal": True} if rng.random() < 0.5 else {})
    subject = blocks.Subject(group, name, kind, file, **settings)
    subject.add("drawn", n, m, batch, options=options, **call)


def main():
    args = arguments(__doc__, count=30, seed="a")
    group = Group(args, "modules_random", "modules_random.py")
    for number in range(args.count):
        name, kind = f"drawn_{args.seed}{number}", KINDS[number % len(KINDS)]
        rng, file = random.Random(name), f"{kind}{number // 100 or ''}.safetensors"
        if kind == "MultiheadAttention":
            add_attention(group, rng, name)
        elif kind == "scaled_dot_product_attention":
            add_product(group, rng, name, file)
        else:
            add_blocks(group, rng, name, kind, file)
    group.save()


if __name__ == "__main__":
    main()
