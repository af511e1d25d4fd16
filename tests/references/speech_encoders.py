"""Pipelines, feature extraction and tokenizers of wav2vec 2.0 and HuBERT: tests/fixtures/speech_encoders."""

import json
import os

import numpy
import torch
from transformers import (
    AudioClassificationPipeline, AutomaticSpeechRecognitionPipeline, AutoTokenizer, HubertConfig,
    HubertForSequenceClassification, Wav2Vec2Config, Wav2Vec2CTCTokenizer, Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC,
)

from common import Group, arguments, integers, normal
from models_common import write_checkpoint
from models_speech import EVEN, ODD

CERTAIN = 1e-4  # smallest distance between the two best logits of a frame; float32 errors are far below

TOKENS = ["<pad>", "<s>", "</s>", "<unk>", "|", *"ETAON'"]
RATE = 16000
FILE = "speech_encoders.safetensors"
CTC = EVEN | dict(vocab_size=len(TOKENS), conv_stride=[5, 4, 4], pad_token_id=0)
LENGTHS = {"short": 2000, "long": 20011}
CALLS = {"short": {}, "long": {}, "long_chunks": dict(chunk_length_s=0.5),
         "long_strides": dict(chunk_length_s=0.4, stride_length_s=[0.11, 0.05]),
         "long_no_strides": dict(chunk_length_s=0.3, stride_length_s=0)}


def sound(name, length=None):
    """Louder and softer parts, so that chunks differ in what normalisation does."""
    length = length or LENGTHS[name.split("_")[0]]
    loudness = 0.2 + numpy.abs(numpy.sin(numpy.arange(length) / 1700.0))
    return (normal(f"speech_encoders/{name.split('_')[0]}", (length,), 0.1).numpy() * loudness).astype(numpy.float32)


def save_beside(folder, extractor, tokenizer=None):
    for part in (extractor, tokenizer):
        if part is not None:
            part.save_pretrained(folder)


def tokenizer_in(folder):
    vocabulary = os.path.join(folder, "vocab.json")
    with open(vocabulary, "w", encoding="utf-8") as file:
        json.dump({token: i for i, token in enumerate(TOKENS)}, file)
    return Wav2Vec2CTCTokenizer(vocabulary)


def heard(folder, seed):
    """A model that hears many tokens, and the texts; none if rounding could change one."""
    model = write_checkpoint(folder, Wav2Vec2ForCTC, Wav2Vec2Config(**CTC), f"speech_encoders/ctc/{seed}",
                             gains={"lm_head.weight": 3.0, "lm_head.bias": 0.3, "projection.weight": 4.0})
    extractor, tokenizer = Wav2Vec2FeatureExtractor(), tokenizer_in(folder)
    save_beside(folder, extractor, tokenizer)
    pipe = AutomaticSpeechRecognitionPipeline(model=model, tokenizer=tokenizer, feature_extractor=extractor)
    margins = []

    def note(module, args, output):
        best = output.logits.topk(2).values
        margins.append(float((best[..., 0] - best[..., 1]).min()))
    model.register_forward_hook(note)
    texts = {name: pipe({"raw": sound(name), "sampling_rate": RATE}, **options)["text"] for name, options in CALLS.items()}
    telling = len(texts["long"]) > 20 and " " in texts["long"].strip() and len(set(texts.values())) == len(texts)
    return texts if telling and min(margins) > CERTAIN else None


def add_recognition(group):
    folder = os.path.join(group.folder, "ctc")
    texts = next(filter(None, (heard(folder, seed) for seed in range(300))))
    for name, options in CALLS.items():
        samples, text = sound(name), texts[name]
        group.case(name, "recognition", {"checkpoint": "ctc"} | options, {"samples": torch.from_numpy(samples)}, {}, file=FILE, text=text)


def add_texts(group):
    tokenizer = AutoTokenizer.from_pretrained(os.path.join(group.folder, "ctc"))
    for index in range(12):
        ids = integers(f"speech_encoders/ids/{index}", (14,), 0, len(TOKENS))
        ids = ids.repeat_interleave(integers(f"speech_encoders/times/{index}", (14,), 1, 4)).tolist()
        group.case(f"decode_{index}", "decode", {"ids": ids}, {}, {}, file=FILE, text=tokenizer.decode(ids),
                   without_special=tokenizer.decode(ids, skip_special_tokens=True))
    for index, text in enumerate(["TEA", "A NOTE", "  ATE  'N", "TEN <s> xE", ""]):
        group.case(f"encode_{index}", "encode", {"text": text}, {}, {}, file=FILE, ids=tokenizer(text)["input_ids"])


def add_classes(group):
    folder = os.path.join(group.folder, "classes")
    labels = {i: name for i, name in enumerate(["yes", "no", "up", "down"])}
    config = HubertConfig(**ODD, id2label=labels, label2id={name: i for i, name in labels.items()})
    model = write_checkpoint(folder, HubertForSequenceClassification, config, "speech_encoders/classes", gains={"classifier.weight": 4.0})
    extractor = Wav2Vec2FeatureExtractor(return_attention_mask=True, do_normalize=False)
    save_beside(folder, extractor)
    pipe = AudioClassificationPipeline(model=model, feature_extractor=extractor)
    for name, options in {"short_classes": {}, "short_best": dict(top_k=2), "short_sigmoid": dict(function_to_apply="sigmoid")}.items():
        samples = sound(name)
        found = pipe(samples.copy(), **options)
        group.case(name, "classification", {"checkpoint": "classes"} | options, {"samples": torch.from_numpy(samples)}, {}, file=FILE, classes=found)


def add_features(group):
    sounds = [sound("short", 300), sound("long", 211)]
    inputs = {f"sound_{i}": torch.from_numpy(samples) for i, samples in enumerate(sounds)}
    for name, settings, options in [
        ("plain", {}, {}), ("normalised", {}, dict(padding="longest")),
        ("masked", dict(return_attention_mask=True), dict(padding="longest")),
        ("cut", dict(return_attention_mask=True, padding_value=0.5), dict(padding="max_length", max_length=250, truncation=True)),
        ("asked", dict(do_normalize=False), dict(padding="max_length", max_length=320, return_attention_mask=True)),
    ]:
        given = sounds[:1] if name == "plain" else sounds
        made = Wav2Vec2FeatureExtractor(**settings)([one.copy() for one in given], sampling_rate=RATE, return_tensors="pt", **options)
        group.case(f"features_{name}", "features", {"config": settings, "call": options}, dict(list(inputs.items())[: len(given)]),
                   {key: value.long() if key == "attention_mask" else value for key, value in made.items()}, file=FILE)


def main():
    args = arguments(__doc__)
    group = Group(args, "speech_encoders", "speech_encoders.py", ["transformers"])
    add_recognition(group)
    add_texts(group)
    add_classes(group)
    add_features(group)
    group.save()


if __name__ == "__main__":
    main()
