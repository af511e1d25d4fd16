"""Configurations of the tiny decoder-only checkpoints: two or three of each architecture but Llama."""

from transformers import (
    ArceeConfig, BioGptConfig, BloomConfig, CodeGenConfig, Cohere2Config, CohereConfig, Ernie4_5Config, Exaone4Config,
    FalconConfig, Gemma2Config, Gemma3TextConfig, GemmaConfig, Glm4Config, GlmConfig, GPT2Config, GPTBigCodeConfig,
    GPTJConfig, GPTNeoConfig, GPTNeoXConfig, GraniteConfig, GraniteMoeConfig, GraniteMoeHybridConfig, HeliumConfig, HunYuanDenseV1Config,
    Lfm2Config, MistralConfig, MixtralConfig, ModernBertDecoderConfig, MptConfig, NanoChatConfig, NemotronConfig, Olmo2Config,
    Olmo3Config, OlmoConfig, OlmoeConfig, OpenAIGPTConfig, OPTConfig, Phi3Config, PhiConfig, Qwen2Config,
    Qwen3_5TextConfig, Qwen3Config, Qwen3MoeConfig, SmolLM3Config, StableLmConfig, Starcoder2Config,
    VaultGemmaConfig, XGLMConfig,
)

from models_spellings import without

TOKENS = dict(bos_token_id=1, eos_token_id=2, pad_token_id=0)
EVEN = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            intermediate_size=40, max_position_embeddings=64) | TOKENS
ODD = dict(vocab_size=97, hidden_size=30, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
           intermediate_size=37, max_position_embeddings=64) | TOKENS
WIDE = EVEN | dict(num_attention_heads=2)  # a quarter of each head is rotated
FOUR_EXPERTS = dict(num_local_experts=4, num_experts_per_tok=2)
FIVE_EXPERTS = dict(num_local_experts=5, num_experts_per_tok=3)
# Of so small heads some results are near zero, and their norm, with a small epsilon, magnifies rounding errors.
DELTA = dict(linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=16, rms_norm_eps=1e-2)
HEADS_OF_8, HEADS_OF_10 = dict(head_dim=8), dict(head_dim=10)


def rope(theta=10000.0, **more):
    return {"rope_type": "default", "rope_theta": theta} | more


def gpt2(size, **more):
    return GPT2Config(vocab_size=size["vocab_size"], n_positions=40, n_embd=size["hidden_size"], n_layer=2,
                      n_head=size["num_attention_heads"], **TOKENS, **more)


def gpt_neo(size, **more):
    return GPTNeoConfig(vocab_size=size["vocab_size"], max_position_embeddings=40, hidden_size=size["hidden_size"],
                        num_layers=3, num_heads=size["num_attention_heads"], window_size=5, **TOKENS,
                        attention_types=[[["global"], 1], [["local", "global"], 1]], **more)


def openai_gpt(size, **more):
    return OpenAIGPTConfig(vocab_size=size["vocab_size"], n_positions=40, n_embd=size["hidden_size"], n_layer=2,
                           n_head=size["num_attention_heads"], **TOKENS, **more)


def xglm(size, **more):
    return XGLMConfig(vocab_size=size["vocab_size"], max_position_embeddings=size["max_position_embeddings"], d_model=size["hidden_size"],
                      num_layers=2, attention_heads=size["num_attention_heads"], ffn_dim=size["intermediate_size"], **TOKENS, **more)


def opt(size, **more):
    return OPTConfig(**without(size, "intermediate_size", "num_key_value_heads"), ffn_dim=size["intermediate_size"], **more)


def modern_decoder(size, **more):
    return ModernBertDecoderConfig(**without(size, "num_key_value_heads"), cls_token_id=1, sep_token_id=2, **more)


def granite_hybrid(size, **more):
    """Without its recurrent layers and experts, as Granite 4.0 350M."""
    return GraniteMoeHybridConfig(**size | dict(intermediate_size=7), shared_intermediate_size=size["intermediate_size"], num_local_experts=0,
                                  layer_types=["attention"] * size["num_hidden_layers"], mamba_n_heads=1, **more)


def gpt_sizes(size):
    return dict(vocab_size=size["vocab_size"], n_positions=40, n_embd=size["hidden_size"], n_layer=2,
                n_head=size["num_attention_heads"], **TOKENS)


def falcon_sizes(size):
    return without(size, "num_key_value_heads", "intermediate_size")


def phi(settings, **more):
    return PhiConfig(**settings | dict(rope_parameters=rope(partial_rotary_factor=0.4)) | more)


SLIDING_FIRST = ["sliding_attention", "full_attention"]
YARN = rope(rope_type="yarn", factor=4.0, original_max_position_embeddings=16)
LONGROPE = rope(rope_type="longrope", partial_rotary_factor=0.75, short_factor=[1.0 + 0.1 * i for i in range(6)],
                long_factor=[1.5 + 0.7 * i for i in range(6)])
CONFIGURATIONS = {
    "gpt2": {
        "even": lambda: gpt2(EVEN),
        "odd": lambda: gpt2(ODD, n_inner=37, activation_function="gelu", scale_attn_by_inverse_layer_idx=True),
    },
    "gpt_neo": {
        "even": lambda: gpt_neo(EVEN),
        "odd": lambda: gpt_neo(ODD, intermediate_size=37),
    },
    "mistral": {
        "even": lambda: MistralConfig(**EVEN, **HEADS_OF_8, sliding_window=5),
        "odd": lambda: MistralConfig(**ODD, **HEADS_OF_10, sliding_window=None, rope_parameters=rope(1e6)),
    },
    "qwen2": {
        "even": lambda: Qwen2Config(**EVEN, tie_word_embeddings=True, rope_parameters=rope(1e6)),
        "odd": lambda: Qwen2Config(**ODD, use_sliding_window=True, sliding_window=5, max_window_layers=1),
    },
    "qwen3": {
        "even": lambda: Qwen3Config(**EVEN, head_dim=16, tie_word_embeddings=True, rope_parameters=YARN),
        "odd": lambda: Qwen3Config(**ODD, **HEADS_OF_10, attention_bias=True, use_sliding_window=True, sliding_window=5,
                                   max_window_layers=1),
    },
    "phi": {
        "even": lambda: phi(EVEN | dict(hidden_size=32, num_attention_heads=2, num_key_value_heads=2),
                            rope_parameters=rope(partial_rotary_factor=0.5), qk_layernorm=True),
        "odd": lambda: phi(ODD | dict(num_key_value_heads=3)),
    },
    "phi3": {
        "even": lambda: Phi3Config(**EVEN, sliding_window=5),
        "odd": lambda: Phi3Config(**ODD, rope_parameters=rope(partial_rotary_factor=0.4)),
        # Phi-4-mini: every key of its config.json with an effect.
        "mini": lambda: Phi3Config(**EVEN | dict(hidden_size=64), tie_word_embeddings=True, sliding_window=64,
                                   original_max_position_embeddings=8, rope_parameters=LONGROPE),
    },
    "gemma": {
        "even": lambda: GemmaConfig(**EVEN, head_dim=16),
        "odd": lambda: GemmaConfig(**ODD, head_dim=10, hidden_act="gelu", attention_bias=True),
    },
    "olmo": {
        "even": lambda: OlmoConfig(**EVEN, clip_qkv=0.8),
        "odd": lambda: OlmoConfig(**ODD, tie_word_embeddings=True, attention_bias=True),
    },
    "olmo2": {
        "even": lambda: Olmo2Config(**EVEN, rope_parameters=rope(5e5)),
        "odd": lambda: Olmo2Config(**ODD, tie_word_embeddings=True, attention_bias=True),
    },
    "olmo3": {
        "even": lambda: Olmo3Config(**EVEN | dict(num_hidden_layers=4), sliding_window=5, rope_parameters=YARN),
        "odd": lambda: Olmo3Config(**ODD, sliding_window=4, layer_types=["full_attention", "sliding_attention"]),
    },
    "smollm3": {
        "even": lambda: SmolLM3Config(**EVEN, no_rope_layer_interval=2, rope_parameters=rope(5e6)),
        "odd": lambda: SmolLM3Config(**ODD, no_rope_layers=[0, 1], use_sliding_window=True, sliding_window=5,
                                     tie_word_embeddings=False, mlp_bias=True),
    },
    "granite": {
        "even": lambda: GraniteConfig(**EVEN, tie_word_embeddings=True, embedding_multiplier=3.0, residual_multiplier=0.6,
                                      attention_multiplier=0.25, logits_scaling=0.5),
        "odd": lambda: GraniteConfig(**ODD, residual_multiplier=1.4, attention_multiplier=0.4, logits_scaling=2,
                                     attention_bias=True, mlp_bias=True),
    },
    "starcoder2": {
        "even": lambda: Starcoder2Config(**EVEN, sliding_window=5, rope_parameters=rope(1e5)),
        "odd": lambda: Starcoder2Config(**ODD, use_bias=False, tie_word_embeddings=False, norm_epsilon=1e-3),
    },
    "opt": {
        "even": lambda: opt(EVEN),
        # As OPT-350m.
        "odd": lambda: opt(ODD, word_embed_proj_dim=17, do_layer_norm_before=False),
        "plain_norms": lambda: opt(EVEN, layer_norm_elementwise_affine=False, enable_bias=False, word_embed_proj_dim=16,
                                   activation_function="gelu", tie_word_embeddings=False),
    },
    "openai_gpt": {
        "even": lambda: openai_gpt(EVEN),
        "odd": lambda: openai_gpt(ODD, afn="silu", tie_word_embeddings=False),
    },
    "gemma2": {
        "even": lambda: Gemma2Config(**EVEN, head_dim=8, sliding_window=5, query_pre_attn_scalar=16,
                                     attn_logit_softcapping=2.0, final_logit_softcapping=6.0, layer_types=SLIDING_FIRST),
        "odd": lambda: Gemma2Config(**ODD, head_dim=10, sliding_window=5, query_pre_attn_scalar=7,
                                    attn_logit_softcapping=None, final_logit_softcapping=None,
                                    layer_types=SLIDING_FIRST),
    },
    "gemma3_text": {
        "even": lambda: Gemma3TextConfig(
            **EVEN | dict(num_hidden_layers=3), head_dim=16, sliding_window=5, query_pre_attn_scalar=16,
            layer_types=["sliding_attention", "sliding_attention", "full_attention"]),
        "odd": lambda: Gemma3TextConfig(
            **ODD, head_dim=10, sliding_window=5, query_pre_attn_scalar=7, layer_types=SLIDING_FIRST,
            final_logit_softcapping=5.0,
            rope_parameters={"full_attention": rope(1e6, rope_type="linear", factor=8.0),
                             "sliding_attention": rope(10000.0)}),
    },
    "gpt_neox": {
        "even": lambda: GPTNeoXConfig(**without(WIDE, "num_key_value_heads")),
        "odd": lambda: GPTNeoXConfig(**without(ODD, "num_key_value_heads"), use_parallel_residual=False, attention_bias=False,
                                     rope_parameters=rope(partial_rotary_factor=0.4)),
    },
    "gptj": {
        "even": lambda: GPTJConfig(**gpt_sizes(EVEN), rotary_dim=4),
        "odd": lambda: GPTJConfig(**gpt_sizes(ODD), rotary_dim=6, n_inner=37, activation_function="gelu"),
    },
    "codegen": {
        "even": lambda: CodeGenConfig(**gpt_sizes(EVEN), rotary_dim=8),
        "odd": lambda: CodeGenConfig(**gpt_sizes(ODD | dict(hidden_size=40, num_attention_heads=4)), rotary_dim=6, n_inner=37),
    },
    "bloom": {
        "even": lambda: BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4, **TOKENS),
        "odd": lambda: BloomConfig(vocab_size=97, hidden_size=30, n_layer=2, n_head=3, **TOKENS, tie_word_embeddings=False),
    },
    "falcon": {
        "even": lambda: FalconConfig(**falcon_sizes(EVEN), new_decoder_architecture=True, num_kv_heads=2),
        "odd": lambda: FalconConfig(**falcon_sizes(ODD), bias=True, ffn_hidden_size=37, tie_word_embeddings=False),
    },
    "mpt": {
        "even": lambda: MptConfig(vocab_size=64, d_model=32, n_layers=2, n_heads=4, max_seq_len=40, **TOKENS),
        "odd": lambda: MptConfig(vocab_size=97, d_model=30, n_layers=2, n_heads=3, max_seq_len=40, **TOKENS,
                                 attn_config=dict(clip_qkv=0.8, softmax_scale=0.2), tie_word_embeddings=False),
    },
    "stablelm": {
        "even": lambda: StableLmConfig(**WIDE, use_parallel_residual=True, qk_layernorm=True),
        "odd": lambda: StableLmConfig(**ODD, use_qkv_bias=True, rope_parameters=rope(partial_rotary_factor=0.4)),
    },
    "cohere": {
        "even": lambda: CohereConfig(**EVEN, use_qk_norm=True, logit_scale=0.5),
        "odd": lambda: CohereConfig(**ODD, attention_bias=True, logit_scale=2.0, tie_word_embeddings=False),
    },
    "cohere2": {
        "even": lambda: Cohere2Config(**EVEN | dict(num_hidden_layers=4), sliding_window=5, logit_scale=0.5),
        "odd": lambda: Cohere2Config(**ODD, sliding_window=4, layer_types=["full_attention", "sliding_attention"], logit_scale=1.5),
    },
    "lfm2": {
        "even": lambda: Lfm2Config(**EVEN | dict(num_hidden_layers=4), layer_types=["conv", "full_attention", "conv", "conv"],
                                   block_multiple_of=8, rope_parameters=rope(1e6)),
        "odd": lambda: Lfm2Config(**ODD | dict(num_hidden_layers=3), layer_types=["conv", "full_attention", "conv"],
                                  conv_bias=True, conv_L_cache=4, block_auto_adjust_ff_dim=False, tie_word_embeddings=False),
    },
    "qwen3_5_text": {
        "even": lambda: Qwen3_5TextConfig(**EVEN | dict(num_hidden_layers=4), **DELTA, head_dim=16, tie_word_embeddings=True,
                                          layer_types=["linear_attention", "full_attention", "linear_attention", "linear_attention"],
                                          rope_parameters=rope(1e6, partial_rotary_factor=0.25, mrope_section=[1, 1, 0])),
        "odd": lambda: Qwen3_5TextConfig(**ODD | dict(num_hidden_layers=3), **HEADS_OF_10, full_attention_interval=2, attention_bias=True,
                                         linear_num_key_heads=3, linear_num_value_heads=3, linear_key_head_dim=5, linear_value_head_dim=7,
                                         linear_conv_kernel_dim=3, rope_parameters=rope(partial_rotary_factor=0.4)),
        # As published: a file of the whole model, and one layer of four with attention.
        "whole": lambda: Qwen3_5TextConfig(**EVEN | dict(num_hidden_layers=4), **DELTA, head_dim=16),
    },
    "granitemoe": {
        "even": lambda: GraniteMoeConfig(**EVEN, **FOUR_EXPERTS, tie_word_embeddings=True, embedding_multiplier=3.0,
                                         residual_multiplier=0.6, attention_multiplier=0.25, logits_scaling=0.5),
        "odd": lambda: GraniteMoeConfig(**ODD, **FIVE_EXPERTS, residual_multiplier=1.4, attention_multiplier=0.4, logits_scaling=2,
                                        attention_bias=True),
    },
    "granitemoehybrid": {
        "even": lambda: granite_hybrid(EVEN, position_embedding_type="rope", tie_word_embeddings=True, embedding_multiplier=3.0,
                                       residual_multiplier=0.6, attention_multiplier=0.25, logits_scaling=0.5),
        # No positions at all.
        "odd": lambda: granite_hybrid(ODD, residual_multiplier=1.4, attention_multiplier=0.4, logits_scaling=2, attention_bias=True),
    },
    "olmoe": {
        "even": lambda: OlmoeConfig(**EVEN, **FOUR_EXPERTS, rope_parameters=rope(5e5)),
        "odd": lambda: OlmoeConfig(**ODD, **FIVE_EXPERTS, tie_word_embeddings=True, attention_bias=True, norm_topk_prob=True),
    },
    "qwen3_moe": {
        "even": lambda: Qwen3MoeConfig(**EVEN | dict(num_hidden_layers=4), **FOUR_EXPERTS, head_dim=16, moe_intermediate_size=24,
                                       norm_topk_prob=True, decoder_sparse_step=2, mlp_only_layers=[3], tie_word_embeddings=True),
        "odd": lambda: Qwen3MoeConfig(**ODD, **FIVE_EXPERTS, **HEADS_OF_10, moe_intermediate_size=19, attention_bias=True,
                                      use_sliding_window=True, sliding_window=5),
    },
    "mixtral": {
        "even": lambda: MixtralConfig(**EVEN, **FOUR_EXPERTS, **HEADS_OF_8, sliding_window=5),
        "odd": lambda: MixtralConfig(**ODD, **FIVE_EXPERTS, rope_parameters=rope(1e6), tie_word_embeddings=True),
    },
    "gpt_bigcode": {
        "even": lambda: GPTBigCodeConfig(**gpt_sizes(EVEN)),
        "odd": lambda: GPTBigCodeConfig(**gpt_sizes(ODD), multi_query=False, n_inner=37, activation_function="gelu"),
    },
    "ernie4_5": {
        "even": lambda: Ernie4_5Config(**EVEN, head_dim=16),
        "odd": lambda: Ernie4_5Config(**ODD, **HEADS_OF_10, use_bias=True, tie_word_embeddings=False, rope_parameters=rope(1e5)),
    },
    "helium": {
        "even": lambda: HeliumConfig(**EVEN, **HEADS_OF_8),
        "odd": lambda: HeliumConfig(**ODD, **HEADS_OF_10, attention_bias=True, mlp_bias=True, tie_word_embeddings=True),
    },
    "glm": {
        "even": lambda: GlmConfig(**EVEN, head_dim=16),
        "odd": lambda: GlmConfig(**ODD, head_dim=12, attention_bias=False, rope_parameters=rope(1e5, partial_rotary_factor=0.5)),
    },
    "glm4": {
        "even": lambda: Glm4Config(**EVEN, head_dim=16, attention_bias=False),
        "odd": lambda: Glm4Config(**ODD, head_dim=12, tie_word_embeddings=True),
    },
    "exaone4": {
        "even": lambda: Exaone4Config(**EVEN | dict(num_hidden_layers=4), sliding_window=5, sliding_window_pattern=2),
        # As EXAONE 4.0 1.2B: every layer attends to everything and has positions.
        "odd": lambda: Exaone4Config(**ODD, sliding_window=None, layer_types=["full_attention"] * 2, tie_word_embeddings=True,
                                     rope_parameters=rope(1e6, rope_type="llama3", factor=4.0, low_freq_factor=1.0,
                                                          high_freq_factor=4.0, original_max_position_embeddings=16)),
    },
    "arcee": {
        "even": lambda: ArceeConfig(**EVEN, rope_parameters=YARN),
        "odd": lambda: ArceeConfig(**ODD, **HEADS_OF_10, attention_bias=True, mlp_bias=True, tie_word_embeddings=True),
    },
    "nemotron": {
        "even": lambda: NemotronConfig(**EVEN, **HEADS_OF_8),
        "odd": lambda: NemotronConfig(**ODD, **HEADS_OF_10, attention_bias=True, mlp_bias=True, hidden_act="gelu", norm_eps=1e-3,
                                      tie_word_embeddings=True, rope_parameters=rope(1e5, partial_rotary_factor=0.8)),
    },
    "xglm": {
        # Shorter than the texts: its sinusoids continue.
        "even": lambda: xglm(EVEN | dict(max_position_embeddings=8)),
        "odd": lambda: xglm(ODD, scale_embedding=False, activation_function="relu", tie_word_embeddings=False),
    },
    "biogpt": {
        "even": lambda: BioGptConfig(**without(EVEN, "num_key_value_heads")),
        "odd": lambda: BioGptConfig(**without(ODD, "num_key_value_heads"), scale_embedding=False, hidden_act="relu",
                                    tie_word_embeddings=False),
    },
    "vaultgemma": {
        "even": lambda: VaultGemmaConfig(**EVEN, head_dim=8, sliding_window=5, query_pre_attn_scalar=16,
                                         attn_logit_softcapping=2.0, final_logit_softcapping=6.0),
        "odd": lambda: VaultGemmaConfig(**ODD, head_dim=10, sliding_window=5, query_pre_attn_scalar=7,
                                        attn_logit_softcapping=None, final_logit_softcapping=None),
    },
    "hunyuan_v1_dense": {
        # As published: another base within the positions of training.
        "even": lambda: HunYuanDenseV1Config(**EVEN, **HEADS_OF_8, rope_parameters=rope(rope_type="dynamic", factor=1.0, alpha=50.0)),
        "odd": lambda: HunYuanDenseV1Config(**ODD, **HEADS_OF_10, attention_bias=True, tie_word_embeddings=True),
    },
    "nanochat": {
        "even": lambda: NanoChatConfig(**EVEN, final_logit_softcapping=6.0),
        "odd": lambda: NanoChatConfig(**ODD, attention_bias=True, hidden_act="gelu",
                                      final_logit_softcapping=None, rope_parameters=rope(1e5)),
    },
    "modernbert_decoder": {
        "even": lambda: modern_decoder(EVEN | dict(num_hidden_layers=4), local_attention=10),
        "odd": lambda: modern_decoder(ODD, local_attention=8, layer_types=SLIDING_FIRST, norm_bias=True, attention_bias=True, mlp_bias=True,
                                      classifier_bias=True, decoder_bias=False, tie_word_embeddings=False),
    },
}
