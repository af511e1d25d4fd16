"""Tiny sizes and the possible values of keys that several model types share, for config_keys_families.py."""

from config_keys_values import ACTIVATIONS

TOKENS = dict(bos_token_id=1, eos_token_id=2, pad_token_id=0)
LLAMA_BASE = dict(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                  intermediate_size=24, max_position_embeddings=32) | TOKENS
ENCODER_BASE = dict(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24,
                    max_position_embeddings=32)
SEQ2SEQ_BASE = dict(vocab_size=40, d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                    decoder_attention_heads=4, encoder_ffn_dim=24, decoder_ffn_dim=20)
IMAGE_BASE = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24, image_size=8,
                  patch_size=4, num_channels=3)

# Consistent sizes: (hidden_size, heads, key-value heads, head_dim); a head_dim of None is omitted.
HEADS = [(16, 4, 2, None), (16, 2, 1, 6), (24, 3, 3, 8), (24, 4, 1, 8), (16, 4, 4, 4), (32, 2, 2, 10), (24, 12, 6, 4)]
PLAIN_HEADS = [(16, 4), (24, 3), (16, 2), (24, 12), (20, 1)]
LAYERS, EPS, ACTS = [1, 2, 3], [1e-2, 1e-3, 1e-5], ["silu", *ACTIVATIONS]
LAYER_KINDS = ["full_attention", "sliding_attention"]
ABSENT = "absent"  # the key is omitted
CAUSAL = [ABSENT, ABSENT, ABSENT, ABSENT, False, True]

LLAMA = dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=ACTS, rms_norm_eps=EPS,
             tie_word_embeddings=[False, True], attention_bias=[False, True], is_causal=CAUSAL,
             max_position_embeddings=[32, 20])
WINDOW = dict(use_sliding_window=[False, True], sliding_window=[3, 5, None], max_window_layers=[0, 1, 2])
# The norm of small results, which such heads have, magnifies rounding errors unless its epsilon is large.
DELTA = dict(linear_num_key_heads=2, linear_num_value_heads=2, linear_key_head_dim=4, linear_value_head_dim=6, rms_norm_eps=1e-2)
MULTIPLIERS = dict(embedding_multiplier=[1.0, 12, 0.5], residual_multiplier=[1.0, 0.22, 2], attention_multiplier=[1.0, 0.3, 0.015625],
                   logits_scaling=[1.0, 8, 0.5])
EXPERTS = dict(num_local_experts=4, num_experts_per_tok=2)
COUNTS = dict(num_local_experts=[4, 5, 3, 1, 0], num_experts_per_tok=[2, 1, 3, 4])
GEMMA = dict(hidden_activation=ACTS, query_pre_attn_scalar=[4, 9, 16], sliding_window=[2, 3, 5],
             attn_logit_softcapping=[None, 1.0, 5.0], final_logit_softcapping=[None, 2.0, 30.0],
             use_bidirectional_attention=[ABSENT, False, True], tie_word_embeddings=[True, True, False])
BERT = dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=ACTS, layer_norm_eps=EPS,
            type_vocab_size=[2, 3, 1], tie_word_embeddings=[True, True, False], pad_token_id=[0, 1, 5],
            chunk_size_feed_forward=[0, 0, 3], is_decoder=[False, False, False, True])
# Encoders whose class has no is_decoder.
PLAIN_BERT = {key: values for key, values in BERT.items() if key != "is_decoder"}
ESM_BASE = ENCODER_BASE | dict(pad_token_id=1, mask_token_id=20, position_embedding_type="rotary", token_dropout=True)
ESM = dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], layer_norm_eps=EPS, tie_word_embeddings=[True, True, False],
           pad_token_id=[1, 1, 0, 5], mask_token_id=[20, 33, 20, None], position_embedding_type=["rotary", "rotary", "absolute", "absolute", "relative_key"],
           emb_layer_norm_before=[None, True, False], token_dropout=[True, False], rope_theta=[10000.0, 50.0], hidden_act=[ABSENT],
           max_position_embeddings=[32, 20], is_decoder=[False, False, False, False, True], head_dim=[ABSENT, ABSENT, ABSENT, 4, 8])
DEBERTA = dict(relative_attention=[True, True, True, False], position_buckets=[-1, 4, 5, 8], max_relative_positions=[-1, 4, 7, 64],
               pos_att_type=["p2c|c2p", ["c2p", "p2c"], ["c2p"], "p2c", None], position_biased_input=[True, False],
               share_att_key=[ABSENT, True, False], norm_rel_ebd=[ABSENT, "layer_norm", "none"], legacy=[True, False],
               type_vocab_size=[0, 0, 2], pooler_hidden_act=["gelu", "tanh", "relu"], embedding_size=[ABSENT, ABSENT, 8],
               conv_kernel_size=[ABSENT, ABSENT, ABSENT, 0, 3], attention_head_size=[ABSENT])
SEQ2SEQ = dict(encoder_layers=LAYERS, decoder_layers=LAYERS, encoder_ffn_dim=[24, 17], decoder_ffn_dim=[20, 24],
               activation_function=ACTS, scale_embedding=[False, True], is_causal=CAUSAL)
BLENDERBOT = dict(max_position_embeddings=32, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
T5_BASE = dict(vocab_size=40, d_model=16, d_kv=4, d_ff=24, num_layers=2, num_heads=4, relative_attention_num_buckets=8,
               relative_attention_max_distance=12, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1)
T5 = dict(d_kv=[4, 6], d_ff=[24, 17], num_layers=LAYERS, num_decoder_layers=[None, 1, 2], tie_word_embeddings=[True, False],
          relative_attention_num_buckets=[8, 6, 9], relative_attention_max_distance=[12, 128], layer_norm_epsilon=EPS,
          feed_forward_proj=["relu", "gated-gelu", "gated-silu", "gelu", "silu", "gelu_new", "gated-relu", "relu2"], is_causal=CAUSAL)
IMAGE = dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=ACTS, layer_norm_eps=EPS,
             image_size=[8, 12, [8, 12]], patch_size=[4, 2, [4, 2]], num_channels=[3, 1], qkv_bias=[True, False],
             pooler_output_size=[None, 9], pooler_act=["tanh", "relu", "gelu"])
DINO = {key: IMAGE[key] for key in ("num_hidden_layers", "hidden_act", "layer_norm_eps", "num_channels", "qkv_bias")} | dict(
    mlp_ratio=[2, 3], use_swiglu_ffn=[False, True], image_size=[8, 12, 9, [8, 8], [8, 12], [16, 4]], patch_size=[4, 2, [4, 2]])
FLAG = [True, False]
DINO3 = {key: IMAGE[key] for key in ("num_hidden_layers", "intermediate_size", "hidden_act", "layer_norm_eps", "num_channels")} | dict(
    image_size=[8, 12, 9], patch_size=[4, 2], rope_theta=[100.0, 10.0, 7.5, 1.0], query_bias=FLAG, key_bias=FLAG, value_bias=FLAG,
    proj_bias=FLAG, mlp_bias=FLAG, use_gated_mlp=FLAG, num_register_tokens=[0, 4, 1])
SAMPLES_BASE = dict(vocab_size=20, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24, conv_dim=[6, 8, 10],
                    conv_kernel=[10, 3, 2], conv_stride=[5, 3, 2], num_conv_pos_embeddings=6, num_conv_pos_embedding_groups=4,
                    classifier_proj_size=9)
SAMPLES = dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=ACTS, layer_norm_eps=EPS, feat_extract_norm=["group", "layer"],
               feat_extract_activation=["gelu", *ACTS], conv_bias=[False, True], conv_kernel=[[10, 3, 2], [8, 4, 4], [5, 1, 3]],
               conv_stride=[[5, 3, 2], [4, 4, 1], [6, 2, 3]], conv_dim=[[6, 8, 10], [5, 5, 7], [4, 9, 6]],
               num_conv_pos_embeddings=[6, 5, 1, 30], num_conv_pos_embedding_groups=[4, 2, 1], do_stable_layer_norm=[False, True],
               classifier_proj_size=[9, 14], vocab_size=[20, 7], use_weighted_layer_sum=[False, False, False, True])
MODERN = dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_activation=ACTS, norm_eps=EPS,
              norm_bias=[False, True], attention_bias=[False, True], mlp_bias=[False, True], decoder_bias=[True, False],
              classifier_bias=[False, True], classifier_activation=ACTS, local_attention=[4, 6, 8], tie_word_embeddings=[True, True, False])
CLIP_TEXT = dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=["quick_gelu", *ACTS], layer_norm_eps=EPS,
                 eos_token_id=[2, 39, 30], pad_token_id=[1, 0])
CLIP_VISION = dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=["quick_gelu", *ACTS], layer_norm_eps=EPS,
                   image_size=[8, 12], patch_size=[4, 2])

GPTJ_BASE = dict(vocab_size=40, n_embd=16, n_layer=2, n_head=4, n_positions=32, rotary_dim=4) | TOKENS
GPTJ = dict(n_layer=LAYERS, n_inner=[None, 20], activation_function=ACTS, layer_norm_epsilon=EPS, rotary_dim=[2, 4],
            tie_word_embeddings=[False, True], is_causal=CAUSAL)
COHERE = dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=ACTS, layer_norm_eps=EPS,
              tie_word_embeddings=[True, True, False], attention_bias=[False, True], logit_scale=[0.0625, 0.5, 2.0],
              max_position_embeddings=[32, 20], is_causal=CAUSAL)
