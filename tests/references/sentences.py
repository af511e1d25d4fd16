"""Texts through folders of sentence-transformers and cross-encoders, by the rules of version 6: spaces at the ends of texts, cases,
prompts that pooling leaves out, modes of pooling, padding in front, and where long texts are cut. Uses the files of models_*.py and pipelines.py."""

import json
import os

import torch
from tokenizers.normalizers import Lowercase, Sequence
from transformers import BertForSequenceClassification, BertModel, ModernBertModel, PreTrainedTokenizerFast, RobertaModel

from common import Group, arguments
from models_common import load_checkpoint
from models_sentence_transformers import pool
from pipelines import plain

MODELS = {"bert/even_base": (BertModel, "wordpiece_64"), "roberta/even_base": (RobertaModel, "roberta_64"),
          "modernbert/even_base": (ModernBertModel, "roberta_64")}
MODES = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens")
PROMPTS = {"q": "The man ", "inner": " the man\t", "empty": ""}
CASES = ["The Man </s> IS in ROME.", "\u03a3\u0391\u03a3 \u0130N", "</S> in Rome"]
SPACED = ["the man is in rome.", " the man is in rome. \n", "\x1c\u2003she sings\x85\u3000", "\ufeffin rome", " \t"]
LONG = "she is in rome, the man sings and he runs over the old house near the sea"


def tokenizer_of(out, name, config):
    with open(os.path.join(out, "pipelines", name, "tokenizer_config.json"), encoding="utf-8") as file:
        held = json.load(file) | config
    return PreTrainedTokenizerFast(tokenizer_file=os.path.join(out, "pipelines", name, "tokenizer.json"),
                                   **{key: value for key, value in held.items() if value is not None}), held


class Sentences:
    """Transformer and Pooling of sentence-transformers, and its encode()."""

    def __init__(self, model, tokenizer, transformer, pooling):
        self.model, self.tokenizer, self.pooling = model, tokenizer, pooling
        if transformer.get("do_lower_case", False):
            backend = tokenizer.backend_tokenizer
            backend.normalizer = Sequence([Lowercase()] + ([backend.normalizer] if backend.normalizer else []))
        arguments = transformer.get("tokenizer_args", {}) | transformer.get("processing_kwargs", {}).get("text", {})
        self.longest = arguments.get("max_length", arguments.get("model_max_length", transformer.get("max_seq_length")))
        if self.longest is None:
            self.longest = min(model.config.max_position_embeddings, tokenizer.model_max_length)

    def tokenize(self, texts):
        return self.tokenizer(texts, padding=True, truncation="longest_first", max_length=self.longest, return_tensors="pt")

    def prompt_length(self, prompt):
        ids = self.tokenize([prompt])["input_ids"][0].tolist()
        return len(ids) - (ids[-1] in self.tokenizer.all_special_ids)

    def encode(self, texts, prompt=""):
        inputs = self.tokenize([prompt + text for text in texts])
        hidden = self.model(**inputs).last_hidden_state
        mask = inputs["attention_mask"].clone()
        if prompt and not self.pooling.get("include_prompt", True):
            for row in mask:
                row[: int(row.argmax()) + self.prompt_length(prompt)] = 0
        return pool(hidden, mask, [mode for mode in MODES if self.pooling.get(f"pooling_mode_{mode}")] or ["mean_tokens"])


def add_case(group, out, name, checkpoint, calls, *, transformer=None, pooling=None, tokenizer=None):
    """Each call is (texts, options); `tokenizer` changes keys of tokenizer_config.json, of which those without a value are left out."""
    transformer, pooling = transformer or {}, pooling or {}
    model_class, files = MODELS[checkpoint]
    loaded, config = tokenizer_of(out, files, tokenizer or {})
    sentences = Sentences(load_checkpoint(os.path.join(out, "models", checkpoint), model_class), loaded, transformer, pooling)
    modules = [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
               for i, (path, kind) in enumerate((("", "Transformer"), ("1_Pooling", "Pooling")))]
    answers = [{"arguments": [texts], "options": options,
                "answer": sentences.encode(texts, PROMPTS[options["prompt_name"]] if options else "").tolist()} for texts, options in calls]
    group.add({"name": name, "op": "feature-extraction", "checkpoint": f"models/{checkpoint}", "tokenizer": files, "calls": plain(answers), "files": {
        "modules.json": modules, "sentence_bert_config.json": transformer, "1_Pooling/config.json": pooling,
        "tokenizer_config.json": {key: value for key, value in config.items() if value is not None},
        "config_sentence_transformers.json": {"prompts": PROMPTS}}})


def add_ranking(group, out, name, transformer=None):
    """CrossEncoder.rank: the tokenizer's maximum is at most the model's positions."""
    model = load_checkpoint(os.path.join(out, "pipelines", "ranker"), BertForSequenceClassification)
    tokenizer, config = tokenizer_of(out, "wordpiece_97", {"model_max_length": None})
    query, documents = "who is in rome?", [LONG, "rome", f"in rome {LONG}"]
    usual = min(tokenizer.model_max_length, model.config.max_position_embeddings)
    inputs = tokenizer([query] * len(documents), documents, padding=True, truncation=True, return_tensors="pt",
                       max_length=(transformer or {}).get("max_seq_length", usual))
    scores = model(**inputs).logits[:, 0].sigmoid().tolist()
    answer = [{"corpus_id": i, "score": scores[i], "text": documents[i]} for i in sorted(range(len(documents)), key=lambda i: -scores[i])]
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"}]
    files = {"modules.json": modules, "sentence_bert_config.json": transformer} if transformer else {}
    group.add({"name": name, "op": "text-ranking", "checkpoint": "pipelines/ranker", "tokenizer": "wordpiece_97",
               "calls": plain([{"arguments": [query, documents], "options": {}, "answer": answer}]),
               "files": files | {"tokenizer_config.json": {key: value for key, value in config.items() if value is not None}}})


def main():
    args = arguments(__doc__.splitlines()[0])
    group = Group(args, "sentences", "sentences.py", ["transformers", "tokenizers"])
    roberta, named = "roberta/even_base", [(["sings", "is in rome."], {"prompt_name": name}) for name in PROMPTS]
    add = lambda *given, **more: add_case(group, args.out, *given, **more)
    add("spaces", roberta, [(SPACED, {}), (SPACED, {"prompt_name": "inner"})])
    add("prompts_left_out", roberta, named, pooling={"include_prompt": False})
    add("prompts_left_out_in_lower_case", roberta, named, pooling={"include_prompt": False, "pooling_mode_max_tokens": True},
        transformer={"do_lower_case": True})
    add("only_the_modes_that_are_set", roberta, [(SPACED[:1], {})], pooling={"pooling_mode_cls_token": True})
    add("mean_unless_told_otherwise", roberta, [(SPACED[:1], {})], pooling={"pooling_mode_cls_token": False})
    add("in_lower_case", roberta, [(CASES, {})], transformer={"do_lower_case": True})
    add("padded_in_front", roberta, [([LONG, "rome"], {})] + named, tokenizer={"padding_side": "left"},
        pooling={"include_prompt": False, "pooling_mode_cls_token": True, "pooling_mode_max_tokens": True})
    add("above_the_tokenizers_maximum", roberta, [([LONG], {})], tokenizer={"model_max_length": 7}, transformer={"max_seq_length": 15})
    add("below_the_tokenizers_maximum", roberta, [([LONG], {})], transformer={"max_seq_length": 9})
    add("below_by_the_tokenizers_arguments", roberta, [([LONG], {})],
        transformer={"max_seq_length": 9, "tokenizer_args": {"model_max_length": 7}})
    add("below_by_the_calls_arguments", roberta, [([LONG], {})],
        transformer={"max_seq_length": 9, "tokenizer_args": {"model_max_length": 7}, "processing_kwargs": {"text": {"max_length": 6}}})
    for checkpoint in ("bert/even_base", "modernbert/even_base"):
        add(f"without_maximum_{checkpoint.split('/')[0]}", checkpoint, [([LONG, "rome"], {})], tokenizer={"model_max_length": None},
            transformer={"max_seq_length": None})
    add_ranking(group, args.out, "ranking_without_maximum")
    add_ranking(group, args.out, "ranking_below_the_maximum", {"transformer_task": "sequence-classification", "max_seq_length": 8})
    group.save()


if __name__ == "__main__":
    main()
