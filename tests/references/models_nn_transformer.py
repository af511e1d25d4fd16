"""The original Transformer as saved by PyTorch's own modules, in the layout of the translation tutorial.

https://docs.pytorch.org/tutorials/beginner/translation_transformer.html: nn.Transformer between two scaled embeddings
with sinusoids and one output layer. Its file is a bare state_dict; the config.json is our own.
"""

import json
import math
import os

import torch
from safetensors.torch import save_file
from torch import nn

from common import arguments, fill_state_dict, integers, largest_difference, normal
from models_common import CERTAIN, NEW_TOKENS, VARIED, is_telling, open_group, padded

COMMON = dict(model_type="nn_transformer", max_position_embeddings=32, bos_token_id=2, eos_token_id=3, pad_token_id=1)
CHECKPOINTS = {
    "even": dict(d_model=32, nhead=4, num_encoder_layers=1, num_decoder_layers=2, dim_feedforward=28, activation="relu",
                 norm_first=False, layer_norm_eps=1e-5, bias=True, src_vocab_size=64, tgt_vocab_size=71) | COMMON,
    "odd": dict(d_model=30, nhead=3, num_encoder_layers=1, num_decoder_layers=2, dim_feedforward=37, activation="gelu",
                norm_first=True, layer_norm_eps=1e-6, bias=True, src_vocab_size=97, tgt_vocab_size=97) | COMMON,
    "odd_without_bias": dict(d_model=30, nhead=3, num_encoder_layers=2, num_decoder_layers=1, dim_feedforward=37,
                             activation="relu", norm_first=False, layer_norm_eps=1e-5, bias=False, src_vocab_size=97,
                             tgt_vocab_size=64) | COMMON,
}


class TokenEmbedding(nn.Module):
    """An embedding scaled by sqrt(d_model)."""

    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, ids):
        return self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)


class PositionalEncoding(nn.Module):
    """Adds sinusoids: sine in the even columns, cosine in the odd ones."""

    def __init__(self, d_model, length):
        super().__init__()
        rates = torch.exp(-torch.arange(0, d_model, 2) * math.log(10000) / d_model)
        angles = torch.arange(length)[:, None] * rates
        table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
        self.register_buffer("pos_embedding", table[:, None])  # (T, 1, D)

    def forward(self, x):
        return x + self.pos_embedding[: x.shape[1], 0]


class Seq2SeqTransformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        shared = ("d_model", "nhead", "num_encoder_layers", "num_decoder_layers", "dim_feedforward", "activation",
                  "norm_first", "layer_norm_eps", "bias")
        self.transformer = nn.Transformer(**{key: config[key] for key in shared}, batch_first=True)
        self.generator = nn.Linear(config["d_model"], config["tgt_vocab_size"])
        self.src_tok_emb = TokenEmbedding(config["src_vocab_size"], config["d_model"])
        self.tgt_tok_emb = TokenEmbedding(config["tgt_vocab_size"], config["d_model"])
        self.positional_encoding = PositionalEncoding(config["d_model"], config["max_position_embeddings"])

    def forward(self, source, target, source_mask, target_mask):
        """Masks: 1 for tokens. The source's padding mask is also the memory's."""
        length = target.shape[1]
        hidden = self.transformer(
            self.positional_encoding(self.src_tok_emb(source)), self.positional_encoding(self.tgt_tok_emb(target)),
            tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1), src_key_padding_mask=source_mask == 0,
            tgt_key_padding_mask=target_mask == 0, memory_key_padding_mask=source_mask == 0)
        return self.generator(hidden)


def _keep_weights(outputs, name):
    def before(module, args, options):
        return args, options | dict(need_weights=True, average_attn_weights=False)

    def after(module, args, result):
        outputs[name] = result[1]

    return before, after


def _watch(stack, side, outputs):
    """Hooks that store a stack's hidden states and attention maps under Hugging Face's names."""
    def first(module, args, options=None):
        outputs[f"{side}_hidden_states.0"] = args[0]

    def keep(name):
        def hook(module, args, result):
            outputs[name] = result
        return hook

    handles = [stack.register_forward_pre_hook(first)]
    for index, layer in enumerate(stack.layers):
        maps = {"self_attn": f"{side}_attentions.{index}", "multihead_attn": f"cross_attentions.{index}"}
        for attribute, name in maps.items():
            if hasattr(layer, attribute):
                before, after = _keep_weights(outputs, name)
                attention = getattr(layer, attribute)
                handles.append(attention.register_forward_pre_hook(before, with_kwargs=True))
                handles.append(attention.register_forward_hook(after))
        if index + 1 < len(stack.layers):
            handles.append(layer.register_forward_hook(keep(f"{side}_hidden_states.{index + 1}")))
    handles.append(stack.register_forward_hook(keep(f"{side}_hidden_states.{len(stack.layers)}")))  # after the final norm
    return handles


def forward(model, ids, mask, targets, target_mask):
    outputs = {}
    handles = _watch(model.transformer.encoder, "encoder", outputs)
    handles += _watch(model.transformer.decoder, "decoder", outputs)
    outputs["logits"] = model(ids, targets, mask, target_mask)
    for handle in handles:
        handle.remove()
    last = len(model.transformer.encoder.layers)
    outputs["encoder_last_hidden_state"] = outputs[f"encoder_hidden_states.{last}"]
    for key, value in outputs.items():
        kept = mask if key.startswith("encoder_") else target_mask
        shape = (len(kept), 1, -1, 1) if "attentions" in key else (len(kept), -1, 1)
        outputs[key] = value.masked_fill(kept.reshape(shape) == 0, 0.0)
    return {key: value.clone() for key, value in outputs.items()}


def greedy(model, config, ids, mask):
    """(sequences with the begin token, smallest distance of the two best logits) of 24 steps without stopping."""
    sequences = torch.full((len(ids), 1), config["bos_token_id"])
    margin = math.inf
    for _ in range(NEW_TOKENS):
        logits = model(ids, sequences, mask, torch.ones_like(sequences))[:, -1]
        best = logits.topk(2).values
        margin = min(margin, float((best[:, 0] - best[:, 1]).min()))
        sequences = torch.cat([sequences, logits.argmax(-1, keepdim=True)], dim=1)
    return sequences, margin


def fill(model, name):
    table = model.positional_encoding.pos_embedding.clone()
    fill_state_dict(model, name, gain=1.3)
    model.positional_encoding.pos_embedding.copy_(table)
    for embedding in (model.src_tok_emb.embedding, model.tgt_tok_emb.embedding):
        embedding.weight.mul_(0.25)  # it is multiplied by sqrt(d_model)
    for key, value in model.named_parameters():  # what all positions share must not determine every token
        if key.endswith("multihead_attn.out_proj.weight") or (key.endswith("bias") and "norm" in key):
            value.mul_(0.4)
    last = model.transformer.decoder.norm
    last.weight.copy_(normal(f"{name}/decoder.norm", last.weight.shape))  # both signs: no token predicts itself for ever
    return model.eval()


def write(folder, model, config):
    os.makedirs(folder, exist_ok=True)
    tensors = {key: value.contiguous() for key, value in model.state_dict().items()}
    if config["norm_first"]:
        del tensors["positional_encoding.pos_embedding"]  # a buffer, which other code does not save
    path = os.path.join(folder, "model.safetensors")
    save_file(tensors, path, metadata={"format": "pt"})
    os.chmod(path, 0o644)
    with open(os.path.join(folder, "config.json"), "w", encoding="ascii") as file:
        json.dump(config, file, indent=2, sort_keys=True)
        file.write("\n")


def telling_model(name, config, runs):
    for seed in range(300):
        model = fill(Seq2SeqTransformer(config), f"{name}/{seed}")
        if all(is_telling(*greedy(model, config, *run)) for run in runs.values()):
            return model
    raise ValueError(f"{name}: no greedy text has margins above {CERTAIN} and {VARIED} tokens")


def add_checkpoint(group, size, config):
    name = f"models/nn_transformer/{size}"
    source = integers(f"{name}/source", (2, 11), 5, config["src_vocab_size"])
    target = integers(f"{name}/target", (2, 7), 5, config["tgt_vocab_size"])
    target[:, 0] = config["bos_token_id"]
    runs = {"plain": (source, torch.ones_like(source))}
    runs |= {f"{side}_padding": padded(source, (7, 11), side, config["pad_token_id"]) for side in ("right", "left")}
    model = telling_model(name, config, runs)
    write(os.path.join(group.folder, size), model, config)
    for run, (ids, mask) in runs.items():
        targets, target_mask = target, torch.ones_like(target)
        more = {"note": "the last hidden states of each stack are those after its final norm"}
        inputs = {"input_ids": ids, "decoder_input_ids": targets}
        if run != "plain":
            targets, target_mask = padded(target, (7, 4), "right", config["pad_token_id"])
            inputs |= {"attention_mask": mask, "decoder_input_ids": targets, "decoder_attention_mask": target_mask}
            more |= dict(compare_where="attention_mask", compare_decoder_where="decoder_attention_mask")
        single = forward(model.float(), ids, mask, targets, target_mask)
        double = forward(model.double(), ids, mask, targets, target_mask)
        group.case(f"{size}_{run}", "model_forward", {"checkpoint": size, "task": "seq2seq-lm"}, inputs, single,
                   file=f"{size}.safetensors",
                   errors={key: largest_difference(single[key], double[key]) for key in single}, **more)
        sequences, margin = greedy(model.float(), config, ids, mask)
        group.case(f"{size}_greedy_{run}", "generate",
                   {"checkpoint": size, "do_sample": False, "max_new_tokens": NEW_TOKENS, "eos_token_id": None},
                   {"input_ids": ids, "attention_mask": mask}, {"sequences": sequences},
                   file=f"{size}.safetensors", smallest_margin=float(f"{margin:.3g}"))


def main():
    torch.backends.mha.set_fastpath_enabled(False)
    args = arguments(__doc__.splitlines()[0])
    group = open_group(args, "nn_transformer", "models_nn_transformer.py")
    for size, config in CHECKPOINTS.items():
        add_checkpoint(group, size, config)
    group.save()


if __name__ == "__main__":
    main()
