"""Ten thousand seeded lines in many scripts, generated from word lists, Unicode's names and code; and English sentences.

The English sentences come from Tatoeba (https://tatoeba.org, by way of https://www.manythings.org/anki), CC BY 2.0 FR. Characters are those that Unicode 3.2 already
had, and a few later blocks, so that all libraries know them whatever version of Unicode they were built with.
"""

import json
import os
import unicodedata

from common import random_state

COUNT = 10_000
LONGEST = 110  # characters

WORDS = """
the and of to in that was his with for on as had you not be her she which all this they have from one were would there
Don't I'm we've it's they'll O'Brien's state-of-the-art e-mail U.S.A. Ph.D. 3rd naïve café Zürich rock'n'roll
der die und nicht ein zu haben wir können Straße größer Äpfel über schön Fußball Übermäßig GROẞ Mädchen
le la les être avoir où ça œuvre Noël garçon déjà l'été aujourd'hui Île élève français ŒUVRE
el niño señor mañana corazón ¿qué? ¡hola! años pingüino español también ÁRBOL camión
não você coração ações avô avó lição João Ç São português mãe
että hyvää päivää yö työ Jyväskylä järvi sää mä
å æ ø blåbær smørrebrød fjord Ærø gjør på språk ÅR
zażółć gęślą jaźń Łódź źdźbło chrząszcz trzcinie że się ŻÓŁĆ
příliš žluťoučký kůň úpěl ďábelské ódy Čeština řeka ŘÍJEN
árvíztűrő tükörfúrógép Magyarország őszi ŰR
İstanbul ılık şeker çocuk ğ Türkçe IĞDIR iyi ığ İİ
așa și ță în fântână țară ȘTIINȚĂ
việt nam tiếng người được không những Đà Nẵng phở ƯỚC
ελληνικά και το λόγος άνθρωπος ΣΊΣΥΦΟΣ ὀδυσσεύς ΐ ΰ ᾳ ῆ Ὀδός ΣΑΣ
привет мир язык который Ёжик объект Москва подъезд ЩИТ щука
їжак ґанок Київ є Україна мова
здравей свят ќ ѓ љубов ђак Ђорђе
שלום עולם עִבְרִית תּוֹרָה ירושלים ״כן״
السلام عليكم مَرْحَبًا اللُّغَة العربية كتاب ؟ ١٢٣ لا ـــ
سلام دنیا فارسی می‌خواهم کتاب ۱۲۳ گچ پژ
हिन्दी नमस्ते दुनिया क़लम कि की ज़्यादा श्री १२३ क्षेत्र
বাংলা আমার সোনার কো কৌ ড় ১২৩ ক্ষ
தமிழ் வணக்கம் கோ கௌ நீ
ไทย สวัสดี น้ำ ภาษา กำ ที่ ๑๒๓ ประเทศ
ລາວ ສະບາຍດີ ນ້ຳ
မြန်မာ ကို
ខ្មែរ សួស្តី
བོད་ཡིག ཀི
ქართული გამარჯობა ენა თბილისი
Հայերեն բարեւ և ՄԵԾ
አማርኛ ሰላም ዓለም ።
日本語 世界 こんにちは ありがとう カタカナ ガギグ ﾊﾟﾋﾟ ｶﾞ パ 。 、 「東京」 ー 々 〆
中文 你好 世界 简体 繁體 龍 龜 ， 。 《書》 㐀 豈
한국어 안녕하세요 세계 값 닭 각 ㄱㄴㄷ
ᏣᎳᎩ ᐃᓄᒃᑎᑐᑦ ᚠᚢᚦ ᠮᠣᠩᠭᠣᠯ ꙮ
""".split()

CODE = """
def main(argv): | for (int i = 0; i < n; ++i) { | return x[0] ?? null; | #include <vector> | if (a && !b || c^d) | x = y ** 2 // 3 |
SELECT * FROM t WHERE id='7'; | <div class="a">&amp;</div> | https://example.org/a?b=c&d=%20e#f | a@b.co | C:\\path\\file.txt |
{"key": [1, 2.5e-3, null]} | \\frac{1}{2} $x_i^2$ | print(f"{x:>8}") | fn f<'a>(x: &'a str) -> Option<u8> | # comment | /* c */ |
let re = /[^\\s]+/gu; | git commit -m "x" | 0xDEADBEEF | 1_000_000 | λx. x → y | ∀x∈ℝ: x²≥0 | ∑∫√∞≠≤≥ | a |= b << 3 | @decorator | $HOME/.cfg
""".replace("\n", " ").split(" | ")

PIECES = [  # what normalization, case or splitting treats in a way of its own
    "é", "e\u0301", "Å", "A\u030a", "\u212b", "ﬁ", "ﬂ", "ﬃ", "ſ", "ẛ̣", "ǆ", "Ǆ", "ß", "ẞ", "İ", "i\u0307", "ı", "Σ", "ς", "ΑΣ", "²", "³", "½", "¼",
    "①", "⑩", "Ⅷ", "ⅷ", "㎏", "㏂", "℃", "№", "™", "…", "‥", "‼", "⁇", "ｱ", "ｶﾞ", "Ａ", "１", "！", "￥", "ﷺ", "ﷲ", "ﻼ", "ﬀ", "ﬗ", "각", "각", "ᄀ", "ᆨ",
    "\u0340", "\u0344", "\u0374", "\u037e", "\u0387", "\u0958", "\u09dc", "\u0f73", "\u0f75", "\u1e9b\u0323", "q\u0307\u0323", "q\u0323\u0307", "a\u0323\u0302\u0301",
    "a\u0302\u0323", "o\u0328\u0304", "o\u0304\u0328", "\u0301", "\u0327\u0301", "x\u0301\u0301\u0301", "क\u093c", "ড\u09bc", "\u09c7\u09be", "\u0bc6\u0bbe", "\u0dd9\u0dcf\u0dca",
    "\u1100\u1161\u11a8", "\u1100\u1161", "\uac00\u11a8", "\u4e00", "\uf900", "\u2f800", "豈", "\u2126", "\u2160", "\u3300", "\u33ff", "\u3200", "\u309b", "\u309c", "は\u309a",
    "\u00a0", "\u2003", "\u2009", "\u202f", "\u3000", "\u1680", "\u2028", "\u2029", "\u0085", "\t", "\r\n", "\n", "\x0b", "\x0c", "\x1c", "\x1f", "\x00", "\x07", "\x7f", "\x1b[0m",
    "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\u202e", "\u00ad", "\ufeff", "\ufffd", "\ue000", "\ufe0f", "\ufe0e", "\u034f", "\u061c", "\u180e", "▁", "▁▁", "Ġ", "Ċ",
    "«", "»", "“", "”", "‘", "’", "„", "–", "—", "‑", "¿", "¡", "§", "¶", "†", "•", "€", "£", "¥", "¢", "°", "±", "×", "÷", "^", "`", "~", "|", "$", "+", "<", "=", ">", "_", "__", "-", "--",
    "😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇫🇷", "❤️", "☃", "1️⃣", "🐶🐱", "𠮷", "𝔘𝔫𝔦", "𝟘𝟙", "𐍈", "𐐀𐐨", "𡨸", "\U0001d15e", "٣", "๓", "४", "零", "〇", "千", "ª", "º", "ʰ", "ₙ", "⁴",
    "<unk>", "<s>", "</s>", "[CLS]", "[MASK]", "[UNK]", "<|endoftext|>", "<mask>", " <mask> ", "<0x41>", "##s", "<pad>", "[sep]", "Foo", "foo", "\\n", "%20", "&lt;",
]

BLOCKS = [
    (0x20, 0x7F), (0xA0, 0x180), (0x180, 0x250), (0x250, 0x2B0), (0x300, 0x362), (0x370, 0x400), (0x400, 0x530), (0x531, 0x588), (0x591, 0x5F5), (0x60C, 0x6FF),
    (0x700, 0x74B), (0x780, 0x7B2), (0x901, 0x971), (0x981, 0x9FB), (0xA02, 0xA75), (0xA81, 0xAF0), (0xB01, 0xB71), (0xB82, 0xBF3), (0xC01, 0xC70), (0xC82, 0xCF0),
    (0xD02, 0xD70), (0xD82, 0xDF5), (0xE01, 0xE5C), (0xE81, 0xEDE), (0xF00, 0xFD0), (0x1000, 0x105A), (0x10A0, 0x10FC), (0x1100, 0x11FA), (0x1200, 0x137D), (0x13A0, 0x13F5),
    (0x1401, 0x1677), (0x1680, 0x16F1), (0x1780, 0x17EA), (0x1800, 0x18AA), (0x1E00, 0x2000), (0x2000, 0x2064), (0x2070, 0x20B2), (0x2100, 0x214C), (0x2153, 0x2184),
    (0x2190, 0x23CF), (0x2440, 0x24FF), (0x2500, 0x27BF), (0x27D0, 0x2B00), (0x2E80, 0x2FDF), (0x3000, 0x3100), (0x3105, 0x3290), (0x3290, 0x3400), (0x3400, 0x4DB6),
    (0x4E00, 0x9FA6), (0xA000, 0xA4C7), (0xAC00, 0xD7A4), (0xF900, 0xFA6B), (0xFB00, 0xFDFD), (0xFE20, 0xFE75), (0xFF01, 0xFFEF), (0x10300, 0x1034B), (0x10400, 0x1044E),
    (0x1D400, 0x1D7FF), (0x20000, 0x2A6D7), (0x2F800, 0x2FA1E), (0x1F300, 0x1F5A4), (0x1F600, 0x1F640),
]


def _is_old(character):
    return unicodedata.ucd_3_2_0.category(character) not in ("Cn", "Cs") or 0x1F300 <= ord(character) < 0x1F640


BLOCK_LETTERS = [[chr(code) for code in range(low, high) if _is_old(chr(code))] for low, high in BLOCKS]
SPACES = [" "] * 24 + ["  ", "   ", "\t", "\n", "\r\n", " \n ", "\u00a0", "\u3000", ""]


def _pick(random, items):
    return items[random.randint(len(items))]


def words(random):
    """Words of all languages, or of neighbours in the list, with punctuation and spaces of all kinds."""
    start = random.randint(len(WORDS))
    near = WORDS[start:start + 14] if random.rand() < 0.7 else WORDS
    text = "" if random.rand() < 0.9 else " "
    for _ in range(random.randint(2, 12)):
        word = _pick(random, near)
        if random.rand() < 0.1:
            word = _pick(random, (word.upper(), word.title(), unicodedata.normalize("NFD", word)))
        text += word + _pick(random, [""] * 8 + [",", ".", "!", "?", ";", "…", ")", "”"]) + _pick(random, SPACES)
    return text


def letters(random):
    """Characters of one or two blocks, separated by spaces."""
    text = ""
    for _ in range(random.randint(1, 3)):
        block = _pick(random, BLOCK_LETTERS)
        text += "".join(_pick(random, block) if random.rand() > 0.18 else " " for _ in range(random.randint(1, 12)))
    return text


def pieces(random):
    """Concatenated pieces on which libraries disagree."""
    return "".join(_pick(random, PIECES) + _pick(random, ("", "", " ", "a", "B ")) for _ in range(random.randint(1, 9)))


def named(random):
    """A character and its name."""
    character = _pick(random, _pick(random, BLOCK_LETTERS))
    name = unicodedata.name(character, "control character")
    return f"{character} {name if random.rand() < 0.5 else name.lower()} U+{ord(character):04X}"


def numbers(random):
    """Numbers as people write them."""
    forms = ("{:d}", "{:,d}", "{:.2f}", "{:e}", "{:#x}", "-{:d}", "{:d}%", "${:,.2f}", "{:d}:00", "{:05d}")
    found = []
    for _ in range(random.randint(1, 7)):
        value, form = int(random.randint(10 ** random.randint(1, 9))), _pick(random, forms)
        found.append(form.format(float(value) / 7 if ".2f" in form or "e}" in form else value))
    return _pick(random, (" ", ", ", "; ", "+", "/")).join(found)


def code(random):
    return "".join(_pick(random, CODE) + _pick(random, SPACES) for _ in range(random.randint(1, 4)))


def mixture(random):
    makers = (words, letters, pieces, named, numbers, code)
    return "".join(_pick(random, makers)(random)[:36] + _pick(random, ("", " ", ". ")) for _ in range(3))


def sentences(models):
    """English sentences of the translation model's held-out texts."""
    with open(os.path.join(models, "marian-tiny-en-fr", "heldout_english.json"), encoding="utf-8") as file:
        held = json.load(file)
    held = held if isinstance(held, list) else next(value for value in held.values() if isinstance(value, list))
    return [text if isinstance(text, str) else text["en"] for text in held]


def sample(models):
    """The lines; a line may contain line ends."""
    english = sentences(models)[:700]
    lines = dict.fromkeys(["", " ", "\n", *PIECES, *english])
    random = random_state("tokenizer/sample")
    makers = (words, words, words, letters, letters, pieces, pieces, named, numbers, code, mixture)
    while len(lines) < COUNT:
        text = makers[len(lines) % len(makers)](random)[:LONGEST]
        lines[text] = None
    return list(lines)
