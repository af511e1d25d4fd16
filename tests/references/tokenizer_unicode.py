"""The results of each normalizer and pre-tokenizer of tokenizers for every code point, as one checksum per 4,096 of them.

The text of a block is the concatenation of `a<character>b ` for its characters. The model has no tokens, so that the tokens
of an encoding are the words themselves: a checksum is the CRC-32 of their UTF-8, each followed by a line end.
"""

import json
import os
import zlib

from tokenizers import Tokenizer

from common import Group, arguments

BLOCK = 0x1000
MODEL = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0]], "byte_fallback": False}
GPT4 = r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "gpt4_possessive": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "gpt4o": GPT4,
    "deepseek_v3": r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "deepseek_cjk": "[一-龥\u3040-ゟ゠-ヿ]+",
    "kimi_han": r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{L}&&[^\p{Han}]]+|\s+",
    "bloom": r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "clip": r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    "starcoder": r"\d|\p{Nd}{2}|\w+|[^\w\s]",
    "classes": r"[[:alpha:]]+|[[:punct:]]+|[[:digit:]]|[[:^graph:]]|\H",
    "folded": r"(?i)[à-ÿ]+|σ|[α-ω&&[^ο]]|ж",
    "boundaries": r"\b.\B|^b|a$",
}
NORMALIZERS = [
    *({"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")),
    *({"type": "Strip", "strip_left": left, "strip_right": not left} for left in (True, False)),
    *({"type": "BertNormalizer", "clean_text": at == 0, "handle_chinese_chars": at == 1, "strip_accents": at == 2, "lowercase": at == 3} for at in range(4)),
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
    {"type": "Prepend", "prepend": "_"},
    {"type": "Replace", "pattern": {"Regex": r"\p{So}|\W"}, "content": "x"},
    {"type": "Precompiled", "precompiled_charsmap": None},
]
PRE_TOKENIZERS = [
    *({"type": name} for name in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit")),
    *({"type": "Punctuation", "behavior": behavior} for behavior in ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")),
    *({"type": "Digits", "individual_digits": individual} for individual in (True, False)),
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    *({"type": "ByteLevel", "add_prefix_space": regex, "trim_offsets": True, "use_regex": regex} for regex in (True, False)),
    {"type": "CharDelimiterSplit", "delimiter": "b"},
    {"type": "FixedLength", "length": 3},
    *({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False} for pattern in PATTERNS.values()),
]


def charsmap(fixtures):
    """The table of tokenizer_sample's Precompiled normalizer."""
    with open(os.path.join(fixtures, "tokenizer_sample", "cases.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    change = next(case["changes"] for case in cases if case["name"] == "unigram_precompiled")
    return next(step["precompiled_charsmap"] for step in change["normalizer"]["normalizers"] if step["type"] == "Precompiled")


def steps(fixtures):
    """(name, changes of tokenizer.json). The normalizers' texts are split at spaces, so that words stay short."""
    for step in NORMALIZERS:
        if step["type"] == "Precompiled":
            step = step | {"precompiled_charsmap": charsmap(fixtures)}
        name = "_".join([step["type"], *(key for key, value in step.items() if value is True)])
        yield name, {"normalizer": step, "pre_tokenizer": {"type": "CharDelimiterSplit", "delimiter": " "}}
    names = iter(PATTERNS)
    for step in PRE_TOKENIZERS:
        kind = next(names) if step["type"] == "Split" else "_".join(str(value) for value in list(step.values())[1:])
        yield f"{step['type']}_{kind}", {"normalizer": None, "pre_tokenizer": step}


def text_of(block):
    return "".join(f"a{chr(code)}b " for code in range(block, block + BLOCK) if not 0xD800 <= code < 0xE000)


def checksum(tokenizer, text):
    return zlib.crc32("".join(f"{word}\n" for word in tokenizer.encode(text).tokens).encode())


def main():
    args = arguments(__doc__)
    group = Group(args, "tokenizer_unicode", "tokenizer_unicode.py", ["tokenizers"])
    texts = [text_of(block) for block in range(0, 0x110000, BLOCK)]
    for name, change in steps(args.out):
        file = {"version": "1.0", "added_tokens": [], "post_processor": None, "decoder": None, "model": MODEL} | change
        tokenizer = Tokenizer.from_str(json.dumps(file))
        sums = [checksum(tokenizer, text) for text in texts]
        group.add({"name": name, "op": "tokenize_every_code_point", "change": change, "checksums": sums})
        print(name, flush=True)
    group.save()


if __name__ == "__main__":
    main()
