"""torch.nn.MultiheadAttention: every constructor argument and every mask.

Boolean masks: 1 = ignore (the opposite of scaled_dot_product_attention). `weights` are averaged over the heads, or one map
per head, according to `average_attn_weights`. For a fully masked query PyTorch returns NaN if weights are requested
and out_proj.bias otherwise; the expected values are weights 0 and the output without NaN (`nan_upstream`).
"""

import math

import torch
from torch import nn

from common import Group, arguments, cast, fill_state_dict, largest_difference, normal, random_state

# The fast path is a separate implementation with other masks; the references use the normal one.
torch.backends.mha.set_fastpath_enabled(False)

FILE = "multihead_attention.safetensors"


def ignore(name, shape, share=0.3):
    """Random 0/1 that leaves at least the first key of each row."""
    mask = torch.from_numpy(random_state(f"mha/{name}/ignore").random_sample(shape)) < share
    mask[..., 0] = False
    return mask


def additive(name, shape, share=0.3):
    return normal(f"mha/{name}/bias", shape).masked_fill(ignore(name, shape, share), -math.inf)


class Subject:
    """One module whose weights are shared by several cases."""

    def __init__(self, group, name, embed_dim, num_heads, **settings):
        self.group, self.name = group, name
        self.sizes = (embed_dim, settings.get("kdim", embed_dim), settings.get("vdim", embed_dim))
        self.options = {"embed_dim": embed_dim, "num_heads": num_heads} | settings
        self.module = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True, **settings)
        fill_state_dict(self.module, f"mha/{name}").eval()
        self.weights = group.put_weights(FILE, f"{name}.weights.", self.module)

    def add(self, label, n=7, m=5, batch=2, *, self_attention=False, batch_first=True, **call):
        name = f"{self.name}_{label}"
        lead = () if batch is None else (batch,)
        q, k, v = (normal(f"mha/{name}/{part}", (*lead, rows, size)) for part, rows, size in zip("qkv", (n, m, m), self.sizes))
        inputs = {"query": q} if self_attention else {"query": q, "key": k, "value": v}
        if not batch_first:
            inputs = {key: value.transpose(0, 1).contiguous() for key, value in inputs.items()}
        masks = {key: value for key, value in call.items() if torch.is_tensor(value)}
        options = {key: value for key, value in call.items() if not torch.is_tensor(value)}
        outputs, errors, nan = self.run(inputs, masks, options, batch_first)
        self.group.case(
            name, "MultiheadAttention", self.options | {"batch_first": batch_first} | options, inputs | named(masks), outputs,
            file=FILE, weights=self.weights, errors=errors, **({"nan_upstream": nan} if nan else {}),
        )

    def run(self, inputs, masks, options, batch_first):
        results = []
        self.module.batch_first = batch_first
        for dtype in (torch.float32, torch.float64):
            self.module.to(dtype)
            results.append(call_module(self.module, cast(inputs, dtype), cast(masks, dtype), options))
        (single, _), (double, nan) = results
        return double, {key: largest_difference(single[key], double[key]) for key in double}, nan


def named(masks):
    """The kind of a mask is part of its name in the fixture."""
    return {key + ("_boolean" if value.dtype is torch.bool else "_additive"): value for key, value in masks.items()}


def call_module(module, inputs, masks, options):
    """(outputs, names of the outputs that are NaN upstream). Those come from the path without weights."""
    q, k, v = inputs["query"], inputs.get("key", inputs["query"]), inputs.get("value", inputs["query"])
    output, weights = module(q, k, v, **masks, **options)
    found = {"output": output} | ({} if weights is None else {"weights": weights})
    nan = [key for key, value in found.items() if bool(value.isnan().any())]
    if nan:
        found["weights"] = weights.nan_to_num(0.0)
        found["output"], _ = module(q, k, v, **masks, **(options | {"need_weights": False}))
        assert not bool(found["output"].isnan().any())
    return found, nan


def add_plain(group):
    for name, embed, heads in (("e30_h3", 30, 3), ("e5_h1", 5, 1), ("e12_h4", 12, 4), ("e8_h8", 8, 8)):
        subject = Subject(group, name, embed, heads)
        subject.add("self", self_attention=True)
        subject.add("cross")
        subject.add("per_head", average_attn_weights=False)
        subject.add("without_weights", need_weights=False)
        subject.add("n1", n=1, m=1)
        subject.add("not_batched", batch=None)
        subject.add("sequence_first", batch_first=False)
    for name, settings in {
        "no_bias": {"bias": False}, "kdim_vdim": {"kdim": 7, "vdim": 3}, "kdim_vdim_no_bias": {"kdim": 3, "vdim": 20, "bias": False},
        "bias_kv": {"add_bias_kv": True}, "zero_attn": {"add_zero_attn": True},
        "bias_kv_zero_attn": {"add_bias_kv": True, "add_zero_attn": True},
        "everything": {"kdim": 7, "vdim": 3, "add_bias_kv": True, "add_zero_attn": True},
    }.items():
        subject = Subject(group, name, 12, 3, **settings)
        subject.add("cross")
        subject.add("per_head", average_attn_weights=False)
        subject.add("key_padding", key_padding_mask=ignore(name, (2, 5)))
        subject.add("attn_mask", attn_mask=ignore(name, (7, 5)), average_attn_weights=False)
        subject.add("both_additive", attn_mask=additive(name, (7, 5)), key_padding_mask=additive(f"{name}/k", (2, 5)))
        subject.add("without_weights", need_weights=False, attn_mask=additive(name, (7, 5)))


def add_masks(group):
    subject = Subject(group, "masks", 30, 3)
    for kind, make in (("boolean", ignore), ("additive", additive)):
        subject.add(f"{kind}_2d", attn_mask=make(f"{kind}_2d", (7, 5)))
        subject.add(f"{kind}_per_head", attn_mask=make(f"{kind}_3d", (6, 7, 5)), average_attn_weights=False)
        subject.add(f"{kind}_padding", key_padding_mask=make(f"{kind}_padding", (2, 5)))
        subject.add(f"{kind}_both", attn_mask=make(f"{kind}_both", (7, 5)), key_padding_mask=make(f"{kind}_both_k", (2, 5)))
        subject.add(f"{kind}_all", attn_mask=make(f"{kind}_all", (6, 7, 5)), key_padding_mask=make(f"{kind}_all_k", (2, 5)),
                    average_attn_weights=False)
        subject.add(f"{kind}_without_weights", attn_mask=make(f"{kind}_w", (7, 5)), need_weights=False)
        subject.add(f"{kind}_not_batched", batch=None, attn_mask=make(f"{kind}_n", (7, 5)), key_padding_mask=make(f"{kind}_nk", (5,)))
    causal = torch.ones(7, 7, dtype=torch.bool).triu(1)
    subject.add("causal", 7, 7, self_attention=True, attn_mask=causal, is_causal=True)
    subject.add("causal_without_weights", 7, 7, self_attention=True, attn_mask=causal, is_causal=True, need_weights=False)
    generated = nn.Transformer.generate_square_subsequent_mask(7, dtype=torch.float64)
    subject.add("causal_additive", 7, 7, self_attention=True, attn_mask=generated, is_causal=True)
    subject.add("causal_padding", 7, 7, self_attention=True, attn_mask=causal, key_padding_mask=ignore("causal_padding", (2, 7)))


def add_empty_rows(group):
    subject = Subject(group, "empty", 12, 3)
    for kind in ("boolean", "additive"):
        rows = torch.zeros(7, 5, dtype=torch.bool)
        rows[2], rows[4, 1:] = True, True
        padding = torch.tensor([[True] * 5, [False, True, False, False, False]])
        if kind == "additive":
            rows, padding = (torch.zeros(x.shape, dtype=torch.float64).masked_fill(x, -math.inf) for x in (rows, padding))
        for label, masks in (("rows", {"attn_mask": rows}), ("padding", {"key_padding_mask": padding})):
            subject.add(f"{kind}_{label}", **masks)
            subject.add(f"{kind}_{label}_per_head", average_attn_weights=False, **masks)
            subject.add(f"{kind}_{label}_without_weights", need_weights=False, **masks)


def add_large(group):
    subject = Subject(group, "n600", 10, 1)
    subject.add("self", 600, self_attention=True, batch=1, need_weights=False)
    causal = {"is_causal": True, "need_weights": False}
    name = f"{subject.name}_causal"
    # The 600 x 600 mask would be the largest tensor here; the option suffices.
    inputs = {"query": normal(f"mha/{name}/q", (1, 600, 10))}
    masks = {"attn_mask": torch.ones(600, 600, dtype=torch.bool).triu(1)}
    outputs, errors, _ = subject.run(inputs, masks, causal, True)
    group.case(name, "MultiheadAttention", subject.options | {"batch_first": True} | causal, inputs, outputs, file=FILE,
               weights=subject.weights, errors=errors, note="attn_mask is the causal mask; it is not stored")


def main():
    args = arguments(__doc__)
    group = Group(args, "multihead_attention", "multihead_attention.py")
    for part in (add_plain, add_masks, add_empty_rows, add_large):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
