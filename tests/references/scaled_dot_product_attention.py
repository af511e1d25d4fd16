"""torch.nn.functional.scaled_dot_product_attention: masks of all kinds, sizes, broadcasting, grouped queries, softcap.

Boolean masks: 1 = attend. `weights` is softmax(scores) in float64 by the formula; the output of the formula is checked
against PyTorch's. A fully masked row has weights 0 and output 0.
"""

import math

import torch
from torch.nn.functional import scaled_dot_product_attention

from common import Group, arguments, integers, largest_difference, normal, random_state

LARGE = 64 * 64  # above this number of elements the weights are omitted


def allowed_square(n, m):
    """PyTorch aligns is_causal to the upper left corner: query i attends to keys 0 .. i, for any m."""
    return torch.ones(n, m, dtype=torch.bool).tril()


def combined_bias(query, key, options, masks):
    """One additive mask (or None) from the masks of a case."""
    n, m = query.shape[-2], key.shape[-2]
    bias = torch.zeros(n, m, dtype=query.dtype)
    for name, mask in masks.items():
        if name.endswith("_boolean"):
            bias = bias + torch.zeros(mask.shape, dtype=query.dtype).masked_fill(mask == 0, -math.inf)
        else:
            bias = bias + mask
    if options.get("is_causal"):
        bias = bias.masked_fill(~allowed_square(n, m), -math.inf)
    return bias if masks or options.get("is_causal") else None


def formula(query, key, value, options, masks):
    """softmax(softcap(q k^T scale) + mask) v, with the heads of k and v repeated if they are fewer."""
    if options.get("enable_gqa"):
        groups = query.shape[-3] // key.shape[-3]
        key, value = (x.repeat_interleave(groups, dim=-3) for x in (key, value))
    scale = options.get("scale", 1 / math.sqrt(query.shape[-1]))
    scores = query @ key.transpose(-2, -1) * scale
    if "softcap" in options:
        scores = options["softcap"] * torch.tanh(scores / options["softcap"])
    bias = combined_bias(query, key, options, masks)
    if bias is not None:
        scores = scores + bias
    empty = (scores == -math.inf).all(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(empty, 0), -1).masked_fill(empty, 0)
    return weights, weights @ value


def upstream(query, key, value, options, masks):
    """PyTorch itself; several masks, and a mask together with is_causal (which PyTorch refuses), are combined."""
    settings = {key: options[key] for key in ("scale", "enable_gqa") if key in options}
    if list(masks) == ["attn_mask_boolean"] and not options.get("is_causal"):
        settings["attn_mask"] = masks["attn_mask_boolean"] != 0
    elif masks:
        settings["attn_mask"] = combined_bias(query, key, options, masks)
    else:
        settings["is_causal"] = options.get("is_causal", False)
    return scaled_dot_product_attention(query, key, value, **settings)


def add(group, name, options, query, key, value, file="small.safetensors", **masks):
    inputs = {"query": query, "key": key, "value": value} | masks

    def function(query, key, value, **masks):
        weights, by_formula = formula(query, key, value, options, masks)
        output = by_formula
        if "softcap" not in options:
            output = upstream(query, key, value, options, masks)
            bound = 1e-13 if query.dtype is torch.float64 else 1e-4
            assert largest_difference(output, by_formula) < bound * (1 + float(value.abs().max())), name
        found = {"output": output}
        return found | ({"weights": weights} if weights.numel() <= LARGE else {})

    group.run(name, "scaled_dot_product_attention", options, inputs, function, file=file)


def qkv(name, lead, n, m, d, d_v=None, kv_lead=None):
    d_v = d if d_v is None else d_v
    kv_lead = lead if kv_lead is None else kv_lead
    shapes = {"query": (*lead, n, d), "key": (*kv_lead, m, d), "value": (*kv_lead, m, d_v)}
    return {part: normal(f"sdpa/{name}/{part}", shape) for part, shape in shapes.items()}


def boolean(name, shape, share=0.6):
    """Random 0/1 with at least one 1 in each row; use `empty` to make rows without."""
    mask = (torch.from_numpy(random_state(f"sdpa/{name}/mask").random_sample(shape)) < share).to(torch.int64)
    mask[..., 0] |= mask.sum(-1) == 0
    return mask


def additive(name, shape, blocked=0.0):
    mask = normal(f"sdpa/{name}/bias", shape)
    return mask.masked_fill(boolean(f"{name}/blocked", shape, 1 - blocked) == 0, -math.inf) if blocked else mask


def add_sizes(group):
    sizes = {
        "n7_d10": ((2, 3), 7, 7, 10, 10), "n1": ((2, 3), 1, 1, 5, 5), "n1_m7": ((1, 2), 1, 7, 10, 10),
        "n7_m1": ((1, 2), 7, 1, 10, 10), "n7_m5_d5_dv3": ((2, 2), 7, 5, 5, 3), "d1": ((1, 1), 4, 6, 1, 1),
        "dv1": ((1, 2), 3, 4, 8, 1), "dv17": ((1, 2), 3, 4, 8, 17), "d64": ((1, 2), 5, 9, 64, 64), "n33": ((1, 1), 33, 33, 16, 16),
        "no_heads": ((3,), 4, 6, 5, 7), "no_batch": ((), 4, 6, 5, 7), "five_dimensions": ((2, 1, 3), 4, 5, 6, 6),
    }
    for name, (lead, n, m, d, d_v) in sizes.items():
        add(group, name, {}, **qkv(name, lead, n, m, d, d_v))
    add(group, "broadcast_batch", {}, **qkv("broadcast_batch", (3, 2), 4, 5, 6, kv_lead=(1, 2)))
    add(group, "broadcast_heads", {}, **qkv("broadcast_heads", (2, 3), 4, 5, 6, kv_lead=(2, 1)))
    add(group, "broadcast_both_ways", {}, **qkv("broadcast_both_ways", (2, 1), 4, 5, 6, kv_lead=(1, 3)))


def add_masks(group):
    lead, n, m, d = (2, 3), 7, 5, 10
    shapes = {"rows": (n, m), "keys": (1, m), "keys_of_batch": (2, 1, 1, m), "batch": (2, 1, n, m), "heads": (1, 3, n, m), "full": (2, 3, n, m)}
    for kind, shape in shapes.items():
        name = f"boolean_{kind}"
        add(group, name, {}, **qkv(name, lead, n, m, d), attn_mask_boolean=boolean(name, shape))
        name = f"additive_{kind}"
        add(group, name, {}, **qkv(name, lead, n, m, d), attn_mask_additive=additive(name, shape, 0.3))
    add(group, "additive_finite", {}, **qkv("additive_finite", lead, n, m, d), attn_mask_additive=additive("additive_finite", (n, m)))
    empty = boolean("boolean_empty_rows", (2, 1, n, m))
    empty[0, 0, 2], empty[1, 0, :] = 0, 0
    add(group, "boolean_empty_rows", {}, **qkv("boolean_empty_rows", lead, n, m, d), attn_mask_boolean=empty)
    minus = additive("additive_empty_rows", (n, m))
    minus[3], minus[5] = -math.inf, -math.inf
    add(group, "additive_empty_rows", {}, **qkv("additive_empty_rows", lead, n, m, d), attn_mask_additive=minus)
    for name, (rows, columns) in {"square": (7, 7), "wide": (4, 9), "tall": (9, 4), "one": (1, 6)}.items():
        name = f"causal_{name}"
        add(group, name, {"is_causal": True}, **qkv(name, lead, rows, columns, d))


def add_combinations(group):
    lead, n, d = (2, 3), 7, 10
    for name, masks in {
        "causal_and_boolean": {"attn_mask_boolean": boolean("causal_and_boolean", (2, 1, 1, n))},
        "causal_and_additive": {"attn_mask_additive": additive("causal_and_additive", (3, n, n), 0.2)},
        "boolean_and_additive": {"attn_mask_boolean": boolean("boolean_and_additive", (2, 1, n, n)),
                                 "bias_additive": additive("boolean_and_additive", (3, n, n))},
        "all_three": {"attn_mask_boolean": boolean("all_three", (2, 1, 1, n)), "bias_additive": additive("all_three", (3, n, n))},
    }.items():
        options = {"is_causal": True} if name != "boolean_and_additive" else {}
        if "attn_mask_boolean" in masks and options:
            masks["attn_mask_boolean"][0, ..., 0] = 0  # query 0 of batch 0 is then fully masked
        add(group, name, options, **qkv(name, lead, n, n, d), **masks)


def add_options(group):
    lead, n, m, d = (2, 3), 7, 5, 10
    for name, scale in {"scale_1": 1.0, "scale_small": 0.05, "scale_zero": 0.0, "scale_negative": -0.7}.items():
        add(group, name, {"scale": scale}, **qkv(name, lead, n, m, d))
    gqa = {"enable_gqa": True}
    for name, heads, groups in (("gqa_6_2", 6, 2), ("gqa_4_1", 4, 1), ("gqa_3_3", 3, 3)):
        add(group, name, gqa, **qkv(name, (2, heads), n, m, d, kv_lead=(2, groups)))
    add(group, "gqa_causal", gqa | {"is_causal": True}, **qkv("gqa_causal", (2, 6), n, n, d, kv_lead=(2, 2)))
    mask = boolean("gqa_boolean", (2, 6, n, m))
    add(group, "gqa_boolean", gqa | {"scale": 0.5}, **qkv("gqa_boolean", (2, 6), n, m, d, kv_lead=(2, 2)), attn_mask_boolean=mask)


def add_softcap(group):
    """No PyTorch function has it; Gemma 2's order: scores are capped first and masked after."""
    lead, n, m, d = (2, 3), 7, 5, 10
    cap = {"softcap": 1.5}
    add(group, "softcap", cap, **qkv("softcap", lead, n, m, d))
    add(group, "softcap_50", {"softcap": 50.0}, **qkv("softcap_50", lead, n, m, d))
    add(group, "softcap_causal", cap | {"is_causal": True}, **qkv("softcap_causal", lead, n, n, d))
    name = "softcap_boolean"
    add(group, name, cap | {"scale": 2.0}, **qkv(name, lead, n, m, d), attn_mask_boolean=boolean(name, (n, m)))
    name = "softcap_additive"
    add(group, name, cap, **qkv(name, lead, n, m, d), attn_mask_additive=additive(name, (n, m)))
    name = "softcap_gqa_causal"
    add(group, name, cap | {"enable_gqa": True, "is_causal": True}, **qkv(name, (2, 6), n, n, d, kv_lead=(2, 2)))


def add_large(group):
    n, file = 600, "n600.safetensors"
    add(group, "n600_d10", {}, file=file, **qkv("n600_d10", (1, 1), n, n, 10))
    add(group, "n600_causal_d5", {"is_causal": True}, file=file, **qkv("n600_causal_d5", (1, 2), n, n, 5))
    mask = boolean("n600_boolean", (1, 1, 1, n))
    add(group, "n600_boolean", {}, file=file, **qkv("n600_boolean", (1, 1), n, n, 10, 3), attn_mask_boolean=mask)
    add(group, "n600_m37_gqa", {"enable_gqa": True}, file=file, **qkv("n600_m37_gqa", (1, 2), n, 37, 5, kv_lead=(1, 1)))
    add(group, "n3_m600", {}, file=file, **qkv("n3_m600", (1, 2), 3, n, 10))
    add(group, "n600_softcap_causal", {"softcap": 2.0, "is_causal": True}, file=file, **qkv("n600_softcap_causal", (1, 1), n, n, 5))


def add_random(group):
    """Random sizes and masks, for combinations that the lists above lack."""
    for index in range(24):
        name = f"random_{index:02}"
        random = random_state(f"sdpa/{name}")
        n, m, d, d_v = (int(x) for x in random.randint(1, 18, size=4))
        heads = int(random.choice([1, 2, 4]))
        groups = int(random.choice([g for g in (1, 2, 4) if heads % g == 0]))
        options = {"enable_gqa": True} if groups != heads else {}
        options |= {"is_causal": True} if random.rand() < 0.3 else {}
        options |= {"scale": two_digits(random.rand())} if random.rand() < 0.3 else {}
        options |= {"softcap": two_digits(1 + random.rand())} if random.rand() < 0.2 else {}
        masks, lot = {}, random.rand()
        if lot < 0.35:
            masks["attn_mask_boolean"] = integers(f"sdpa/{name}/mask", (2, 1, n, m), 0, 2)
        elif lot < 0.65:
            masks["attn_mask_additive"] = additive(name, (heads, n, m), 0.3)
        add(group, name, options, **qkv(name, (2, heads), n, m, d, d_v, kv_lead=(2, groups)),
            file="random.safetensors", **masks)


def two_digits(value):
    return round(float(value), 2)


def main():
    args = arguments(__doc__)
    group = Group(args, "scaled_dot_product_attention", "scaled_dot_product_attention.py")
    for part in (add_sizes, add_masks, add_combinations, add_options, add_softcap, add_large, add_random):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
