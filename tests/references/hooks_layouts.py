"""The locations of our hook points among the modules of transformers, for each architecture."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """Module paths within one block. `order` is the norm order, as in cpp/clearformer/layers/add_norm.h."""
    order: str  # pre, post, both, behind, parallel
    ln1: str
    attn: str  # the module passed to transformers' attention function
    up: str
    down: str
    ln2: str = ""
    q: str = "q_proj"
    k: str = "k_proj"
    v: str = "v_proj"
    o: str = "o_proj"  # below attn, or with a leading slash below the block
    stacked: str = ""  # one projection for q, k and v
    stacked_by_head: bool = False  # their order in it: q, k, v of head 0, then of head 1, …
    head_norms: tuple = ()
    norms_heads_first: bool = False  # whether their inputs are (B, H, T, d)
    gate: str = ""
    router: str = ""  # of a mixture of experts, whose module is `down`
    gated: str = ""  # one projection for the activated input and the other factor
    ln1_post: str = ""
    ln2_post: str = ""
    middle: str = ""  # whose input is hook_resid_mid, if that is not ln2
    scale1: str = ""  # layer scales
    scale2: str = ""
    cross: str = ""  # the cross-attention; its norm is ln2 and the feed-forward's ln3
    ln3: str = ""
    rotary: bool = False
    conv: str = ""  # a gated convolution, which some blocks have in place of attention
    delta: str = ""  # a gated delta rule, likewise
    gated_attention: bool = False  # q projections are followed by those of the output's gate, head by head


@dataclass(frozen=True)
class Tower:
    scope: str  # prefix of the names of embedding and blocks
    blocks: str
    block: Block
    name: str = "blocks."  # prefix of the blocks in our names, "" in an encoder-decoder
    embed: str = ""  # absent: the first block's input
    positions: str = ""
    types: str = ""
    embed_norm: str = ""
    patches: str = ""  # images: class token and positions are parameters
    audio: str = ""  # two convolutions below it, and positions
    final_norm: str = ""
    projection: str = ""  # after it


LLAMA = dict(order="pre", ln1="input_layernorm", attn="self_attn", ln2="post_attention_layernorm", gate="mlp.gate_proj",
             up="mlp.up_proj", down="mlp.down_proj", rotary=True)
EXPERTS = LLAMA | dict(router="mlp.gate", gate="", up="", down="mlp")
BART = dict(order="post", ln1="self_attn_layer_norm", attn="self_attn", o="out_proj", up="fc1", down="fc2")
T5 = dict(order="pre", attn="layer.0.SelfAttention", ln1="layer.0.layer_norm", q="q", k="k", v="v", o="o")
T5_DENSE = ".DenseReluDense."
WHISPER = BART | dict(order="pre")
MODERN_BERT = Block("pre", ln1="attn_norm", attn="attn", stacked="Wqkv", o="Wo", ln2="mlp_norm", gated="mlp.Wi", up="",
                    down="mlp.Wo", rotary=True)
BERT = Block("post", ln1="attention.output.LayerNorm", attn="attention.self", q="query", k="key", v="value",
             o="/attention.output.dense", ln2="output.LayerNorm", up="intermediate.dense", down="output.dense")
DEBERTA = Block("post", ln1="attention.output.LayerNorm", attn="attention.self", q="query_proj", k="key_proj", v="value_proj",
                o="/attention.output.dense", ln2="output.LayerNorm", up="intermediate.dense", down="output.dense")
ESM = Block("pre", ln1="attention.LayerNorm", attn="attention.self", q="query", k="key", v="value", o="/attention.output.dense",
            ln2="LayerNorm", up="intermediate.dense", down="output.dense")
CLIP = Block("pre", ln1="layer_norm1", attn="self_attn", o="out_proj", ln2="layer_norm2", up="mlp.fc1", down="mlp.fc2")
DINO = dict(order="pre", ln1="norm1", attn="attention.attention", q="query", k="key", v="value", o="/attention.output.dense",
            ln2="norm2", scale1="layer_scale1", scale2="layer_scale2")
VIT = Block("pre", ln1="layernorm_before", attn="attention", ln2="layernorm_after", up="mlp.fc1", down="mlp.fc2")


def bert_tower(block):
    return Tower("", "encoder.layer", block, embed="embeddings.word_embeddings", positions="embeddings.position_embeddings",
                 types="embeddings.token_type_embeddings", embed_norm="embeddings.LayerNorm")


def bart_tower(side, block):
    return Tower(f"{side}.", f"{side}.layers", block, name="", embed=f"{side}.embed_tokens",
                 positions=f"{side}.embed_positions", embed_norm=f"{side}.layernorm_embedding")


def normalized_bart_tower(side, block):
    return Tower(f"{side}.", f"{side}.layers", block, name="", embed=f"{side}.embed_tokens", positions=f"{side}.embed_positions",
                 embed_norm=f"{side}.layernorm_embedding", final_norm=f"{side}.layer_norm")


def dino_tower(config):
    hidden = dict(gated="mlp.weights_in", up="", down="mlp.weights_out") if config.use_swiglu_ffn else dict(
        up="mlp.fc1", down="mlp.fc2")
    return [Tower("", "encoder.layer", Block(**DINO, **hidden), patches="embeddings", final_norm="layernorm")]


def dino3_tower(config):
    hidden = dict(gate="mlp.gate_proj", up="mlp.up_proj") if config.use_gated_mlp else dict(up="mlp.up_proj")
    block = Block("pre", ln1="norm1", attn="attention", ln2="norm2", scale1="layer_scale1", scale2="layer_scale2", down="mlp.down_proj",
                  rotary=True, **hidden)
    return [Tower("", "model.layer", block, patches="embeddings", final_norm="norm")]


def whisper_tower(side, block, **embedding):
    return Tower(f"{side}.", f"{side}.layers", block, name="", positions=f"{side}.embed_positions",
                 final_norm=f"{side}.layer_norm", **embedding)


def t5_tower(side, gated):
    last = "layer.2" if side == "decoder" else "layer.1"
    hidden = dict(gate=last + T5_DENSE + "wi_0", up=last + T5_DENSE + "wi_1") if gated else dict(up=last + T5_DENSE + "wi")
    norms = dict(ln2="layer.1.layer_norm", ln3="layer.2.layer_norm") if side == "decoder" else dict(ln2=f"{last}.layer_norm")
    cross = "layer.1.EncDecAttention" if side == "decoder" else ""
    return Tower(f"{side}.", f"{side}.block", Block(**T5, **hidden, **norms, cross=cross, down=last + T5_DENSE + "wo"),
                 name="", final_norm=f"{side}.final_layer_norm")


def decoder_only(**block):
    return [Tower("", "layers", Block(**block), embed="embed_tokens", final_norm="norm")]


LAYOUTS = {
    "gpt2": lambda config: [Tower(
        "", "h", Block("pre", ln1="ln_1", attn="attn", stacked="c_attn", o="c_proj", ln2="ln_2", up="mlp.c_fc",
                       down="mlp.c_proj"), embed="wte", positions="wpe", final_norm="ln_f")],
    "llama": lambda config: decoder_only(**LLAMA),
    "qwen3": lambda config: decoder_only(**LLAMA, head_norms=("q_norm", "k_norm")),
    "hunyuan_v1_dense": lambda config: decoder_only(**LLAMA, head_norms=("query_layernorm", "key_layernorm"), norms_heads_first=True),
    "lfm2": lambda config: [Tower("", "layers", Block(
        "pre", ln1="operator_norm", attn="self_attn", o="out_proj", head_norms=("q_layernorm", "k_layernorm"), conv="conv", ln2="ffn_norm",
        gate="feed_forward.w1", up="feed_forward.w3", down="feed_forward.w2", rotary=True), embed="embed_tokens",
        final_norm="embedding_norm")],
    "qwen3_5_text": lambda config: decoder_only(**LLAMA, head_norms=("q_norm", "k_norm"), delta="linear_attn", gated_attention=True),
    "gemma2": lambda config: decoder_only(**LLAMA | dict(
        order="both", ln1_post="post_attention_layernorm", ln2="pre_feedforward_layernorm",
        ln2_post="post_feedforward_layernorm")),
    "olmo2": lambda config: decoder_only(**LLAMA | dict(
        order="behind", ln1="", ln1_post="post_attention_layernorm", ln2="", ln2_post="post_feedforward_layernorm",
        middle="mlp", head_norms=("q_norm", "k_norm"))),
    "olmoe": lambda config: decoder_only(**EXPERTS, head_norms=("q_norm", "k_norm")),
    "mixtral": lambda config: decoder_only(**EXPERTS),
    "opt": lambda config: [Tower(
        "", "decoder.layers", Block(**BART | dict(order="pre" if config.do_layer_norm_before else "post"), ln2="final_layer_norm"),
        embed="decoder.project_in" if config.word_embed_proj_dim != config.hidden_size else "decoder.embed_tokens",
        positions="decoder.embed_positions", final_norm="decoder.final_layer_norm" if config.do_layer_norm_before else "",
        projection="decoder.project_out" if config.word_embed_proj_dim != config.hidden_size else "")],
    "phi": lambda config: [Tower("", "layers", Block(
        "parallel", ln1="input_layernorm", attn="self_attn", o="dense", up="mlp.fc1", down="mlp.fc2", rotary=True,
        head_norms=("q_layernorm", "k_layernorm") if config.qk_layernorm else (), norms_heads_first=True),
        embed="embed_tokens", final_norm="final_layernorm")],
    "gpt_neox": lambda config: [Tower("", "layers", Block(
        "parallel" if config.use_parallel_residual else "pre", ln1="input_layernorm", attn="attention", o="dense",
        stacked="query_key_value", stacked_by_head=True, ln2="post_attention_layernorm", up="mlp.dense_h_to_4h",
        down="mlp.dense_4h_to_h", rotary=True), embed="embed_in", final_norm="final_layer_norm")],
    "bloom": lambda config: [Tower("", "h", Block(
        "pre", ln1="input_layernorm", attn="self_attention", o="dense", stacked="query_key_value", stacked_by_head=True,
        ln2="post_attention_layernorm", up="mlp.dense_h_to_4h", down="mlp.dense_4h_to_h"), embed="word_embeddings",
        embed_norm="word_embeddings_layernorm", final_norm="ln_f")],
    "bert": lambda config: [bert_tower(BERT)],
    "electra": lambda config: [bert_tower(BERT)],
    "deberta-v2": lambda config: [bert_tower(DEBERTA)],
    "esm": lambda config: [Tower("", "encoder.layer", ESM, embed="embeddings", positions="embeddings.position_embeddings",
                                 embed_norm="embeddings.layer_norm", final_norm="encoder.emb_layer_norm_after")],
    "modernbert": lambda config: [Tower("", "layers", MODERN_BERT, embed="embeddings.tok_embeddings",
                                        embed_norm="embeddings.norm", final_norm="final_norm")],
    "vit": lambda config: [Tower("", "layers", VIT, patches="embeddings", final_norm="layernorm")],
    "audio-spectrogram-transformer": lambda config: [Tower("", "layers", VIT, patches="embeddings", final_norm="layernorm")],
    "clip": lambda config: [
        Tower("text_model.", "text_model.encoder.layers", CLIP, embed="text_model.embeddings.token_embedding",
              positions="text_model.embeddings.position_embedding", final_norm="text_model.final_layer_norm"),
        Tower("vision_model.", "vision_model.encoder.layers", CLIP, patches="vision_model.embeddings",
              embed_norm="vision_model.pre_layrnorm")],
    "bart": lambda config: [
        bart_tower("encoder", Block(**BART, ln2="final_layer_norm")),
        bart_tower("decoder", Block(**BART, cross="encoder_attn", ln2="encoder_attn_layer_norm", ln3="final_layer_norm"))],
    "mbart": lambda config: [
        normalized_bart_tower("encoder", Block(**WHISPER, ln2="final_layer_norm")),
        normalized_bart_tower("decoder", Block(**WHISPER, cross="encoder_attn", ln2="encoder_attn_layer_norm",
                                               ln3="final_layer_norm"))],
    "dinov2": dino_tower,
    "dinov2_with_registers": dino_tower,
    "dinov3_vit": dino3_tower,
    "siglip": lambda config: [
        Tower("text_model.", "text_model.encoder.layers", CLIP, embed="text_model.embeddings.token_embedding",
              positions="text_model.embeddings.position_embedding", final_norm="text_model.final_layer_norm"),
        Tower("vision_model.", "vision_model.encoder.layers", CLIP, patches="vision_model.embeddings",
              final_norm="vision_model.post_layernorm")],
    "whisper": lambda config: [
        whisper_tower("encoder", Block(**WHISPER, ln2="final_layer_norm"), audio="encoder"),
        whisper_tower("decoder", Block(**WHISPER, cross="encoder_attn", ln2="encoder_attn_layer_norm",
                                       ln3="final_layer_norm"), embed="decoder.embed_tokens")],
    "t5": lambda config: [t5_tower(side, config.is_gated_act) for side in ("encoder", "decoder")],
}
# Norms and poolers outside the towers: our name, the module's path in the model.
HEADS = {"bert": {"mlm.norm": "cls.predictions.transform.LayerNorm"}, "electra": {"mlm.norm": "generator_predictions.LayerNorm"},
         "deberta-v2": {"mlm.norm": "cls.predictions.transform.LayerNorm"}, "esm": {"mlm.norm": "lm_head.layer_norm"}, "modernbert": {"mlm.norm": "head.norm"},
         "audio-spectrogram-transformer": {"classifier.norm": "classifier.layernorm"},
         "clip": {"vision_model.pooler.norm": "vision_model.post_layernorm"}}
# The layers that read one vector of each sequence or image, in the models that have them.
POOLED = {"clip": {"text_model.pooler": "text_projection", "vision_model.pooler": "visual_projection"},
          "siglip": {"text_model.pooler": "text_model.head"}} | dict.fromkeys(("bert", "vit", "dinov2"), {"classifier": "classifier"}) | {
              "audio-spectrogram-transformer": {"classifier": "classifier.dense"}}
