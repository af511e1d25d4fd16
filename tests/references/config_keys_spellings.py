"""Different forms of one configuration: transformers 4's, both at once, with keys omitted, with keys of other families."""

import copy

from config_keys_values import CLASSES, KEPT, known_keys, may_be_null, own_keys, values_of


def version_4(config, rng=None):
    """config.json as written by transformers 4; if that had several forms, `rng` selects one."""
    some = (lambda share: rng.random() < share) if rng else (lambda share: share >= 0.5)
    old = {key: version_4(value, rng) if key in ("text_config", "vision_config") else copy.deepcopy(value)
           for key, value in config.items()}
    model_type = old.get("model_type", "")
    if "dtype" in old:
        old["torch_dtype"] = old.pop("dtype")
    if "transformers_version" in old:
        old["transformers_version"] = "4.48.0"
    rope = old.pop("rope_parameters", None)
    if rope and "full_attention" in rope:
        split_ropes(old, rope, model_type)
    elif rope:
        old["rope_theta"] = rope.pop("rope_theta", 10000.0)
        if "partial_rotary_factor" in rope:
            old["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
        if rope.get("rope_type") not in (None, "default"):
            old["rope_scaling"] = rope | ({"type": rope.pop("rope_type")} if some(0.3) else {})
        elif some(0.5):
            old["rope_scaling"] = None
    if "layer_types" in old and model_type != "granitemoehybrid" and some(0.5):
        del old["layer_types"]
        if model_type.startswith("modernbert"):
            old["global_attn_every_n_layers"] = 2
        if model_type == "gemma3_text":
            old["sliding_window_pattern"] = 2
    if model_type == "t5":
        old["tie_word_embeddings"] = old.pop("scale_decoder_outputs", True)
        if some(0.5):
            old.pop("dense_act_fn", None)
            old.pop("is_gated_act", None)
    return old


def split_ropes(old, rope, model_type):
    """Two sets of parameters: Gemma 3 scaled the global one, ModernBERT stated only the two bases."""
    full, local = rope["full_attention"], rope.get("sliding_attention", {})
    names = ("global_rope_theta", "local_rope_theta") if model_type.startswith("modernbert") else ("rope_theta", "rope_local_base_freq")
    old[names[0]], old[names[1]] = full.pop("rope_theta", 10000.0), local.get("rope_theta", 10000.0)
    if full.get("rope_type") not in (None, "default"):
        old["rope_scaling"] = full


# Pairs of equivalent keys: (new, old). If both are written, they may agree or not.
DOUBLES = [("dtype", "torch_dtype"), ("rope_parameters", "rope_scaling"), ("rope_parameters", "rope_theta"),
           ("rope_parameters", "partial_rotary_factor"), ("rope_parameters", "original_max_position_embeddings"),
           ("layer_types", "sliding_window_pattern"), ("layer_types", "global_attn_every_n_layers"),
           ("local_attention", "sliding_window"), ("rope_parameters", "global_rope_theta"),
           ("rope_parameters", "rope_local_base_freq"), ("feed_forward_proj", "dense_act_fn"),
           ("feed_forward_proj", "is_gated_act"), ("scale_decoder_outputs", "tie_word_embeddings"),
           ("text_config", "text_config_dict"), ("vision_config", "vision_config_dict"), ("id2label", "num_labels"),
           ("attention_types", "attention_layers")]


def doubles_of(model_type):
    other = [(new, old) for old, new in CLASSES.get(model_type, {"other_names": {}})["other_names"].items()]
    return DOUBLES + other


def add_double(config, rng):
    """Adds the other form of a present key: with the same value or another."""
    there = [(new, old) for new, old in doubles_of(config.get("model_type", "")) if new in config and old not in config]
    if not there:
        return config
    new, old = rng.choice(there)
    same = new in ("dtype", "text_config", "vision_config") or not values_of(old) or (new, old) not in DOUBLES
    value = copy.deepcopy(config[new]) if same and rng.random() < 0.5 else copy.deepcopy(rng.choice(values_of(old)))
    return config | {old: value}


def without_some(config, rng):
    """Omits one to three keys: the class's defaults apply."""
    free = [key for key in config if key not in KEPT and key != "model_type"]
    gone = set(rng.sample(free, min(len(free), rng.choice([1, 1, 2, 3]))))
    return {key: value for key, value in config.items() if key not in gone}


def with_decoys(config, rng):
    """Adds keys of other families, which transformers mostly ignores."""
    foreign = [key for key in known_keys() if key not in config and key not in own_keys(config["model_type"])]
    return config | {key: copy.deepcopy(rng.choice(values_of(key))) for key in rng.sample(foreign, rng.choice([1, 2, 4]))}


def with_null(config, rng):
    free = [key for key in config if key not in KEPT and may_be_null(key, config["model_type"])]
    return config | ({rng.choice(free): None} if free else {})


def inside(change, config, rng):
    """Applies the change at the top level or in a nested config."""
    nested = [key for key in ("text_config", "vision_config") if isinstance(config.get(key), dict)]
    if nested and rng.random() < 0.6:
        key = rng.choice(nested)
        model_type = config[key].get("model_type") or {"clip": {"text_config": "clip_text_model", "vision_config": "clip_vision_model"}}.get(
            config["model_type"], {}).get(key, "gemma3_text")
        changed = change(config[key] | {"model_type": model_type}, rng)
        return config | {key: changed}
    return change(config, rng)


def draw_spelling(config, rng):
    """(the names of the changes, the configuration in some plausible form)"""
    changes = []
    if rng.random() < 0.45:
        config, changes = version_4(config, rng), ["version_4"]
    for name, change, share in (("double", add_double, 0.3), ("missing", without_some, 0.3),
                                ("decoys", with_decoys, 0.3), ("null", with_null, 0.08)):
        if rng.random() < share:
            config = inside(change, config, rng)
            changes.append(name)
    return changes, config
