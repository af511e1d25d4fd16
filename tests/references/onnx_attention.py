"""ONNX's Attention as currently defined (opsets 23 and 24 with their errata), in plain PyTorch.

onnx 1.20's evaluator implements the first version of the definition, which was changed in place: softcap now precedes the
mask; qk_matmul_output_mode 1 and 2 were swapped; a fully masked row gives 0, not NaN; with
nonpad_kv_seqlen the causal diagonal ends at the last valid key; a boolean mask may be combined with is_causal.
`differences` lists those that a case would show, so that all others are checked against the evaluator.
"""

import math

import torch


def split_heads(x, heads):
    """(B, T, H d) -> (B, H, T, d)"""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def additive(mask, length, dtype):
    """A float bias from a boolean (1 = attend) or float mask, shorter masks padded with -inf."""
    if mask.dtype is torch.bool:
        mask = torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, -math.inf)
    return torch.nn.functional.pad(mask, (0, length - mask.shape[-1]), value=-math.inf)


def bias_of(query, key, attn_mask, past, nonpad, is_causal):
    """(…, T, S): the sum of mask, causal mask and padding."""
    rows, columns = query.shape[-2], key.shape[-2]
    bias = torch.zeros(rows, columns, dtype=query.dtype)
    if attn_mask is not None:
        bias = bias + additive(attn_mask, columns, query.dtype)
    keys = torch.arange(columns)
    if is_causal:
        offset = torch.tensor(past) if nonpad is None else (nonpad - rows)[:, None, None, None]
        bias = bias.masked_fill(keys > torch.arange(rows)[:, None] + offset, -math.inf)
    if nonpad is not None:
        bias = bias.masked_fill(keys >= nonpad[:, None, None, None], -math.inf)
    return bias


def attention(Q, K, V, attn_mask=None, past_key=None, past_value=None, nonpad_kv_seqlen=None, *, is_causal=0, scale=None,
              softcap=0.0, q_num_heads=None, kv_num_heads=None, qk_matmul_output_mode=0, softmax_precision=None):
    """softmax_precision requests a precision; with float32 inputs it changes nothing that a float32 test could detect."""
    three = Q.dim() == 3
    if three:
        Q, K, V = split_heads(Q, q_num_heads), split_heads(K, kv_num_heads), split_heads(V, kv_num_heads)
    past = 0 if past_key is None else past_key.shape[2]
    if past_key is not None:
        K, V = torch.cat([past_key, K], 2), torch.cat([past_value, V], 2)
    groups = Q.shape[1] // K.shape[1]
    keys, values = K.repeat_interleave(groups, 1), V.repeat_interleave(groups, 1)
    raw = Q @ keys.transpose(-2, -1) * (1 / math.sqrt(Q.shape[-1]) if scale is None else scale)
    capped = softcap * torch.tanh(raw / softcap) if softcap else raw
    bias = bias_of(Q, K, attn_mask, past, nonpad_kv_seqlen, is_causal)
    masked = capped + bias
    empty = (bias == -math.inf).all(-1, keepdim=True)
    weights = masked.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)
    output = weights @ values
    if three:
        output = output.transpose(1, 2).flatten(2)
    stages = (raw, capped, masked, weights)
    return {"Y": output, "present_key": K, "present_value": V, "qk_matmul_output": stages[qk_matmul_output_mode]}


def differences(inputs, options):
    """Where onnx 1.20.1's evaluator is known to differ."""
    found, mask = [], inputs.get("attn_mask")
    masked = mask is not None or options.get("is_causal") or "nonpad_kv_seqlen" in inputs
    if options.get("softcap") and masked:
        found.append("softcap before the mask")
    if options.get("qk_matmul_output_mode") in (1, 2):
        found.append("qk_matmul_output_mode 1 and 2")
    if mask is not None and mask.dtype is torch.bool and options.get("is_causal"):
        found.append("boolean mask with is_causal")
    if "nonpad_kv_seqlen" in inputs and inputs["Q"].shape[0] > 1:
        found.append("nonpad_kv_seqlen cannot be broadcast over a batch")
    if options.get("is_causal") and "nonpad_kv_seqlen" in inputs:
        found.append("causal alignment with nonpad_kv_seqlen")
    return found
