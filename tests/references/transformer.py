"""torch.nn's TransformerEncoderLayer, DecoderLayer, Encoder, Decoder and Transformer.

Boolean masks: 1 = ignore. The fast path and nested tensors are off: they give zeros at padded positions and other shapes.
Every mask of these cases leaves each query a key, because PyTorch's result for fully masked rows depends on the path taken.
"""

import math

import torch
from torch import nn

from common import Group, arguments, fill_state_dict, normal, random_state

torch.backends.mha.set_fastpath_enabled(False)


def ignore(name, shape, share=0.3):
    mask = torch.from_numpy(random_state(f"transformer/{name}/ignore").random_sample(shape)) < share
    mask[..., 0] = False
    return mask


def additive(name, shape, share=0.3):
    return normal(f"transformer/{name}/bias", shape).masked_fill(ignore(name, shape, share), -math.inf)


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).triu(1)


def json_of(settings):
    return {key: value.__name__ if callable(value) else value for key, value in settings.items()}


class Subject:
    """One set of weights, run with several options that do not change their shapes."""

    def __init__(self, group, name, kind, file, **settings):
        self.group, self.name, self.kind, self.file, self.settings = group, name, kind, file, settings
        self.weights = group.put_weights(file, f"{name}.weights.", self.make())

    def make(self, **more):
        settings = {key: value for key, value in (self.settings | more).items() if key not in ("num_layers", "norm")}
        if self.kind in ("TransformerEncoder", "TransformerDecoder"):
            layer = getattr(nn, f"{self.kind}Layer")(batch_first=True, **settings)
            norm = self.norm(self.settings.get("norm"), settings["d_model"])
            extra = {"enable_nested_tensor": False} if self.kind == "TransformerEncoder" else {}
            module = getattr(nn, self.kind)(layer, self.settings["num_layers"], norm, **extra)
        else:
            module = getattr(nn, self.kind)(batch_first=True, **settings)
        return fill_state_dict(module, f"transformer/{self.name}").eval()

    @staticmethod
    def norm(given, d_model):
        """None, a LayerNorm (True), or another norm with its options."""
        if not isinstance(given, dict):
            return nn.LayerNorm(d_model) if given else None
        return getattr(nn, given["kind"])(d_model, **{key: value for key, value in given.items() if key != "kind"})

    def add(self, label, n=7, m=5, batch=2, batch_first=True, options=None, **call):
        name, d_model = f"{self.name}_{label}", self.settings["d_model"]
        module = self.make(**(options or {}))
        lead = () if batch is None else (batch,)
        rows = {"src": n} if "Encoder" in self.kind else {"tgt": n, "memory": m}
        if self.kind == "Transformer":
            rows = {"src": m, "tgt": n}
        inputs = {part: normal(f"transformer/{name}/{part}", (*lead, count, d_model)) for part, count in rows.items()}
        masks = {key: value for key, value in call.items() if torch.is_tensor(value)}
        flags = {key: value for key, value in call.items() if not torch.is_tensor(value)}
        stored = inputs | {key + ("_boolean" if v.dtype is torch.bool else "_additive"): v for key, v in masks.items()}

        def function(**stored):
            tensors = {key.removesuffix("_boolean").removesuffix("_additive"): v for key, v in stored.items()}
            sequences = [tensors.pop(part) for part in rows]
            return {"output": module(*sequences, **self.renamed(tensors), **flags)}
        settings = json_of(self.settings | {"batch_first": batch_first} | (options or {}) | flags)
        self.group.run(name, self.kind, settings, stored, function, file=self.file, module=module, weights=self.weights)

    def renamed(self, masks):
        """TransformerEncoder names `mask` what its layer names `src_mask`; the fixtures always use src_mask."""
        if self.kind == "TransformerEncoder" and "src_mask" in masks:
            masks["mask"] = masks.pop("src_mask")
        return masks


VARIANTS = {
    "post_relu": {}, "pre_relu": {"norm_first": True}, "post_gelu": {"activation": "gelu"},
    "pre_gelu": {"activation": "gelu", "norm_first": True}, "eps": {"layer_norm_eps": 0.1},
}


def masks_of(prefix, kind, name, n, m, batch=2):
    """A mask of scores and one of keys."""
    make = ignore if kind == "boolean" else additive
    padding = {"memory": "memory_key_padding_mask"}.get(prefix, f"{prefix}_key_padding_mask")
    return {f"{prefix}_mask": make(f"{name}/{prefix}", (n, m)), padding: make(f"{name}/{prefix}_keys", (batch, m))}


def add_encoder_layer(group):
    file = "encoder.safetensors"
    sizes = {"encoder_layer_30": (30, 3, 44), "encoder_layer_5": (5, 1, 7), "encoder_layer_12": (12, 4, 13)}
    for name, (d_model, nhead, hidden) in sizes.items():
        for bias in (True, False) if d_model == 12 else (True,):
            full = name if bias else f"{name}_no_bias"
            subject = Subject(group, full, "TransformerEncoderLayer", file, d_model=d_model, nhead=nhead, dim_feedforward=hidden, bias=bias)
            for label, options in VARIANTS.items():
                subject.add(label, options=options)
            for order in (False, True):
                label = "pre" if order else "post"
                for kind in ("boolean", "additive"):
                    masks = masks_of("src", kind, f"{full}/{label}/{kind}", 7, 7)
                    subject.add(f"{label}_{kind}_masks", options={"norm_first": order}, **masks)
            subject.add("causal", src_mask=causal(7), is_causal=True)
            subject.add("per_head_mask", src_mask=additive(f"{full}/heads", (2 * nhead, 7, 7)))
            subject.add("n1", n=1)
            subject.add("not_batched", batch=None)
    large = Subject(group, "encoder_layer_n600", "TransformerEncoderLayer", file, d_model=10, nhead=1, dim_feedforward=6)
    large.add("plain", n=600, batch=1)


def add_decoder_layer(group):
    file = "decoder.safetensors"
    for name, (d_model, nhead, hidden, bias) in {
        "decoder_layer_30": (30, 3, 44, True), "decoder_layer_5": (5, 1, 7, True), "decoder_layer_12_no_bias": (12, 4, 13, False),
    }.items():
        subject = Subject(group, name, "TransformerDecoderLayer", file, d_model=d_model, nhead=nhead, dim_feedforward=hidden, bias=bias)
        for label, options in VARIANTS.items():
            subject.add(label, options=options)
        for kind in ("boolean", "additive"):
            for order in (False, True):
                label = f"{'pre' if order else 'post'}_{kind}_masks"
                masks = masks_of("tgt", kind, f"{name}/{label}", 7, 7) | masks_of("memory", kind, f"{name}/{label}", 7, 5)
                subject.add(label, options={"norm_first": order}, **masks)
        subject.add("causal", tgt_mask=causal(7), tgt_is_causal=True)
        subject.add("memory_padding", tgt_mask=causal(7), memory_key_padding_mask=ignore(f"{name}/memory_padding", (2, 5)))
        subject.add("n1_m1", n=1, m=1)
        subject.add("not_batched", batch=None)


def add_stacks(group):
    file = "stacks.safetensors"
    for kind, short in (("TransformerEncoder", "encoder"), ("TransformerDecoder", "decoder")):
        for norm in (False, True):
            name = f"{short}_{'norm' if norm else 'no_norm'}"
            subject = Subject(group, name, kind, file, d_model=12, nhead=3, dim_feedforward=20, num_layers=2, norm=norm)
            for order in (False, True):
                label = "pre" if order else "post"
                subject.add(label, options={"norm_first": order})
                masks = masks_of("src" if short == "encoder" else "tgt", "boolean", f"{name}/{label}", 7, 7)
                if short == "decoder":
                    masks |= masks_of("memory", "boolean", f"{name}/{label}", 7, 5)
                subject.add(f"{label}_gelu_masks", options={"norm_first": order, "activation": "gelu"}, **masks)


def add_transformer(group):
    file = "transformer.safetensors"
    for name, (d_model, nhead, hidden, bias) in {"transformer_30": (30, 3, 16, True), "transformer_5": (5, 1, 7, True),
                                                 "transformer_12_no_bias": (12, 4, 13, False)}.items():
        layers = {"num_encoder_layers": 2, "num_decoder_layers": 2} if d_model != 30 else {"num_encoder_layers": 1, "num_decoder_layers": 2}
        subject = Subject(group, name, "Transformer", file, d_model=d_model, nhead=nhead, dim_feedforward=hidden, bias=bias, **layers)
        for label, options in VARIANTS.items():
            subject.add(label, options=options)
        generated = nn.Transformer.generate_square_subsequent_mask(7, dtype=torch.float64)
        for order in (False, True):
            label = "pre" if order else "post"
            padding = ignore(f"{name}/{label}/src_padding", (2, 5))
            subject.add(f"{label}_translation", options={"norm_first": order}, tgt_mask=causal(7), src_key_padding_mask=padding,
                        memory_key_padding_mask=padding, tgt_key_padding_mask=ignore(f"{name}/{label}/tgt_padding", (2, 7)))
            masks = masks_of("src", "additive", f"{name}/{label}/all", 5, 5) | masks_of("memory", "additive", f"{name}/{label}/all", 7, 5)
            subject.add(f"{label}_all_additive", options={"norm_first": order}, tgt_mask=generated, tgt_is_causal=True, **masks)
        subject.add("not_batched", batch=None)


def main():
    args = arguments(__doc__)
    group = Group(args, "transformer", "transformer.py")
    for part in (add_encoder_layer, add_decoder_layer, add_stacks, add_transformer):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
