"""Writes web/src/text/unicode_tables.ts: how the parts of the `tokenizers` crate classify each code point, found by testing.

Each part has the tables of its own Unicode version: the regular expressions, the Rust standard library, the normalization
forms, and the punctuation and marks of BERT's steps. The first has the categories; of the others only deviations are stored.
"""

import collections
import os
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

from common import arguments

EVERY = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
# Letters for kinds of code points: printable characters other than base 36 digits, backslash, quotes; rare ones after ASCII.
NAMES = [chr(code) for code in [*range(0x21, 0x7F), *range(0xC0, 0x100)] if chr(code) not in DIGITS + "\\'`$"]


def categories():
    """General categories in the crate's regular expressions: Python's, after checking that they are equal."""
    category = [unicodedata.category(chr(code)) for code in range(0x110000)]
    for name in set(category) - {"Cs"}:
        members = "".join(chr(code) for code in EVERY if category[code] == name)
        runs = pre_tokenizers.Split(Regex(f"\\p{{{name}}}+"), "removed", invert=True).pre_tokenize_str(members)
        if [text for text, _ in runs] != [members]:
            raise ValueError(f"the crate's \\p{{{name}}} is not that of Unicode {unicodedata.unidata_version}")
    return category


def those(question):
    return {code for code in EVERY if question(chr(code))}


def combining_class_is_known(code, nfd):
    """Whether a mark is reordered: U+0345 has the highest combining class, U+0334 the lowest."""
    return nfd.normalize_str("\u0345" + chr(code)) != nfd.normalize_str("\u0345") + nfd.normalize_str(chr(code)) or (
        nfd.normalize_str(chr(code) + "\u0334") != nfd.normalize_str(chr(code)) + "\u0334"
    )


def passed_over(category):
    """Code points that the crate's normalization does not change although they are assigned, decomposed or reordered today."""
    forms = {name: getattr(normalizers, name)() for name in ("NFC", "NFD", "NFKC", "NFKD")}
    over = set()
    for code in EVERY:
        character = chr(code)
        today = unicodedata.normalize("NFKD", character) != character or unicodedata.combining(character) != 0
        if not today or category[code] == "Cn":
            continue
        known = any(form.normalize_str(character) != character for form in forms.values())
        known = known or combining_class_is_known(code, forms["NFD"])
        if not known and unicodedata.normalize("NFC", character) == character:
            over.add(code)
    return over


def deviations(category):
    """By letter: the code points for which a part deviates from the category."""
    alphabetic = pre_tokenizers.Split(Regex("[[:alpha:]]"), "removed")
    bert = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    accents = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    marks = normalizers.StripAccents()
    punctuation = pre_tokenizers.Punctuation("removed")
    digits = pre_tokenizers.Digits(individual_digits=True)
    lower = normalizers.Lowercase()
    answers = {
        "A": (those(lambda c: not alphabetic.pre_tokenize_str(c)), lambda c: c[0] == "L" or c == "Nl"),
        "P": (those(lambda c: not punctuation.pre_tokenize_str(c)), lambda c: c[0] == "P"),
        "C": (those(lambda c: bert.normalize_str(c) == ""), lambda c: c in ("Cc", "Cf", "Co")),
        "M": (those(lambda c: marks.normalize_str(c) == ""), lambda c: c[0] == "M"),
        "S": (those(lambda c: accents.normalize_str(c) == ""), lambda c: c == "Mn"),
        "N": (those(lambda c: len(digits.pre_tokenize_str("a" + c)) == 2), lambda c: c[0] == "N"),
        "L": (those(lambda c: lower.normalize_str(c) != c), lambda c: c in ("Lu", "Lt")),
    }
    found = {
        letter: {code for code in EVERY if (code in members) != expected(category[code])}
        for letter, (members, expected) in answers.items()
    }
    over = passed_over(category)
    # A mark that is decomposed is never tested itself, only its decomposition.
    found["S"] -= {code for code in found["S"] - over if unicodedata.decomposition(chr(code))}
    return found | {"F": over}


def runs_of(kinds):
    """[kind, length] of runs of one kind; surrogates continue the previous run."""
    runs = []
    for code, kind in enumerate(kinds):
        if runs and (kind == runs[-1][0] or 0xD800 <= code < 0xE000):
            runs[-1][1] += 1
        else:
            runs.append([kind, 1])
    return runs


def base36(number):
    return (base36(number // 36) if number >= 36 else "") + DIGITS[number % 36]


def new_lowercase():
    """[first, last, distance] of case pairs added after Unicode 15.1, the oldest version an engine may have."""
    lower = normalizers.Lowercase()
    pairs = [(code, lower.normalize_str(chr(code))) for code in EVERY]
    new = [(code, ord(to) - code) for code, to in pairs if len(to) == 1 and ord(to) != code and is_new(code)]
    spans = []
    for code, distance in new:
        if spans and spans[-1][1] == code - 1 and spans[-1][2] == distance:
            spans[-1][1] = code
        else:
            spans.append([code, code, distance])
    return spans


def is_new(code):
    return code in (0xA7CB, 0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA, 0xA7DC, 0x1C89) or code in range(0x10D50, 0x10D66) or code in range(0x16EA0, 0x16EB9)


def main():
    path = os.path.join(arguments(__doc__).out, "..", "..", "web", "src", "text", "unicode_tables.ts")
    category = categories()
    odd = deviations(category)
    kinds = [name + "".join(sorted(letter for letter in odd if code in odd[letter])) for code, name in enumerate(category)]
    runs = runs_of(kinds)
    order = [kind for kind, _ in collections.Counter(kind for kind, _ in runs).most_common()]
    if len(order) > len(NAMES):
        raise ValueError(f"{len(order)} kinds need more letters")
    letter = dict(zip(order, NAMES))
    text = "".join(letter[kind] + (base36(length) if length > 1 else "") for kind, length in runs)
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.write("// Written by tests/references/unicode_tables.py; not to be edited.\n\n")
        out.write("/** Kinds of code points: the general category, and letters for what the crate's other parts see in them besides. */\n")
        out.write(f"export const kinds =\n  '{' '.join(order)}';\n\n")
        out.write("/** The letter of each kind in `runs`, in order. */\n")
        out.write(f"export const kindLetters = '{''.join(NAMES[: len(order)])}';\n\n")
        out.write("/** All code points in runs of one kind: the kind's letter, and in base 36 the length where it is not 1. */\n")
        out.write(f"export const runs =\n  '{text}';\n\n")
        out.write("/** First, last, distance of capital letters whose small ones engines may not know yet. */\n")
        rows = ", ".join("[" + ", ".join(hex(n) if n >= 0xA000 else str(n) for n in row) + "]" for row in new_lowercase())
        out.write(f"export const newLowercase: readonly (readonly [number, number, number])[] = [{rows}];\n")
    print(len(runs), "runs,", len(order), "kinds,", len(text), "characters")


if __name__ == "__main__":
    main()
