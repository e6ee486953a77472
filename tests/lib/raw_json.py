"""raw_json: the bytes of the values in a JSON text, as they stand there: what json.loads forgets."""

import json
import re

STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)
TOKEN = re.compile(STRING.pattern + rb"|[\[\]{}]", re.S)
SPACE = re.compile(rb"[ \t\r\n]*")
WORD = re.compile(rb"[^ \t\r\n,\]}]+")


def _end(data, at):
    """Where the value that begins at `at` ends."""
    if data[at:at + 1] == b'"':
        return STRING.match(data, at).end()
    if data[at:at + 1] not in (b"[", b"{"):
        return WORD.match(data, at).end()
    depth = 0
    for token in TOKEN.finditer(data, at):
        if token[0] in b"[{":
            depth += 1
        elif token[0] in b"]}":
            depth -= 1
            if depth == 0:
                return token.end()
    raise ValueError(f"no end: {data[at:at + 100]!r}")


def _skip(data, at):
    return SPACE.match(data, at).end()


def _walk(data, keyed):
    at = _skip(data, _skip(data, 0) + 1)
    while data[at:at + 1] not in (b"]", b"}"):
        key = None
        if keyed:
            end = _end(data, at)
            key, at = data[at:end], _skip(data, end)
            assert data[at:at + 1] == b":", data[at:at + 100]
            at = _skip(data, at + 1)
        end = _end(data, at)
        yield key, data[at:end]
        at = _skip(data, end)
        if data[at:at + 1] == b",":
            at = _skip(data, at + 1)


def members(data):
    """(key with its quotes, value) of an object."""
    return list(_walk(data, True))


def elements(data):
    return [value for _, value in _walk(data, False)]


def member(data, name):
    """The value of a member; the last, if there are several."""
    return dict(members(data))[json.dumps(name).encode()]
