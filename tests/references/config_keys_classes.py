"""The keys of transformers' config classes and their defaults: tests/fixtures/config_keys/classes.json."""

import dataclasses
import json
import os

import transformers
from transformers.models.mpt.configuration_mpt import MptAttentionConfig

from common import arguments, versions

# "model_type" of the supported model types: the class of its config.
CLASSES = {
    "bert": transformers.BertConfig,
    "roberta": transformers.RobertaConfig,
    "distilbert": transformers.DistilBertConfig,
    "modernbert": transformers.ModernBertConfig,
    "xlm-roberta": transformers.XLMRobertaConfig,
    "camembert": transformers.CamembertConfig,
    "data2vec-text": transformers.Data2VecTextConfig,
    "electra": transformers.ElectraConfig,
    "albert": transformers.AlbertConfig,
    "mpnet": transformers.MPNetConfig,
    "deberta-v2": transformers.DebertaV2Config,
    "esm": transformers.EsmConfig,
    "gpt2": transformers.GPT2Config,
    "gpt_neo": transformers.GPTNeoConfig,
    "llama": transformers.LlamaConfig,
    "mistral": transformers.MistralConfig,
    "qwen2": transformers.Qwen2Config,
    "qwen3": transformers.Qwen3Config,
    "phi": transformers.PhiConfig,
    "phi3": transformers.Phi3Config,
    "gemma": transformers.GemmaConfig,
    "gpt_neox": transformers.GPTNeoXConfig,
    "gptj": transformers.GPTJConfig,
    "codegen": transformers.CodeGenConfig,
    "bloom": transformers.BloomConfig,
    "falcon": transformers.FalconConfig,
    "mpt": transformers.MptConfig,
    "mpt_attention": MptAttentionConfig,
    "stablelm": transformers.StableLmConfig,
    "cohere": transformers.CohereConfig,
    "cohere2": transformers.Cohere2Config,
    "lfm2": transformers.Lfm2Config,
    "qwen3_5_text": transformers.Qwen3_5TextConfig,
    "qwen3_5": transformers.Qwen3_5Config,
    "gemma2": transformers.Gemma2Config,
    "gemma3_text": transformers.Gemma3TextConfig,
    "gemma3": transformers.Gemma3Config,
    "olmo": transformers.OlmoConfig,
    "olmo2": transformers.Olmo2Config,
    "olmo3": transformers.Olmo3Config,
    "smollm3": transformers.SmolLM3Config,
    "granite": transformers.GraniteConfig,
    "starcoder2": transformers.Starcoder2Config,
    "opt": transformers.OPTConfig,
    "openai-gpt": transformers.OpenAIGPTConfig,
    "marian": transformers.MarianConfig,
    "bart": transformers.BartConfig,
    "mbart": transformers.MBartConfig,
    "m2m_100": transformers.M2M100Config,
    "pegasus": transformers.PegasusConfig,
    "blenderbot": transformers.BlenderbotConfig,
    "blenderbot-small": transformers.BlenderbotSmallConfig,
    "t5": transformers.T5Config,
    "mt5": transformers.MT5Config,
    "whisper": transformers.WhisperConfig,
    "vit": transformers.ViTConfig,
    "deit": transformers.DeiTConfig,
    "dinov2": transformers.Dinov2Config,
    "dinov2_with_registers": transformers.Dinov2WithRegistersConfig,
    "dinov3_vit": transformers.DINOv3ViTConfig,
    "clip": transformers.CLIPConfig,
    "clip_text_model": transformers.CLIPTextConfig,
    "clip_vision_model": transformers.CLIPVisionConfig,
    "siglip": transformers.SiglipConfig,
    "siglip_text_model": transformers.SiglipTextConfig,
    "siglip_vision_model": transformers.SiglipVisionConfig,
    "granitemoe": transformers.GraniteMoeConfig,
    "olmoe": transformers.OlmoeConfig,
    "qwen3_moe": transformers.Qwen3MoeConfig,
    "mixtral": transformers.MixtralConfig,
    "wav2vec2": transformers.Wav2Vec2Config,
    "hubert": transformers.HubertConfig,
    "ernie4_5": transformers.Ernie4_5Config,
    "helium": transformers.HeliumConfig,
    "glm": transformers.GlmConfig,
    "glm4": transformers.Glm4Config,
    "exaone4": transformers.Exaone4Config,
    "arcee": transformers.ArceeConfig,
    "nemotron": transformers.NemotronConfig,
    "xglm": transformers.XGLMConfig,
    "biogpt": transformers.BioGptConfig,
    "vaultgemma": transformers.VaultGemmaConfig,
    "nomic_bert": transformers.NomicBertConfig,
    "eurobert": transformers.EuroBertConfig,
    "gpt_bigcode": transformers.GPTBigCodeConfig,
    "hunyuan_v1_dense": transformers.HunYuanDenseV1Config,
    "nanochat": transformers.NanoChatConfig,
    "modernbert-decoder": transformers.ModernBertDecoderConfig,
    "audio-spectrogram-transformer": transformers.ASTConfig,
    "granitemoehybrid": transformers.GraniteMoeHybridConfig,
}


def default_of(field):
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None


def plain(value):
    """The value as JSON; values without a JSON form (functions, infinities) become null."""
    return json.loads(json.dumps(value, default=lambda _: None), parse_constant=lambda _: None)


def keys_of(config_class):
    """The keys declared by the class, including inherited ones, with their declared defaults."""
    return {field.name: plain(default_of(field)) for field in dataclasses.fields(config_class)
            if not field.name.startswith("_")}


def settled_of(config_class, keys):
    """The values of an empty config.json that differ from the declared defaults: derived sizes, rope_parameters."""
    config = config_class()
    apart = {*config_class.sub_configs, "id2label", "label2id", "ignore_keys_at_rope_validation"}
    found = plain({key: value for key, value in vars(config).items() if not key.startswith("_") and key not in apart})
    return {key: value for key, value in sorted(found.items()) if key not in keys or keys[key] != value}


def describe(config_class):
    keys = keys_of(config_class)
    theta = getattr(config_class, "default_theta", None) if "rope_parameters" in keys else None
    return {
        "class": config_class.__name__,
        "keys": keys,
        "settled": settled_of(config_class, keys),
        "other_names": dict(config_class.attribute_map),
        "nested": {key: sub.model_type for key, sub in config_class.sub_configs.items() if hasattr(sub, "model_type")},
        "rope_theta": plain(theta),
    }


def main():
    args = arguments(__doc__)
    folder = os.path.join(args.out, "config_keys")
    os.makedirs(folder, exist_ok=True)
    header = {"generator": "tests/references/config_keys_classes.py", "versions": versions("transformers")}
    classes = {name: describe(config_class) for name, config_class in CLASSES.items()}
    with open(os.path.join(folder, "classes.json"), "w", encoding="ascii", newline="\n") as out:
        json.dump(header | {"classes": classes}, out, indent=1)
        out.write("\n")
    print(f"{folder}/classes.json: {len(classes)} classes, {sum(len(entry['keys']) for entry in classes.values())} keys")


if __name__ == "__main__":
    main()
