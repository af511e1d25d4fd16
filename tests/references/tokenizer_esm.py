"""EsmTokenizer, which transformers has in Python alone, and pipelines with it: a folder with vocab.txt, and its results.

Reads models/esm, which models_encoder_only.py writes.
"""

import os
import random

from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, pipeline

from common import Group, arguments
from models_common import load_checkpoint

TOKENS = ("<cls> <pad> <eos> <unk> L A G V S E R T I D P K Q N F Y M H W C X B U Z O . - <null_1> <mask>").split()
NAMED = {f"{name}_token": f"<{name}>" for name in ("cls", "pad", "eos", "unk", "mask")}
TEXTS = [
    "MKTVRQERLKSIVRILERSKEPVSGAQLAEELSVSRQVIVQDIAYLRSLGYNIVATPRGYVLAGG", "M K T V R Q", "mktvrq", "MkTv", "MKT<mask>RQ", "MKT <mask> RQ",
    "<mask>", "<mask><mask>", "", " ", "  MK\t\nT  ", "<cls>MKT<eos>", "<pad>", "MK*T", "MKT1RQ", "J", "JJ J", "<null_1>-.", "M<mas>K", "<MASK>", "a<mask>b",
    "MK\u00e9T", "\u4e2dMK", "M\u00a0K", "M\u2003K", "M\x1cK", "M\x85K", "M\ufeffK", "M\u200bK", "\U0001f600K", "<unk>", "<unk>unk", "K.K-K", "<<mask>>", "mask", "UZOBX",
]
PIECES = [*TOKENS[4:31], "<mask>", "<null_1>", "<cls>", "<eos>", "<unk>", "a", "k", "J", "*", "<", ">", " ", "  ", "\t", "\x1d", "\u00a0", "\u3000", "\u00e9", "1", "<m"]
CALLS = [
    ["MKTV", {"text_pair": "RQ"}], ["MKTVRQERLK", {"truncation": True, "max_length": 6}], ["MKTV", {"add_special_tokens": False}],
    ["MKTVRQ", {"text_pair": "ERLKS", "truncation": True, "max_length": 8}], ["MKTV", {"padding": "max_length", "max_length": 9}],
]


def write(folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="ascii") as file:
        file.write("\n".join(TOKENS))
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="ascii") as file:
        file.write('{"clean_up_tokenization_spaces": true, "model_max_length": 1000000000000000019884624838656, "tokenizer_class": "EsmTokenizer"}\n')
    with open(os.path.join(folder, "special_tokens_map.json"), "w", encoding="ascii") as file:
        file.write("{" + ", ".join(f'"{key}": "{token}"' for key, token in NAMED.items()) + "}\n")
    return AutoTokenizer.from_pretrained(folder)


def result_of(tokenizer, text):
    ids = tokenizer(text).input_ids
    return {"text": text, "tokens": tokenizer.tokenize(text), "ids": ids, "decoded": tokenizer.decode(ids),
            "plain": tokenizer.decode(ids, skip_special_tokens=True), "raw": tokenizer.decode(ids, clean_up_tokenization_spaces=False)}


def plain(found):
    return {key: found[key] for key in ("score", "token", "token_str", "sequence")}


def main():
    args = arguments(__doc__)
    group = Group(args, "tokenizer_esm", "tokenizer_esm.py", ["transformers"])
    tokenizer = write(os.path.join(group.folder, "folder"))
    rng = random.Random("esm")
    drawn = ["".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 24))) for _ in range(200)]
    calls = [{"text": text, "options": options, "found": dict(tokenizer(text, **options))} for text, options in CALLS]
    roles = {name: getattr(tokenizer, name) for name in (*NAMED, "bos_token", "sep_token")}
    group.add({"name": "texts", "op": "tokenizer_esm", "texts": [result_of(tokenizer, text) for text in TEXTS + drawn], "calls": calls,
               "roles": roles, "input_names": tokenizer.model_input_names})
    models = os.path.join(args.out, "models", "esm")
    model = load_checkpoint(os.path.join(models, "even_masked_lm"), AutoModelForMaskedLM)
    fill = pipeline("fill-mask", model=model, tokenizer=tokenizer)
    texts = ["MKT<mask>RQERL", "<mask>KTVRQ"]
    group.add({"name": "fill-mask", "op": "pipeline_esm", "texts": texts, "found": [[plain(one) for one in fill(text)] for text in texts]})
    trunk = load_checkpoint(os.path.join(models, "even_base"), AutoModel)
    found = pipeline("feature-extraction", model=trunk, tokenizer=tokenizer)("MKTVR")[0]
    group.add({"name": "feature-extraction", "op": "pipeline_esm", "texts": ["MKTVR"], "found": found})
    group.save()


if __name__ == "__main__":
    main()
