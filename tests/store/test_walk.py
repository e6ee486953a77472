#!/usr/bin/env python3
"""Lists of cards, against a model in Python: a page looks at so many cards of one index and no more, gives
those that fit and says where to go on, and the pages together are the list, whatever the filter, the
times, the limit and the length of the walk; also while cards are written."""

import itertools
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
from cardbox_test import as_role, dsn, once, psql  # noqa: E402
from sql_statements import prepare  # noqa: E402

MEMBERS = {"step_id": "AB", "type": "pq", "trace_id": "st", "agent_turn_id": "xy", "role": "uv", "color": "rg"}
WALKED = ("step_id", "agent_turn_id", "trace_id", "type")  # which one an index is for, the first first
DAY = "2025-01-01 00:00:%02d+00"
FITS, ENDS = 1, 2


def new_card(chance, number):
    """A card of few values and few moments, so that many are alike in all but their ids."""
    dead = chance.random() < 0.15
    return {"id": f"{chance.choice('abc')}{number}", "second": chance.randrange(8),
            "metadata": {name: chance.choice(values) for name, values in MEMBERS.items() if chance.random() < 0.8},
            "call": chance.choice([None, "call-1", "call-2", "call-3"]),
            "end": chance.choice(["deleted_at", "expires_at"]) if dead else None}


def insert(card, tenant="walk"):
    end = card["end"]
    return ("INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, tool_call_id, created_at, deleted_at, "
            f"expires_at) VALUES ('{tenant}', '{card['id']}', '1', "
            f"'{json.dumps(card['metadata'])}', {quoted(card['call'])}, '{DAY % card['second']}', "
            f"{quoted('2025-01-01' if end == 'deleted_at' else None)}, {quoted('2025-01-01' if end == 'expires_at' else None)});")


def quoted(text):
    return "NULL" if text is None else f"'{text}'"


@once
def cards():
    """Two hundred cards, and as many of a neighbour with the same ids that fit everything."""
    chance = random.Random(7)
    made = [new_card(chance, number) for number in range(200)]
    other = {name: values[0] for name, values in MEMBERS.items()}
    psql(dsn(), "".join(insert(card) + insert({**card, "metadata": other, "end": None}, "neighbour") for card in made))
    return made


def choose(chance):
    wanted = {name: chance.choice(values + "?") for name, values in MEMBERS.items() if chance.random() < 0.3}
    return {"wanted": wanted, "calls": chance.choice([None, None, None, ["call-1"], ["call-3", "call-2", "?"]]),
            "after": chance.choice([None, None, 2]), "before": chance.choice([None, None, 6]),
            "cursor": chance.choice([None, (4, "b"), (7, "z"), (0, "a")]), "limit": chance.choice([1, 2, 5, 50, 500]),
            "walk": chance.choice([1, 2, 7, 30, 199, 200, 1000])}


def example(q):
    w = q["wanted"]
    calls = "NULL" if q["calls"] is None else f"'{{{','.join(q['calls'])}}}'"
    color = f"'{json.dumps({'color': w['color']})}'" if "color" in w else "NULL"
    times = ", ".join("NULL" if q[name] is None else f"'{DAY % q[name]}'" for name in ("after", "before"))
    cursor = "NULL, NULL" if q["cursor"] is None else f"'{DAY % q['cursor'][0]}', '{q['cursor'][1]}'"
    filters = ", ".join(quoted(w.get(name)) for name in ("step_id", "type", "trace_id", "agent_turn_id", "role"))
    return f"'walk', {filters}, {calls}, {color}, {times}, {cursor}, {q['limit'] + 1}, {q['walk']}"


def model(q, all_cards):
    """The rows that the statement gives: (what it says, id)."""
    def has(card, name):
        return card["metadata"].get(name) == q["wanted"][name]
    walked = next((name for name in WALKED if name in q["wanted"]), None) if q["calls"] is None else None
    way = [card for card in sorted(all_cards, key=lambda card: (card["second"], card["id"]), reverse=True)
           if (walked is None or has(card, walked)) and (q["calls"] is None or card["call"] in q["calls"])
           and (q["after"] is None or card["second"] > q["after"])
           and (q["before"] is None or card["second"] < q["before"])
           and (q["cursor"] is None or (card["second"], card["id"]) < q["cursor"])][:q["walk"]]
    rows = []
    for place, card in enumerate(way, 1):
        fits = card["end"] is None and all(has(card, name) for name in q["wanted"])
        said = (FITS if fits else 0) + (ENDS if place == q["walk"] else 0)
        if said:
            rows.append((said, card["id"]))
    return rows[:q["limit"] + 1]


def rows_of(*queries, role="cardbox_app"):
    """What the statement gives for each query."""
    script = prepare("cards_list") + "".join(f"EXECUTE it({example(q)}); SELECT 'end';" for q in queries)
    said = subprocess.run(["psql", as_role(dsn(), role), "-XqAt", "-v", "ON_ERROR_STOP=1"],
                          input=script, check=True, stdout=subprocess.PIPE, text=True).stdout
    found, rows = [], []
    for line in said.splitlines():
        if line == "end":
            found.append(rows)
            rows = []
            continue
        cells = line.split("|")
        assert int(cells[0]) & FITS or not cells[2] + cells[7], f"shows what does not fit: {line}"
        rows.append((int(cells[0]), cells[1]))
    return found


def test_pages_are_the_models():
    chance = random.Random(8)
    queries = [choose(chance) for _ in range(1500)]
    made = cards()
    for q, rows in zip(queries, rows_of(*queries), strict=True):
        assert rows == model(q, made), f"{q}: {rows} instead of {model(q, made)}"


def test_a_worker_lists_what_is_granted():
    chance, role = random.Random(9), f"lister_{os.getpid()}"
    queries = [choose(chance) for _ in range(100)]
    made = cards()
    psql(as_role(dsn(), "postgres"), f"CREATE ROLE {role} LOGIN IN ROLE cardbox_worker")
    cardbox_test.at_end(lambda: psql(as_role(dsn(), "postgres"), f"DROP ROLE {role}"))
    assert not any(rows_of(*queries, role=role))
    psql(dsn(), f"INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('walk', '{role}')")
    assert rows_of(*queries, role=role) == [model(q, made) for q in queries]


def whole(q, write=lambda: None):
    """Goes from page to page as card_page_read does, and writes between two."""
    ids, seconds = [], {card["id"]: card["second"] for card in cards()}
    while True:
        rows = rows_of(q)[0]
        said, last = rows[-1] if rows else (FITS, None)
        page = [card for fits, card in rows if fits & FITS]
        ids += page[:q["limit"]]
        if len(page) > q["limit"]:
            last = page[q["limit"] - 1]
        elif not said & ENDS:
            return ids
        q = {**q, "cursor": (int(last.split("-")[-1]) if "-" in last else seconds[last], last)}
        write()


def test_the_pages_together_are_the_list():
    """Whatever is written meanwhile: a card that was there at the start is on one page, and on no other."""
    made, number = cards(), itertools.count()

    def write():
        n = next(number)
        psql(dsn(), "".join(insert({"id": f"new-{n}-{second}", "second": second, "end": None, "call": None,
                                    "metadata": {"role": "v", "type": "p"}}) for second in (3, 7)))

    for limit, walk, wanted, meanwhile in (
            (20, 30, {}, write), (3, 7, {"role": "v"}, lambda: None), (60, 40, {"role": "v"}, write),
            (50, 20, {"type": "p", "color": "g"}, write), (5, 20, {"role": "nobody"}, lambda: None)):
        q = {"wanted": wanted, "calls": None, "after": None, "before": None, "cursor": None}
        there = [card for _, card in model({**q, "limit": 1000, "walk": 1000}, made)]
        found = whole({**q, "limit": limit, "walk": walk}, meanwhile)
        assert len(set(found)) == len(found), (found, wanted)
        assert [card for card in found if not card.startswith("new-")] == there, (wanted, limit, walk)
        psql(dsn(), "DELETE FROM cardbox.cards WHERE card_id LIKE 'new-%'")


if __name__ == "__main__":
    cardbox_test.main()
