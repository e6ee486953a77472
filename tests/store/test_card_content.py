#!/usr/bin/env python3
"""Cards as SQL sees them: one exact text of the content, when two contents are the same, an etag that each
update renews, card_text() for texts that jsonb can't hold, and what a conditional read sends."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
from cardbox_test import as_role, dsn  # noqa: E402
from sql_statements import prepare  # noqa: E402

INSERTED, UNCHANGED, REPAIRED, RESTORED, CONFLICT, GONE = range(1, 7)
NOTHING = "'{NULL}', '{NULL}', '{NULL}', '{\"{}\"}', '{NULL}', '{NULL}'"


def psql(text, role="cardbox_app"):
    """As a server is connected: row-level security holds."""
    done = subprocess.run(["psql", as_role(dsn(), role), "-XqAt", "-v", "ON_ERROR_STOP=1"], input=text,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def execute(tenant, content, *, whole="t", strict="f", restore="f", sealed="f"):
    flags = f"'{{{strict}}}', '{{{restore}}}', '{whole}'"
    return (f"EXECUTE it('{{{tenant}}}', '{{card}}', ARRAY[{quoted(content)}]::json[], {NOTHING}, '{{NULL}}', '{{{sealed}}}',"
            f" {flags});")


def add(*args, **options):
    """The outcome of a card."""
    return int(psql(prepare("cards_add") + execute(*args, **options)).split("|")[1])


def stored(tenant, column="content"):
    return psql(f"SELECT {column} FROM cardbox.cards WHERE tenant_id = '{tenant}'")


def test_same_content():
    """Equal texts, or equal as jsonb, also with escapes that jsonb rejects: then the first text stays, and nothing is
    written."""
    same = (('{"a": 1, "b": [2]}', '{"b":[2],"a":1}'), ("1.0", "1.00"), ("100", "1e2"), ('{"a": 1, "a": 2}', '{"a": 2}'),
            ('"\\u00e9"', '"\u00e9"'), ('"\\u0000"', '"\\u0000"'), ('["\\ud800"]', '["\\ud800"]'), ("1e999999", "1e999999"),
            ('"\\u0000"', ' "\\u0000"'), ('{"a": "\\\\u0000", "b": "\\u0000"}', '{"b":"\\u0000","a":"\\\\u0000"}'))
    other = (("1", '"1"'), ('{"a": 1, "a": 2}', '{"a": 1}'), ('"\\u0000"', '"\\\\u0000"'), ('["\\ud800"]', '["\\ud801"]'),
             ('["\\ud800", "\\\\u0041"]', '["\\ud800", "\\u0041"]'), ('["\\u0000", 1e999999]', '["\\u0000",1e999999]'),
             ('"\\u0000"', '"x"'), ('"x"', '"\\u0000"'), ("1e999999", "1e999998"), ("null", "false"))
    for whole in ("t", "f"):
        script = prepare("cards_add")
        for number, (first, second) in enumerate((*same, *other)):
            tenant = f"same-{number}-{whole}"
            state = f"SELECT content, etag FROM cardbox.cards WHERE tenant_id = '{tenant}';"
            script += "".join((
                execute(tenant, first, whole=whole), state, execute(tenant, first, whole=whole), state,
                execute(tenant, second, whole=whole, strict="t"), execute(tenant, second, whole=whole), state,
                f"SELECT coalesce(max(content::text), '') FROM cardbox.card_revisions WHERE tenant_id = '{tenant}';"))
        lines = iter(psql(script).split("\n"))
        for number, (first, second) in enumerate((*same, *other)):
            is_same = number < len(same)
            found = [next(lines) for _ in range(8)]
            outcomes = [int(found[place].split("|")[1]) for place in (0, 2, 4, 5)]
            states = [found[place].rsplit("|", 1) for place in (1, 3, 6)]
            assert outcomes == [INSERTED, UNCHANGED, UNCHANGED if is_same else CONFLICT, UNCHANGED if is_same else REPAIRED], found
            assert states[0] == states[1] and states[0][0] == first and states[2][0] == (first if is_same else second), found
            assert (states[2][1] == states[0][1]) == is_same and found[7] == ("" if is_same else first), found


def test_the_first_text_stays_when_a_card_is_restored():
    assert add("soft", '{"a": 1, "b": 2}') == INSERTED
    psql("UPDATE cardbox.cards SET deleted_at = now() WHERE tenant_id = 'soft'")
    assert add("soft", '{"b":2,"a":1}') == GONE
    assert add("soft", '{"b":2,"a":1}', sealed="t", restore="t") == RESTORED
    assert stored("soft", "content, sealed, deleted_at") == '{"a": 1, "b": 2}|t|'


def test_etags():
    """Random, different for each row, and another one with each update, whoever makes it."""
    psql("INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at)"
         " SELECT 'etags', n, '1', now() FROM generate_series(1, 1000) AS n")
    def of():
        return [int(line) for line in stored("etags", "etag").splitlines()]
    first = of()
    assert len(set(first)) == 1000 and min(first) > 0
    assert 400 < sum(etag >= 2**62 for etag in first) < 600  # 63 bits
    psql("UPDATE cardbox.cards SET sealed = sealed WHERE tenant_id = 'etags'")
    second = of()
    assert not set(first) & set(second) and len(set(second)) == 1000
    psql("UPDATE cardbox.cards SET etag = 7 WHERE tenant_id = 'etags'")
    assert 7 not in of()
    refused = subprocess.run(["psql", as_role(dsn(), "cardbox_app"), "-Xqc", "INSERT INTO cardbox.cards (tenant_id, card_id,"
                              " content, created_at, etag) VALUES ('etags', 'zero', '1', now(), 0)"], capture_output=True, text=True)
    assert 'policy "limits"' in refused.stderr, refused


def test_card_text():
    messages = ('{"content": "a\\u0000"}', "a\ufffd"), ('{"content": [{"text": "a"}, 7, {"type": "x"}, {"text": "b"}]}', "a\nb"), \
               ('{"content": null, "text": "a"}', None), ('{"content": []}', None), ("7", None), ("[]", None), ("null", None)
    pairs = ('{"text": "plain", "more": 1}', "plain"), ('"a string"', "a string"), ("[1]", None), ("null", None), ("{}", None), \
            ('{"text": null}', None), ('{"text": 5}', "5"), ('{"text": "x", "other": "\\u0000"}', "x"), \
            ('{"text": "a\\u0000b"}', "a\ufffdb"), ('{"text": "\\ud83d\\ude00"}', "\U0001f600"), \
            ('{"text": "\\ud83d\\ude00\\ud800!"}', "\U0001f600\ufffd!"), ('{"text": "\\udc00\\ud800"}', "\ufffd\ufffd"), \
            ('{"text": "\\ud800\\ud83d\\ude00"}', "\ufffd\U0001f600"), ('{"text": "\\\\u0000"}', "\\u0000"), \
            ('{"text": "\\\\\\u0000"}', "\\\ufffd"), ('{"text": "\\\\ud83d\\ude00"}', "\\ud83d\ufffd"), \
            ('{"\\ud800": 1, "text": "line\\nend"}', "line\nend"), ('{"text": 1e999999}', "1e999999"), \
            ('{"text": "one", "text": "\\uDFFF"}', "\ufffd"), *((f'{{"__type__": "MessageContent", "message": {message}}}', text)
                                                            for message, text in messages)
    values = ", ".join(f"({number}, {quoted(text)}::json)" for number, (text, _) in enumerate(pairs))
    rows = psql(f"SELECT coalesce(to_json(cardbox.card_text(v.content)), 'null') FROM (VALUES {values}) AS v(n, content) ORDER BY v.n")
    assert [json.loads(row) for row in rows.splitlines()] == [wanted for _, wanted in pairs]
    psql("INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at) VALUES"
         " ('texts', 'bad', '{\"text\": \"\\ud800\"}', now()), ('texts', 'good', '{\"text\": \"needle\"}', now())")
    assert psql("SELECT card_id FROM cardbox.cards WHERE tenant_id = 'texts' AND cardbox.card_text(content) LIKE '%needle%'") == "good"


def test_conditional_reads():
    """The whole card, unless its etag is the one that is known; and no row for what can't be read."""
    psql("INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at, deleted_at, expires_at) VALUES"
         " ('cond', 'a', '1', '{}', now(), NULL, NULL), ('cond', 'b', '2', '{}', now(), NULL, now() + interval '1 hour'),"
         " ('cond', 'gone', '3', '{}', now(), now(), NULL), ('cond', 'over', '4', '{}', now(), NULL, now())")
    etags = dict(row.split("|") for row in stored("cond", "card_id, etag").splitlines())
    ids = ("a", "b", "gone", "over", "none", "a")

    def read(*known):
        rows = psql(f"{prepare('cards_get')} EXECUTE it('{{{','.join(['cond'] * len(ids))}}}', '{{{','.join(ids)}}}',"
                    f" '{{{','.join(map(str, known))}}}')")
        found = {}
        for row in rows.splitlines():
            cells = row.split("|")
            assert cells[-1] == etags[ids[int(cells[0]) - 1]]
            found[int(cells[0])] = cells[2] if any(cells[1:-1]) else None
        return found
    assert read(0, 0, 0, 0, 0, 0) == {1: "1", 2: "2", 6: "1"}
    assert read(etags["a"], etags["a"], etags["gone"], etags["over"], 5, 0) == {1: None, 2: "2", 6: "1"}
    assert read(5, etags["b"], 0, 0, 0, etags["a"]) == {1: "1", 2: None, 6: None}


if __name__ == "__main__":
    cardbox_test.main()
