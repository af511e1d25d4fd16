"""Random changes of tokenizer_config.json, special_tokens_map.json and added_tokens.json: transformers' results.

    python3 tests/references/tokenizer_configs_random.py --out tests/fixtures
    python3 tests/references/tokenizer_configs_random.py --out <folder> --count 400 --seed x
"""

import json
import os
import random
import tempfile

import transformers
from transformers import AutoTokenizer

import tokenizer_folders  # its RobertaProcessing has the names of tokenizers 0.23.1  # noqa: F401
from common import FIXTURES, Group, arguments
from pipelines_random import draw_text

FIRST = 60
SPEECH = FIRST + 40  # from here on, cases of Whisper's own keys
FAST = "PreTrainedTokenizerFast"
BERT, ROBERTA = ["BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer"], ["RobertaTokenizer", "RobertaTokenizerFast", "BartTokenizer"]
# The folders (or a tokenizer.json), and the classes that their files may name: those whose steps are the ones of tokenizer.json, which transformers 5 replaces by the class's.
FOLDERS = {
    "pipelines/wordpiece_97": [*BERT, FAST, None], "pipelines/roberta_64": [FAST, None],
    "pipelines/gpt2_64": [FAST, None], "pipelines/bart_97": [FAST, None], "pipelines/marian_97": [FAST, None],
    "pipelines/pegasus_97": [FAST, None], "pipelines/clip_64": [FAST, None],
    "tokenizer_sample/wordpiece_cased.json": [*BERT, FAST], "tokenizer_sample/wordpiece_uncased.json": [*BERT, FAST],
    "tokenizer_sample/byte_level_gpt2.json": ["GPT2Tokenizer", "GPT2TokenizerFast", FAST],
    "tokenizer_folders/bert": BERT, "tokenizer_folders/bert_cased": [*BERT, None], "tokenizer_folders/gpt2": ["GPT2Tokenizer", None],
    "tokenizer_folders/opt": ["GPT2Tokenizer", None], "tokenizer_folders/roberta": ROBERTA, "tokenizer_folders/clip": ["CLIPTokenizer"],
    "tokenizer_folders/whisper": ["WhisperTokenizer"],
}
ROLES = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"]


def added(rng, content):
    drawn = {key: rng.random() < 0.3 for key in ("lstrip", "rstrip", "normalized", "single_word")}
    return {"content": content, **drawn, "special": rng.random() < 0.7}


def roles_of(folder, held):
    """The roles whose tokens a file may change: tokenizer.json names those of its model and post-processor, too."""
    if folder == "tokenizer_folders/clip":  # its model's unk_token is one of its vocabulary
        return [role for role in ROLES if role != "unk_token"]
    if "tokenizer.json" not in held:
        return ROLES
    return ["pad_token", "mask_token"] if "wordpiece" in folder else ["unk_token", "pad_token", "mask_token"]


def draw_config(rng, folder, config, roles):
    def sometimes(share, key, values):
        if rng.random() < share:
            config[key] = rng.choice(values)

    either = [True, False]
    sometimes(0.5, "tokenizer_class", FOLDERS[folder])
    for key in ("add_prefix_space", "add_bos_token", "add_eos_token", "do_lower_case", "clean_up_tokenization_spaces", "split_special_tokens",
                "tokenize_chinese_chars"):
        sometimes(0.15, key, either)
    sometimes(0.15, "strip_accents", [*either, None])
    sometimes(0.2, "padding_side", ["left", "right"])
    sometimes(0.2, "truncation_side", ["left", "right"])
    sometimes(0.2, "model_max_length", [5, 12, 10**30, None])
    sometimes(0.2, "model_input_names", [["input_ids", "attention_mask"], ["input_ids", "token_type_ids", "attention_mask"], ["input_ids"]])
    sometimes(0.15, "additional_special_tokens", [["<new1>", "<new2>"], ["the"]])
    if folder != "tokenizer_folders/whisper":  # its prompt is made of the additional ones, which these replace
        sometimes(0.1, "extra_special_tokens", [["<new1>", "<s2>"], {"image_token": "<new2>"}])
    if folder != "tokenizer_folders/opt":  # without its map it has no token that is in the vocabulary
        sometimes(0.1, "backend", ["tokenizers"])
    if rng.random() < 0.3:
        token = rng.choice(["<x>", "<y>", "of"])
        role = rng.choice(roles)
        drawn = [token, token, {**added(rng, token), "__type": "AddedToken"}]
        config[role] = rng.choice(drawn if role in ("cls_token", "sep_token") else [*drawn, None])
    if rng.random() < 0.25 and config:
        config.pop(rng.choice(list(config)))
    return {key: value for key, value in config.items() if key != "tokenizer_class" or value is not None}


def draw_files(rng, folder):
    """The files that differ from the folder's, as text; None: removed."""
    held = read(folder)
    changed = {"tokenizer_config.json": draw_config(rng, folder, json.loads(held.get("tokenizer_config.json", "{}")), roles_of(folder, held))}
    if "backend" in changed["tokenizer_config.json"] or rng.random() < 0.2 and folder != "tokenizer_folders/opt":  # version 5 writes no map
        changed["special_tokens_map.json"] = None
    elif rng.random() < 0.3 and folder != "tokenizer_folders/opt":
        tokens = {"<z>": "<z>", "the": "the", "<q>": {**added(rng, "<q>"), "__type": "AddedToken"}}
        roles = dict(zip(rng.sample(roles_of(folder, held), rng.choice([1, 1, 2])), rng.sample(list(tokens.values()), 2)))
        changed["special_tokens_map.json"] = roles | ({"additional_special_tokens": ["<s1>", "<s2>"]} if rng.random() < 0.3 else {})
    if rng.random() < 0.1 and not {"tokenizer.json", "added_tokens.json"} & held.keys():
        changed["added_tokens.json"] = {"<new1>": 2000, "<y>": 2001}
    return {name: value if value is None else json.dumps(value) for name, value in changed.items()}


def draw_more(rng, folder, changed):
    """Keys that cases beyond the first FIRST have as well: the model's own tokens, objects among the additional ones, old names."""
    config = json.loads(changed["tokenizer_config.json"])
    tokens = ["<new3>", "of", {**added(rng, "<new3>"), "__type": "AddedToken"}, {"content": "<new4>", "__type": "AddedToken"}]
    if rng.random() < 0.5:
        config[rng.choice(["image_token", "boi_token", "a_token"])] = rng.choice(tokens)
    if folder != "tokenizer_folders/whisper" and rng.random() < 0.6:
        config.pop("additional_special_tokens", None)
        config["extra_special_tokens"] = rng.choice([{"image": "<new1>"}, {"image_token": "<new2>", "b": "the"}, ["<new1>", added_object(rng, "<new4>")], [added_object(rng, "<new1>")]])
    if rng.random() < 0.3:
        config.pop("model_max_length", None)
        config["max_len"] = rng.choice([4, 7, 10**30])
    changed["tokenizer_config.json"] = json.dumps(config)
    held = changed.get("special_tokens_map.json")
    if held is not None and rng.random() < 0.7:
        more = rng.choice([["<s1>"], ["<new1>", "<s1>"], [{**added(rng, "<s2>"), "special": False}], {"c": "<s1>"}])
        changed["special_tokens_map.json"] = json.dumps(json.loads(held) | {"extra_special_tokens": more} | rng.choice([{}, {"audio_token": "<s3>"}]))
    return changed


def draw_speech(rng, changed):
    """The keys of WhisperTokenizer, which place the tokens before a text."""
    values = {"language": ["en", "English", "ENGLISH", "klingon", None], "task": ["transcribe", "translate", "sing", None], "predict_timestamps": [True, False, None]}
    own = {key: rng.choice(choices) for key, choices in values.items() if rng.random() < 0.7}
    return changed | {"tokenizer_config.json": json.dumps(json.loads(changed["tokenizer_config.json"]) | {"tokenizer_class": "WhisperTokenizer"} | own)}


def added_object(rng, content):
    drawn = {**added(rng, content), "__type": "AddedToken"}
    return {key: value for key, value in drawn.items() if key != "special" or rng.random() < 0.6}


def read(folder):
    path, found = os.path.join(FIXTURES, folder), {}
    names = {"tokenizer.json": path} if os.path.isfile(path) else {name: os.path.join(path, name) for name in os.listdir(path)}
    for name, source in names.items():
        with open(source, encoding="utf-8") as file:
            found[name] = file.read()
    return found


def opened(folder, changed):
    with tempfile.TemporaryDirectory() as path:
        for name, text in (read(folder) | changed).items():
            if text is not None:
                with open(os.path.join(path, name), "w", encoding="utf-8") as file:
                    file.write(text)
        return AutoTokenizer.from_pretrained(path)


def plain_ids(tokenizer):
    """Ids of additional tokens that the files call plain ones: no `skip_special_tokens` omits them."""
    named = set(tokenizer.special_tokens_map.values())
    return {i for i, token in tokenizer.added_tokens_decoder.items() if not token.special and token.content not in named}


def results(tokenizer, text):
    call = tokenizer(text)
    ids = call.input_ids
    found = {"text": text, "ids": ids, "inputs": sorted(call), "pair": tokenizer(text, "of the").input_ids,
             "plain": tokenizer(text, add_special_tokens=False).input_ids, "decoded": tokenizer.decode(ids),
             "skipped": tokenizer.decode(ids, skip_special_tokens=True), "cut": tokenizer(text, truncation=True, max_length=6).input_ids}
    if tokenizer.pad_token is not None:
        found["padded"] = tokenizer([text, "a"], padding=True).input_ids
    return found


def main():
    args = arguments(__doc__, count=SPEECH + 14, seed="")
    transformers.logging.set_verbosity_error()
    group = Group(args, "tokenizer_configs_random", "tokenizer_configs_random.py", ["transformers", "tokenizers"])
    for number in range(args.count):
        name = f"config_{args.seed}{number}"
        rng = random.Random(name)
        folder = rng.choice(list(FOLDERS))
        if not args.seed and number >= SPEECH:
            folder = "tokenizer_folders/whisper"
        changed = draw_files(rng, folder)
        if args.seed or number >= FIRST:
            changed = draw_more(rng, folder, changed)
        if folder == "tokenizer_folders/whisper" and (args.seed or number >= SPEECH):
            changed = draw_speech(rng, changed)
        texts = [draw_text(rng, 0, 8), draw_text(rng, 0, 8), "the <new1> <x><y> the<s1> of<z>", "a [MASK]</s> <mask><|endoftext|>"]
        if args.seed or number >= FIRST:
            texts = [texts[0], "the <new1> <new2><x><y> the<s1> of<z>  <new3> <s2> <new4><s3>[MASK]</s>"]
        try:
            tokenizer = opened(folder, changed)
            limit = tokenizer.model_max_length
            group.add({
                "name": f"{folder}_{name}", "op": "tokenizer_config", "folder": folder, "changed": changed, "class": type(tokenizer).__name__,
                "texts": [results(tokenizer, text) for text in texts], "special_ids": {role: getattr(tokenizer, f"{role}_id") for role in ROLES},
                "all_special_ids": sorted(set(tokenizer.all_special_ids) - plain_ids(tokenizer)), "model_max_length": limit if limit < 1e9 else None,
                "sides": [tokenizer.padding_side, tokenizer.truncation_side],
                **({"special_tokens_map": tokenizer.special_tokens_map} if args.seed or number >= FIRST else {})})
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # not loaded there: nothing to compare
            print(f"{folder}_{name}: {type(error).__name__}: {str(error)[:150]}")
    group.save()


if __name__ == "__main__":
    main()
