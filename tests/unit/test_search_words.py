#!/usr/bin/env python3
"""The tokeniser of the search in C against that in tests/lib/search_words.py: texts in many languages, random Unicode,
JSON cut anywhere, and the session of ../shared/data if it is there."""

import json
import os
import random
import subprocess
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
import search_words  # noqa: E402

LIB = os.path.join(cardbox_test.BUILD, "lib", "libcardbox.a")
SESSION = os.path.join(cardbox_test.SHARED, "data", "pi", "large-session.jsonl")
ROUNDS = 100 if cardbox_test.LIGHT else 1000

TEXTS = [
    "parseJsonValue HTTPServer getUserID x1y2 iPhone15 snake_case_name kebab-case a.b.c /usr/lib/x.so C:\\dir\\file",
    "Die Müller fahren nach Österreich. Straße, STRASSE, Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung "
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnungsentwurf",
    "用户登录失败，请检查iPhone15手机的GitHub账号。ＡＢＣ１２３", "データベースのバックアップが失敗しました。ｶﾀｶﾅ ジョン・スミス 人々 〆切 サーバー2台",
    "데이터베이스 백업이 실패했습니다. \u1112\u1161\u11ab", "𠮷野家 𪚥 葛\U000e0100飾 か\u3099く が", "Ünï\u0301çødé e\u0301cole İstanbul ΣΊΣΥΦΟΣ Привет",
    "हिन्दी में लिखा हुआ पाठ", "ภาษาไทยไม่มีช่องว่าง", "می\u200cخواهم Wör\u00adter don\u2019t don't ﷺ ½ x² Ⅷ", "a__b a--b a---b _a_ 'quoted' https://x.y/z?q=1 std::vector",
    "019a3f7c-1b2d-7abc-8def-0123456789ab 2026-11-27T00:25:52.123Z -1.5e-3 1,000.00", "aBcDeFgHiJkLmNoP" * 20, "漢" * 500, "x" * 64 + "y" * 64 + "z",
    "ABCdef ABcDEf ªBc ǅabc ǄABC", "", "!!! ???", "\u0301 \u0301a 漢\u0301字", "\ufffd\x00\x01 a\tb\nc\u3000d\u00a0e",
]


@cardbox_test.once
def program():
    """The helper program, built as the library was."""
    with open(os.path.join(cardbox_test.BUILD, "flags"), encoding="utf-8") as file:
        flags = file.read().split()
    path = os.path.join(cardbox_test.temp_dir(), "search_split")
    subprocess.run([*flags, "-o", path, os.path.join("tests", "lib", "search_split.c"), LIB, "-lpq", "-luuid", "-lutf8proc"],
                   cwd=cardbox_test.ROOT, check=True)
    # pylint: disable-next=consider-using-with
    return subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(command, first, second=""):
    """The words of the answer's line. Its first word is the length of the text that follows."""
    texts = [text.encode("utf-8", "surrogatepass") for text in (first, second)]
    process = program()
    process.stdin.write(f"{command} {len(texts[0])} {len(texts[1])}\n".encode() + texts[0] + texts[1])
    process.stdin.flush()
    return process.stdout.readline().decode().split()


def text_of(text):
    length = int(ask("text", text)[0])
    return program().stdout.read(length).decode()


def match(query, text):
    answer = ask("match", query, text)
    if answer == ["-"]:
        return None
    numbers = [int(word) for word in answer]
    return program().stdout.read(numbers[0]).decode(), list(zip(numbers[1::2], numbers[2::2]))


def same_terms(text):
    words = search_words.terms(text)
    answer = ask("terms", text, "".join(word + "\n" for word in words))
    assert answer == ["same"], f"{text!r}: {' '.join(answer)}: {sorted(words)[:50]}"


def collapsed(text):
    """The text as a snippet shows it, and for each of its characters where it came from."""
    shown, origin = [], []
    for at, char in enumerate(text):
        blank = search_words.kind(char) == " "
        if not blank or (shown and shown[-1] != " "):
            shown.append(" " if blank else char)
            origin.append(at)
    return "".join(shown), origin


def same_match(query, text):
    expected, got = search_words.spans(query, text), match(query, text)
    assert bool(expected) == (got is not None), f"{query!r} in {text!r}: {expected}, {got}"
    if got is None:
        return
    snippet, offsets = got
    shown, origin = collapsed(text)
    assert 0 < len(snippet) <= 240 and snippet in shown
    assert all(start < end for start, end in offsets)
    assert all(first[1] <= second[0] for first, second in zip(offsets, offsets[1:]))
    starts = [at for at in range(len(shown)) if shown.startswith(snippet, at)]
    assert offsets in [visible(expected, origin[at:at + len(snippet)]) for at in starts], f"{query!r} in {text!r}: {offsets}"


def visible(found, origin):
    """The spans of a text as offsets of a snippet with these characters of it."""
    offsets = []
    for start, end in found:
        inside = [at for at, source in enumerate(origin) if start <= source < end]
        if inside:
            offsets.append((inside[0], inside[-1] + 1))
    return offsets


def random_text(chance, length):
    """Characters of Unicode 3.2, which all libraries know, mostly of a few kinds, so that runs get long."""
    kinds = ["aBcDe", "XYZabc", "019", "_-.:'", " \n", "中文字", "ひカー々", "한국", "\u0301\u3099", "éßİſΣ", "𠮷", "\u0645\u0627"]
    return "".join(chance.choice(chance.choice(kinds)) if chance.random() < 0.9 else any_char(chance) for _ in range(length))


def any_char(chance):
    while True:
        char = chr(chance.randrange(0x30000))
        if unicodedata.ucd_3_2_0.category(char) not in ("Cn", "Cs") and char != "\n":
            return char


def test_known_texts():
    for text in TEXTS:
        same_terms(text)


def test_every_character():
    """Alone and between letters, all that Unicode 3.2 has."""
    chars = [chr(code) for code in range(0x30000) if unicodedata.ucd_3_2_0.category(chr(code)) not in ("Cn", "Cs", "Co")]
    for start in range(0, len(chars), 1000):
        some = chars[start:start + 1000]
        same_terms("".join(f" {char} a{char}b" for char in some))


def test_random_texts():
    chance = random.Random(20)
    for _ in range(ROUNDS):
        same_terms(random_text(chance, chance.randrange(60)))


def test_random_queries():
    """Parts of a text as queries for it and for its neighbour, in other case too."""
    chance = random.Random(21)
    for _ in range(ROUNDS):
        text = random_text(chance, 1 + chance.randrange(300))
        start = chance.randrange(len(text))
        query = text[start:start + chance.choice((1, 2, 3, 5, 8, 12))]
        same_match(chance.choice((query, query.upper(), query.lower(), query + " " + text[:3])), text)
        same_match(query, random_text(chance, 100))


def test_a_match_has_the_terms_that_are_looked_up():
    """The index drops no text that matches."""
    chance = random.Random(22)
    for _ in range(ROUNDS):
        text = random_text(chance, 80)
        start = chance.randrange(len(text))
        query = text[start:start + chance.randrange(1, 12)]
        if search_words.matches(query, text):
            assert search_words.lookups(query) <= search_words.terms(text), f"{query!r} in {text!r}"


def test_adjacent_cjk_characters_are_a_substring_scan():
    chance = random.Random(23)
    chars = "中文字ひらカナー々・한국어ｶﾞ𠮷〇㍿"
    for _ in range(ROUNDS):
        text = "".join(chance.choice(chars + "a1 _。\u0301") for _ in range(40))
        pair = chance.choice(chars) + chance.choice(chars)
        assert (match(pair, text) is not None) == (pair in text), f"{pair!r} in {text!r}"


def random_json(chance, depth=0):
    choice = chance.randrange(8 if depth < 3 else 5)
    if choice < 3:
        return random_text(chance, chance.randrange(20))
    if choice == 3:
        return chance.choice((True, None, 12, -1.5e-7, 10**25))
    if choice == 4:
        return "A1+/" * chance.choice((3, 64, 65))
    names = ["id", "type", "role", "content", "text", "__type__", "timestamp", "x", "中文", "message", 'a"\\b', "tool_calls", "arguments"]
    if choice == 5:
        return {"arguments": json.dumps(random_json(chance, depth + 1))}
    if choice < 7:
        return {chance.choice(names): random_json(chance, depth + 1) for _ in range(chance.randrange(5))}
    return [random_json(chance, depth + 1) for _ in range(chance.randrange(4))]


def test_random_json():
    """Whole, and cut anywhere, with and without escapes of characters that are not ASCII."""
    chance = random.Random(24)
    for _ in range(ROUNDS):
        text = json.dumps(random_json(chance), ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, 1)))
        assert text_of(text) == search_words.text_of(text), text
        cut = text[:chance.randrange(len(text) + 1)]
        assert text_of(cut) == search_words.text_of(cut), cut


def test_no_text_is_longer_than_its_json():
    for text in ('"\\ud800\\udc0', '"\\ud800x"', '[1,"",-]', "7", '{"a":', "\\", '"\\'):
        got = text_of(text)
        assert got == search_words.text_of(text) and len(got.encode()) <= len(text) + 1, text


def test_the_real_session():
    if not os.path.exists(SESSION):
        raise cardbox_test.Skip("no ../shared/data")
    chance = random.Random(25)
    with open(SESSION, encoding="utf-8") as file:
        lines = file.readlines()
    for line in chance.sample(lines, min(len(lines), 300)):
        line = line.rstrip("\n")[:search_words.TEXT_CHARS]
        text = text_of(line)
        assert text == search_words.text_of(line)
        same_terms(text[:4000])
        words = text.split() or ["x"]
        same_match(chance.choice(words)[:60], text[:4000])


def test_the_helper_ends_well():
    program().stdin.close()
    assert program().wait() == 0


if __name__ == "__main__":
    cardbox_test.main()
