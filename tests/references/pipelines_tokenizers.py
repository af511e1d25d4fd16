"""Tokenizers small enough for the tiny checkpoints of models/*: as many tokens as those have rows of embeddings."""

import json
import os

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, WhisperTokenizer

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ("the in is . , man rome ##ing of and to city river ship cat dog small red who where lives goes sea "
         "house near was there said night day old sun tree boat ' ? ! ; : over under it he she they we sings runs").split()
MERGES = ("Ġ t|h e|Ġt he|Ġ i|Ġi s|Ġ a|i n|a n|o n|Ġ r|Ġr o|m e|Ġ s|Ġ m|Ġm an|Ġi n|e r|r e|Ġ c|l l|Ġs he|"
          "in g|Ġ w|Ġ h|Ġ l|Ġ b|Ġ d|o u|s t|Ġa n|Ġan d|e s|l e|Ġ p|Ġ f|Ġ g|a t|e n|Ġ o|Ġo n|Ġ n|o r|o w").split("|")


def fill(tokens, size):
    """Truncates or extends a list of tokens to the size of a model's vocabulary."""
    tokens = tokens[:size]
    return tokens + [f"<unused{i}>" for i in range(size - len(tokens))]


def wordpiece(size):
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS]
    vocab = {token: i for i, token in enumerate(fill(tokens, size))}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    config = {"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]",
              "model_max_length": 24, "model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
    return tokenizer, config


def bpe(size, special):
    """Byte-level BPE over the letters; `special` tokens have the first ids."""
    merges, tokens = [], [*special, "Ġ", *LETTERS, ".", ","]
    for line in MERGES:
        left, right = line.split(" ")
        if len(tokens) < size and left in tokens and right in tokens:
            merges.append((left, right))
            tokens.append(left + right)
    vocab = {token: i for i, token in enumerate(fill(tokens, size))}
    return vocab, merges


def byte_level(size, special, config, template=None):
    vocab, merges = bpe(size, special)
    tokenizer = Tokenizer(models.BPE(vocab, merges, unk_token=config.get("unk_token")))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if template:
        tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=[(t, vocab[t]) for t in special[:3]])
    return tokenizer, config


def words(size, special, config, template, pair=None):
    """Whole words, without leading spaces in the tokens."""
    whole = [word for word in WORDS if not word.startswith("##")]
    vocab = {token: i for i, token in enumerate(fill([*special, "this", "a", "photo", *whole], size))}
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    used = [token for token in special if token in template.split()]
    tokenizer.post_processor = processors.TemplateProcessing(single=template, pair=pair, special_tokens=[(t, vocab[t]) for t in used])
    return tokenizer, config


def pegasus(size):
    """Unigram over the words, with Pegasus' steps and special tokens."""
    special = ["<pad>", "</s>", "<mask_1>", "<mask_2>", *(f"<unk_{i}>" for i in range(2, 5)), "<unk>"]
    whole = [f"▁{word}" for word in WORDS if word.isalpha()]
    tokens = fill([*special, "▁", *LETTERS, ".", ",", *whole], size)
    scores = {token: -100.0 if token.startswith("<unk_") else 0.0 for token in special}
    vocab = [(token, scores.get(token, -2.0 - 0.05 * len(token) if len(token) > 1 else -6.0)) for token in tokens]
    tokenizer = Tokenizer(models.Unigram(vocab, unk_id=special.index("<unk>")))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(Regex(r"\n"), " "), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A $B </s>", special_tokens=[("</s>", 1)])
    return tokenizer, {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask_2>", "model_max_length": 32}


CHAT = ("{% for message in messages %}{{ message.role[0] }} {{ message.content }}{% if not loop.last %}. {% endif %}{% endfor %}"
        "{% if add_generation_prompt %}. a{% endif %}")
BART = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>", "cls_token": "<s>", "sep_token": "</s>"}
BART_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
MAKERS = {
    "wordpiece_64": lambda: wordpiece(64),
    "wordpiece_97": lambda: wordpiece(97),
    "roberta_64": lambda: byte_level(64, BART_SPECIAL, BART | {"model_max_length": 22}, "<s> $A </s>"),
    "gpt2_64": lambda: byte_level(64, ["<pad>", "<bos>", "<eos>"], {
        "pad_token": "<pad>", "bos_token": "<bos>", "eos_token": "<eos>", "chat_template": CHAT}),
    "marian_97": lambda: words(97, ["</s>", "<unk>", "<other>", "<pad>"], {
        "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "model_max_length": 40}, "$A </s>"),
    "bart_97": lambda: words(97, BART_SPECIAL, BART | {"model_max_length": 30}, "<s> $A </s>"),
    "bart_pairs_97": lambda: words(97, BART_SPECIAL, BART | {"model_max_length": 30}, "<s> $A </s>", "<s> $A </s> </s> $B </s>"),
    "pegasus_97": lambda: pegasus(97),
    "clip_64": lambda: words(64, ["<s>", "<pad>", "</s>", "<unk>"], {
        "bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "model_max_length": 12}, "<s> $A </s>"),
}
WHISPER_SPECIAL = ["<|other|>", "<|startoftranscript|>", "<|endoftext|>", "<|en|>", "<|fr|>", "<|transcribe|>",
                   "<|translate|>", "<|startofprev|>"]


def whisper_97():
    """<|notimestamps|> is the last token, so that there are no timestamps."""
    vocab, merges = bpe(96, WHISPER_SPECIAL)
    vocab["<|notimestamps|>"] = 96
    special = [*WHISPER_SPECIAL, "<|notimestamps|>"]
    return WhisperTokenizer(vocab=vocab, merges=merges, additional_special_tokens=special)


def whisper_times_97():
    """<|notimestamps|> is token 60, the 36 after it are timestamps; as upstream, added tokens but not special ones."""
    vocab, merges = bpe(60, WHISPER_SPECIAL)
    vocab["<|notimestamps|>"] = 60
    tokenizer = WhisperTokenizer(vocab=vocab, merges=merges, additional_special_tokens=[*WHISPER_SPECIAL, "<|notimestamps|>"])
    tokenizer.add_tokens([AddedToken(f"<|{i * 0.05:.2f}|>", special=False, normalized=False) for i in range(36)])
    return tokenizer


WHISPERS = {"whisper_97": whisper_97, "whisper_times_97": whisper_times_97}


def write(folder, name):
    """Writes tokenizer.json and tokenizer_config.json, and returns transformers' tokenizer from them."""
    path = os.path.join(folder, name)
    os.makedirs(path, exist_ok=True)
    if name in WHISPERS:
        made = WHISPERS[name]()
        tokenizer, config = made.backend_tokenizer, {"tokenizer_class": "WhisperTokenizer", "eos_token": "<|endoftext|>"}
    else:
        tokenizer, config = MAKERS[name]()
        special = [value for key, value in config.items() if key.endswith("_token")]
        tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in dict.fromkeys(special)])
        made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **config)
    for file, text in (("tokenizer.json", tokenizer.to_str()), ("tokenizer_config.json", json.dumps(config, indent=2))):
        with open(os.path.join(path, file), "w", encoding="utf-8", newline="\n") as out:
            out.write(text + "\n")
    return made
