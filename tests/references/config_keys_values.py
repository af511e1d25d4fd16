"""The values that keys of config.json are changed to, for all families; sizes are those of tiny models."""

import json
import os

ACTIVATIONS = ["gelu", "relu", "silu", "gelu_new", "quick_gelu", "gelu_pytorch_tanh", "tanh", "swish", "gelu_fast",
               "relu2", "mish", "gelu_10", "gelu_python", "gelu_accurate", "sigmoid", "leaky_relu", "hardswish", "relu6",
               "linear", "laplace", "sqrtsoftplus", "gelu_python_tanh"]
EPS = [1e-2, 1e-12]
ROPES = [
    {"rope_type": "linear", "factor": 3.0},
    {"type": "linear", "factor": 2.0},
    {"rope_type": "dynamic", "factor": 2.0},
    {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
     "original_max_position_embeddings": 16},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8, "beta_fast": 3, "beta_slow": 1,
     "mscale": 0.7, "mscale_all_dim": 0.4},
    {"type": "su", "short_factor": [1.0, 1.5], "long_factor": [2.0, 3.0]},
    {"type": "longrope", "short_factor": [1.0, 1.5], "long_factor": [2.0, 3.0], "original_max_position_embeddings": 6},
    {"rope_type": "default", "rope_theta": 37.0},
    {"rope_type": "default", "rope_theta": 37.0, "partial_rotary_factor": 0.5},
    {"full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 50.0},
     "sliding_attention": {"rope_type": "default", "rope_theta": 20.0}},
    {},
]

VALUES = {
    # sizes
    "vocab_size": [43], "hidden_size": [24], "n_embd": [24], "d_model": [24], "dim": [24], "d_kv": [6], "head_dim": [6],
    "num_hidden_layers": [1, 3], "n_layer": [1, 3], "n_layers": [1, 3], "num_layers": [1, 3], "num_decoder_layers": [1, 3],
    "encoder_layers": [1, 3], "decoder_layers": [1, 3],
    "num_attention_heads": [2, 8], "n_head": [2, 8], "n_heads": [2, 8], "num_heads": [2, 8], "num_key_value_heads": [1, 4],
    "encoder_attention_heads": [2, 8], "decoder_attention_heads": [2, 8],
    "intermediate_size": [20], "n_inner": [20], "d_ff": [20], "hidden_dim": [20], "encoder_ffn_dim": [20],
    "decoder_ffn_dim": [20], "max_position_embeddings": [24, 64], "n_positions": [24], "n_ctx": [24],
    "max_source_positions": [14], "max_target_positions": [30], "num_mel_bins": [6], "type_vocab_size": [3, 1],
    "decoder_vocab_size": [40], "embedding_size": [8], "projection_dim": [10], "image_size": [12, [8, 12]],
    "patch_size": [2, [4, 2]], "num_channels": [1], "pooler_output_size": [9], "encoder_stride": [8],
    "mlp_ratio": [3], "num_register_tokens": [2, 0], "projection_size": [12], "vision_use_head": [False],
    "num_labels": [3, 5], "id2label": [{"0": "a", "1": "b", "2": "c"}], "label2id": [{"a": 0, "b": 1, "c": 2}],
    "problem_type": ["regression", "multi_label_classification"],
    "linear_num_key_heads": [1], "linear_num_value_heads": [4, 3], "linear_key_head_dim": [5], "linear_value_head_dim": [4],
    "linear_conv_kernel_dim": [2, 1], "full_attention_interval": [2, 1, 0],
    # activations, norms, scales
    "hidden_act": ACTIVATIONS, "activation_function": ACTIVATIONS, "activation": ACTIVATIONS,
    "hidden_activation": ACTIVATIONS, "classifier_activation": ["relu"], "pooler_act": ["relu"],
    "feed_forward_proj": ["gated-gelu", "gated-silu", "gelu", "gated-relu"], "dense_act_fn": ["silu"],
    "is_gated_act": [True, False], "layer_norm_eps": EPS, "layer_norm_epsilon": EPS, "norm_eps": EPS, "rms_norm_eps": EPS,
    "norm_epsilon": EPS, "norm_bias": [True], "qk_layernorm": [True], "use_qk_norm": [True], "qk_norm": [True],
    "scale_attn_weights": [False], "scale_attn_by_inverse_layer_idx": [True], "reorder_and_upcast_attn": [True],
    "scale_embedding": [True, False], "scale_decoder_outputs": [False, True], "query_pre_attn_scalar": [9],
    "attn_logit_softcapping": [2.0, None], "final_logit_softcapping": [3.0, None], "logit_scale_init_value": [1.0],
    "embedding_multiplier": [2.0], "residual_multiplier": [0.5], "attention_multiplier": [0.5], "logits_scaling": [2.0],
    "attention_bias": [True], "mlp_bias": [True], "qkv_bias": [False, True], "decoder_bias": [False],
    "classifier_bias": [True], "use_bias": [True], "use_swiglu_ffn": [True], "use_mask_token": [False], "bias": [True],
    "query_bias": [False, True], "key_bias": [True, False], "value_bias": [False, True], "proj_bias": [False, True], "use_gated_mlp": [True],
    "pos_embed_shift": [0.5], "pos_embed_jitter": [2.0], "pos_embed_rescale": [0.5], "classifier_pooling": ["mean"],
    # positions and masks
    "rope_theta": [50.0, 1000000.0], "rope_scaling": ROPES, "rope_parameters": ROPES, "partial_rotary_factor": [0.5],
    "rotary_pct": [0.5], "rotary_emb_base": [50], "rope_local_base_freq": [20.0], "global_rope_theta": [50.0],
    "local_rope_theta": [20.0], "original_max_position_embeddings": [8], "sliding_window": [3, None],
    "use_sliding_window": [True, False], "max_window_layers": [0, 1], "sliding_window_pattern": [2, 1],
    "global_attn_every_n_layers": [2], "local_attention": [4], "window_size": [3],
    "attention_types": [[[["local"], 2]], [[["global"], 2]]], "attention_layers": [["local", "local"]],
    "layer_types": [["sliding_attention", "sliding_attention"], ["full_attention", "full_attention"],
                    ["full_attention", "sliding_attention"], ["conv", "conv"]],
    "full_attn_idxs": [[1], []], "conv_L_cache": [2, 4, 1], "conv_bias": [True], "block_multiple_of": [5, 16],
    "block_ffn_dim_multiplier": [1.3, 2], "block_auto_adjust_ff_dim": [False], "block_ff_dim": [20], "tie_embedding": [False],
    "no_rope_layers": [[0, 1]], "is_causal": [False, True], "use_bidirectional_attention": [True],
    "position_embedding_type": ["relative_key", "absolute", "rotary"], "sinusoidal_pos_embds": [True],
    "relative_attention_num_buckets": [6], "relative_attention_max_distance": [8], "alibi": [True],
    "static_position_embeddings": [True], "normalize_embedding": [False], "normalize_before": [True],
    "add_final_layer_norm": [True], "add_bias_logits": [True], "extra_pos_embeddings": [0],
    "relative_attention": [False, True], "position_buckets": [6, -1], "max_relative_positions": [5, -1],
    "pos_att_type": ["c2p", ["p2c"], "p2c|c2p"], "share_att_key": [True], "norm_rel_ebd": ["layer_norm"],
    "emb_layer_norm_before": [True, False], "token_dropout": [True, False], "mask_token_id": [21, None], "is_folding_model": [True],
    "position_biased_input": [False, True], "conv_kernel_size": [3], "attention_head_size": [6],
    # shared layers and heads
    "num_hidden_groups": [2], "inner_group_num": [2], "legacy": [False, True], "pooler_hidden_act": ["relu"],
    "pooler_hidden_size": [24],
    # ties and classes
    "tie_word_embeddings": [True, False], "share_encoder_decoder_embeddings": [False], "tie_encoder_decoder": [True],
    "is_decoder": [True], "add_cross_attention": [True], "is_encoder_decoder": [True, False],
    "use_weighted_layer_sum": [True], "sparse_prediction": [True],
    # tokens: used for pooling (CLIP) and positions (RoBERTa)
    "pad_token_id": [7, None], "bos_token_id": [9], "eos_token_id": [11, [2, 11]], "cls_token_id": [9],
    "sep_token_id": [9], "decoder_start_token_id": [4], "forced_eos_token_id": [2],
    # without effect on the mathematics
    "torch_dtype": ["float16"], "dtype": ["bfloat16"], "use_cache": [False], "output_attentions": [True],
    "output_hidden_states": [True], "return_dict": [False], "chunk_size_feed_forward": [3], "pretraining_tp": [2],
    "gradient_checkpointing": [True], "torchscript": [True], "pruned_heads": [{"0": [1]}], "n_special": [1],
    "output_past": [True], "classif_dropout": [0.3], "summary_type": ["last"], "task_specific_params": [{"a": {"b": 1}}],
    "hidden_dropout": [0.2], "apply_spec_augment": [True], "begin_suppress_tokens": [None, [5]], "suppress_tokens": [[6]],
    "text_config": [{"hidden_size": 24, "hidden_act": "relu"}], "vision_config": [{"hidden_size": 24}],
    "text_config_dict": [{"hidden_size": 24}], "vision_config_dict": [{"hidden_size": 24}],
    "mm_tokens_per_image": [1], "summary_activation": ["relu"], "ffn_dim": [20], "afn": ["relu", "swish", "gelu_new"], "do_layer_norm_before": [False], "_remove_final_layer_norm": [True],
    "word_embed_proj_dim": [8, None], "enable_bias": [False], "layer_norm_elementwise_affine": [False],
    "no_rope_layer_interval": [2, 1], "multi_query": [True],
    "parallel_attn": [True], "new_decoder_architecture": [True], "clip_qkv": [0.1], "residual_in_fp32": [True],
    "num_experts": [2, 6, 0], "num_local_experts": [2, 6, 0], "num_experts_per_tok": [1, 3, 9], "norm_topk_prob": [True, False],
    "decoder_sparse_step": [2, 3, 0], "mlp_only_layers": [[0], [1, 5]], "moe_intermediate_size": [16],
    "output_router_logits": [True], "router_jitter_noise": [0.2], "conv_kernel": [3], "attention_scale": [0.3], "use_mrope": [True],
}
# Keys that identify the folder; they are not changed.
KEPT = {"model_type", "architectures", "transformers_version", "dtype_of_saved"}
SKIPPED = {"quantization_config"}


def classes():
    """The classes' keys, from the fixture written by config_keys_classes.py."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "config_keys", "classes.json")
    with open(path, encoding="ascii") as file:
        return json.load(file)["classes"]


CLASSES = classes()


def own_keys(model_type):
    """The keys and alternative names declared by the model type's class."""
    known = CLASSES.get(model_type, {"keys": {}, "other_names": {}})  # Gemma 3's vision tower is not read here
    return {*known["keys"], *known["other_names"]} - KEPT


def may_be_null(key, model_type):
    """Whether null is a valid value of the key: otherwise the classes' type checks refuse it."""
    known = CLASSES.get(model_type, {"keys": {}})["keys"]
    return known.get(key) is None or key.endswith(("token_id", "softcapping", "sliding_window"))


def known_keys():
    """Every key of any class, older names and keys of similar families."""
    keys = set(VALUES)
    for model_type in CLASSES:
        keys |= own_keys(model_type)
    return sorted(keys - KEPT - SKIPPED)


def values_of(key):
    """The values a key is changed to: its own, or one of its type for the many keys that concern training only."""
    if key in VALUES:
        return VALUES[key]
    if "drop" in key or "prob" in key or "range" in key or key.startswith("init") or "factor" in key:
        return [0.3]
    return [3]
