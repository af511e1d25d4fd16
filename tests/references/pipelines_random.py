"""Random texts, labels and options of pipelines: transformers' results on the tiny checkpoints, with the tokenizers of pipelines.py.

    python3 tests/references/pipelines_random.py --out tests/fixtures
    python3 tests/references/pipelines_random.py --out <folder> --count 100 --seed x
"""

import os
import random
import warnings

from transformers import (
    AutoModelForMaskedLM, AutoModelForQuestionAnswering, AutoModelForSequenceClassification, AutoModelForTokenClassification,
    PreTrainedTokenizerFast, pipeline,
)
from transformers.pipelines.base import PipelineException

from common import FIXTURES, Group, arguments
from models_common import load_checkpoint
from pipelines import answers_of, plain
from pipelines_tokenizers import LETTERS, WORDS

CLASS = AutoModelForSequenceClassification
TOKENS = (AutoModelForTokenClassification, [
    ("bert/even_token_classification", "wordpiece_64"),
    ("roberta/even_token_classification", "roberta_64"), ("albert/odd_token_classification", "wordpiece_97"),
    ("albert/odd_token_classification", "pegasus_97"), ("camembert/odd_token_classification", "bart_97"),
    ("deberta_v2/odd_token_classification", "pegasus_97"), ("modernbert/even_token_classification", "roberta_64")])
TASKS = {
    "token-classification": TOKENS,
    "words": TOKENS,  # token-classification of texts that are split into words
    "text-classification": (CLASS, [
        ("bert/odd_sequence_classification", "wordpiece_97"), ("xlm_roberta/odd_sequence_classification", "bart_97"),
        ("modernbert/even_sequence_classification", "roberta_64"), ("electra/odd_sequence_classification", "wordpiece_97")]),
    "fill-mask": (AutoModelForMaskedLM, [
        ("bert/odd_masked_lm", "wordpiece_97"), ("roberta/even_masked_lm", "roberta_64"), ("modernbert/even_masked_lm", "roberta_64"),
        ("mpnet/even_masked_lm", "roberta_64"), ("deberta_v2/odd_masked_lm", "wordpiece_97")]),
    "zero-shot-classification": (CLASS, [
        ("bert/odd_sequence_classification", "wordpiece_97"), ("deberta_v2/even_sequence_classification", "roberta_64")]),
    "question-answering": (AutoModelForQuestionAnswering, [
        ("bert/odd_question_answering", "wordpiece_97"), ("electra/odd_question_answering", "wordpiece_97")]),
}
TRUNCATED = {"text-classification": {"truncation": True}, "fill-mask": {"tokenizer_kwargs": {"truncation": True}}}  # always here
STRATEGIES = ("none", "simple", "first", "average", "max")
ODD = ["é", "Ñandú", "ﬁ", "日本", "x1", "don't", "a-b", "U.S.", "3.5", "co-op", "“hi”", "ROME", "McGee", "e\u0301t", "…", "(", ")", "\u200b", "I'm"]


def draw_word(rng):
    kind = rng.random()
    if kind < 0.55:
        word = rng.choice(WORDS).removeprefix("##")
    elif kind < 0.85:
        word = "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 6)))
    else:
        word = rng.choice(ODD)
    return rng.choice([word, word, word, word.capitalize(), word.upper()])


def draw_text(rng, least=1, most=12):
    text = ""
    for i in range(rng.randint(least, most)):
        gap = rng.choices([" ", "  ", "", "\n", "\t", ", "], [30, 1, 3, 1, 1, 2])[0]
        text += (gap if i else rng.choices(["", " "], [9, 1])[0]) + draw_word(rng)
    return text + rng.choices(["", ".", " ", "!"], [6, 3, 1, 1])[0]


def draw_labels(rng, count):
    kinds = ["PER", "LOC", "per", "B-PER", "I", "A-B", "O"]
    styles = [lambda i: rng.choice(["B-", "I-", "", "E-", "S-", "B-", "I-"]) + rng.choice(kinds), lambda i: f"LABEL_{i}",
              lambda i: ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"][i % 5]]
    style = rng.choice(styles)
    return {i: style(i) for i in range(count)}


class Draw:
    def __init__(self, rng, model, tokenizer):
        self.rng, self.model, self.tokenizer, self.config = rng, model, tokenizer, {}

    def labels(self):
        drawn = draw_labels(self.rng, self.model.config.num_labels)
        self.config["id2label"] = {str(i): label for i, label in drawn.items()}
        self.model.config.id2label = drawn
        self.model.config.label2id = {label: i for i, label in drawn.items()}

    def text_or_texts(self, draw):
        return draw() if self.rng.random() < 0.7 else [draw() for _ in range(self.rng.randint(2, 3))]


def token_classes(draw):
    rng = draw.rng
    draw.labels()
    options = {"aggregation_strategy": rng.choice(STRATEGIES)} if rng.random() < 0.9 else {}
    if rng.random() < 0.6:
        options["ignore_labels"] = rng.choice([[], ["O"], ["PER"], list(draw.config["id2label"].values())[:2]])
    return [draw.text_or_texts(lambda: draw_text(rng))], options


def word_classes(draw):
    rng, (_, options) = draw.rng, token_classes(draw)
    if rng.random() < 0.5:
        options["delimiter"] = rng.choice(["", "  ", "-", ", "])
    words = [[draw_text(rng, 0, 2) for _ in range(rng.randint(1, 8))] for _ in range(rng.randint(1, 2))]
    return [words[0] if len(words) == 1 and rng.random() < 0.5 else words], options | {"is_split_into_words": True}


def text_classes(draw):
    rng = draw.rng
    draw.labels()
    if rng.random() < 0.4:
        draw.config["problem_type"] = rng.choice(["multi_label_classification", "regression", "single_label_classification", None])
        draw.model.config.problem_type = draw.config["problem_type"]
    options = {"top_k": rng.choice([1, 2, 5, None])}
    if rng.random() < 0.4:
        options["function_to_apply"] = rng.choice(["softmax", "sigmoid", "none"])
    if rng.random() < 0.3:
        return [{"text": draw_text(rng, 1, 6), "text_pair": draw_text(rng, 1, 6)}], options
    return [draw.text_or_texts(lambda: draw_text(rng))], options


def masks(draw):
    rng = draw.rng

    def text():
        words = [draw_text(rng, 1, 4), draw.tokenizer.mask_token, draw_text(rng, 1, 4)]
        return rng.choice([" ", "", "  "]).join(words[rng.choice([0, 0, 1]):rng.choice([3, 3, 2])])
    return [draw.text_or_texts(text)], rng.choice([{}, {"top_k": rng.choice([1, 3, 60])}])


def zero_shot(draw):
    rng, count = draw.rng, draw.model.config.num_labels
    names = rng.sample(["contradiction", "neutral", "entailment", "ENTAILMENT", "not_entailment", "entails", "LABEL_2"], count)
    entails = [i for i, name in enumerate(names) if name.lower().startswith("entail")][:1]
    opposite = count - 1 if entails == [0] else 0  # for transformers, whatever its name; here a name counts
    named = [opposite] if entails else [opposite, count - 1]
    names = [name if i in named or name not in ("contradiction", "not_entailment") else f"class {i}" for i, name in enumerate(names)]
    draw.config |= {"id2label": {str(i): name for i, name in enumerate(names)}, "label2id": {name: i for i, name in enumerate(names)}}
    draw.model.config.id2label = dict(enumerate(names))
    draw.model.config.label2id = draw.config["label2id"]
    labels = [draw_text(rng, 1, 2) for _ in range(rng.randint(1, 4))]
    labels = rng.choice([labels, labels, ",".join(labels)])
    options = {"hypothesis_template": rng.choice(["in {}.", "{}", "it is {}"])} | ({"multi_label": rng.random() < 0.5} if rng.random() < 0.5 else {})
    return [draw.text_or_texts(lambda: draw_text(rng, 1, 6)), labels], options


def answers(draw):
    rng = draw.rng
    window = {"max_seq_len": rng.choice([20, 22, 24]), "doc_stride": rng.choice([0, 3, 6])}
    options = window | {"top_k": rng.choice([1, 2, 5, 20])}
    for name, values in (("max_answer_len", [1, 2, 7]), ("align_to_words", [True, False]), ("handle_impossible_answer", [True, False])):
        if rng.random() < 0.4:
            options[name] = rng.choice(values)
    question = draw_text(rng, 1, 3)
    while len(draw.tokenizer.tokenize(question)) > 9:  # the context needs more room than its windows overlap
        question = draw_text(rng, 1, 3)
    return [question, draw_text(rng, 1, 16)], options


DRAWS = {"token-classification": token_classes, "words": word_classes, "text-classification": text_classes, "fill-mask": masks,
         "zero-shot-classification": zero_shot, "question-answering": answers}


def is_tied(answer):
    """Whether two labels have the same score, so that their order is that of a sort."""
    if isinstance(answer, list):
        return any(is_tied(one) for one in answer)
    scores = answer.get("scores", [])
    return any(abs(left - right) < 1e-6 for left, right in zip(scores, scores[1:]))


def add_random(group, task, name):
    """A case; nothing if transformers refuses it or its answer is not unique."""
    rng, op = random.Random(name), {"words": "token-classification"}.get(task, task)
    model_class, choices = TASKS[task]
    checkpoint, tokenizer_name = rng.choice(choices)
    model = load_checkpoint(os.path.join(FIXTURES, "models", checkpoint), model_class)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(os.path.join(FIXTURES, "pipelines", tokenizer_name))
    draw = Draw(rng, model, tokenizer)
    given, options = DRAWS[task](draw)
    try:
        if task == "question-answering":
            answer = answers_of(model, tokenizer, *given, options)
        else:
            pipe = pipeline(op, model=model, tokenizer=tokenizer, device="cpu")
            answer = pipe(*given, **TRUNCATED.get(task, {}), **options)
    except (ValueError, RuntimeError, PipelineException):
        return
    if is_tied(answer):
        return
    if task == "text-classification" and options["top_k"] == 1 and isinstance(given[0], list):
        answer = [best for best, in answer]  # as in transformers.js
    group.add({"name": name, "op": op, "checkpoint": f"models/{checkpoint}", "tokenizer": tokenizer_name, "config": draw.config,
               "calls": plain([{"arguments": given, "options": options, "answer": answer}])})


def main():
    args = arguments(__doc__, count=12, seed="")
    warnings.simplefilter("ignore")
    group = Group(args, "pipelines_random", "pipelines_random.py", ["transformers", "tokenizers"])
    for task in TASKS:
        for number in range(args.count):
            add_random(group, task, f"{task}_{args.seed}{number}")
    group.save()


if __name__ == "__main__":
    main()
