#!/usr/bin/env python3
"""The card of an entry that goes out of the tree, because its parents lead back to it, goes too, unless
another session's entry is of it."""

import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import await_locks, connected, dsn, psql, server
from cardbox_test import session_url as url

NDJSON = {"Content-Type": "application/x-ndjson"}


def line(identifier, parent, text="hello"):
    return json.dumps({"id": identifier, "parentId": parent, "timestamp": "2025-01-02T03:04:05Z", "type": "user",
                       "content": text}).encode() + b"\n"


RING = line("a", "b") + line("b", "a", "secret")


def ok(answer):
    assert answer.status == 200, answer
    return answer.json()


def bring(session, data, project="p"):
    return ok(server().request("POST", url(session, "import", project=project), data, NDJSON))


def delete(session, project="p"):
    return ok(server().request("DELETE", url(session, project=project)))


def export(session):
    answer = server().get(url(session, "export"))
    assert answer.status == 200, answer
    return answer.body


def cards(project):
    rows = psql(dsn(), f"SELECT card_id FROM cardbox.cards WHERE tenant_id = '{project}' ORDER BY 1")
    return rows.split()


def card(session, seq, project="p"):
    return psql(dsn(), f"SELECT card_id FROM cardbox.session_entries WHERE tenant_id = '{project}'"
                       f" AND session_id = '{session}' AND seq = {seq}").strip()


def test_all_of_a_ring_goes_with_its_session():
    for parts in ([RING], [RING[:RING.index(b"\n") + 1], RING]):
        for part in parts:
            report = bring("ring", part, project="rings")
        assert (report["cycles"], report["entries"]) == (1, 1), report
        assert len(cards("rings")) == 1
        answer = delete("ring", project="rings")
        assert (answer["entries"], answer["cards"]) == (1, 1), answer
        assert cards("rings") == []
    bring("ring", line("q", None) + line("w", "q"), project="rings")
    delete("ring", project="rings")


def forked_ring(name):
    """Its two entries are a fork's too, and its first waits for the second, which closes a ring."""
    bring(name, line("a", "z") + line("b", "a", name))
    psql(dsn(), f"UPDATE cardbox.session_entries SET missing = 'b' WHERE session_id = '{name}' AND seq = 0")
    return f"SELECT outcome FROM cardbox.settle_session('p', '{name}') ORDER BY 1"


def test_what_a_fork_has_stays():
    settle = forked_ring("stem")
    ok(server().post(url("stem", "fork"), {"session_id": "branch"}))
    before = export("branch")
    assert psql(dsn(), settle).split() == ["4", "6"]
    assert export("branch") == before and b"stem" in before
    assert (delete("stem")["cards"], delete("branch")["cards"]) == (0, 2)


def settle_meanwhile(settle, first, then):
    """What settling gives that waits for a transaction which began with `first` and ends with `then`."""
    settled = []
    with connected(dsn(), "postgres") as other:
        assert other.run(f"BEGIN; {first}") == "1"
        settler = threading.Thread(target=lambda: settled.extend(psql(dsn(), settle).split()))
        settler.start()
        await_locks(dsn())
        other.run(f"{then}; COMMIT")
        settler.join()
    return settled


def test_what_a_fork_takes_meanwhile_stays():
    settle = forked_ring("held")
    settle_meanwhile(settle, "SELECT outcome FROM cardbox.fork_held_session('p', 'held', '', 'taken')", "")
    assert b'"held"' in export("taken")
    assert (delete("held")["cards"], delete("taken")["cards"]) == (0, 2)


def test_cards_are_locked_in_one_order():
    """By settling, which finds the ring that ends last first, as by who deletes a fork."""
    bring("order", line("a", "z") + line("b", "y") + line("c", "b") + line("d", "a"))
    psql(dsn(), "UPDATE cardbox.session_entries SET missing = CASE seq WHEN 0 THEN 'd' ELSE 'c' END"
                " WHERE session_id = 'order' AND seq < 2")
    ok(server().post(url("order", "fork"), {"session_id": "order-fork", "entry_id": "c"}))
    lock = "SELECT 1 FROM cardbox.cards WHERE tenant_id = 'p' AND card_id = '%s' FOR UPDATE"
    assert settle_meanwhile("SELECT outcome FROM cardbox.settle_session('p', 'order') ORDER BY 1",
                            lock % card("order", 2), lock % card("order", 3)) == ["4", "4", "6", "6"]


if __name__ == "__main__":
    cardbox_test.main()
