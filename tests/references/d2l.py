"""The blocks of d2l.ai (d2l_modules.py): attention, encoder and decoder block, encoder, decoder, Vision Transformer."""

import torch

import d2l_modules as d2l
from common import Group, arguments, fill_state_dict, integers, normal

FILE = "blocks.safetensors"
WHOLE = "models.safetensors"


def make(group, name, kind, *settings, file=FILE, **more):
    module = fill_state_dict(getattr(d2l, kind)(*settings, **more), f"d2l/{name}").eval()
    if not module.state_dict():
        return module, {}
    return module, {"weights": group.put_weights(file, f"{name}.weights.", module)}


def x_of(name, *shape):
    return normal(f"d2l/{name}", shape)


def lens(values):
    return {} if values is None else {"valid_lens": torch.tensor(values)}


def with_weights(module):
    """A call that also returns the module's attention weights."""
    def function(valid_lens=None, **inputs):
        output = module(*inputs.values(), valid_lens)
        return {"output": output, "attention_weights": module.attention_weights}
    return function


VALID_LENS = {"all": None, "1d": [3, 5], "2d": [[1, 2, 3, 4], [5, 4, 3, 2]], "zero": [0, 4]}


def add_attention(group):
    dot, _ = make(group, "dot", "DotProductAttention")
    additive, stored = make(group, "additive", "AdditiveAttention", 20, 2, 8)
    for label, valid_lens in VALID_LENS.items():
        for name, module, d_q, d_k, more in (("dot", dot, 6, 6, {}), ("additive", additive, 20, 2, stored)):
            inputs = {"queries": x_of(f"{name}/{label}/q", 2, 4, d_q), "keys": x_of(f"{name}/{label}/k", 2, 5, d_k),
                      "values": x_of(f"{name}/{label}/v", 2, 5, 3)} | lens(valid_lens)
            op = {"dot": "DotProductAttention", "additive": "AdditiveAttention"}[name]
            options = {"num_hiddens": 8} if name == "additive" else {}
            group.run(f"{name}_{label}", op, options, inputs, with_weights(module), file=FILE, module=module, **more)


def add_multi_head(group):
    kinds = {
        "multi_head": ((30, 3), {}, (30, 30, 30), {}),
        "multi_head_bias": ((12, 4), {"bias": True}, (12, 12, 12), {"bias": True}),
        "multi_head_sizes": ((12, 2), {"sizes": (7, 5, 3)}, (7, 5, 3), {"query_size": 7, "key_size": 5, "value_size": 3}),
        "multi_head_one": ((5, 1), {}, (5, 5, 5), {}),
        "multi_head_additive": ((12, 3), {"attention": d2l.AdditiveAttention(4, 4, 6)}, (12, 12, 12),
                                {"attention": "additive", "attention_num_hiddens": 6}),
    }
    for name, (settings, more, sizes, options) in kinds.items():
        module, stored = make(group, name, "MultiHeadAttention", *settings, **more)
        options = {"num_hiddens": settings[0], "num_heads": settings[1], "bias": False} | options
        for label, valid_lens in VALID_LENS.items():
            parts = zip(("queries", "keys", "values"), (4, 5, 5), sizes)
            inputs = {part: x_of(f"{name}/{label}/{part}", 2, rows, size) for part, rows, size in parts} | lens(valid_lens)
            group.run(f"{name}_{label}", "MultiHeadAttention", options, inputs, with_weights(module), file=FILE,
                      module=module, **stored)


def add_small(group):
    for d, n in ((6, 4), (32, 60), (2, 5), (10, 1)):
        module, _ = make(group, "positions", "PositionalEncoding", d)
        group.run(f"positional_encoding_{n}x{d}", "PositionalEncoding", {"num_hiddens": d, "max_len": 1000},
                  {"X": x_of(f"positions/{n}x{d}", 2, n, d)}, lambda X: {"output": module(X)}, file=FILE)
    for name, shape in {"vector": (5,), "two": (3, 4)}.items():
        module, stored = make(group, f"add_norm_{name}", "AddNorm", shape)
        inputs = {"X": x_of(f"add_norm/{name}/X", 2, *shape), "Y": x_of(f"add_norm/{name}/Y", 2, *shape)}
        group.run(f"add_norm_{name}", "AddNorm", {"norm_shape": list(shape)}, inputs,
                  lambda X, Y: {"output": module(X, Y)}, file=FILE, module=module, **stored)
    for name, sizes in {"ffn": (4, 4, 8), "ffn_odd": (5, 13, 5)}.items():
        module, stored = make(group, name, "PositionWiseFFN", *sizes)
        group.run(name, "PositionWiseFFN", {"ffn_num_hiddens": sizes[1], "ffn_num_outputs": sizes[2]},
                  {"X": x_of(name, 2, 3, sizes[0])}, lambda X: {"output": module(X)}, file=FILE, module=module, **stored)
    for name, image, patch, channels in (("patch", (6, 9), (2, 3), 3), ("patch_ragged", (7, 8), (3, 3), 1)):
        module, stored = make(group, name, "PatchEmbedding", image, patch, 5, channels)
        group.run(name, "PatchEmbedding", {"img_size": image, "patch_size": patch, "num_hiddens": 5},
                  {"X": x_of(name, 2, channels, *image)}, lambda X: {"output": module(X)}, file=FILE, module=module, **stored)


def add_encoder_blocks(group):
    for name, settings in {"encoder_block": (24, 48, 8), "encoder_block_bias": (30, 17, 3, True), "encoder_block_5": (5, 7, 1)}.items():
        module, stored = make(group, name, "TransformerEncoderBlock", *settings)
        options = dict(zip(("num_hiddens", "ffn_num_hiddens", "num_heads", "use_bias"), (*settings, False)))

        def function(X, valid_lens=None):
            return {"output": module(X, valid_lens), "attention_weights": module.attention.attention_weights}
        for label, valid_lens in {"all": None, "1d": [3, 2], "2d": [[1, 2, 3, 4], [4, 3, 2, 1]], "zero": [0, 4]}.items():
            group.run(f"{name}_{label}", "TransformerEncoderBlock", options,
                      {"X": x_of(f"{name}/{label}", 2, 4, settings[0])} | lens(valid_lens), function, file=FILE,
                      module=module, **stored)
    for name, settings in {"vit_block": (24, 48, 8), "vit_block_bias": (15, 22, 3, True)}.items():
        module, stored = make(group, name, "ViTBlock", *settings)
        options = dict(zip(("num_hiddens", "mlp_num_hiddens", "num_heads", "use_bias"), (*settings, False)))
        for label, valid_lens in {"all": None, "1d": [3, 2]}.items():
            group.run(f"{name}_{label}", "ViTBlock", options, {"X": x_of(f"{name}/{label}", 2, 4, settings[0])} | lens(valid_lens),
                      lambda X, valid_lens=None: {"output": module(X, valid_lens)}, file=FILE, module=module, **stored)


def add_decoder_block(group):
    for name, settings in {"decoder_block": (24, 48, 8), "decoder_block_5": (5, 9, 1)}.items():
        module, stored = make(group, name, "TransformerDecoderBlock", *settings)
        options = dict(zip(("num_hiddens", "ffn_num_hiddens", "num_heads"), settings))
        inputs = {"X": x_of(f"{name}/X", 2, 4, settings[0]), "enc_outputs": x_of(f"{name}/enc_outputs", 2, 5, settings[0]),
                  "enc_valid_lens": torch.tensor([3, 5])}

        def all_at_once(X, enc_outputs, enc_valid_lens):
            output, _ = module(X, enc_outputs, enc_valid_lens)
            return {"output": output, "self_weights": module.attention1.attention_weights,
                    "cross_weights": module.attention2.attention_weights}

        def step_by_step(X, enc_outputs, enc_valid_lens):
            past, steps = None, []
            for row in X.split(1, dim=1):
                output, past = module(row, enc_outputs, enc_valid_lens, past, trained=False)
                steps.append(output)
            assert (torch.cat(steps, 1) - module(X, enc_outputs, enc_valid_lens)[0]).abs().max() < 1e-5
            return {"output": torch.cat(steps, 1)}

        def unmasked(X, enc_outputs, enc_valid_lens):
            return {"output": module(X, enc_outputs, enc_valid_lens, trained=False)[0]}
        for mode, function in (("training", all_at_once), ("steps", step_by_step), ("eval_at_once", unmasked)):
            group.run(f"{name}_{mode}", "TransformerDecoderBlock", options | {"mode": mode}, inputs, function, file=FILE,
                      module=module, **stored)


def add_whole(group):
    module, stored = make(group, "encoder", "TransformerEncoder", 23, 12, 20, 3, 2, file=WHOLE)
    tokens, valid_lens = integers("d2l/encoder/tokens", (2, 6), 0, 23), torch.tensor([4, 6])
    options = {"vocab_size": 23, "num_hiddens": 12, "ffn_num_hiddens": 20, "num_heads": 3, "num_blks": 2}
    outputs = group.run("encoder", "TransformerEncoder", options | {"use_bias": False}, {"X": tokens, "valid_lens": valid_lens},
                        lambda X, valid_lens: {"output": module(X, valid_lens)}, file=WHOLE, module=module, **stored)
    decoder, stored = make(group, "decoder", "TransformerDecoder", 23, 12, 20, 3, 2, file=WHOLE)
    inputs = {"X": integers("d2l/decoder/tokens", (2, 5), 0, 23), "enc_outputs": outputs["output"].float().double(),
              "enc_valid_lens": valid_lens}
    group.run("decoder", "TransformerDecoder", options | {"mode": "training"}, inputs,
              lambda **inputs: {"output": decoder(**inputs)}, file=WHOLE, module=decoder, **stored)
    settings = dict(img_size=(8, 12), patch_size=(4, 4), num_channels=3, num_hiddens=12, mlp_num_hiddens=20, num_heads=3,
                    num_blks=2, num_classes=10)
    vit, stored = make(group, "vit", "ViT", file=WHOLE, **settings)
    group.run("vit", "ViT", settings | {"use_bias": False}, {"X": x_of("vit", 2, 3, 8, 12)}, lambda X: {"output": vit(X)},
              file=WHOLE, module=vit, **stored)


def main():
    args = arguments(__doc__)
    group = Group(args, "d2l", "d2l.py")
    for part in (add_attention, add_multi_head, add_small, add_encoder_blocks, add_decoder_block, add_whole):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
