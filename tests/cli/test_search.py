#!/usr/bin/env python3
"""`cardbox search`: the table, its colours and widths, JSON, pages, filters, and what is refused."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Server, await_, cardbox, database, load, on_terminal, once, psql

LONG = "Lorem ipsum dolor sit amet, consetetur sadipscing elitr, sed diam needle nonumy eirmod tempor " * 3
EVIL = "\u001b]0;title\u0007\u001b[31m needle \u202e reversed <b>"


@once
def environment():
    """A project p with cards and a session, indexed."""
    dsn = database()
    load(dsn, {"kind": "card", "card_id": "short", "content": {"__type__": "TextContent", "text": "a Needle & hay"},
               "metadata": {"type": "agent.thought", "role": "assistant"}, "created_at": "2026-01-01T00:00:00Z"},
         {"kind": "card", "card_id": "long", "content": LONG, "created_at": "2026-01-02T00:00:00Z"},
         {"kind": "card", "card_id": "evil", "content": EVIL, "metadata": {"role": "user"},
          "created_at": "2026-01-03T00:00:00Z"},
         {"kind": "card", "card_id": "wide", "content": "日本語の東京都", "created_at": "2026-01-04T00:00:00Z"})
    env = {"CARDBOX_DSN": dsn, "CARDBOX_PROJECT": "p", "NO_COLOR": ""}
    cardbox("session", "append", "--create", "plain", "talk", "-", env=env,
            stdin='{"type":"user","id":"e1","timestamp":"2026-01-05T00:00:00Z","content":"where is the needle?"}\n')
    indexing = Server(dsn)
    await_(lambda: psql(dsn, "SELECT count(*) FROM cardbox.search_queue").strip() == "0")
    indexing.stop()
    return env


def search(*arguments, **options):
    return cardbox("search", *arguments, env=environment(), **options)


def lines(*arguments):
    return search(*arguments).stdout.splitlines()


def found(*arguments):
    return [json.loads(line) for line in lines("--json", *arguments)]


def refused(*arguments, say, status=2):
    done = search(*arguments, check=False)
    assert done.returncode == status and say in done.stderr and not done.stdout, done
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_table():
    table = lines("needle")
    assert table[0].split() == ["kind", "session", "or", "task", "id", "role", "age", "text"], table
    assert [line.split()[0] for line in table[1:]] == ["entry", "card", "card", "card"], table
    assert re.fullmatch(r"entry  talk +e1 +user +\d+ \w+  where is the needle\?", table[1]), table
    assert table[-1].endswith("a Needle & hay") and "\033" not in "".join(table)
    assert search("needle", "nothing").stderr == "nothing found in project p\n"


def test_json():
    hits = found("needle")
    assert [hit["id"] for hit in hits] == ["e1", "evil", "long", "short"], hits
    assert hits[0] == {"kind": "entry", "id": "e1", "session_id": "talk", "type": "user", "role": "user",
                       "created_at": "2026-01-05T00:00:00Z", "snippet": "where is the needle?", "offsets": [[13, 19]]}
    assert hits[3] == {"kind": "card", "id": "short", "type": "agent.thought", "role": "assistant",
                       "created_at": "2026-01-01T00:00:00Z", "snippet": "a Needle & hay", "offsets": [[2, 8]]}
    assert lines("--json", "nothing") == []


def test_the_server_says_the_same():
    serving = Server(environment()["CARDBOX_DSN"])
    for words in ("needle", "東京"):
        assert serving.get("/projects/p/search?q=" + "".join(f"%{byte:02x}" for byte in words.encode())
                           ).json()["hits"] == found(words)
    serving.stop()


def test_words_are_joined():
    assert [hit["id"] for hit in found("hay", "needle")] == ["short"]
    assert [hit["id"] for hit in found("hay needle")] == ["short"]
    assert [hit["id"] for hit in found("東京")] == ["wide"]


def test_filters():
    for options, ids in ((("--kind", "entry"), ["e1"]), (("--role", "user"), ["e1", "evil"]), (("--session", "talk"), ["e1"]),
                         (("--type", "agent.thought"), ["short"]), (("--task", "none"), []),
                         (("--after", "2026-01-02T00:00:00Z", "--before", "2026-01-05T00:00:00Z"), ["evil"])):
        assert [hit["id"] for hit in found(*options, "needle")] == ids, options


def test_pages():
    done = search("--limit", "3", "--json", "needle")
    assert len(done.stdout.splitlines()) == 3 and "--cursor " in done.stderr, done
    rest = search("--json", "needle", "--cursor", done.stderr.rpartition("--cursor ")[2].strip())
    assert [json.loads(line)["id"] for line in rest.stdout.splitlines()] == ["short"] and rest.stderr == "", rest


def test_highlights():
    for columns in (60, 80, 120, 200):
        shown = on_terminal("search", "needle", columns=columns, env=environment())
        for line in shown.splitlines():
            assert len(re.sub(r"\033\[[0-9;]*m", "", line)) <= columns, (columns, line)
        assert shown.count("\033[1;31m") >= 4, (columns, shown)
        assert set(re.findall(r"\033\[1;31m(.*?)\033\[0m", shown)) == {"needle", "Needle"}, (columns, shown)
    assert "…" in shown and "sed diam \033[1;31mneedle\033[0m nonumy" in shown, shown
    plain = on_terminal("search", "needle", env={**environment(), "NO_COLOR": "1"})
    assert "\033" not in plain and "sed diam needle nonumy" in plain, plain
    assert "の\033[1;31m東京\033[0m都" in on_terminal("search", "東京", env=environment())


def test_hostile_text_is_harmless():
    shown = on_terminal("search", "reversed", env=environment()) + "".join(lines("reversed"))
    assert "\u202e" not in shown and "\007" not in shown and "\033]" not in shown and "\033[31m" not in shown, shown
    assert "\033[1;31mreversed\033[0m <b>" in shown, shown
    assert "\u202e" not in on_terminal("search", "--json", "reversed", env=environment())


def test_refused():
    refused("...", say="the words must contain a letter or a digit")
    refused("a" * 1025, say="the words must have at most 1024 bytes")
    refused(*[f"w{n}" for n in range(33)], say="the words must have at most 32 different words")
    refused(say="expected WORD...")
    refused("--kind", "box", "a", say="--kind must be card, message or entry")
    refused("--after", "today", "a", say="--after must be a time")
    refused("--before", "today", "a", say="--before must be a time")
    refused("--cursor", "x", "a", say="--cursor \"x\"")
    refused("--limit", "101", "a", say="--limit")
    refused("--limit", "0", "a", say="--limit")
    done = cardbox("search", "--project", "", "a", env=environment(), check=False)
    assert done.returncode == 2 and "--project" in done.stderr, done


if __name__ == "__main__":
    cardbox_test.main()
