"""
BLEU of a whole test set with several references per sentence (Papineni et al. 2002, "BLEU: a method for automatic
evaluation of machine translation"), case-insensitive. It tokenizes differently from sacrebleu, so the scores differ.
"""

import collections
import math
import re

ORDERS = 4


def words_of(sentence):
    """Words and punctuation marks, in lower case."""
    return re.findall(r"\w+|[^\w\s]", sentence.lower())


def n_grams(words, order):
    return collections.Counter(tuple(words[i:i + order]) for i in range(len(words) - order + 1))


def bleu(candidates, references):
    """
    BLEU in percent of `candidates`, sentences, against `references`, a list of sentences for each of them: the geometric mean
    of the precisions of 1- to 4-grams, clipped to the maximum count in any single reference, times a
    brevity penalty relative to the reference lengths nearest to the candidates'.
    """
    matched, made = [0] * ORDERS, [0] * ORDERS
    length, wanted = 0, 0
    for candidate, others in zip(candidates, references, strict=True):
        words, texts = words_of(candidate), [words_of(other) for other in others]
        length += len(words)
        wanted += min((abs(len(text) - len(words)), len(text)) for text in texts)[1]
        for order in range(1, ORDERS + 1):
            most = collections.Counter()
            for text in texts:
                most |= n_grams(text, order)
            found = n_grams(words, order)
            matched[order - 1] += (found & most).total()
            made[order - 1] += found.total()
    if min(matched) == 0:
        return 0.0
    mean = sum(math.log(right / all) for right, all in zip(matched, made)) / ORDERS
    return 100 * math.exp(mean + min(0.0, 1 - wanted / length))


def exact(candidates, references):
    """The fraction of candidates that equal one of their references word for word."""
    same = [any(words_of(candidate) == words_of(other) for other in others)
            for candidate, others in zip(candidates, references, strict=True)]
    return sum(same) / len(same)
