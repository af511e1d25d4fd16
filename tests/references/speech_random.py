"""Random sounds and options of speech recognition: transformers' pipeline on the tiny checkpoint of speech.py.

    python3 tests/references/speech_random.py --out tests/fixtures
    python3 tests/references/speech_random.py --out <folder> --count 200 --seed x
"""

import os
import random

from transformers import LogitsProcessorList
from transformers.models.whisper import tokenization_whisper

from common import FIXTURES, Group, arguments
from generation import Noise
from pipelines import plain, sound
from pipelines_tokenizers import write
from speech import CONFIG, EXTRACTOR, POSITIONS, BehindTheSound, tiny_pipeline


FORCED = {
    "speech_random": None,
    "forced_french": [[1, 4], [2, 5], [3, 60]],  # as older files name language, task and <|notimestamps|>
    "forced_task": [[1, None], [2, 6]],
    "forced_language": [[1, 3]],
}


def draw(rng, forced):
    length = rng.choice([rng.randint(200, 1600), rng.randint(1601, 7000)])
    generate = {"num_beams": 1}
    if rng.random() < (0.75 if forced is None else 0.2):
        generate["language"] = rng.choice(["en", "fr", "french", "English", "<|en|>"])
    if rng.random() < 0.3 or "language" not in generate and forced is None:  # of a detected language upstream names no task
        generate["task"] = rng.choice(["transcribe", "translate"])
    if rng.random() < 0.2:
        generate["num_beams"] = 2
    if rng.random() < 0.2:
        generate["max_new_tokens"] = rng.randint(3, 20)
    options = {}
    if rng.random() < 0.65:
        options["return_timestamps"] = rng.choice([True, True, "word"])
    if rng.random() < 0.5 or length > 1600 and "return_timestamps" not in options:
        options["chunk_length_s"] = rng.choice([1, 0.9, 0.5])
        if rng.random() < 0.5:
            options["stride_length_s"] = rng.choice([0.1, 0.2, [0.2, 0.1], [0, 0.2], [0.1, 0], 0])
        if rng.random() < 0.3 and options.get("return_timestamps") != "word":  # there words would begin where they end
            options["return_language"] = True
    return (rng.randrange(1000), length), generate, options


def add_random(calls, pipe, rng, forced):
    """A call; nothing if transformers refuses it or rounding could change its answer."""
    given, generate, options = draw(rng, forced)
    noises = [LogitsProcessorList([]), *(LogitsProcessorList([Noise(seed)]) for seed in range(3))]
    try:
        answers = [plain(pipe(sound(*given), generate_kwargs=generate | {"logits_processor": noise}, **options)) for noise in noises]
    except (BehindTheSound, ValueError, IndexError):
        return
    if all(answer == answers[0] for answer in answers):
        calls.append({"arguments": [{"sound": given}], "options": generate | options, "answer": answers[0]})


def main():
    args = arguments(__doc__, count=12, seed="")
    group = Group(args, "speech_random", "speech_random.py", ["transformers", "tokenizers"])
    tokenizer = write(os.path.join(FIXTURES, "pipelines"), "whisper_times_97")
    tokenization_whisper._decode_asr.__kwdefaults__["segment_size"] = POSITIONS
    pipe = tiny_pipeline(FIXTURES, tokenizer)
    for name, forced in FORCED.items():
        calls, pipe.model.generation_config.forced_decoder_ids = [], forced
        for number in range(args.count):
            add_random(calls, pipe, random.Random(f"{name}{args.seed}{number}"), forced)
        group.add({"name": name, "op": "automatic-speech-recognition", "checkpoint": "models/whisper/odd", "calls": calls,
                   "tokenizer": "whisper_times_97", "config": {}, "files": {"preprocessor_config.json": EXTRACTOR},
                   "generation_config": CONFIG | {"forced_decoder_ids": forced}})
    group.save()


if __name__ == "__main__":
    main()
