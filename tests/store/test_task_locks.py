#!/usr/bin/env python3
"""Claims and the ends of tasks at the same time: a claim waits for no task that another transaction has locked, so that
it can't be part of a deadlock."""

import contextlib
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, connected, psql

CHILDREN = [f"z{n}" for n in range(10, 30)]
ATTEMPTS = 3


def make_tasks(dsn, children=CHILDREN, attempts=ATTEMPTS):
    """The task `a` and its subtasks, each with an open call. The subtasks have been claimed so often."""
    psql(dsn, f"""
INSERT INTO cardbox.tasks (tenant_id, task_id, parent_task_id, system_prompt, created_at, updated_at, wake_at, attempts)
SELECT 't', i.id, CASE WHEN i.id <> 'a' THEN 'a' END, '""', 1, 1, CASE WHEN i.id <> 'a' THEN now() - i.n * interval '1 second' END,
       CASE WHEN i.id <> 'a' THEN {attempts} ELSE 0 END
  FROM unnest(ARRAY['a'] || ARRAY{children}) WITH ORDINALITY AS i(id, n);
INSERT INTO cardbox.messages (tenant_id, message_id, task_id, role, ts, seq)
SELECT 't', 'start-' || id, id, 'assistant', 1, 1 FROM unnest(ARRAY{children}) AS i(id);
INSERT INTO cardbox.calls (tenant_id, call_id, task_id, ability_name, parameters, status, details, created_at, updated_at,
                           start_message_id, seq)
SELECT 't', 'call-' || id, id, 'x', '""', 'in_progress', '""', 1, 1, 'start-' || id, 1 FROM unnest(ARRAY{children}) AS i(id)""")


def claim(limit=10, owner="w", take_over=False):
    return (f"SELECT coalesce(string_agg(c.task_id || ' ' || c.outcome, ',' ORDER BY c.task_id), '') FROM "
            f"cardbox.claim_tasks(ARRAY['t'], '{owner}', 60000, {limit}, {ATTEMPTS}, {take_over}) AS c")


@contextlib.contextmanager
def tasks():
    """A database with the tasks, and two sessions. The second one fails instead of waiting."""
    dsn = Postgres.shared().database()
    make_tasks(dsn)
    with connected(dsn, "postgres") as one, connected(dsn, "postgres") as other:
        other.run("SET lock_timeout = '200ms'")
        yield dsn, one, other


def lock(task):
    return f"SELECT task_id FROM cardbox.tasks WHERE tenant_id = 't' AND task_id = '{task}' FOR NO KEY UPDATE"


def test_a_claim_does_not_wait_for_a_parent():
    """It leaves the exhausted tasks to a later claim."""
    with tasks() as (dsn, one, other):
        one.run("BEGIN")
        one.run(lock("a"))
        assert other.run(claim()) == ""
        one.run("COMMIT")
        assert other.run(claim()) == "z29 12"
        assert psql(dsn, "SELECT completion_status IS NOT NULL, (SELECT status FROM cardbox.calls WHERE call_id = 'call-z29')"
                         " FROM cardbox.tasks WHERE task_id = 'z29'").strip() == "t|failed"


def test_a_claim_does_not_wait_for_a_task():
    with tasks() as (_, one, other):
        one.run("BEGIN")
        one.run(lock("z29"))
        assert other.run(claim()) == "z28 12"
        one.run("COMMIT")
        assert other.run(claim()) == "z29 12"


def test_a_task_that_stays_is_not_locked():
    """A claim that finds the parent locked keeps no lock of the tasks until it commits."""
    with tasks() as (_, one, other):
        one.run("BEGIN")
        one.run(lock("a"))
        other.run("BEGIN")
        assert other.run(claim()) == ""
        one.run("SET lock_timeout = '200ms'")
        for task in CHILDREN:
            assert one.run(lock(task)) == task
        one.run("COMMIT")
        other.run("COMMIT")


def test_few_parents_are_locked():
    """A claim that finds the tasks themselves locked locks the parents of few of them."""
    with tasks() as (dsn, one, other):
        psql(dsn, """
INSERT INTO cardbox.tasks (tenant_id, task_id, system_prompt, created_at, updated_at)
SELECT 't', 'p' || n, '""', 1, 1 FROM generate_series(10, 29) AS n;
UPDATE cardbox.tasks SET parent_task_id = 'p' || substr(task_id, 2) WHERE task_id LIKE 'z%'""")
        one.run("BEGIN")
        for task in CHILDREN:
            one.run(lock(task))
        other.run("BEGIN")
        assert other.run(claim()) == ""
        assert one.run("SELECT count(*) FROM (SELECT FROM cardbox.tasks WHERE task_id LIKE 'p%' "
                       "FOR NO KEY UPDATE SKIP LOCKED) AS free") == "17"
        one.run("COMMIT")
        other.run("COMMIT")


def rows_read(session):
    """How many rows of tasks the session has read. The number starts again at any time, but not in a transaction."""
    return int(session.run("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'tasks'"))


def test_after_a_mass_failure():
    """However many tasks are exhausted, each claim reads at most 1000 of them for each of its two rounds, and ends one."""
    for count in (3000, 30_000):
        dsn = Postgres.shared().database()
        psql(dsn, f"""
INSERT INTO cardbox.tasks (tenant_id, task_id, system_prompt, created_at, updated_at, wake_at, attempts)
SELECT 't', 'z' || n, '""', 1, 1, now() - n * interval '1 second', {ATTEMPTS} FROM generate_series(1, {count}) AS n;
ANALYZE cardbox.tasks""")
        with connected(dsn, "postgres") as session:
            read = []
            for n in range(20):
                session.run("BEGIN")
                before = rows_read(session)
                assert session.run(claim(limit=4)) == f"z{count - n} 12"
                read.append(rows_read(session) - before)
                session.run("COMMIT")
        print(f"        {count} tasks: {min(read)} to {max(read)} rows for a claim")
        assert max(read) <= 2500, (count, read)


def test_a_claim_ends_one_task():
    """So others wait for the one and its parent at most, and not for long."""
    with tasks() as (dsn, one, other):
        one.run("BEGIN")
        assert one.run(claim()) == "z29 12"
        for task in CHILDREN[:-1]:
            assert other.run(lock(task)) == task
        one.run("COMMIT")
        for task in reversed(CHILDREN[:-1]):
            assert other.run(claim()) == f"{task} 12"
        assert other.run(claim()) == ""
        assert psql(dsn, "SELECT count(*) FROM cardbox.tasks WHERE completion_status LIKE 'failed: No worker%'").strip() == "20"


def test_other_tasks_are_claimed_beside_it():
    """Many exhausted tasks that are due earlier delay no other."""
    with tasks() as (dsn, one, other):
        psql(dsn, f"UPDATE cardbox.tasks SET wake_at = now(), attempts = {ATTEMPTS - 1} WHERE task_id IN ('z10', 'z11')")
        assert other.run(claim(limit=2)) == "z10 1,z29 12"
        one.run("BEGIN")
        one.run(lock("a"))
        assert other.run(claim(limit=2)) == "z11 1"
        one.run("COMMIT")


def test_what_a_worker_held_before():
    """take_over: its exhausted tasks too, before their leases end."""
    with tasks() as (dsn, _, other):
        psql(dsn, "UPDATE cardbox.tasks SET wake_at = now() + interval '1 hour', lease_owner = 'w' WHERE task_id LIKE 'z%'")
        assert other.run(claim()) == ""
        assert other.run(claim(owner="else", take_over=True)) == ""
        assert other.run(claim(take_over=True)) in {f"{task} 12" for task in CHILDREN}


def test_a_call_of_another_task_is_not_locked():
    """A claim ends the calls of its tasks. A batch that names one by mistake must not hold it."""
    with tasks() as (dsn, one, other):
        psql(dsn, "UPDATE cardbox.tasks SET wake_at = now() + interval '1 hour' WHERE task_id LIKE 'z1%'")
        one.run("BEGIN")
        wrong = '[{"id": "call-z29", "task": "z10", "ability": "x", "status": "completed", "start": "start-z29"}]'
        assert one.run(f"SELECT outcome FROM cardbox.save_ledger('t', '[]', NULL, '[]', NULL, '{wrong}', "
                       "ARRAY['\"\"'::json], ARRAY['\"\"'::json])") == "4"
        assert other.run(claim()) == "z29 12"
        one.run("COMMIT")


def test_all_at_once():
    """Two workers give up the tasks while others finish, message and save them: nobody meets a deadlock."""
    dsn = Postgres.shared().database()
    children = [f"z{n}" for n in range(100, 220)]
    make_tasks(dsn, children)
    failures = []

    def run(*statements):
        try:
            with connected(dsn) as session:
                for statement in statements:
                    session.run(statement)
        except Exception as error:
            failures.append(error)

    def save(task):
        given = (f'[{{"id": "{task}", "parent": "a", "created": 1, "updated": 9, "status": "done"}}, '
                 f'{{"id": "a", "created": 1, "updated": 9}}]')
        return (f"SELECT * FROM cardbox.save_ledger('t', '{given}', ARRAY['\"\"', '\"\"']::json[], '[]', NULL, '[]', NULL, NULL)")

    def send(task, number):
        return (f"SELECT cardbox.send_to_task('t', '{task}', 'm-{task}-{number}', '{{\"text\": \"x\"}}', "
                "'{\"role\": \"user\"}')")

    claims = [claim()] * len(children)
    jobs = [claims, claims, [f"SELECT cardbox.finish_task('t', '{task}', 'done')" for task in children[::2]],
            [f"SELECT cardbox.finish_task('t', '{task}', 'done')" for task in reversed(children)],
            [save(task) for task in children[1::2]], [send(task, n) for n, task in enumerate(["a", *children] * 2)]]
    threads = [threading.Thread(target=run, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert psql(dsn, "SELECT count(*) FROM cardbox.tasks WHERE completion_status IS NULL").strip() == "1"


if __name__ == "__main__":
    cardbox_test.main()
