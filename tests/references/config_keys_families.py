"""The model types that configurations are sampled for: a tiny base of each and what may vary."""

from dataclasses import dataclass, field

import transformers as hf

from config_keys_choices import (
    ABSENT, ACTS, BERT, BLENDERBOT, CAUSAL, CLIP_TEXT, CLIP_VISION, COHERE, COUNTS, DEBERTA, DELTA, DINO, DINO3, ENCODER_BASE, EPS, ESM,
    ESM_BASE, EXPERTS, GEMMA, GPTJ, GPTJ_BASE, IMAGE, IMAGE_BASE, LAYERS, LLAMA, LLAMA_BASE, MODERN, MULTIPLIERS, PLAIN_BERT, SAMPLES,
    SAMPLES_BASE, SEQ2SEQ, SEQ2SEQ_BASE, T5, T5_BASE, TOKENS, WINDOW,
)


@dataclass
class Family:
    config: type
    base: dict
    choices: dict
    tasks: dict  # our task: transformers' class that loads it
    inputs: str  # "encoder", "decoder", "seq2seq", "speech", "spectrogram", "image", "clip"
    heads: str = "llama"  # which sizes are sampled together
    rope: str = ""  # "one" set of parameters, "two" for local and global layers, or "alpha": one with Hunyuan's
    nested: dict = field(default_factory=dict)  # key: (base, choices) of nested configs
    gains: dict = field(default_factory=dict)
    attention: str = "eager"  # transformers' implementation
    part: float = 1.0  # of each head that is rotated, unless the config tells another


CAUSAL_LM = {"causal-lm": hf.AutoModelForCausalLM, "base": hf.AutoModel}
ENCODER = {"base": hf.AutoModel, "masked-lm": hf.AutoModelForMaskedLM,
           "sequence-classification": hf.AutoModelForSequenceClassification,
           "token-classification": hf.AutoModelForTokenClassification,
           "question-answering": hf.AutoModelForQuestionAnswering}
SAMPLES_TASKS = {"base": hf.AutoModel, "ctc": hf.AutoModelForCTC, "sequence-classification": hf.AutoModelForAudioClassification}
SEQ2SEQ_LM = {"seq2seq-lm": hf.AutoModelForSeq2SeqLM}
IMAGE_TASKS = {"base": hf.AutoModel, "image-classification": hf.AutoModelForImageClassification}
# The same as in models_encoder_decoder.py and models_decoder_only.py.
T5_GAINS = {"SelfAttention.q": 0.4, "EncDecAttention.q": 0.4}
GEMMA_GAINS = {"embed_tokens": 0.35}
DINO_BASE = {key: value for key, value in IMAGE_BASE.items() if key != "intermediate_size"} | dict(mlp_ratio=2)
GEMMA_VISION = dict(hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, image_size=8, patch_size=4)

FAMILIES = {
    "bert": Family(hf.BertConfig, ENCODER_BASE, BERT, ENCODER, "encoder", "plain"),
    "roberta": Family(hf.RobertaConfig, ENCODER_BASE | dict(type_vocab_size=1, pad_token_id=1), BERT, ENCODER,
                      "encoder", "plain"),
    "distilbert": Family(
        hf.DistilBertConfig, dict(vocab_size=40, dim=16, n_layers=2, n_heads=4, hidden_dim=24, max_position_embeddings=32),
        dict(n_layers=LAYERS, hidden_dim=[24, 17], activation=["gelu", "relu"], sinusoidal_pos_embds=[False, True],
             tie_word_embeddings=[True, True, False], pad_token_id=[0, 5]),
        ENCODER, "encoder", "distil"),
    "xlm-roberta": Family(hf.XLMRobertaConfig, ENCODER_BASE | dict(type_vocab_size=1, pad_token_id=1), BERT, ENCODER,
                          "encoder", "plain"),
    "camembert": Family(hf.CamembertConfig, ENCODER_BASE | dict(type_vocab_size=1, pad_token_id=1), BERT, ENCODER,
                        "encoder", "plain"),
    "data2vec-text": Family(hf.Data2VecTextConfig, ENCODER_BASE | dict(type_vocab_size=1, pad_token_id=1), BERT, ENCODER, "encoder", "plain"),
    "electra": Family(hf.ElectraConfig, ENCODER_BASE | dict(embedding_size=8), BERT | dict(embedding_size=[8, 16, 24]),
                      ENCODER | {"replaced-token-detection": hf.AutoModelForPreTraining}, "encoder", "plain"),
    "albert": Family(hf.AlbertConfig, ENCODER_BASE | dict(embedding_size=8),
                     PLAIN_BERT | dict(embedding_size=[8, 16], num_hidden_groups=[1, 2, 3], inner_group_num=[1, 2]),
                     ENCODER, "encoder", "plain"),
    "mpnet": Family(hf.MPNetConfig, ENCODER_BASE | dict(pad_token_id=1),
                    PLAIN_BERT | dict(type_vocab_size=[ABSENT], relative_attention_num_buckets=[32, 32, 32, 40]),
                    ENCODER, "encoder", "plain"),
    "deberta-v2": Family(
        hf.DebertaV2Config,
        ENCODER_BASE | dict(relative_attention=True, position_buckets=4, pos_att_type=["p2c", "c2p"], type_vocab_size=0),
        PLAIN_BERT | DEBERTA, ENCODER, "encoder", "plain"),
    "esm": Family(hf.EsmConfig, ESM_BASE, ESM, {task: auto for task, auto in ENCODER.items() if task != "question-answering"},
                  "encoder", "plain"),
    "eurobert": Family(
        hf.EuroBertConfig, LLAMA_BASE | dict(mask_token_id=3),
        {key: values for key, values in LLAMA.items() if key != "is_causal"} | dict(
            mlp_bias=[False, True], classifier_pooling=["mean", "bos", "mean", "late"]),
        {task: auto for task, auto in ENCODER.items() if task != "question-answering"}, "encoder", rope="one"),
    "nomic_bert": Family(hf.NomicBertConfig, ENCODER_BASE,
                         {key: values for key, values in PLAIN_BERT.items() if key != "chunk_size_feed_forward"} | dict(
                             head_dim=[ABSENT, ABSENT, 4, 8, 6], max_position_embeddings=[32, 20]),
                         {task: auto for task, auto in ENCODER.items() if task != "question-answering"}, "encoder", "plain", "one"),
    "modernbert": Family(
        hf.ModernBertConfig, ENCODER_BASE | TOKENS | dict(cls_token_id=1, sep_token_id=2, local_attention=6),
        MODERN | dict(classifier_pooling=["cls", "mean"]),
        ENCODER, "encoder", "plain", "two"),
    "gpt2": Family(
        hf.GPT2Config, dict(vocab_size=40, n_embd=16, n_layer=2, n_head=4, n_positions=32) | TOKENS,
        dict(n_layer=LAYERS, n_inner=[None, 20], activation_function=ACTS, layer_norm_epsilon=EPS,
             scale_attn_weights=[True, False], scale_attn_by_inverse_layer_idx=[False, True],
             reorder_and_upcast_attn=[False, True], tie_word_embeddings=[True, True, False], is_causal=CAUSAL),
        CAUSAL_LM, "decoder", "gpt2"),
    "gpt_bigcode": Family(
        hf.GPTBigCodeConfig, dict(vocab_size=40, n_embd=16, n_layer=2, n_head=4, n_positions=32) | TOKENS,
        dict(n_layer=LAYERS, n_inner=[None, 20], activation_function=ACTS, layer_norm_epsilon=EPS, multi_query=[True, False],
             scale_attn_weights=[True, False], attention_softmax_in_fp32=[True, False], scale_attention_softmax_in_fp32=[True, False],
             tie_word_embeddings=[True, True, False], is_causal=CAUSAL),
        CAUSAL_LM, "decoder", "gpt2"),
    "gpt_neo": Family(
        hf.GPTNeoConfig, dict(vocab_size=40, hidden_size=16, num_layers=2, num_heads=4, max_position_embeddings=32,
                              window_size=3, attention_types=[[["global", "local"], 1]]) | TOKENS,
        dict(intermediate_size=[None, 20], activation_function=ACTS, layer_norm_epsilon=EPS, window_size=[2, 3, 5],
             attention_types=[[[["global", "local"], 1]], [[["local"], 2]], [[["global"], 2]], [[["local"], 1], [["global"], 1]]],
             tie_word_embeddings=[True, True, False], is_causal=CAUSAL),
        CAUSAL_LM, "decoder", "gpt_neo"),
    "llama": Family(hf.LlamaConfig, LLAMA_BASE, LLAMA | dict(mlp_bias=[False, True]), CAUSAL_LM, "decoder", rope="one"),
    "mistral": Family(hf.MistralConfig, LLAMA_BASE | dict(sliding_window=4),
                      LLAMA | dict(sliding_window=[None, 3, 5], attention_bias=[ABSENT]), CAUSAL_LM, "decoder", rope="one"),
    "qwen2": Family(hf.Qwen2Config, LLAMA_BASE, LLAMA | WINDOW | dict(attention_bias=[ABSENT]), CAUSAL_LM, "decoder",
                    "no head_dim", rope="one"),
    "qwen3": Family(hf.Qwen3Config, LLAMA_BASE | dict(head_dim=4), LLAMA | WINDOW, CAUSAL_LM, "decoder", rope="one"),
    "phi": Family(
        hf.PhiConfig, LLAMA_BASE,
        dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=ACTS, layer_norm_eps=EPS,
             tie_word_embeddings=[False, True], qk_layernorm=[False, True], is_causal=CAUSAL),
        CAUSAL_LM, "decoder", "no head_dim", rope="one"),
    "phi3": Family(hf.Phi3Config, LLAMA_BASE, LLAMA | dict(sliding_window=[None, 3, 5], attention_bias=[ABSENT]), CAUSAL_LM,
                   "decoder", "no head_dim", rope="one"),
    "gemma": Family(hf.GemmaConfig, LLAMA_BASE | dict(head_dim=4),
                    LLAMA | dict(use_bidirectional_attention=[ABSENT, ABSENT, False, True], tie_word_embeddings=[True, True, False]),
                    CAUSAL_LM, "decoder", rope="one", gains=GEMMA_GAINS),
    "gpt_neox": Family(
        hf.GPTNeoXConfig, ENCODER_BASE | TOKENS | dict(num_attention_heads=2),
        dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=ACTS, layer_norm_eps=EPS,
             tie_word_embeddings=[False, True], attention_bias=[True, False], use_parallel_residual=[True, False],
             max_position_embeddings=[32, 20], is_causal=CAUSAL),
        CAUSAL_LM, "decoder", "wide heads", rope="one", part=0.25),
    "gptj": Family(hf.GPTJConfig, GPTJ_BASE, GPTJ, CAUSAL_LM, "decoder", "gptj"),
    "codegen": Family(hf.CodeGenConfig, GPTJ_BASE, GPTJ | dict(n_ctx=[32, 8]), CAUSAL_LM, "decoder", "codegen"),
    "bloom": Family(
        hf.BloomConfig, dict(vocab_size=40, hidden_size=16, n_layer=2, n_head=4) | TOKENS,
        dict(n_layer=LAYERS, layer_norm_epsilon=EPS, tie_word_embeddings=[True, True, False], is_causal=CAUSAL,
             pretraining_tp=[1, 2]),
        CAUSAL_LM, "decoder", "bloom"),
    # Its eager attention adds ALiBi twice; the fused one, which transformers uses by default, once.
    "falcon": Family(
        hf.FalconConfig, dict(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, ffn_hidden_size=24,
                              max_position_embeddings=32) | TOKENS,
        dict(num_hidden_layers=LAYERS, ffn_hidden_size=[None, 17], activation=ACTS, layer_norm_epsilon=EPS,
             tie_word_embeddings=[True, True, False], alibi=[False, True], bias=[False, True],
             parallel_attn=[True, True, False], multi_query=[True, False], max_position_embeddings=[32, 20],
             is_causal=CAUSAL),
        CAUSAL_LM, "decoder", "falcon", attention="sdpa", rope="one"),
    "mpt": Family(
        hf.MptConfig, dict(vocab_size=40, d_model=16, n_layers=2, n_heads=4, max_seq_len=32) | TOKENS,
        dict(n_layers=LAYERS, layer_norm_epsilon=EPS, tie_word_embeddings=[True, True, False], expansion_ratio=[4, 3],
             attn_config=[ABSENT, {}, dict(clip_qkv=0.5), dict(softmax_scale=0.3, alibi=False), dict(qk_ln=True, alibi_bias_max=4)],
             is_causal=CAUSAL, no_bias=[True, False], learned_pos_emb=[True, False]),
        CAUSAL_LM, "decoder", "mpt"),
    "stablelm": Family(
        hf.StableLmConfig, LLAMA_BASE | dict(num_attention_heads=2),
        dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=ACTS, layer_norm_eps=EPS,
             tie_word_embeddings=[False, True], use_qkv_bias=[False, True], qk_layernorm=[False, True],
             use_parallel_residual=[False, True], max_position_embeddings=[32, 20], is_causal=CAUSAL),
        CAUSAL_LM, "decoder", "wide groups", rope="one", part=0.25),
    "cohere": Family(hf.CohereConfig, LLAMA_BASE, COHERE | dict(use_qk_norm=[False, True]), CAUSAL_LM, "decoder", rope="one"),
    "cohere2": Family(hf.Cohere2Config, LLAMA_BASE | dict(sliding_window=4), COHERE | dict(sliding_window=[3, 5]),
                      CAUSAL_LM, "decoder", rope="one"),
    "lfm2": Family(
        hf.Lfm2Config, LLAMA_BASE | dict(layer_types=["conv", "full_attention"], block_multiple_of=8),
        dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], norm_eps=EPS, tie_word_embeddings=[True, True, False],
             conv_bias=[False, True], conv_L_cache=[3, 4, 2, 1], block_multiple_of=[8, 5], block_ffn_dim_multiplier=[1.0, 1.3, 2],
             block_auto_adjust_ff_dim=[True, True, False], max_position_embeddings=[32, 20], is_causal=CAUSAL),
        CAUSAL_LM, "decoder", rope="one"),
    "qwen3_5_text": Family(
        hf.Qwen3_5TextConfig, LLAMA_BASE | DELTA | dict(head_dim=8, layer_types=["linear_attention", "full_attention"]),
        LLAMA | dict(linear_num_value_heads=[2, 4, 6], linear_key_head_dim=[4, 3], linear_value_head_dim=[6, 5], linear_conv_kernel_dim=[4, 3, 2, 1],
                     rms_norm_eps=[1e-2, 1e-3]),
        CAUSAL_LM, "decoder", "quarters", rope="one", part=0.25),
    "gemma2": Family(hf.Gemma2Config, LLAMA_BASE | dict(head_dim=4, query_pre_attn_scalar=4, sliding_window=4),
                     LLAMA | GEMMA | dict(hidden_act=[ABSENT]), CAUSAL_LM, "decoder", rope="one", gains=GEMMA_GAINS),
    "gemma3_text": Family(hf.Gemma3TextConfig, LLAMA_BASE | dict(head_dim=4, query_pre_attn_scalar=4, sliding_window=4),
                          LLAMA | GEMMA | dict(hidden_act=[ABSENT]), CAUSAL_LM, "decoder", rope="two", gains=GEMMA_GAINS),
    "gemma3": Family(
        hf.Gemma3Config, dict(mm_tokens_per_image=4, image_token_index=3, boi_token_index=3, eoi_token_index=4),
        dict(tie_word_embeddings=[True, True, False]),
        {"causal-lm": hf.AutoModelForImageTextToText}, "decoder", "",
        nested={"text_config": (LLAMA_BASE | dict(head_dim=4, query_pre_attn_scalar=4, sliding_window=4),
                                LLAMA | GEMMA | dict(hidden_act=[ABSENT], tie_word_embeddings=[ABSENT])),
                "vision_config": (GEMMA_VISION, {})},
        gains=GEMMA_GAINS),
    "olmo": Family(hf.OlmoConfig, LLAMA_BASE, LLAMA | dict(rms_norm_eps=[ABSENT], clip_qkv=[None, None, 0.5, 2.0]),
                   CAUSAL_LM, "decoder", rope="one"),
    "olmo2": Family(hf.Olmo2Config, LLAMA_BASE, LLAMA, CAUSAL_LM, "decoder", rope="one"),
    "olmo3": Family(hf.Olmo3Config, LLAMA_BASE | dict(sliding_window=4), LLAMA | dict(sliding_window=[3, 5]), CAUSAL_LM,
                    "decoder", rope="one"),
    "smollm3": Family(
        hf.SmolLM3Config, LLAMA_BASE | dict(no_rope_layers=[1, 0]),
        LLAMA | dict(mlp_bias=[False, True], tie_word_embeddings=[True, True, False], use_sliding_window=[False, True],
                     sliding_window=[None, 3, 5], no_rope_layers=[None, [1, 0, 1], [0, 1, 0, 0], [1, 1, 1]],
                     no_rope_layer_interval=[4, 2, 1]),
        CAUSAL_LM, "decoder", rope="one"),
    "granite": Family(
        hf.GraniteConfig, LLAMA_BASE,
        LLAMA | MULTIPLIERS | dict(mlp_bias=[False, True]),
        CAUSAL_LM, "decoder", rope="one"),
    "granitemoe": Family(
        hf.GraniteMoeConfig, LLAMA_BASE | EXPERTS,
        LLAMA | COUNTS | MULTIPLIERS,
        CAUSAL_LM, "decoder", rope="one"),
    "granitemoehybrid": Family(
        hf.GraniteMoeHybridConfig,
        LLAMA_BASE | dict(shared_intermediate_size=20, num_local_experts=0, layer_types=["attention"] * 2, mamba_n_heads=1,
                          position_embedding_type="rope"),
        LLAMA | MULTIPLIERS | dict(shared_intermediate_size=[20, 13], position_embedding_type=["rope", "rope", None, "nope"]),
        CAUSAL_LM, "decoder", rope="one"),
    "olmoe": Family(hf.OlmoeConfig, LLAMA_BASE | EXPERTS, LLAMA | COUNTS | dict(norm_topk_prob=[False, True], clip_qkv=[None, None, None, 0.5]),
                    CAUSAL_LM, "decoder", "no head_dim", rope="one"),
    "qwen3_moe": Family(
        hf.Qwen3MoeConfig, LLAMA_BASE | EXPERTS | dict(moe_intermediate_size=20),
        LLAMA | COUNTS | WINDOW | dict(moe_intermediate_size=[20, 11], norm_topk_prob=[False, True], decoder_sparse_step=[1, 1, 2],
                                       mlp_only_layers=[None, [], [0], [1, 2], [7]], max_window_layers=[ABSENT]),
        CAUSAL_LM, "decoder", rope="one"),
    "mixtral": Family(hf.MixtralConfig, LLAMA_BASE | EXPERTS, LLAMA | COUNTS | dict(attention_bias=[ABSENT], sliding_window=[None, 3, 5]),
                      CAUSAL_LM, "decoder", rope="one"),
    "ernie4_5": Family(hf.Ernie4_5Config, LLAMA_BASE | dict(head_dim=4),
                       LLAMA | dict(attention_bias=[ABSENT], use_bias=[False, True], tie_word_embeddings=[True, True, False]),
                       CAUSAL_LM, "decoder", rope="one"),
    "helium": Family(hf.HeliumConfig, LLAMA_BASE | dict(head_dim=4), LLAMA | dict(mlp_bias=[False, True]), CAUSAL_LM, "decoder",
                     "joined heads", rope="one"),
    "glm": Family(hf.GlmConfig, LLAMA_BASE | dict(head_dim=4), LLAMA, CAUSAL_LM, "decoder", rope="one", part=0.5),
    "glm4": Family(hf.Glm4Config, LLAMA_BASE | dict(head_dim=4), LLAMA, CAUSAL_LM, "decoder", rope="one", part=0.5),
    "exaone4": Family(hf.Exaone4Config, LLAMA_BASE | dict(sliding_window=4, sliding_window_pattern=2),
                      LLAMA | dict(attention_bias=[ABSENT], sliding_window=[3, 5, None], sliding_window_pattern=[2, 1, 3, 4]),
                      CAUSAL_LM, "decoder", rope="one"),
    "arcee": Family(hf.ArceeConfig, LLAMA_BASE, LLAMA | dict(mlp_bias=[False, True]), CAUSAL_LM, "decoder", rope="one"),
    "nemotron": Family(
        hf.NemotronConfig, LLAMA_BASE,
        LLAMA | dict(rms_norm_eps=[ABSENT], norm_eps=EPS, mlp_bias=[False, True]), CAUSAL_LM, "decoder", rope="one", part=0.5),
    "xglm": Family(
        hf.XGLMConfig, dict(vocab_size=40, d_model=16, num_layers=2, attention_heads=4, ffn_dim=24, max_position_embeddings=32) | TOKENS,
        dict(num_layers=LAYERS, ffn_dim=[24, 17], activation_function=ACTS, scale_embedding=[False, True], is_causal=CAUSAL,
             tie_word_embeddings=[True, True, False], max_position_embeddings=[32, 4]),
        CAUSAL_LM, "decoder", "xglm", gains=GEMMA_GAINS),
    "biogpt": Family(
        hf.BioGptConfig, ENCODER_BASE | TOKENS,
        dict(num_hidden_layers=LAYERS, intermediate_size=[24, 17], hidden_act=ACTS, layer_norm_eps=EPS, scale_embedding=[False, True],
             tie_word_embeddings=[True, True, False], is_causal=CAUSAL),
        CAUSAL_LM, "decoder", "plain", gains=GEMMA_GAINS),
    "vaultgemma": Family(hf.VaultGemmaConfig, LLAMA_BASE | dict(head_dim=4, query_pre_attn_scalar=4, sliding_window=4),
                         LLAMA | GEMMA | dict(hidden_act=[ABSENT], use_bidirectional_attention=[ABSENT]), CAUSAL_LM, "decoder",
                         rope="one", gains=GEMMA_GAINS),
    "hunyuan_v1_dense": Family(hf.HunYuanDenseV1Config, LLAMA_BASE | dict(head_dim=4), LLAMA, CAUSAL_LM, "decoder", rope="alpha"),
    "nanochat": Family(hf.NanoChatConfig, LLAMA_BASE, LLAMA | dict(final_logit_softcapping=[None, 2.0, 15.0]), CAUSAL_LM, "decoder",
                       rope="one"),
    "modernbert-decoder": Family(
        hf.ModernBertDecoderConfig, ENCODER_BASE | TOKENS | dict(cls_token_id=1, sep_token_id=2, local_attention=6),
        MODERN | dict(is_causal=CAUSAL), CAUSAL_LM, "decoder", "plain", "two"),
    "starcoder2": Family(
        hf.Starcoder2Config, LLAMA_BASE,
        LLAMA | dict(rms_norm_eps=[ABSENT], attention_bias=[ABSENT], norm_epsilon=EPS, use_bias=[True, True, False],
                     sliding_window=[None, 3, 5], tie_word_embeddings=[True, True, False]),
        CAUSAL_LM, "decoder", rope="one"),
    "opt": Family(
        hf.OPTConfig, dict(vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, ffn_dim=24,
                           max_position_embeddings=32) | TOKENS,
        dict(num_hidden_layers=LAYERS, ffn_dim=[24, 17], activation_function=ACTS, do_layer_norm_before=[True, True, False],
             _remove_final_layer_norm=[ABSENT, ABSENT, True], word_embed_proj_dim=[None, 8, 17], enable_bias=[True, True, False],
             layer_norm_elementwise_affine=[True, True, False], tie_word_embeddings=[True, True, False], is_causal=CAUSAL),
        CAUSAL_LM, "decoder", "plain"),
    "openai-gpt": Family(
        hf.OpenAIGPTConfig, dict(vocab_size=40, n_embd=16, n_layer=2, n_head=4, n_positions=32) | TOKENS,
        dict(n_layer=LAYERS, afn=["gelu", "relu", "silu", "swish"], layer_norm_epsilon=EPS,
             tie_word_embeddings=[True, True, False], is_causal=CAUSAL),
        CAUSAL_LM, "decoder", "gpt2"),
    "marian": Family(
        hf.MarianConfig, SEQ2SEQ_BASE | dict(max_position_embeddings=32, pad_token_id=3, eos_token_id=0,
                                             decoder_start_token_id=3, forced_eos_token_id=0),
        SEQ2SEQ | dict(tie_word_embeddings=[True, True, False]), SEQ2SEQ_LM, "seq2seq", "seq2seq"),
    "bart": Family(
        hf.BartConfig, SEQ2SEQ_BASE | dict(max_position_embeddings=32, pad_token_id=1, bos_token_id=0, eos_token_id=2,
                                           decoder_start_token_id=2),
        SEQ2SEQ | dict(tie_word_embeddings=[True, True, False]), SEQ2SEQ_LM, "seq2seq", "seq2seq"),
    "mbart": Family(
        hf.MBartConfig, SEQ2SEQ_BASE | dict(max_position_embeddings=32, pad_token_id=1, bos_token_id=0, eos_token_id=2,
                                            decoder_start_token_id=2),
        SEQ2SEQ | dict(tie_word_embeddings=[True, True, False]), SEQ2SEQ_LM, "seq2seq", "seq2seq"),
    "m2m_100": Family(
        hf.M2M100Config, SEQ2SEQ_BASE | dict(max_position_embeddings=32, pad_token_id=1, bos_token_id=0, eos_token_id=2,
                                             decoder_start_token_id=2),
        SEQ2SEQ | dict(tie_word_embeddings=[True, True, False], pad_token_id=[1, 0, 12], max_position_embeddings=[32, 4]),
        SEQ2SEQ_LM, "seq2seq", "seq2seq"),
    "pegasus": Family(
        hf.PegasusConfig, SEQ2SEQ_BASE | dict(max_position_embeddings=32, pad_token_id=0, eos_token_id=1,
                                              decoder_start_token_id=0),
        SEQ2SEQ | dict(tie_word_embeddings=[True, True, False]), SEQ2SEQ_LM, "seq2seq", "seq2seq"),
    "blenderbot": Family(
        hf.BlenderbotConfig, SEQ2SEQ_BASE | BLENDERBOT, SEQ2SEQ | dict(tie_word_embeddings=[True, True, False]), SEQ2SEQ_LM, "seq2seq", "seq2seq"),
    "blenderbot-small": Family(
        hf.BlenderbotSmallConfig, SEQ2SEQ_BASE | BLENDERBOT, SEQ2SEQ | dict(tie_word_embeddings=[True, True, False]), SEQ2SEQ_LM, "seq2seq", "seq2seq"),
    "t5": Family(hf.T5Config, T5_BASE, T5, SEQ2SEQ_LM, "seq2seq", "t5", gains=T5_GAINS),
    "mt5": Family(hf.MT5Config, T5_BASE, T5, SEQ2SEQ_LM, "seq2seq", "t5", gains=T5_GAINS),
    "whisper": Family(
        hf.WhisperConfig, SEQ2SEQ_BASE | dict(num_mel_bins=8, max_source_positions=10, max_target_positions=32,
                                              decoder_start_token_id=1, pad_token_id=2, bos_token_id=2, eos_token_id=2,
                                              begin_suppress_tokens=None),
        SEQ2SEQ | dict(num_mel_bins=[8, 6], max_source_positions=[10, 7], tie_word_embeddings=[True, True, False]),
        {"seq2seq-lm": hf.AutoModelForSpeechSeq2Seq}, "speech", "seq2seq"),
    "audio-spectrogram-transformer": Family(
        hf.ASTConfig, dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24, patch_size=4,
                           frequency_stride=3, time_stride=2, num_mel_bins=8, max_length=12),
        {key: IMAGE[key] for key in ("num_hidden_layers", "intermediate_size", "hidden_act", "layer_norm_eps", "qkv_bias")} | dict(
            patch_size=[4, 2, 3], frequency_stride=[3, 1, 5], time_stride=[2, 4, 3], num_mel_bins=[8, 11], max_length=[12, 9],
            head_dim=[ABSENT, ABSENT, ABSENT, 4, 6]),
        {"base": hf.AutoModel, "sequence-classification": hf.AutoModelForAudioClassification}, "spectrogram", "plain"),
    "wav2vec2": Family(hf.Wav2Vec2Config, SAMPLES_BASE, SAMPLES | dict(mask_time_prob=[0.05, 0.0], add_adapter=[False, False, False, True]),
                       SAMPLES_TASKS, "samples", "plain"),
    "hubert": Family(hf.HubertConfig, SAMPLES_BASE,
                     SAMPLES | dict(feat_proj_layer_norm=[True, False], conv_pos_batch_norm=[ABSENT, ABSENT, ABSENT, True]),
                     SAMPLES_TASKS, "samples", "plain"),
    "vit": Family(hf.ViTConfig, IMAGE_BASE, IMAGE, IMAGE_TASKS, "image", "plain"),
    "deit": Family(hf.DeiTConfig, IMAGE_BASE, IMAGE, IMAGE_TASKS, "image", "plain"),
    "dinov2": Family(hf.Dinov2Config, DINO_BASE, DINO | dict(use_mask_token=[True, False]), IMAGE_TASKS, "image", "plain"),
    "dinov2_with_registers": Family(hf.Dinov2WithRegistersConfig, DINO_BASE, DINO | dict(num_register_tokens=[4, 1, 0]),
                                    IMAGE_TASKS, "image", "plain"),
    "dinov3_vit": Family(hf.DINOv3ViTConfig, IMAGE_BASE, DINO3, {"base": hf.AutoModel}, "image", "plain"),
    "clip": Family(
        hf.CLIPConfig, dict(projection_dim=12), dict(projection_dim=[12, 7], logit_scale_init_value=[2.6592, 1.0]),
        {"zero-shot-image-classification": hf.AutoModel}, "clip", "",
        nested={"text_config": (ENCODER_BASE | dict(pad_token_id=1, bos_token_id=0, eos_token_id=39, max_position_embeddings=12),
                                CLIP_TEXT),
                "vision_config": (IMAGE_BASE, CLIP_VISION)}),
    "siglip": Family(
        hf.SiglipConfig, {}, {}, {"zero-shot-image-classification": hf.AutoModel,
                                  "image-classification": hf.AutoModelForImageClassification}, "clip", "",
        nested={"text_config": (ENCODER_BASE | dict(pad_token_id=1, bos_token_id=0, eos_token_id=39, max_position_embeddings=12),
                                CLIP_TEXT | dict(projection_size=[None, 16, 12])),
                "vision_config": (IMAGE_BASE, CLIP_VISION | dict(image_size=[8, 12, 9], vision_use_head=[ABSENT, ABSENT, True]))},
        gains={"in_proj_weight": 0.4}),
}


def base_config(family):
    return family.base | {key: dict(base) for key, (base, _) in family.nested.items()}


def classifier_tasks(family):
    """The classifiers that transformers has for a decoder-only model type; none for the others."""
    heads = {"sequence-classification": hf.AutoModelForSequenceClassification, "token-classification": hf.AutoModelForTokenClassification}
    return {task: auto for task, auto in heads.items() if family.inputs == "decoder" and family.config in auto._model_mapping.keys()}
