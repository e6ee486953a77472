#!/usr/bin/env python3
"""The same requests to databases of another collation or with other settings get the same answers, to the
byte: ids and filters are compared and ordered by their bytes, and times, numbers and texts are ours to print."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, cardbox, once, psql, url

# Texts that collations put in an order of their own, fold, ignore or take for one another.
ODD = ("a", "A", "b", "B", "aa", "a-a", "a a", "a_a", "ab", "z", "Z", "ä", "a\u0308", "Ä", "ö", "ß", "ss", "ſ", "ı", "I", "i", "İ",
       "é", "e\u0301", "ﬀ", "ff", "10", "9", "-1", "!", "~", "_", "%", "'", "\\", '"', "\u200b", "日本", "𝔸", "\u03a9", "\u2126", "K", "\u212a")
BOX = "01970000-0000-7000-8000-0000000000%02x"
TIME = "2026-02-%02dT03:04:05.678901Z"
JSON = {"Content-Type": "application/json"}
# What differs between two runs, or between two servers: moments, ids that are made, and what cursors hold of them.
MASKED = re.compile(rb'20[0-9-]{8}T[0-9:]{8}(\.[0-9]+)?Z|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|'
                    rb'"(?:next_)?cursor":"[^"]*"|"(?:ts|at|(?:created|updated|completed)At)":[0-9]{13}')

SETTINGS = {
    "written otherwise": ("DateStyle = 'SQL, DMY'", "IntervalStyle = 'sql_standard'", "TimeZone = 'America/St_Johns'",
                          "bytea_output = 'escape'", "extra_float_digits = -15", "client_encoding = 'LATIN1'",
                          "lc_numeric = 'C'", "xmloption = 'document'"),
    "meant otherwise": ("standard_conforming_strings = off", "backslash_quote = on", "escape_string_warning = on",
                        "array_nulls = off", "transform_null_equals = on", "quote_all_identifiers = on",
                        "search_path = '\"$user\"', public", "row_security = off",
                        "default_transaction_isolation = 'serializable'", "default_transaction_deferrable = on"),
    "planned otherwise": ("plan_cache_mode = 'force_generic_plan'", "enable_indexscan = off", "enable_nestloop = off",
                          "enable_hashjoin = off", "jit = on", "jit_above_cost = 0", "from_collapse_limit = 1",
                          "join_collapse_limit = 1", "work_mem = '64kB'"),
    "cut off soon": ("idle_in_transaction_session_timeout = '60s'", "idle_session_timeout = '60s'", "lock_timeout = '60s'",
                     "deadlock_timeout = '50ms'", "temp_buffers = 100"),
}


def rows():
    """What is loaded, with times of its own."""
    for number, text in enumerate(ODD):
        yield {"kind": "card", "card_id": text, "created_at": TIME % (number % 20 + 1), "content": {"text": text, "n": 1.10},
               "metadata": {"type": text, "step_id": text.swapcase(), "role": "user", "color": text}, "tool_call_id": "call " + text}
        yield {"kind": "session", "session_id": text, "dialect": "plain", "version": 1, "created_at": TIME % 1}
    for number in range(20):
        ids = list(ODD[number:number + 20]) * 5
        yield {"kind": "box", "box_id": BOX % number, "card_ids": ids, "created_at": TIME % (number + 1)}


def exact(number):
    """A content that jsonb can't hold, in which every escape is to be kept."""
    return r'{"card_id": "exact-%d", "content": [1e400, "\u0000\\", 1.0, 0.1e1, "\ud800", "\\\\"]}' % number


def writes(project):
    for number in range(3):
        yield "POST", url(project, "cards"), exact(number)
        yield "POST", url(project, "boxes", BOX % number, "append"), {"card_ids": [f"exact-{number}", ODD[number]], "expected_version": 1}
        yield "POST", url(project, "boxes", BOX % number, "fork"), {"at_length": 70 + number}
    yield "POST", url(project, "cards"), {"cards": [{"card_id": text, "content": {"text": text + "!"}} for text in ODD]}
    yield "POST", url(project, "cards"), {"card_id": "second", "content": 1, "metadata": {"type": "tool.result"}, "tool_call_id": "call Ä"}
    yield "DELETE", url(project, "cards", "Ω"), None
    yield "PUT", url(project, "boxes", BOX % 5), {"card_ids": list(ODD), "expected_version": 1}
    yield "PUT", url(project, "sessions", "talk"), {"dialect": "plain"}
    entries = [{"id": text, "parentId": ODD[number // 3] if number else None, "type": "user", "content": text, "timestamp": TIME % 3}
               for number, text in enumerate(ODD)]
    yield "POST", url(project, "sessions", "talk", "entries"), {"entries": entries}
    yield "POST", url(project, "sessions", "talk", "entries"), {"entry": {"id": "seen", "type": "label", "targetId": "ä", "label": "ÄÖ", "timestamp": TIME % 4}}
    yield "POST", url(project, "sessions", "talk", "fork"), {"session_id": "talk-2", "entry_id": "ß"}
    for number, text in enumerate(ODD[:8]):
        yield ability(project, "ldg:task:save", {"task": {"id": text, "goal": text, "systemPrompt": "", "createdAt": 1770000000000 + number, "updatedAt": 1770000000000}})
        yield ability(project, "ldg:msg:save", {"message": {"id": "m" + text, "taskId": text, "role": "user", "content": text, "timestamp": 1770000000000}})


def ability(project, name, value):
    return "POST", url(project, "abilities", name), value


def reads(project):
    yield "POST", url(project, "cards", "batch"), {"card_ids": [*ODD, "none"]}
    yield "POST", url(project, "boxes", "batch"), {"box_ids": [BOX % number for number in range(22)], "hydrate": True, "limit": 30}
    for text in ODD:
        yield "GET", url(project, "cards", text), None
        yield "GET", url(project, "cards", text, "boxes"), None
        yield "GET", url(project, "sessions", "talk", "entries", text), None
        yield "GET", url(project, "sessions", "talk", "entries", text, "path"), None
    for number in range(3):
        yield "GET", url(project, "cards", f"exact-{number}"), None
        yield "GET", url(project, "boxes", BOX % number, "log"), None
        yield "GET", url(project, "boxes", BOX % number) + "?at_version=1", None
        yield "GET", url(project, "boxes", BOX % number, "context") + "?format=openai", None
    for part in ("tree", "leaves", "branch-points", "labels", "path", "context", "export", "diff?a=ß&b=10"):
        yield "GET", url(project, "sessions", "talk") + "/" + part.replace("ß", "%C3%9F"), None
    yield "GET", url(project, "cards", "a", "revisions"), None
    yield "GET", url(project, "export"), None
    yield ability(project, "ldg:task:query", {"goals": True})
    yield ability(project, "ldg:msg:list", {"taskId": "A"})


def pages(ask, path):
    """A list, a few rows at a time: the cursors hold places in its order."""
    cursor = ""
    while cursor is not None:
        page = ask("GET", f"{path}limit=7{cursor}", None)
        following = json.loads(page).get("next_cursor") if page.startswith(b"{") else None
        cursor = following and f"&cursor={following}"


def answers(dsn):
    """Each request with its answer, masked."""
    project = "p ä'\\"
    file = "\n".join(json.dumps(row) for row in rows())
    cardbox("import", "--dsn", dsn, "--project", project, stdin=file)
    server = Server(dsn, "--database-timeout-ms", "120000")
    given = []

    def ask(method, path, body):
        data = body if isinstance(body, str) else json.dumps(body)
        answer = server.request(method, path, None if body is None else data, JSON)
        assert answer.status < 500, (method, path, answer)
        given.append((method, re.sub("cursor=.*", "", path), answer.status, MASKED.sub(b"*", answer.body)))
        return answer.body

    for request in (*writes(project), *reads(project)):
        ask(*request)
    for query in ("cards?", "cards?role=user&", "boxes?", "sessions?", *(f"cards?{name}={value}&" for value in ("a", "A", "%C3%A4", "ss", "I")
                                                                       for name in ("type", "step_id", "meta.color"))):
        pages(ask, url(project) + "/" + query)
    given.append(("export", "", 0, MASKED.sub(b"*", cardbox("export", "--dsn", dsn, "--project", project, binary=True).stdout)))
    server.stop()
    return given


@once
def plain():
    return answers(Postgres.shared().database())


def compare(dsn):
    for ours, theirs in zip(plain(), answers(dsn), strict=True):
        assert ours == theirs, f"{theirs}\ninstead of\n{ours}"


def collated(provider):
    """A database of a collation of ICU's, as a newer library of which has it: PostgreSQL warns each session."""
    postgres = Postgres.shared()
    dsn = postgres.database(migrate=False)
    name = dsn.split("dbname=")[1]
    psql(dsn.replace(name, "postgres"), f"DROP DATABASE {name}")
    psql(dsn.replace(name, "postgres"), f"CREATE DATABASE {name} OWNER cardbox TEMPLATE template0 {provider}")
    psql(dsn, f"UPDATE pg_database SET datcollversion = 'older' WHERE datname = '{name}'")
    cardbox("migrate", "--dsn", dsn)
    psql(dsn, "GRANT cardbox_service TO cardbox_app")
    return dsn


def test_collations():
    for locale in ("tr", "de-u-co-phonebk", "und-u-kn-ks-level1"):
        def check(locale=locale):
            compare(collated(f"LOCALE_PROVIDER icu ICU_LOCALE '{locale}'"))
        yield locale, check


def test_settings():
    for title, settings in SETTINGS.items():
        def check(settings=settings):
            dsn = Postgres.shared().database()
            psql(dsn, ";".join(f"ALTER DATABASE {dsn.split('dbname=')[1]} SET {setting}" for setting in settings))
            compare(dsn)
        yield title, check


if __name__ == "__main__":
    cardbox_test.main()
