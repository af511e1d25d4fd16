"""Trains the small masked language model (bert-tiny-fill) and its tokenizer on short English sentences and stories."""

import hashlib
import os
import random
import re

import torch
from tokenizers import BertWordPieceTokenizer
from torch.nn import functional
from transformers import AutoConfig, AutoModelForMaskedLM, BertTokenizerFast

from training import initialize, padded, parser, prepare, save, train

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]  # ids 0 to 4
MASK = SPECIAL.index("[MASK]")
IGNORED = -100
HELD_OUT = 3000  # texts for evaluation only
WORDS = 40  # maximum length of a text: longer sentences of Tatoeba are dropped, stories split between sentences
SENTENCES = 3  # maximum number of sentences of a story per text
BLANKS = 0.25  # the fraction of a text's words to predict
HIDDEN, REPLACED = 0.85, 0.05  # fractions of those that show [MASK] or another word (Devlin et al. 2019, 3.1)
BUCKET = 50  # batches that are sorted by length together, to reduce padding
EXAMPLES = ["The cat sat on the [MASK].", "Lily went to the [MASK].", "She took [MASK] hat off.", "He took [MASK] hat off.",
            "I [MASK] you.", "Tom [MASK] to school every day.", "It was [MASK] last night, so I stayed at home.",
            "They [MASK] happy.", "He drank a glass of [MASK]."]


def sentences_of(folder):
    """The distinct English sentences of a folder's files of lines `English [TAB …]`, as from manythings.org/anki."""
    found = set()
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            found |= {" ".join(line.split("\t")[0].split()) for line in file}
    return sorted(text for text in found if text.isascii() and 0 < len(text.split()) <= WORDS)


def pieces_of(path, generator):
    """One to SENTENCES adjacent sentences of the stories, each once, of at most WORDS words in total."""
    with open(path, encoding="utf-8") as file:
        stories = [re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(line.split())) for line in file]
    found = []
    for story in stories:
        while story:
            count = generator.randint(1, SENTENCES)
            found.append(" ".join(story[:count]))
            story = story[count:]
    return sorted({text for text in found if text.isascii() and 2 < len(text.split()) <= WORDS})


def train_tokenizer(texts, config, folder):
    """Trains WordPiece, lower case, and writes the files of transformers' BertTokenizerFast."""
    trained = BertWordPieceTokenizer(lowercase=True)
    trained.train_from_iterator(texts, vocab_size=config.vocab_size, min_frequency=2, special_tokens=SPECIAL, show_progress=False)
    vocabulary = os.path.join(folder, "vocab.txt")
    with open(vocabulary, "w", encoding="utf-8") as file:
        file.write("".join(f"{word}\n" for word, _ in sorted(trained.get_vocab().items(), key=lambda pair: pair[1])))
    tokenizer = BertTokenizerFast(vocab=vocabulary, do_lower_case=True, model_max_length=config.max_position_embeddings)
    tokenizer.save_pretrained(folder)
    os.remove(vocabulary)  # tokenizer.json contains it
    return tokenizer


def encoded(tokenizer, texts):
    """(ids, words) of each text within the model's positions; a word is (its first token, the one after its last)."""
    continues = {index for piece, index in tokenizer.get_vocab().items() if piece.startswith("##")}
    found = []
    for ids in tokenizer(texts, verbose=False)["input_ids"]:
        starts = [index for index, token in enumerate(ids) if token >= len(SPECIAL) and token not in continues]
        if starts and len(ids) <= tokenizer.model_max_length:
            found.append((ids, list(zip(starts, starts[1:] + [len(ids) - 1], strict=True))))
    return found


def blanked(ids, words, vocabulary, generator):
    """(masked ids, labels, IGNORED elsewhere): about BLANKS of the words, at least one, each as a whole."""
    shown, labels = list(ids), [IGNORED] * len(ids)
    for begin, end in generator.sample(words, max(1, int(len(words) * BLANKS + generator.random()))):
        labels[begin:end] = ids[begin:end]
        draw = generator.random()
        if draw < HIDDEN:
            shown[begin:end] = [MASK] * (end - begin)
        elif draw < HIDDEN + REPLACED:
            shown[begin:end] = [generator.randrange(len(SPECIAL), vocabulary) for _ in range(begin, end)]
    return shown, labels


def one_blank(ids, words, letters, generator):
    """The same with one masked word, as on the page: a word of letters and of one token. None if there is none."""
    whole = [begin for begin, end in words if end == begin + 1 and ids[begin] in letters]
    if not whole:
        return None
    at = generator.choice(whole)
    return ids[:at] + [MASK] + ids[at + 1:], [IGNORED] * at + [ids[at]] + [IGNORED] * (len(ids) - at - 1)


def scores_of(model, rows):
    """(logits, labels) of the masked positions of `rows`, pairs of ids and labels: only these run through the output layer."""
    ids, labels = padded([ids for ids, _ in rows], -1), padded([labels for _, labels in rows], IGNORED)
    hidden = model.bert(input_ids=ids.clamp(min=0), attention_mask=(ids >= 0).long()).last_hidden_state
    asked = labels != IGNORED
    return model.cls(hidden[asked]), labels[asked]


@torch.no_grad()
def accuracy(model, rows, size=200):
    """(top 1, top 5) accuracy for masked words."""
    model.eval()
    first = five = count = 0
    rows = sorted(rows, key=lambda row: len(row[0]))
    for start in range(0, len(rows), size):
        logits, labels = scores_of(model, rows[start:start + size])
        best = logits.topk(5).indices == labels[:, None]
        first, five, count = first + int(best[:, 0].sum()), five + int(best.sum()), count + len(labels)
    model.train()
    return first / count, five / count


@torch.no_grad()
def fillings(model, tokenizer, text, count=5):
    model.eval()
    inputs = tokenizer(text, return_tensors="pt")
    where = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    best = model(**inputs).logits[0, where].softmax(-1).topk(count)
    model.train()
    return ", ".join(f"{tokenizer.decode([index])} {value:.0%}" for value, index in zip(best.values.tolist(), best.indices.tolist()))


def loss_of(model, batch, generator):
    """Mean cross entropy of the words that `generator` draws."""
    return functional.cross_entropy(*scores_of(model, [blanked(*example, model.config.vocab_size, generator) for example in batch]))


def source_of(args, counts, digest, epoch, quality, shown):
    return [
        f"Origin: trained from scratch on {counts[0]:,} English sentences of Tatoeba (the English sides of the files of "
        f"manythings.org/anki in --data) and {counts[1]:,} passages of one to {SENTENCES} sentences that stories260K made up "
        f"(`sample_stories.py`), {epoch} of {args.epochs} epochs. Together, sorted, one a line: sha256 {digest}.",
        f"Task: {BLANKS:.0%} of a text's words are asked for, of which {HIDDEN:.0%} show [MASK] and {REPLACED:.0%} another token.",
        "Licence: the model is under this project's licence (MIT); the sentences of Tatoeba are under CC BY 2.0 France "
        "(attribution: www.manythings.org/anki and tatoeba.org), stories260K is under the MIT licence.",
        f"Quality: {quality}. No held-out text is in the training set, but both sources have many near-duplicates, so the figures "
        "flatter the model.",
        *(f"`{text}` {best}" for text, best in shown.items()),
    ]


def options():
    made = parser(__doc__, like="web/demo/public/models/bert-tiny-fill", seed=17, epochs=5, batch_size=192, learning_rate=3e-3,
                  weight_decay=0.01)
    made.add_argument("--stories", required=True, help="the file that sample_stories.py wrote")
    return made.parse_args()


def main():
    args = options()
    prepare(args)
    generator = random.Random(args.seed)
    sources = [sentences_of(args.data), pieces_of(args.stories, generator)]
    texts = sorted(set().union(*sources))
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    generator.shuffle(texts)
    held_out, texts = texts[:HELD_OUT], texts[HELD_OUT:][:args.limit]
    config = AutoConfig.from_pretrained(args.like)
    os.makedirs(args.out, exist_ok=True)
    tokenizer = train_tokenizer(texts, config, args.out)
    letters = {index for piece, index in tokenizer.get_vocab().items() if piece.isalpha()}
    rows = [one_blank(*example, letters, generator) for example in encoded(tokenizer, held_out)]
    rows = [row for row in rows if row]
    examples = encoded(tokenizer, texts)
    tokens = sum(len(ids) for ids, _ in examples)
    print(f"{len(examples):,} texts of {tokens:,} tokens to train on, {len(rows):,} blanks held out", flush=True)
    model = AutoModelForMaskedLM.from_config(config)
    initialize(model)

    def finished(epoch, minutes):
        first, five = accuracy(model, rows)
        quality = f"of {len(rows):,} held-out words {first:.1%} are the best and {five:.1%} among the five best"
        print(f"epoch {epoch} of {args.epochs}: {quality}; {minutes:.1f} minutes", flush=True)
        shown = {text: fillings(model, tokenizer, text) for text in EXAMPLES}
        print("".join(f"  {text} {best}\n" for text, best in shown.items()), flush=True)
        save(model, args, [], source_of(args, [len(source) for source in sources], digest, epoch, quality, shown))

    train(model, args, examples, BUCKET, lambda example: len(example[0]), loss_of, finished)
    loaded = AutoModelForMaskedLM.from_pretrained(args.out)
    first, five = accuracy(loaded, rows)
    print(f"read back from {args.out}: {first:.1%} and {five:.1%}")


if __name__ == "__main__":
    main()
