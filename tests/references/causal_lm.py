"""Runs of a transformers causal language model: float32, float64, greedy text, and every intermediate value."""

import copy

import torch
from transformers import GenerationConfig
from transformers.models.llama import modeling_llama

from common import float64_everywhere, largest_difference


def double_of(model):
    """The same model in float64, including what transformers computes in float32 otherwise."""
    config = copy.deepcopy(model.config)
    with float64_everywhere():
        double = type(model)(config).double().eval()
        double.load_state_dict(model.state_dict())
    double.config._attn_implementation = model.config._attn_implementation
    return double


def forward(model, input_ids, **inputs):
    """logits, hidden_states.i (L + 1 of them) and attentions.i."""
    out = model(input_ids=input_ids, output_hidden_states=True, output_attentions=True, use_cache=False, **inputs)
    named = {"logits": out.logits}
    named |= {f"hidden_states.{i}": value for i, value in enumerate(out.hidden_states)}
    return named | {f"attentions.{i}": value for i, value in enumerate(out.attentions)}


def forward_twice(model, input_ids, **inputs):
    """The outputs in float32, and their difference to the float64 run."""
    single = forward(model, input_ids, **inputs)
    double_model = double_of(model)
    with float64_everywhere():
        double = forward(double_model, input_ids, **inputs)
    return single, {key: largest_difference(single[key], double[key]) for key in single}


def greedy(model, input_ids, count, attention_mask=None, pad_token_id=0):
    """transformers' generate() without early stopping: (new ids, logits of the last step, smallest top-1 margin)."""
    model.generation_config.eos_token_id = None
    settings = dict(
        do_sample=False, max_new_tokens=count, eos_token_id=None, pad_token_id=pad_token_id,
        return_dict_in_generate=True, output_logits=True,
    )
    mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
    out = model.generate(input_ids, attention_mask=mask, generation_config=GenerationConfig(**settings))
    new = out.sequences[:, input_ids.shape[1]:]
    assert new.shape[1] == count
    config = GenerationConfig(**settings, use_cache=False)
    uncached = model.generate(input_ids, attention_mask=mask, generation_config=config)
    assert torch.equal(uncached.sequences, out.sequences)
    best = torch.stack(out.logits).topk(2).values
    return new, out.logits[-1], float((best[..., 0] - best[..., 1]).min())


class _Record:
    def __init__(self):
        self.values = {}

    def output(self, name, shape=None):
        def hook(module, args, result):
            value = result[0] if isinstance(result, tuple) else result
            self.values[name] = value.unflatten(-1, shape) if shape else value
        return hook

    def input(self, name, shape=None):
        def hook(module, args, kwargs=None):
            value = args[0] if args else kwargs["hidden_states"]
            self.values[name] = value.unflatten(-1, shape) if shape else value
        return hook

    def norm(self, name):
        """TransformerLens splits x * rsqrt(mean(x^2) + eps) * w: scale is the divisor, normalized excludes the weight."""
        def hook(module, args, result):
            scale = (args[0].pow(2).mean(-1, keepdim=True) + module.variance_epsilon).sqrt()
            self.values[f"{name}.hook_scale"] = scale
            self.values[f"{name}.hook_normalized"] = args[0] / scale
        return hook


def _watch_attention(record):
    def attention(module, query, key, value, attention_mask, scaling, **_):
        name = f"blocks.{module.layer_idx}.attn"
        groups = module.num_key_value_groups
        keys, values = (x.repeat_interleave(groups, dim=1) for x in (key, value))
        raw = query @ keys.transpose(2, 3) * scaling
        scores = raw.masked_fill(attention_mask < 0, float("-inf"))
        pattern = scores.softmax(-1)
        z = (pattern @ values).transpose(1, 2).contiguous()
        record.values |= {
            f"{name}.hook_rot_q": query.transpose(1, 2), f"{name}.hook_rot_k": key.transpose(1, 2),
            f"{name}.hook_attn_scores_raw": raw, f"{name}.hook_attn_scores": scores,
            f"{name}.hook_pattern": pattern, f"{name}.hook_z": z,
        }
        return z, pattern
    return attention


def _watch_block(record, block, index, handles):
    name, attention, mlp = f"blocks.{index}", block.self_attn, block.mlp
    heads = (-1, attention.head_dim)
    after = [
        (attention.q_proj, record.output(f"{name}.attn.hook_q", heads)),
        (attention.k_proj, record.output(f"{name}.attn.hook_k", heads)),
        (attention.v_proj, record.output(f"{name}.attn.hook_v", heads)),
        (attention, record.output(f"{name}.hook_attn_out")),
        (mlp.gate_proj, record.output(f"{name}.mlp.hook_pre")),
        (mlp.up_proj, record.output(f"{name}.mlp.hook_pre_linear")),
        (mlp, record.output(f"{name}.hook_mlp_out")),
        (block, record.output(f"{name}.hook_resid_post")),
        (block.input_layernorm, record.norm(f"{name}.ln1")),
        (block.post_attention_layernorm, record.norm(f"{name}.ln2")),
    ]
    before = [
        (block, record.input(f"{name}.hook_resid_pre")),
        (block.post_attention_layernorm, record.input(f"{name}.hook_resid_mid")),
        (mlp.down_proj, record.input(f"{name}.mlp.hook_post")),
    ]
    handles += [module.register_forward_hook(hook) for module, hook in after]
    handles += [module.register_forward_pre_hook(hook, with_kwargs=True) for module, hook in before]


def llama_internals(model, input_ids, **inputs):
    """Every value of a Llama forward pass under TransformerLens' hook names."""
    record, handles = _Record(), []
    handles.append(model.model.embed_tokens.register_forward_hook(record.output("hook_embed")))
    handles.append(model.model.norm.register_forward_hook(record.norm("ln_final")))
    for index, block in enumerate(model.model.layers):
        _watch_block(record, block, index, handles)
    original = modeling_llama.eager_attention_forward
    modeling_llama.eager_attention_forward = _watch_attention(record)
    try:
        model(input_ids=input_ids, use_cache=False, **inputs)
    finally:
        modeling_llama.eager_attention_forward = original
        for handle in handles:
            handle.remove()
    return record.values


def llama_internals_twice(model, input_ids, **inputs):
    single = llama_internals(model, input_ids, **inputs)
    double_model = double_of(model)
    with float64_everywhere():
        double = llama_internals(double_model, input_ids, **inputs)
    return single, {key: largest_difference(single[key], double[key]) for key in single}
