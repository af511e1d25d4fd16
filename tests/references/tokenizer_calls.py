"""transformers' tokenizers on pairs, truncation with overflowing rows, padding, spans and masks.

tokenizers 0.23.1 stops splitting a text into words once it has `max_length` tokens, so that overflowing rows lack the rest
of the text (https://github.com/huggingface/tokenizers/issues/2091), and with left truncation words are counted from where
it stopped. Calls with `return_overflowing_tokens` therefore use files whose pre-tokenizer gives a single word, and only for
those word_ids are stored with left truncation. The same stop determines which of two texts counts as the longer one, so
that pairs of the other files are truncated to even numbers of tokens.
"""

import itertools
import json
import os

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from common import Group, arguments
from tokenizer_files import variants
from tokenizer_offsets import utf16_offsets
from tokenizer_sample import sample

TEXTS = ["The quick brown fox — naïve café 😀 jumps over", "a", "", "Hello,  world! it's 12,345.67 km", "Ångström 日本語 and  more words to cut away"]
PAIRS = ["two words", "Is it? Yes, it was the best of times 👍🏽, the worst of times.", "b c d", "", "don't stop"]
FLAGS = {"return_offsets_mapping": True, "return_special_tokens_mask": True, "return_length": True, "return_token_type_ids": True}
PADDED = ({"padding": True}, {"padding": True, "padding_side": "left", "pad_to_multiple_of": 8}, {"padding": "max_length", "max_length": 40})
OVERFLOW = {"return_overflowing_tokens": True}


def truncations(pair):
    """Options that truncate; `only_second` needs a pair."""
    for strategy in (True, "longest_first", "only_first", *(["only_second"] if pair else [])):
        yield {"truncation": strategy, "max_length": {True: 10, "longest_first": 9}.get(strategy, 27)}
    yield {"truncation": True, "max_length": 12, "padding": "max_length"}
    yield {"truncation": True, "max_length": 6, "add_special_tokens": False}


def windows(pair):
    """Options with overflowing rows."""
    for size, stride in ((9, 0), (11, 2), (14, 1)):
        yield OVERFLOW | {"truncation": "longest_first", "max_length": size, "stride": stride if size > 9 else 0}
    for strategy in ("only_first", *(["only_second"] if pair else [])):
        yield OVERFLOW | {"truncation": strategy, "max_length": 45, "stride": 3, "padding": True}


def calls(single_word):
    """Pairs of (text, text_pair) with options."""
    for text, pair in zip(TEXTS, PAIRS):
        for options in ({}, {"add_special_tokens": False}):
            yield text, None, options
            if pair:
                yield text, pair, options
    for options in PADDED:
        yield TEXTS, None, options
        yield TEXTS, PAIRS, options
    for pair in (None, PAIRS[1]):
        options = itertools.chain(truncations(pair), windows(pair) if single_word else ())
        for each, side in itertools.product(options, ("right", "left")):
            yield TEXTS[4], pair, each | {"truncation_side": side}
    yield TEXTS, None, {"truncation": True, "max_length": 7, "padding": True}
    if single_word:
        yield TEXTS, None, OVERFLOW | {"truncation": True, "max_length": 10, "stride": 2, "padding": True}


def converted(found, texts, pairs):
    """Spans in UTF-16 code units, and lists as in JSON."""
    rows = range(len(found.encodings))
    samples = found.get("overflow_to_sample_mapping", list(rows))
    spans = []
    for row in rows:
        units = [utf16_offsets(texts[samples[row]]), utf16_offsets(pairs[samples[row]] if pairs else "")]
        which, offsets = found.sequence_ids(row), found.encodings[row].offsets
        spans.append([[0, 0] if at is None else [units[at][start], units[at][end]] for at, (start, end) in zip(which, offsets)])
    kept = {key: value for key, value in found.items() if key != "offset_mapping"}
    info = {"word_ids": [found.word_ids(row) for row in rows], "sequence_ids": [found.sequence_ids(row) for row in rows]}
    return kept, spans, info


def call(tokenizer, text, pair, options):
    tokenizer.truncation_side = options.get("truncation_side", "right")
    given = {key: value for key, value in options.items() if key != "truncation_side"}
    texts, pairs = ([text], pair and [pair]) if isinstance(text, str) else (text, pair)
    found = tokenizer(texts, pairs, **given, **FLAGS)
    return converted(found, texts, pairs)


def expected(tokenizer, text, pair, options, single_word):
    """The result of a call; `refused` if the library reports that it cannot truncate that far."""
    try:
        kept, spans, info = call(tokenizer, text, pair, options)
    except Exception as error:
        if "Truncation error" not in str(error):
            raise
        return {"refused": str(error)}
    if options.get("truncation_side") == "left" and not single_word:
        del info["word_ids"]
    return {"lists": kept, "offset_mapping": spans, **info}


def odd_room(tokenizer, options):
    special = tokenizer.num_special_tokens_to_add(pair=True) if options.get("add_special_tokens", True) else 0
    return options.get("truncation") in (True, "longest_first") and (options["max_length"] - special) % 2 == 1


def main():
    args = arguments(__doc__)
    group = Group(args, "tokenizer_calls", "tokenizer_calls.py", ["transformers", "tokenizers"])
    folder = os.path.join(args.out, "tokenizer_sample")
    changes = {name: (base, change) for name, base, change in variants(sample(args.models))}
    files = (("wordpiece_uncased", "[PAD]", False), ("roberta", "<|endoftext|>", False), ("byte_level_llama3", "<|end_of_text|>", False),
             ("llama2", "</s>", True), ("unigram_never", "<pad>", True))
    for name, pad, single_word in files:
        base, change = changes.get(name, (name, {}))
        change.pop("added_tokens", None)
        with open(os.path.join(folder, f"{base}.json"), encoding="utf-8") as file:
            held = json.load(file) | change
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(held)), pad_token=pad)
        for at, (text, pair, options) in enumerate(calls(single_word)):
            if isinstance(pair, str) and not single_word and odd_room(tokenizer, options):
                continue
            group.add({"name": f"{name}_{at:02}", "op": "tokenizer_call", "vocabulary": base, "changes": change, "pad_token": pad,
                       "text": text, "text_pair": pair, "options": options, **expected(tokenizer, text, pair, options, single_word)})
    group.save()


if __name__ == "__main__":
    main()
