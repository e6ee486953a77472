#!/usr/bin/env python3
"""What batches cost in projects of uneven sizes: with all that its functions read, a statement touches no more pages
and rows than what it is given, or is to answer, explains. So no join inside a function reads a session, a box or a
project whole for each row: with each shape of data, whether PostgreSQL knows its size and its statistics or not.

Where test_plans looks at how each node of a plan finds its rows, this counts, which nothing evades.
"""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
from cardbox_test import as_role, database, once, psql  # noqa: E402
from sql_statements import planner_settings, prepare  # noqa: E402

GREAT = 20_000  # rows of what is nearly all of its project
BATCH = 100
SMALL = 2 * BATCH
LINES = 1000    # CARDBOX_ENTRIES_PER_APPEND_MAX
# What a statement may touch for a row that it is about, and besides: for a call that is failed a card and a message are
# written, with all their indexes; a connection reads catalogs once, some hundred pages for each function that the statement
# calls, and may read a table of some pages as it stands.
PAGES, PAGES_BESIDE = 100, 1500
ROWS, ROWS_BESIDE = 30, 8000

# {t} the project, {n} rows of each great thing in it, {few} of a session each of whose entries costs a statement of its own.
PROJECT = """
-- An entry of s continues the one before, and the one in the middle is a compaction. Of waits the parent of every tenth is
-- missing, though it has come. Of rings the parent of every twentieth is the next one, which continues it, and every
-- hundredth's is still to come. Of late each one's is. "few" are those that are linked.
INSERT INTO cardbox.sessions (tenant_id, session_id, dialect, head_line, head_entry_id, head_branch, head_depth, head_is_leaf,
                              lines, entries, version, created_at, updated_at)
SELECT '{t}', s, 'plain', c - 1, 'e-' || c - 1, CASE WHEN s = 's' THEN 0 ELSE c - 1 - d END, CASE WHEN s = 's' THEN c - 1 ELSE d END,
       true, c, c, 1, now(), now()
  FROM (VALUES ('s', {n}, 0), ('waits', {n}, 9), ('few waits', {few}, 9), ('rings', {n}, 1), ('few rings', {few}, 1),
               ('late', {n}, 0)) AS v(s, c, d);
INSERT INTO cardbox.session_lines (tenant_id, session_id, line, entry_id, parent_line, missing_parent_id, depth, branch, type, role,
                                   size, target, content)
SELECT '{t}', e.s, e.i, 'e-' || e.i, e.up, e.missing, e.depth, e.i - e.depth, CASE WHEN e.kept THEN 'compaction' ELSE 'user' END, 'user',
       50, CASE WHEN e.kept THEN 'e-' || e.i - 5 END,
       format('{{"id":"e-%s","parentId":%s}}', e.i, coalesce('"e-' || e.i - 1 || '"', 'null'))::json
  FROM (SELECT 's', i, nullif(i - 1, -1), NULL, i, i = {n} / 2 FROM generate_series(0, {n} - 1) AS i
        UNION ALL
        SELECT s, i, CASE WHEN i % 10 > 0 THEN i - 1 END, CASE WHEN i % 10 = 0 AND i > 0 THEN 'e-' || i - 1 END, i % 10, false
          FROM (VALUES ('waits', {n}), ('few waits', {few})) AS v(s, entries), generate_series(0, entries - 1) AS i
        UNION ALL
        SELECT s, i, CASE WHEN i % 2 = 1 THEN i - 1 END,
               CASE WHEN i % 100 = 0 THEN 'late' WHEN i % 20 = 2 THEN 'e-' || i + 1 END, i % 2, false
          FROM (VALUES ('rings', {n}), ('few rings', {few})) AS v(s, entries), generate_series(0, entries - 1) AS i
        UNION ALL
        SELECT 'late', i, NULL, 'late-' || i, 0, false FROM generate_series(0, {n} - 1) AS i) AS e(s, i, up, missing, depth, kept);
INSERT INTO cardbox.session_append_keys (tenant_id, session_id, append_key, digest, version)
SELECT '{t}', 's', 'key-' || n, 'x', 1 FROM generate_series(1, {n}) AS n;

INSERT INTO cardbox.usage (tenant_id, source, source_id, on_day, model, input_tokens, cached_input_tokens, output_tokens)
SELECT '{t}', CASE WHEN n < 20 THEN 'session' ELSE 'task' END, CASE WHEN n < 20 THEN 'waits' ELSE 'task-' || n END,
       '2020-01-01'::date + n / 2, 'm' || n % 2, 1, 0, 1 FROM generate_series(0, {n} - 1) AS n;
INSERT INTO cardbox.search_documents (tenant_id, session_id, id, kind, created_at, terms)
SELECT '{t}', '', 'card-' || n, 'card', now() + n * interval '1 us', ARRAY[1, 2 + n % 1000]
  FROM generate_series(0, {n} - 1) AS n;
INSERT INTO cardbox.cards (tenant_id, card_id, content, tool_call_id, metadata, created_at)
SELECT '{t}', 'card-' || n, '1', 'call-' || n,
       '{{"type": "tool.result", "step_id": "step", "trace_id": "trace", "agent_turn_id": "turn"}}', now() + n * interval '1 us'
  FROM generate_series(0, {n} - 1) AS n;
INSERT INTO cardbox.card_revisions (tenant_id, card_id, revision, content, created_at)
SELECT '{t}', 'card-0', n, '1', now() FROM generate_series(1, {n}) AS n;
INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at, deleted_at)
SELECT '{t}', 'dead-' || n, '1', '{{}}', now(), now() - interval '1 day' FROM generate_series(0, {n} - 1) AS n;

SELECT cardbox.create_box('{t}', '{box}', (SELECT jsonb_agg('card-' || n) FROM generate_series(0, {n} - 1) AS n), '[]', NULL, false);
INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, length, version, tail, parent_ids, created_at, updated_at, deleted_at)
SELECT '{t}', b.id, b.id, 65, 1, '["card-1"]', '[]', now() + n * interval '1 us', now(), CASE WHEN n >= {n} THEN now() - interval '1 day' END
  FROM generate_series(0, 2 * {n} - 1) AS n, LATERAL (SELECT ('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid AS id) AS b;
-- All of them begin with the same card.
INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
SELECT '{t}', ('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid, 0, '["common"]' FROM generate_series(0, {n} - 1) AS n;
INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, append_key, at)
SELECT '{t}', '{box}', v, 'append', '{box}', 64, 0, 'key-' || v, now() FROM generate_series(2, {n}) AS v;
UPDATE cardbox.card_boxes SET version = {n} WHERE tenant_id = '{t}' AND box_id = '{box}';
-- A fork of a fork of a fork, as deep as they go, each with one segment of its own.
INSERT INTO cardbox.card_box_chains (tenant_id, chain_id, parent_chain_id, parent_length, depth)
SELECT '{t}', c.own, c.parent, 64 * n, n
  FROM generate_series(1, 256) AS n,
       LATERAL (SELECT ('00000000-0000-0000-0003-' || lpad(n::text, 12, '0'))::uuid AS own,
                       ('00000000-0000-0000-0003-' || lpad((n - 1)::text, 12, '0'))::uuid AS parent) AS c;
INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
SELECT '{t}', ('00000000-0000-0000-0003-' || lpad(n::text, 12, '0'))::uuid, 64 * n,
       (SELECT jsonb_agg('card-' || i) FROM generate_series(64 * n, 64 * n + 63) AS i) FROM generate_series(0, 256) AS n;
INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, own_from, length, version, tail, parent_ids, created_at, updated_at)
VALUES ('{t}', '{deep}', '00000000-0000-0000-0003-000000000256', 64 * 256, 64 * 257, 1, '[]', '[]', now(), now());

INSERT INTO cardbox.tasks (tenant_id, task_id, parent_task_id, completion_status, system_prompt, created_at, updated_at, events,
                           messages, last_user, wake_at, lease_owner, lease_epoch, box_id, boxed)
SELECT '{t}', 'task-' || n, CASE WHEN n > 0 THEN 'task-0' END, CASE WHEN n % 2 = 1 THEN 'success' END, '"be good"', n, n,
       CASE WHEN n = 0 THEN 2 * {n} ELSE 1 END, CASE WHEN n = 0 THEN {n} ELSE 0 END, 0,
       CASE WHEN n % 2 = 0 THEN now() - interval '1 second' END, CASE WHEN n < 2 * {batch} AND n % 2 = 0 THEN 'worker' END, 1,
       '{box}', CASE WHEN n = 0 THEN 2 * {n} ELSE 0 END
  FROM generate_series(0, {n} - 1) AS n;
INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at, sealed)
SELECT '{t}', 'message-' || n, '1', '{{}}', now(), true FROM generate_series(0, {n} - 1) AS n;
INSERT INTO cardbox.messages (tenant_id, message_id, task_id, role, ts, seq)
SELECT '{t}', 'message-' || n, 'task-0', 'user', n, n + 1 FROM generate_series(0, {n} - 1) AS n;
INSERT INTO cardbox.calls (tenant_id, call_id, task_id, ability_name, parameters, status, details, created_at, updated_at,
                           start_message_id, seq)
SELECT '{t}', 'call-' || n, 'task-0', 'card:get', '"{{}}"', CASE WHEN n < {batch} THEN 'pending' ELSE 'completed' END, '"{{}}"', n, n,
       'message-0', {n} + n FROM generate_series(0, {n} - 1) AS n;
INSERT INTO cardbox.task_events (tenant_id, task_id, n, what, ref, how, at)
SELECT '{t}', 'task-0', n, 'message', 'message-' || n - 1, 'user', 1 FROM generate_series(1, {n}) AS n;
INSERT INTO cardbox.task_chunks (tenant_id, task_id, message_id, n, piece)
SELECT '{t}', CASE WHEN n <= {batch} THEN 'task-0' ELSE 'task-1' END, 'saying', n, '"x"' FROM generate_series(1, {n}) AS n;
"""
TABLES = ("cards", "card_revisions", "card_boxes", "card_box_segments", "card_box_chains", "card_box_log", "sessions",
          "session_lines", "session_append_keys", "usage", "tasks", "messages", "calls", "task_events", "task_chunks")
BOX = "00000000-0000-0000-0000-000000000001"
DEEP = "00000000-0000-0000-0000-000000000002"
UNWATCHED = """
DO $$ DECLARE r record; BEGIN
    FOR r IN SELECT oid::regclass AS name FROM pg_class WHERE relnamespace = 'cardbox'::regnamespace AND relkind = 'r' LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', r.name);
    END LOOP;
END $$;
"""
# What the runs before have left is taken out of the indexes; and PostgreSQL knows how large the tables are, or, as after
# a large import, it has not looked yet.
KNOWN = "VACUUM ANALYZE"
UNKNOWN = """VACUUM; SET allow_system_table_mods = on; DELETE FROM pg_statistic;
UPDATE pg_class SET relpages = 0, reltuples = -1, relallvisible = 0 WHERE relnamespace = 'cardbox'::regnamespace AND relkind IN ('r', 'i')
"""
# It takes each page for one of a thousand times the rows: what it would plan for tables as large as that.
HUGE = """VACUUM ANALYZE;
UPDATE pg_class SET reltuples = reltuples * 1000 WHERE relnamespace = 'cardbox'::regnamespace AND relkind IN ('r', 'i')
"""
SIZES = {"known": KNOWN, "unknown": UNKNOWN, "huge": HUGE}


def few(rows):
    return rows // 5


def project(tenant, rows):
    return PROJECT.format(t=tenant, n=rows, few=few(rows), box=BOX, deep=DEEP, batch=BATCH)


@once
def one_great():
    """One project that is nearly all of the database, and a small one beside it."""
    dsn = database()
    psql(dsn, UNWATCHED + project("great", GREAT) + project("small", SMALL))
    return dsn


@once
def many_small():
    dsn = database()
    psql(dsn, UNWATCHED + project("small", SMALL))
    for table in TABLES:
        columns = psql(dsn, f"SELECT string_agg(attname, ', ') FROM pg_attribute WHERE attrelid = 'cardbox.{table}'::regclass"
                            " AND attnum > 0 AND NOT attisdropped AND attname <> 'tenant_id' AND attgenerated = ''")
        psql(dsn, f"SET session_replication_role = replica; INSERT INTO cardbox.{table} (tenant_id, {columns})"
                  f" SELECT 'other-' || o.one, {columns} FROM generate_series(1, 2000) AS o(one),"
                  f" (SELECT * FROM cardbox.{table} x WHERE x.tenant_id = 'small' LIMIT 3) AS r ON CONFLICT DO NOTHING")
    return dsn


# Mostly long chains: as many branches as make the index of parents a level deeper than the one of branches.
CHAINS = """
INSERT INTO cardbox.sessions (tenant_id, session_id, dialect, lines, entries, version, created_at, updated_at)
SELECT 'great', s, 'plain', 20000, 20000, 1, now(), now() FROM unnest('{s,waits,rings,late}'::text[]) AS s;
INSERT INTO cardbox.session_lines (tenant_id, session_id, line, entry_id, parent_line, depth, branch, type, role, size, content)
SELECT 'great', s, e, 'e-' || e, CASE WHEN e > root THEN e - 1 END, e - root, root, 'user', 'user', 2, '{}'
  FROM (VALUES (1, 's', 0, 1), (2, 'waits', 4000, 10), (3, 'rings', 4000, 2), (4, 'late', 20000, 1)) AS v(n, s, roots, apart),
       generate_series(0, 19999) AS e, LATERAL (SELECT CASE WHEN e < roots THEN e - e % apart ELSE roots END AS root) AS r
 ORDER BY n, e;
"""


@once
def chains():
    dsn = database()
    psql(dsn, f"SET session_replication_role = replica; {UNWATCHED} {CHAINS}")
    return dsn


def array(kind, values):
    return "ARRAY[" + ", ".join("NULL" if v is None else str(v) if isinstance(v, (int, bool)) else "'" + str(v).replace("'", "''") + "'"
                                for v in values) + f"]::{kind}[]"


def entries(*, ids, parents, refs=None, kind="user", target=None):
    """What session_append and session_import have in common, up to the labels: each continues the one before."""
    def each(value):
        return array("text", [value] * len(ids))
    return (array("text", ids), array("integer", [0] * len(ids)), array("text", parents),
            array("integer", refs or [0, *range(1, len(ids))]), each(kind), each("user"), each(None), each(target))


def contents(ids, parents):
    return array("json", [f'{{"id":"{own}","parentId":"{parent}"}}' for own, parent in zip(ids, parents)])


def used(ids):
    """Tokens of each line."""
    counts = {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}
    return "'" + json.dumps([{"n": i + 1, "model": f"m{i % 2}", **counts} for i in range(len(ids))]) + "'"


def append(session, ids, parents, key="NULL", counts=True, **more):
    labels = array("json", ['"x"' if more.get("target") else None] * len(ids))
    return ", ".join((f"{session}, 'plain', NULL, {key}", *entries(ids=ids, parents=parents, **more), labels, contents(ids, parents),
                      array("bigint", [None] * len(ids)), used(ids) if counts else "NULL"))


def lines(session, first, *, ids=None, parents=None, refs=None, restores=False, count=LINES):
    """Parameters of session_import: lines from `first` on, each continuing the one before."""
    ids = ids or [f"e-{i}" for i in range(first, first + count)]
    parents = parents or [f"e-{i - 1}" for i in range(first, first + count)]

    def each(kind, value=None):
        return array(kind, [value] * len(ids))
    return ", ".join((f"{session}, 'plain', NULL, {restores}, {first}", *entries(ids=ids, parents=parents, refs=refs), each("bigint"),
                      each("json"), contents(ids, parents), each("bytea"), each("bytea"), each("bool", False), "NULL, NULL, false", used(ids)))


def leaves_much(case):
    """Whether the entries that it takes back, in indexes, would have to be passed by those behind it."""
    return re.match("session_(append|import|delete|fork)|SELECT", case[0]) is not None


def cases(t, n):
    return sorted(all_cases(t, n), key=leaves_much)


def all_cases(t, n):
    """Statement, its parameters, the rows that it is about."""
    T = f"'{t}'"
    s, w = f"{T}, 's'", f"{T}, 'waits'"
    many = range(BATCH)
    cards = [f"card-{i}" for i in many]
    new = [f"new-{i}" for i in many]

    def card_arrays(ids, contents, kind):
        meta = '{"type": "tool.result", "step_id": "step", "trace_id": "trace", "agent_turn_id": "turn"}' if kind else "{}"
        nothing = [None] * BATCH
        return ", ".join((array("text", [t] * BATCH), array("text", ids), array("json", contents), array("jsonb", nothing), array("text", [f"call-{i}" for i in many] if kind else nothing), array("integer", nothing),
                          array("jsonb", [meta] * BATCH), array("timestamptz", nothing), array("timestamptz", nothing),
                          array("timestamptz", nothing), array("bool", [False] * BATCH)))
    flags = array("bool", [False] * BATCH)

    lots = [f"new-{i}" for i in range(LINES)]
    spread, apart = [f"e-{i % n}" for i in range(LINES)], [0] * LINES
    yield "session_import", lines(s, n), LINES                        # behind the session
    yield "session_import", lines(s, n, refs=apart, parents=spread), LINES
    yield "session_import", lines(s, max(n - LINES, 0)), LINES        # what it has already
    yield "session_import", lines(s, max(n - LINES, 0), ids=lots, parents=["e-1"] * LINES, refs=apart), LINES
    yield "session_import", lines(s, n, restores=True), LINES
    yield "session_append", append(s, lots, ["e-1", *lots[:-1]]), LINES
    yield "session_append_new", append(s, lots, ["e-1", *lots[:-1]]) + ", 'plain', NULL, false", LINES
    yield "session_append_new", append(f"{T}, 'no such'", lots, [None, *lots[:-1]]) + ", 'plain', NULL, true", LINES
    yield "session_add", append(s, ["new"], [None], refs=[-1], kind="message", counts=False) + ", 'settings', 'openai', '\"x\"', '[]', NULL, true, false", 1
    yield "session_add", append(s, ["new"], ["e-7"], refs=[0], kind="message", counts=False) + ", 'settings', 'openai', '\"x\"', '[]', NULL, true, false", 1
    yield "ability_save", f"{T}, 'm:new', 'x', '{{}}', '{{}}', 'http://x.test/', '{{}}', 1, '[]', 200", 1
    yield "session_append", append(s, lots, spread, refs=apart), LINES
    yield "session_append", append(s, lots, ["e-1", *lots[:-1]], kind="label", target="e-7"), LINES
    # A turn; one with a key, which is new, and which is not.
    for session in (s, f"{T}, 'late'"):
        for key in ("NULL", "'a key'", "'key-7'"):
            yield "session_append", append(session, ["new"], ["e-1"], key=key), 1
        yield "session_append", append(session, ["new"], [None], refs=[-1]), 1
    yield "session_link", f"{T}, 'few waits', {array('text', ['e-10', 'e-20'])}", few(n)
    yield "session_link", f"{s}, '{{}}'", 0
    yield "session_link", f"{T}, 'few rings', '{{}}'", few(n)
    yield "session_delete", f"{s}, {BATCH}, false", BATCH
    yield "session_delete", f"{w}, {n // 2}, false", n // 2
    yield "session_fork", f"{s}, 'e-{BATCH}', 'new'", BATCH
    yield "session_head", f"{s}, 'e-7', NULL, NULL", 1
    yield "session_restore", f"{s}, 'pi', NULL, NULL, NULL, 'e-7', 7, NULL, NULL", 1
    yield "session_restore", f"{T}, 'new', 'pi', NULL, NULL, NULL, NULL, 7, NULL, NULL", 1
    yield "session_context", f"{s}, 'e-{n - 1}', 1000000, NULL, NULL", n
    yield "session_context", f"{s}, 'e-{n - 1}', 1000000, {BATCH}, NULL", BATCH
    yield "session_context", f"{s}, 'e-{n - 1}', 1000000, {BATCH}, {50 * BATCH}", BATCH
    yield "session_counts", s, n
    yield "session_diff", f"{s}, 'e-{n - 5}', 'e-{n - 50}', 50, 1000", 50
    yield "session_diff", f"{s}, 'e-{n - 5}', 'e-0', 50, 1000", 50
    yield "session_entries_get", f"{s}, {array('text', [f'e-{i}' for i in many])}", BATCH
    yield "session_export", f"{s}, {n // 2}, 100, 1000000", BATCH
    yield "session_labels", f"{s}, NULL, 50, NULL", 1
    yield "session_leaves", f"{s}, -1, 50, 1000", 1
    yield "session_leaves", f"{w}, -1, 50, 1000", 50
    yield "session_branch_points", f"{s}, -1, 50, 1000", 1
    yield "session_children", f"{w}, '', -1, 50, 1000", 50
    yield "session_path", f"{s}, '', 0, 100, 1000", BATCH
    yield "session_tree", f"{s}, {n // 2}, 100, 1000", BATCH
    nothing = [None] * BATCH
    yield "session_lines_export", f"{T}, NULL, NULL, 100", BATCH
    yield "session_lines_export", f"{s}, {n // 2}, 100", BATCH
    yield "sessions_export", f"{T}, NULL, 100", 2
    yield "sessions_list", f"{T}, NULL, NULL, 50, NULL", 2
    yield "session_get", s, 20
    yield "usage_query", f"{T}, NULL, NULL, 'day', 100", n
    yield "usage_export", f"{T}, NULL, NULL, NULL, NULL, 100", BATCH
    yield "usage_save", f"{T}, {array('text', ['session'] * BATCH)}, {array('text', [f's-{i}' for i in many])}, array_fill('2026-01-01'::text, '{{100}}'), array_fill('m'::text, '{{100}}'), array_fill(1::bigint, '{{100}}'), array_fill(0::bigint, '{{100}}'), array_fill(0::bigint, '{{100}}'), array_fill(NULL::text, '{{100}}')", BATCH
    yield "sessions_list", f"{T}, NULL, NULL, 50, 65536", 2 * 50
    yield "search_find", f"{T}, '{{1}}', NULL, NULL, NULL, NULL, 100, 1000", BATCH
    yield "search_find", f"{T}, '{{7}}', NULL, NULL, NULL, NULL, 100, 1000", BATCH
    yield "search_take", "'', 100", BATCH
    yield "search_store", f"{array('text', [t] * BATCH)}, array_fill(''::text, '{{100}}'), {array('text', cards)}, array_fill('card'::text, '{{100}}'), array_fill(NULL::text, '{{100}}'), array_fill(now(), '{{100}}'), array_fill(now(), '{{100}}'), array_fill(0::bigint, '{{100}}'), array_fill(1::bigint, '{{100}}'), '{{5}}'", BATCH
    yield "search_store", f"{array('text', [t] * BATCH)}, array_fill(''::text, '{{100}}'), {array('text', cards)}, array_fill(NULL::text, '{{100}}'), array_fill(NULL::text, '{{100}}'), array_fill(NULL::timestamptz, '{{100}}'), array_fill(now(), '{{100}}'), array_fill(0::bigint, '{{100}}'), array_fill(0::bigint, '{{100}}'), '{{}}'", BATCH

    yield "cards_add", card_arrays(new, ["1"] * BATCH, False) + f", {flags}, {flags}, true", BATCH
    yield "cards_add", card_arrays(cards, ["2"] * BATCH, True) + f", {flags}, {flags}, true", BATCH
    yield "cards_add", card_arrays(new, ["2"] * BATCH, True) + f", {flags}, {flags}, true", BATCH
    yield "cards_add", f"{card_arrays(new, ['1'] * BATCH, False)}, {flags}, {flags}, false", BATCH
    yield "cards_add", f"{card_arrays(cards, ['2'] * BATCH, True)}, {flags}, {flags}, false", BATCH
    yield "card_revisions", f"{T}, 'card-0', 9223372036854775807, 50", 50
    yield "card_delete", f"{T}, 'card-1'", 1
    yield "cards_add", f"ARRAY[{T}], ARRAY['card-1'], ARRAY['2'::json], '{{NULL}}', '{{NULL}}', '{{NULL}}', ARRAY['{{}}'::jsonb], '{{NULL}}', '{{NULL}}', '{{NULL}}', '{{f}}', '{{f}}', '{{f}}', true", 1
    yield "cards_get", f"{array('text', [t] * BATCH)}, {array('text', cards)}, {array('bigint', [0] * BATCH)}", BATCH
    yield "cards_export", f"{T}, 'card-1', 100", BATCH
    yield "cards_list", f"{T}, 'step', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 50, 20000", 50
    yield "cards_list", f"{T}, 'none', NULL, 'trace', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 50, 20000", 1
    yield "cards_list", f"{T}, NULL, 'tool.result', NULL, NULL, NULL, NULL, NULL, '2020-01-01Z', '2040-01-01Z', NULL, NULL, 50, 20000", 50
    yield "cards_list", f"{T}, NULL, NULL, NULL, NULL, NULL, {array('text', [f'call-{i}' for i in many])}, NULL, NULL, NULL, NULL, NULL, 50, 20000", BATCH

    boxes = [f"00000000-0000-0000-0001-{i:012}" for i in many]
    ids = json.dumps(cards)
    for key, rows in (("a key", BATCH), ("key-7", 1)):
        yield "boxes_append", f"ARRAY[{T}], ARRAY['{BOX}'::uuid], ARRAY['{ids}'::jsonb], '{{NULL}}', ARRAY['{key}'], true", rows
    yield "box_save", f"{T}, '{BOX}', '{ids}', '[]', NULL, NULL", BATCH
    yield "box_fork", f"{T}, '{BOX}', '00000000-0000-0000-0002-000000000001', NULL, NULL", 1
    yield "box_fork", f"{T}, '{BOX}', '00000000-0000-0000-0002-000000000001', 2, NULL", 1
    yield "box_fork", f"{T}, '{DEEP}', '00000000-0000-0000-0002-000000000001', NULL, NULL", 64 * 256
    yield "box_save", f"{T}, '{DEEP}', '{ids}', '[]', NULL, NULL", BATCH
    yield "box_seal", f"{T}, '{BOX}'", 1
    yield "box_delete", f"{T}, '{BOX}'", 1
    yield "box_log", f"{T}, '{BOX}', 9223372036854775807, 100, 10", BATCH
    yield "boxes_list", f"{T}, NULL, NULL, 50, false", 50
    yield "boxes_list", f"{T}, NULL, NULL, 50, true", 50 * 8
    yield "boxes_export", f"{T}, NULL, 100", BATCH
    yield "boxes_set_created", f"{array('text', [t] * BATCH)}, {array('uuid', boxes)}, {array('timestamptz', ['2026-01-01Z'] * BATCH)}", BATCH
    yield "boxes_append", f"{array('text', [t] * BATCH)}, {array('uuid', boxes)}, {array('jsonb', [ids] * BATCH)}, {array('bigint', nothing)}, {array('text', ['k'] * BATCH)}, false", BATCH * BATCH
    yield "boxes_append", f"{array('text', [t] * BATCH)}, {array('uuid', boxes)}, {array('jsonb', [json.dumps(cards[:1])] * BATCH)}, {array('bigint', nothing)}, {array('text', ['k'] * BATCH)}, false", BATCH
    yield "boxes_save", f"{array('text', [t] * BATCH)}, {array('uuid', boxes)}, {array('jsonb', [ids] * BATCH)}, {array('jsonb', ['[]'] * BATCH)}, {array('timestamptz', nothing)}, {array('boolean', [True] * BATCH)}", BATCH * BATCH
    for card in ("card-1", "card-7", "common"):
        yield "boxes_with_card", f"{T}, '{card}', 50, NULL, NULL, 400, false", 50
        yield "boxes_with_card", f"{T}, '{card}', 50, NULL, NULL, 400, true", 50 * 8
    yield "boxes_read", f"ARRAY[{T}], ARRAY['{BOX}'::uuid], ARRAY[1], ARRAY[50::int8], ARRAY[0::int8], ARRAY[NULL::int8], ARRAY[NULL::int8], ARRAY[NULL::int8], ARRAY[now()]", BATCH
    for box, tail, skip, rows in ((BOX, "100", 0, BATCH), (BOX, "NULL", n // 2, BATCH), (DEEP, "100", 0, BATCH), (DEEP, "NULL", 0, BATCH + 256)):
        yield "boxes_read", f"ARRAY[{T}], ARRAY['{box}'::uuid], ARRAY[3], ARRAY[{tail}::int8], ARRAY[{skip}::int8], ARRAY[100::int8], ARRAY[NULL::int8], ARRAY[NULL::int8], ARRAY[NULL::timestamptz]", rows
        yield "box_context", f"ARRAY[{T}], ARRAY['{box}'::uuid], ARRAY[2], ARRAY[{tail}::int8], ARRAY[{skip}::int8], ARRAY[100::int8], ARRAY[NULL::int8], ARRAY[NULL::int8], ARRAY[NULL::timestamptz], 1000000, 100, true", rows
    yield "box_context", f"ARRAY[{T}, {T}], ARRAY['{BOX}'::uuid, '{DEEP}'], ARRAY[2, 2], ARRAY[100::int8, 100], ARRAY[0::int8, 0], ARRAY[NULL::int8, NULL], ARRAY[NULL::int8, NULL], ARRAY[NULL::int8, NULL], ARRAY[NULL::timestamptz, NULL], 1000000, 150, true", 2 * BATCH

    tasks = [f"task-{i}" for i in many]
    task_rows = json.dumps([{"id": f"new-{i}", "parent": "task-0", "created": i, "updated": i} for i in many])
    ends = json.dumps([{"id": f"task-{2 * i}", "parent": "task-0" if i else None, "status": "success", "created": 2 * i, "updated": 10**9} for i in many])
    messages = json.dumps([{"id": f"new-{i}", "task": "task-0", "role": "assistant", "metadata": {}} for i in many])
    calls = json.dumps([{"id": f"call-{i}", "task": "task-0", "ability": "card:get", "status": "completed", "start": "message-0"} for i in many])
    new_calls = json.dumps([{"id": f"new-{i}", "task": "task-0", "ability": "card:get", "status": "pending", "start": "message-0"} for i in many])
    prompts, contents = array("json", ['"be good"'] * BATCH), array("json", ['{"text": "x"}'] * BATCH)
    given = f"'{messages}', {contents}, '{calls}', {array('json', [chr(34) + '{}' + chr(34)] * BATCH)}, {array('json', [chr(34) + '1' + chr(34)] * BATCH)}"
    yield "ledger_save", f"{T}, '{task_rows}', {prompts}, {given}", 3 * BATCH
    yield "ledger_save", f"{T}, '{ends}', {prompts}, '[]', NULL, '[]', NULL, NULL", 4 * BATCH
    yield "ledger_save", f"{T}, '[]', NULL, '[]', NULL, '{new_calls}', {array('json', [chr(34) + '{}' + chr(34)] * BATCH)}, {array('json', nothing)}", BATCH
    yield "task_write", f"{T}, 'task-0', 1, {given}, 1, 'success', {3 * n}, true, NULL", 3 * BATCH
    yield "task_write", f"{T}, 'task-0', 1, {given}, 1, 'success', {3 * n}, false, NULL", 3 * BATCH
    yield "task_cancel", f"{T}, 'task-0', '\"no\"'", BATCH
    yield "task_get", f"{T}, 'task-0'", 1
    yield "task_send", f"{T}, 'task-0', 'new-1', '{{\"text\": \"x\"}}', '{{}}'", 1
    yield "task_spawn", f"{T}, 'new', '{{\"parent\": \"task-0\", \"box\": \"{BOX}\", \"context\": \"{BOX}\"}}', '\"be good\"', '{messages.replace('task-0', 'new')}', {contents}", BATCH
    yield "task_finish", f"{T}, 'task-0', 'success'", BATCH
    yield "task_turn", f"{T}, 'task-0', 1, '00000000-0000-0000-0002-000000000001'", BATCH
    # The first turn looks which cards the given box has.
    yield "task_turn", f"{T}, 'task-2', 1, '00000000-0000-0000-0002-000000000001'", n
    yield "task_chunk", f"{T}, 'task-0', 1, 'new', 1, '\"x\"'", BATCH
    yield "tasks_active", f"{T}, 50", 50
    yield "tasks_claim", f"ARRAY[{T}], 'other', 15000, 8, 5, false", 2 * BATCH
    yield "tasks_claim", f"ARRAY[{T}], 'worker', 15000, 8, 5, true", 2 * BATCH
    yield "tasks_claim", "NULL, 'other', 15000, 8, 5, false", 4 * BATCH
    yield "tasks_renew", f"{array('text', [t] * BATCH)}, {array('text', [f'task-{2 * i}' for i in many])}, {array('bigint', [1] * BATCH)}, 15000", BATCH
    yield "tasks_follow", f"{array('text', [t] * BATCH)}, {array('text', tasks)}, {array('bigint', [n - 50] * BATCH)}, {array('text', nothing)}, {array('bigint', [0] * BATCH)}, 100, 100000, 1000000", BATCH
    yield "tasks_export", f"{T}, NULL, 100", BATCH
    yield "tasks_query", f"{T}, NULL, NULL, 'task-0', NULL, NULL, 100, 0, false, NULL", n  # and how many there are in all
    yield "tasks_query", f"{T}, true, NULL, NULL, NULL, NULL, 100, 0, false, NULL", n
    yield "messages_export", f"{T}, NULL, NULL, 100", BATCH
    yield "messages_list", f"{T}, 'task-0', 100, 0", BATCH
    yield "calls_export", f"{T}, NULL, NULL, NULL, 100", BATCH
    yield "calls_list", f"{T}, 'task-0', -1, -1, 100", BATCH
    yield "gc_batch", f"0, {BATCH}", BATCH
    # What gc does when there are no dead cards: with boxes, with one whose log is long, and with its chain.
    batch = f"(false, false, {BATCH}{', 0' * 14})::cardbox.gc_totals"
    yield f"SELECT cardbox.gc_boxes({batch}, 0)", "SELECT", BATCH
    yield f"SELECT cardbox.gc_boxes({batch}, 1000000000)", f"UPDATE cardbox.card_boxes SET deleted_at = '-infinity' WHERE tenant_id = {T} AND box_id = '{BOX}'", BATCH
    yield (f"SELECT cardbox.gc_chains({batch})",
           f"INSERT INTO cardbox.card_box_orphans SELECT tenant_id, chain_id FROM cardbox.card_boxes WHERE tenant_id = {T} AND box_id = '{BOX}'", BATCH)
    yield f"SELECT * FROM cardbox.gc_session_ids({batch}, 0)", "SELECT", BATCH
    yield (f"SELECT * FROM cardbox.gc_sessions({batch})",
           f"UPDATE cardbox.sessions SET state = 'deleted' WHERE tenant_id = {T} AND session_id = 's'", BATCH)


def prepared(name, given):
    """A statement of ours, ready to be run; or SQL of a case, behind what it needs."""
    if " " in name:
        return f"{given}; PREPARE it AS {name}; EXECUTE it;"
    return f"{prepare(name)} EXECUTE it({given});"


def script(tried, known):
    yield (f"{known}; {planner_settings()} SET track_functions = 'all';"
           "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;"
           "SET auto_explain.log_format = json; SET auto_explain.log_analyze = on; SET auto_explain.log_buffers = on;"
           "SET auto_explain.log_timing = off; SET auto_explain.log_level = notice; SET ROLE cardbox_app;")
    for name, given, _ in tried:
        yield f"\\warn CASE\nBEGIN; {prepared(name, given)} ROLLBACK; DEALLOCATE it;"


def nodes(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def pages(plan):
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def rows_read(plan):
    """What a plan's leaves give, and what its filters throw away. Of a bitmap the rows that are fetched by it: it names hundreds a page."""
    return sum(node["Actual Loops"] * (sum(node.get(f"Rows Removed by {what}", 0) for what in ("Filter", "Join Filter", "Index Recheck"))
                                       + (node["Actual Rows"] if is_read(node) else 0)) for node in nodes(plan))


def is_read(node):
    return node["Node Type"] == "Bitmap Heap Scan" or "Plans" not in node and node["Node Type"] != "Bitmap Index Scan"


def faults(name, plans, rows):
    for what, counts, most in (("pages", [pages(plan["Plan"]) for plan in plans], PAGES * rows + PAGES_BESIDE),
                               ("rows", [rows_read(plan["Plan"]) for plan in plans], ROWS * rows + ROWS_BESIDE)):
        total = counts[-1] if what == "pages" else sum(counts)  # those of a statement are among those of its caller
        if total > most:
            inner = max(range(len(counts) - 1), key=counts.__getitem__, default=-1)
            yield (f"{name}: {total} {what}, and {most:.0f} are enough for {rows} rows; most of it, {counts[inner]},"
                   f"\n      in {' '.join(plans[inner]['Query Text'].split())[:200]}")


def found(dsn, tried, known):
    """The faults of cases."""
    done = subprocess.run(["psql", as_role(dsn, "postgres"), "-Xq", "-o", os.devnull], text=True, capture_output=True,
                          input="\n".join(script(tried, known)))
    assert "ERROR" not in done.stderr, re.search("ERROR.*", done.stderr).group()
    said = done.stderr.split("CASE\n")[1:]
    for (name, _, about), part in zip(tried, said, strict=True):
        yield from faults(name, [json.loads(plan) for plan in re.findall(r"plan:\n(\{.*?\n\})", part, re.S)], about)


def check(dsn, tenant, rows, known):
    wrong = list(found(dsn, cases(tenant, rows), known))
    assert not wrong, "\n" + "\n".join(wrong)


def test_costs():
    for place, dsn, tenant, rows, ways in (
            ("a great project", one_great, "great", GREAT, ("known", "unknown", "huge")),
            ("a small one beside it", one_great, "small", SMALL, ("known", "unknown")),
            ("one of many", many_small, "small", SMALL, ("known", "unknown"))):
        for known in ways:
            yield f"{place}, of {known} size", lambda dsn=dsn, rest=(tenant, rows, SIZES[known]): check(dsn(), *rest)


def test_costs_of_branches():
    """Of sessions beside others that have thousands: of theirs none is read."""
    tried = [("session_children", f"'great', '{session}', '{entry}', -1, 50, 1000", 50)
             for session, entry in (("s", "e-5"), ("waits", "e-5"), ("waits", ""), ("late", ""))]
    tried += [(name, "'great', 's', -1, 50, 1000", 1) for name in ("session_branch_points", "session_leaves")]
    for size in SIZES:
        wrong = list(found(chains(), tried, SIZES[size]))
        assert not wrong, f"of {size} size\n" + "\n".join(wrong)


def test_the_test_sees():
    """What reads a project for one row, by itself or again and again."""
    whole = "SELECT count(*) FROM cardbox.session_lines WHERE tenant_id = 'great' AND content::text = 'no'"
    again = "SELECT count(e.entry_id) FROM generate_series(1, 100) AS n, LATERAL (SELECT * FROM cardbox.session_lines OFFSET n) AS e"
    for sql in (whole, again):
        for about, wrong in ((1, ["pages", "rows"]), (10**6, [])):
            seen = list(found(one_great(), [(sql, "SELECT", about)], UNKNOWN))
            assert [re.search(": \\d+ (\\w+),", one).group(1) for one in seen] == wrong, seen


# Why no case here runs these.
NOT_RUN = {
    "gc_count": "counts all there is, for operators",
    "listen_for_tasks": "reads the names of channels, of which each tenant has one",
    "make_task_channels": "gives each tenant one",
    "notify_workers": "reads the names of channels, of which each tenant has one",
    "count_token_change": "of tokens, which are few",
    "protect": "reads no table of ours, for migrations",
    "check_grants": "looks up one row by its whole key; the service, which runs these, needs none",
}


def test_every_function_is_run():
    """Those that have queries; but of SQL, which are written out in what calls them, as far as PostgreSQL likes."""
    names = set(psql(one_great(), """
        SELECT DISTINCT p.proname FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
         WHERE p.pronamespace = 'cardbox'::regnamespace AND l.lanname = 'plpgsql'
           AND p.prosrc ~ '(FROM|INTO|UPDATE|JOIN)\\s+cardbox\\.\\w+\\M\\s*[^(]'""").split())
    run = set(psql(one_great(), "SELECT DISTINCT funcname FROM pg_stat_user_functions WHERE schemaname = 'cardbox'").split())
    assert names - run == set(NOT_RUN) & names, f"run by no case: {sorted(names - run - set(NOT_RUN))}; run: {sorted(set(NOT_RUN) & run)}"


if __name__ == "__main__":
    cardbox_test.main()
