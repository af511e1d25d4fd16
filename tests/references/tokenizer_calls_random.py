"""Random calls of tokenizers: transformers' results, in the form and within the limits of tokenizer_calls.py.

    python3 tests/references/tokenizer_calls_random.py --out tests/fixtures
    python3 tests/references/tokenizer_calls_random.py --out <folder> --count 2000 --seed x
"""

import json
import os
import random

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from common import FIXTURES, Group, arguments
from pipelines_random import draw_text
from tokenizer_calls import expected, odd_room

SINGLE_WORD = ("llama2", "unigram_never")


def draw_options(rng, single_word, has_pair):
    options = {}

    def sometimes(share, name, values):
        if rng.random() < share:
            options[name] = rng.choice(values)

    sometimes(0.6, "padding", [True, False, "longest", "max_length", "do_not_pad"])
    sometimes(0.7, "truncation", [True, False, "longest_first", "only_first", "do_not_truncate"] + ["only_second"] * has_pair)
    truncates = options.get("truncation") not in (None, False, "do_not_truncate")
    pads = options.get("padding") not in (None, False, "do_not_pad")
    if truncates or options.get("padding") == "max_length":
        options["max_length"] = rng.randint(5, 40)
    sometimes(0.2, "add_special_tokens", [False])
    sometimes(0.3, "truncation_side", ["left", "right"])
    if pads:
        sometimes(0.3, "padding_side", ["left", "right"])
        sometimes(0.3, "pad_to_multiple_of", [1, 3, 8])
    if single_word and truncates and rng.random() < 0.6:
        options |= {"return_overflowing_tokens": True, "stride": rng.choice([0, 0, 1, 2, 5])}
    return options


def draw_call(rng, single_word):
    count = rng.choice([0, 0, 1, 2, 4])  # 0: not a batch
    has_pair = rng.random() < 0.4
    texts = [draw_text(rng, 0, 9) for _ in range(max(count, 1))]
    pairs = [draw_text(rng, 0, 6) for _ in texts] if has_pair else None
    options = draw_options(rng, single_word, has_pair)
    return (texts, pairs, options) if count else (texts[0], pairs and pairs[0], options)


def read(*path):
    with open(os.path.join(FIXTURES, *path), encoding="utf-8") as file:
        return json.load(file)


def files_of_calls():
    """Of each file of tokenizer_calls.py its name, its tokenizer, and where a test finds it."""
    for case in read("tokenizer_calls", "cases.json")["cases"]:
        if case["name"].endswith("_00"):
            source = {key: case[key] for key in ("vocabulary", "changes", "pad_token")}
            held = read("tokenizer_sample", f"{case['vocabulary']}.json") | case["changes"]
            yield case["name"][:-3], PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(held)), pad_token=case["pad_token"]), source


def main():
    args = arguments(__doc__, count=40, seed="")
    group = Group(args, "tokenizer_calls_random", "tokenizer_calls_random.py", ["transformers", "tokenizers"])
    files = list(files_of_calls())
    for number in range(args.count):
        name = f"call_{args.seed}{number}"
        rng = random.Random(name)
        file, tokenizer, source = rng.choice(files)
        single_word = file in SINGLE_WORD
        text, pair, options = draw_call(rng, single_word)
        if pair is not None and not single_word and "max_length" in options and odd_room(tokenizer, options):
            continue
        try:
            found = expected(tokenizer, text, pair, options, single_word)
        except KeyboardInterrupt:
            raise
        except BaseException:  # the library panics where windows are no longer than their overlap
            continue
        group.add({"name": f"{file}_{name}", "op": "tokenizer_call", **source, "text": text, "text_pair": pair, "options": options, **found})
    group.save()


if __name__ == "__main__":
    main()
