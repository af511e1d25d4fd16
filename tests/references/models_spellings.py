"""config.json and tensors of checkpoints as older versions, and the models' own authors, wrote them."""

import torch
from transformers import Qwen3_5Config


def without(settings, *names):
    return {key: value for key, value in settings.items() if key not in names}


def version_4(*absent, **present):
    """config.json as written by transformers 4: rope_theta and rope_scaling at the top level, layer types by rule."""
    def spelling(config):
        old = without(config, "rope_parameters", "dtype", *absent)
        parameters = dict(config["rope_parameters"])
        if "full_attention" in parameters:  # Gemma 3: two rotary embeddings
            old["rope_local_base_freq"] = parameters["sliding_attention"]["rope_theta"]
            parameters = dict(parameters["full_attention"])
        old["rope_theta"] = parameters.pop("rope_theta")
        if "partial_rotary_factor" in parameters:
            old["partial_rotary_factor"] = parameters.pop("partial_rotary_factor")
        old["rope_scaling"] = None if parameters["rope_type"] == "default" else parameters
        return old | dict(torch_dtype=config["dtype"], transformers_version="4.50.0") | present
    return spelling


def pythia(config):
    """GPT-NeoX's own names of the rotary settings, as in EleutherAI/pythia-70m."""
    parameters = config["rope_parameters"]
    old = dict(rotary_emb_base=10000, rotary_pct=parameters["partial_rotary_factor"], torch_dtype="float32",
               transformers_version="4.24.0")
    return without(config, "rope_parameters", "dtype") | old


def with_vision(config):
    """A whole Qwen3.5, of whose config.json the text model reads text_config."""
    whole = Qwen3_5Config().to_dict() | dict(architectures=["Qwen3_5ForConditionalGeneration"], text_config=without(config, "architectures"),
                                             dtype=config["dtype"], transformers_version=config["transformers_version"])
    return whole | dict(vision_config=whole["vision_config"] | dict(depth=1, hidden_size=4, num_heads=1, out_hidden_size=32))


def of_language_model(key):
    return key.replace("model.", "model.language_model.", 1) if key.startswith("model.") and ".language_model." not in key else key


# Of the vision tower and of the layer that predicts two tokens: tensors that the text model ignores.
BESIDE_TEXT = {"model.visual.pos_embed.weight": torch.ones(3, 4), "mtp.fc.weight": torch.ones(2, 3)}


def liquid(config):
    """LiquidAI's own names beside transformers', as in LiquidAI/LFM2-350M."""
    own = dict(block_dim=config["hidden_size"], block_ff_dim=config["intermediate_size"], block_use_swiglu=True, block_norm_eps=1e-5,
               conv_dim=config["hidden_size"], full_attn_idxs=[1], use_pos_enc=True)
    return without(version_4("layer_types")(config), "intermediate_size", "tie_word_embeddings") | own | dict(tie_embedding=True)


def old_gpt2(key):
    """openai-community/gpt2, and openai-gpt, were saved from the base model: its names have no prefix `transformer.`."""
    return key.removeprefix("transformer.")


def gpt2_masks(layers, positions):
    """Files of transformers 3 contain each layer's causal mask, which is not a weight."""
    mask = torch.ones(positions, positions).tril()[None, None]
    return {f"h.{i}.attn.bias": mask.clone() for i in range(layers)}


def gpt_neo_masks(layers, positions):
    """So does EleutherAI/gpt-neo-125m, with the value for masked scores."""
    mask = torch.ones(1, 1, positions, positions, dtype=torch.bool).tril()
    name = "transformer.h.{}.attn.attention.{}".format
    masks = {name(i, "bias"): mask.clone() for i in range(layers)}
    return masks | {name(i, "masked_bias"): torch.tensor(-1e9) for i in range(layers)}


def modern(config):
    """config.json in the form of answerdotai/ModernBERT-base."""
    return without(config, "layer_types", "rope_parameters", "dtype") | dict(
        global_attn_every_n_layers=3, global_rope_theta=160000.0, local_rope_theta=10000.0, torch_dtype=config["dtype"],
        transformers_version="4.48.0")
