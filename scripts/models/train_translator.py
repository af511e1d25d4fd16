"""Trains the small English-French translator (marian-tiny-en-fr) and its tokenizer on Tatoeba's sentence pairs."""

import json
import os

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch.nn import functional
from transformers import AutoConfig, AutoModelForSeq2SeqLM

from bleu import bleu, exact
from training import padded, parser, prepare, save, sha256, train
from sentence_pairs import read_pairs, split

PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"  # ids 0, 1, 2
IGNORED = -100
LABEL_SMOOTHING = 0.1
BUCKET = 100  # batches that are sorted by length together, to reduce padding
NEW_TOKENS = 40


def train_tokenizer(pairs, vocabulary):
    """Byte-pair encoding of both languages together; a text ends with </s>."""
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()])
    tokenizer.decoder = decoders.Metaspace()
    texts = (text for pair in pairs for text in pair)
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[PAD, END, UNKNOWN], show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", pair=f"$A $B {END}", special_tokens=[(END, tokenizer.token_to_id(END))])
    return tokenizer


def loss_of(model, batch, _generator):
    """Mean label-smoothed cross entropy of the French tokens, given the previous ones and the English sentence."""
    sources, targets = padded([pair[0] for pair in batch], IGNORED), padded([pair[1] for pair in batch], IGNORED)
    mask = sources != IGNORED
    start = torch.full((len(batch), 1), model.config.decoder_start_token_id)
    before = torch.cat([start, targets[:, :-1]], 1)
    before = before.masked_fill(before == IGNORED, model.config.pad_token_id)
    logits = model(input_ids=sources.masked_fill(~mask, model.config.pad_token_id), attention_mask=mask.long(),
                   decoder_input_ids=before, use_cache=False).logits
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED,
                                    label_smoothing=LABEL_SMOOTHING)


def translate(model, tokenizer, sentences, beams=1, size=100):
    """The model's translations; sentences of similar length are batched together."""
    model.eval()
    ids = [encoding.ids for encoding in tokenizer.encode_batch(sentences)]
    order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
    found = [""] * len(ids)
    for start in range(0, len(order), size):
        chosen = order[start:start + size]
        rows = padded([ids[index] for index in chosen], IGNORED)
        out = model.generate(input_ids=rows.masked_fill(rows == IGNORED, 0), attention_mask=(rows != IGNORED).long(),
                             num_beams=beams, do_sample=False, max_new_tokens=NEW_TOKENS)
        for index, text in zip(chosen, tokenizer.decode_batch(out.tolist()), strict=True):
            found[index] = text
    model.train()
    return found


def source_of(args, pairs, epoch, quality):
    return [
        f"Origin: trained from scratch on {len(pairs):,} short sentence pairs of Tatoeba (the `fra-eng` file of "
        f"manythings.org/anki with sha256 {sha256(args.data)}), {epoch} of {args.epochs} epochs, label smoothing "
        f"{LABEL_SMOOTHING}.",
        "Licence: the model is under this project's licence (MIT); the training data is under CC BY 2.0 France "
        "(attribution: www.manythings.org/anki and tatoeba.org).",
        f"Quality: {quality}. BLEU is bleu.py's (case-insensitive, all references, not sacrebleu). No held-out sentence is in "
        "the training set, but Tatoeba has many near-duplicates, so the figure flatters the model.",
    ]


def options():
    made = parser(__doc__, like="web/demo/public/models/marian-tiny-en-fr", seed=11, epochs=8, batch_size=128,
                  learning_rate=2e-3, weight_decay=0.01)
    made.add_argument("--heldout", help="a JSON list of English sentences to hold out instead of drawing them")
    return made.parse_args()


def write_texts(args, tokenizer, english):
    """Writes the parts of the folder that do not depend on the training."""
    os.makedirs(args.out, exist_ok=True)
    tokenizer.save(os.path.join(args.out, "tokenizer.json"))
    with open(os.path.join(args.out, "heldout_english.json"), "w", encoding="utf-8") as file:
        json.dump(english, file, ensure_ascii=False)


def main():
    args = options()
    prepare(args)
    pairs, english, references = split(read_pairs(args.data), args.seed, args.heldout)
    pairs = pairs[:args.limit]
    config = AutoConfig.from_pretrained(args.like)
    tokenizer = train_tokenizer(pairs, config.vocab_size)
    write_texts(args, tokenizer, english)
    print(f"{len(pairs):,} pairs to train on, {len(english):,} sentences held out, {tokenizer.get_vocab_size():,} tokens")
    model = AutoModelForSeq2SeqLM.from_config(config)
    sides = ([encoding.ids for encoding in tokenizer.encode_batch(list(side))] for side in zip(*pairs))
    examples = list(zip(*sides, strict=True))

    def finished(epoch, minutes):
        found = translate(model, tokenizer, english)
        quality = (f"on {len(english):,} held-out English sentences greedy BLEU {bleu(found, references):.1f}, "
                   f"{exact(found, references):.1%} exactly a reference")
        print(f"epoch {epoch} of {args.epochs}: {quality}; {minutes:.1f} minutes", flush=True)
        save(model, args, ["generation_config.json", "tokenizer_config.json"], source_of(args, pairs, epoch, quality))

    train(model, args, examples, BUCKET, lambda pair: (len(pair[1]), len(pair[0])), loss_of, finished)
    loaded = AutoModelForSeq2SeqLM.from_pretrained(args.out)
    for sentence, translation in zip(english[:10], translate(loaded, tokenizer, english[:10]), strict=True):
        print(f"{sentence} -> {translation}")


if __name__ == "__main__":
    main()
