"""Folders in sentence-transformers' layout: BERT with each pooling mode, and a bidirectional Gemma 3 with dense layers as
EmbeddingGemma; embeddings by the library's formulas."""

import json
import os

import torch
from safetensors.torch import save_file
from transformers import BertModel, Gemma3TextConfig, Gemma3TextModel

from common import arguments, float64_everywhere, largest_difference, normal
from models_common import double_of, open_group, padded, token_ids, write_checkpoint
from models_decoder_configs import EVEN, SLIDING_FIRST
from models_decoder_only import GAINS
from models_encoder_only import configuration

MODES = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens")
FOLDERS = {
    "mean_normalized": ("even", ("mean_tokens",), True),
    "cls": ("odd", ("cls_token",), False),
    "max_and_mean": ("odd", ("max_tokens", "mean_tokens"), True),
    "mean_sqrt_len": ("even", ("mean_sqrt_len_tokens",), False),
}
# Outputs, whether there is a bias, the activation's class.
DENSE = [(40, False, "torch.nn.modules.linear.Identity"), (24, True, "torch.nn.modules.activation.Tanh")]


def pool(tokens, mask, modes):
    """sentence_transformers.models.Pooling: (B, T, D) to (B, number of modes * D), with modes in this order."""
    weights = mask[:, :, None].to(tokens.dtype)
    first = mask.to(torch.int).argmax(dim=1)
    total, count = (tokens * weights).sum(1), weights.sum(1).clamp(min=1e-9)
    pooled = {
        "cls_token": tokens[torch.arange(len(tokens)), first],
        "max_tokens": tokens.masked_fill(mask[:, :, None] == 0, float("-inf")).max(1).values,
        "mean_tokens": total / count,
        "mean_sqrt_len_tokens": total / count.sqrt(),
    }
    order = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens")
    return torch.cat([pooled[mode] for mode in order if mode in modes], dim=1)


def dense_layers(width):
    """(options, weights) of the layers after pooling."""
    for at, (outputs, bias, activation) in enumerate(DENSE):
        options = {"in_features": width, "out_features": outputs, "bias": bias, "activation_function": activation}
        weights = {"linear.weight": normal(f"sentence_transformers/dense/{at}", (outputs, width), 0.2).float()}
        yield options, weights | ({"linear.bias": normal(f"sentence_transformers/bias/{at}", (outputs,), 0.3).float()} if bias else {})
        width = outputs


def apply_dense(sentence, options, weights):
    weights = {name: value.to(sentence.dtype) for name, value in weights.items()}
    sentence = torch.nn.functional.linear(sentence, weights["linear.weight"], weights.get("linear.bias"))
    return torch.tanh(sentence) if options["activation_function"].endswith("Tanh") else sentence


def embed(model, ids, mask, modes, normalize, dense=()):
    tokens = model(input_ids=ids, attention_mask=mask).last_hidden_state
    sentence = pool(tokens, mask, modes)
    for options, weights in dense:
        sentence = apply_dense(sentence, options, weights)
    return torch.nn.functional.normalize(sentence, p=2, dim=1) if normalize else sentence


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        json.dump(value, file, indent=2)
        file.write("\n")


def write_layout(folder, width, modes, normalize, dense=()):
    """modules.json and the folders it lists; that of Normalize contains no file."""
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    for options, weights in dense:
        kinds.append((f"{len(kinds)}_Dense", "Dense"))
        write_json(os.path.join(folder, kinds[-1][0], "config.json"), options)
        save_file(weights, os.path.join(folder, kinds[-1][0], "model.safetensors"), metadata={"format": "pt"})
    kinds += [(f"{len(kinds)}_Normalize", "Normalize")] if normalize else []
    modules = [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
               for i, (path, kind) in enumerate(kinds)]
    write_json(os.path.join(folder, "modules.json"), modules)
    write_json(os.path.join(folder, "sentence_bert_config.json"), {"max_seq_length": 24, "do_lower_case": False})
    pooling = {"word_embedding_dimension": width} | {f"pooling_mode_{mode}": mode in modes for mode in MODES}
    write_json(os.path.join(folder, "1_Pooling", "config.json"), pooling)


def add_case(group, name, model, modes, normalize, dense=()):
    ids, mask = padded(token_ids(f"models/sentence_transformers/{name}", (3, 12), model.config), (7, 12, 3), "right", 0)
    single = embed(model, ids, mask, modes, normalize, dense)
    double_model = double_of(model)
    with float64_everywhere():
        double = embed(double_model, ids, mask, modes, normalize, dense)
    group.case(name, "sentence_embedding", {"checkpoint": name}, {"input_ids": ids, "attention_mask": mask},
               {"sentence_embedding": single}, file="embeddings.safetensors",
               errors={"sentence_embedding": largest_difference(single, double)})


def add_embedding_gemma(group):
    name, modes = "embedding_gemma", ("mean_tokens",)
    folder = os.path.join(group.folder, name)
    config = Gemma3TextConfig(**EVEN, head_dim=8, sliding_window=6, query_pre_attn_scalar=16, layer_types=SLIDING_FIRST,
                              use_bidirectional_attention=True)
    model = write_checkpoint(folder, Gemma3TextModel, config, f"models/sentence_transformers/{name}",
                             gains=GAINS["gemma3_text"])
    dense = list(dense_layers(config.hidden_size))
    write_layout(folder, config.hidden_size, modes, True, dense)
    add_case(group, name, model, modes, True, dense)


def main():
    args = arguments(__doc__)
    group = open_group(args, "sentence_transformers", "models_sentence_transformers.py")
    for name, (size, modes, normalize) in FOLDERS.items():
        folder = os.path.join(group.folder, name)
        config = configuration("bert", size, "base")
        model = write_checkpoint(folder, BertModel, config, f"models/sentence_transformers/{size}", dtype=torch.float16)
        write_layout(folder, config.hidden_size, modes, normalize)
        add_case(group, name, model, modes, normalize)
    add_embedding_gemma(group)
    group.save()


if __name__ == "__main__":
    main()
