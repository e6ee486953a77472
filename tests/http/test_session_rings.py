#!/usr/bin/env python3
"""The card of an entry that goes out of the tree, because its parents lead back to it, goes too, unless
another session's entry is of it; and those that were left behind before that was so are removed once, and
nothing that an entry, a message or a box needs."""

import glob
import json
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import await_locks, connected, dsn, psql, server
from cardbox_test import session_url as url

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
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


def leave_behind(session, seq, project="old"):
    """What an entry left that went out of the tree."""
    gone = card(session, seq, project)
    psql(dsn(), f"DELETE FROM cardbox.session_entries WHERE tenant_id = '{project}'"
                f" AND session_id = '{session}' AND seq = {seq}")
    return gone


def clean_up():
    for path in glob.glob(os.path.join(ROOT, "sql/migrations/*_cards_without_entries.sql")):
        subprocess.run(["psql", dsn(), "-Xq", "-v", "ON_ERROR_STOP=1", "-c", "SET search_path = pg_catalog",
                        "--single-transaction", "-f", path], check=True)


def test_what_was_left_behind_is_removed():
    chain = b"".join(line(f"e{at}", f"e{at - 1}" if at else None) for at in range(8))
    for project in ("old", "older", "other"):
        bring("s", chain, project=project)
    ok(server().post(url("s", "fork", project="old"), {"session_id": "f", "entry_id": "e1"}))
    kept = {seq: leave_behind("s", seq) for seq in (1, 2, 3, 4)}  # 1: the fork has it
    gone = [leave_behind("s", 5), leave_behind("s", 6, "older")]
    ok(server().post("/projects/old/boxes", {"card_ids": [kept[2]]}))
    ok(server().post("/projects/old/boxes", {"card_ids": [kept[3]] * 64}))
    ok(server().post("/projects/older/boxes", {"card_ids": [gone[0]]}))  # of another project
    psql(dsn(), "SET session_replication_role = replica; INSERT INTO cardbox.messages (tenant_id, message_id,"
                f" task_id, role, ts, seq) VALUES ('old', '{kept[4]}', 't', 'user', 1, 1)")
    mine = gone[0][:-12]
    for identifier, change in ((mine + "0000000000ff", "content = '{}'"),  # came with an export
                               (mine + "0000000000fe", "sealed = false"),
                               (mine + "0000000000fd", "metadata = '{\"type\": \"note\"}'"),
                               (mine + "00000000000x", "content = 'null'"),
                               ("another", "content = 'null'")):
        psql(dsn(), "SET session_replication_role = replica; INSERT INTO cardbox.cards (tenant_id, card_id,"
                    " content, raw, metadata, created_at, sealed) SELECT tenant_id,"
                    f" '{identifier}', content, raw, metadata, created_at, sealed FROM cardbox.cards"
                    f" WHERE tenant_id = 'old' AND card_id = '{gone[0]}'; UPDATE cardbox.cards SET {change}"
                    f" WHERE tenant_id = 'old' AND card_id = '{identifier}'")
    before = {project: cards(project) for project in ("old", "older", "other")}
    clean_up()
    assert set(before["old"]) - set(cards("old")) == {gone[0]}
    assert set(before["older"]) - set(cards("older")) == {gone[1]}
    assert cards("other") == before["other"] and len(cards("other")) == 8


if __name__ == "__main__":
    cardbox_test.main()
