"""Gradients of metrics of pooled embeddings, by autograd through transformers and the formulas of sentence-transformers in
float64: cosine similarity, linear read-outs and a cubic function, with respect to the token embeddings and two weights.

Uses the checkpoints and cases that models_sentence_transformers.py writes: run it again when those change.
"""

import os

import torch
from transformers import BertModel, Gemma3TextModel

from common import Group, arguments, float64_everywhere, largest_difference, normal
from models_common import double_of, load_checkpoint, padded, token_ids
from models_sentence_transformers import FOLDERS, apply_dense, dense_layers

# In the order in which upstream joins their vectors.
MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "last_token")
OWN = {"cls_token": "cls", "max_tokens": "max", "mean_tokens": "mean", "mean_sqrt_len_tokens": "mean_sqrt_len_tokens"}
WEIGHTS = {
    "bert": ("encoder.layer.0.attention.self.value.weight", "encoder.layer.1.output.LayerNorm.bias"),
    "gemma3_text": ("layers.0.mlp.down_proj.weight", "norm.weight"),
}


def pool(tokens, mask, modes):
    """sentence_transformers.models.Pooling."""
    weights = mask[:, :, None].to(tokens.dtype)
    positions = weights * torch.arange(1, tokens.shape[1] + 1).to(tokens.dtype)[None, :, None]
    last = (mask * torch.arange(mask.shape[1])).argmax(1)
    total, count = (tokens * weights).sum(1), weights.sum(1).clamp(min=1e-9)
    pooled = {
        "cls": tokens[torch.arange(len(tokens)), mask.argmax(1)],
        "max": tokens.masked_fill(mask[:, :, None] == 0, float("-inf")).max(1).values,
        "mean": total / count,
        "mean_sqrt_len_tokens": total / count.sqrt(),
        "weightedmean": (tokens * positions).sum(1) / positions.sum(1).clamp(min=1e-9),
        "last_token": tokens[torch.arange(len(tokens)), last],
    }
    return torch.cat([pooled[mode] for mode in MODES if mode in modes], dim=1)


def metric_of(kind, embeddings, vector):
    if kind == "cosine_similarity":
        return torch.nn.functional.cosine_similarity(embeddings, vector, dim=-1).sum()
    return (embeddings * vector).sum() if kind == "weights" else (embeddings**3).sum() / 3


def run(model, ids, mask, steps, kind, vector, names):
    """The metric, and its gradients by name."""
    weights = {name: value.requires_grad_(True) for name, value in model.named_parameters() if name in names}
    with torch.enable_grad():
        embeds = model.get_input_embeddings()(ids).detach().requires_grad_(True)
        found = pool(model(inputs_embeds=embeds, attention_mask=mask).last_hidden_state, mask, steps["modes"])
        for options, of in steps["dense"]:
            found = apply_dense(found, options, of)
        if steps["normalize"]:
            found = torch.nn.functional.normalize(found, p=2, dim=1)
        value = metric_of(kind, found, vector.to(found.dtype))
        gradients = torch.autograd.grad(value, [embeds, *weights.values()])
    return float(value), dict(zip(["inputs_embeds", *weights], gradients))


def add_case(group, name, model, kind, steps, side="right"):
    checkpoint = name.split("/")[0]
    full = f"gradients/embeddings/{name}"
    ids, mask = padded(token_ids(full, (3, 12), model.config), (7, 12, 3), side, 0)
    size = steps["dense"][-1][0]["out_features"] if steps["dense"] else len(steps["modes"]) * model.config.hidden_size
    each = () if kind == "cosine_similarity" else (3,)
    vector = normal(full, (*each, size))
    names = WEIGHTS[model.config.model_type]
    double = double_of(model)
    with float64_everywhere():
        value, gradients = run(double, ids, mask, steps, kind, vector, names)
    _, rough = run(model, ids, mask, steps, kind, vector.float(), names)
    options = {"checkpoint": checkpoint, "pooling": list(steps["modes"]), "normalize": steps["normalize"], "metric": kind}
    group.case(name, "gradient", options, {"input_ids": ids, "attention_mask": mask, "vector": vector}, gradients,
               file="gradients.safetensors", errors={key: largest_difference(rough[key], gradients[key]) for key in gradients},
               own=steps.get("own", False), value=value)


def main():
    args = arguments(__doc__)
    group = Group(args, "gradients_embeddings", "gradients_embeddings.py", ["transformers"])
    folder = os.path.join(args.out, "models", "sentence_transformers")
    bert = {name: load_checkpoint(os.path.join(folder, name), BertModel) for name in FOLDERS}
    for name, (_, modes, normalize) in FOLDERS.items():
        steps = {"modes": [OWN[mode] for mode in modes], "normalize": normalize, "dense": (), "own": True}
        add_case(group, f"{name}/own", bert[name], "weights" if name == "mean_sqrt_len" else "cosine_similarity", steps)
    gemma = load_checkpoint(os.path.join(folder, "embedding_gemma"), Gemma3TextModel)
    dense = list(dense_layers(gemma.config.hidden_size))
    for kind in ("cosine_similarity", "score"):
        steps = {"modes": ["mean"], "normalize": True, "dense": dense, "own": True}
        add_case(group, f"embedding_gemma/{kind}", gemma, kind, steps)
    for mode in MODES:
        for side in ("right", "left"):
            steps = {"modes": [mode], "normalize": side == "left", "dense": ()}
            add_case(group, f"cls/{mode}_{side}", bert["cls"], "score" if mode == "max" else "weights", steps, side)
    steps = {"modes": ["max", "weightedmean", "last_token"], "normalize": True, "dense": ()}
    add_case(group, "max_and_mean/joined", bert["max_and_mean"], "score", steps)
    group.save()


if __name__ == "__main__":
    main()
