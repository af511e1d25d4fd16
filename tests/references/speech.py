"""Speech with timestamps: the results of transformers' pipeline with return_timestamps, on whisper/odd and on whisper-tiny.

The tiny checkpoint has random weights and its own tokenizer (whisper_times_97), whose last 36 tokens are timestamps: its
texts are nonsense, but cover all rules of timestamps, passes, chunks and their merging. --models contains whisper-tiny, too.
`languages` has the codes of Whisper's languages and of all names they are called by; `decoded` has random ids of that
tokenizer as text, with and without special tokens and timestamps; `prompts` has what generate() writes by language and task.
"""

import copy
import functools
import os
import random
import wave

import numpy
import torch
from transformers import AutoTokenizer, WhisperFeatureExtractor, WhisperForConditionalGeneration, pipeline
from transformers.models.whisper import tokenization_whisper
from transformers.models.whisper.tokenization_whisper import LANGUAGES, TO_LANGUAGE_CODE

from common import Group, arguments
from models_common import load_checkpoint
from pipelines import plain, sound
from pipelines_tokenizers import whisper_times_97, write

EXTRACTOR = {"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 8, "sampling_rate": 1600, "hop_length": 40,
             "n_fft": 40, "chunk_length": 1}
CONFIG = {"is_multilingual": True, "lang_to_id": {"<|en|>": 3, "<|fr|>": 4}, "task_to_id": {"transcribe": 5, "translate": 6},
          "no_timestamps_token_id": 60, "max_length": 32, "alignment_heads": [[0, 1], [1, 0], [1, 2]], "max_initial_timestamp_index": 3}
POSITIONS, PRECISION = 20, 0.05


class BehindTheSound(Exception):
    """A pass over padding only: upstream's count of its frames is negative, and its timestamps are meaningless."""


def tiny_pipeline(out, tokenizer):
    model = load_checkpoint(os.path.join(out, "models", "whisper/odd"), WhisperForConditionalGeneration)
    for key, value in CONFIG.items():
        setattr(model.generation_config, key, value)
    extract = model._extract_token_timestamps

    def checked(*given, num_frames=None, **kwargs):
        if int(num_frames.min()) < 2:
            raise BehindTheSound
        return extract(*given, num_frames=num_frames, time_precision=PRECISION, **kwargs)

    # Upstream's defaults assume 30 seconds in 1500 positions.
    model._extract_token_timestamps = checked
    model.generate = functools.partial(model.generate, time_precision=PRECISION, time_precision_features=PRECISION / 2)
    given = {key: value for key, value in EXTRACTOR.items() if key != "feature_extractor_type"}
    return pipeline("automatic-speech-recognition", model=model, tokenizer=tokenizer,
                    feature_extractor=WhisperFeatureExtractor(**given), device="cpu")


def tiny_calls():
    for seed, length in ((0, 1400), (1, 1600), (2, 700), (3, 1600)):
        for times in (True, "word"):
            yield (seed, length), {"language": "en"}, {"return_timestamps": times}
    for seed, length in ((2, 4500), (4, 3900), (5, 6100)):
        for times in (True, "word"):
            yield (seed, length), {"language": "fr"}, {"return_timestamps": times}
            yield (seed, length), {"language": "en"}, {"return_timestamps": times, "chunk_length_s": 1}
            yield (seed, length), {"language": "en"}, {"return_timestamps": times, "chunk_length_s": 1, "stride_length_s": [0.3, 0.1]}
        yield (seed, length), {"language": "en"}, {"return_language": True, "chunk_length_s": 1, "stride_length_s": 0.25}
    for seed, length in ((0, 1400), (3, 1600)):
        yield (seed, length), {"language": "en", "num_beams": 3}, {"return_timestamps": True}
        yield (seed, length), {"language": "en", "num_beams": 3}, {"return_timestamps": "word"}
    # In chunks whose times lie between two hundredths of a second.
    yield (418, 5130), {"language": "en"}, {"return_timestamps": True, "chunk_length_s": 1, "stride_length_s": [0.125, 0]}


def add_tiny(group, out):
    tokenizer = write(os.path.join(out, "pipelines"), "whisper_times_97")
    tokenization_whisper._decode_asr.__kwdefaults__["segment_size"] = POSITIONS
    pipe, calls = tiny_pipeline(out, tokenizer), []
    for given, options, kwargs in tiny_calls():
        try:
            answer = pipe(sound(*given), generate_kwargs={"num_beams": 1} | options, **kwargs)
        except BehindTheSound:
            continue
        calls.append({"arguments": [{"sound": given}], "options": {"num_beams": 1} | options | kwargs, "answer": plain(answer)})
    tokenization_whisper._decode_asr.__kwdefaults__["segment_size"] = 1500
    group.add({"name": "tiny_times", "op": "automatic-speech-recognition", "checkpoint": "models/whisper/odd", "calls": calls,
               "tokenizer": "whisper_times_97", "config": {}, "files": {"preprocessor_config.json": EXTRACTOR}, "generation_config": CONFIG})


def recording(path):
    with wave.open(path, "rb") as file:
        return numpy.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(numpy.float32) / 32768


def add_real(group, folder):
    """Both recordings, of 30 and of 11 seconds, concatenated: in two passes, and in two chunks."""
    model = load_checkpoint(folder, WhisperForConditionalGeneration)
    pipe = pipeline("automatic-speech-recognition", model=model, tokenizer=AutoTokenizer.from_pretrained(folder),
                    feature_extractor=WhisperFeatureExtractor.from_pretrained(folder), device="cpu")
    jfk, a13 = (recording(os.path.join(folder, f"{name}.wav")) for name in ("jfk", "a13"))
    sound, calls = numpy.concatenate([a13, jfk]), []
    for kwargs in ({"return_timestamps": True}, {"return_timestamps": "word", "chunk_length_s": 28, "stride_length_s": 4}):
        answer = pipe(sound.copy(), generate_kwargs={"num_beams": 1, "language": "en"}, **copy.deepcopy(kwargs))
        calls.append({"options": {"language": "en"} | kwargs, "answer": plain(answer)})
    group.add({"name": "whisper_tiny", "op": "automatic-speech-recognition", "checkpoint": "whisper-tiny", "calls": calls})


def random_ids(rng):
    """Also with an earlier text before <|startoftranscript|> (7 and 1), or without that token."""
    ids = [rng.randrange(97) for _ in range(rng.randint(0, 12))]
    return rng.choice([ids, ids, [7, *ids], [7, *(rng.randrange(9, 60) for _ in range(3)), 1, 3, 5, *ids]])


def timed_ids(rng):
    """Text between pairs of timestamps, which begin anew once."""
    times = sorted(rng.randrange(61, 97) for _ in range(4)) + sorted(rng.randrange(61, 97) for _ in range(2))
    pairs = zip(times[::2], times[1::2])
    return [1, 3, 5, *(i for pair in pairs for i in (pair[0], rng.randrange(9, 60), rng.randrange(9, 60), pair[1])), 2][rng.randrange(2):]


def add_decoded(group):
    # Not from its files, which do not list the special tokens: upstream's timestamps begin behind the last one listed.
    tokenizer, rng, cases = whisper_times_97(), random.Random(58), []
    for ids in [random_ids(rng) for _ in range(24)] + [timed_ids(rng) for _ in range(8)]:
        for options in ({}, {"skip_special_tokens": True}, {"decode_with_timestamps": True},
                        {"skip_special_tokens": True, "decode_with_timestamps": True}):
            cases.append({"ids": ids, "options": options, "text": tokenizer.decode(ids, **options)})
    group.add({"name": "decoded", "op": "decoded", "tokenizer": "whisper_times_97", "cases": cases})


def add_prompts(group, out):
    model = tiny_pipeline(out, AutoTokenizer.from_pretrained(os.path.join(out, "pipelines", "whisper_times_97"))).model
    features, calls = numpy.sin(numpy.arange(320, dtype=numpy.float32)).reshape(1, 8, 40), []
    for options in ({"language": "en"}, {"language": "french", "task": "translate"}, {"task": "transcribe"},
                    {"language": "fr", "task": "transcribe", "return_timestamps": True},
                    {"language": "en", "prompt_ids": [7, 20, 30]}):
        given = options | ({"prompt_ids": torch.tensor(options["prompt_ids"])} if "prompt_ids" in options else {})
        ids = model.generate(torch.from_numpy(features), num_beams=1, max_new_tokens=8, **given)
        calls.append({"options": options, "ids": ids[0].tolist()})
    group.add({"name": "prompts", "op": "prompts", "calls": calls})


def main():
    args = arguments(__doc__.splitlines()[0])
    group = Group(args, "speech", "speech.py", ["transformers", "tokenizers"])
    add_tiny(group, args.out)
    add_real(group, os.path.join(args.models, "whisper-tiny"))
    group.add({"name": "languages", "op": "languages", "languages": LANGUAGES, "codes": TO_LANGUAGE_CODE})
    add_decoded(group)
    add_prompts(group, args.out)
    group.save()


if __name__ == "__main__":
    main()
