"""Tokenizers with the steps that transformers' classes and the families' own files have, on lines of the sample.

The vocabularies are those of tokenizer_files.py; normalizer, pre-tokenizer, post-processor, decoder and added tokens are
what the class of the family makes of them, or for M2M100 and StableLM 2, which have none, as in their files.
"""

import base64
import json
import os

from tokenizers import AddedToken, Tokenizer
from transformers import CohereTokenizer, MBartTokenizer, MPNetTokenizer, NllbTokenizer, PegasusTokenizer

from common import Group, arguments
from tokenizer_files import charsmap, nmt_rules
from tokenizer_offsets import add_case

EVERY = 4  # lines of the sample
STEPS = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens")

# GPT-4's pattern as in StableLM 2 (one digit a word), and as in OpenAI's own list, with possessive quantifiers.
ARCADE_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CL100K_WORDS = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)


def of_class(made):
    """What a class adds to a vocabulary."""
    held = json.loads(made.backend_tokenizer.to_str())
    return {key: held[key] for key in STEPS}


def special(tokens, first):
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return [{"id": first + at, "content": token} | plain for at, token in enumerate(tokens)]


def placed(tokens, ids):
    """The template of a text between special tokens, $A standing for the text."""
    def piece(token, at):
        return {"Sequence": {"id": token[1], "type_id": at}} if token[0] == "$" else {"SpecialToken": {"id": token, "type_id": at}}

    single = [piece(token, 0) for token in tokens]
    at = tokens.index("$A") + 1
    named = {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in tokens if token[0] != "$"}
    return {"type": "TemplateProcessing", "single": single, "pair": [*single[:at], piece("$B", 0), *single[at:]], "special_tokens": named}


def byte_level(words):
    plain = {"add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": words}, "behavior": "Isolated", "invert": False}
    return {"normalizer": None, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, {"type": "ByteLevel"} | plain]},
            "post_processor": {"type": "ByteLevel"} | plain}


def families(files, lines):
    """Name, vocabulary, and changes of its JSON; those of the model are merged into it."""
    table = charsmap(dict(list(nmt_rules(lines).items())[-60:]))
    precompiled = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(table).decode()}
    bpe, unigram = files["bpe_metaspace"]["model"], files["unigram_nfkc"]["model"]
    merges, pieces = [tuple(pair) for pair in bpe["merges"]], [tuple(entry) for entry in unigram["vocab"]]
    no_bytes = {"model": {"byte_fallback": False}}
    languages = ["eng_Latn", "fra_Latn", "zho_Hans"]
    yield "nllb", "bpe_metaspace", of_class(NllbTokenizer(
        vocab=bpe["vocab"], merges=merges, extra_special_tokens=languages, _spm_precompiled_charsmap=table)) | no_bytes
    # The published file has the table that sentencepiece stored, which the class leaves out.
    yield "mbart", "unigram_nfkc", of_class(MBartTokenizer(vocab=pieces, src_lang="fr_XX")) | {"normalizer": precompiled}
    first = len(bpe["vocab"])
    yield "m2m_100", "bpe_metaspace", no_bytes | {
        "normalizer": precompiled,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},  # the spelling of old files
        "added_tokens": files["bpe_metaspace"]["added_tokens"] + special(["__en__", "__fr__"], first),
        "post_processor": placed(["__en__", "$A", "</s>"], {"__en__": first, "</s>": 2})}
    yield "pegasus", "unigram_nfkc", of_class(PegasusTokenizer(vocab=pieces, offset=6, _spm_precompiled_charsmap=table))
    gpt2 = files["byte_level_gpt2"]["model"]
    yield "cohere", "byte_level_gpt2", of_class(CohereTokenizer(
        vocab=gpt2["vocab"], merges=[tuple(pair) for pair in gpt2["merges"]], add_bos_token=True))
    yield "stablelm_2", "byte_level_llama3", byte_level(ARCADE_WORDS)
    yield "cl100k", "byte_level_llama3", byte_level(CL100K_WORDS)
    mask = AddedToken("[MASK]", lstrip=True, special=True)
    yield "mpnet", "wordpiece_uncased", of_class(MPNetTokenizer(
        vocab=files["wordpiece_uncased"]["model"]["vocab"], cls_token="[CLS]", sep_token="[SEP]", bos_token="[CLS]",
        eos_token="[SEP]", pad_token="[PAD]", mask_token=mask))


def main():
    args = arguments(__doc__)
    group = Group(args, "tokenizer_families", "tokenizer_families.py", ["tokenizers", "transformers"])
    folder = os.path.join(args.out, "tokenizer_sample")
    with open(os.path.join(folder, "sample.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    files = {}
    for name in ("bpe_metaspace", "unigram_nfkc", "byte_level_gpt2", "byte_level_llama3", "wordpiece_uncased"):
        with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as file:
            files[name] = json.load(file)
    for name, base, changes in families(files, lines):
        made = files[base] | changes | {"model": files[base]["model"] | changes.get("model", {})}
        tokenizer = Tokenizer.from_str(json.dumps(made))
        pair = tokenizer.encode("the one", "two <mask> [MASK] eng_Latn the")
        add_case(group, name, tokenizer, lines[::EVERY], vocabulary=base, changes=changes, every=EVERY,
                 pair={"ids": pair.ids, "type_ids": pair.type_ids})
    group.save()


if __name__ == "__main__":
    main()
