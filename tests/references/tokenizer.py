"""transformers' tokenizer of stories260K on 300 strings, in both directions; one sequence decoded step by step."""

import torch
from transformers import AutoTokenizer
from transformers.generation.streamers import TextStreamer

from common import Group, arguments, bundled, random_state

HAND_MADE = [
    "", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", " \n ", "a", " a", "a ", " a ", "  a  b   c    ", "A",
    "Once upon a time", "Once upon a time,", " Once upon a time", "Once  upon   a    time", "once upon a time.\n",
    "Lily's mom said, \"Let's go to the park!\"", "Don't", "I'm, you're, he'd, she'll", "...", "!?", "--", "—", "…",
    "Line one\nLine two\n\nLine four", "tab\tseparated\tvalues", "windows\r\nline\r\nends", "trailing space ",
    "<s>", "</s>", "<unk>", "<s> Once", "Once</s>upon", "<s></s><unk>", " <s> ", "< s >", "<S>", "&lt;s&gt;", "<0x41>",
    "<0x0A>", "▁", "▁▁", "▁Once▁upon", "a▁b", "12345", "3.14159", "-1e-5", "1,000,000", "007", "0x1F600",
    "fn main() { println!(\"hi\"); }", "if (a<b && c>d) return x[0];", "https://example.org/a?b=c&d=%20e#f", "a@b.co",
    "ALL CAPS SHOUTING", "CamelCaseWords", "snake_case_words", "kebab-case-words", "x" * 50, "ab" * 30, "a b " * 20,
    "é", "é", "naïve café", "Ångström", "Ångström", "Straße", "İstanbul", "ﬁne ﬂow", "½ ¼ ¾", "x² + y³ = z⁴",
    "Ελληνικά", "Русский язык", "Українська мова", "עברית", "العربية", "فارسی", "हिन्दी", "বাংলা", "தமிழ்", "ไทย",
    "ქართული", "Հայերեն", "አማርኛ", "日本語", "ひらがな", "カタカナ", "ｶﾀｶﾅ", "한국어", "한국어", "中文", "繁體中文", "𠮷野家", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "Tiếng Việt", "Türkçe", "Íslenska", "Čeština", "Magyar", "Română", "Łódź", "ʃɪp", "ᚠᚢᚦ", "ꙮ", "⠓⠑⠇⠇⠕",
    "😀", "😀😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇫🇷", "❤", "❤️", "☃", "1️⃣", "a😀b", "Lily saw a 🐶 and a 🐱.", "🫠", "🧑🏿‍🚀 went up",
    "∀x∈ℝ: x²≥0", "∑∫√∞≠≤≥", "α+β=γ", "€100 £5 ¥7 ₿", "“quotes” ‘single’ «guillemets»", "a\u00a0b", "a\u2003b", "a\u3000b",
    "a\u200bb", "a\u200db", "\ufeffstart", "a\u00adb", "\u202eright to left", "\u0301", "e\u0301\u0302\u0303", "Z̷a̷l̷g̷o̷",
    "\x00", "a\x00b", "\x01\x02\x03", "\x07bell", "\x1b[31mred\x1b[0m", "\x7f", "\x85", "\u2028", "\u2029", "\ufffd", "\uffff",
    "\U0010ffff", "\ue000", "\U000e0041", "~`!@#$%^&*()_+-={}[]|\\:;\"'<>,.?/", "{\"a\": [1, 2, null]}", "<b>bold</b>",
    "$\\frac{1}{2}$", "# Title\n- one\n- two", "a,b;c:d.e", "'", "\"", "''", "\"\"", "`code`", "C:\\path\\file", "a/b/c",
]
WORDS = (
    "Once upon a time there was little girl named Lily Tom She loved to play outside in the park One day saw big red ball "
    "was too high mom said dog cat They happy sad ran went home wanted help friend tree bird sun water box scared smiled"
).split()
SCRIPTS = [
    (0x21, 0x7F), (0xA1, 0x180), (0x370, 0x400), (0x410, 0x450), (0x5D0, 0x5EB), (0x621, 0x64B), (0x905, 0x93A),
    (0xE01, 0xE3B), (0x3041, 0x3097), (0x4E00, 0x9FA6), (0xAC00, 0xD7A4), (0x2190, 0x2400), (0x1F600, 0x1F650),
]
COUNT = 300


def story_like(random):
    """Words of the model's domain, with the punctuation, spaces and line ends of a text."""
    text = ""
    for _ in range(random.randint(3, 25)):
        text += WORDS[random.randint(len(WORDS))] + ["", ",", ".", "!", "?", "'s"][random.choice(6, p=[.7, .1, .1, .04, .03, .03])]
        text += [" ", "  ", "\n", " \n"][random.choice(4, p=[.9, .04, .04, .02])]
    return text


def any_script(random):
    """Letters of one or two scripts, separated by spaces."""
    text = ""
    for low, high in [SCRIPTS[random.randint(len(SCRIPTS))] for _ in range(random.randint(1, 3))]:
        text += "".join(chr(random.randint(low, high)) if random.rand() > 0.2 else " " for _ in range(random.randint(1, 16)))
    return text


def mixture(random):
    """Concatenated hand-made pieces."""
    return "".join(HAND_MADE[random.randint(len(HAND_MADE))] for _ in range(random.randint(2, 5)))


def strings():
    found = list(dict.fromkeys(HAND_MADE))
    makers, random = (story_like, any_script, mixture), random_state("tokenizer/strings")
    while len(found) < COUNT:
        text = makers[len(found) % 3](random)
        if text not in found and len(text) <= 300:
            found.append(text)
    return found


def both_ways(tokenizer, text):
    ids = tokenizer(text).input_ids
    assert tokenizer.encode(text, add_special_tokens=False) == ids[1:]
    return {
        "text": text, "ids": ids, "tokens": tokenizer.convert_ids_to_tokens(ids), "decoded": tokenizer.decode(ids),
        "decoded_skip_special_tokens": tokenizer.decode(ids, skip_special_tokens=True),
    }


class _Chunks(TextStreamer):
    def __init__(self, tokenizer):
        super().__init__(tokenizer)
        self.chunks = []

    def on_finalized_text(self, text, stream_end=False):
        self.chunks.append(text)


def held_back(tokenizer, ids):
    """The text after each token: nothing while the last character is incomplete (ends in U+FFFD)."""
    shown, steps = "", []
    for count in range(1, len(ids) + 1):
        text = tokenizer.decode(ids[:count], skip_special_tokens=True)
        if text.endswith("\ufffd") and count < len(ids):
            steps.append("")
        else:
            steps.append(text[len(shown):])
            shown = text
    assert "".join(steps) == tokenizer.decode(ids, skip_special_tokens=True)
    return steps


def streaming(tokenizer, text):
    ids = tokenizer(text).input_ids
    streamer = _Chunks(tokenizer)
    for token in ids:
        streamer.put(torch.tensor([token]))
    streamer.end()
    return {
        "text": text, "ids": ids, "step_text": held_back(tokenizer, ids), "text_streamer_chunks": streamer.chunks,
        "decoded_prefixes": [tokenizer.decode(ids[:count], skip_special_tokens=True) for count in range(1, len(ids) + 1)],
    }


def main():
    args = arguments(__doc__)
    tokenizer = AutoTokenizer.from_pretrained(bundled("stories260K"))
    group = Group(args, "tokenizer", "tokenizer.py", ["transformers", "tokenizers"])
    options = {"checkpoint": "stories260K"}
    for index, text in enumerate(strings()):
        group.add({"name": f"string_{index:03}", "op": "tokenize", "options": options} | both_ways(tokenizer, text))
    for name, text in (("byte_fallback", "Lily saw a 🐶 and said café 日本!"), ("plain", "Once upon a time\nLily ran.")):
        group.add({"name": f"streaming_{name}", "op": "decode_stream", "options": options} | streaming(tokenizer, text))
    incomplete = [1, 3 + 0xF0, 3 + 0x9F, 265, 3 + 0x90, 3 + 0xE2, 3 + 0x82, 2]  # bytes of incomplete characters
    group.add({"name": "decode_incomplete_bytes", "op": "decode", "options": options, "ids": incomplete,
               "decoded": tokenizer.decode(incomplete),
               "decoded_skip_special_tokens": tokenizer.decode(incomplete, skip_special_tokens=True)})
    pair = tokenizer("Once upon", "a time").input_ids
    group.add({"name": "pair", "op": "tokenize_pair", "options": options, "text": "Once upon", "text_pair": "a time",
               "ids": pair})
    group.save()


if __name__ == "__main__":
    main()
