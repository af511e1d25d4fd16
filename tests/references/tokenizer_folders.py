"""Folders without tokenizer.json, as in old checkpoints, and the results of transformers' AutoTokenizer."""

import json
import os

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer

from common import Group, arguments
from tokenizer_offsets import utf16_offsets
from tokenizer_sample import sample

EVERY = 160  # lines of the sample


_Roberta = processors.RobertaProcessing
# transformers 5.12 passes `cls` under a name that tokenizers 0.23.1 does not have.
processors.RobertaProcessing = lambda sep, cls, **options: _Roberta(sep, cls, **options)


def write(folder, name, text):
    """Writes a file unless it exists: ties in training are broken randomly (delete the folders to train anew)."""
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(os.path.join(folder, name)):
        return
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as file:
        file.write(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, separators=(",", ":")))


def trained(lines, pre_tokenizer, special, normalizer=None, **trainer):
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix=trainer.get("end_of_word_suffix", "")))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        special_tokens=special, initial_alphabet=alphabet, show_progress=False, **trainer))
    model = json.loads(tokenizer.to_str())["model"]
    merges = "#version: 0.2\n" + "".join(" ".join(pair) + "\n" for pair in model["merges"])
    return model["vocab"], merges


def bpe_folders(folder, lines):
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    vocab, merges = trained(lines, byte_level, ["<|endoftext|>"], vocab_size=700)
    for name in ("gpt2", "whisper"):
        write(os.path.join(folder, name), "vocab.json", vocab)
        write(os.path.join(folder, name), "merges.txt", merges)
    write(os.path.join(folder, "gpt2"), "config.json", {"model_type": "gpt2"})
    opt = {("</s>" if token == "<|endoftext|>" else token): at for token, at in vocab.items()} | {"<pad>": len(vocab)}
    write(os.path.join(folder, "opt"), "vocab.json", opt)
    write(os.path.join(folder, "opt"), "merges.txt", merges)
    write(os.path.join(folder, "opt"), "config.json", {"model_type": "opt"})
    write(os.path.join(folder, "opt"), "special_tokens_map.json", {role: "</s>" for role in ("bos_token", "eos_token", "unk_token")} | {"pad_token": "<pad>"})
    write(os.path.join(folder, "opt"), "tokenizer_config.json", {"add_bos_token": True})
    added = ["<|startoftranscript|>", "<|en|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nocaptions|>", "<|notimestamps|>"]
    write(os.path.join(folder, "whisper"), "added_tokens.json", {token: 700 + at for at, token in enumerate(added)})
    write(os.path.join(folder, "whisper"), "special_tokens_map.json", {"pad_token": "<|endoftext|>"})
    write(os.path.join(folder, "whisper"), "tokenizer_config.json", {
        "tokenizer_class": "WhisperTokenizer", "model_max_length": 448, "additional_special_tokens": added})
    vocab, merges = trained(lines, byte_level, ["<s>", "<pad>", "</s>", "<unk>"], vocab_size=700)
    write(os.path.join(folder, "roberta"), "vocab.json", vocab | {"<mask>": len(vocab)})
    write(os.path.join(folder, "roberta"), "merges.txt", merges)
    mask = {"content": "<mask>", "lstrip": True, "normalized": False, "rstrip": False, "single_word": False}
    write(os.path.join(folder, "roberta"), "special_tokens_map.json", {"bos_token": "<s>", "eos_token": "</s>", "mask_token": mask})
    write(os.path.join(folder, "roberta"), "tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer", "model_max_length": 512, "add_prefix_space": True})
    words = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"'s|'t|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True), byte_level])
    vocab, merges = trained(lines, words, [], normalizers.Lowercase(), vocab_size=900, end_of_word_suffix="</w>")
    vocab |= {"<|startoftext|>": len(vocab), "<|endoftext|>": len(vocab) + 1}
    write(os.path.join(folder, "clip"), "vocab.json", vocab)
    write(os.path.join(folder, "clip"), "merges.txt", merges)
    write(os.path.join(folder, "clip"), "tokenizer_config.json", {"tokenizer_class": "CLIPTokenizer", "model_max_length": 77})


def bert_folders(args, folder):
    with open(os.path.join(args.out, "tokenizer_sample", "wordpiece_cased.json"), encoding="utf-8") as file:
        vocab = json.load(file)["model"]["vocab"]
    lines = "".join(token + "\n" for token, _ in sorted(vocab.items(), key=lambda entry: entry[1]))
    options = {"bert": {"do_lower_case": True}, "bert_cased": {"do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False}}
    for name, config in options.items():
        write(os.path.join(folder, name), "vocab.txt", lines)
        write(os.path.join(folder, name), "config.json", {"model_type": "bert"})
        write(os.path.join(folder, name), "tokenizer_config.json", config | {"model_max_length": 512})


def main():
    args = arguments(__doc__)
    group = Group(args, "tokenizer_folders", "tokenizer_folders.py", ["transformers", "tokenizers"])
    lines = sample(args.models)
    bpe_folders(group.folder, lines)
    bert_folders(args, group.folder)
    for name in ("bert", "bert_cased", "gpt2", "opt", "roberta", "clip", "whisper"):
        tokenizer = AutoTokenizer.from_pretrained(os.path.join(group.folder, name))
        found = []
        for at in range(0, len(lines), EVERY):
            units, got = utf16_offsets(lines[at]), tokenizer(lines[at], return_offsets_mapping=True)
            found.append({"line": at, "ids": got.input_ids, "offsets": [[units[a], units[b]] for a, b in got.offset_mapping],
                          "decoded": tokenizer.decode(got.input_ids, skip_special_tokens=True)})
        pair = tokenizer("one two", "three")
        ids = {f"{role}_id": getattr(tokenizer, f"{role}_id") for role in tokenizer.SPECIAL_TOKENS_ATTRIBUTES}
        group.add({"name": name, "op": "tokenizer_folder", "lines": found, "special_ids": ids, "pair": pair.input_ids,
                   "input_names": sorted(pair), "model_max_length": tokenizer.model_max_length})
    group.save()


if __name__ == "__main__":
    main()
