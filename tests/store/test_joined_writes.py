#!/usr/bin/env python3
"""The statements that write for many requests at once, cards_put, boxes_append and boxes_append_quick:
each member gets what it would have got alone, in its order, whoever stands beside it."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, as_role, literal
from sql_statements import prepare

INSERTED, UNCHANGED, REPAIRED, RESTORED, CONFLICT, GONE = range(1, 7)
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
    rows = psql(f"{prepare(name)} EXECUTE it({', '.join(parameters)})").splitlines()
    found = {int(row.split("|")[0]): tuple(row.split("|")[1:]) for row in rows}
    assert sorted(found) == list(range(1, len(rows) + 1)), rows
    return [found[number] for number in sorted(found)]


def put(*cards):
    """Outcomes of (tenant, id, content[, members...]) as (outcome, id of the other)."""
    def column(name, default=None):
        return [(card[3] if len(card) > 3 else {}).get(name, default) for card in cards]
    rows = run("cards_put", array([card[0] for card in cards], "text"),
               array([card[1] for card in cards], "text"), array([card[2] for card in cards], "json"),
               array(column("tool_calls"), "jsonb"), array(column("tool_call_id"), "text"), array(column("ttl_seconds"), "int4"),
               array(column("metadata", "{}"), "jsonb"), array(column("created_at"), "timestamptz"),
               array(column("expires_at"), "timestamptz"), array(column("deleted_at"), "timestamptz"),
               array(column("sealed", False), "bool"), array(column("strict", False), "bool"),
               array(column("restore", False), "bool"))
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


def test_many_cards():
    cards = [("many", f"c{number % 300}", "1") for number in range(512)]
    assert outcomes(*cards) == [INSERTED] * 300 + [UNCHANGED] * 212


# --- boxes ---


def append(*appends, pass_over=False):
    """(outcome, version, length) of (tenant, box, ids[, expected[, key]])."""
    def column(number):
        return [item[number] if len(item) > number else None for item in appends]
    rows = run("boxes_append", array(column(0), "text"), array(column(1), "uuid"),
               array(column(2), "jsonb"), array(column(3), "int8"), array(column(4), "text"),
               str(pass_over).lower())
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


def test_what_fills_a_segment_is_left_alone():
    """The quick way to append takes what leaves a tail of less than 64, and says nothing of the rest."""
    def quick(box, count):
        ids = '["' + '","'.join(f"q{number}" for number in range(count)) + '"]'
        return run("boxes_append_quick", array(["quick"], "text"), array([box], "uuid"), array([ids], "jsonb"),
                   array([None], "int8"), array([None], "text"))
    for number, there in enumerate((0, 1, 60, 63, 64, 124, 127)):
        box = make("quick", number)
        if there > 0:
            append(("quick", box, json.dumps([f"t{place}" for place in range(there)])))
        room = 63 - there % 64
        for count in {room + 1, room + 2, 64, 65, 200} - {room}:
            assert quick(box, count) == []
        version = 2 if there else 1
        if room > 0:
            version, there = version + 1, there + room
            assert quick(box, room) == [(str(DONE), str(version), str(there))]
        assert quick(box, 1) == []
        assert append(("quick", box, '["last"]')) == [(DONE, version + 1, there + 1)]
        assert psql("SELECT b.length, b.version, b.tail, jsonb_array_length(i.card_ids), i.card_ids ->> -1"
                    "  FROM cardbox.card_boxes b JOIN cardbox.boxes i USING (tenant_id, box_id)"
                    f" WHERE tenant_id = 'quick' AND box_id = '{box}'") == \
            f"{there + 1}|{version + 1}|[]|{there + 1}|last\n"


def test_what_is_locked_is_passed_over():
    """Only what another session has locked: not what is free, missing, or its own."""
    held, free = make("held", 1), make("held", 2)
    two = ("held", free, '["x"]')
    held_by_another = f"""
        CREATE EXTENSION IF NOT EXISTS dblink;
        SELECT dblink_connect('other', '{as_role(database(), "postgres")}');
        SELECT dblink_exec('other', 'BEGIN');
        SELECT * FROM dblink('other', 'SELECT 1 FROM cardbox.card_boxes
            WHERE tenant_id = ''held'' AND box_id = ''{held}'' FOR UPDATE') AS t(one int);
        SELECT 'ROWS';"""
    boxes = array([held, free, f"{BOX}9", free], "uuid")
    ids, none = array(['["x"]'] * 4, "jsonb"), [None] * 4
    execute = (f"EXECUTE it({array(['held'] * 4, 'text')}, {boxes}, {ids}, {array(none, 'int8')},"
               f" {array(none, 'text')}, true);")
    let_go = "SELECT 'ROWS'; SELECT dblink_exec('other', 'ROLLBACK');"
    out = Postgres.shared().psql(database(), f"{held_by_another} {prepare('boxes_append')} {execute} {let_go}")
    rows = sorted(out.split("ROWS\n")[1].splitlines())
    assert rows == [f"1|{LOCKED}||", f"2|{DONE}|2|1", f"3|{NO_BOX}||", f"4|{DONE}|3|2"], rows
    assert append(("held", held, '["x"]'), two, pass_over=True) == [(DONE, 2, 1), (DONE, 4, 3)]


if __name__ == "__main__":
    cardbox_test.main()
