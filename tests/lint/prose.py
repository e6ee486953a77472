#!/usr/bin/env python3
"""Checks the prose of guides, manuals, headers, comments, descriptions and messages.

  prose.py             lists every finding
  prose.py FILE...     lists the findings in these files
  prose.py --record    lowers the recorded numbers to those found, or writes the record if there is none

prose_exceptions.txt records how many findings each file may have, by rule. `make lint` fails if a file has more
findings than recorded, or fewer: then run `prose.py --record`.
"""

import collections
import itertools
import json
import os
import re
import sys

from rules import files, read

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prose_exceptions.txt")
SENTENCE_WORDS_MAX = 30
COMMENT_LINES_MAX = 5

# kind: comment, guide, manual, description, message. lines: of a comment that the limit holds for, else 0.
Text = collections.namedtuple("Text", "path line kind text lines", defaults=(0,))
Finding = collections.namedtuple("Finding", "path line rule text")

# A technical "turn" is one of these; the turn of an agent is not.
WORDS = re.compile(r"\b(of which|who (?:has|asks|reads)|whoever|what is there|so many|as far as|anew|nor|is said|says|"
                   r"tells|gives|takes|wants|ways?|places?|rooms?|pieces?|(?:in|takes?|its|their|own) turns?)\b", re.I)
STARTS = re.compile(r"(what|who|whose|of|whether)\b", re.I)
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]?[A-Z`])|\n\s*\n")


def sentences(text):
    """The sentences of a text; a blank line ends one too."""
    return [" ".join(part.split()) for part in SENTENCE_END.split(text) if re.search(r"\w", part)]


def words(sentence):
    """Code in backquotes counts as one word."""
    return [word for word in re.sub(r"`[^`]*`", "x", sentence).split() if re.search(r"\w", word)]


def line_at(text, offset):
    return text.count("\n", 0, offset) + 1


# --- texts of each kind of file ---

def comment_text(comment):
    """A comment without its marks, and the number of its lines that have words."""
    body = re.sub(r"(?m)^\s*(?:/\*+|\*/|\*|--)?[ \t]*|[ \t]*\*/[ \t]*$", "", comment)
    lines = sum(1 for line in body.split("\n") if re.search(r"\w", line))
    return re.sub(r"(?m)^(?=- )|(?=@(?:param|return)\b)", "\n\n", body), lines  # so do tags and items of lists


C_TOKEN = re.compile(r'/\*.*?\*/|(?:"(?:\\.|[^"\\\n])*"(?:\s|PRI[a-zA-Z]\d+)*)+|\'(?:\\.|[^\'\\\n])*\'', re.S)


def message(path, line, text):
    """A literal of at least four words that is neither code nor JSON."""
    plain = len(re.findall(r"(?<![\w-])[a-z]{2,}(?![\w(])", text)) >= 4 and not re.search(r'[{}<>]|\\"', text)
    return [Text(path, line, "message", text)] if plain else []


def c_texts(path, text):
    for match in C_TOKEN.finditer(text):
        token, line = match.group(), line_at(text, match.start())
        if token.startswith("/*"):
            body, lines = comment_text(token)
            limited = match.start() > 0 and not path.startswith("include/")
            yield Text(path, line, "comment", body, lines if limited else 0)
        elif token.startswith('"') and not re.search(r"#\s*include\s*$", text[:match.start()][-40:]):
            joined = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', token))
            yield from message(path, line, joined.replace("\\n", "\n"))


JS_COMMENT = re.compile(r"(?m)/\*\*[\s\S]*?\*/|(?:^[ \t]*//.*\n)+|(?<=[;{}(),\]=]) // .*$")


def js_texts(path, text):
    """Comments that have lines of their own or stand at the end of a line. The name of a file is code."""
    for match in JS_COMMENT.finditer(text):
        body, lines = comment_text(re.sub(r"(?m)^[ \t]*//", "", match.group()))
        body = re.sub(r"^\s*(\w+\.js)(?=:)", r"`\1`", body)
        yield Text(path, line_at(text, match.start()), "comment", body, lines if match.start() > 0 else 0)


def sql_texts(path, text):
    for match in re.finditer(r"(?m)(?:^[ \t]*--.*\n)+|--.*$|^[ \t]*(?:RAISE|USING|MESSAGE|HINT).*$", text):
        token, line = match.group(), line_at(text, match.start())
        if "--" in token[:len(token) - len(token.lstrip()) + 2]:
            items = re.sub(r"(?m)^(?=-- (?:\$\d|  \S))", "--\n", token)  # each parameter begins a text of its own
            body, lines = comment_text(items)
            yield Text(path, line, "comment", body, lines if match.start() > 0 else 0)
        else:
            for literal in re.findall(r"'((?:[^']|'')*)'", token):
                yield from message(path, line, literal)


def guide_texts(path, text):
    """Paragraphs, list items and cells of tables. Code, links and HTML are not prose."""
    def blank(match):
        return "\n" * match.group().count("\n")
    text = re.sub(r"(?ms)^ *```.*?^ *```$|<!--.*?-->", blank, text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "")
    text = re.sub(r"(?m)^(?=\s*(?:[-*]|\d+\.) |\||#)|(?<=\|)$|(?<=^#).*$", lambda match: match.group() + "\n", text)
    for match in re.finditer(r"(?:.+\n?)+", text):
        block = match.group()
        line = text.count("\n", 0, match.start()) + 1
        cells = re.split(r"(?<!\\)\|", block) if block.startswith("|") else [re.sub(r"^\s*(?:[-*]|\d+\.|#+) ", "", block)]
        for cell in cells:
            if len(re.findall(r"[a-z]{2,}", cell)) > 1:
                yield Text(path, line, "guide", cell)


INLINE_MACROS = set("Fl Ar Pa Ql Li Xr Cm Ev Sx Ic Em Nm B I BR IR RB BI SM".split())
CODE_MACROS = {"nf": "fi", "Bd": "Ed", "EX": "EE"}


def manual_texts(path, text):
    """Paragraphs of a page in mdoc or man macros, without headings, tags and displays."""
    paragraph, start, until, is_tag = [], 1, None, False
    program = os.path.basename(path).partition(".")[0]
    for number, line in enumerate((text + "\n.Pp").split("\n"), 1):
        macro, _, rest = line[1:].partition(" ") if line.startswith(".") else (None, "", line)
        if until:
            until = None if macro == until else until
        elif is_tag:
            is_tag = False
        elif macro is None or macro in INLINE_MACROS:
            paragraph.append(rest or (program if macro == "Nm" else ""))
        elif macro != '\\"':
            if paragraph:
                paragraph = [re.sub(r"\.$", ".\n", line) for line in paragraph]  # the end of a line ends a sentence
                plain = re.sub(r"\\f[BIRP]|\\&|\\s[+-]?\d", "", "\n".join(paragraph))
                yield Text(path, start, "manual", re.sub(r" (?=[.,;:)](?:\s|$))", "", plain.replace("\\-", "-")))
            paragraph, start, until, is_tag = [], number + 1, CODE_MACROS.get(macro), macro == "TP"


def description_texts(path, text):
    """Values of "description" and "summary" in JSON or YAML; in YAML, of keys at the start of a line."""
    if path.endswith(".json"):
        for match in re.finditer(r'"(?:description|summary)"\s*:\s*("(?:\\.|[^"\\])*")', text):
            yield Text(path, line_at(text, match.start()), "description", json.loads(match.group(1)))
        return
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = re.match(r"( *(?:- )?)(?:description|summary): *(.*)", line)
        if match:
            deeper = " " * (len(match.group(1)) + 1)
            more = itertools.takewhile(lambda line: not line.strip() or line.startswith(deeper), lines[number + 1:])
            yield Text(path, number + 1, "description", "\n".join([re.sub("^[|>]-?$", "", match.group(2)), *more]))


READERS = [  # the folders and the end of the names, and what reads them
    (("README.md", "src", "sql", "openapi", "include", "docker", "tests"), "README.md", guide_texts),
    (("src",), ".1", manual_texts), (("src",), ".3", manual_texts), (("src",), ".8", manual_texts),
    (("src", "include"), ".c", c_texts), (("src", "include"), ".h", c_texts), (("sql",), ".sql", sql_texts),
    (("src/web",), ".js", js_texts),
    (("openapi",), ".yaml", description_texts), (("src/bus",), ".json", description_texts),
]


def all_texts():
    for roots, suffix, reader in READERS:
        for path in files(suffix, *roots):
            yield from reader(path, read(path))


# --- findings ---

def findings_in(text):
    if text.lines > COMMENT_LINES_MAX:
        yield Finding(text.path, text.line, "comment", f"{text.lines} lines: {sentences(text.text)[0]}")
    for sentence in sentences(text.text):
        for word in WORDS.findall(re.sub(r"`[^`]*`", "", sentence)):
            yield Finding(text.path, text.line, "word", f"{word}: {sentence}")
        if len(words(sentence)) > SENTENCE_WORDS_MAX:
            yield Finding(text.path, text.line, "long", f"{len(words(sentence))} words: {sentence}")
        if STARTS.match(sentence) and not sentence.endswith("?"):
            yield Finding(text.path, text.line, "start", sentence)


def all_findings():
    return [finding for text in all_texts() for finding in findings_in(text)]


def read_record():
    """(path, rule) -> the number recorded; None without a record."""
    if not os.path.exists(RECORD):
        return None
    rows = (line.split() for line in read(RECORD).splitlines() if not line.startswith("#"))
    return {(path, rule): int(number) for number, rule, path in rows}


def differences(findings, record):
    """What makes lint fail, a line each."""
    found = collections.defaultdict(list)
    for finding in findings:
        found[finding.path, finding.rule].append(finding)
    for key in sorted(found.keys() | record.keys()):
        have, allowed = len(found[key]), record.get(key, 0)
        if have > allowed:
            yield f"{key[0]}: {have} findings of rule \"{key[1]}\", {allowed} are recorded:"
            yield from (f"  {one.path}:{one.line}: {one.text}" for one in found[key])
        elif have < allowed:
            yield f"{key[0]}: {have} findings of rule \"{key[1]}\", {allowed} are recorded: run tests/lint/prose.py --record"


def lowered(findings, record):
    """The new record: what is found, but never more than was recorded."""
    found = collections.Counter((finding.path, finding.rule) for finding in findings)
    return {key: number if record is None else min(number, record.get(key, 0)) for key, number in found.items()}


def write_record(record):
    with open(RECORD, "w", encoding="utf-8") as out:
        out.write("# Findings that are left: number, rule, file. Numbers may only get lower. See prose.py.\n")
        for (path, rule), number in sorted(record.items()):
            if number:
                out.write(f"{number} {rule} {path}\n")


def main(arguments):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    findings = all_findings()
    if arguments == ["--record"]:
        write_record(lowered(findings, read_record()))
        return
    for one in findings:
        if not arguments or one.path in arguments:
            print(f"{one.path}:{one.line}: {one.rule}: {one.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
