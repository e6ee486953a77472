#!/usr/bin/env python3
"""Which rows gc removes and which it keeps: alone, in batches, and while others write."""

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import WAIT_S, Postgres, Server, as_role, await_, await_locks, cardbox, connected, holding, psql

OF_GC_BATCH = ("cards", "revisions", "boxes", "changes", "segments", "chains")
KINDS = (*OF_GC_BATCH, "entries")
TABLES = ("cards", "card_revisions", "card_boxes", "card_box_log", "card_box_segments",
          "card_box_chains", "session_lines", "card_box_orphans")


def names(prefix, count):
    return [f"{prefix}-{number}" for number in range(count)]


def ids_sql(ids):
    return f"'{json.dumps(ids)}'::jsonb"


def create(s, ids, box=None):
    box = box or str(uuid.uuid4())
    assert s.run(f"SELECT outcome FROM cardbox.create_box('p', '{box}', {ids_sql(ids)}, '[]', NULL,"
                 " false)") == "1"
    return box


def append(s, box, ids):
    return s.run(f"SELECT outcome FROM cardbox.append_to_boxes('{{p}}', '{{{box}}}', ARRAY[{ids_sql(ids)}], '{{NULL}}', '{{NULL}}', true)")


def replace(s, box, ids):
    return s.run(f"SELECT outcome FROM cardbox.save_box('p', '{box}', {ids_sql(ids)}, '[]', NULL, NULL)")


def fork_sql(box, new, at_length=None, at_version=None):
    return (f"SELECT outcome FROM cardbox.fork_box('p', '{box}', '{new}', {at_version or 'NULL'},"
            f" {'NULL' if at_length is None else at_length})")


def fork(s, box, at_length=None, at_version=None):
    new = str(uuid.uuid4())
    assert s.run(fork_sql(box, new, at_length, at_version)) == "1"
    return new


def delete(s, box):
    s.run(f"UPDATE cardbox.card_boxes SET deleted_at = clock_timestamp() WHERE tenant_id = 'p'"
          f" AND box_id = '{box}'")


def content(dsn, box, *options):
    done = cardbox("box", "get", "--dsn", dsn, "--project", "p", box, "--json", *options)
    return json.loads(done.stdout)["card_ids"]


def gc_batch(s, most=1000, retention=0):
    """One batch: its fields."""
    row = s.run(f"SELECT to_jsonb(cardbox.gc_batch({retention}, {most}))")
    return json.loads(row)


def gc_all(dsn, *options):
    done = cardbox("gc", "--dsn", as_role(dsn, "cardbox_app"), "--retention-days", "0", "--json",
                   *options)
    return json.loads(done.stdout)


def counts(dsn):
    # In columns: the rows of a UNION ALL come in any order, once PostgreSQL reads them in parallel.
    columns = ", ".join(f"(SELECT count(*) FROM cardbox.{table})" for table in TABLES)
    return dict(zip(TABLES, map(int, Postgres.shared().psql(dsn, f"SELECT {columns}").split("|"))))


def dry_run_is_what_follows(dsn):
    expected = gc_all(dsn, "--dry-run")
    before = counts(dsn)
    assert gc_all(dsn, "--dry-run") == expected and counts(dsn) == before
    done = gc_all(dsn, "--batch", "13")
    assert {**done, "dry_run": True} == expected, (expected, done)
    after = counts(dsn)
    for kind, table in zip(KINDS, TABLES):
        assert before[table] - after[table] == done[kind]["rows"], (kind, before, after, done)
        assert (done[kind]["bytes"] > 0) == (done[kind]["rows"] > 0)
    assert not any(gc_all(dsn)[kind]["rows"] for kind in KINDS)
    return done


# --- by itself ---


def test_shared_segments_survive():
    dsn = Postgres.shared().database()
    with connected(dsn) as s:
        parent = create(s, names("a", 300))
        child = fork(s, parent, at_length=150)
        assert append(s, child, names("b", 100)) == "1"
        delete(s, parent)
        done = dry_run_is_what_follows(dsn)
        # Of 0, 64, 128, 192 the first two are shared; the child has copied what it needs of 128.
        assert done["boxes"]["rows"] == 1 and done["segments"]["rows"] == 2, done
        assert content(dsn, child) == names("a", 150) + names("b", 100)
        delete(s, child)
        dry_run_is_what_follows(dsn)
    assert not any(counts(dsn).values()), counts(dsn)


def test_chains_go_step_by_step():
    """A fork of a fork of a fork: from above, from below, and from the middle."""
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2), (2, 1, 3, 0)):
        dsn = Postgres.shared().database()
        with connected(dsn) as s:
            boxes = [create(s, names("a", 200))]
            lists = [names("a", 200)]
            for depth in range(1, 4):
                boxes.append(fork(s, boxes[-1], at_length=100 + 30 * depth))
                assert append(s, boxes[-1], names(str(depth), 100)) == "1"
                lists.append(lists[-1][:100 + 30 * depth] + names(str(depth), 100))
            for gone in order:
                delete(s, boxes[gone])
                lists[gone] = None
                dry_run_is_what_follows(dsn)
                for box, ids in zip(boxes, lists):
                    assert ids is None or content(dsn, box) == ids, (order, gone, box)
        assert not any(counts(dsn).values()), (order, counts(dsn))


def test_all_at_once():
    dsn = Postgres.shared().database()
    with connected(dsn) as s:
        boxes = [create(s, names("a", 200))]
        for _ in range(5):
            boxes.append(fork(s, boxes[-1]))
            append(s, boxes[-1], names("x", 70))
            replace(s, boxes[-1], names("y", 130))
        other = fork(s, boxes[2], at_version=2)
        expected = content(dsn, other)
        for box in boxes:
            delete(s, box)
        dry_run_is_what_follows(dsn)
        assert content(dsn, other) == expected
        delete(s, other)
        dry_run_is_what_follows(dsn)
    assert not any(counts(dsn).values()), counts(dsn)


def test_history_of_live_boxes_stays():
    dsn = Postgres.shared().database()
    with connected(dsn) as s:
        box = create(s, names("a", 150))
        replace(s, box, names("b", 140))
        append(s, box, names("c", 30))
        doomed = fork(s, box, at_version=1)
        delete(s, doomed)
        done = dry_run_is_what_follows(dsn)
        assert done["segments"]["rows"] == 0 and done["chains"]["rows"] == 1, done
        assert content(dsn, box, "--at-version", "1") == names("a", 150)
        assert content(dsn, box, "--at-version", "2") == names("b", 140)
        assert content(dsn, box) == names("b", 140) + names("c", 30)


def test_retention_of_boxes():
    dsn = Postgres.shared().database()
    with connected(dsn) as s:
        old, fresh = create(s, names("a", 70)), create(s, names("b", 70))
        for box, age in ((old, "8 days"), (fresh, "6 days")):
            s.run("UPDATE cardbox.card_boxes SET deleted_at = clock_timestamp()"
                  f" - interval '{age}' WHERE box_id = '{box}'")
    cardbox("gc", "--dsn", dsn)
    assert counts(dsn)["card_boxes"] == 2  # 30 days
    said = cardbox("gc", "--dsn", dsn, "--retention-days", "7").stdout
    assert "segments" in said and said.endswith("\n3 rows removed\n"), said
    assert counts(dsn)["card_boxes"] == 1 and counts(dsn)["card_box_segments"] == 1


def test_id_that_is_used_again():
    """A new box under the id of one whose segments are still needed by a fork."""
    dsn = Postgres.shared().database()
    with connected(dsn) as s:
        box = create(s, names("a", 200))
        child = fork(s, box)
        delete(s, box)
        gc_all(dsn)
        create(s, names("new", 200), box)
        append(s, box, names("more", 100))
        assert content(dsn, child) == names("a", 200)
        assert content(dsn, box) == names("new", 200) + names("more", 100)
        delete(s, child)
        dry_run_is_what_follows(dsn)
        assert content(dsn, box) == names("new", 200) + names("more", 100)


def test_revisions_and_sealed_cards():
    dsn = Postgres.shared().database()
    for text in ("one", "two", "three"):
        cardbox("card", "add", "--dsn", dsn, "--project", "p", "--id", "c", "--text", text)
        cardbox("card", "add", "--dsn", dsn, "--project", "p", "--id", "stays", "--text", text)
    cardbox("card", "add", "--dsn", dsn, "--project", "p", "--id", "s", "--text", "x", "--sealed",
            "--ttl", "1")
    psql(dsn, "UPDATE cardbox.cards SET deleted_at = now() WHERE card_id = 'c'")
    await_(lambda: psql(dsn, "SELECT expires_at <= clock_timestamp() FROM cardbox.cards WHERE sealed") == "t\n")
    done = dry_run_is_what_follows(dsn)
    assert done["cards"]["rows"] == 2 and done["revisions"]["rows"] == 2, done
    assert counts(dsn)["card_revisions"] == 2 and counts(dsn)["cards"] == 1


# --- batches ---


def test_batches_are_bounded():
    dsn = Postgres.shared().database()
    with connected(dsn) as s:
        box = create(s, names("a", 64 * 20))
        for number in range(30):
            append(s, box, [f"x{number}"])
        child = fork(s, box, at_length=64 * 5)
        for number in range(5):
            create(s, names("y", 64 * number), str(uuid.UUID(int=number)))
            delete(s, str(uuid.UUID(int=number)))
        delete(s, box)
        s.run("INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at, expires_at)"
              " SELECT 'p', n, '1', now(), now() FROM generate_series(1, 10) n;"
              "INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at, deleted_at)"
              " SELECT 'p', 'd' || n, '1', now(), now() FROM generate_series(1, 10) n")
        total, batches, more = 0, 0, True
        while more:
            done = gc_batch(s, most=7)
            rows = sum(done[kind] for kind in OF_GC_BATCH)
            # A chain's row goes with its orphan, which is counted instead.
            assert rows - done["chains"] <= 7 and batches < 200, done
            total, batches, more = total + rows, batches + 1, done["more"]
        assert total == 20 + 6 + (31 + 5) + 15 + 10, total
        assert content(dsn, child) == names("a", 64 * 5)


def test_locked_cards_do_not_keep_others():
    """A batch of locked cards at the front of the index: gc skips them and goes on."""
    dsn = Postgres.shared().database()
    with connected(dsn) as s, connected(dsn) as locker:
        for kind, at in (("expires_at", "e"), ("deleted_at", "d")):
            s.run(f"INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at, {kind}) SELECT 'p', '{at}' || n, '1',"
                  " now(), now() - interval '1 day' + n * interval '1 second' FROM generate_series(1, 14) n")
        locker.run("BEGIN")
        locker.run("SELECT count(*) FROM (SELECT FROM cardbox.cards"
                   " WHERE card_id IN ('e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7')"
                   " FOR UPDATE) AS x")
        assert gc_batch(s, most=7)["cards"] == 7 and gc_batch(s, most=7)["cards"] == 7
        assert gc_batch(s, most=7)["cards"] == 0
        locker.run("ROLLBACK")
        assert gc_batch(s)["cards"] == 14


def test_orphans_that_others_continue_end_nothing():
    """More of them than a batch has room for, all before the one that can go."""
    dsn = Postgres.shared().database()
    with connected(dsn) as s:
        boxes = [create(s, names("a", 200)) for _ in range(11)]
        last = s.run("SELECT box_id FROM cardbox.card_boxes ORDER BY chain_id DESC LIMIT 1")
        kept = [fork(s, box) for box in boxes if box != last]
        for box in boxes:
            delete(s, box)
        batches = 1
        while gc_batch(s, most=7)["more"]:
            batches += 1
            assert batches < 50
        assert gc_batch(s)["segments"] == 0 and counts(dsn)["card_box_segments"] == 10 * 3
        assert all(content(dsn, box) == names("a", 200) for box in kept)


def test_no_table_is_read_whole():
    """Much is alive, little is dead: the batch reads little."""
    dsn = Postgres.shared().database()
    with connected(dsn) as s:
        s.run("INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at)"
              " SELECT 'p', n, '1', now() FROM generate_series(1, 20000) n;"
              "SELECT cardbox.create_box('p', gen_random_uuid(), jsonb_build_array('a'), '[]', NULL,"
              " false) FROM generate_series(1, 5000)")
        box = create(s, names("a", 70))
        delete(s, fork(s, box))
        delete(s, create(s, names("a", 200)))
        s.run("UPDATE cardbox.cards SET deleted_at = now() WHERE card_id IN ('1', '2')")
        Postgres.shared().psql(dsn, "ANALYZE")
    with connected(dsn) as s:  # a new one: the counters include what was not told yet
        s.run("BEGIN")
        done = gc_batch(s)
        assert done["cards"] == 2 and done["boxes"] == 2 and done["segments"] == 3, done
        s.run("SELECT cardbox.gc_count(0)")
        read = s.run("SELECT relname, seq_tup_read FROM pg_stat_xact_user_tables"
                     " WHERE seq_tup_read > 100")
        s.run("COMMIT")
        assert read == "", read


def test_isolation_level_is_checked():
    dsn = Postgres.shared().database()
    with connected(dsn) as s:
        s.send("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT cardbox.gc_batch(0, 10); ROLLBACK")
        assert "needs the isolation level" in s.receive()


# --- while others write ---


def test_fork_that_has_not_committed():
    """It is seen by nobody, but what it shares stays."""
    dsn = Postgres.shared().database()
    with connected(dsn) as s, connected(dsn) as forking:
        box, new = create(s, names("a", 200)), str(uuid.uuid4())
        assert forking.run("BEGIN; " + fork_sql(box, new)) == "1"
        delete(s, box)
        done = gc_batch(s)
        assert not any(done[kind] for kind in OF_GC_BATCH), done
        forking.run("COMMIT")
        done = gc_batch(s)
        assert done["boxes"] == 1 and done["segments"] == 0, done
        assert content(dsn, new) == names("a", 200)


def test_fork_that_comes_too_late():
    """gc has locked the box: the fork waits for it, and then there is no box."""
    dsn = Postgres.shared().database()
    with connected(dsn) as gc_session, connected(dsn) as forking:
        box, new = create(gc_session, names("a", 200)), str(uuid.uuid4())
        # Its statement has begun, and so it sees the box alive, before it gets to the lock.
        forking.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM cardbox.card_boxes")
        delete(gc_session, box)
        gc_session.run("BEGIN")
        assert gc_batch(gc_session)["boxes"] == 1
        forking.send(fork_sql(box, new))
        await_locks(dsn)
        gc_session.run("COMMIT")
        assert "could not serialize" in forking.receive()
        forking.run("ROLLBACK")
        assert forking.run(fork_sql(box, new)) == "3"
        assert gc_batch(gc_session)["busy"] is False
    assert not any(counts(dsn).values()), counts(dsn)


def test_only_one_gc_runs():
    dsn = Postgres.shared().database()
    with connected(dsn) as one, connected(dsn) as two:
        delete(one, create(one, names("a", 70)))
        one.run("BEGIN")
        assert gc_batch(one)["boxes"] == 1
        assert gc_batch(two)["busy"] is True
        waiting = subprocess.Popen([os.path.join(cardbox_test.BUILD, "bin", "cardbox"), "gc",
                                    "--dsn", dsn], stdout=subprocess.PIPE, text=True)
        time.sleep(0.3)
        assert waiting.poll() is None
        one.run("COMMIT")
        assert waiting.wait(WAIT_S) == 0 and waiting.stdout.read() == "0 rows removed\n"


def test_two_servers_sweep():
    dsn = Postgres.shared().database()
    options = ("--gc-interval-s", "1", "--retention-days", "0")
    left = {**dict.fromkeys(TABLES, 0), "card_boxes": 1, "card_box_log": 1, "card_box_segments": 1}
    with connected(dsn) as s:
        servers = [Server(dsn, *options) for _ in range(2)]
        try:
            keep = create(s, names("k", 100))
            for turn in range(3):
                s.run("INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at, expires_at)"
                      " SELECT 'p', n, '1', now(), now() FROM generate_series(1, 2500) n")
                for _ in range(5):
                    delete(s, fork(s, keep))
                    delete(s, create(s, names("x", 200)))
                await_(lambda: counts(dsn) == left, lambda: counts(dsn))
            assert content(dsn, keep) == names("k", 100)
            for server in servers:
                server.stop()
            assert any("event=gc_done" in server.log() for server in servers)
        finally:
            for server in servers:
                server.kill()


def test_a_session_that_keeps_gc_out_is_logged():
    dsn = Postgres.shared().database()
    server = Server(dsn, "--gc-interval-s", "1", "--gc-warn-s", "1")
    for sql, why in (("SELECT FROM cardbox.lock_rows WHERE name = 'gc' FOR UPDATE", "holds the lock of gc"), ("LOCK TABLE cardbox.cards", "has locked tables")):
        seen = len(server.log())
        with holding(dsn, sql) as pid:
            line = await_(lambda: re.search(r"event=gc_kept_out .*", server.log()[seen:]), server.log).group()  # pylint: disable=cell-var-from-loop
            assert why in line and f'pid={pid} application="holder"' in line, line
        await_(lambda: "event=gc_runs_again" in server.log()[seen:], server.log)  # pylint: disable=cell-var-from-loop
    assert "held by" not in server.log(), "what the other session runs may have values in it"
    server.stop()


def test_gc_without_its_row():
    """As where only the schema was restored: the row is made again, by one of two."""
    dsn = Postgres.shared().database()
    psql(dsn, "DELETE FROM cardbox.lock_rows")
    with connected(dsn) as s:
        assert gc_batch(s)["busy"] is False
        s.run("BEGIN")
        assert gc_batch(s)["busy"] is False
        with connected(dsn) as other:
            assert gc_batch(other)["busy"] is True
            s.run("COMMIT")
            assert gc_batch(other)["busy"] is False


def write(s, chooser, live, seconds):
    """Makes, appends to, replaces, forks and deletes boxes of its own; `live` says what they hold."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        what = chooser.random()
        box = chooser.choice(list(live)) if live else None
        fresh = names(str(chooser.randrange(10**9)), chooser.randrange(1, 150))
        if box is None or (what < 0.15 and len(live) < 30):
            live[create(s, fresh)] = [fresh]
        elif what < 0.4:
            assert append(s, box, fresh) == "1"
            live[box].append(live[box][-1] + fresh)
        elif what < 0.5:
            assert replace(s, box, fresh) == "1"
            live[box].append(fresh)
        elif what < 0.75:
            version = chooser.randrange(len(live[box]))
            ids, held = live[box][version], chooser.random() < 0.3
            if held:
                s.run("BEGIN")
            new = fork(s, box, at_version=version + 1)
            live[new] = [ids]
            if held:  # its parent may die before this commits
                time.sleep(chooser.random() / 20)
                s.run("COMMIT")
        else:
            delete(s, box)
            del live[box]


def test_everything_at_once():
    """Writers on their own boxes and on each other's fate: at the end every live box, in each of its
    versions, holds what was written; and without boxes nothing is left."""
    dsn = Postgres.shared().database()
    seconds = 4 if cardbox_test.LIGHT else 10
    lives, failures, stopping = [{} for _ in range(4)], [], threading.Event()

    def guarded(function, *arguments):
        try:
            with connected(dsn) as s:
                function(s, *arguments)
        except Exception as error:
            failures.append(error)

    def run_gc(s, most):
        while not stopping.is_set():
            gc_batch(s, most)

    seed = random.randrange(10**6)
    writers = [threading.Thread(target=guarded, args=(write, random.Random(seed + n), live, seconds))
               for n, live in enumerate(lives)]
    gc_threads = [threading.Thread(target=guarded, args=(run_gc, most)) for most in (5, 1000)]
    for thread in writers + gc_threads:
        thread.start()
    for thread in writers:
        thread.join()
    stopping.set()
    for thread in gc_threads:
        thread.join()
    assert not failures, (seed, failures)
    gc_all(dsn)
    with connected(dsn) as s:
        for live in lives:
            for box, versions in live.items():
                for number, ids in enumerate(versions, 1):
                    length = len(ids)
                    found = json.loads(s.run(
                        "SELECT coalesce(jsonb_agg(e.id ORDER BY p.start, e.place), '[]') FROM"
                        " cardbox.card_boxes b JOIN cardbox.card_box_log l USING (tenant_id, box_id),"
                        " LATERAL (SELECT * FROM cardbox.chain_segments(b.tenant_id, l.chain_id,"
                        " 9223372036854775807, 0, l.length) UNION ALL SELECT b.length / 64 * 64, b.tail"
                        " WHERE b.chain_id = l.chain_id AND b.length / 64 * 64 < l.length) p,"
                        " jsonb_array_elements(p.card_ids) WITH ORDINALITY e(id, place)"
                        f" WHERE b.box_id = '{box}' AND l.version = {number}"))
                    assert found[:length] == ids, (seed, box, number, len(found), length)
                delete(s, box)
    dry_run_is_what_follows(dsn)
    assert not any(counts(dsn).values()), (seed, counts(dsn))


if __name__ == "__main__":
    cardbox_test.main()
