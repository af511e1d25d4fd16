"""The tokenizers library on the sample's ten thousand lines: ids and spans of every line, hashed."""

import json
import os

import torch
from tokenizers import Tokenizer

from common import LARGEST_FILE, Group, arguments, bundled
from tokenizer_files import RARE, makers, variants
from tokenizer_sample import sample

os.environ["TOKENIZERS_PARALLELISM"] = "false"
FULL_LINES = 30  # of each file are stored in full, for debugging
VARIANT_LINES, RARE_LINES = 4, 20  # of which one goes to the variants


def utf16_offsets(text):
    """Code points before a position -> UTF-16 code units."""
    units = [0]
    for character in text:
        units.append(units[-1] + (2 if ord(character) > 0xFFFF else 1))
    return units


def numbers(tokenizer, text):
    """Ids, then start and end of each token in UTF-16 code units."""
    encoding, units = tokenizer.encode(text), utf16_offsets(text)
    return list(encoding.ids), [[units[start], units[end]] for start, end in encoding.offsets]


def fnv1a(values):
    """FNV-1a over numbers, 32 bits."""
    found = 0x811C9DC5
    for value in values:
        found = (found ^ value) * 0x01000193 & 0xFFFFFFFF
    return found


def hashed(ids, offsets):
    return fnv1a([*ids, *(place for span in offsets for place in span)])


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    if os.path.getsize(path) > LARGEST_FILE:
        raise ValueError(f"{path} is too large")


def trained_file(folder, name, maker, lines):
    """The tokenizer file; an existing one is kept, since ties in training are broken randomly (delete it to train anew)."""
    path = os.path.join(folder, f"{name}.json")
    if not os.path.exists(path):
        found = json.loads(maker(lines).to_str())
        write(folder, f"{name}.json", json.dumps(found, ensure_ascii=False, separators=(",", ":")))
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def add_case(group, name, tokenizer, lines, **more):
    found = [numbers(tokenizer, line) for line in lines]
    step = len(lines) // FULL_LINES
    full = [{"line": at, "ids": found[at][0], "offsets": found[at][1]} for at in range(0, len(lines), step)]
    hashes = [hashed(*each) for each in found]
    group.case(name, "tokenize_sample", {}, {}, {"hashes": torch.tensor(hashes)}, file="hashes.safetensors", lines=full, **more)


def main():
    args = arguments(__doc__)
    group = Group(args, "tokenizer_sample", "tokenizer_offsets.py", ["tokenizers"])
    group.header["sources"] = "English sentences: https://tatoeba.org by way of https://www.manythings.org/anki, CC BY 2.0 FR"
    lines = sample(args.models)
    write(group.folder, "sample.jsonl", "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    files = {}
    for name, maker in makers().items():
        files[name] = trained_file(group.folder, name, maker, lines)
        every = RARE_LINES if name in RARE else 1
        add_case(group, name, Tokenizer.from_str(json.dumps(files[name])), lines[::every], vocabulary=name, every=every)
    stories = Tokenizer.from_file(os.path.join(bundled("stories260K"), "tokenizer.json"))
    add_case(group, "stories260K", stories, lines, vocabulary="stories260K", every=1)
    for name, base, changes in variants(lines):
        if "added_tokens" in changes:
            changes["added_tokens"] = [token | {"id": 0} for token in changes["added_tokens"]]
        tokenizer = Tokenizer.from_str(json.dumps(files[base] | changes))
        if "added_tokens" in changes:  # the library assigns the ids
            changes["added_tokens"] = json.loads(tokenizer.to_str())["added_tokens"]
        every = RARE_LINES if name in RARE else VARIANT_LINES
        add_case(group, name, tokenizer, lines[::every], vocabulary=base, changes=changes, every=every)
    group.save()


if __name__ == "__main__":
    main()
