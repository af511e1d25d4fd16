"""Attributions by float64 autograd in tests/fixtures/induction/model: patches, edges, integrated gradients, saliency, rollout."""

import math
import os

import torch
from transformers import GPT2LMHeadModel

from common import Group, arguments, random_state
from models_common import double_of, load_checkpoint

CHECKPOINT = "model"
PERIOD, LENGTH = 9, 24


def prompts(vocabulary):
    """Repeated tokens; in the corrupted prompt the token that induction would copy is another one. Both (1, T)."""
    block = [int(token) for token in 1 + random_state("attribution").permutation(vocabulary - 1)[:PERIOD + 1]]
    clean = [0, *(block[i % PERIOD] for i in range(LENGTH - 1))]
    copied = 1 + (LENGTH - 1) % PERIOD  # follows the first occurrence of the last token
    corrupted = list(clean)
    corrupted[copied] = corrupted[copied + PERIOD] = block[PERIOD]
    return torch.tensor([clean]), torch.tensor([corrupted]), clean[copied], block[PERIOD]


def per_head(weight, heads):
    """(D, H·d) -> (H, D, d), GPT-2's Conv1D."""
    return weight.reshape(weight.shape[0], heads, -1).permute(1, 0, 2)


class Split:
    """GPT-2 with a copy of the residual stream for every input of a head and of a feed-forward network."""

    def __init__(self, model):
        self.model = model
        self.heads = model.config.n_head

    def attend(self, layer, x, found):
        block = self.model.transformer.h[layer]
        heads, width = self.heads, x.shape[-1]
        weights = block.attn.c_attn.weight.split(width, dim=1)
        biases = block.attn.c_attn.bias.split(width)
        parts = []
        for name, weight, bias in zip("qkv", weights, biases):
            own = x[:, :, None].expand(-1, -1, heads, -1).clone()
            found[f"blocks.{layer}.hook_{name}_input"] = own
            parts.append(torch.einsum("bthi,hid->bthd", block.ln_1(own), per_head(weight, heads)) + bias.reshape(heads, -1))
        q, k, v = parts
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        pattern = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        found[f"blocks.{layer}.attn.hook_pattern"] = pattern
        z = torch.einsum("bhqk,bkhd->bqhd", pattern, v)
        found[f"blocks.{layer}.attn.hook_z"] = z
        result = torch.einsum("bqhd,hdo->bqho", z, block.attn.c_proj.weight.reshape(heads, -1, width))
        found[f"blocks.{layer}.attn.hook_result"] = result
        return result.sum(2) + block.attn.c_proj.bias

    def forward(self, ids, *, embed=None, residual=None):
        trunk = self.model.transformer
        found = {"hook_embed": trunk.wte(ids).detach() if embed is None else embed}
        if residual is None:
            found["hook_embed"].requires_grad_()
            residual = found["hook_embed"] + trunk.wpe(torch.arange(ids.shape[1]))
        x = residual
        for layer, block in enumerate(trunk.h):
            found[f"blocks.{layer}.hook_resid_pre"] = x
            x = x + self.attend(layer, x, found)
            own = x.clone()
            found[f"blocks.{layer}.hook_mlp_in"] = own
            out = block.mlp(block.ln_2(own))
            found[f"blocks.{layer}.hook_mlp_out"] = out
            x = x + out
            found[f"blocks.{layer}.hook_resid_post"] = x
        return self.model.lm_head(trunk.ln_f(x)), found


def metric_of(logits, right, wrong):
    return logits[0, -1, right] - logits[0, -1, wrong]


def run(split, ids, right, wrong, **given):
    """(metric, activations, gradients)"""
    with torch.enable_grad():
        logits, found = split.forward(ids, **given)
        metric = metric_of(logits, right, wrong)
        names = [name for name, value in found.items() if value.requires_grad]
        gradients = torch.autograd.grad(metric, [found[name] for name in names], allow_unused=True)
    gradients = {name: torch.zeros_like(found[name]) if gradient is None else gradient
                 for name, gradient in zip(names, gradients)}
    return metric.detach(), {name: value.detach() for name, value in found.items()}, gradients


def edge_scores(config, differences, gradients):
    """(writer, reader), 0 where there is no edge: the writers' differences times the gradients at the readers' inputs."""
    writers, readers = [(0, differences["blocks.0.hook_resid_pre"])], []
    for layer in range(config.n_layer):
        results = differences[f"blocks.{layer}.attn.hook_result"]
        writers += [(2 * layer + 1, results[:, :, head]) for head in range(config.n_head)]
        writers.append((2 * layer + 2, differences[f"blocks.{layer}.hook_mlp_out"]))
        for name in "qkv":
            inputs = gradients[f"blocks.{layer}.hook_{name}_input"]
            readers += [(2 * layer + 1, inputs[:, :, head]) for head in range(config.n_head)]
        readers.append((2 * layer + 2, gradients[f"blocks.{layer}.hook_mlp_in"]))
    readers.append((2 * config.n_layer + 1, gradients[f"blocks.{config.n_layer - 1}.hook_resid_post"]))
    return torch.tensor([[float((difference * gradient).sum()) if written < read else 0.0 for read, gradient in readers]
                         for written, difference in writers])


def integrated(split, ids, x, right, wrong, steps):
    total = torch.zeros_like(x)
    for step in range(steps):
        _, _, gradients = run(split, ids, right, wrong, embed=((step + 0.5) / steps * x).clone())
        total += gradients["hook_embed"] / steps
    return x * total


def rollout(found, gradients, layers):
    relevance, all_layers = torch.eye(found["blocks.0.attn.hook_pattern"].shape[-1], dtype=torch.float64)[None], []
    for layer in range(layers):
        name = f"blocks.{layer}.attn.hook_pattern"
        raised = (found[name] * gradients[name]).clamp(min=0).mean(1)
        relevance = relevance + raised @ relevance
        all_layers.append(relevance)
    return torch.stack(all_layers)


def main():
    args = arguments(__doc__)
    group = Group(args, "attribution", "attribution.py", ["transformers"])
    single = load_checkpoint(os.path.join(args.out, "induction", CHECKPOINT), GPT2LMHeadModel)
    model = double_of(single)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    split, config = Split(model), model.config
    clean, corrupted, right, wrong = prompts(config.vocab_size)
    assert float((split.forward(clean)[0] - model(clean).logits).abs().max()) < 1e-9
    value, x, gradients = run(split, clean, right, wrong)
    spoiled, y, back = run(split, corrupted, right, wrong)
    assert value > 1 and spoiled < -1  # induction copies the right token, or the wrong one
    outputs = {"value": value.reshape(1), "corrupted_value": spoiled.reshape(1)}
    layers = range(config.n_layer)
    for name, axes in (("hook_resid_pre", (0, 2)), ("attn.hook_z", (0, 1, 3))):
        rows = [((x[f"blocks.{layer}.{name}"] - y[f"blocks.{layer}.{name}"]) * back[f"blocks.{layer}.{name}"]).sum(axes)
                for layer in layers]
        outputs[f"patched.{name}"] = spoiled + torch.stack(rows)
    differences = {name: y[name] - x[name] for name in x}
    outputs["edges"] = edge_scores(config, differences, gradients)
    steps = [run(split, clean, right, wrong, residual=(y["blocks.0.hook_resid_pre"]
             + step / 4 * (x["blocks.0.hook_resid_pre"] - y["blocks.0.hook_resid_pre"])).requires_grad_())[2] for step in (1, 2, 3, 4)]
    mean = {name: sum(one[name] for one in steps) / len(steps) for name in steps[0]}
    outputs["edges_integrated"] = edge_scores(config, differences, mean)
    outputs["integrated"] = integrated(split, clean, x["hook_embed"], right, wrong, 16).sum(-1)
    outputs["saliency"] = gradients["hook_embed"].norm(dim=-1)
    outputs["gradient_x_input"] = (gradients["hook_embed"] * x["hook_embed"]).sum(-1)
    outputs["rollout"] = rollout(x, gradients, config.n_layer)
    outputs = {name: tensor.float() for name, tensor in outputs.items()}
    group.case("induction", "attribution", {"checkpoint": f"induction/{CHECKPOINT}", "right": right, "wrong": wrong},
               {"clean": clean, "corrupted": corrupted}, outputs, file="induction.safetensors")
    group.save()


if __name__ == "__main__":
    main()
