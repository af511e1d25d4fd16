"""Attaches a Watch to a transformers model: every hook point of the layouts, under our names."""

import math
import types

import torch

from hooks_layouts import HEADS, LAYOUTS, POOLED


def _heads(attention, config):
    """(heads, key/value heads, size of a head) of an attention module, under its various names."""
    heads = next(getattr(holder, key) for holder in (attention, config)
                 for key in ("num_heads", "num_attention_heads", "n_heads") if getattr(holder, key, None))
    groups = getattr(config, "num_key_value_heads", None) or heads
    sizes = ("head_dim", "head_size", "attention_head_size", "key_value_proj_dim")
    return heads, groups, next(getattr(attention, key) for key in sizes if hasattr(attention, key))


def _watch_projections(watch, attention, name, block, sizes):
    heads, groups, d_head = sizes
    names = [f"{name}.hook_{part}" for part in "qkv"]
    if block.gated_attention:
        watch.stacked_by_head(attention.get_submodule(block.q), [names[0], f"{name}.hook_gate"], d_head)
        for hook, path in zip(names[1:], (block.k, block.v), strict=True):
            watch.output(attention.get_submodule(path), hook, (-1, d_head))
    elif block.stacked_by_head:
        watch.stacked_by_head(attention.get_submodule(block.stacked), names, d_head)
    elif block.stacked:
        widths = [heads * d_head, groups * d_head, groups * d_head]
        watch.stacked(attention.get_submodule(block.stacked), names, widths, (-1, d_head))
    else:
        for hook, path in zip(names, (block.q, block.k, block.v), strict=True):
            watch.output(attention.get_submodule(path), hook, (-1, d_head))
    for part, path in zip("qk", block.head_norms):
        watch.norm(attention.get_submodule(path), f"{name}.{part}_norm", block.norms_heads_first)


def _watch_scores_inside(watch, attention, name):
    """T5 computes its pattern in forward(): recomputed from its queries, keys and the bias it returns."""
    def hook(module, args, result):
        query, key = (watch.values[f"{name}.hook_{part}"].transpose(1, 2) for part in "qk")
        watch.weigh(name, query @ key.transpose(2, 3), result[1], read=True)
    watch.handles.append(attention.register_forward_hook(hook))


def _watch_disentangled(watch, attention, name):
    """DeBERTa's scores in forward(): recomputed from queries and keys, with its own method for each of the two terms."""
    def hook(module, args, kwargs, result):
        query, key = (watch.values[f"{name}.hook_{part}"].transpose(1, 2) for part in "qk")
        kinds, parts = module.pos_att_type, []
        scale = 1 + len(kinds)
        raw = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1] * scale)
        try:
            for kind in kinds:
                module.pos_att_type = [kind]
                parts.append(module.disentangled_attention_bias(
                    query.flatten(0, 1), key.flatten(0, 1), kwargs["relative_pos"], kwargs["rel_embeddings"], scale).view(raw.shape))
        finally:
            module.pos_att_type = kinds
        for kind, part in zip(kinds, parts, strict=True):
            watch.only_read(f"{name}.hook_attn_scores_{kind}", part)
        watch.weigh(name, raw, sum(parts).masked_fill(~args[1].bool(), torch.finfo(raw.dtype).min), read=True)
    watch.handles.append(attention.register_forward_hook(hook, with_kwargs=True))


def _watch_bloom_scores(watch, attention, name):
    """So does BLOOM, with ALiBi (B·H, 1, S) and a mask as arguments."""
    def hook(module, args, given, result):
        query, key = (watch.values[f"{name}.hook_{part}"].transpose(1, 2) for part in "qk")
        bias = given["alibi"].unflatten(0, (query.shape[0], -1))
        if given["attention_mask"] is not None:
            bias = bias + given["attention_mask"]
        watch.weigh(name, query @ key.transpose(2, 3) * module.inv_norm_factor, bias, read=True)
    watch.handles.append(attention.register_forward_hook(hook, with_kwargs=True))


def _watch_attention(watch, block_module, scope, path, update, block, config):
    """One attention and, as `update`, its contribution to the residual stream. Returns the output projection."""
    attention = block_module.get_submodule(path)
    sizes = _heads(attention, config)
    _watch_projections(watch, attention, scope, block, sizes)
    watch.attentions[id(attention)] = (scope, block.rotary)
    if type(attention).__name__ == "T5Attention":
        _watch_scores_inside(watch, attention, scope)
    if type(attention).__name__ == "DisentangledSelfAttention":
        _watch_disentangled(watch, attention, scope)
    if type(attention).__name__ == "BloomAttention":
        _watch_bloom_scores(watch, attention, scope)
    output = (block_module.get_submodule(block.o[1:]) if block.o.startswith("/") else attention.get_submodule(block.o))
    watch.input(output, f"{scope}.hook_z", (-1, sizes[2]))
    if block.scale1:
        watch.output(block_module.get_submodule(block.scale1), update)
    elif not block.ln1_post:
        watch.output(output, update)


def _watch_convolution(watch, module, scope, update):
    """B, C and x are one projection; the convolution has the channels first, and some positions more at the end."""
    watch.stacked(module.in_proj, [f"{scope}.hook_{part}" for part in "bcx"], [module.in_proj.in_features] * 3)

    def convolved(conv, args, result):
        length = args[0].shape[-1]
        value = watch.visit(f"{scope}.hook_conv", result[..., :length].transpose(1, 2))
        return torch.cat([value.transpose(1, 2), result[..., length:]], dim=-1)
    watch.handles.append(module.conv.register_forward_hook(convolved))
    watch.output(module.out_proj, update)


def _watch_delta_rule(watch, module, scope, update):
    """Of the function that computes it: heads of keys are repeated for those of values, and the decay is a logarithm."""
    rule, repeats = module.chunk_gated_delta_rule, module.num_v_heads // module.num_k_heads

    def watched(query, key, value, g, beta, output_final_state, **how):
        query, key = (watch.visit(f"{scope}.hook_{part}", x[:, :, ::repeats]).repeat_interleave(repeats, dim=2)
                      for part, x in zip("qk", (query, key), strict=True))
        value, beta = watch.visit(f"{scope}.hook_v", value), watch.visit(f"{scope}.hook_beta", beta)
        decay = watch.visit(f"{scope}.hook_decay", g.exp())
        if f"{scope}.hook_decay" in watch.edits:
            g = decay.log()
        result, state = rule(query, key, value, g=g, beta=beta, output_final_state=True, **how)
        watch.only_read(f"{scope}.hook_state", state)
        result = watch.visit(f"{scope}.hook_o", result)
        scale = (result.pow(2).mean(-1, keepdim=True) + module.norm.variance_epsilon).sqrt()
        watch.only_read(f"{scope}.norm.hook_scale", scale)
        watch.only_read(f"{scope}.norm.hook_normalized", result / scale)
        return result, state if output_final_state else None
    module.chunk_gated_delta_rule = watched
    watch.handles.append(types.SimpleNamespace(remove=lambda: setattr(module, "chunk_gated_delta_rule", rule)))
    watch.output(module.in_proj_z, f"{scope}.hook_gate", (-1, module.head_v_dim))
    watch.input(module.out_proj, f"{scope}.hook_z", (-1, module.head_v_dim))
    watch.output(module.out_proj, update)


def _watch_experts(watch, module, name, block):
    """The router returns the logits, the weights of the chosen experts and which they are."""
    def hook(router, args, result):
        logits, chosen, indices = result
        rows = watch.values[f"{name}.hook_resid_pre"].shape[:2]
        for what, value in (("router_logits", logits), ("expert_weights", torch.zeros_like(logits).scatter(-1, indices, chosen))):
            watch.only_read(f"{name}.mlp.hook_{what}", value.unflatten(0, rows))
    watch.handles.append(module.get_submodule(block.router).register_forward_hook(hook))
    watch.output(module.get_submodule(block.down), f"{name}.hook_mlp_out")


def _watch_feed_forward(watch, module, name, block):
    """mlp.hook_pre is the activation's input, mlp.hook_pre_linear the factor of a gated one."""
    if block.router:
        return _watch_experts(watch, module, name, block)
    hidden = [f"{name}.mlp.hook_pre", f"{name}.mlp.hook_pre_linear"]
    if block.gated:
        both = module.get_submodule(block.gated)
        watch.stacked(both, hidden, [both.out_features // 2] * 2)
    else:
        for hook, path in zip(hidden, (path for path in (block.gate, block.up) if path)):
            watch.output(module.get_submodule(path), hook)
    watch.input(module.get_submodule(block.down), f"{name}.mlp.hook_post")
    if block.scale2:
        watch.output(module.get_submodule(block.scale2), f"{name}.hook_mlp_out")
    elif not block.ln2_post:
        watch.output(module.get_submodule(block.down), f"{name}.hook_mlp_out")


def _watch_sums(watch, module, name, block):
    """The residual stream. In a pre-norm block it cannot be edited: the residual connection bypasses the hook."""
    post = block.order == "post"
    sums = ["hook_resid_mid", "hook_resid_mid_cross"] if block.cross else ["hook_resid_mid"]
    norms = [block.ln1, block.ln2, block.ln3] if block.cross else [block.ln1, block.ln2]
    watch.input(module, f"{name}.hook_resid_pre")
    if block.order == "parallel":
        watch.output(module, f"{name}.hook_resid_post")
    elif post:
        for norm, total in zip(norms, [*sums, "hook_resid_post"], strict=True):
            watch.input(module.get_submodule(norm), f"{name}.{total}")
        watch.output(module, f"{name}.hook_normalized_resid_post")
    else:
        for norm, total in zip(norms[1:], sums, strict=True):
            watch.input(module.get_submodule(norm or block.middle), f"{name}.{total}", read=True)
        watch.output(module, f"{name}.hook_resid_post")


def _watch_block(watch, module, name, block, config):
    _watch_sums(watch, module, name, block)
    if block.conv and hasattr(module, block.conv):
        _watch_convolution(watch, module.get_submodule(block.conv), f"{name}.conv", f"{name}.hook_attn_out")
    elif block.delta and hasattr(module, block.delta):
        _watch_delta_rule(watch, module.get_submodule(block.delta), f"{name}.delta", f"{name}.hook_attn_out")
    else:
        _watch_attention(watch, module, f"{name}.attn", block.attn, f"{name}.hook_attn_out", block, config)
    if block.cross:
        _watch_attention(watch, module, f"{name}.cross_attn", block.cross, f"{name}.hook_cross_attn_out", block, config)
    _watch_feed_forward(watch, module, name, block)
    for norm in ("ln1", "ln2", "ln3"):
        path = getattr(block, norm)
        if path and not isinstance(module.get_submodule(path), torch.nn.Identity):
            watch.norm(module.get_submodule(path), f"{name}.{norm}")
    for norm, update in (("ln1_post", "hook_attn_out"), ("ln2_post", "hook_mlp_out")):
        if getattr(block, norm):
            watch.norm(module.get_submodule(getattr(block, norm)), f"{name}.{norm}")
            watch.output(module.get_submodule(getattr(block, norm)), f"{name}.{update}")


def _watch_pooling_head(watch, head, scope):
    """Attention pooling: torch's own module, whose values are recomputed from its inputs."""
    attention = head.attention

    def hook(module, args, result):
        heads = (attention.num_heads, attention.head_dim)
        projected = zip(args, attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3), strict=True)
        query, key, value = (torch.nn.functional.linear(*parts).unflatten(-1, heads) for parts in projected)
        for part, tensor in zip("qkv", (query, key, value), strict=True):
            watch.only_read(f"{scope}.attn.hook_{part}", tensor)
        scores = torch.einsum("bthd,bshd->bhts", query, key) / heads[1] ** 0.5
        pattern = scores.softmax(-1)
        for name in ("scores_raw", "scores"):
            watch.only_read(f"{scope}.attn.hook_attn_{name}", scores)
        watch.only_read(f"{scope}.attn.hook_pattern", pattern)
        watch.only_read(f"{scope}.attn.hook_z", torch.einsum("bhts,bshd->bthd", pattern, value))
        watch.only_read(f"{scope}.hook_attn_out", result[0])
    watch.handles.append(attention.register_forward_hook(hook))
    watch.norm(head.layernorm, f"{scope}.ln2")
    watch.output(head.mlp.fc1, f"{scope}.mlp.hook_pre")
    watch.input(head.mlp.fc2, f"{scope}.mlp.hook_post")
    watch.output(head.mlp.fc2, f"{scope}.hook_mlp_out")

    def after(module, args, result):
        watch.only_read(f"{scope}.hook_resid_post", result[:, None])
        watch.only_read(f"{scope}.hook_pooler_out", result)
    watch.handles.append(head.register_forward_hook(after))


def _watch_patches(watch, embeddings, scope):
    """Tokens precede the patches; they and the positions are parameters. Registers have no position; DINOv3 has none at all."""
    clip, rotary = not hasattr(embeddings, "cls_token"), hasattr(embeddings, "cls_token") and not hasattr(embeddings, "position_embeddings")
    positions = torch.zeros(1, 1, 0) if rotary else embeddings.position_embedding.weight[None] if clip else embeddings.position_embeddings
    token = positions[:, :0]
    if not clip:
        token = embeddings.cls_token
    elif hasattr(embeddings, "class_embedding"):
        token = embeddings.class_embedding[None, None]
    if hasattr(embeddings, "distillation_token"):
        token = torch.cat([token, embeddings.distillation_token], dim=1)
    registers = getattr(embeddings, "register_tokens", None)
    if registers is not None:
        token = torch.cat([token, registers], dim=1)
    if registers is not None and not rotary:
        positions = torch.cat([positions[:, :1], torch.zeros_like(registers), positions[:, 1:]], dim=1)

    def hook(module, args, result):
        patches = result.flatten(2).transpose(1, 2) if result.dim() == 4 else result
        watch.only_read(f"{scope}hook_embed", torch.cat([token.expand(len(patches), -1, -1), patches], dim=1))
        if not rotary:
            watch.only_read(f"{scope}hook_pos_embed", positions)
    watch.handles.append((embeddings.patch_embedding if clip else embeddings.patch_embeddings).register_forward_hook(hook))


def _watch_audio(watch, encoder, scope):
    """Channels first in transformers; activations and positions are in forward() itself."""
    def between(module, args):
        watch.only_read(f"{scope}hook_conv1", args[0].transpose(1, 2))

    def after(module, args, result):
        watch.only_read(f"{scope}hook_embed", torch.nn.functional.gelu(result).transpose(1, 2))

    def positions(module, args, result):
        watch.only_read(f"{scope}hook_pos_embed", result[None])
    watch.handles += [encoder.conv2.register_forward_pre_hook(between), encoder.conv2.register_forward_hook(after),
                      encoder.embed_positions.register_forward_hook(positions)]


def _watch_positions(watch, module, scope):
    """Position vectors, (T, D) or (1, T, D), as broadcast to every sequence."""
    def hook(module, args, result):
        embedded = watch.values.get(f"{scope}hook_embed", result)  # OPT embeds positions first
        watch.only_read(f"{scope}hook_pos_embed", result.expand(embedded.shape))
    watch.handles.append(module.register_forward_hook(hook))


def _watch_scaled_words(watch, embeddings, scope):
    """ESM scales the words' rows in forward(): what its norm is given without the positions."""
    def hook(module, args):
        watch.only_read(f"{scope}hook_embed", args[0] - watch.values[f"{scope}hook_pos_embed"])
    watch.handles.append(embeddings.layer_norm.register_forward_pre_hook(hook))


def _watch_embedding(watch, base, tower, first_block):
    if tower.patches:
        _watch_patches(watch, base.get_submodule(tower.patches), tower.scope)
    elif tower.audio:
        _watch_audio(watch, base.get_submodule(tower.audio), tower.scope)
    elif tower.embed == "embeddings":
        _watch_scaled_words(watch, base.embeddings, tower.scope)
    elif tower.embed:
        watch.output(base.get_submodule(tower.embed), f"{tower.scope}hook_embed")
    else:
        watch.input(first_block, f"{tower.scope}hook_embed")
    if tower.positions and not tower.audio:
        _watch_positions(watch, base.get_submodule(tower.positions), tower.scope)
    if tower.types:
        watch.output(base.get_submodule(tower.types), f"{tower.scope}hook_token_type_embed")
    if tower.embed_norm:
        watch.norm(base.get_submodule(tower.embed_norm), f"{tower.scope}embed.ln")
    if tower.patches or tower.positions or tower.embed_norm:
        watch.input(first_block, f"{tower.scope}hook_full_embed")


def attach(watch, model):
    """Every hook point of `model`."""
    config = model.config
    base = model if config.model_type == "dinov3_vit" else getattr(model, model.base_model_prefix, model)
    for tower in LAYOUTS[config.model_type](config):
        blocks = base.get_submodule(tower.blocks)
        _watch_embedding(watch, base, tower, blocks[0])
        for index, module in enumerate(blocks):
            _watch_block(watch, module, f"{tower.scope}{tower.name}{index}", tower.block, config)
        if tower.final_norm:
            final = base.get_submodule(tower.final_norm)
            watch.norm(final, f"{tower.scope}ln_final")
            watch.output(final, f"{tower.scope}ln_final.hook_out")
        if tower.projection:
            watch.output(base.get_submodule(tower.projection), f"{tower.scope}project_out.hook_out")
    if config.model_type == "siglip":
        _watch_pooling_head(watch, model.vision_model.head, "vision_model.pooler")
    if config.model_type.startswith("dino") and base is model:
        watch.handles.append(getattr(base, "layernorm", getattr(base, "norm", None)).register_forward_hook(
            lambda module, args, result: watch.only_read("pooler.hook_pooler_out", result[:, 0])))
    if base is model and getattr(base, "pooler", None) is not None:
        watch.output(base.pooler, "pooler.hook_pooler_out")
    for name, path in POOLED.get(config.model_type, {}).items():
        if any(path == known for known, _ in model.named_modules()):
            watch.input(model.get_submodule(path), f"{name}.hook_pooler_out")
    for name, path in HEADS.get(config.model_type, {}).items():
        if any(path == known for known, _ in model.named_modules()):
            watch.norm(model.get_submodule(path), name)
