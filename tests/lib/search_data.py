"""Cards for the tests and benchmarks of the search: English, German, code, Chinese, Japanese and
Korean in turn, the same at every run. Words have frequencies as in real texts: the n-th word of a
language occurs about 1/n times as often as the first."""

import itertools
import json
import random

LANGUAGES = ("english", "german", "code", "chinese", "japanese", "korean")
VOCABULARY = 20_000  # words of a language; Chinese and Japanese have as many characters as they have


def _syllables(dice, parts, least, most):
    return "".join(dice.choice(parts) for _ in range(dice.randint(least, most)))


def _latin(seed, parts, first):
    dice = random.Random(seed)
    words = dict.fromkeys(first.split())
    while len(words) < VOCABULARY:
        words[_syllables(dice, parts, 2, 4)] = None
    return list(words)


def _korean():
    dice = random.Random(13)
    words = dict.fromkeys("오류 파일 요청 응답 검색 결과 사용자 에이전트 서버 시간".split())
    while len(words) < VOCABULARY:
        words["".join(chr(0xac00 + dice.randrange(11172)) for _ in range(dice.randint(1, 4)))] = None
    return list(words)


ENGLISH = _latin(11, "ba con de er fi ing lo mar ne or pre qui ra ster ti un ver wo xi yel".split(),
                 "the error file request answer search result agent server timeout retry café naïve")
GERMAN = _latin(12, "ä ber ch ge heit ich kei lich müh nach ö pf rung sch ß tät ü ver wei zu".split(),
                "der Fehler Datei Anfrage Antwort Suche Größe Straße Müller für über geprüft")
HAN = [chr(code) for code in range(0x4e00, 0x4e00 + 3000)]
KANA = [chr(code) for code in itertools.chain(range(0x3041, 0x3094), range(0x30a1, 0x30f5))]
KOREAN = _korean()


def _weights(count):
    return list(itertools.accumulate(1 / rank for rank in range(1, count + 1)))


WEIGHTS = _weights(VOCABULARY)
HAN_WEIGHTS = _weights(len(HAN))


def _words(dice, vocabulary, least, most):
    return dice.choices(vocabulary, cum_weights=WEIGHTS, k=dice.randint(least, most))


def _han(dice, least, most):
    return "".join(dice.choices(HAN, cum_weights=HAN_WEIGHTS, k=dice.randint(least, most)))


def _identifier(dice):
    words = [word for word in _words(dice, ENGLISH, 2, 3) if word.isascii()] or ["x"]
    return dice.choice(("_".join(words), words[0] + "".join(word.capitalize() for word in words[1:]),
                        "/".join(words) + ".c", f"{words[0].upper()}{dice.randint(1, 99)}"))


def text(number):
    """The text of card `number`."""
    dice = random.Random(number)
    language = LANGUAGES[number % len(LANGUAGES)]
    if language == "english":
        return " ".join(_words(dice, ENGLISH, 30, 90)) + "."
    if language == "german":
        return ", ".join(_words(dice, GERMAN, 30, 90)) + "!"
    if language == "code":
        return "\n".join(f"{_identifier(dice)}({_identifier(dice)}, {dice.randint(0, 999)});" for _ in range(dice.randint(8, 20)))
    if language == "chinese":
        return "，".join(_han(dice, 4, 12) for _ in range(dice.randint(4, 10))) + "。"
    if language == "japanese":
        return "".join(_han(dice, 1, 3) + "".join(dice.choices(KANA, k=dice.randint(1, 4)))
                       for _ in range(dice.randint(10, 25)))
    return " ".join(_words(dice, KOREAN, 20, 50))


def content(number):
    """The JSON of card `number`: a plain text, a content class, or the result of a tool."""
    value = text(number)
    if number % 5 == 0:
        return json.dumps({"__type__": "TextContent", "text": value}, ensure_ascii=number % 2 == 0)
    if number % 5 == 1:
        return json.dumps({"status": "success", "result": {"output": value, "line": number}}, ensure_ascii=False)
    return json.dumps({"text": value}, ensure_ascii=number % 3 == 0)


def card_id(number):
    return f"card-{number:08d}"


def copy_line(tenant, number):
    """A row for COPY cardbox.cards (tenant_id, card_id, content, metadata, created_at). Cards are a second apart."""
    escaped = content(number).replace("\\", "\\\\")
    minutes, second = divmod(number, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return (f'{tenant}\t{card_id(number)}\t{escaped}\t{{"type": "agent.thought", "role": "assistant"}}\t'
            f"2026-01-{days % 28 + 1:02d} {hour:02d}:{minute:02d}:{second:02d}+00\n")
