"""Random tokenizer.json files, as the tokenizers crate encodes and decodes with them.

    python3 tests/references/tokenizer_random.py --out <folder> [--count 2000] [--seed 7]

writes `cases.json` for the test tokenizer_random.test.ts, which reads it with CLEARFORMER_TOKENIZER_CASES=<folder>. With
`--out tests/fixtures` it is the committed selection.
"""

import argparse
import json
import os

from tokenizers import Tokenizer

from common import random_state, versions

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # after a panic of the crate its threads may wait for ever
SELECTED = 100
LETTERS = ["a", "b", "c", "A", "\u00c9", "\u00e9", "e\u0301", "\u4e2d", "\U0001f600", "\u00df", "\ufb01", "\u0130", "1", "\u00bd", "'", ".", ",", "<", "_", "#", "\u2581", "\u0120",
           "\u00a0", "\n", "\t", "\u200b", "\u00ad", "\u3000"]
PIECES = ["a", "b", "ab", "c", " ", "  ", "\u00e9", "\u00c9", "\u4e2d", "\U0001f600", "e\u0301", "##a", "</w>", "<0x61>", "<s>", "a.", "'s", "n't", "\u2581a", "1"]


class Draw:
    """Choices of one tokenizer."""

    def __init__(self, name):
        self.state = random_state(name)

    def chance(self, share):
        return bool(self.state.rand() < share)

    def below(self, count):
        return int(self.state.randint(count))

    def one(self, choices):
        return choices[self.below(len(choices))]

    def some(self, choices, count):
        return [choices[at] for at in self.state.permutation(len(choices))[:count]]


def text(draw, pieces):
    """A text of letters, spaces and of what the tokenizer knows."""
    parts = []
    for _ in range(1 + draw.below(12)):
        parts.append(draw.one(draw.one([LETTERS, LETTERS[:3], pieces, [" "]])))
    return "".join(parts)


def normalizer(draw, depth=0):
    kind = draw.one([None, None, "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "StripAccents", "Strip", "Replace", "Prepend", "BertNormalizer",
                     "ByteLevel", "Nmt", *([] if depth else ["Sequence", "Sequence"])])
    if kind is None:
        return None
    if kind == "Sequence":
        steps = [normalizer(draw, 1) for _ in range(1 + draw.below(3))]
        return {"type": kind, "normalizers": [step for step in steps if step is not None]}
    more = {}
    if kind == "Strip":
        more = {"strip_left": draw.chance(0.6), "strip_right": draw.chance(0.6)}
    if kind == "Replace":  # no pattern that matches nothing: what the crate inserts before a text, its later steps pass over
        more = {"pattern": draw.one([{"String": " "}, {"String": "a"}, {"String": "ab"}, {"Regex": "\\s+"}, {"Regex": "[ab]+"}, {"Regex": "^a|b$"}]),
                "content": draw.one(["\u2581", "", "b", "xy", "\u00e9", " "])}
    if kind == "Prepend":
        more = {"prepend": draw.one(["\u2581", "a", "<s>", "\u00e9b"])}
    if kind == "BertNormalizer":
        more = {"clean_text": draw.chance(0.7), "handle_chinese_chars": draw.chance(0.7), "strip_accents": draw.one([None, True, False]), "lowercase": draw.chance(0.6)}
    return {"type": kind} | more


def byte_level(draw):
    return {"type": "ByteLevel", "add_prefix_space": draw.chance(0.5), "trim_offsets": draw.chance(0.6), "use_regex": draw.chance(0.7)}


def metaspace(draw):
    return {"type": "Metaspace", "replacement": draw.one(["\u2581", "\u2581", "_"]), "prepend_scheme": draw.one(["always", "first", "never"]), "split": draw.chance(0.7)}


def pre_tokenizer(draw, depth=0):
    kind = draw.one([None, None, "ByteLevel", "ByteLevel", "Metaspace", "Metaspace", "BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Punctuation", "Digits",
                     "Split", "Split", "CharDelimiterSplit", "FixedLength", *([] if depth else ["Sequence", "Sequence"])])
    if kind is None:
        return None
    if kind == "Sequence":
        steps = [pre_tokenizer(draw, 1) for _ in range(1 + draw.below(3))]
        return {"type": kind, "pretokenizers": [step for step in steps if step is not None]}
    if kind == "ByteLevel":
        return byte_level(draw)
    if kind == "Metaspace":
        return metaspace(draw)
    more = {}
    behavior = draw.one(["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"])
    if kind == "Punctuation":
        more = {"behavior": behavior}
    if kind == "Digits":
        more = {"individual_digits": draw.chance(0.5)}
    if kind == "Split":
        more = {"pattern": draw.one([{"String": " "}, {"String": "a"}, {"Regex": "\\s+"}, {"Regex": "[ab]+|."}, {"Regex": "\\p{L}+"}, {"Regex": "a?"}, {"Regex": "a*b|"}, {"Regex": "(?<=a)|b+"}, {"String": ""}]),
                "behavior": behavior, "invert": draw.chance(0.3)}
    if kind == "CharDelimiterSplit":
        more = {"delimiter": draw.one([" ", "a", "\u00e9"])}
    if kind == "FixedLength":
        more = {"length": 1 + draw.below(4)}
    return {"type": kind} | more


def decoder(draw, affix, depth=0):
    kind = draw.one([None, "ByteLevel", "ByteFallback", "Fuse", "WordPiece", "Metaspace", "BPEDecoder", "CTC", "Replace", "Strip",
                     *([] if depth else ["Sequence", "Sequence", "Sequence"])])
    if kind is None:
        return {"type": "Fuse"} if depth else None
    if kind == "Sequence":
        return {"type": kind, "decoders": [decoder(draw, affix, 1) for _ in range(1 + draw.below(4))]}
    if kind == "ByteLevel":
        return byte_level(draw)
    if kind == "Metaspace":
        return metaspace(draw)
    more = {"WordPiece": {"prefix": draw.one([affix, "##"]), "cleanup": draw.chance(0.5)}, "BPEDecoder": {"suffix": draw.one([affix, "</w>"])},
            "CTC": {"pad_token": draw.one(["<s>", "a"]), "word_delimiter_token": draw.one(["|", "_", "b"]), "cleanup": draw.chance(0.5)},
            "Replace": {"pattern": draw.one([{"String": "\u2581"}, {"String": affix}, {"Regex": "[ab]"}, {"Regex": "\\s+$"}, {"Regex": "b*"}]), "content": draw.one([" ", "", "$1"])},
            "Strip": {"content": draw.one([" ", "a"]), "start": draw.below(3), "stop": draw.below(2)}}
    return {"type": kind} | more.get(kind, {})


def alphabet(draw, bytes_share):
    """Single characters, bytes' names, and characters of the byte-level alphabet."""
    units = draw.some(["a", "b", "c", "A", "\u00e9", "\u00c9", "\u4e2d", "\U0001f600", "e", "\u0301", " ", "\u2581", "\u0120", "\u00c3", "\u00a9", "\u010a", "\u2026", "1", "'", ".", "#", "<", "s", ">", "_"],
                      8 + draw.below(14))
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    if draw.chance(bytes_share):
        units += names if draw.chance(0.6) else draw.some(names, 200)
    return [unit for unit in dict.fromkeys(["a", "b", *units])]


def byte_pairs(draw):
    prefix, suffix = draw.one([None, None, "", "##", "#", "\u00e9"]), draw.one([None, None, "", "</w>", "_", "\u00e9"])
    units = alphabet(draw, 0.5)
    spelled = [start + unit + end for unit in units for start in dict.fromkeys(["", prefix or ""]) for end in dict.fromkeys(["", suffix or ""]) if len(unit) == 1 and draw.chance(0.8)]
    vocab = list(dict.fromkeys(["?", *units, *spelled]))
    merges = []
    short = [token for token in vocab if not token.startswith("<0x")]
    for _ in range(draw.below(40)):
        left, right = (draw.one(vocab if draw.chance(0.1) else short) for _ in range(2))
        if prefix and not right.startswith(prefix) or [left, right] in merges:
            continue
        whole = left + right[len(prefix or ""):]
        if whole not in vocab:
            vocab.append(whole)
            short.append(whole)
        merges.append([left, right])
    if draw.chance(0.3):
        merges = [f"{left} {right}" for left, right in merges if " " not in left + right]
    return {"type": "BPE", "dropout": None, "unk_token": draw.one([None, "?", "?"]), "continuing_subword_prefix": prefix, "end_of_word_suffix": suffix,
            "fuse_unk": draw.chance(0.5), "byte_fallback": draw.chance(0.5), "ignore_merges": draw.chance(0.2), "vocab": {token: at for at, token in enumerate(vocab)},
            "merges": merges}, prefix or suffix or "##"


def strings(draw, units, count):
    return ["".join(draw.one(units) for _ in range(2 + draw.below(3))) for _ in range(count)]


def word_piece(draw):
    prefix = draw.one(["##", "##", "#", "\u00e9", ""])
    units = alphabet(draw, 0.1)
    tokens = units + strings(draw, units[:8], 10)
    vocab = list(dict.fromkeys(["[UNK]", *tokens, *[prefix + token for token in tokens if draw.chance(0.8)]]))
    return {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": prefix, "max_input_chars_per_word": draw.one([100, 100, 3]),
            "vocab": {token: at for at, token in enumerate(vocab)}}, prefix or "##"


def word_level(draw):
    units = alphabet(draw, 0)
    vocab = list(dict.fromkeys(["[UNK]", *units, *strings(draw, units, 20)]))
    return {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {token: at for at, token in enumerate(vocab)}}, "##"


def unigram(draw):
    units = alphabet(draw, 0.5)
    vocab = dict.fromkeys(["<unk>", *units, *strings(draw, [unit for unit in units if len(unit) == 1], 20)])
    scored = [[token, round(-8 * float(draw.state.rand()), 4)] for token in vocab]
    return {"type": "Unigram", "unk_id": 0 if draw.chance(0.8) else None, "vocab": scored, "byte_fallback": draw.chance(0.5)}, "##"


def added(draw, vocab):
    """Tokens beside the vocabulary and from it; ids as the crate gives them."""
    contents = draw.some(["<s>", "</s>", "[A]", "Ab", "a b", " ab", "\u00c9a", "\U0001f600", "<0x61>", "a", "\u2581b", "##b", "b</w>", "\u0120", "\ufb01", "\u00bd", "\u00e9"], draw.below(6))
    tokens, next_id = [], len(vocab)
    for content in contents:
        known = vocab.get(content)
        tokens.append({"id": next_id if known is None else known, "content": content, "single_word": draw.chance(0.2), "lstrip": draw.chance(0.3),
                       "rstrip": draw.chance(0.3), "normalized": draw.chance(0.6), "special": draw.chance(0.4)})
        next_id += known is None
    return tokens


def post_processor(draw, ids):
    """One that adds tokens which exist."""
    kind = draw.one([None, None, "ByteLevel", "ByteLevel", "BertProcessing", "RobertaProcessing", "TemplateProcessing", "Sequence"])
    if kind is None:
        return None
    if kind == "ByteLevel":
        return byte_level(draw)
    (cls, first), (sep, last) = draw.some(sorted(ids.items()), 2)
    if kind == "BertProcessing":
        return {"type": kind, "sep": [sep, last], "cls": [cls, first]}
    if kind == "RobertaProcessing":
        return {"type": kind, "sep": [sep, last], "cls": [cls, first], "trim_offsets": draw.chance(0.6), "add_prefix_space": draw.chance(0.5)}
    one, other = {"SpecialToken": {"id": cls, "type_id": 0}}, {"SpecialToken": {"id": sep, "type_id": draw.below(2)}}
    a, b = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}
    single, pair = draw.one([([one, a], [one, a, b]), ([a, other], [a, other, b, other]), ([a], [a, b]), ([one, a, other], [one, b, other, a])])
    template = {"type": "TemplateProcessing", "single": single, "pair": pair,
                "special_tokens": {token: {"id": token, "ids": [at], "tokens": [token]} for token, at in ((cls, first), (sep, last))}}
    return {"type": "Sequence", "processors": [byte_level(draw), template]} if kind == "Sequence" else template


def tokenizer_file(draw):
    model, affix = draw.one([byte_pairs, byte_pairs, byte_pairs, word_piece, word_level, unigram])(draw)
    vocab = model["vocab"] if isinstance(model["vocab"], dict) else {token: at for at, (token, _) in enumerate(model["vocab"])}
    tokens = added(draw, vocab)
    ids = vocab | {token["content"]: token["id"] for token in tokens}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": sorted(tokens, key=lambda token: token["id"]), "normalizer": normalizer(draw),
            "pre_tokenizer": pre_tokenizer(draw), "post_processor": post_processor(draw, ids), "decoder": decoder(draw, affix), "model": model}, ids


def in_units(offsets, whole):
    """Spans in UTF-16 code units. Places beyond the text, which the crate returns for some tokens of bytes, are its end."""
    units = [0]
    for character in whole:
        units.append(units[-1] + (2 if ord(character) > 0xFFFF else 1))
    return [[units[min(place, len(whole))] for place in span] for span in offsets]


def attempted(function):
    """The result, or None where the crate fails."""
    try:
        return function()
    except KeyboardInterrupt:
        raise
    except BaseException:  # what a panic becomes is no Exception
        return None


def encoded(tokenizer, first, second=None):
    found = attempted(lambda: tokenizer.encode(first) if second is None else tokenizer.encode(first, second))
    if found is None:
        return None
    texts = (first, second)
    spans = [in_units([span], texts[at] if at is not None else "")[0] for span, at in zip(found.offsets, found.sequence_ids)]
    return {"ids": found.ids, "offsets": spans, "types": found.type_ids, "special": found.special_tokens_mask}


def normalized(tokenizer, content):
    return content if tokenizer.normalizer is None else tokenizer.normalizer.normalize_str(content)


def case(name):
    """One tokenizer with texts, pairs and sequences of ids; None for a file that the crate refuses."""
    draw = Draw(name)
    file, ids = tokenizer_file(draw)
    tokenizer = attempted(lambda: Tokenizer.from_str(json.dumps(file)))
    if tokenizer is None or any(token["normalized"] and normalized(tokenizer, token["content"]) == "" for token in file["added_tokens"]):
        return None  # the crate finds a token without text everywhere
    pieces = PIECES + [token["content"] for token in file["added_tokens"]]
    texts = [text(draw, pieces) for _ in range(6)] + [""]
    held = [[one, encoded(tokenizer, one)] for one in texts]
    pairs = [[texts[0], texts[1], encoded(tokenizer, texts[0], texts[1])]]
    sequences = [found["ids"] for _, found in held if found is not None]
    sequences += [[draw.one(sorted(ids.values())) for _ in range(1 + draw.below(9))] for _ in range(4)]
    decoded = [[one, skips, attempted(lambda: tokenizer.decode(one, skip_special_tokens=skips))] for one in sequences for skips in (False, True)]
    return {"name": name, "json": file, "texts": held, "pairs": pairs, "decoded": [one for one in decoded if one[2] is not None]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="a folder outside the repository, or tests/fixtures")
    parser.add_argument("--count", type=int, default=SELECTED, help="tokenizers that the crate accepts")
    parser.add_argument("--seed", default="", help="other ones")
    parser.add_argument("--models", help="not used")
    args = parser.parse_args()
    cases, number = [], 0
    while len(cases) < args.count:
        found = case(f"tokenizer_random/{args.seed}{number:05}")
        number += 1
        if found is not None:
            cases.append(found)
    folder = os.path.join(args.out, "tokenizer_random")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "cases.json"), "w", encoding="ascii", newline="\n") as out:
        header = {"generator": "tests/references/tokenizer_random.py", "versions": versions("tokenizers")}
        out.write("{\n" + "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in header.items()))
        out.write('"cases": [\n' + ",\n".join(json.dumps(one) for one in cases) + "\n]\n}\n")
    print(f"{folder}: {len(cases)} of {number}, {sum(one is None for held in cases for _, one in held['texts'])} texts refused")


if __name__ == "__main__":
    main()
