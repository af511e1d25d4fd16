"""What transformers computes from a folder with a given config.json, and the files shared by cases."""

import copy
import hashlib
import json
import os
import random
import shutil

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, GenerationConfig, GenerationMixin

from common import cast, float64_everywhere, integers, largest_difference, normal, rounded_up
from models_common import CERTAIN, fill, flatten

MOST_PARAMETERS = 500_000  # models larger than this, from a class's defaults for omitted sizes, are not compared
MOST_PATCHES = 900  # of an image; every head's scores are its square
SMALL_SIZE = 64  # if no number of the configuration is larger, the model is certainly small
TYPED = ("bert", "roberta", "xlm-roberta", "camembert", "data2vec-text", "electra", "albert", "deberta-v2")  # with token types
ROWS, LENGTH, TARGET, NEW_TOKENS = 3, 9, 5, 8
DEEP = 8  # layers
SAMPLES = 1200  # of a sound
OTHERS = ("attentions", "past_key_values", "extract_features")  # outputs that are not compared


class TooLarge(Exception):
    """A valid configuration whose model is too large for a test."""


class Undefined(Exception):
    """transformers runs it, with random numbers for tensors that the file lacks."""


class Imprecise(Exception):
    """transformers' own float32 result is off by more than the tests' bound."""


def write_json(folder, config):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)


def load(folder, auto, attention):
    model, report = auto.from_pretrained(folder, dtype=torch.float32, attn_implementation=attention, experts_implementation="eager",
                                         output_loading_info=True)
    missing = sorted(report["missing_keys"]) + sorted(map(str, report["mismatched_keys"]))
    if missing:
        raise Undefined(f"not in the file: {', '.join(missing[:3])}")
    return model.eval()


def patches_of(config):
    """The number of positions of an image; its sizes are numbers or pairs."""
    image, patch = (size if isinstance(size, (list, tuple)) else [size] * 2 for size in (config.image_size, config.patch_size))
    return image[0] // patch[0] * (image[1] // patch[1])


def nested_in(config):
    """The nested configs; ESM has one for ESMFold alone."""
    return [part for part in (getattr(config, key) for key in config.sub_configs) if part is not None]


def refuse_large(auto, config):
    """Raises TooLarge for more than MOST_PARAMETERS, counted without allocating them, or MOST_PATCHES."""
    parts = [config, *nested_in(config)]
    images = [part for part in parts if getattr(part, "image_size", None) and getattr(part, "patch_size", None)]
    if any(patches_of(part) > MOST_PATCHES for part in images):
        raise TooLarge
    sizes = [value for part in parts for value in vars(part).values() if isinstance(value, int)]
    if max(sizes, default=0) <= SMALL_SIZE:
        return
    with torch.device("meta"):
        model = auto.from_config(config)
    if sum(parameter.numel() for parameter in model.parameters()) > MOST_PARAMETERS:
        raise TooLarge


def save_fresh(folder, auto, name, family, untied=False, dtype=torch.float32):
    """Weights for the folder's config.json, saved by transformers; the config.json is unchanged."""
    config = AutoConfig.from_pretrained(folder)
    if untied:
        config.tie_word_embeddings = False
        for part in nested_in(config):
            part.tie_word_embeddings = False
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        text = file.read()
    model = auto.from_config(config)
    fill(model, name, family.gains)
    if untied and config.model_type in ("t5", "mt5"):  # its class always ties the towers' tables to shared
        for tower in (model.encoder, model.decoder):
            tower.embed_tokens.weight.copy_(model.shared.weight)
    model.to(dtype).save_pretrained(folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        file.write(text)


def text_inputs(config, rows=ROWS, length=LENGTH):
    """Ids with a full row, a left-padded and a right-padded one; the mask, and positions that skip the padding."""
    pad = getattr(config, "pad_token_id", None)
    pad = pad if isinstance(pad, int) and 0 <= pad < config.vocab_size else 0
    ids = integers("config_keys/ids", (rows, length), 10, 40)
    mask = torch.ones_like(ids)
    mask[1, :3], mask[2, 6:] = 0, 0
    return {"input_ids": torch.where(mask == 1, ids, torch.full_like(ids, pad)), "attention_mask": mask}


def inputs_of(kind, config, task):
    if kind == "image":
        size = config.image_size if isinstance(config.image_size, (list, tuple)) else [config.image_size] * 2
        return {"pixel_values": normal("config_keys/pixels", (2, config.num_channels, *size)).float()}
    if kind == "spectrogram":
        return {"input_values": normal("config_keys/frames", (2, config.max_length, config.num_mel_bins)).float()}
    if kind == "clip" and task == "image-classification":
        return inputs_of("image", config.vision_config, task)
    if kind == "clip":
        inputs = text_inputs(config.text_config) | inputs_of("image", config.vision_config, task)
        inputs["input_ids"][:, 5] = 39  # the end token of the base
        inputs["attention_mask"][:, :6] = 1  # CLIP's texts are padded on the right
        return inputs
    if kind == "decoder":
        inputs = text_inputs(config.get_text_config())
        return inputs | {"position_ids": (inputs["attention_mask"].cumsum(-1) - 1).clamp(min=0)}
    if kind == "samples":
        mask = torch.ones(2, SAMPLES, dtype=torch.int64)
        mask[1, SAMPLES * 2 // 3:] = 0
        return {"input_values": normal("config_keys/samples", (2, SAMPLES)).float() * mask, "attention_mask": mask}
    if kind == "encoder":
        inputs = text_inputs(config)
        if config.model_type == "modernbert" and task == "sequence-classification":
            inputs["attention_mask"][:, :3] = 1  # or the pooled first position could attend to nothing locally
        if config.model_type in TYPED and config.type_vocab_size > 1:
            inputs["token_type_ids"] = integers("config_keys/types", (ROWS, LENGTH), 0, config.type_vocab_size)
        return inputs
    targets = integers("config_keys/targets", (ROWS, TARGET), 10, 40)
    mask = torch.ones_like(targets)
    if kind == "speech":
        frames = 2 * config.max_source_positions
        return {"input_features": normal("config_keys/features", (ROWS, config.num_mel_bins, frames), 0.7).float(),
                "decoder_input_ids": targets}
    mask[1, 3:] = 0
    return text_inputs(config) | {"decoder_input_ids": targets, "decoder_attention_mask": mask}


def forward(model, inputs, kind):
    options = {"output_hidden_states": True, "return_dict": True}
    if kind in ("decoder", "seq2seq", "speech"):
        options["use_cache"] = False
    outputs = flatten(model(**inputs, **options))
    if not all(bool(value.isfinite().all()) for value in outputs.values() if value.is_floating_point()):
        raise Undefined("not finite")
    return {key: value for key, value in outputs.items() if not any(other in key for other in OTHERS)}


def own_errors(model, inputs, kind, outputs):
    """The float32 errors of models that amplify rounding: deep ones, and T5, whose scores are not scaled. Raises Imprecise."""
    layers = getattr(model.config.get_text_config(), "num_hidden_layers", 0)
    if layers <= DEEP and model.config.model_type not in ("t5", "mt5"):
        return {}
    with float64_everywhere():
        exact = forward(copy.deepcopy(model).double(), cast(inputs, torch.float64), kind)
    found = {key: largest_difference(value, exact[key]) for key, value in outputs.items() if value.is_floating_point()}
    for key, error in found.items():
        if error > 2e-5 + 1e-5 * float(outputs[key].abs().max()):
            raise Imprecise(key)
    return {"float32_error": {key: rounded_up(error) for key, error in found.items()}}


def generation_inputs(kind, inputs):
    """The prompts of a text: for a decoder without right-padded rows, where the next token would be."""
    if kind == "decoder":
        return {key: inputs[key][:2] for key in ("input_ids", "attention_mask")}
    return {key: inputs[key] for key in ("input_ids", "attention_mask", "input_features") if key in inputs}


def generate(model, kind, inputs):
    """(options, sequences), or nothing if two tokens are equally good or transformers' cache changes the text."""
    options = {"do_sample": False, "max_new_tokens": NEW_TOKENS, "eos_token_id": None, "pad_token_id": 0}
    if kind != "decoder":
        options["decoder_start_token_id"] = 5
    kept, model.generation_config = model.generation_config, GenerationConfig()
    settings = GenerationConfig(**options, return_dict_in_generate=True, output_logits=True)
    out = GenerationMixin.generate(model, **inputs, generation_config=settings)
    options_without = GenerationConfig(**options, return_dict_in_generate=True, use_cache=False)
    same = torch.equal(GenerationMixin.generate(model, **inputs, generation_config=options_without).sequences, out.sequences)
    model.generation_config = kept
    best = torch.stack(out.logits).topk(2).values
    certain = float((best[..., 0] - best[..., 1]).min()) > CERTAIN
    return (options, out.sequences) if certain and same else None


class Store:
    """Tensors of one model type by content, and weights files likewise: what cases share is stored once."""

    def __init__(self, out, model_type):
        self.out, self.file = os.path.join(out, model_type), "tensors.safetensors"
        self.tensors = {}
        os.makedirs(os.path.join(self.out, "weights"), exist_ok=True)

    def put(self, tensor):
        wide = torch.int64 if tensor.dtype in (torch.bool, torch.int32, torch.int64) else torch.float32
        tensor = tensor.detach().to(wide).contiguous().clone()
        digest = hashlib.sha1(tensor.numpy().tobytes() + str(tuple(tensor.shape)).encode()).hexdigest()[:16]
        self.tensors[digest] = tensor
        return digest

    def put_all(self, tensors):
        return {name: self.put(tensor) for name, tensor in tensors.items()}

    def put_weights(self, path):
        with open(path, "rb") as file:
            digest = hashlib.sha1(file.read()).hexdigest()[:16]
        name = f"weights/{digest}.safetensors"
        if not os.path.exists(os.path.join(self.out, name)):
            shutil.copyfile(path, os.path.join(self.out, name))
        return name

    def save(self):
        save_file(self.tensors, os.path.join(self.out, self.file))


class Bench:
    """Runs cases of one model type in a folder of its own."""

    def __init__(self, store, folder, model_type, family, dtype=torch.float32):
        self.store, self.folder, self.model_type, self.family, self.dtype = store, folder, model_type, family, dtype
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)

    @property
    def weights(self):
        return os.path.join(self.folder, "model.safetensors")

    def save_base(self, settings, task):
        """Saves config.json and weights for these arguments with save_pretrained; returns the config."""
        config = self.family.config(**settings)
        write_json(self.folder, {})
        auto = self.family.tasks[task]
        classes = auto._model_mapping[self.family.config]  # DeiT has two classifiers
        config.architectures = [random.Random(repr(settings)).choice(classes if isinstance(classes, tuple) else (classes,)).__name__]
        model = fill(auto.from_config(config), f"config_keys/{self.model_type}", self.family.gains)
        model.to(self.dtype).save_pretrained(self.folder)
        with open(os.path.join(self.folder, "config.json"), encoding="utf-8") as file:
            return json.load(file)

    def load_somehow(self, auto, untied):
        """The folder unchanged or, if the file's tensors do not match the config, with tensors that do."""
        name = f"config_keys/{self.model_type}"
        refuse_large(auto, AutoConfig.from_pretrained(self.folder))
        if untied:
            save_fresh(self.folder, auto, name, self.family, True, self.dtype)
        try:
            return load(self.folder, auto, self.family.attention)
        except (Undefined, RuntimeError):
            save_fresh(self.folder, auto, name, self.family, False, self.dtype)
            return load(self.folder, auto, self.family.attention)

    def run(self, name, config, task, *, untied=False, text=True, **more):
        """A case with transformers' result for the folder with this config.json: outputs, tokens, or a refusal."""
        write_json(self.folder, config)
        case = {"name": name, "op": "config_keys", "file": self.store.file,
                "options": {"task": task, "config": config}, "inputs": {}, "outputs": {}} | more
        try:
            model = self.load_somehow(self.family.tasks[task], untied)
            kind = self.family.inputs
            inputs = inputs_of(kind, model.config, task)
            outputs = forward(model, inputs, kind)
            case |= own_errors(model, inputs, kind, outputs)
            case["inputs"] = self.store.put_all(inputs)
            case["outputs"] = self.store.put_all(outputs)
            if text and task in ("causal-lm", "seq2seq-lm"):
                self.add_text(case, model, kind, inputs)
        except (TooLarge, MemoryError):
            return None
        except Imprecise as error:
            print(f"{name}: not compared, float32 does not suffice for {error}", flush=True)
            return None
        except Exception as error:  # for any error transformers does not run this folder
            case["refused"] = f"{type(error).__name__}: {str(error).strip()[:300]}"
            case["inputs"], case["outputs"] = {}, {}
        if os.path.exists(self.weights):
            case["options"]["weights"] = self.store.put_weights(self.weights)
        return case

    def add_text(self, case, model, kind, inputs):
        prompts = generation_inputs(kind, inputs)
        try:
            made = generate(model, kind, prompts)
        except Exception:  # what generate() requires of a config beyond a pass does not matter here
            return
        if made is not None:
            case["generate"] = made[0]
            case["inputs"] |= {f"prompt.{key}": self.store.put(value) for key, value in prompts.items()}
            case["outputs"]["sequences"] = self.store.put(made[1])


def quiet():
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
