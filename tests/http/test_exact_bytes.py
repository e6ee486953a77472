#!/usr/bin/env python3
"""Every odd JSON text goes in by every door and comes out of every door as it was, to the byte; what
is no JSON is refused by every door. (tests/store/test_exact.c is the same for the SDK.)"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, cardbox, once
from raw_json import elements, member, members

BOX = "01970000-0000-7000-8000-0000000000b1"
DEPTH = 128
JSON = {"Content-Type": "application/json"}
ESCAPES = {"n": 10, "r": 13, "t": 9, "f": 12, "b": 8, "a": 7, "v": 11, "0": 0}


def c_string(source):
    """The bytes of adjacent C string literals."""
    out = bytearray()
    for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', source):
        for escape, plain in re.findall(r"\\(x[0-9a-fA-F]+|.)|([^\\]+)", literal):
            if plain:
                out += plain.encode()
            elif escape[0] == "x":
                out.append(int(escape[1:], 16))
            else:
                out += bytes([ESCAPES[escape]]) if escape in ESCAPES else escape.encode()
    return bytes(out)


@once
def cases():
    """(valid, name, text) of the tables that the C tests read too, and some that are long."""
    found = []
    for path in ("unit/json_cases.h", "lib/json_odd.h"):
        with open(os.path.join(cardbox_test.ROOT, "tests", path)) as file:
            table = re.findall(r'^\s*CASE\((true|false),\s*"([^"]+)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)',
                               file.read(), re.M)
        assert len(table) > 50, path
        found += [(valid == "true", name, c_string(text)) for valid, name, text in table]
    found.append((True, "10,000 digits", b"[-" + b"7" * 10000 + b"]"))
    found.append((True, "the deepest", b"[" * DEPTH + b"]" * DEPTH))
    found.append((True, "a long text", b'"\\u0000' + b"x" * 1000000 + b'"'))
    found.append((False, "deeper than that", b"[" * (DEPTH + 1) + b"]" * (DEPTH + 1)))
    return found


def good():
    """(card id, text) of what is taken, without white space around it, which no door but the SDK's
    can tell from its own."""
    return [(f"odd-{n}", text.strip(b" \t\r\n")) for n, (valid, _, text) in enumerate(cases()) if valid]


def bad():
    return [(name, text) for valid, name, text in cases() if not valid]


def one_line(text):
    """As a door that gives lines shows it: line ends stand between tokens only."""
    return text.replace(b"\n", b" ").replace(b"\r", b" ")


def run(dsn, *arguments, stdin=None, project="p"):
    """The CLI with bytes in and out."""
    return cardbox(*arguments, "--dsn", dsn, "--project", project, stdin=stdin, check=False,
                   binary=True)


# --- the doors in: each fills the project `p` of a database of its own ---


def file_of_all():
    lines = []
    for card_id, text in good():
        if one_line(text) == text:
            content = b'"content":' + text
        else:
            content = b'"content_text":' + json.dumps(text.decode()).encode()
        lines.append(b'{"kind":"card","card_id":"%s",%s,"metadata":{"type":"odd"},"exact":true}' %
                     (card_id.encode(), content))
    return b"\n".join(lines)


def by_import(dsn):
    done = run(dsn, "import", stdin=file_of_all())
    assert done.returncode == 0, done.stderr


def by_import_over_http(dsn):
    server = Server(dsn)
    response = server.request("POST", "/projects/p/import", file_of_all(), {"Content-Type": "application/x-ndjson"})
    assert response.status == 200 and response.json()["errors"] == [], response
    server.stop()


def by_card_add(dsn):
    for card_id, text in good():
        done = run(dsn, "card", "add", "--id", card_id, "--type", "odd", "-", stdin=text)
        assert done.returncode == 0, (text, done.stderr)


def one_by_one(path):
    def fill(dsn):
        server = Server(dsn)
        for card_id, text in good():
            body = b'{"card_id":"%s","type":"odd","content":\n%s }' % (card_id.encode(), text)
            response = server.request("POST", f"/projects/p/{path}", body, JSON)
            assert response.status == 200, (text[:300], response)
        server.stop()
    return fill


def at_once(path):
    def fill(dsn):
        server = Server(dsn)
        cards = [b'{"card_id":"%s","type":"odd","content": %s}' % (card_id.encode(), text)
                 for card_id, text in good()]
        response = server.request("POST", f"/projects/p/{path}", b'{"cards":[' + b",".join(cards) + b"]}", JSON)
        assert response.status == 200, response
        server.stop()
    return fill


DOORS_IN = {"import": by_import, "import over HTTP": by_import_over_http, "card add": by_card_add,
            "POST": one_by_one("cards"), "POST of many": at_once("cards"),
            "card:add": one_by_one("abilities/card:add"), "card:add_many": at_once("abilities/card:add_many")}


@once
def stored():
    """door -> the DSN of a database that was filled through it; a box holds all the cards."""
    databases = {}
    for door, fill in DOORS_IN.items():
        dsn = databases[door] = Postgres.shared().database()
        fill(dsn)
        ids = [card_id for card_id, _ in good()]
        done = run(dsn, "box", "create", "--id", BOX, *ids)
        assert done.returncode == 0, done.stderr
    return databases


# --- the doors out ---


def compare(found, lines=False):
    """`found`: card id -> content, as bytes."""
    expected = dict(good())
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    for card_id, text in expected.items():
        text = one_line(text) if lines else text
        assert found[card_id] == text, (card_id, found[card_id][:300], text[:300])


def contents(cards):
    return {json.loads(member(card, "card_id")): member(card, "content") for card in cards}


def out_of_the_cli(dsn):
    for command in (["card", "get", *dict(good())], ["card", "list", "--limit", "1000"],
                    ["box", "cards", "--tail", "1000", BOX]):
        done = run(dsn, *command, "--json")
        assert done.returncode == 0, done.stderr
        compare(contents(done.stdout.splitlines()), lines=True)


def export(dsn):
    done = run(dsn, "export")
    assert done.returncode == 0, done.stderr
    return done.stdout


def out_of_an_export(dsn):
    compare(contents_of_file(export(dsn)))


def contents_of_file(file):
    found = {}
    for line in file.split(b"\n")[:-1]:
        row = dict(members(line))
        if row[b'"kind"'] == b'"card"':
            text = row.get(b'"content"') or json.loads(row[b'"content_text"']).encode()
            found[json.loads(row[b'"card_id"'])] = text
    return found


def out_of_export_and_import(dsn):
    other = Postgres.shared().database()
    first = export(dsn)
    done = run(other, "import", stdin=first)
    assert done.returncode == 0, done.stderr
    assert export(other) == first
    out_of_an_export(other)


def out_of_http(dsn):
    ids = list(dict(good()))
    server = Server(dsn)
    compare(contents(server.get(f"/projects/p/cards/{card_id}").body for card_id in ids))
    found = {}
    for start in range(0, len(ids), 100):
        response = server.post("/projects/p/cards/batch", {"card_ids": ids[start:start + 100]})
        found.update(contents(elements(member(response.body, "cards"))))
    compare(found)
    response = server.get(f"/projects/p/boxes/{BOX}/cards?limit=500")
    compare(contents(elements(response.body)))
    response = server.post("/projects/p/boxes/batch",
                           {"box_ids": [BOX], "hydrate": True, "limit": 500})
    compare(contents(elements(member(elements(member(response.body, "boxes"))[0],
                                     "hydrated_cards"))))
    pages, cursor = {}, ""
    while cursor is not None:
        page = server.get(f"/projects/p/cards?limit=100{cursor}").body
        pages.update(contents(elements(member(page, "cards"))))
        cursor = json.loads(member(page, "next_cursor"))
        cursor = cursor and f"&cursor={cursor}"
    compare(pages)
    compare(contents_of_file(server.get("/projects/p/export").body))
    server.stop()


def out_of_abilities(dsn):
    server, found = Server(dsn), {}

    def ask(name, value):
        response = server.post(f"/projects/p/abilities/{name}", value)
        assert response.status == 200, response
        return response.body
    ids = list(dict(good()))
    compare(contents(ask("card:get", {"card_id": card_id}) for card_id in ids))
    for start in range(0, len(ids), 100):
        found.update(contents(elements(member(ask("card:batch", {"card_ids": ids[start:start + 100]}), "cards"))))
    compare(found)
    compare(contents(elements(member(ask("card:list", {"limit": 500}), "cards"))))
    compare(contents(elements(member(ask("box:cards", {"box_id": BOX, "limit": 500}), "cards"))))
    server.stop()


def test_out_as_in():
    for door, dsn in stored().items():
        for way in (out_of_the_cli, out_of_an_export, out_of_export_and_import, out_of_http, out_of_abilities):
            yield f"{door}, {way.__name__}", lambda way=way, dsn=dsn: way(dsn)


# --- what is refused ---


def test_refused_by_card_add():
    dsn = Postgres.shared().database()
    for name, text in bad():
        done = run(dsn, "card", "add", "--id", "bad", "-", stdin=text)
        assert done.returncode in (1, 2) and done.stderr.count(b"\n") == 1, (name, done)
        assert b"is not valid JSON at byte " in done.stderr or not text.strip(), (name, done.stderr)
    assert run(dsn, "card", "get", "bad").returncode == 1


def test_refused_by_import():
    """Each by the number of its line, and the good ones among them stay."""
    dsn = Postgres.shared().database()
    lines, numbers = [], []
    for name, text in bad():
        if b"\n" not in text:  # that would be two lines
            numbers.append(len(lines) + 1)
            lines.append(b'{"kind":"card","card_id":"bad","content":' + text + b"}")
            lines.append(b'{"kind":"card","card_id":"good-%d","content":1}' % len(lines))
    done = run(dsn, "import", stdin=b"\n".join(lines))
    assert done.returncode == 1
    said = [int(n) for n in re.findall(rb"^line (\d+): ", done.stderr, re.M)]
    assert said == numbers, (set(said) ^ set(numbers), done.stderr[:2000])
    assert export(dsn).count(b"\n") == len(numbers)


def test_refused_by_post():
    """Each by where it is wrong, alone and among others, of which none stays."""
    dsn = Postgres.shared().database()
    server = Server(dsn)
    for name, text in bad():
        for body in (b'{"card_id":"bad","content":%s}',
                     b'{"cards":[{"card_id":"good","content":1},{"card_id":"bad","content":%s}]}'):
            response = server.request("POST", "/projects/p/cards", body % text, JSON)
            assert response.status == (413 if name == "deeper than that" else 400), (name, response)
            assert "not valid JSON at byte " in response.json()["detail"]["error_message"], response
    assert server.get("/projects/p/cards").json()["cards"] == []
    for value in (rb'"\u0000"', rb'"\ud800"', b"1e400000", b"1E999"):
        for part in (b'"metadata":{"k":[%s]}', b'"tool_calls":[{"k":%s}]'):
            body = b'{"card_id":"bad","content":1,' + part % value + b"}"
            response = server.request("POST", "/projects/p/cards", body, JSON)
            assert response.status == 422, (value, response)
            assert response.json()["detail"]["faults"][0]["loc"] in (["body", "metadata"], ["body", "tool_calls"])
    assert server.get("/projects/p/cards").json()["cards"] == []
    server.stop()


def test_filters_find_odd_cards():
    dsn = stored()["POST"]
    server = Server(dsn)
    found = server.get("/projects/p/cards?type=odd&meta.type=odd&limit=500").body
    compare(contents(elements(member(found, "cards"))))
    server.stop()


def test_replay_in_another_form():
    """The same JSON, written otherwise, changes nothing: the first text stays."""
    dsn = Postgres.shared().database()
    server = Server(dsn)
    for text, outcome in ((b'{"b":1e2,"a":"\\u0041"}', "inserted"), (b'{ "a":"A","b":100 }', "unchanged")):
        response = server.request("POST", "/projects/p/cards",
                                  b'{"card_id":"c","content":%s}' % text, JSON)
        assert response.json()["outcome"] == outcome, response
    assert member(server.get("/projects/p/cards/c").body, "content") == b'{"b":1e2,"a":"\\u0041"}'
    server.stop()


def test_known_classes():
    """HTTP shows them without "__type__", and the rest to the byte."""
    dsn = Postgres.shared().database()
    pairs = [('{"__type__":"TextContent","text":"\\u0041\\/"}', '{"text":"\\u0041\\/"}'),
             ('{ "text" : "a" , "__type__" : "TextContent" }', '{ "text" : "a" }'),
             ('{ "__type__":"TextContent" , "text":"a"}', '{ "text":"a"}'),
             ('{"text":"a","__type__":"TextContent","x" :1e2}', '{"text":"a","x" :1e2}'),
             ('{"text":"a" ,"__\\u0074ype__":"TextContent", "x":1}', '{"text":"a" ,"x":1}'),
             ('{"__type__":1,"text":"a","__type__":"TextContent"}', '{"text":"a"}')]
    lines = ['{"kind":"card","card_id":"c-%d","content":%s,"exact":true}' % (n, content)
             for n, (content, _) in enumerate(pairs)]
    done = run(dsn, "import", stdin="\n".join(lines).encode())
    assert done.returncode == 0, done.stderr
    server = Server(dsn)
    for n, (content, shown) in enumerate(pairs):
        card = server.get(f"/projects/p/cards/c-{n}").body
        assert member(card, "content").decode() == shown, (content, card)
        assert member(card, "content_class") == b'"TextContent"'
    assert [member(line, "content").decode() for line in export(dsn).split(b"\n")[:-1]] == \
        [content for content, _ in pairs]
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()
