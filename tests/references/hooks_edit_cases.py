"""The edits made in PyTorch and, by the tests, in our models."""

import torch

from common import normal


def _uniform(length, causal):
    """Uniform attention of each query to its visible keys."""
    seen = torch.ones(length, length)
    seen = seen.tril() if causal else seen
    return seen / seen.sum(-1, keepdim=True)


def _of_blocks(name, scope, values, other):
    _, length, width = values[f"{scope}0.hook_resid_pre"].shape
    causal = bool(values[f"{scope}0.attn.hook_pattern"][0, 0, 0, -1] == 0)
    return {
        "head_zero": ([{"hook": f"{scope}0.attn.hook_z", "head": 1, "op": "zero"}], {}),
        "heads_mean": ([{"hook": f"{scope}1.attn.hook_z", "head": [0, 2], "op": "mean"}], {}),
        "patched_residual": (
            [{"hook": f"{scope}1.hook_resid_pre", "pos": [1, length - 3], "op": "replace", "value": "patch"}],
            {"patch": other[f"{scope}1.hook_resid_pre"][:, [1, length - 3]]}),
        "uniform_pattern": (
            [{"hook": f"{scope}0.attn.hook_pattern", "head": 0, "op": "replace", "value": "pattern"}],
            {"pattern": _uniform(length, causal)}),
        "identity_pattern": (
            [{"hook": f"{scope}1.attn.hook_pattern", "head": 2, "op": "replace", "value": "pattern"}],
            {"pattern": torch.eye(length)}),
        "scaled_neurons": ([{"hook": f"{scope}0.mlp.hook_post", "op": "scale", "value": 0.25}], {}),
        "steered": (
            [{"hook": f"{scope}0.hook_resid_post", "pos": -2, "op": "add", "value": "direction"}],
            {"direction": normal(f"hooks/{name}/direction", (width,), 2.0).float()}),
        "several": (
            [{"hook": f"{scope}0.hook_attn_out", "pos": [0, -1], "op": "scale", "value": -1.5},
             {"hook": f"{scope}0.mlp.hook_post", "pos": 2, "op": "zero"},
             {"hook": f"{scope}1.attn.hook_pattern", "head": 1, "pos": -1, "op": "replace", "value": "row"},
             {"hook": f"{scope}1.attn.hook_z", "head": 1, "op": "scale", "value": 3.0},
             {"hook": f"{scope}1.hook_mlp_out", "op": "add", "value": 0.5}],
            {"row": torch.eye(length)[0]}),
    }


def _of_decoder(name, values, other):
    """The same for the second stack of an encoder-decoder, and its attention to the source."""
    _, length, width = values["decoder.0.hook_resid_pre"].shape
    source = values["encoder.0.hook_resid_pre"].shape[1]
    return {
        "decoder_head_zero": ([{"hook": "decoder.0.attn.hook_z", "head": 1, "op": "zero"}], {}),
        "cross_head_mean": ([{"hook": "decoder.1.cross_attn.hook_z", "head": 0, "op": "mean"}], {}),
        "decoder_patched_residual": (
            [{"hook": "decoder.1.hook_resid_pre", "pos": [0, 4], "op": "replace", "value": "patch"}],
            {"patch": other["decoder.1.hook_resid_pre"][:, [0, 4]]}),
        "decoder_identity_pattern": (
            [{"hook": "decoder.0.attn.hook_pattern", "head": 2, "op": "replace", "value": "pattern"}],
            {"pattern": torch.eye(length)}),
        "cross_uniform_pattern": (
            [{"hook": "decoder.0.cross_attn.hook_pattern", "head": 1, "op": "replace", "value": 1.0 / source}], {}),
        "decoder_scaled_neurons": (
            [{"hook": "decoder.1.mlp.hook_post", "pos": [2, 3], "op": "scale", "value": -2.0}], {}),
        "decoder_steered": (
            [{"hook": "decoder.0.hook_resid_post", "pos": -3, "op": "add", "value": "direction"}],
            {"direction": normal(f"hooks/{name}/decoder_direction", (width,), 2.0).float()}),
        "both_towers": (
            [{"hook": "encoder.1.hook_normalized_resid_post", "pos": 3, "op": "zero"},
             {"hook": "decoder.0.hook_cross_attn_out", "op": "scale", "value": 2.0}], {}),
    }


def edit_cases(name, values, other):
    """{case: (edits, tensors)}; `values` are those of the hook points, `other` those for another prompt."""
    if "decoder.0.hook_resid_pre" not in values:
        return _of_blocks(name, "blocks.", values, other)
    return _of_blocks(name, "encoder.", values, other) | _of_decoder(name, values, other)
