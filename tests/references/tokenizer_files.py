"""Small tokenizer files of all kinds, trained on the sample of tokenizer_sample.py."""

import base64
import collections
import json
import struct
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# BLOOM's: the brackets and bars are characters of the class.
BLOOM_WORDS = r" ?[^(\s|[.,!?…。，、।۔،])]+"
# o200k, of Phi-4-mini: words begin with their capitals.
CASED_WORDS = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def _around(single, pair, *special):
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=list(special))


def byte_level_gpt2(lines):
    """Byte-level BPE with GPT-2's pattern; spans without surrounding spaces."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=2000, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False))
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def byte_level_llama3(lines):
    """Byte-level BPE with the pattern of Llama 3, a template after the byte-level step, whole words looked up first."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3_WORDS), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=1600, special_tokens=["<|begin_of_text|>", "<|end_of_text|>"], initial_alphabet=alphabet, show_progress=False))
    begin = ("<|begin_of_text|>", 0)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        _around("<|begin_of_text|> $A", "<|begin_of_text|> $A <|begin_of_text|>:1 $B:1", begin),
    ])
    return tokenizer


def bpe_metaspace(lines):
    """BPE as converted from SentencePiece: Metaspace before the first word only, bytes for unknown characters."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    special = ["<unk>", "<s>", "</s>"]
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=1700, special_tokens=special + BYTES, limit_alphabet=400, show_progress=False))
    begin, end = ("<s>", 1), ("</s>", 2)
    tokenizer.post_processor = _around("<s> $A", "<s> $A </s> $B:1 </s>:1", begin, end)
    held = json.loads(tokenizer.to_str())
    held["added_tokens"] = [token for token in held["added_tokens"] if token["content"] in special]
    return Tokenizer.from_str(json.dumps(held))


def _wordpiece(lines, normalizer, size):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece("##")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(lines, trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=special, limit_alphabet=500, show_progress=False))
    tokenizer.post_processor = _around("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ("[CLS]", 2), ("[SEP]", 3))
    return tokenizer


def wordpiece_uncased(lines):
    return _wordpiece(lines, normalizers.BertNormalizer(), 2000)


def wordpiece_cased(lines):
    return _wordpiece(lines, normalizers.BertNormalizer(lowercase=False, strip_accents=False), 2000)


def unigram_nfkc(lines):
    """Unigram with NFKC and Metaspace, trained on the lines of frequent characters: it would include all others as well."""
    counts = collections.Counter("".join(lines))
    frequent = {character for character, _ in counts.most_common(500)}
    lines = [line for line in lines if set(line) <= frequent]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(lines, trainers.UnigramTrainer(
        vocab_size=2000, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False))
    tokenizer.post_processor = _around("$A </s>", "$A </s> $B </s>", ("</s>", 1))
    return tokenizer


def openai_gpt(lines):
    """GPT-1's: BPE over characters of lower-case words, the last of which ends in </w>."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=900, special_tokens=["<unk>"], limit_alphabet=200, end_of_word_suffix="</w>", show_progress=False))
    return tokenizer


def charsmap(rules):
    """SentencePiece's table of replacements: a double-array trie over UTF-8 (Darts-clone's units), then the texts."""
    texts, positions = b"", {}
    for replacement in sorted(set(rules.values())):
        positions[replacement] = len(texts)
        texts += replacement.encode() + b"\0"
    trie = {}
    for source, replacement in rules.items():
        node = trie
        for byte in source.encode():
            node = node.setdefault(byte, {})
        node[None] = positions[replacement]
    units, used = {0: 0}, set()

    def place(node, at, label):
        """Finds an offset at which all children's slots are free, and stores them there."""
        slots = [0 if key is None else key for key in node]
        offset = 1
        while any((at ^ offset ^ slot) in units for slot in slots) or offset in used or (offset >= 1 << 21 and offset & 0xFF):
            offset += 1
        used.add(offset)
        units[at] = label | (offset << 10) | ((1 << 8) if None in node else 0)
        for key in node:
            units[at ^ offset ^ (key or 0)] = 0
        for key, child in node.items():
            target = at ^ offset ^ (key or 0)
            if key is None:
                units[target] = child | 1 << 31
            else:
                place(child, target, key)

    place(trie, 0, 0)
    size = (max(units) | 0xFF) + 1
    array = b"".join(struct.pack("<I", units.get(at, 0)) for at in range(size))
    return struct.pack("<I", len(array)) + array + texts


def nmt_rules(lines):
    """NFKC for the sample's characters and common clusters, spaces for line ends, nothing for control characters."""
    rules = {}
    for character in sorted(set("".join(lines))):
        folded = unicodedata.normalize("NFKC", character)
        if folded != character and "\0" not in folded:
            rules[character] = folded
    for cluster in ("e\u0301", "a\u030a", "a\u0301", "e\u0300", "o\u0308", "u\u0308", "n\u0303", "c\u0327", "z\u030c"):
        rules[cluster] = unicodedata.normalize("NFC", cluster)
    rules |= {character: " " for character in "\t\n\r\u1680\u200b\u2028\u2029\ufeff"}
    rules |= {character: "" for character in "\x01\x07\x1b\x7f\u00ad"}
    return rules


# Of these every 20th line is compared.
RARE = ("openai_gpt", "gemma", "starcoder2", "cased_words", "xlm_roberta", "deberta_v3", "albert", "gpt_neox", "bloom",
        "falcon")


def makers():
    """Name and function of each file."""
    made = (byte_level_gpt2, byte_level_llama3, bpe_metaspace, wordpiece_uncased, wordpiece_cased, unigram_nfkc,
            openai_gpt)
    return {maker.__name__: maker for maker in made}


def _token(content, **properties):
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    return {"content": content} | plain | properties


def unigram_encoders(lines, step, metaspace):
    """The steps of XLM-RoBERTa's, DeBERTa-v3's and ALBERT's files, with the tokens of this vocabulary."""
    table = base64.b64encode(charsmap(dict(list(nmt_rules(lines).items())[-60:]))).decode()
    spaces = step("Replace", pattern={"Regex": " {2,}"}, content=" ")
    words = step("Sequence", pretokenizers=[step("WhitespaceSplit"), metaspace])

    def template(*pieces):
        held = [{"SpecialToken" if piece != "$A" else "Sequence": {"id": piece.strip("$"), "type_id": 0}} for piece in pieces]
        special = {name: {"id": name, "ids": [at], "tokens": [name]} for at, name in ((1, "</s>"), (2, "<unk>"))}
        return step("TemplateProcessing", single=held, pair=held + [{"Sequence": {"id": "B", "type_id": 1}}], special_tokens=special)

    yield "xlm_roberta", "unigram_nfkc", {
        "normalizer": step("Precompiled", precompiled_charsmap=table), "pre_tokenizer": words,
        "post_processor": template("<unk>", "$A", "</s>")}
    yield "deberta_v3", "unigram_nfkc", {
        "normalizer": step("Sequence", normalizers=[
            step("Replace", pattern={"Regex": r"\s{2,}|[\n\r\t]"}, content=" "), step("NFC"),
            step("Strip", strip_left=False, strip_right=True)]),
        "pre_tokenizer": step("Sequence", pretokenizers=[step("Punctuation", behavior="Isolated"), metaspace]),
        "post_processor": template("<unk>", "$A", "</s>")}
    quotes = [step("Replace", pattern={"String": marks}, content='"') for marks in ("``", "''")]
    folds = [step("NFKD"), step("StripAccents"), step("Lowercase"), spaces]
    yield "albert", "unigram_nfkc", {
        "normalizer": step("Sequence", normalizers=[*quotes, *folds, *folds]), "pre_tokenizer": words,
        "post_processor": template("<unk>", "$A", "</s>")}


def variants(lines):
    """Other steps with the same vocabularies: (name, file, changes of its JSON)."""
    def step(kind, **more):
        return {"type": kind} | more

    def split(pattern, behavior, invert=False, kind="Regex"):
        return step("Split", pattern={kind: pattern}, behavior=behavior, invert=invert)

    added = [
        _token("<mask>", lstrip=True, special=True), _token("foo", single_word=True, normalized=True),
        _token("<s>", rstrip=True, special=True), _token("Ünï", normalized=True), _token("the", single_word=True),
    ]
    table = base64.b64encode(charsmap(nmt_rules(lines))).decode()
    metaspace = step("Metaspace", replacement="▁", prepend_scheme="always", split=True)
    prefixed = step("ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True)
    roberta = step("RobertaProcessing", sep=["<s>", 0], cls=["<s>", 0], trim_offsets=True, add_prefix_space=True)
    bert = step("BertProcessing", sep=["[SEP]", 3], cls=["[CLS]", 2])
    yield "unigram_precompiled", "unigram_nfkc", {"normalizer": step("Sequence", normalizers=[
        step("Precompiled", precompiled_charsmap=table), step("Replace", pattern={"Regex": " {2,}"}, content=" ")])}
    yield "unigram_never", "unigram_nfkc", {
        "normalizer": step("NFKD"), "pre_tokenizer": metaspace | {"prepend_scheme": "never", "split": False}}
    yield "roberta", "byte_level_gpt2", {"pre_tokenizer": prefixed, "post_processor": roberta, "added_tokens": added}
    yield "lowercase_added", "byte_level_gpt2", {"normalizer": step("Lowercase"), "added_tokens": added}
    yield "byte_level_normalizer", "byte_level_gpt2", {
        "normalizer": step("Sequence", normalizers=[step("NFC"), step("ByteLevel")]), "pre_tokenizer": step("Whitespace")}
    yield "digits", "byte_level_gpt2", {"pre_tokenizer": step("Sequence", pretokenizers=[
        step("Digits", individual_digits=True), step("Punctuation", behavior="Contiguous"), prefixed | {"use_regex": False}])}
    yield "digit_runs", "wordpiece_cased", {"pre_tokenizer": step("Sequence", pretokenizers=[
        step("WhitespaceSplit"), step("Digits", individual_digits=False)]), "post_processor": bert}
    yield "fixed_length", "wordpiece_cased", {
        "normalizer": step("NFKD"), "pre_tokenizer": step("FixedLength", length=3), "added_tokens": added}
    yield "stripped", "wordpiece_uncased", {"normalizer": step("Sequence", normalizers=[
        step("Strip", strip_left=True, strip_right=True), step("NFD"), step("StripAccents"), step("Lowercase")])}
    yield "whitespace", "wordpiece_uncased", {
        "normalizer": step("BertNormalizer", clean_text=True, handle_chinese_chars=False, strip_accents=True, lowercase=False),
        "pre_tokenizer": step("Whitespace")}
    yield "nmt", "unigram_nfkc", {"normalizer": step("Sequence", normalizers=[
        step("Nmt"), step("NFKC"), step("Prepend", prepend="▁"), step("Replace", pattern={"String": " "}, content="▁")]),
        "pre_tokenizer": None}
    yield "llama2", "bpe_metaspace", {"normalizer": step("Sequence", normalizers=[
        step("Prepend", prepend="▁"), step("Replace", pattern={"String": " "}, content="▁")]), "pre_tokenizer": None}
    for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        yield f"split_{behavior}", "wordpiece_cased", {"normalizer": None, "pre_tokenizer": step("Sequence", pretokenizers=[
            split(r"[\s,.]|a", behavior), split(" ", "Removed", kind="String")])}
    yield "split_inverted", "wordpiece_cased", {"pre_tokenizer": split(r"\w+|[^\w\s]", "Removed", invert=True)}
    yield "punctuation", "bpe_metaspace", {"pre_tokenizer": step("Sequence", pretokenizers=[
        metaspace, step("Punctuation", behavior="Isolated")])}
    yield "gemma", "bpe_metaspace", {
        "normalizer": step("Replace", pattern={"String": " "}, content="▁"),
        "pre_tokenizer": split(" ", "MergedWithPrevious", kind="String")}
    yield "starcoder2", "byte_level_gpt2", {"pre_tokenizer": step("Sequence", pretokenizers=[
        step("Digits", individual_digits=True), prefixed | {"add_prefix_space": False}])}
    yield "cased_words", "byte_level_llama3", {"pre_tokenizer": step("Sequence", pretokenizers=[
        split(CASED_WORDS, "Isolated"), prefixed | {"add_prefix_space": False, "use_regex": False}])}
    yield from unigram_encoders(lines, step, metaspace)
    runs = [_token(" " * length, normalized=True) for length in range(8, 1, -1)]
    yield "gpt_neox", "byte_level_gpt2", {
        "normalizer": step("NFC"), "pre_tokenizer": prefixed | {"add_prefix_space": False}, "added_tokens": runs}
    yield "bloom", "byte_level_gpt2", {"pre_tokenizer": step("Sequence", pretokenizers=[
        split(BLOOM_WORDS, "Isolated"), prefixed | {"add_prefix_space": False, "use_regex": False}])}
    yield "falcon", "byte_level_gpt2", {"pre_tokenizer": step("Sequence", pretokenizers=[
        step("Punctuation", behavior="Contiguous"), prefixed | {"add_prefix_space": False},
        step("Digits", individual_digits=False), split("[0-9][0-9][0-9]", "Isolated")])}
    yield "char_delimiter", "bpe_metaspace", {
        "normalizer": step("NFD"), "pre_tokenizer": step("CharDelimiterSplit", delimiter=" ")}
