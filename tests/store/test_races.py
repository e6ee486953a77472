#!/usr/bin/env python3
"""Two sessions at once on one row, each race held open by a lock: what was acknowledged stays, and
what is answered is what was done. And rows that only somebody past our functions could write."""

import contextlib
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, as_role, await_locks, connected
from sql_statements import fill

BOX = "00000000-0000-7000-8000-000000000001"
FORK = "00000000-0000-7000-8000-000000000002"


def add(card, restore=False, ttl="NULL", created="NULL", metadata="{}", call="NULL", sealed=False):
    return (f"SELECT outcome FROM cardbox.write_cards(ARRAY['t'], ARRAY['{card}'], ARRAY['1'::json], "
            f"ARRAY[NULL::jsonb], ARRAY[{call}], ARRAY[{ttl}::int], "
            f"ARRAY['{metadata}'::jsonb], ARRAY[{created}::timestamptz], ARRAY[NULL::timestamptz], "
            f"ARRAY[NULL::timestamptz], ARRAY[{sealed}], ARRAY[false], ARRAY[{restore}], true)")


def result(card, call, **more):
    return add(card, metadata='{"type":"tool.result"}', call=f"'{call}'", **more)


@contextlib.contextmanager
def sessions(dsn, *role):
    with connected(dsn, *role) as one, connected(dsn, *role) as other:
        yield one, other


@contextlib.contextmanager
def background(dsn, sql, waiting=1):
    """A statement that waits for the lock which the body of the with statement gives up, as `waiting` do then."""
    psql = subprocess.Popen(["psql", as_role(dsn, "cardbox_app"), "-XqAt", "-c", sql], stdout=subprocess.PIPE, text=True)
    await_locks(dsn, waiting)
    yield psql
    psql.wait()


def test_gc_spares_what_was_restored():
    dsn = Postgres.shared().database()
    with sessions(dsn) as (x, y):
        x.run(add("r", ttl=1, created="'2020-01-01T00:00:00Z'"))
        x.run("BEGIN")
        assert x.run(add("r", restore=True, ttl=3600)) == "4"
        assert y.run(fill("gc_batch", "0", "100")).split("|")[3] == "0"  # it waits for nobody
        x.run("COMMIT")
        assert y.run(fill("gc_batch", "0", "100")).split("|")[3] == "0"
        assert y.run("SELECT count(*) FROM cardbox.cards WHERE card_id = 'r'") == "1"


def test_restored_result_keeps_its_call():
    dsn = Postgres.shared().database()
    with sessions(dsn) as (x, y):
        x.run(result("q1", "call", ttl=1, created="'2020-01-01T00:00:00Z'"))
        x.run("BEGIN")
        x.run("SELECT 1 FROM cardbox.cards WHERE card_id = 'q1' FOR UPDATE")
        with background(dsn, result("q2", "call")) as other:
            assert x.run(result("q1", "call", restore=True, ttl=3600)) == "4"
            x.run("COMMIT")
            assert other.stdout.read().strip() == "5"
        assert y.run("SELECT count(*) FROM cardbox.cards WHERE card_id = 'q1' AND deleted_at IS NULL") == "1"


def test_delete_of_what_was_sealed():
    dsn = Postgres.shared().database()
    with sessions(dsn) as (x, y):
        x.run(add("s"))
        x.run("BEGIN")
        x.run(add("s", sealed=True))
        with background(dsn, fill("card_delete", "'t'", "'s'")) as delete:
            x.run("COMMIT")
            assert delete.stdout.read().strip() == "t"
        assert y.run("SELECT count(*) FROM cardbox.cards WHERE card_id = 's' AND deleted_at IS NULL") == "1"


def ids(first, count):
    return f"(SELECT jsonb_agg('id-' || n.i) FROM generate_series({first}, {first + count - 1}) AS n(i))"


def append(box, ids_sql):
    """One that waits, as SQL; `box` is an expression."""
    return f"SELECT * FROM cardbox.append_to_boxes('{{t}}', ARRAY[{box}]::uuid[], ARRAY[{ids_sql}]::jsonb[], '{{NULL}}', '{{NULL}}', true)"


def fork_while(dsn, change):
    """Forks at version 2 while the change that makes version 2 is under way."""
    with sessions(dsn) as (x, y):
        x.run(f"SELECT cardbox.create_box('t', '{BOX}', {ids(1, 2)}, '[]', NULL, false)")
        x.run("BEGIN")
        x.run(change)
        assert y.run(f"SELECT outcome FROM cardbox.fork_box('t', '{BOX}', '{FORK}', 2, NULL)") == "8"
        x.run("COMMIT")
        assert y.run(f"SELECT outcome FROM cardbox.fork_box('t', '{BOX}', '{FORK}', 2, NULL)") == "1"
        return y.run(f"SELECT length, jsonb_array_length(card_ids) FROM cardbox.boxes WHERE box_id = '{FORK}'")


def test_fork_at_a_version_under_way():
    dsn = Postgres.shared().database()
    assert fork_while(dsn, append(f"'{BOX}'", ids(3, 3))) == "5|5"
    dsn = Postgres.shared().database()
    assert fork_while(dsn, f"SELECT cardbox.save_box('t', '{BOX}', {ids(3, 130)}, '[]', NULL, NULL)") == "130|130"


def seal(box):
    return f"SELECT outcome, version FROM cardbox.seal_box('t', '{box}', NULL)"


def test_changes_that_waited_for_a_seal():
    """Each finds the box sealed, however it was sent."""
    batch = (f"SELECT outcome FROM cardbox.append_to_boxes('{{t,t}}', ARRAY['{BOX}', '{FORK}']::uuid[], ARRAY['[\"a\"]', '[\"a\"]']::jsonb[], "
             "'{NULL,NULL}', '{NULL,NULL}', true)")
    for change, waits, outcome in (
            (append(f"'{BOX}'", "'[\"a\"]'"), True, "1|11|2|2"), (append(f"'{BOX}'", ids(1, 70)), True, "1|11|2|2"),
            (f"SELECT * FROM cardbox.save_box('t', '{BOX}', '[\"a\"]', '[]', NULL, NULL)", True, "11|2|2"),
            (f"SELECT cardbox.delete_box('t', '{BOX}') IS NULL", True, "t"), (batch, False, "1\n9")):
        dsn = Postgres.shared().database()
        with sessions(dsn) as (x, y):
            for box in (BOX, FORK):
                x.run(f"SELECT cardbox.create_box('t', '{box}', {ids(1, 2)}, '[]', NULL, false)")
            x.run("BEGIN")
            assert x.run(seal(BOX)) == "1|2"
            with background(dsn, change) if waits else contextlib.nullcontext() as waiting:
                if waits:
                    x.run("COMMIT")
                    assert waiting.stdout.read().strip() == outcome, change
                else:
                    assert y.run(change) == outcome
                    x.run("COMMIT")
            assert y.run(f"SELECT card_ids, version, sealed FROM cardbox.boxes WHERE box_id = '{BOX}'") == '["id-1", "id-2"]|2|t'


def test_a_seal_that_waited_for_an_append():
    dsn = Postgres.shared().database()
    with sessions(dsn) as (x, y):
        x.run(f"SELECT cardbox.create_box('t', '{BOX}', '[]', '[]', NULL, false)")
        x.run("BEGIN")
        x.run(append(f"'{BOX}'", "'[\"a\"]'"))
        with background(dsn, seal(BOX)) as waiting:
            x.run("COMMIT")
            assert waiting.stdout.read().strip() == "1|3"
        assert y.run("SELECT string_agg(op || length, ' ' ORDER BY version) FROM cardbox.card_box_log") == "create0 append1 seal1"


def test_two_seals_at_once():
    dsn = Postgres.shared().database()
    with sessions(dsn) as (x, y):
        x.run(f"SELECT cardbox.create_box('t', '{BOX}', '[]', '[]', NULL, false)")
        x.run("BEGIN")
        x.run(seal(BOX))
        with background(dsn, seal(BOX)) as waiting:
            x.run("COMMIT")
            assert waiting.stdout.read().strip() == "2|2"
        assert y.run("SELECT count(*) FROM cardbox.card_box_log") == "2"


def test_times_follow_versions():
    """A writer that waited for another is later than it in the log."""
    dsn = Postgres.shared().database()
    with sessions(dsn) as (x, y):
        x.run(f"SELECT cardbox.create_box('t', '{BOX}', '[]', '[]', NULL, false)")
        x.run("BEGIN")
        x.run(append(f"'{BOX}'", "'[\"a\"]'"))
        with background(dsn, append(f"'{BOX}'", "'[\"b\"]'")):
            x.run("SELECT pg_sleep(0.2); " + append(f"'{BOX}'", "'[\"c\"]'"))
            x.run("COMMIT")
        assert y.run("SELECT bool_and(later), count(*) FROM (SELECT at >= lag(at, 1, at) OVER (ORDER BY version) AS later "
                     "FROM cardbox.card_box_log) x") == "t|4"


def test_times_of_a_clock_that_was_set_back():
    """No change is earlier than the one before it, whatever the clock says."""
    for change in (append(f"'{BOX}'", "'[\"a\"]'"), append(f"'{BOX}'", ids(1, 70)),
                   f"SELECT cardbox.save_box('t', '{BOX}', '[\"a\"]', '[]', NULL, NULL)", seal(BOX)):
        dsn = Postgres.shared().database()
        with sessions(dsn) as (x, _):
            x.run(f"SELECT cardbox.create_box('t', '{BOX}', '[]', '[]', NULL, false)")
            x.run("UPDATE cardbox.card_boxes SET updated_at = '2099-01-01'")
            x.run(change)
            assert x.run("SELECT version, at = '2099-01-01' FROM cardbox.card_box_log ORDER BY 1 DESC LIMIT 1") == "2|t", change


def test_append_to_a_fork_that_is_replaced():
    """A batch waits for its first box's key with an older snapshot of its second box, a fork that is replaced meanwhile."""
    dsn = Postgres.shared().database()
    with sessions(dsn) as (x, y):
        x.run(f"SELECT cardbox.create_box('t', '{BOX}', {ids(1, 130)}, '[]', NULL, false)")
        x.run(f"SELECT cardbox.fork_box('t', '{BOX}', '{FORK}', NULL, NULL)")
        x.run("BEGIN; INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, append_key, at)"
              f" SELECT tenant_id, box_id, 9, 'append', chain_id, 131, 1, 'k', now() FROM cardbox.card_boxes WHERE box_id = '{BOX}'")
        both = (f"SELECT outcome, version, length FROM cardbox.append_to_boxes('{{t,t}}', '{{{BOX},{FORK}}}',"
                " ARRAY['[\"a\"]', '[\"b\"]']::jsonb[], '{NULL,NULL}', '{k,NULL}', false) ORDER BY ord")
        with background(dsn, both) as batch:
            assert y.run(f"SELECT outcome FROM cardbox.save_box('t', '{FORK}', '[\"z\"]', '[]', NULL, NULL)") == "1"
            x.run("ROLLBACK")
            assert batch.stdout.read().split() == ["1|2|131", "1|3|2"]
        assert y.run(f"SELECT card_ids FROM cardbox.boxes WHERE box_id = '{FORK}'") == '["z", "b"]'


def test_deep_forks_stay_shallow():
    """A chain of 600 forks: never deeper than 256, each whole, and none slower for it."""
    dsn = Postgres.shared().database()
    depth = 60 if cardbox_test.LIGHT else 600
    with sessions(dsn) as (x, _):
        x.run(f"SELECT cardbox.create_box('t', '{BOX}', {ids(1, 200)}, '[]', NULL, false)")
        x.run(f"""DO $$ DECLARE box uuid := '{BOX}'; next uuid; BEGIN
                  FOR i IN 1 .. {depth} LOOP
                      next := gen_random_uuid();
                      PERFORM cardbox.fork_box('t', box, next, NULL, NULL);
                      PERFORM FROM ({append("next", ids(1, 40))}) AS a;
                      box := next;
                  END LOOP; END $$""")
        assert int(x.run("SELECT max(depth) FROM cardbox.card_box_chains")) <= 256
        assert x.run("SELECT count(*) FROM cardbox.boxes WHERE length <> jsonb_array_length(card_ids)") == "0"
        assert x.run("SELECT max(length) FROM cardbox.boxes") == str(200 + 40 * depth)


def test_tables_refuse_nonsense():
    dsn = Postgres.shared().database()
    pg = Postgres.shared()
    pg.psql(dsn, f"SELECT cardbox.create_box('t', '{BOX}', {ids(1, 70)}, '[]', NULL, false)")
    for sql in (f"SELECT cardbox.create_box('t', '{FORK}', '[null,1,\"x\"]', '[]', NULL, false)",
                f"SELECT cardbox.create_box('t', '{FORK}', '[]', '{{\"x\":1}}', NULL, false)",
                f"SELECT cardbox.create_box('t', '{FORK}', NULL, '[]', NULL, false)",
                append(f"'{BOX}'", "'{}'"),
                append(f"'{BOX}'", "'[[]]'"),
                f"SELECT cardbox.save_box('t', '{BOX}', '\"x\"', '[]', NULL, NULL)",
                "UPDATE cardbox.card_boxes SET length = 4000000000",
                "UPDATE cardbox.card_boxes SET length = -1",
                "UPDATE cardbox.card_boxes SET tail = '{\"a\":1}'",
                "UPDATE cardbox.card_boxes SET parent_ids = '[1]'",
                "UPDATE cardbox.card_boxes SET tenant_id = ''",
                "UPDATE cardbox.card_box_log SET op = 'other'",
                "INSERT INTO cardbox.card_box_segments VALUES ('t', gen_random_uuid(), 1, '[\"a\"]')"):
        refused = subprocess.run(["psql", as_role(dsn, "cardbox_app"), "-Xqc", sql], capture_output=True, text=True)
        assert "ERROR" in refused.stderr, sql
    for at_length in (-200, 71):
        assert pg.psql(dsn, f"SELECT outcome FROM cardbox.fork_box('t', '{BOX}', '{FORK}', NULL, {at_length})").strip() == "8"


def test_circle_of_chains_ends():
    """What a worker with SQL of its own can still write harms nobody else."""
    dsn = Postgres.shared().database()
    pg = Postgres.shared()
    pg.psql(dsn, f"SELECT cardbox.create_box('t', '{BOX}', {ids(1, 100)}, '[]', NULL, false)")
    pg.psql(dsn, f"INSERT INTO cardbox.card_box_chains VALUES ('t', (SELECT chain_id FROM cardbox.card_boxes), '{FORK}', 64, 1), ('t', '{FORK}', '{FORK}', 64, 2);"
                 f"INSERT INTO cardbox.card_box_segments VALUES ('t', '{FORK}', 0, {ids(1, 64)});"
                 "UPDATE cardbox.card_boxes SET own_from = 64")
    read = cardbox_test.cardbox("box", "get", "--dsn", dsn, "--project", "t", BOX, check=False)
    assert read.returncode == 1 and "damaged" in read.stderr, read
    server = cardbox_test.Server(dsn)
    answer = server.get(f"/projects/t/boxes/{BOX}/cards")
    # As often as a chain may have parents: then its reading ends.
    assert answer.status == 200 and int(answer.header("Cardbox-Missing")) < 64 * 260, answer.headers
    server.stop()


def test_odd_rows_do_not_spoil_their_neighbours():
    """Odd text and times at the edge, as only foreign writers leave them. Text that is no JSON the
    column refuses."""
    dsn = Postgres.shared().database()
    pg = Postgres.shared()
    pg.psql(dsn, add("good"))
    rows = ("' [1 ]'", "'\"\\u0000\"'")
    for number, content in enumerate(rows):
        pg.psql(dsn, "INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at) "
                     f"VALUES ('t', 'odd-{number}', {content}, '{{}}', 'infinity')")
    pg.psql(dsn, "UPDATE cardbox.cards SET expires_at = 'infinity' WHERE card_id = 'odd-0'")
    server = cardbox_test.Server(dsn)
    names = ["good"] + [f"odd-{number}" for number in range(len(rows))]
    cards = server.post("/projects/t/cards/batch", {"card_ids": names}).json()["cards"]
    server.stop()
    assert [card["card_id"] for card in cards] == names
    assert [card["content"] for card in cards[1:]] == [[1], "\0"]
    assert all(card["project_id"] == "t" for card in cards)


def test_sealed_and_deleted_comes_back_or_goes():
    dsn = Postgres.shared().database()
    line = ('{"kind":"card","card_id":"%s","content":1,"metadata":{},"created_at":"2020-01-01T00:00:00Z",'
            '"deleted_at":"2020-01-02T00:00:00Z","sealed":true}\n')
    cardbox_test.cardbox("import", "--dsn", dsn, "--project", "t", "-", stdin=line % "back" + line % "kept" + line % "gone")
    pg = Postgres.shared()
    assert pg.psql(dsn, add("kept", restore=True)).strip() == "4"
    assert pg.psql(dsn, "SELECT sealed FROM cardbox.cards WHERE card_id = 'kept'").strip() == "t"
    assert pg.psql(dsn, add("back", restore=True, sealed=True)).strip() == "4"
    other = add("gone", restore=True, sealed=True).replace("'1'::json", "'2'::json")
    assert pg.psql(dsn, other).strip() == "5"
    assert pg.psql(dsn, fill("gc_batch", "0", "100")).split("|")[3] == "1"
    assert pg.psql(dsn, "SELECT card_id FROM cardbox.cards ORDER BY 1").split() == ["back", "kept"]


def test_tasks_are_locked_in_one_order():
    """Of a task that ends and its parent the lower id comes first: two that end them never wait for each other."""
    ended = """'[{"id": "z", "parent": "a", "status": "success", "created": 1, "updated": 9}]', ARRAY['"x"'::json]"""
    nothing = "'[]', NULL, '[]', NULL, NULL"
    for ending, done in ((f"SELECT cardbox.cancel_task('t', 'z', '\"no\"')", "3"),
                         (f"SELECT outcome FROM cardbox.write_task('t', 'z', 1, {nothing}, 1, 'success', NULL, false, NULL)", "3"),
                         (f"SELECT outcome FROM cardbox.save_ledger('t', {ended}, {nothing})", "3")):
        dsn = Postgres.shared().database()
        with sessions(dsn, "cardbox") as (x, y):
            y.run("INSERT INTO cardbox.tasks (tenant_id, task_id, parent_task_id, system_prompt, created_at, updated_at, wake_at,"
                  " lease_owner, lease_epoch) SELECT 't', id, parent, '\"x\"', 1, 1, now(), 'w', 1"
                  " FROM (VALUES ('a', NULL), ('z', 'a')) AS v(id, parent)")
            x.run("BEGIN; SELECT FROM cardbox.tasks WHERE task_id = 'a' FOR NO KEY UPDATE")
            with background(dsn, ending) as other:
                assert x.run("SELECT task_id FROM cardbox.tasks WHERE task_id = 'z' FOR NO KEY UPDATE NOWAIT") == "z", ending
                x.run("COMMIT")
                assert other.stdout.read().strip() == done, ending
            assert y.run("SELECT completion_status IS NOT NULL FROM cardbox.tasks WHERE task_id = 'z'") == "t"


def test_new_tasks_of_two_batches():
    """Batches that make the same tasks in different orders: one is saved behind the other."""
    def save(*tasks):
        made = ",".join('{"id": "%s", "created": 1, "updated": 1}' % task for task in tasks)
        prompts = ",".join("""'"x"'""" for _ in tasks)
        return f"""SELECT outcome FROM cardbox.save_ledger('t', '[{made}]', ARRAY[{prompts}]::json[], '[]', NULL, '[]', NULL, NULL)"""

    dsn = Postgres.shared().database()
    with sessions(dsn) as (x, _):
        x.run("BEGIN; " + save("a"))
        with background(dsn, save("b", "a", "c")) as one, background(dsn, save("c", "b"), waiting=2) as other:
            x.run("COMMIT")
            assert one.stdout.read().split() == ["1", "2", "1"]
            assert other.stdout.read().split() == ["2", "2"]


if __name__ == "__main__":
    cardbox_test.main()
