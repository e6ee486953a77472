#!/usr/bin/env python3
"""The statements that write for many requests at once, cards_add and boxes_append. Each member has the same outcome as if it
was sent alone, in the same order."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, as_role, literal
from sql_statements import prepare

INSERTED, UNCHANGED, REPAIRED, RESTORED, CONFLICT, GONE, SKIPPED = range(1, 8)
DONE, DONE_BEFORE, NO_BOX, WRONG_VERSION, KEY_REUSED, LOCKED = 1, 2, 3, 4, 5, 9
BOX = "01970000-0000-7000-8000-00000000000"


@cardbox_test.once
def database():
    return as_role(Postgres.shared().database(), "cardbox_app")


def psql(sql):
    return Postgres.shared().psql(database(), sql)


def array(values, kind):
    return f"ARRAY[{', '.join(literal(value) for value in values)}]::{kind}[]"


def run(name, *parameters):
    """The rows of a statement, by ord."""
    rows = psql(f"SET lock_timeout = '30s'; {prepare(name)} EXECUTE it({', '.join(parameters)})").splitlines()
    found = {int(row.split("|")[0]): tuple(row.split("|")[1:]) for row in rows}
    assert sorted(found) == list(range(1, len(rows) + 1)), rows
    return [found[number] for number in sorted(found)]


def put(*cards):
    """Outcomes of (tenant, id, content[, members...]) as (outcome, id of the other)."""
    def column(name, default=None):
        return [(card[3] if len(card) > 3 else {}).get(name, default) for card in cards]
    rows = run("cards_add", array([card[0] for card in cards], "text"),
               array([card[1] for card in cards], "text"), array([card[2] for card in cards], "json"),
               array(column("tool_calls"), "jsonb"), array(column("tool_call_id"), "text"), array(column("ttl_seconds"), "int4"),
               array(column("metadata", "{}"), "jsonb"), array(column("created_at"), "timestamptz"),
               array(column("expires_at"), "timestamptz"), array(column("deleted_at"), "timestamptz"),
               array(column("sealed", False), "bool"), array(column("strict", False), "bool"),
               array(column("restore", False), "bool"), "false")
    return [(int(outcome), other) for outcome, other in rows]


def outcomes(*cards):
    return [outcome for outcome, _ in put(*cards)]


def contents(tenant):
    return psql(f"SELECT card_id, content FROM cardbox.cards WHERE tenant_id = '{tenant}'"
                ' ORDER BY card_id COLLATE "C"').splitlines()


def test_each_card_by_itself():
    assert outcomes(("each", "old", "1"), ("each", "sealed", "1", {"sealed": True}),
                    ("each", "dead", "1", {"deleted_at": "2020-01-01"})) == [INSERTED] * 3
    assert outcomes(("each", "sealed", "2"), ("each", "new", "1"), ("each", "dead", "1"),
                    ("each", "old", "1"), ("other", "old", "7")) == [CONFLICT, INSERTED, GONE, UNCHANGED,
                                                                     INSERTED]
    assert outcomes(("each", "old", "2"), ("each", "new", "2", {"strict": True}),
                    ("each", "dead", "3", {"restore": True})) == [REPAIRED, CONFLICT, RESTORED]
    assert contents("each") == ["dead|3", "new|1", "old|2", "sealed|1"]
    assert contents("other") == ["old|7"]


def test_one_id_several_times():
    """The first is inserted, the next finds it."""
    assert outcomes(("twice", "b", "1"), ("twice", "a", "1"), ("twice", "b", "1"), ("twice", "b", "2"),
                    ("twice", "b", "3", {"strict": True})) == [INSERTED, INSERTED, UNCHANGED, REPAIRED,
                                                               CONFLICT]
    assert contents("twice") == ["a|1", "b|2"]
    assert psql("SELECT count(*) FROM cardbox.card_revisions WHERE tenant_id = 'twice'").strip() == "1"


def test_one_result_a_call():
    result = {"metadata": '{"type": "tool.result"}', "tool_call_id": "call"}
    assert put(("call", "z", "1", result), ("call", "m", "2", result), ("next", "m", "2", result)) == \
        [(CONFLICT, "m"), (INSERTED, ""), (INSERTED, "")]
    assert put(("call", "a", "1", result)) == [(CONFLICT, "m")]


def test_what_is_written():
    made = {"metadata": '{"k": "v"}', "tool_calls": "[1]", "tool_call_id": "c", "ttl_seconds": 60,
            "created_at": "2030-01-01 00:00:00+00", "sealed": True}
    assert outcomes(("all", "a", '"\\u0000"', made)) == [INSERTED]
    assert psql("SELECT content, tool_calls, tool_call_id, ttl_seconds, expires_at - created_at,"
                " deleted_at, metadata, extract(year FROM created_at AT TIME ZONE 'UTC'), sealed"
                " FROM cardbox.cards WHERE tenant_id = 'all'").strip() == \
        '"\\u0000"|[1]|c|60|00:01:00||{"k": "v"}|2030|t'


def test_locked_cards_are_skipped():
    """What another session has locked or changed, in a batch and alone. What is the same is not locked, and so not skipped."""
    result = {"metadata": '{"type": "tool.result"}', "tool_call_id": "call"}
    put(("skip", "a", "1"), ("skip", "b", "1"), ("skip", "old", "1", {**result, "ttl_seconds": 1, "created_at": "2020-01-01"}))
    with cardbox_test.connected(database()) as other:
        for number, held in enumerate(("SELECT FROM cardbox.cards WHERE tenant_id = 'skip' FOR UPDATE",
                                       "UPDATE cardbox.cards SET deleted_at = now() WHERE tenant_id = 'skip' AND card_id = 'a'")):
            other.run("BEGIN")
            other.run(held)
            assert outcomes(("skip", "a", "2"), ("skip", "b", "1"), ("skip", f"new{number}", "1")) == [SKIPPED, UNCHANGED, INSERTED]
            assert outcomes(("skip", "a", "2")) == [SKIPPED]
            assert number > 0 or put(("skip", "r", "1", result)) == [(SKIPPED, "old")]
            other.run("ROLLBACK")
    assert outcomes(("skip", "a", "2"), ("skip", "r", "1", result)) == [REPAIRED, INSERTED]


def test_many_cards():
    cards = [("many", f"c{number % 300}", "1") for number in range(512)]
    assert outcomes(*cards) == [INSERTED] * 300 + [UNCHANGED] * 212


# --- boxes ---


def append(*appends, waits=False):
    """(outcome, version, length) of (tenant, box, ids[, expected[, key]])."""
    def column(number):
        return [item[number] if len(item) > number else None for item in appends]
    rows = run("boxes_append", array(column(0), "text"), array(column(1), "uuid"),
               array(column(2), "jsonb"), array(column(3), "int8"), array(column(4), "text"),
               str(waits).lower())
    return [tuple(int(cell) if cell else None for cell in row) for row in rows]


def make(tenant, number):
    psql(f"SELECT cardbox.create_box('{tenant}', '{BOX}{number}', '[]', '[]', NULL, false)")
    return f"{BOX}{number}"


def test_each_append_by_itself():
    one, two, none = make("a", 1), make("a", 2), f"{BOX}9"
    make("b", 1)
    assert append(("a", two, '["x"]'), ("a", none, '["x"]'), ("a", one, '["x"]', 7), ("b", one, '["y"]'),
                  ("b", two, '["y"]')) == [(DONE, 2, 1), (NO_BOX, None, None), (WRONG_VERSION, 1, 0),
                                           (DONE, 2, 1), (NO_BOX, None, None)]


def test_appends_to_one_box_come_in_order():
    box = make("order", 1)
    many = '["' + '","'.join(f"m{number}" for number in range(70)) + '"]'
    assert append(("order", box, '["a"]', 1), ("order", box, '["b"]', 1), ("order", box, '["c"]', 2, "k"),
                  ("order", box, '["c"]', None, "k"), ("order", box, '["d"]', None, "k"),
                  ("order", box, many)) == \
        [(DONE, 2, 1), (WRONG_VERSION, 2, 1), (DONE, 3, 2), (DONE_BEFORE, 3, 2), (KEY_REUSED, 3, 2),
         (DONE, 4, 72)]
    ids = psql("SELECT card_ids FROM cardbox.boxes WHERE tenant_id = 'order'")
    assert ids.startswith('["a", "c", "m0", "m1"') and ids.strip().endswith('"m69"]'), ids


def test_segments_fill_up():
    """One statement serves a tail that grows and a segment that fills up, at each length."""
    for number, there in enumerate((0, 1, 60, 63, 64, 124, 127)):
        box = make("fill", number)
        if there > 0:
            append(("fill", box, json.dumps([f"t{place}" for place in range(there)])))
        version, ids = 2 if there else 1, there
        for count in (63 - there % 64, 1, 1, 62, 64, 65, 200):
            if count == 0:
                continue
            version, ids = version + 1, ids + count
            assert append(("fill", box, json.dumps([f"q{place}" for place in range(count)]))) == [(DONE, version, ids)]
        assert psql("SELECT b.length, b.version, jsonb_array_length(b.tail), jsonb_array_length(i.card_ids), i.card_ids ->> -1"
                    "  FROM cardbox.card_boxes b JOIN cardbox.boxes i USING (tenant_id, box_id)"
                    f" WHERE tenant_id = 'fill' AND box_id = '{box}'") == f"{ids}|{version}|{ids % 64}|{ids}|q199\n"


def test_what_is_locked_is_skipped():
    """Only what another session has locked: not what is free, missing, or its own. One alone waits if it is told to."""
    held, free = make("held", 1), make("held", 2)
    with cardbox_test.connected(database()) as other:
        other.run("BEGIN")
        other.run(f"SELECT FROM cardbox.card_boxes WHERE tenant_id = 'held' AND box_id = '{held}' FOR UPDATE")
        for waits in (False, True):
            version = 4 if waits else 2
            assert append(*(("held", box, '["x"]') for box in (held, free, f"{BOX}9", free)), waits=waits) == \
                [(LOCKED, None, None), (DONE, version, version - 1), (NO_BOX, None, None), (DONE, version + 1, version)]
        assert append(("held", held, '["x"]')) == [(LOCKED, None, None)]
        values = ", ".join((array(["held"], "text"), array([held], "uuid"), array(['["x"]'], "jsonb"), array([None], "int8"),
                            array([None], "text"), "true"))
        with cardbox_test.connected(database()) as waiting:
            waiting.run("SET lock_timeout = 100")
            waiting.send(f"{prepare('boxes_append')} EXECUTE it({values})")
            assert "lock timeout" in waiting.receive()
        other.run("COMMIT")
    assert append(("held", held, '["x"]'), waits=True) == [(DONE, 2, 1)]


def test_appends_of_many_sessions_to_one_box():
    """Each appends three times in a statement, or waits: nothing is lost, whatever the statements' snapshots see."""
    box = make("crowd", 1)
    def loop(name, count, waits):
        columns = ", ".join((f"array_fill('crowd'::text, '{{{count}}}')", f"array_fill('{box}'::uuid, '{{{count}}}')",
                             f"array_fill(jsonb_build_array('{name}-' || i, 'x'), '{{{count}}}')",
                             f"array_fill(NULL::bigint, '{{{count}}}')", f"array_fill(NULL::text, '{{{count}}}')", waits))
        return f"DO $$ BEGIN FOR i IN 1 .. 300 LOOP PERFORM FROM cardbox.append_to_boxes({columns}); COMMIT; END LOOP; END $$"
    crowd = [cardbox_test.Connection(database()) for _ in range(6)]
    for number, one in enumerate(crowd):
        one.send(loop(f"s{number}", *((3, "false") if number % 2 else (1, "true"))))
    said = [one.receive() for one in crowd]
    assert not any(said), said
    whole = psql("SELECT b.length = 2 * (b.version - 1), b.length = jsonb_array_length(i.card_ids), jsonb_array_length(b.tail) = b.length % 64,"
                 " (SELECT sum(l.added) FROM cardbox.card_box_log l WHERE l.tenant_id = 'crowd') = b.length,"
                 " (SELECT count(DISTINCT e) FROM jsonb_array_elements_text(i.card_ids) AS e WHERE e LIKE 's0-%')"
                 " FROM cardbox.card_boxes b JOIN cardbox.boxes i USING (tenant_id, box_id) WHERE tenant_id = 'crowd'")
    assert whole == "t|t|t|t|300\n", whole


def test_keys_and_nonsense():
    box = make("odd", 1)
    for ids, key in (("[]", None), ("{}", None), ("1", None), ("[1]", None), ('["x", null]', None), (None, None),
                     ('["x"]', ""), ('["x"]', "k" * 513)):
        try:
            append(("odd", box, ids, None, key))
            assert False, (ids, key)
        except Exception as error:  # of psql, with what the database says
            assert not isinstance(error, AssertionError), error
    assert psql("SELECT version FROM cardbox.card_boxes WHERE tenant_id = 'odd'") == "1\n"
    assert append(("odd", box, '["x"]', -1), ("odd", box, '["x"]', 0), ("odd", box, '["x"]', 2**63 - 1)) == [(WRONG_VERSION, 1, 0)] * 3


if __name__ == "__main__":
    cardbox_test.main()
