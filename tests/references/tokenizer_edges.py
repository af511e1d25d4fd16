"""Edge cases of tokenizers: which of two equally long texts loses the odd token, padding to multiples, words of exactly the
maximum length, added tokens with common prefixes, overlaps and shared spaces; vocabularies with missing tokens; decoders; chains of
post-processors; ids of added tokens; entries that a vocabulary has twice; word characters of patterns; the side that each class pads.
"""

import itertools
import json
import os
import tempfile

import transformers
from tokenizers import Tokenizer, decoders
from transformers import AutoTokenizer, PreTrainedTokenizerFast
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

from common import Group, arguments, random_state
from tokenizer_offsets import utf16_offsets

LETTERS = {chr(code): at for at, code in enumerate(range(0x61, 0x7B))}


def whole(model, **more):
    return {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None, "model": model} | more


def byte_pairs(vocab, merges, **more):
    return {"type": "BPE", "vocab": vocab, "merges": merges, "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False} | more


def encoded(file, text):
    """Ids and spans in UTF-16 code units."""
    found = Tokenizer.from_str(json.dumps(file)).encode(text)
    units = utf16_offsets(text)
    return {"ids": found.ids, "offsets": [[units[start], units[end]] for start, end in found.offsets]}


def truncations(group):
    """Texts of single letters, with as many tokens as letters. One word each, so encoding never stops at max_length."""
    file = whole(byte_pairs(LETTERS, []))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(file)), pad_token="z")
    group.files_json["letters"] = file
    for side in ("right", "left"):
        tokenizer.truncation_side = side
        cases = []
        for first, second, room in itertools.product(range(1, 6), range(1, 6), range(1, 9)):
            found = tokenizer("abcde"[:first], "fghij"[:second], truncation="longest_first", max_length=room)
            cases.append([first, second, room, found["input_ids"]])
        group.add({"name": f"longest_first_{side}", "op": "truncate_pairs", "file": "letters", "side": side, "cases": cases})
    for side in ("right", "left"):
        cases = []
        for lengths, multiple in itertools.product(((1,), (2, 4), (3, 1), (4, 4), (6, 2), (8,), (5, 7)), range(1, 5)):
            texts = ["abcdefgh"[:length] for length in lengths]
            found = tokenizer(texts, padding=True, pad_to_multiple_of=multiple, padding_side=side)
            cases.append([lengths, multiple, found["input_ids"], found["attention_mask"]])
        group.add({"name": f"multiples_{side}", "op": "pad_to_multiples", "file": "letters", "side": side, "cases": cases})


def long_words(group):
    vocab = {"[UNK]": 0, "a": 1, "##a": 2, "😀": 3, "##😀": 4, "##\u0301": 5}
    for limit in (0, 1, 3, 4):
        model = {"type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": limit}
        file = whole(model, pre_tokenizer={"type": "WhitespaceSplit"})
        words = ["".join(letters) for size in range(1, 6) for letters in (["a"] * size, ["😀"] * size, (["a", "😀", "\u0301"] * 2)[:size])]
        cases = [[word, encoded(file, word)] for word in [*words, " ".join(words)]]
        group.add({"name": f"longest_word_{limit}", "op": "encode", "json": file, "cases": cases})


def added(group):
    """Random added tokens of few letters with random properties in random texts of the same letters and spaces."""
    for at in range(60):
        random = random_state(f"edges/added/{at}")
        contents = {"".join("ab<\u00e9_"[random.randint(5)] if random.rand() < 0.85 else " " for _ in range(random.randint(1, 5))) for _ in range(6)}
        alphabet = {character: i for i, character in enumerate("ab<\u00e9_ \u00a0\n,AB\u00c9")}
        contents = sorted(content for content in contents if content.strip())
        new = [content for content in contents if content not in alphabet]
        ids = alphabet | {content: len(alphabet) + i for i, content in enumerate(new)}
        tokens = [{"id": ids[content], "content": content, "single_word": bool(random.rand() < 0.3), "lstrip": bool(random.rand() < 0.5),
                   "rstrip": bool(random.rand() < 0.5), "normalized": bool(random.rand() < 0.4), "special": bool(random.rand() < 0.5)}
                  for content in contents]
        file = whole(byte_pairs(alphabet, []), added_tokens=tokens, normalizer=[None, {"type": "Lowercase"}][at % 2])
        texts = []
        for _ in range(12):
            parts = [tokens[random.randint(len(tokens))]["content"] if random.rand() < 0.5 else "ab<\u00e9_ \u00a0\n,AB\u00c9"[random.randint(12)] for _ in range(random.randint(1, 9))]
            texts.append("".join(part + [" ", "  ", "", "", ""][random.randint(5)] for part in parts))
        group.add({"name": f"added_tokens_{at:02}", "op": "encode", "json": file, "cases": [[text, encoded(file, text)] for text in texts]})


def merges(group):
    """Random vocabularies and merges, with each treatment of missing tokens."""
    ways = ({}, {"unk_token": "?"}, {"unk_token": "?", "fuse_unk": True}, {"byte_fallback": True, "unk_token": "?"}, {"end_of_word_suffix": "/"},
            {"continuing_subword_prefix": "#"}, {"ignore_merges": True, "unk_token": "?"}, {"byte_fallback": True, "unk_token": "?", "fuse_unk": True})
    for at in range(48):
        random = random_state(f"edges/merges/{at}")
        way = ways[at % len(ways)]
        prefix, suffix = way.get("continuing_subword_prefix", ""), way.get("end_of_word_suffix", "")
        units = [start + letter + end for letter in "abc\u00e9" for start in {"", prefix} for end in {"", suffix}]
        if way.get("byte_fallback"):
            units += [f"<0x{byte:02X}>" for byte in ("\u4e2d".encode() + (b"" if at % 3 else "😀".encode()))]
        vocab, pairs = ["?", *dict.fromkeys(units)], []
        for _ in range(14):
            left, right = (vocab[1 + random.randint(len(vocab) - 1)] for _ in range(2))
            joined = left + right[len(prefix):]
            if (prefix and not right.startswith(prefix)) or (suffix and left.endswith(suffix)) or (left, right) in pairs or joined in vocab:
                continue
            vocab.append(joined)
            pairs.append((left, right))
        model = byte_pairs({token: i for i, token in enumerate(vocab)}, [list(pair) for pair in pairs], **way)
        texts = ["".join("aabbc\u00e9xy\u4e2d😀"[random.randint(10)] if random.rand() < 0.5 else "ab"[random.randint(2)] for _ in range(random.randint(1, 24))) for _ in range(12)]
        file = whole(model)
        found = [[text, {"ids": Tokenizer.from_str(json.dumps(file)).encode(text).ids}] for text in texts]
        group.add({"name": f"merges_{at:02}", "op": "encode", "json": file, "cases": found})


def decoding(group):
    """Every decoder on tokens in its own form."""
    tokens = ["a", "##b", "▁c", "▁", "d</w>", "<0xE4>", "<0xB8>", "<0xAD>", "<0xe9>", "<0x+1>", "Ġe", "Ã©", "Ã", "é", "|", "<pad>", " .", "n't", " do not", "  x  ", "xx", "",
              "'s", "hello", " '", "▁▁", "\ufeff", "<0xEF>", "<0xBB>", "<0xBF>"]
    steps = [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}, {"type": "ByteFallback"}, {"type": "Fuse"},
             *({"type": "WordPiece", "prefix": "##", "cleanup": cleanup} for cleanup in (True, False)),
             *({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True} for scheme in ("always", "never", "first")),
             {"type": "BPEDecoder", "suffix": "</w>"}, *({"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": cleanup} for cleanup in (True, False)),
             {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "Replace", "pattern": {"Regex": "[a-c]+|x$"}, "content": "$&"},
             {"type": "Strip", "content": " ", "start": 1, "stop": 0}, {"type": "Strip", "content": "x", "start": 0, "stop": 1}]
    steps += [{"type": "Sequence", "decoders": [steps[11], steps[1], steps[2], steps[13]]}]
    vocab = {token: at for at, token in enumerate(tokens) if token}
    for at, step in enumerate(steps):
        random = random_state(f"edges/decoding/{at}")
        file = whole({"type": "WordLevel", "vocab": vocab, "unk_token": "a"}, decoder=step)
        tokenizer = Tokenizer.from_str(json.dumps(file))
        cases = []
        for _ in range(30):
            ids = [int(random.choice(list(vocab.values()))) for _ in range(random.randint(1, 9))]
            ids = [i for i in ids for _ in range(1 + (random.rand() < 0.2))]
            cases.append([ids, tokenizer.decode(ids, skip_special_tokens=False)])
        group.add({"name": f"decoder_{at:02}_{step['type']}", "op": "decode", "json": file, "cases": cases})


def nothing(group):
    """A suffix or delimiter that is empty stands between characters; a span loses spaces only if as many characters are before its end."""
    tokens = ["a", "👨", "b😀c", "<pad>", " d"]
    for step in ({"type": "BPEDecoder", "suffix": ""}, {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "", "cleanup": True}):
        file = whole({"type": "WordLevel", "vocab": {token: at for at, token in enumerate(tokens)}, "unk_token": "a"}, decoder=step)
        tokenizer = Tokenizer.from_str(json.dumps(file))
        cases = [[list(ids), tokenizer.decode(ids)] for ids in itertools.product(range(len(tokens)), repeat=2)]
        group.add({"name": f"nothing_{step['type']}", "op": "decode", "json": file, "cases": cases})
    trims = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    x = {"id": 1, "content": "x", "single_word": False, "lstrip": False, "rstrip": True, "normalized": False, "special": True}
    file = whole({"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}, added_tokens=[x], pre_tokenizer={"type": "Whitespace"},
                 post_processor={"type": "Sequence", "processors": [trims, trims]})
    texts = [start + "x" + " " * spaces + "a" for start in ("", "a", "a ", "😀 ") for spaces in range(5)]
    group.add({"name": "spaces_trimmed_twice", "op": "encode", "json": file, "cases": [[text, encoded(file, text)] for text in texts]})


def word_level(vocab, **more):
    return whole({"type": "WordLevel", "vocab": vocab, "unk_token": "?"}, pre_tokenizer={"type": "WhitespaceSplit"}, **more)


CHAIN_VOCAB = {"a": 0, "b": 1, "?": 2, "<s>": 3, "</s>": 4, "[SEP]": 5, "[CLS]": 6, "\u0120a": 7}


def template(random):
    def special():
        return {"SpecialToken": {"id": ["<s>", "X", "</s>"][random.randint(3)], "type_id": random.randint(3)}}

    def around(*texts):
        pieces = [{"Sequence": {"id": text, "type_id": random.randint(2)}} for text in texts]
        for _ in range(random.randint(4) if random.rand() < 0.6 else 0):
            pieces.insert(random.randint(len(pieces) + 1), special())
        return pieces

    ids = {"<s>": ["<s>"], "</s>": ["</s>"], "X": ["[SEP]", "[CLS]"]}
    tokens = {name: {"id": name, "ids": [CHAIN_VOCAB[one] for one in held], "tokens": held} for name, held in ids.items()}
    return {"type": "TemplateProcessing", "single": around("A"), "pair": around(*"AB"), "special_tokens": tokens}


def post_processor(random, depth=0):
    kind = ["template", "template", "bytes", "bert", "roberta", "sequence"][random.randint(6 if depth < 2 else 5)]
    if kind == "template":
        return template(random)
    if kind == "bytes":
        return {"type": "ByteLevel", "add_prefix_space": bool(random.rand() < 0.5), "trim_offsets": bool(random.rand() < 0.6), "use_regex": True}
    if kind == "bert":
        return {"type": "BertProcessing", "sep": ["[SEP]", 5], "cls": ["[CLS]", 6]}
    if kind == "roberta":
        return {"type": "RobertaProcessing", "sep": ["</s>", 4], "cls": ["<s>", 3], "trim_offsets": bool(random.rand() < 0.5), "add_prefix_space": True}
    return chain(random, depth + 1)


def chain(random, depth=0):
    return {"type": "Sequence", "processors": [post_processor(random, depth) for _ in range(random.randint(3) if depth else 2 + random.randint(2))]}


def attempted(function):
    try:
        return function()
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic: the template takes one part or two
        return None


def chains(group):
    """Several post-processors, most of which add tokens."""
    for at in range(16):
        random = random_state(f"edges/chains/{at}")
        file = word_level(CHAIN_VOCAB, post_processor=chain(random))
        file["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True} if at % 3 == 0 else file["pre_tokenizer"]
        tokenizer = Tokenizer.from_str(json.dumps(file))
        cases = []
        for text, pair, special in (("a b a", None, True), ("a b", "b a b", True), ("a b", None, False), ("a b", "b a b", False)):
            found = attempted(lambda: tokenizer.encode(text, pair, add_special_tokens=special))
            held = found and {"ids": found.ids, "types": found.type_ids, "offsets": [list(span) for span in found.offsets],
                              "special": found.special_tokens_mask}
            cases.append([text, pair, special, held])
        group.add({"name": f"chain_{at:02}", "op": "post_process", "json": file, "cases": cases,
                   "added": [tokenizer.num_special_tokens_to_add(pair) for pair in (False, True)]})


def added_ids(group):
    """The crate gives added tokens ids of its own: the vocabulary's, or the next free ones."""
    known, gaps = {"a": 0, "b": 1, "?": 2}, {"a": 0, "b": 3, "?": 6}
    ways = {"gap": (known, [(5, "<x>"), (7, "<y>")]), "known": (known, [(9, "a")]), "order": (known, [(4, "<y>"), (3, "<x>")]),
            "holes": (gaps, [(7, "<x>")]), "holes_free": ({"a": 0, "b": 4, "?": 6}, [(3, "<x>")]), "inside": ({"a": 0, "b": 2, "?": 3}, [(1, "<x>")]),
            "twice": (known, [(3, "<x>"), (4, "<x>")]), "empty": (known, [(3, ""), (4, "<x>")]), "known_last": (gaps, [(6, "?"), (9, "<x>"), (10, "<y>")])}
    for name, (vocab, held) in ways.items():
        plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        file = word_level(vocab, added_tokens=[{"id": i, "content": content} | plain for i, content in held])
        text = "a <x> b <y>"
        tokenizer = Tokenizer.from_str(json.dumps(file))
        ids = tokenizer.encode(text).ids
        group.add({"name": f"added_ids_{name}", "op": "encode", "json": file, "cases": [[text, {"ids": ids}]]})
        group.add({"name": f"added_ids_{name}_decoded", "op": "decode", "json": file, "cases": [[ids, tokenizer.decode(ids, skip_special_tokens=False)]]})


def doubled(group):
    """A vocabulary with an entry twice: every id keeps its spelling, and a new token has the id behind all entries."""
    vocab = [["<unk>", 0.0], ["<pad>", 0.0], ["a", -1.0], ["b", -2.0], ["ab", -1.5], ["<pad>", -3.0], ["a", -4.0]]
    new = {"id": 7, "content": "<x>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    for name, held in (("", []), ("_pad", [new | {"content": "<pad>", "id": 5}, new]), ("_new", [new])):
        file = whole({"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False}, added_tokens=held)
        tokenizer = Tokenizer.from_str(json.dumps(file))
        texts = [[text, encoded(file, text)] for text in ("abab", "ab<x>a", "<pad>b")]
        group.add({"name": f"doubled{name}", "op": "encode", "json": file, "cases": texts})
        sequences = [[i] for i in range(8)] + [[1, 5, 2, 6]]
        group.add({"name": f"doubled{name}_decoded", "op": "decode", "json": file, "size": tokenizer.get_vocab_size(),
                   "cases": [[ids, tokenizer.decode(ids, skip_special_tokens=False)] for ids in sequences]})


def words(group):
    """\\w and \\p{Word} have some numbers of Latin-1, but not in classes."""
    text = "a\u00b2\u00b3 \u00b9b\u00bc\u00bd-\u00be_\u0663\u00e9\u2460\u0301 \u00aa\u00b5\u2160"
    patterns = (r"\w", r"\W", r"[\w]", r"[^\w]", r"[\W]", r"[\w-]", r"[\w&&[^a]]", r"\p{Word}", r"\P{Word}", r"\p{^Word}", r"[\p{Word}]", r"[\P{Word}]",
                r"[[:word:]]", r"[[:^word:]]", r"(?i)\w", r"(?i)[\w]", r".\b")
    for at, pattern in enumerate(patterns):
        file = word_level({"?": 0}) | {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True}}
        group.add({"name": f"words_{at:02}", "op": "encode", "json": file, "cases": [[text, encoded(file, text)]]})


def other_cases(group):
    """Letters of classes in either case: with && they are added to what is left, and \u1e9e is the capital of \u00df (there also two s's, for which no class is read here)."""
    text = "abBks1S1\u017fK\u212a\u00df\u1e9e\u00e9\u00c9xYzZ1\u00b5\u03bc\u039c\u03c3\u03c2\u03a3dD"
    patterns = ("[\u00df]", "[^\u00df]", "[A-Z&&[^b]]", "[a-z&&[^B]]", "[^a-z&&[^b]]", r"[\p{Lu}&&[A-K]]", r"[[^k]&&\p{Ll}]", "[k[\u03c3]]")
    for at, pattern in enumerate(patterns):
        file = word_level({"?": 0}) | {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": f"(?i:{pattern})"}, "behavior": "Removed", "invert": True}}
        group.add({"name": f"other_cases_{at}", "op": "encode", "json": file, "cases": [[text, encoded(file, text)]]})


def padding_sides(group):
    """The sides that transformers' classes pad, by the class that the files name and the kind of model."""
    transformers.logging.set_verbosity_error()
    vocab = {token: at for at, token in enumerate(["<unk>", "<s>", "</s>", "<pad>", "a", "b", "ab"])}
    file = whole(byte_pairs(vocab, [["a", "b"]], unk_token="<unk>"))
    types = sorted({*TOKENIZER_MAPPING_NAMES, "llama", "smollm3"})
    for name in ("LlamaTokenizer", "GemmaTokenizerFast", "CohereTokenizerFast", "PreTrainedTokenizerFast", None):
        sides = {}
        for kind in [None, *(types if name in ("LlamaTokenizer", None) else ["llama", "gemma2", "mistral", "qwen2", "olmo2"])]:
            with tempfile.TemporaryDirectory() as path:
                files = {"tokenizer.json": file, "tokenizer_config.json": {"tokenizer_class": name} if name else {}} | ({"config.json": {"model_type": kind}} if kind else {})
                for own, value in files.items():
                    with open(os.path.join(path, own), "w", encoding="utf-8") as out:
                        json.dump(value, out)
                tokenizer = attempted(lambda: AutoTokenizer.from_pretrained(path))
            if tokenizer is not None:
                sides[kind or ""] = tokenizer.padding_side
        sided = {side: [kind for kind, own in sides.items() if own == side] for side in ("left", "right")}
        group.add({"name": f"padding_sides_{name}", "op": "padding_side", "json": file, "class": name, "cases": [sided]})


def main():
    args = arguments(__doc__)
    group = Group(args, "tokenizer_edges", "tokenizer_edges.py", ["transformers", "tokenizers"])
    group.files_json = {}
    truncations(group)
    for case in group.cases:
        case["json"] = group.files_json[case.pop("file")]
    for make in (long_words, added, merges, decoding, nothing, chains, added_ids, doubled, words, other_cases, padding_sides):
        make(group)
    group.save()


if __name__ == "__main__":
    main()
