"""The tokeniser of the search, written from the section "How search splits text" of openapi/README.md
with regular expressions and Python's Unicode data. src/model/search does the same in C.

    text = text_of(json)        the searchable text of a JSON text, which may be cut
    terms(text)                 the set of its terms, as strings
    matches(query, text)        whether a query finds the text
    spans(query, text)          where: (from, to) in characters, ascending, those that overlap are one
"""

import functools
import json
import re
import unicodedata

TEXT_CHARS = 65536  # characters of a JSON text that are searchable
DATA_CHARS = 256
WORD_BYTES = 64
RUN_BYTES = 128

# --- the text of a JSON text ---

TOKEN = re.compile(r'"((?:[^"\\]|\\.)*\\?)("?)[ \t\r\n]*(:?)|([-0-9][-+.0-9eE]*)|([{\[])|([}\]])|(,)', re.S)
ESCAPE = re.compile(r'(?:\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]|[^\\])*', re.S)
HALF = re.compile("[\ud800-\udfff]")
NO_NAME = set("arguments content data function input message name output params text thinking toolCallId toolCalls tool_call_id "
              "tool_calls tool_use_id".split())
TEXTS = {"content", "text", "thinking"}
TEXT_END = "\x1e"
NEITHER = {"__type__", "parentId", "role", "timestamp", "type"}
BASE64 = re.compile(r"[A-Za-z0-9+/=_-]*")
DATA_URL = re.compile(r"data:[^,]{0,250},", re.S)


def decoded(inside):
    """The text of the inside of a JSON string, up to the first malformed escape."""
    good = ESCAPE.match(inside).group()
    return HALF.sub("\ufffd", json.loads(f'"{good}"', strict=False))


def is_data(text):
    prefix = DATA_URL.match(text)
    rest = text[prefix.end():] if prefix else text
    return len(rest) > DATA_CHARS and BASE64.fullmatch(rest) is not None


def text_of(text):
    return "".join(lines_of(text, 0))


def is_json(text):
    """Whether a text is an object or an array, in strict JSON."""
    try:
        return isinstance(json.loads(text, parse_int=str, parse_float=str, parse_constant=int), (dict, list))
    except ValueError:
        return False


def lines_of(text, depth):
    """The lines of the text with their ends. `depth` is 1 for JSON that was in a string."""
    lines, hidden, may_be_json, end, inner = [], False, False, "\n", depth > 0
    for token in TOKEN.finditer(text):
        inside, ends, colon, number, opens, closes, _ = token.groups()
        if colon:
            name = decoded(inside)
            hidden = name in NEITHER or (name == "id" and depth <= 1)
            may_be_json = name == "arguments" and not inner
            end = TEXT_END if name in TEXTS else "\n"
            lines += [] if hidden or name in NO_NAME else [name + "\n"]
            continue
        if number is not None:
            lines += [] if hidden else [number + "\n"]
        elif inside is not None:
            value = decoded(inside)
            if may_be_json and ends and is_json(value):
                lines += lines_of(value, 1)
            elif not is_data(value) and not (hidden and value.isascii()):
                lines.append(value + end)
        elif opens or closes:
            depth = depth + 1 if opens else max(depth - 1, 0)
        if not closes:
            hidden = may_be_json = False
            end = "\n"
    return lines


# --- characters ---

CONNECTORS = set("_-.:/\\@'\u00ad\u200c\u200d\u2010\u2011\u2019")
CJK = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c"
    "\u3040-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff\uff65-\uffdc"
    "\U00016fe0-\U00018dff\U0001aff0-\U0001b2ff\U0001f200-\U0001f2ff\U00020000-\U0003fffd]")


@functools.cache
def kind(char):
    """C: CJK, A: capital, a: small letter, l: other letter, 0: digit, m: mark, j: connector, space: white space or control."""
    if CJK.match(char):
        return "C"
    if char in CONNECTORS:
        return "j"
    category = unicodedata.category(char)
    if category in ("Lu", "Lt"):
        return "A"
    if category == "Ll":
        return "a"
    return {"L": "l", "N": "0", "M": "m", "Z": " "}.get(category[0], " " if category == "Cc" else ".")


@functools.cache
def folded(char):
    """The folded form of a character of a word."""
    if CJK.match(char):
        return char
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char.casefold()).casefold())
    return "".join(c for c in text if kind(c) in "CAal0m" and not "\u0300" <= c <= "\u036f")


# --- runs ---

RUN = re.compile("(?:C|[Aal0]m*(?:j{1,2}(?=[Aal0]))?)+")
WORD = re.compile("C|(?:[Aal]m*)+|(?:0m*)+")
SUBWORD_ENDS = re.compile("(?<=[al])(?=A)|(?<=A)(?=Aa)")


def size(text):
    return len(text.encode("utf-8", "surrogatepass"))


class Subword:
    def __init__(self, begins_word, is_cjk, start):
        self.begins_word, self.is_cjk, self.start, self.end, self.text = begins_word, is_cjk, start, start, ""


def subwords_of(text, kinds, start, end):
    """The subwords of a word of the text. A word that is too long is several."""
    bases = [at for at in range(start, end) if kinds[at] != "m"]
    cuts = {bases[match.start()] for match in SUBWORD_ENDS.finditer("".join(kinds[at] for at in bases))}
    subwords, length = [], 0
    for at in range(start, end):
        more = folded(text[at])
        too_long = length + size(more) > WORD_BYTES
        if too_long:
            length = 0
        length += size(more)
        if at == start or too_long or at in cuts:
            subwords.append(Subword(at == start or too_long, kinds[at] == "C", at))
        subwords[-1].text += more
        subwords[-1].end = at + 1
    return subwords


def runs(text):
    """The runs of a text: lists of subwords."""
    kinds = "".join(map(kind, text))
    for run in RUN.finditer(kinds):
        subwords = []
        for word in WORD.finditer(kinds, run.start(), run.end()):
            subwords += subwords_of(text, kinds, word.start(), word.end())
        yield subwords


def joined(subwords):
    return "".join(subword.text for subword in subwords)


def words(run):
    """The words of a run: (index of the first subword, index after the last)."""
    starts = [at for at, subword in enumerate(run) if subword.begins_word] + [len(run)]
    return list(zip(starts, starts[1:]))


def run_terms(run):
    """The terms of a run: (index of the first subword, index after the last)."""
    found = {(at, at + count) for count in (1, 2) for at in range(len(run) - count + 1)}
    found |= {(at, at + 3) for at in range(len(run) - 2) if not any(subword.is_cjk for subword in run[at:at + 3])}
    each = words(run)
    found |= set(each) | {(first[0], second[1]) for first, second in zip(each, each[1:])}
    if not any(subword.is_cjk for subword in run) and size(joined(run)) <= RUN_BYTES:
        found.add((0, len(run)))
    return found


def terms(text):
    return {joined(run[start:end]) for run in runs(text) for start, end in run_terms(run)}


# --- queries ---


def query_runs(query):
    """The runs of a query: lists of words."""
    return [[joined(run[start:end]) for start, end in words(run)] for run in runs(query)]


def lookups(query):
    """The terms that each text has that the query finds."""
    found = set()
    for run in query_runs(query):
        found |= {"".join(pair) for pair in zip(run, run[1:])} if len(run) > 1 else set(run)
    return found


def places(wanted, run, found):
    """Where a run of a query matches in a run of a text whose terms are `found`."""
    if len(wanted) <= 2:
        return [(start, end) for start, end in found if joined(run[start:end]) == "".join(wanted)]
    good = []
    for start in range(len(run)):
        borders = [start]
        for word in wanted:
            ends = [end for end in range(borders[-1] + 1, len(run) + 1) if joined(run[borders[-1]:end]) == word]
            if not ends:
                break
            borders.append(ends[0])
        if len(borders) > len(wanted) and all(pair in found for pair in zip(borders, borders[2:])):
            good.append((start, borders[-1]))
    return good


def spans(query, text):
    """The matches of all runs of a query, or [] if one has none."""
    parsed, found, seen = query_runs(query), [], set()
    for run in runs(text):
        known = run_terms(run)
        for number, wanted in enumerate(parsed):
            for start, end in places(wanted, run, known):
                found.append((run[start].start, run[end - 1].end))
                seen.add(number)
    if not parsed or len(seen) < len(parsed):
        return []
    merged = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def matches(query, text):
    return bool(spans(query, text))
