"""A few configurations of every model type, for tests/fixtures/config_keys: at least one for each way in which misreading a
key has given wrong numbers. The full set is sampled by config_keys.py."""

import os
import shutil
import tempfile

import torch

from common import arguments
from config_keys import write_cases
from config_keys_families import FAMILIES, base_config
from config_keys_runs import Bench, Store, quiet
from config_keys_spellings import version_4

SMALL = dict(hidden_size=8, n_embd=8, d_model=8, dim=8, num_attention_heads=2, n_head=2, n_heads=2, num_heads=2,
             num_key_value_heads=1, head_dim=4, intermediate_size=12, hidden_dim=12, d_ff=12, ffn_dim=12, encoder_ffn_dim=12,
             decoder_ffn_dim=10, encoder_attention_heads=2, decoder_attention_heads=2, encoder_layers=1, decoder_layers=1,
             num_mel_bins=4, max_source_positions=6, max_target_positions=16, image_size=4, patch_size=2,
             projection_dim=6, embedding_size=4, max_position_embeddings=20, n_positions=20)
ONE_LAYER = {"bert", "roberta", "xlm-roberta", "camembert", "electra", "mpnet", "deberta-v2", "t5", "mt5", "vit", "deit", "dinov2",
             "dinov2_with_registers", "dinov3_vit", "siglip", "clip", "phi", "phi3", "llama", "gemma", "olmo", "granite", "starcoder2", "openai-gpt"}
OUTPUTS = ("logits", "last_hidden_state", "pooler_output", "start_logits", "end_logits", "text_embeds", "image_embeds",
           "sequences")
ABSENT = object()
LOCAL_FIRST = ["sliding_attention", "full_attention"]


class Selected:
    """`change`: keys of config.json and their new values, ABSENT for none; those of a nested config under its key.
    `base` are arguments of the config class, `untied` stores separate tensors for what may be tied,
    `refused_here` is the key for which this library refuses what transformers runs."""

    def __init__(self, name, change=None, *, base=None, task=None, untied=False, old=False, text=False, refused_here=None):
        self.name, self.change, self.base, self.task = name, change or {}, base or {}, task
        self.more = {} if refused_here is None else {"refused_here": refused_here}
        self.untied, self.old, self.text = untied, old, text


def with_changes(config, change):
    config = dict(config)
    for key, value in change.items():
        if value is ABSENT:
            config.pop(key, None)
        elif isinstance(value, dict) and key in ("text_config", "vision_config"):
            config[key] = with_changes(config[key], value)
        else:
            config[key] = value
    return config


EXPERTS = dict(num_local_experts=3, num_experts_per_tok=2)
LINEAR = {"rope_type": "linear", "factor": 2.0}
ONE_HEAD = dict(num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1)
SELECTION = {
    "bert": [
        Selected("relu2", {"hidden_act": "relu2", "layer_norm_eps": 1e-2}, task="base"),
        Selected("output tensors of its own", {"tie_word_embeddings": False}, task="masked-lm"),
    ],
    "roberta": [
        Selected("no layer_norm_eps", {"layer_norm_eps": ABSENT}, task="base"),
        Selected("output tensors of its own", {"tie_word_embeddings": False}, task="masked-lm"),
        Selected("another pad_token_id", {"pad_token_id": 5}, task="question-answering"),
    ],
    "distilbert": [
        Selected("layer_norm_eps", {"layer_norm_eps": 0.1}, task="base"),
        Selected("num_hidden_layers over n_layers", {"n_layers": 2, "num_hidden_layers": 1}, task="sequence-classification"),
        Selected("no number of layers", {"n_layers": ABSENT}, task="base", base=dict(dim=4, n_heads=1, hidden_dim=4)),
    ],
    "modernbert": [
        Selected("rope_scaling beside rope_parameters", {"rope_scaling": LINEAR}, task="base"),
        Selected("sliding_window over local_attention", {"sliding_window": 1}, task="base"),
        Selected("tied, with tensors of its own", untied=True, task="masked-lm"),
        Selected("4.x", {"local_rope_theta": 50.0}, old=True, task="sequence-classification"),
    ],
    "xlm-roberta": [Selected("one class", {"id2label": {"0": "score"}, "layer_norm_eps": ABSENT}, task="sequence-classification")],
    "camembert": [Selected("no pad_token_id", {"pad_token_id": ABSENT}, task="base")],
    "data2vec-text": [Selected("another pad_token_id", {"pad_token_id": 5}, task="token-classification")],
    "electra": [
        Selected("embedding_size of the model", base=dict(embedding_size=8), task="replaced-token-detection"),
        Selected("output tensors of its own", {"tie_word_embeddings": False}, task="masked-lm"),
    ],
    "albert": [
        Selected("groups that do not divide the layers", base=dict(num_hidden_layers=4, num_hidden_groups=3, inner_group_num=2), task="base"),
        Selected("embedding_size of the model", base=dict(embedding_size=8), task="masked-lm"),
    ],
    "mpnet": [Selected("padding is token 1", {"pad_token_id": 5}, task="base")],
    "deberta-v2": [
        Selected("absolute positions only", {"relative_attention": False}, task="sequence-classification"),
        Selected("normalized table without keys of its own", {"pos_att_type": "c2p", "share_att_key": True, "norm_rel_ebd": "layer_norm",
                                                              "position_biased_input": False}, task="base"),
        Selected("distances without buckets", {"position_buckets": -1, "max_relative_positions": 3}, task="masked-lm"),
        Selected("a convolution", {"conv_kernel_size": 3}, task="base", refused_here="conv_kernel_size"),
    ],
    "esm": [
        Selected("rotary, frequencies of the file", {"rope_theta": 50.0, "token_dropout": False}, task="base"),
        Selected("tokens dropped, normalized", {"mask_token_id": 33}, base=dict(emb_layer_norm_before=True, position_embedding_type="absolute"),
                 task="sequence-classification"),
        Selected("tied, with tensors of its own", untied=True, task="masked-lm"),
        Selected("no pad_token_id", {"pad_token_id": ABSENT, "hidden_act": "relu"}, task="base"),
        Selected("relative positions", {"position_embedding_type": "relative_key"}, task="base", refused_here="position_embedding_type"),
    ],
    "gpt2": [
        Selected("is_causal false", {"is_causal": False}),
        Selected("tied, with tensors of its own", untied=True, task="causal-lm"),
        Selected("scale_attn_by_inverse_layer_idx", {"scale_attn_by_inverse_layer_idx": True, "activation_function": "mish"}, text=True),
    ],
    "gpt_neo": [
        Selected("tied, with tensors of its own", untied=True, task="causal-lm"),
        Selected("attention_layers beside attention_types", {"attention_layers": ["local", "local"], "is_causal": False}),
    ],
    "llama": [
        Selected("as saved", text=True),
        Selected("partial_rotary_factor", {"partial_rotary_factor": 0.5}),
        Selected("tied, with tensors of its own", {"tie_word_embeddings": True}, task="causal-lm"),
        Selected("4.x, dynamic", {"rope_scaling": {"type": "dynamic", "factor": 2.0}, "max_position_embeddings": 6}, old=True),
        Selected("longer than max_position_embeddings", {"max_position_embeddings": 5}),
    ],
    "mistral": [
        Selected("layer_types make it Ministral", {"layer_types": LOCAL_FIRST}, refused_here="layer_types"),
        Selected("attention_bias", {"attention_bias": True, "mlp_bias": True, "partial_rotary_factor": 0.5}),
        Selected("no key-value heads", {"num_key_value_heads": ABSENT, "hidden_act": "gelu_10"}, base=dict(num_attention_heads=8, head_dim=2)),
    ],
    "qwen2": [
        Selected("is_causal false", {"is_causal": False}, text=True),
        Selected("max_window_layers", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1, "layer_types": ABSENT}),
    ],
    "qwen3": [
        Selected("no head_dim, sliding_window without use", {"head_dim": ABSENT, "sliding_window": 3}, base=ONE_HEAD),
    ],
    "phi": [
        Selected("partial_rotary_factor twice", {"partial_rotary_factor": 1.0}, base=dict(head_dim=8)),
        Selected("4.x", {"partial_rotary_factor": 1.0, "rope_theta": 50.0}, old=True),
    ],
    "phi3": [
        Selected("no rms_norm_eps", {"rms_norm_eps": ABSENT}),
        Selected("su", {"rope_scaling": {"type": "su", "short_factor": [1.0, 1.5], "long_factor": [2.0, 3.0],
                                         "original_max_position_embeddings": 6}}, old=True),
    ],
    "gemma": [
        Selected("hidden_activation beside hidden_act", {"hidden_act": "gelu", "hidden_activation": "relu"}),
        Selected("use_bidirectional_attention", {"use_bidirectional_attention": True}, refused_here="use_bidirectional_attention"),
    ],
    "gemma2": [
        Selected("tied, with tensors of its own", untied=True, task="causal-lm"),
        Selected("use_bidirectional_attention", {"use_bidirectional_attention": True},
                 refused_here="use_bidirectional_attention"),  # eager and fused attention differ there
        Selected("no number of heads", {"num_key_value_heads": ABSENT, "attn_logit_softcapping": None}, base=dict(num_attention_heads=8, head_dim=2)),
    ],
    "gemma3_text": [
        Selected("use_bidirectional_attention", {"use_bidirectional_attention": True}),
        Selected("4.x", {"sliding_window_pattern": 2, "layer_types": ABSENT, "rope_local_base_freq": 50.0,
                         "attn_logit_softcapping": 1.0}, old=True, text=True),
    ],
    "gemma3": [
        Selected("text_config without numbers of heads", {"text_config": {
            "num_attention_heads": ABSENT, "num_key_value_heads": ABSENT, "head_dim": 2}}),
    ],
    "olmo": [Selected("clip_qkv", {"clip_qkv": 0.1, "rms_norm_eps": 0.3})],
    "olmo2": [
        Selected("head_dim, no rms_norm_eps", {"rms_norm_eps": ABSENT, "clip_qkv": 0.1}, base=dict(head_dim=6), text=True),
    ],
    "olmo3": [
        Selected("no layer_types", {"layer_types": ABSENT, "sliding_window": 3}, base=dict(num_hidden_layers=4)),
    ],
    "smollm3": [
        Selected("no_rope_layer_interval, local", {"no_rope_layers": ABSENT, "no_rope_layer_interval": 2, "layer_types": ABSENT,
                                                   "use_sliding_window": True, "sliding_window": 3}, text=True),
        Selected("layer_types without use_sliding_window", {"layer_types": LOCAL_FIRST, "sliding_window": 3}),
        Selected("no rope_theta", {"rope_parameters": ABSENT}),
    ],
    "granite": [
        Selected("multipliers", {"embedding_multiplier": 3, "residual_multiplier": 0.5, "attention_multiplier": 0.1,
                                 "logits_scaling": 0.25}, task="causal-lm"),
    ],
    "starcoder2": [
        Selected("no norm_epsilon", {"norm_epsilon": ABSENT, "sliding_window": 3, "layer_norm_eps": 0.3}),
        Selected("use_bias false", {"use_bias": False, "mlp_bias": True}),
    ],
    "opt": [
        Selected("projected", {"do_layer_norm_before": False}, base=dict(word_embed_proj_dim=6), text=True),
        Selected("no final norm", {"_remove_final_layer_norm": True, "layer_norm_elementwise_affine": False}),
    ],
    "openai-gpt": [
        Selected("gelu and n_layer by another name", {"is_causal": False, "n_layer": 2, "num_hidden_layers": 1}),
    ],
    "gpt_neox": [
        Selected("as saved", base=dict(num_attention_heads=1), text=True),
        Selected("4.x, one sub-layer after the other", {"use_parallel_residual": False, "rotary_pct": 0.5, "rotary_emb_base": 50}, old=True),
    ],
    "gptj": [Selected("rotary_dim", {"rotary_dim": 2}, text=True)],
    "codegen": [Selected("as saved", base=dict(n_head=4, rotary_dim=2))],
    "bloom": [
        Selected("three heads", base=dict(hidden_size=12, n_head=3), text=True),
        Selected("is_causal false", {"is_causal": False}),
    ],
    "falcon": [
        Selected("ALiBi", base=dict(hidden_size=12, num_attention_heads=3, alibi=True), text=True),
        Selected("two norms", base=dict(new_decoder_architecture=True, num_attention_heads=4, num_kv_heads=2)),
        Selected("one norm", base=dict(new_decoder_architecture=True, num_attention_heads=4, num_kv_heads=2, num_ln_in_parallel_attn=1)),
        Selected("keys for each head, without parallel parts", base=dict(multi_query=False, parallel_attn=False, bias=True)),
    ],
    "mpt": [Selected("clipped and scaled", {"attn_config": {"clip_qkv": 0.5, "softmax_scale": 0.3, "alibi": False}}, base=dict(d_model=12, n_heads=3))],
    "stablelm": [
        Selected("norms of heads, parallel parts", base=dict(num_attention_heads=1, qk_layernorm=True, use_parallel_residual=True)),
    ],
    "cohere": [Selected("norms of heads", {"logit_scale": 0.5}, base=dict(use_qk_norm=True), text=True)],
    "cohere2": [Selected("4.x", {"sliding_window_pattern": 2, "layer_types": ABSENT, "sliding_window": 3}, old=True, text=True)],
    "lfm2": [
        Selected("as LiquidAI saves it", {"layer_types": ABSENT, "full_attn_idxs": [1], "block_ff_dim": 15, "tie_embedding": True},
                 old=True, text=True),
        Selected("own width", {"intermediate_size": 14}, base=dict(
            block_auto_adjust_ff_dim=False, intermediate_size=14, conv_bias=True, conv_L_cache=2), text=True),
    ],
    "qwen3_5_text": [
        Selected("every second layer", {"layer_types": ABSENT, "full_attention_interval": 2, "linear_num_value_heads": 4}, old=True,
                 base=dict(head_dim=8, num_hidden_layers=3, linear_num_value_heads=4, layer_types=["linear_attention", "full_attention", "linear_attention"]), text=True),
        Selected("more keys than values", {"linear_num_key_heads": 3}, refused_here=None),
    ],
    "eurobert": [
        Selected("grouped heads, no rope_parameters", {"rope_parameters": ABSENT}, base=dict(attention_bias=True), task="base"),
        Selected("classes of the first position", {"classifier_pooling": "bos"}, task="sequence-classification"),
        Selected("classes of every position", {"classifier_pooling": ABSENT}, task="sequence-classification"),
    ],
    "gpt_bigcode": [
        Selected("keys for each head", {"scale_attn_weights": False}, base=dict(multi_query=False), text=True),
        Selected("no multi_query", {"multi_query": ABSENT, "activation_function": ABSENT}, text=True),
    ],
    "nomic_bert": [
        Selected("heads of another width, no rope_parameters", {"rope_parameters": ABSENT}, base=dict(head_dim=6), task="base"),
        Selected("an output matrix of its own", {"tie_word_embeddings": False, "hidden_act": "relu"}, task="masked-lm", untied=True),
    ],
    "ernie4_5": [Selected("biases everywhere", {"num_key_value_heads": ABSENT}, base=dict(use_bias=True, num_key_value_heads=2), text=True)],
    "helium": [Selected("a bias of queries, keys and values", base=dict(attention_bias=True, num_key_value_heads=2), text=True)],
    "glm": [
        Selected("half of each head by default", {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0}}, base=dict(attention_bias=False)),
        Selected("4.x, the whole head", {"partial_rotary_factor": 1.0}, old=True, text=True),
    ],
    "glm4": [Selected("4.x, a bias but at the output", {"partial_rotary_factor": ABSENT, "head_dim": 8}, base=dict(head_dim=8), old=True, text=True)],
    "exaone4": [
        Selected("4.x, a pattern", {"sliding_window_pattern": 2, "layer_types": ABSENT, "sliding_window": 3}, old=True, text=True),
        Selected("no window", base=dict(sliding_window=None, layer_types=["full_attention"] * 2), text=True),
    ],
    "nemotron": [Selected("no partial_rotary_factor", {"rope_parameters": ABSENT}, base=dict(mlp_bias=True, attention_bias=True), text=True)],
    "xglm": [
        Selected("a padding token whose position is blank", {"pad_token_id": 4}, text=True),
        Selected("beyond max_position_embeddings", {"max_position_embeddings": 4, "scale_embedding": ABSENT}, text=True),
    ],
    "biogpt": [Selected("another epsilon, which nothing reads", {"layer_norm_eps": 0.5, "scale_embedding": False}, text=True)],
    "arcee": [Selected("another activation", {"hidden_act": "silu"}, base=dict(mlp_bias=True))],
    "vaultgemma": [Selected("one softcap", {"attn_logit_softcapping": 1.0, "final_logit_softcapping": None, "hidden_activation": "relu"}, text=True)],
    "hunyuan_v1_dense": [
        Selected("another base", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 50.0, "factor": 1.0, "alpha": 8.0}}, text=True),
        Selected("4.x, wide heads", {"rope_theta": 50.0}, old=True, base=dict(attention_bias=True, head_dim=6)),
    ],
    "nanochat": [
        Selected("not capped", {"final_logit_softcapping": None}, text=True),
        Selected("4.x, scaled positions", {"rope_parameters": {"rope_type": "linear", "rope_theta": 50.0, "factor": 2.0}}, old=True),
    ],
    "modernbert-decoder": [
        Selected("4.x, a pattern", {"global_attn_every_n_layers": 2, "layer_types": ABSENT, "sliding_window": 3}, old=True, text=True),
        Selected("another activation before the output layer", {"classifier_activation": "relu"}, base=dict(classifier_bias=True, norm_bias=True)),
    ],
    "granitemoe": [
        Selected("experts by logits", {"logits_scaling": 0.5, "embedding_multiplier": 3.0}, base=EXPERTS, text=True),
    ],
    "granitemoehybrid": [
        Selected("without positions", {"position_embedding_type": None, "logits_scaling": 0.5}, text=True),
        Selected("4.x, layers_block_type", {"layer_types": ABSENT, "layers_block_type": ["attention", "attention"]}, old=True),
        Selected("recurrent layers", {"layer_types": ["mamba", "attention"]}, refused_here="layer_types"),
        Selected("experts beside a network", {"num_local_experts": 2}, refused_here="num_local_experts"),
    ],
    "olmoe": [
        Selected("divided by their sum", {"norm_topk_prob": True, "tie_word_embeddings": ABSENT}, base=EXPERTS),
        Selected("clipped", {"clip_qkv": 0.5}, base=EXPERTS, refused_here="clip_qkv"),
    ],
    "qwen3_moe": [
        Selected("experts in the last layer alone", {"norm_topk_prob": ABSENT},
                 base=EXPERTS | dict(moe_intermediate_size=7, num_hidden_layers=3, decoder_sparse_step=1, mlp_only_layers=[0, 1]), text=True),
        Selected("both names of their number", {"num_experts": 2}, base=EXPERTS | dict(moe_intermediate_size=7)),
    ],
    "mixtral": [Selected("4.x, a window", {"sliding_window": 3, "num_experts_per_tok": 1}, base=EXPERTS, old=True, text=True)],
    "audio-spectrogram-transformer": [
        Selected("steps", {"frequency_stride": 1, "time_stride": 4}, task="sequence-classification"),
        Selected("heads wider than the stream", {}, base=dict(head_dim=6), task="base"),
    ],
    "wav2vec2": [
        Selected("norms of frames, before the sub-layers", {"layer_norm_eps": 1e-2, "feat_extract_activation": "relu"}, task="ctc",
                 base=dict(feat_extract_norm="layer", do_stable_layer_norm=True, conv_bias=True, num_conv_pos_embeddings=5)),
        Selected("a sum of all layers", {"use_weighted_layer_sum": True}, task="sequence-classification", refused_here="use_weighted_layer_sum"),
    ],
    "hubert": [Selected("no norm of features", base=dict(feat_proj_layer_norm=False, num_conv_pos_embedding_groups=2), task="base")],
    "marian": [Selected("three tables, is_causal false", {"tie_word_embeddings": False, "is_causal": False, "scale_embedding": True})],
    "bart": [
        Selected("three tables", {"tie_word_embeddings": False, "activation_function": "relu6"}),
        Selected("is_causal false", {"is_causal": False}),
    ],
    "mbart": [Selected("is_causal false", {"is_causal": False, "scale_embedding": True, "activation_function": "relu"}, text=True)],
    "m2m_100": [
        Selected("no scale_embedding, beyond max_position_embeddings", {"scale_embedding": ABSENT, "max_position_embeddings": 4}, text=True),
        Selected("another pad_token_id", {"pad_token_id": 12, "is_causal": False}),
    ],
    "pegasus": [Selected("scale_embedding, is_causal false", {"scale_embedding": True, "is_causal": False}, text=True)],
    "blenderbot": [Selected("is_causal false", {"is_causal": False, "scale_embedding": True}, text=True)],
    "blenderbot-small": [Selected("is_causal false", {"is_causal": False, "scale_embedding": True}, text=True)],
    "t5": [
        Selected("unscaled, as transformers 5 writes it", base=dict(tie_word_embeddings=False), untied=True, text=True),
        Selected("tie_word_embeddings false", {"tie_word_embeddings": False, "scale_decoder_outputs": ABSENT}, untied=True),
        Selected("dense_act_fn over feed_forward_proj", {"dense_act_fn": "silu"}),
        Selected("buckets at exact powers", base=dict(relative_attention_num_buckets=9, relative_attention_max_distance=128)),
        Selected("max_distance within the exact buckets", base=dict(relative_attention_max_distance=3)),
    ],
    "mt5": [Selected("an output layer of its own", {"tie_word_embeddings": False, "feed_forward_proj": "gated-relu"}, untied=True, text=True)],
    "whisper": [
        Selected("scale_embedding, is_causal false", {"scale_embedding": True, "is_causal": False}),
    ],
    "vit": [
        Selected("no bias, no pooler size", {"qkv_bias": False, "pooler_output_size": ABSENT, "pooler_act": "relu",
                                             "hidden_act": "linear"}, task="base"),
    ],
    "deit": [Selected("no layer_norm_eps", {"layer_norm_eps": ABSENT}, task="image-classification")],
    "dinov2": [
        Selected("SwiGLU, no qkv_bias", base=dict(use_swiglu_ffn=True, qkv_bias=False), task="image-classification"),
        Selected("a table for a square image", base=dict(image_size=[8, 2]), task="base"),
    ],
    "dinov2_with_registers": [
        Selected("one register", base=dict(num_register_tokens=1, image_size=5), task="image-classification"),
        Selected("no patch_size, another activation", {"patch_size": ABSENT, "hidden_act": "relu"},
                 base=dict(patch_size=16, image_size=32), task="base"),
    ],
    "dinov3_vit": [
        Selected("no registers, no rope_theta", {"rope_theta": ABSENT, "layer_norm_eps": 0.01}),
        Selected("gated, one register, other biases", {"hidden_act": "silu"}, base=dict(
            use_gated_mlp=True, num_register_tokens=1, rope_theta=10.0, query_bias=False, key_bias=True, value_bias=False,
            proj_bias=False, mlp_bias=False, image_size=5)),
    ],
    "siglip": [
        Selected("projection_size, no hidden_act", {"text_config": {"projection_size": 8, "hidden_act": ABSENT}}),
        Selected("images by themselves", {"vision_config": {"layer_norm_eps": 0.01}}, task="image-classification"),
        Selected("no head of attention", {"vision_config": {"vision_use_head": False}}, task="image-classification"),
    ],
    "clip": [
        Selected("text_config_dict over text_config", {"text_config_dict": dict(
            vocab_size=40, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=12,
            max_position_embeddings=20, hidden_act="relu", eos_token_id=39)}),
        Selected("no eos_token_id, no numbers of heads", {
            "text_config": {"eos_token_id": ABSENT, "num_attention_heads": ABSENT}}),
    ],
}


def small(settings):
    return {key: small(value) if isinstance(value, dict) else SMALL.get(key, value) for key, value in settings.items()}


def with_one_layer(settings):
    return {key: with_one_layer(value) if isinstance(value, dict) else 1 if key in ("num_hidden_layers", "num_layers") else value
            for key, value in settings.items()}


def cases_of(bench, family, model_type, selected):
    for entry in selected:
        told = "causal-lm" if entry.text and "causal-lm" in family.tasks else "base" if "base" in family.tasks else None
        task = entry.task or told or next(iter(family.tasks))
        settings = small(base_config(family))
        if model_type in ONE_LAYER:
            settings = with_one_layer(settings)
        saved = bench.save_base(settings | entry.base, task)
        config = with_changes(version_4(saved) if entry.old else saved, entry.change)
        case = bench.run(f"{model_type}/{entry.name}", config, task, untied=entry.untied, text=entry.text, **entry.more)
        if case is None:
            raise ValueError(f"{model_type}/{entry.name} is too large")
        case["outputs"] = {key: value for key, value in case["outputs"].items() if key in OUTPUTS}
        yield case


def main():
    args = arguments(__doc__)
    quiet()
    folder = os.path.join(args.out, "config_keys")
    shutil.rmtree(os.path.join(folder, "weights"), ignore_errors=True)
    store, cases = Store(args.out, "config_keys"), []
    with tempfile.TemporaryDirectory() as scratch:
        for model_type, selected in SELECTION.items():
            bench = Bench(store, os.path.join(scratch, model_type), model_type, FAMILIES[model_type], torch.bfloat16)
            cases += cases_of(bench, FAMILIES[model_type], model_type, selected)
    used = {key for case in cases for side in ("inputs", "outputs") for key in case[side].values()}
    store.tensors = {key: tensor for key, tensor in store.tensors.items() if key in used}
    store.save()
    write_cases(args.out, "config_keys", cases, "config_keys_selection.py")
    for case in cases:
        if "refused" in case:
            print(f"{case['name']}: upstream refuses: {case['refused']}")
    total = sum(os.path.getsize(os.path.join(root, file)) for root, _, files in os.walk(folder) for file in files)
    print(f"{folder}: {len(cases)} cases, {total} bytes")


if __name__ == "__main__":
    main()
