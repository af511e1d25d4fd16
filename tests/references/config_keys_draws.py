"""Random configurations of a model type: values that keys may have, heads that divide the sizes, rotary positions."""

import transformers as hf

from config_keys_choices import ABSENT, HEADS, LAYER_KINDS, PLAIN_HEADS


def draw_heads(rng, family, nested=""):
    """Sizes of the model and its heads, under the family's names."""
    hidden, heads, shared, head_dim = rng.choice(HEADS)
    width, count = rng.choice(PLAIN_HEADS)
    if family.heads == "llama" or nested == "text_config" and family.config is hf.Gemma3Config:
        told = {} if head_dim is None else {"head_dim": head_dim}
        return dict(hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=shared) | told
    if family.heads == "no head_dim":
        hidden, heads, shared = rng.choice([(16, 4, 2), (24, 3, 3), (24, 4, 1), (16, 4, 4), (24, 2, 1)])
        return dict(hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=shared)
    if family.heads == "joined heads":  # as wide together as the stream
        hidden, heads, shared, head_dim = rng.choice([(16, 4, 2, 4), (24, 3, 3, 8), (24, 4, 1, 6), (16, 2, 1, 8)])
        return dict(hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=shared, head_dim=head_dim)
    if family.heads == "quarters":  # a quarter of the heads is rotated
        hidden, heads, shared, head_dim = rng.choice([(16, 4, 2, 8), (24, 3, 3, 16), (16, 2, 1, 8), (32, 2, 2, 24)])
        return dict(hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=shared, head_dim=head_dim)
    if family.heads == "wide heads":  # a quarter of 8 or 16 dimensions can be rotated
        width, count = rng.choice([(16, 2), (24, 3), (32, 2), (16, 1)])
    if family.heads == "codegen":  # heads are stored in four groups
        width, count = rng.choice([(16, 4), (32, 8), (48, 12)])
    if family.heads == "wide groups":
        hidden, heads, shared = rng.choice([(16, 2, 1), (24, 3, 3), (32, 4, 2), (32, 2, 2)])
        return dict(hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=shared)
    if family.heads == "falcon":
        shared = rng.choice([{}, {}, dict(new_decoder_architecture=True), dict(new_decoder_architecture=True, num_ln_in_parallel_attn=1)])
        if shared:
            shared |= {"num_kv_heads": rng.choice([1, count]), "parallel_attn": True}
        return dict(hidden_size=width, num_attention_heads=count) | shared
    names = {"distil": ("dim", "n_heads"), "gpt2": ("n_embd", "n_head"), "gptj": ("n_embd", "n_head"),
             "codegen": ("n_embd", "n_head"), "bloom": ("hidden_size", "n_head"), "mpt": ("d_model", "n_heads"),
             "wide heads": ("hidden_size", "num_attention_heads"), "gpt_neo": ("hidden_size", "num_heads"),
             "t5": ("d_model", "num_heads"), "xglm": ("d_model", "attention_heads"), "plain": ("hidden_size", "num_attention_heads"),
             "": ("hidden_size", "num_attention_heads")}
    if family.heads == "seq2seq":
        width, count, other = rng.choice([(16, 4, 4), (24, 3, 4), (16, 2, 4), (24, 12, 3), (20, 2, 1)])
        return dict(d_model=width, encoder_attention_heads=count, decoder_attention_heads=other)
    size, number = names[family.heads]
    return {size: width, number: count}


def draw_rope(rng, d_head, whole, part=1.0):
    """One set of rope parameters in transformers 5's form; `whole` lists the types of all models, Phi-3 has two."""
    kinds = ["default", "default", "linear", "dynamic", "llama3", "yarn", "longrope"] if whole else ["default", "longrope"]
    kind = rng.choice(kinds)
    rope = {"rope_type": kind, "rope_theta": rng.choice([10000.0, 50.0, 1e6])}
    if rng.random() < (0.1 if whole else 0.4):
        part = rope["partial_rotary_factor"] = 0.5
    if kind in ("linear", "dynamic", "llama3", "yarn"):
        rope["factor"] = rng.choice([2.0, 4.0, 1.5])
    if kind in ("llama3", "yarn", "longrope") and rng.random() < 0.8:
        rope["original_max_position_embeddings"] = rng.choice([6, 8, 16])
    if kind == "llama3":
        rope |= {"low_freq_factor": 1.0, "high_freq_factor": rng.choice([2.0, 4.0])}
    if kind == "yarn":
        more = {"beta_fast": 4.0, "beta_slow": 0.5, "mscale": 0.8, "mscale_all_dim": 0.5, "attention_factor": 0.9, "truncate": False}
        rope |= {key: value for key, value in more.items() if rng.random() < 0.3}
    if kind == "longrope":
        pairs = int(d_head * part) // 2
        rope["short_factor"] = [1.0 + 0.25 * i for i in range(pairs)]
        rope["long_factor"] = [2.0 + 0.5 * i for i in range(pairs)]
        rope |= {key: value for key, value in {"factor": 4.0, "attention_factor": 1.2}.items() if rng.random() < 0.3}
    return rope


def draw_settings(rng, family, base, choices, nested=""):
    """Arguments of the config class: each key at its base value or at one of its choices."""
    settings = dict(base)
    if rng.random() < 0.6 and nested != "vision_config" or family.config is hf.CLIPConfig and rng.random() < 0.5:
        settings |= draw_heads(rng, family, nested)
    for key, values in choices.items():
        value = rng.choice(values)
        if value is ABSENT:
            settings.pop(key, None)
        elif rng.random() < 0.5:
            settings[key] = value
    layers = settings.get("num_hidden_layers", 0)
    two = family.rope == "two" or nested == "text_config" and family.config is hf.Gemma3Config
    local = "use_sliding_window" in choices or family.config in (
        hf.Gemma2Config, hf.VaultGemmaConfig, hf.Olmo3Config, hf.Cohere2Config, hf.Exaone4Config)
    if (two or local) and rng.random() < 0.6:
        settings["layer_types"] = [rng.choice(LAYER_KINDS) for _ in range(layers)]
    if family.config is hf.GraniteMoeHybridConfig:
        settings["layer_types"] = ["attention"] * layers
    if family.config is hf.Lfm2Config:
        kinds = [rng.choice(["conv", "full_attention"]) for _ in range(layers)]
        attending = [layer for layer, kind in enumerate(kinds) if kind == "full_attention"]
        settings |= rng.choice([dict(layer_types=kinds), dict(layer_types=kinds, full_attn_idxs=[0]),
                                dict(layer_types=None, full_attn_idxs=attending), dict(layer_types=None)])
    if family.config is hf.Qwen3_5TextConfig:
        kinds = [rng.choice(["linear_attention", "full_attention"]) for _ in range(layers)]
        settings |= rng.choice([dict(layer_types=kinds), dict(layer_types=kinds, full_attention_interval=1), dict(layer_types=None),
                                dict(layer_types=None, full_attention_interval=rng.choice([1, 2, 3]))])
    if (family.rope or two) and rng.random() < 0.7:
        d_head = settings.get("head_dim") or settings["hidden_size"] // settings["num_attention_heads"]
        whole = family.config is not hf.Phi3Config
        settings["rope_parameters"] = draw_rope(rng, d_head, whole, family.part) if not two else {
            kind: draw_rope(rng, d_head, True) for kind in LAYER_KINDS}
        if family.rope == "alpha" and rng.random() < 0.5:
            settings["rope_parameters"]["alpha"] = rng.choice([8.0, 50.0, 0.5])
    return settings


def draw_config(rng, family):
    """A whole configuration, including nested ones."""
    settings = draw_settings(rng, family, family.base, family.choices)
    for key, (base, choices) in family.nested.items():
        settings[key] = draw_settings(rng, family, base, choices, key)
    return settings
