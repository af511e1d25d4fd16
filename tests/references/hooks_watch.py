"""Reads and edits the values of a running transformers model at places named as in TransformerLens."""

import contextlib
import sys

import torch


class Watch:
    """The values of one forward pass by name; `edits` maps a name to the function that computes its new value."""

    def __init__(self, edits=None):
        self.values = {}
        self.edits = edits or {}
        self.attentions = {}  # the name of each attention module, by its id
        self.handles = []
        self.rows = None  # (B, T) of the last block's input

    def visit(self, name, value):
        if self.rows is not None and value.dim() == 2 and value.shape[0] == self.rows.numel():
            return self.visit(name, value.unflatten(0, self.rows)).flatten(0, 1)  # OPT's blocks join these axes
        if name.endswith("hook_resid_pre"):
            self.rows = value.shape[:2]
        if name in self.edits:
            value = self.edits[name](value)
        if name in self.values:
            raise ValueError(f"{name} is visited twice")
        self.values[name] = value.clone()
        return value

    def only_read(self, name, value):
        """A value whose edit here would have no effect, since the model does not use this copy."""
        if name in self.edits:
            raise ValueError(f"{name} cannot be edited from outside")
        self.visit(name, value)

    def output(self, module, name, last=None, read=False):
        """A module's output (the first of a tuple); `last` splits the last axis into these two."""
        def hook(module, args, result):
            first = result[0] if isinstance(result, tuple) else result
            new = self._split_visit(name, first, last, read)
            return (new, *result[1:]) if isinstance(result, tuple) else new
        self.handles.append(module.register_forward_hook(hook))

    def input(self, module, name, last=None, read=False):
        """A module's input, positional or as hidden_states."""
        def hook(module, args, kwargs):
            if args:
                return (self._split_visit(name, args[0], last, read), *args[1:]), kwargs
            return args, kwargs | {"hidden_states": self._split_visit(name, kwargs["hidden_states"], last, read)}
        self.handles.append(module.register_forward_pre_hook(hook, with_kwargs=True))

    def stacked(self, module, names, widths, last=None):
        """A projection with several stacked outputs."""
        def hook(module, args, result):
            parts = result.split(widths, dim=-1)
            return torch.cat([self._split_visit(name, part, last, False)
                              for name, part in zip(names, parts, strict=True)], dim=-1)
        self.handles.append(module.register_forward_hook(hook))

    def stacked_by_head(self, module, names, d_head):
        """The same, stacked head by head: (B, T, H·3·d)."""
        def hook(module, args, result):
            parts = result.unflatten(-1, (-1, len(names), d_head)).unbind(-2)
            return torch.stack([self.visit(name, part) for name, part in zip(names, parts, strict=True)], dim=-2).flatten(-3)
        self.handles.append(module.register_forward_hook(hook))

    def norm(self, module, name, heads_first=False):
        """TransformerLens splits a norm: the divisor and the quotient; weight and bias are applied after them."""
        def hook(module, args, result):
            x = args[0].transpose(1, 2) if heads_first else args[0]
            layer = isinstance(module, torch.nn.LayerNorm)
            centred = x - x.mean(-1, keepdim=True) if layer else x
            eps = module.variance_epsilon if hasattr(module, "variance_epsilon") else module.eps
            scale = (centred.pow(2).mean(-1, keepdim=True) + eps).sqrt()
            self.only_read(f"{name}.hook_scale", scale)
            self.only_read(f"{name}.hook_normalized", centred / scale)
        self.handles.append(module.register_forward_hook(hook))

    def _split_visit(self, name, value, last, read):
        split = value.unflatten(-1, last) if last else value
        new = split if read else self.visit(name, split)
        if read:
            self.only_read(name, split)
        return new.flatten(-2) if last else new

    @contextlib.contextmanager
    def around(self, model):
        """While the model runs, its module's eager attention is replaced, and hooks are attached; both end with it."""
        file = sys.modules[type(model).__module__]
        original = getattr(file, "eager_attention_forward", None)
        if original is not None:
            file.eager_attention_forward = self._attention
        try:
            yield self
        finally:
            if original is not None:
                file.eager_attention_forward = original
            for handle in self.handles:
                handle.remove()

    def _attention(self, module, query, key, value, attention_mask, scaling=None, softcap=None, **_):
        """transformers' eager attention, step by step; masked scores are -inf instead of the dtype's minimum."""
        name, turned = self.attentions[id(module)]
        if turned:
            query = self.visit(f"{name}.hook_rot_q", query.transpose(1, 2)).transpose(1, 2)
            key = self.visit(f"{name}.hook_rot_k", key.transpose(1, 2)).transpose(1, 2)
        groups = query.shape[1] // key.shape[1]
        key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
        raw = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
        pattern = self.weigh(name, raw, attention_mask, softcap)
        return (pattern @ value).transpose(1, 2).contiguous(), pattern

    def weigh(self, name, raw, bias, softcap=None, read=False):
        """Scores to pattern; `bias` is added by the model, with the dtype's minimum where a key is masked. `read`: the model
        computes its own, of which these are a copy."""
        def visit(name, value):
            if read:
                self.only_read(name, value)
            return value if read else self.visit(name, value)

        scores = visit(f"{name}.hook_attn_scores_raw", raw)
        if softcap is not None:
            scores = visit(f"{name}.hook_attn_scores_softcapped", torch.tanh(scores / softcap) * softcap)
        least = torch.finfo(raw.dtype).min
        if bias is not None:
            scores = (scores + bias).masked_fill(bias <= least / 2, float("-inf"))
        scores = visit(f"{name}.hook_attn_scores", scores)
        # A fully masked row: transformers' own result, instead of NaN for -inf throughout.
        return visit(f"{name}.hook_pattern", scores.clamp(min=least).softmax(-1))
