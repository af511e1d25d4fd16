"""ONNX's Attention (opsets 23, 24), RotaryEmbedding, LayerNormalization, RMSNormalization, Softmax and Gelu.

Expected values are those of onnx's reference evaluator in float64; where its version predates the corrected
definition of Attention (see onnx_attention.py) the definition is used, and `differs_from_evaluator` gives the differences.
Attributes of ONNX are float32: a scale of 0.3 means 0.300000012.
"""

import numpy
import onnx
import torch
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from common import Group, arguments, cast, largest_difference, normal, random_state
from onnx_attention import attention, differences

TYPES = {torch.float32: TensorProto.FLOAT, torch.float64: TensorProto.DOUBLE, torch.bool: TensorProto.BOOL, torch.int64: TensorProto.INT64}
OUTPUTS = {"Attention": ("Y", "present_key", "present_value", "qk_matmul_output"), "LayerNormalization": ("Y", "Mean", "InvStdDev")}
ORDER = {
    "Attention": ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"),
    "RotaryEmbedding": ("X", "cos_cache", "sin_cache", "position_ids"),
}


def evaluate(op, opset, attributes, inputs, outputs):
    """One node, run by the evaluator; omitted optional inputs become empty names."""
    order = ORDER.get(op, tuple(inputs))
    last = max(order.index(name) for name in inputs)
    names = [name if name in inputs else "" for name in order[: last + 1]]
    known = OUTPUTS.get(op, ("Y",))
    produced = [name if name in outputs else "" for name in known[: max(known.index(name) for name in outputs) + 1]]
    node = helper.make_node(op, names, produced, **attributes)
    graph = helper.make_graph(
        [node], "one", [helper.make_tensor_value_info(k, TYPES[v.dtype], v.shape) for k, v in inputs.items()],
        [helper.make_tensor_value_info(k, TYPES[next(iter(inputs.values())).dtype], None) for k in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    results = ReferenceEvaluator(model).run(list(outputs), {key: value.numpy() for key, value in inputs.items()})
    return {key: torch.from_numpy(numpy.array(value)) for key, value in zip(outputs, results)}


def as_stored(attributes):
    """Attributes as stored by ONNX: floats in single precision."""
    return {k: float(numpy.float32(v)) if isinstance(v, float) else v for k, v in attributes.items()}


def stored_inputs(inputs):
    return {key + ("_boolean" if value.dtype is torch.bool else ""): value for key, value in inputs.items()}


def add(group, name, op, opset, attributes, inputs, outputs=("Y",), function=None, differs=()):
    """`function` replaces the evaluator where that differs from the definition; otherwise both must agree."""
    attributes, found = as_stored(attributes), {}
    for dtype in (torch.float32, torch.float64):
        typed = cast(inputs, dtype)
        if not differs:
            found[dtype] = evaluate(op, opset, attributes, typed, outputs)
        if function is not None:
            own = {key: function(**typed, **attributes)[key] for key in outputs}
            if not differs and dtype is torch.float64:
                # The evaluator computes the root of scale in float32, and softmax_precision 1 is float32.
                bound = 1e-6 if "scale" in attributes or attributes.get("softmax_precision") == TensorProto.FLOAT else 1e-12
                assert all(largest_difference(own[key], found[dtype][key]) < bound for key in outputs), name
            found[dtype] = own
    exact = found[torch.float64]
    errors = {key: largest_difference(found[torch.float32][key], exact[key]) for key in outputs}
    more = {"differs_from_evaluator": list(differs)} if differs else {}
    group.case(name, op, attributes, stored_inputs(inputs), exact, file=f"{op}.safetensors", errors=errors, opset=opset, **more)


def qkv(name, batch=2, heads=3, n=4, m=6, d=5, d_v=None, groups=None, three=False):
    groups, d_v = heads if groups is None else groups, d if d_v is None else d_v
    shapes = {"Q": (heads, n, d), "K": (groups, m, d), "V": (groups, m, d_v)}
    made = {key: normal(f"onnx/{name}/{key}", (batch, *shape)) for key, shape in shapes.items()}
    return {key: value.transpose(1, 2).flatten(2).contiguous() for key, value in made.items()} if three else made


def boolean(name, shape):
    mask = torch.from_numpy(random_state(f"onnx/{name}/mask").random_sample(shape) < 0.6)
    mask[..., 0] = True
    return mask


def floating(name, shape, blocked=True):
    mask = normal(f"onnx/{name}/mask", shape)
    return mask.masked_fill(~boolean(f"{name}/blocked", shape), -torch.inf) if blocked else mask


def past(name, length, heads=3, d=5, d_v=5, batch=2):
    return {"past_key": normal(f"onnx/{name}/past_key", (batch, heads, length, d)),
            "past_value": normal(f"onnx/{name}/past_value", (batch, heads, length, d_v))}


def add_attention(group, name, opset, attributes, inputs, outputs=("Y",)):
    differs = differences(inputs, attributes)
    if any(bool((x == -torch.inf).all(-1).any()) if x.is_floating_point() else bool((~x).all(-1).any())
           for key, x in inputs.items() if key == "attn_mask"):
        differs.append("a row with nothing to attend to gives 0")
    add(group, name, "Attention", opset, attributes, inputs, outputs, attention, differs)


def attention_cases(opset):
    """name -> (attributes, inputs, outputs)"""
    p, every = f"attention_{opset}", ("Y", "present_key", "present_value", "qk_matmul_output")
    heads = {"q_num_heads": 6, "kv_num_heads": 2}
    y = ("Y",)
    empty = boolean(f"{p}/empty", (2, 1, 4, 6))
    empty[0, 0, 1], empty[1, 0, 3] = False, False
    return {
        "plain": ({}, qkv(f"{p}/plain"), y),
        "different_v": ({}, qkv(f"{p}/different_v", d_v=7), y),
        "scale": ({"scale": 0.3}, qkv(f"{p}/scale"), y),
        "softcap": ({"softcap": 1.5}, qkv(f"{p}/softcap"), y),
        "causal_square": ({"is_causal": 1}, qkv(f"{p}/causal_square", m=4), y),
        "causal_wide": ({"is_causal": 1}, qkv(f"{p}/causal_wide"), y),
        "causal_tall": ({"is_causal": 1}, qkv(f"{p}/causal_tall", n=6, m=3), y),
        "softmax_precision_float": ({"softmax_precision": TensorProto.FLOAT}, qkv(f"{p}/precision_float"), y),
        "softmax_precision_double": ({"softmax_precision": TensorProto.DOUBLE}, qkv(f"{p}/precision_double"), y),
        "gqa_4d": ({}, qkv(f"{p}/gqa_4d", heads=6, groups=2), y),
        "mqa_4d": ({}, qkv(f"{p}/mqa_4d", heads=4, groups=1), y),
        "heads_3d": ({"q_num_heads": 3, "kv_num_heads": 3}, qkv(f"{p}/heads_3d", three=True), every),
        "gqa_3d": (heads, qkv(f"{p}/gqa_3d", heads=6, groups=2, d_v=3, three=True), every),
        "gqa_3d_causal_scale": (heads | {"is_causal": 1, "scale": 0.7}, qkv(f"{p}/gqa_3d_causal", heads=6, groups=2, m=4, three=True), y),
        "boolean_2d": ({}, qkv(f"{p}/boolean_2d") | {"attn_mask": boolean(f"{p}/boolean_2d", (4, 6))}, y),
        "boolean_4d": ({}, qkv(f"{p}/boolean_4d") | {"attn_mask": boolean(f"{p}/boolean_4d", (2, 3, 4, 6))}, y),
        "boolean_batch": ({}, qkv(f"{p}/boolean_batch") | {"attn_mask": boolean(f"{p}/boolean_batch", (2, 1, 1, 6))}, y),
        "boolean_causal": ({"is_causal": 1}, qkv(f"{p}/boolean_causal") | {"attn_mask": boolean(f"{p}/boolean_causal", (4, 6))}, y),
        "boolean_empty_rows": ({"qk_matmul_output_mode": 3}, qkv(f"{p}/empty") | {"attn_mask": empty}, every),
        "float_2d": ({}, qkv(f"{p}/float_2d") | {"attn_mask": floating(f"{p}/float_2d", (4, 6))}, y),
        "float_3d": ({}, qkv(f"{p}/float_3d") | {"attn_mask": floating(f"{p}/float_3d", (3, 4, 6))}, y),
        "float_4d": ({}, qkv(f"{p}/float_4d") | {"attn_mask": floating(f"{p}/float_4d", (2, 3, 4, 6))}, y),
        "float_causal": ({"is_causal": 1}, qkv(f"{p}/float_causal") | {"attn_mask": floating(f"{p}/float_causal", (4, 6))}, y),
        "float_softcap": ({"softcap": 1.5}, qkv(f"{p}/float_softcap") | {"attn_mask": floating(f"{p}/float_softcap", (4, 6))}, y),
        "causal_softcap": ({"softcap": 1.5, "is_causal": 1}, qkv(f"{p}/causal_softcap"), y),
        "past": ({}, qkv(f"{p}/past", n=2, m=2) | past(f"{p}/past", 4), every),
        "past_causal": ({"is_causal": 1}, qkv(f"{p}/past_causal", n=3, m=3) | past(f"{p}/past_causal", 4), every),
        "past_causal_one": ({"is_causal": 1}, qkv(f"{p}/past_causal_one", n=1, m=1) | past(f"{p}/past_causal_one", 5), every),
        "past_mask": ({}, qkv(f"{p}/past_mask", n=2, m=2) | past(f"{p}/past_mask", 4) | {"attn_mask": boolean(f"{p}/past_mask", (2, 6))}, every),
        "past_gqa_3d": (heads | {"is_causal": 1}, qkv(f"{p}/past_gqa", heads=6, groups=2, n=2, m=2, three=True) | past(f"{p}/past_gqa", 3, heads=2), every),
    }


def add_modes(group, opset):
    """The stages before softmax weights: raw, softcapped, softcapped and masked, weights."""
    for mode in range(4):
        for label, attributes in {"": {}, "_softcap": {"softcap": 1.5}}.items():
            name = f"mode_{mode}{label}"
            inputs = qkv(f"attention_{opset}/{name}") | {"attn_mask": floating(f"attention_{opset}/{name}", (4, 6), blocked=False)}
            outputs = ("Y", "present_key", "present_value", "qk_matmul_output")
            add_attention(group, f"attention_{opset}_{name}", opset, attributes | {"qk_matmul_output_mode": mode}, inputs, outputs)


def add_attentions(group):
    for opset in (23, 24):
        for name, (attributes, inputs, outputs) in attention_cases(opset).items():
            add_attention(group, f"attention_{opset}_{name}", opset, attributes, inputs, outputs)
        add_modes(group, opset)
    lengths = {"nonpad_kv_seqlen": torch.tensor([4, 6])}
    short = {"nonpad_kv_seqlen": torch.tensor([2, 5])}
    for name, attributes, more in (
        ("nonpad", {}, lengths), ("nonpad_causal", {"is_causal": 1}, lengths), ("nonpad_causal_short", {"is_causal": 1}, short),
        ("nonpad_float", {}, lengths | {"attn_mask": floating("attention_24/nonpad_float", (4, 6), blocked=False)}),
        ("nonpad_boolean", {}, lengths | {"attn_mask": boolean("attention_24/nonpad_boolean", (4, 6))}),
        ("nonpad_softcap", {"softcap": 1.5}, lengths),
        ("short_boolean_mask", {}, {"attn_mask": boolean("attention_24/short_boolean_mask", (4, 5))}),
        ("short_float_mask", {}, {"attn_mask": floating("attention_24/short_float_mask", (4, 5), blocked=False)}),
        ("nonpad_short_mask", {}, short | {"attn_mask": floating("attention_24/nonpad_short_mask", (4, 5), blocked=False)}),
    ):
        add_attention(group, f"attention_24_{name}", 24, attributes, qkv(f"attention_24/{name}") | more)
    three = {"q_num_heads": 6, "kv_num_heads": 2}
    inputs = qkv("attention_24/nonpad_gqa_3d", heads=6, groups=2, three=True) | lengths
    add_attention(group, "attention_24_nonpad_gqa_3d", 24, three, inputs)


def add_rotary(group):
    angles = normal("onnx/rotary/angles", (16, 4), 2.0)
    table = {"cos_cache": angles.cos().float().double(), "sin_cache": angles.sin().float().double()}
    ids = torch.tensor([[0, 1, 2, 3, 4], [3, 9, 15, 3, 0]])
    each = {key: value[ids] for key, value in table.items()}
    four, three = normal("onnx/rotary/4d", (2, 3, 5, 8)), normal("onnx/rotary/3d", (2, 5, 24))
    wide = normal("onnx/rotary/partial", (2, 3, 5, 12))
    for label, attributes in {"": {}, "_interleaved": {"interleaved": 1}}.items():
        add(group, f"rotary_4d{label}", "RotaryEmbedding", 23, attributes, {"X": four} | table | {"position_ids": ids})
        add(group, f"rotary_3d{label}", "RotaryEmbedding", 23, attributes | {"num_heads": 3}, {"X": three} | table | {"position_ids": ids})
        add(group, f"rotary_no_ids{label}", "RotaryEmbedding", 23, attributes, {"X": four} | each)
        add(group, f"rotary_partial{label}", "RotaryEmbedding", 23, attributes | {"rotary_embedding_dim": 8},
            {"X": wide} | table | {"position_ids": ids})
        add(group, f"rotary_partial_3d{label}", "RotaryEmbedding", 23, attributes | {"rotary_embedding_dim": 8, "num_heads": 3},
            {"X": wide.transpose(1, 2).flatten(2).contiguous()} | each)


def add_norms(group):
    shape = (2, 3, 4, 5)
    for axis in (-1, -2, 1, 0, 3):
        rest = shape[axis:]
        scale, bias = normal(f"onnx/norm/{axis}/scale", rest, 0.2, mean=1.0), normal(f"onnx/norm/{axis}/bias", rest)
        x = normal(f"onnx/norm/{axis}/x", shape, 2.0)
        add(group, f"layer_norm_axis_{axis}", "LayerNormalization", 17, {"axis": axis}, {"X": x, "Scale": scale, "B": bias},
            ("Y", "Mean", "InvStdDev"))
        add(group, f"rms_norm_axis_{axis}", "RMSNormalization", 23, {"axis": axis}, {"X": x, "scale": scale})
    x, scale, bias = normal("onnx/norm/x", (3, 10)), normal("onnx/norm/scale", (10,), 0.2, mean=1.0), normal("onnx/norm/bias", (10,))
    add(group, "layer_norm_defaults", "LayerNormalization", 17, {}, {"X": x, "Scale": scale, "B": bias})
    add(group, "layer_norm_no_bias", "LayerNormalization", 17, {}, {"X": x, "Scale": scale})
    add(group, "layer_norm_epsilon", "LayerNormalization", 17, {"epsilon": 0.5}, {"X": x, "Scale": scale, "B": bias})
    add(group, "layer_norm_stash_type", "LayerNormalization", 17, {"stash_type": 1}, {"X": x, "Scale": scale, "B": bias})
    add(group, "rms_norm_defaults", "RMSNormalization", 23, {}, {"X": x, "scale": scale})
    add(group, "rms_norm_epsilon", "RMSNormalization", 23, {"epsilon": 0.5}, {"X": x, "scale": scale})
    add(group, "rms_norm_stash_type", "RMSNormalization", 23, {"stash_type": 1}, {"X": x, "scale": scale})
    add(group, "rms_norm_broadcast_scale", "RMSNormalization", 23, {"axis": -2}, {"X": normal("onnx/norm/b", (2, 4, 5)), "scale": normal("onnx/norm/bs", (5,))})


def add_elementwise(group):
    x = normal("onnx/softmax/x", (2, 3, 4), 3.0)
    for axis in (-1, 0, 1, 2, -3):
        add(group, f"softmax_axis_{axis}", "Softmax", 13, {"axis": axis}, {"input": x})
    add(group, "softmax_defaults", "Softmax", 13, {}, {"input": x})
    x = torch.linspace(-6, 6, 49, dtype=torch.float64).float().double()
    for name, attributes in {"gelu_defaults": {}, "gelu_none": {"approximate": "none"}, "gelu_tanh": {"approximate": "tanh"}}.items():
        add(group, name, "Gelu", 20, attributes, {"X": x})


def main():
    args = arguments(__doc__)
    group = Group(args, "onnx_operators", "onnx_operators.py", ["onnx"])
    for part in (add_attentions, add_rotary, add_norms, add_elementwise):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
