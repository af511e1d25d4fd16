"""Tatoeba's sentence pairs as distributed by manythings.org/anki, split into training and test data for the translator."""

import collections
import json
import random

ENGLISH_WORDS, FRENCH_WORDS = 8, 10
HELD_OUT = 1500


def read_pairs(path):
    """(English, French) of every line `English TAB French [TAB attribution]`; all kinds of space become plain ones."""
    with open(path, encoding="utf-8") as file:
        columns = [line.split("\t") for line in file]
    if not columns or any(len(row) < 2 for row in columns):
        raise ValueError(f"{path} has a line that is not English, a tabulator, French")
    return [(" ".join(row[0].split()), " ".join(row[1].split())) for row in columns]


def is_short(pair):
    return len(pair[0].split()) <= ENGLISH_WORDS and len(pair[1].split()) <= FRENCH_WORDS


def split(pairs, seed, held_out=None):
    """
    (training pairs, held-out English sentences, their references): of the English sentences with a short pair HELD_OUT are
    sampled, or those of the JSON list `held_out` used, and none of their pairs, in any case, is trained on. References are
    all French sentences of the file, including long ones.
    """
    short = list(dict.fromkeys(pair for pair in pairs if is_short(pair)))
    if held_out:
        with open(held_out, encoding="utf-8") as file:
            english = json.load(file)
    else:
        different = sorted({pair[0] for pair in short})
        english = random.Random(seed).sample(different, min(HELD_OUT, len(different) // 10))
    references = collections.defaultdict(list)
    for source, target in pairs:
        references[source].append(target)
    english = [sentence for sentence in english if sentence in references]
    if not english:
        raise ValueError("no held-out sentence is in the data")
    untouched = {sentence.lower() for sentence in english}
    training = [pair for pair in short if pair[0].lower() not in untouched]
    return training, english, [references[sentence] for sentence in english]
