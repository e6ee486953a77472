#!/usr/bin/env python3
"""The plans of all statements, against a big database: no tenant's table is read from end to end, what
an index can give in order is not sorted, and no estimate is wildly off. And again without the tables' sizes,
and for a worker's role, whose policies keep from an index what is not known to betray nothing; and by plans that
were made when the tables were empty.

Each statement is prepared and planned as our connections do it: for any parameters. Statements inside functions are seen through auto_explain.
A statement that is in neither table below fails: say with what it is called, or why it is not here.
"""

import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
from cardbox_test import Postgres, as_role, database, once, psql  # noqa: E402
from sql_statements import planner_settings, prepare  # noqa: E402

TABLES = ("cards", "card_revisions", "card_boxes", "card_box_segments", "card_box_chains", "card_box_log",
          "sessions", "session_lines", "session_append_keys", "usage",
          "tasks", "messages", "calls", "task_events", "task_chunks", "abilities", "search_documents")
TENANT = "'tenant-0'"  # has more than half of everything
BOX = "'00000000-0000-0000-0000-000000000042'"
LATE_BOX = "'00000000-0000-0000-0000-000000011000'"
FORK = "'00000000-0000-0000-0001-000000000042'"
NEW = "'00000000-0000-0000-0002-000000000042'"
CARD = "'card-42'"
SESSION = "'tenant-0', 's-0'"
CLAUDE = "'tenant-0', 's-claude'"
IDS = "'[\"card-1\", \"card-2\"]'"
CARD_ARRAYS = ("'{tenant-0,tenant-0}', '{new-1,card-5}', '{1,1}', '{NULL,NULL}', '{call-x,NULL}', "
               "'{NULL,NULL}', ARRAY['{}','{}']::jsonb[], '{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}', '{f,f}'")
ONE_CARD = "'{tenant-0}', '{new-1}', '{1}', '{NULL}', '{call-x}', '{NULL}', ARRAY['{}']::jsonb[], '{NULL}', '{NULL}', '{NULL}', '{f}'"

TASK = "'task-42'"
HELD = "'task-60', 1"
MESSAGES = """'[{"id": "new-1", "task": "task-60", "role": "assistant", "metadata": {}}]', ARRAY['{"text": "x"}']::json[]"""
USED = """'[{"n": 1, "model": "m", "input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}]'"""
CALLS = """'[{"id": "call-60-1", "task": "task-60", "ability": "card:get", "status": "completed", "start": "message-60-0"}]', '{"\\"{}\\""}', '{"\\"1\\""}'"""


def read_boxes(*boxes, want=2, tail="50", skip="0", most="NULL", version="NULL", length="NULL", time="NULL"):
    def array(value):
        return "'{" + ",".join([value] * len(boxes)) + "}'"
    ids = "'{" + ",".join(box.strip("'") for box in boxes) + "}'"
    return ", ".join([array("tenant-0"), ids, array(str(want)), array(tail), array(skip), array(most),
                      array(version), array(length), array(time)])


def list_cards(step_id="NULL", type_="NULL", trace_id="NULL", agent_turn_id="NULL", role="NULL", tool_call_ids="NULL",
               metadata="NULL", created_after="NULL", created_before="NULL", cursor="NULL, NULL"):
    return (f"{TENANT}, {step_id}, {type_}, {trace_id}, {agent_turn_id}, {role}, {tool_call_ids}, {metadata}, "
            f"{created_after}, {created_before}, {cursor}, 50, 20000")


def query_tasks(active="NULL", status="NULL", parent="NULL", start="NULL", end="NULL", offset="0", goals="false",
                state="NULL"):
    return f"{TENANT}, {active}, {status}, {parent}, {start}, {end}, 100, {offset}, {goals}, {state}"


def find(terms, cursor="NULL, NULL"):
    return f"{TENANT}, '{{{terms}}}', NULL, NULL, {cursor}, 20, 200"


# name: examples of its parameters, each the inside of EXECUTE name(...).
EXAMPLES = {
    "abilities_get": [f"{TENANT}, '{{m:a7}}'", f"{TENANT}, '{{m:a7,m:a8,no:such}}'"],
    "abilities_list": [TENANT],
    "ability_delete": [f"{TENANT}, 'm:a7'"],
    "ability_save": [f"{TENANT}, '{ability}', 'x', '{{}}', '{{}}', 'http://x.test/', '{{}}', 1, '[]', 200"
                     for ability in ("m:a7", "m:new")],
    "box_create": [f"{TENANT}, {NEW}, {IDS}, '[]', NULL, false"],
    "box_delete": [f"{TENANT}, {BOX}"],
    "box_fork": [f"{TENANT}, {BOX}, {NEW}, NULL, NULL", f"{TENANT}, {BOX}, {NEW}, 1, NULL",
                 f"{TENANT}, {FORK}, {NEW}, NULL, 70"],
    "box_log": [f"{TENANT}, {BOX}, 9223372036854775807, 100, 10"],
    "box_seal": [f"{TENANT}, {BOX}"],
    "box_save": [f"{TENANT}, {BOX}, {IDS}, '[]', NULL, NULL", f"{TENANT}, {FORK}, {IDS}, '[]', 1, NULL"],
    "boxes_append": [f"'{{tenant-0}}', ARRAY[{BOX}::uuid], ARRAY[{IDS}::jsonb], '{{NULL}}', '{{key}}', false",
                     f"'{{tenant-0}}', ARRAY[{FORK}::uuid], ARRAY[{IDS}::jsonb], '{{1}}', '{{NULL}}', true",
                     f"'{{tenant-0,tenant-0}}', ARRAY[{BOX}, {FORK}]::uuid[], array_fill({IDS}::jsonb, '{{2}}'), '{{NULL,NULL}}', '{{a,b}}', false"],
    "boxes_set_created": [f"'{{tenant-0}}', ARRAY[{BOX}::uuid], '{{2026-01-01 00:00:00+00}}'"],
    "boxes_export": [f"{TENANT}, NULL, 100", f"{TENANT}, {LATE_BOX}, 100"],
    "boxes_list": [f"{TENANT}, NULL, NULL, 50, false", f"{TENANT}, '2026-01-02 00:00:00+00', {BOX}, 50, true"],
    "boxes_read": [read_boxes(BOX), read_boxes(BOX, FORK, want=6), read_boxes(FORK, want=5, tail="NULL"),
                   read_boxes(FORK, version="1"), read_boxes(FORK, time="now")],
    "box_context": [f"{read_boxes(*boxes, tail=tail)}, 30000000, {count}" for boxes in ((BOX,), (FORK,), (BOX, FORK))
                    for tail, count in (("50", "50, true"), ("NULL", "10000, false"))],
    "boxes_save": [f"'{{tenant-0}}', ARRAY[{BOX}::uuid], ARRAY[{IDS}::jsonb], '{{[]}}', '{{NULL}}', '{{true}}'"],
    "boxes_with_card": [f"{TENANT}, {CARD}, 50, NULL, NULL, 400, true", f"{TENANT}, {CARD}, 50, '2026-01-02 00:00:00+00', {BOX}, 400, false"],
    "card_delete": [f"{TENANT}, {CARD}"],
    "card_revisions": [f"{TENANT}, {CARD}, 9223372036854775807, 50"],
    "cards_add": [f"{CARD_ARRAYS}, '{{f,f}}', '{{f,f}}', true", f"{CARD_ARRAYS}, '{{f,f}}', '{{f,f}}', false", f"{ONE_CARD}, '{{f}}', '{{f}}', false"],
    "cards_export": [f"{TENANT}, NULL, 100", f"{TENANT}, {CARD}, 100"],
    "cards_get": ["'{tenant-0}', '{card-1}', '{0}'", "'{tenant-0,tenant-1}', '{card-1,card-2}', '{0,1}'"],
    "cards_list": [list_cards(), list_cards(step_id="'step-7'"), list_cards(type_="'tool.call'"),
                   list_cards(trace_id="'trace-1'"), list_cards(agent_turn_id="'turn-7'"),
                   list_cards(tool_call_ids="'{call-7,call-8}'"), list_cards(step_id="'step-7'", type_="'tool.call'"),
                   list_cards(type_="'tool.call'", cursor="'2026-01-02 00:00:00+00', 'card-9'"),
                   list_cards(created_after="'2026-01-02 00:00:00+00'", created_before="'2026-01-03 00:00:00+00'"),
                   list_cards(cursor="'2026-01-02 00:00:00+00', 'card-9'"),
                   list_cards(role="'nobody'"), list_cards(metadata="'{\"no\": \"such\"}'"),
                   list_cards(type_="'tool.call'", role="'nobody'", trace_id="'trace-1'"),
                   list_cards(type_="'tool.call'", metadata="'{\"no\": \"such\"}'")],
    "calls_export": [f"{TENANT}, NULL, NULL, NULL, 100", f"{TENANT}, {TASK}, 1, 1, 100"],
    "calls_list": [f"{TENANT}, {TASK}, -1, -1, 9223372036854775807", f"{TENANT}, {TASK}, 2, 3, 1000"],
    "projects_list": ["NULL, 3, 1000, NULL", "'tenant-1', 100, 10, NULL", "NULL, 100, 10, ARRAY['tenant-1']"],
    "session_branch_points": [f"{SESSION}, -1, 50, 1000", f"{SESSION}, 1000, 50, NULL"],
    "session_children": [f"{SESSION}, 'e-1000', -1, 50, 1000", f"{SESSION}, '', -1, 50, NULL"],
    "session_context": [f"{SESSION}, 'e-2003', 1000000, NULL, NULL", f"{SESSION}, '', 1000000, NULL, NULL",
                        f"{SESSION}, '', 1000000, 8, NULL", f"{SESSION}, 'e-2003', 1000000, 8, 1000",
                        f"{CLAUDE}, '', 1000000, NULL, NULL"],
    "session_counts": [SESSION],
    "session_create": [f"{TENANT}, 'new', 'pi', '{{}}', false, false", f"{TENANT}, 'gone-5', 'pi', '{{}}', false, true"],
    "session_delete": [f"{SESSION}, 100, false", f"{TENANT}, 's-1', 1000, true"],
    "session_diff": [f"{SESSION}, 'e-2003', 'e-2500', 50, 1000"],
    "session_entries_get": [f"{SESSION}, '{{e-7,e-8}}'"],
    "session_export": [f"{SESSION}, -1, 200, 1000000", f"{SESSION}, 1500, 200, 1000000"],
    "session_fork": [f"{SESSION}, 'e-300', 'new'"],
    "session_get": [SESSION],
    "session_head": [f"{SESSION}, 'e-7', NULL, NULL"],
    "session_labels": [f"{SESSION}, NULL, 50, NULL", f"{SESSION}, 'e-7', 50, 1000"],
    "session_leaves": [f"{SESSION}, -1, 50, 1000", f"{SESSION}, 1000, 50, NULL"],
    "session_path": [f"{SESSION}, 'e-2003', 0, 2147483647, 1000000", f"{SESSION}, '', 100, 149, NULL"],
    "session_link": [f"{SESSION}, '{{e-7,no}}'"],
    "session_tree": [f"{SESSION}, -1, 200, 1000", f"{SESSION}, 1500, 200, NULL"],
    "search_find": [find("999999"), find("999999,5"), find("5"), find("5", "'2026-01-02', 5")],
    "search_store": ["""'{tenant-0,tenant-0,tenant-0,tenant-0}', '{"","",s-0,""}', '{card-5,new,e-1,card-15}', '{card,card,entry,NULL}',
                     '{NULL,NULL,NULL,NULL}', '{now,now,now,NULL}', '{now,now,now,now}', '{0,2,3,4}', '{2,3,4,4}',
                     '{5,6,7,8}'"""],
    "search_take": ["'', 100", "'tenant-2', 1"],
    "session_append": [
        f"{SESSION}, 'plain', NULL, 'new', '{{x,y}}', '{{0,0}}', '{{e-7,x}}', '{{0,1}}', '{{user,label}}', "
        "'{user,NULL}', '{NULL,NULL}', '{NULL,e-7}', '{NULL,NULL}', ARRAY['{\"a\":1}','{}']::json[], '{1,NULL}', " + USED,
        f"{SESSION}, 'plain', NULL, NULL, '{{x,e-5}}', '{{0,0}}', '{{NULL,no}}', '{{-1,0}}', '{{user,user}}', "
        "'{user,NULL}', '{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}', ARRAY['{\"a\":1}','{}']::json[], '{NULL,NULL}', NULL"],
    "session_add": [
        f"{session}, 'plain', NULL, 'new', '{{x,y}}', '{{0,0}}', '{{{parent},x}}', '{{{ref},1}}', '{{message,message}}', "
        "'{user,user}', '{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}', ARRAY['{\"a\":1}','{}']::json[], '{NULL,NULL}', " + USED +
        ", 'settings', 'openai', '\"be kind\"', '[]', NULL, true, true"
        for session, parent, ref in ((SESSION, "NULL", -1), (SESSION, "e-1000", 0), (f"{TENANT}, 'no such'", "NULL", -1))] + [
        f"{SESSION}, 'plain', NULL, 'new', '{{x}}', '{{0}}', '{{e-1000}}', '{{0}}', '{{message}}', '{{tool}}', '{{NULL}}', '{{NULL}}', "
        "'{NULL}', ARRAY['{\"a\":1}']::json[], '{NULL}', " + USED + ", NULL, 'openai', NULL, NULL, NULL, true, false"],
    "session_append_new": [
        f"{session}, 'plain', NULL, 'new', '{{x,y}}', '{{0,0}}', '{{NULL,x}}', '{{-1,1}}', '{{user,user}}', "
        "'{user,user}', '{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}', ARRAY['{\"a\":1}','{}']::json[], '{NULL,NULL}', " + USED + ", 'plain', NULL, true"
        for session in (SESSION, f"{TENANT}, 'no such'", f"{TENANT}, 'gone-5'")],
    "session_import": [
        f"{SESSION}, 'plain', {said}, false, {start}, '{{{ids}}}', '{{0,0}}', '{{e-4,no}}', '{{0,0}}', '{{user,user}}', "
        "'{user,NULL}', '{NULL,NULL}', '{NULL,NULL}', '{NULL,7}', '{NULL,NULL}', ARRAY['{}','{}']::json[], "
        "'{NULL,NULL}', '{NULL,NULL}', '{f,f}', NULL, NULL, true, " + USED
        for said, start, ids in (("NULL", 5, "e-5,y"), ("''", 3000, "x,y"))],
    "session_lines_export": [f"{TENANT}, NULL, NULL, 100", f"{SESSION}, 1500, 100", f"{TENANT}, 's-7', 20, 100"],
    "session_restore": [f"{SESSION}, 'pi', NULL, NULL, NULL, 'e-7', 7, NULL, NULL", f"{TENANT}, 'new', 'pi', NULL, NULL, NULL, NULL, 7, NULL, NULL"],
    "sessions_export": [f"{TENANT}, NULL, 100", f"{TENANT}, 's-7', 100"],
    "sessions_list": [f"{TENANT}, NULL, NULL, 50, NULL", f"{TENANT}, '2026-01-02 00:00:00+00', 's-7', 50, 65536"],
    "ledger_save": [f"""{TENANT}, '[{{"id": "task-41", "created": 41000, "updated": 99999999}}]', ARRAY['"be good"']::json[], {MESSAGES}, {CALLS}"""],
    "messages_export": [f"{TENANT}, NULL, NULL, 100", f"{TENANT}, {TASK}, 5, 100"],
    "messages_list": [f"{TENANT}, {TASK}, 1000, 0"],
    "task_cancel": [f"{TENANT}, {TASK}, '\"no\"'", f"{TENANT}, 'task-60', '\"no\"'"],
    "task_chunk": [f"{TENANT}, {HELD}, 'new-1', 1, '\"x\"'"],
    "task_get": [f"{TENANT}, {TASK}"],
    "task_send": [f"{TENANT}, {TASK}, 'new-1', '{{\"text\": \"x\"}}', '{{}}'"],
    "task_finish": [f"{TENANT}, {TASK}, 'success'", f"{TENANT}, 'task-60', 'success'"],
    "task_spawn": [f"{TENANT}, 'new', jsonb_build_object('parent', {TASK}, 'box', {NEW}, 'context', {BOX}), '\"be good\"', {MESSAGES}"],
    "task_turn": [f"{TENANT}, {HELD}, {NEW}"],
    "task_write": [f"{TENANT}, {HELD}, {MESSAGES}, {CALLS}, 0, NULL, NULL, false, NULL",
                   f"{TENANT}, {HELD}, {MESSAGES}, {CALLS}, 1, 'success', 9, true, NULL"],
    "tasks_active": [f"{TENANT}, 100"],
    "tasks_claim": ["'{tenant-0,tenant-1}', 'w', 15000, 8, 5, false", "NULL, 'worker-60', 15000, 8, 5, true"],
    "tasks_export": [f"{TENANT}, NULL, 100", f"{TENANT}, {TASK}, 100"],
    "tasks_follow": [f"'{{tenant-0,tenant-0}}', '{{task-42,task-60}}', '{{0,3}}', '{{NULL,saying-60}}', '{{0,2}}', 100, 100000, 1000000"],
    "tasks_query": [query_tasks(), query_tasks(goals="true"), query_tasks(active="true"), query_tasks(status="'failed: 3'"), query_tasks(parent="'task-1'"),
                    query_tasks(start="41000", end="99000"), query_tasks(active="true", start="41000", end="99000"),
                    *(query_tasks(state=f"'{state}'") for state in ("running", "waiting", "failed"))],
    "tasks_renew": ["'{tenant-0,tenant-0}', '{task-60,task-42}', '{1,1}', 15000"],
    "tokens_changed": ["-1"],
    "usage_export": [f"{TENANT}, NULL, NULL, NULL, NULL, 100", f"{TENANT}, 'session', 's-7', '2026-01-02', 'm', 100"],
    "usage_query": [f"{TENANT}, NULL, NULL, '{by}', 100" for by in ("day", "model", "session")]
                   + [f"{TENANT}, '2026-01-02', '2026-01-03', 'model', 100"],
    "usage_save": [f"{TENANT}, '{{session,task}}', '{{s-7,task-42}}', '{{2026-01-01,2026-01-02}}', '{{m,m}}', '{{1,2}}', '{{0,0}}', '{{1,1}}', '{{NULL,0.5}}'"],
}

# What no worker runs, and why.
NOT_OF_WORKERS = {
    "ability_delete": "workers write no abilities",
    "ability_save": "workers write no abilities",
    "search_store": "workers index nothing",
    "search_take": "workers index nothing",
    "session_delete": "workers delete no sessions",
    "tokens_changed": "workers know no tokens",
}

# Why these have no plan that matters.
NOT_PLANNED = {
    **dict.fromkeys(("begin", "begin_snapshot", "commit", "rollback", "search_savepoint", "search_rollback",
                     "statement_limits", "lock_wait", "connection_guard"), "reads no table"),
    **dict.fromkeys(("migrate_begin", "migrate_functions_begin", "migrate_functions_end", "migrate_functions", "migrate_has_record", "migrate_list",
                     "migrate_lock", "migrate_newer_release", "migrate_lock_tables", "lock_holder", "lock_row_holder", "migrate_grant_roles", "migrate_record",
                     "migrate_record_function", "migrate_backend_pid", "dev_database", "dev_prepare"), "not at work"),
    **dict.fromkeys(("ping", "free_slots", "ready", "wal_position", "analyze_grown", "cluster_identity", "replayed"), "reads no tenant's table"),
    **dict.fromkeys(("doctor", "doctor_functions", "doctor_grants", "doctor_make_grant", "doctor_make_token", "doctor_members",
                     "doctor_read_all", "doctor_rls",
                     "doctor_row_security_off", "doctor_schemas", "role_rights"), "for operators, and reads no rows of tenants"),
    **dict.fromkeys(("tasks_listen", "tasks_notify"), "reads the names of channels, of which each tenant has one"),
    "gc_batch": "removes what is dead of all tenants at once, by indexes of time that have no tenant",
    **dict.fromkeys(("token_create", "token_list", "token_revoke"), "for operators; there are few tokens"),
    "search_backlog": "counts the queue, up to a limit",
    **dict.fromkeys(("export_count", "project_counts", "gc_count"), "counts all there is, for operators"),
}

# Where sorting is right, and why. Nothing else may sort.
SORTS = {
    "box_log": "the rows of one page, which the index gave in order already",
    **dict.fromkeys(("boxes_list", "boxes_with_card"), "the first cards of a box, for its preview"),
    "boxes_append": "what is given, by box; and the ids of one segment",
    "boxes_save": "the ids of one box",
    "box_create": "the ids of one box",
    "box_save": "the ids of one box",
    "box_fork": "the ids of one segment",
    "box_context": "the one version of a box that was asked for",
    "boxes_read": "the one version of a box that was asked for",
    "card_revisions": "the rows of one page, which the index gave in order already",
    "cards_add": "what is given, so that two such statements lock in one order",
    "cards_list": "the cards of some calls, which are few, and those of one time",
    "projects_list": "a page",
    "search_find": "rows that the GIN index returns",
    "search_take": "what is taken",
    "session_add": "what is given, and the branches of one path",
    "session_append": "what is given",
    "session_append_new": "what is given",
    "session_branch_points": "a page",
    "session_children": "a page",
    "session_counts": "the starts of branches of one session, for a count",
    "session_delete": "the entries of one session, so that their cards are locked in one order",
    "session_diff": "one of each side, and the branches of two paths",
    "session_context": "the branches of one path",
    "session_export": "a page of lines, of which few are no entries",
    "session_fork": "the branches of one path",
    "session_import": "what is given",
    "session_labels": "the labels of one session",
    "session_leaves": "a page",
    "session_link": "the branches of one session",
    "session_path": "the branches of one path, and its entries by their depth",
    "session_restore": "the branches of one session",
    "sessions_export": "the rows of one page, which the index gave in order already",
    "sessions_list": "a page",
    "ledger_save": "what is given, and the tasks of that, so that two such statements lock in one order",
    "messages_export": "the rows of one page, which the index gave in order already",
    "messages_list": "the rows of one page, which the index gave in order already",
    "task_cancel": "the task and its parent, so that two such statements lock in one order",
    "task_finish": "the task and its parent, so that two such statements lock in one order",
    "task_turn": "what is new in the task",
    "task_write": "what is given, and the tasks of that",
    "tasks_claim": "the tenants that a worker serves",
    "tasks_export": "a page",
    "tasks_query": "what a filter leaves, where that is little more than a page",
    "tokens_changed": "the tokens, which are few",
    "usage_export": "a page",
    "usage_query": "the groups, which are summed",
    "usage_save": "what is given, so that two such statements lock in one order",
}
# The only list that may sort all its rows.
SORTED_LIST = list_cards(tool_call_ids="'{call-7,call-8}'")

# Where rows of a tenant are looked through on purpose, and why. Else an index must find them by more.
LOOKED_THROUGH = {
    "search_find": "the newest documents, up to a limit",
    "sessions_export": "the ids of deleted sessions, each once in an export",
    "session_context": "the way back to the last compaction, which is read anyway: an index would be written by imports",
}

# Where rows are found without their tenant on purpose, and why.
ALL_TENANTS = {
    "projects_list": "the projects themselves, from one to the next",
    "tasks_claim": "which tenants have work, from one to the next, for a worker that serves all",
}

# Where there are no statistics of tenants' rows to expect any better by, and the plan is right all the same.
GUESSED = {
    "projects_list": "the next project: the index gives the first row of it",
    "cards_list": "cards of a type, by thousands: the index gives them in order, up to a limit",
    "search_find": "rows that the GIN index returns; there are no statistics of their terms",
    "tasks_claim": "one task of each tenant: the index gives the first",
}

BIG = """
INSERT INTO cardbox.cards (tenant_id, card_id, content, tool_call_id, metadata, created_at, expires_at, deleted_at)
SELECT 'tenant-' || CASE WHEN n % 10 < 6 THEN 0 ELSE n % 4 + 1 END, 'card-' || n, '1',
       CASE WHEN n % 3 = 0 THEN 'call-' || n / 6 END,
       jsonb_build_object('type', (ARRAY['tool.call', 'agent.thought', 'task.instruction'])[n % 3 + 1],
                          'step_id', 'step-' || n / 20, 'agent_turn_id', 'turn-' || n / 100,
                          'trace_id', 'trace-' || n / 1000),
       '2026-01-01 00:00:00+00'::timestamptz + n * interval '1 second',
       CASE WHEN n % 200 = 1 THEN now() + n * interval '1 second' END,
       CASE WHEN n % 200 = 2 THEN now() - interval '1 second' END
  FROM generate_series(0, 149999) AS n;

INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, own_from, length, version, tail, parent_ids, created_at, updated_at)
SELECT 'tenant-' || CASE WHEN n % 10 < 6 THEN 0 ELSE n % 4 + 1 END, b.id, b.id, 0, 76, 12,
       (SELECT jsonb_agg('card-' || n + i) FROM generate_series(1, 12) AS i), '[]', b.at, b.at
  FROM generate_series(0, 11999) AS n,
       LATERAL (SELECT ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid AS id,
                       '2026-01-01 00:00:00+00'::timestamptz + n * interval '1 minute' AS at) AS b;
INSERT INTO cardbox.card_box_segments (tenant_id, chain_id, start, card_ids)
SELECT b.tenant_id, b.chain_id, 0,
       (SELECT jsonb_agg('card-' || (right(b.box_id::text, 12)::bigint * 7 + i) % 150000) FROM generate_series(1, 64) AS i)
  FROM cardbox.card_boxes b;
INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, append_key, at)
SELECT b.tenant_id, b.box_id, v, CASE WHEN v = 1 THEN 'create' ELSE 'append' END, b.chain_id, 64 + v, 1,
       CASE WHEN v > 1 THEN 'key-' || v END, b.created_at + v * interval '1 second'
  FROM cardbox.card_boxes b, generate_series(1, 12) AS v;
-- One session of 3,000 entries, of which every tenth has a second child; 200 smaller ones; and empty ones.
INSERT INTO cardbox.sessions (tenant_id, session_id, dialect, head_line, head_entry_id, head_branch, head_depth,
                              head_is_leaf, lines, entries, version, created_at, updated_at)
SELECT 'tenant-0', 's-' || s, 'plain', n.last, 'e-' || n.last, 0, n.last - n.last / 10, true, coalesce(n.last + 1, 0), coalesce(n.last + 1, 0), 1,
       '2026-01-01 00:00:00+00'::timestamptz + s * interval '1 minute', now()
  FROM generate_series(0, 9999) AS s,
       LATERAL (SELECT CASE WHEN s = 0 THEN 2999 WHEN s <= 200 THEN 49 END AS last) AS n;
INSERT INTO cardbox.session_lines (tenant_id, session_id, line, entry_id, parent_line, depth, branch, type, role, size,
                                   target, label, content)
SELECT s.tenant_id, s.session_id, e, 'e-' || e, CASE WHEN e = 0 THEN NULL WHEN fork THEN e - 5 ELSE p END,
       CASE WHEN fork THEN e - 5 - (e - 5) / 10 + 1 ELSE e - e / 10 END, CASE WHEN fork THEN e ELSE 0 END,
       CASE WHEN e % 100 = 7 THEN 'label' ELSE 'user' END, 'user', 15,
       CASE WHEN e % 100 = 7 THEN 'e-' || e - 1 END, CASE WHEN e % 100 = 7 THEN '"label"'::json END, '{}'
  FROM cardbox.sessions s, LATERAL generate_series(0, s.lines - 1) AS e,
       LATERAL (SELECT e > 0 AND e % 10 = 0 AS fork, CASE WHEN e % 10 = 1 AND e > 1 THEN e - 2 ELSE e - 1 END AS p) AS f
 WHERE s.tenant_id = 'tenant-0';
-- The same lines as a transcript of Claude Code: each second child is a result beside the path.
INSERT INTO cardbox.sessions (tenant_id, session_id, dialect, head_line, head_entry_id, head_branch, head_depth,
                              head_is_leaf, lines, entries, version, created_at, updated_at)
SELECT s.tenant_id, 's-claude', 'claude', s.head_line, s.head_entry_id, s.head_branch, s.head_depth, s.head_is_leaf, s.lines, s.entries, 1,
       s.created_at, s.updated_at FROM cardbox.sessions s WHERE s.tenant_id = 'tenant-0' AND s.session_id = 's-0';
INSERT INTO cardbox.session_lines (tenant_id, session_id, line, entry_id, parent_line, depth, branch, type, role, size, content)
SELECT l.tenant_id, 's-claude', l.line, l.entry_id, l.parent_line, l.depth, l.branch, 'message',
       CASE l.line % 10 WHEN 0 THEN 'tool' WHEN 5 THEN 'assistant' ELSE 'user' END, l.size, l.content
  FROM cardbox.session_lines l WHERE l.tenant_id = 'tenant-0' AND l.session_id = 's-0';
INSERT INTO cardbox.session_append_keys (tenant_id, session_id, append_key, digest, version)
SELECT 'tenant-0', 's-0', 'key-' || n, 'x', 1 FROM generate_series(1, 1000) AS n;
INSERT INTO cardbox.sessions (tenant_id, session_id, state, version, created_at, updated_at, deleted_at)
SELECT 'tenant-' || n % 5, 'gone-' || n, CASE WHEN n % 5 = 0 THEN 'gone' ELSE 'deleted' END, 1, now(), now(), now()
  FROM generate_series(1, 5000) AS n;
-- Every third box has a fork, with a tail of its own.
INSERT INTO cardbox.card_box_chains (tenant_id, chain_id, parent_chain_id, parent_length, depth)
SELECT b.tenant_id, overlay(b.chain_id::text PLACING '0001' FROM 20)::uuid, b.chain_id, 64, 1
  FROM cardbox.card_boxes b WHERE right(b.box_id::text, 12)::bigint % 3 = 0;
INSERT INTO cardbox.card_boxes (tenant_id, box_id, chain_id, own_from, length, version, tail, parent_ids, created_at, updated_at)
SELECT c.tenant_id, c.chain_id, c.chain_id, 64, 65, 1, '["card-1"]', '[]', now(), now() FROM cardbox.card_box_chains c;
INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
SELECT c.tenant_id, c.chain_id, 1, 'fork', c.chain_id, 65, 65, now() FROM cardbox.card_box_chains c;
INSERT INTO cardbox.card_revisions (tenant_id, card_id, revision, content, created_at)
SELECT c.tenant_id, c.card_id, r, '2', c.created_at FROM cardbox.cards c, generate_series(1, 3) AS r WHERE c.card_id LIKE '%2';

-- Of each tenant all documents have one term, and every thousandth has another.
INSERT INTO cardbox.search_documents (tenant_id, session_id, id, kind, created_at, terms)
SELECT c.tenant_id, '', c.card_id, 'card', c.created_at,
       ARRAY[right(c.tenant_id, 1)::bigint * 1000000 + 999999, right(c.tenant_id, 1)::bigint * 1000000 + right(c.card_id, 3)::bigint]
  FROM cardbox.cards c WHERE c.card_id ~ '^card-\\d{3,}$';

-- Of the tasks one in twenty is active, and of these every third is held; one in ten has failed.
INSERT INTO cardbox.tasks (tenant_id, task_id, parent_task_id, completion_status, system_prompt, created_at, updated_at, events,
                           messages, last_user, wake_at, lease_owner, lease_epoch)
SELECT 'tenant-' || CASE WHEN n % 10 < 6 THEN 0 ELSE n % 4 + 1 END, 'task-' || n, NULL,
       CASE WHEN n % 10 = 3 THEN 'failed: ' || n % 100 WHEN n % 20 > 0 THEN 'success' END, '"be good"', n * 1000, n * 1000, 12, 10, 11,
       CASE WHEN n % 20 = 0 THEN now() + (n - 10000) * interval '1 second' END,
       CASE WHEN n % 60 = 0 THEN 'worker-' || n END, 1
  FROM generate_series(0, 19999) AS n;
UPDATE cardbox.tasks SET parent_task_id = 'task-' || substr(task_id, 6)::bigint / 20 * 20
 WHERE tenant_id = 'tenant-0' AND substr(task_id, 6)::bigint % 20 BETWEEN 1 AND 5;
INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at, sealed)
SELECT t.tenant_id, 'message-' || substr(t.task_id, 6) || '-' || i, '{"text": "x"}', '{}', now(), true
  FROM cardbox.tasks t, generate_series(0, 9) AS i;
INSERT INTO cardbox.messages (tenant_id, message_id, task_id, role, ts, seq)
SELECT t.tenant_id, 'message-' || substr(t.task_id, 6) || '-' || i, t.task_id, CASE WHEN i % 9 = 0 THEN 'user' ELSE 'assistant' END, i, i + 2
  FROM cardbox.tasks t, generate_series(0, 9) AS i;
INSERT INTO cardbox.calls (tenant_id, call_id, task_id, ability_name, parameters, status, details, created_at, updated_at,
                           start_message_id, seq)
SELECT t.tenant_id, 'call-' || substr(t.task_id, 6) || '-' || i, t.task_id, 'card:get', '"{}"',
       CASE WHEN t.completion_status IS NULL AND i = 2 THEN 'in_progress' WHEN i = 1 THEN 'pending' ELSE 'completed' END,
       '"{}"', i, i, 'message-' || substr(t.task_id, 6) || '-0', i
  FROM cardbox.tasks t, generate_series(0, 2) AS i;
INSERT INTO cardbox.task_events (tenant_id, task_id, n, what, ref, how, at)
SELECT t.tenant_id, t.task_id, i + 1, 'message', 'message-' || substr(t.task_id, 6) || '-' || i, 'user', 1
  FROM cardbox.tasks t, generate_series(0, 9) AS i;
INSERT INTO cardbox.task_chunks (tenant_id, task_id, message_id, n, piece)
SELECT t.tenant_id, t.task_id, 'saying-' || substr(t.task_id, 6), i, '"x"'
  FROM cardbox.tasks t, generate_series(1, 4) AS i WHERE t.lease_owner IS NOT NULL;
INSERT INTO cardbox.usage (tenant_id, source, source_id, on_day, model, input_tokens, cached_input_tokens, output_tokens)
SELECT 'tenant-' || CASE WHEN n % 10 < 6 THEN 0 ELSE n % 4 + 1 END, CASE WHEN n % 3 > 0 THEN 'session' ELSE 'task' END,
       CASE WHEN n % 3 > 0 THEN 's-' ELSE 'task-' END || n / 10, '2026-01-01'::date + n % 300, 'model-' || n % 7, 1, 1, 1
  FROM generate_series(0, 59999) AS n;
INSERT INTO cardbox.abilities (tenant_id, ability_id, description, input_schema, output_schema, url, headers, timeout_ms, unchecked)
SELECT 'tenant-' || t, 'm:a' || i, 'x', '{}', '{}', 'http://x.test/', '{}', 1, '[]'
  FROM generate_series(0, 99) AS t, generate_series(1, 190) AS i;
"""


WORKER = f"planner_{os.getpid()}"
GRANTED = f"""
CREATE ROLE {WORKER} LOGIN IN ROLE cardbox_worker;
INSERT INTO cardbox.tenant_grants (tenant_id, role_name) SELECT 'tenant-' || n, '{WORKER}' FROM generate_series(0, 4) AS n;
"""

UNWATCHED = "".join(f"ALTER TABLE cardbox.{table} SET (autovacuum_enabled = false);" for table in TABLES)


# One large session, of which alone PostgreSQL knows.
OTHER = """
INSERT INTO cardbox.sessions (tenant_id, session_id, dialect, head_line, head_entry_id, head_branch, head_depth,
                              head_is_leaf, lines, entries, version, created_at, updated_at)
VALUES ('tenant-z', 'z', 'plain', 29999, 'e-29999', 0, 29999, true, 30000, 30000, 1, now(), now());
INSERT INTO cardbox.session_lines (tenant_id, session_id, line, entry_id, parent_line, depth, branch, type, role, size, content)
SELECT 'tenant-z', 'z', e, 'e-' || e, nullif(e - 1, -1), e, 0, 'user', 'user', 15, '{}' FROM generate_series(0, 29999) AS e;
ANALYZE;
"""


@once
def outdated():
    """The rows of projects that were made since PostgreSQL looked."""
    owner = database()
    psql(owner, UNWATCHED + OTHER + BIG)
    return owner


@once
def analysed():
    owner = Postgres.shared().copy(outdated())
    psql(as_role(owner, "postgres"), GRANTED)
    cardbox_test.at_end(lambda: psql(as_role(owner, "postgres"), f"DROP ROLE {WORKER}"))
    psql(owner, "VACUUM ANALYZE")
    return owner


@once
def unknown():
    """The same rows, of which PostgreSQL does not know how many there are, as after a large import."""
    owner = Postgres.shared().copy(outdated())
    psql(owner, "SET allow_system_table_mods = on; DELETE FROM pg_statistic;"
                "UPDATE pg_class SET relpages = 0, reltuples = -1, relallvisible = 0"
                " WHERE relnamespace = 'cardbox'::regnamespace AND relkind IN ('r', 'i')")
    return owner


EXPLAIN = f"""
    LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;
    SET auto_explain.log_format = json; SET auto_explain.log_analyze = on; SET auto_explain.log_level = notice;
    SET auto_explain.log_timing = off; {planner_settings()}"""


def run(owner, script, *options):
    done = subprocess.run(["psql", as_role(owner, "postgres"), "-Xq", *options, "-o", os.devnull],
                          input=script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def plans_in(said):
    plans = [json.loads(plan) for plan in re.findall(r"plan:\n(\{.*?\n\})", said, re.S)]
    assert plans, said
    return plans


def explain(owner, name, example, role="cardbox_app"):
    """The plans of the statement and of those that its functions run; nothing of it stays."""
    return plans_in(run(owner, f"{EXPLAIN} SET ROLE {role}; BEGIN; {prepare(name)} EXECUTE it({example}); ROLLBACK;",
                        "-v", "ON_ERROR_STOP=1"))


@once
def kept():
    """The plans that one connection made while there were no rows: as it uses them when there are many, and again when
    a server has had the tables analysed."""
    owner = database()
    examples = [(name, example) for name in EXAMPLES for example in EXAMPLES[name]]
    execute = [f"\\warn CASE\nBEGIN; EXECUTE {name}({example}); ROLLBACK;" for name, example in examples]
    said = run(owner, "\n".join([
        UNWATCHED, planner_settings(), "SET client_min_messages = fatal; SET ROLE cardbox_app;",
        *(prepare(name).replace("PREPARE it", f"PREPARE {name}", 1) for name in EXAMPLES), *execute,
        "RESET ROLE; RESET client_min_messages;", OTHER.replace("ANALYZE;", ""), BIG, EXPLAIN,
        "SET ROLE cardbox_app;", *execute, "SELECT cardbox.analyze_grown() FROM generate_series(1, 50);", *execute]))
    parts = [plans_in(part) for part in said.split("CASE\n")[1 + len(examples):]]
    return dict(zip(examples, parts)), dict(zip(examples, parts[len(examples):]))


def nodes(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def scan_fault(name, node):
    """What is wrong with how a node finds a tenant's rows, or None."""
    table = node.get("Relation Name")
    kind = node["Node Type"]
    never = node.get("Actual Loops") == 0
    if never or table not in TABLES or kind not in ("Seq Scan", "Index Scan", "Index Only Scan"):
        return None
    if kind == "Seq Scan":
        return f"reads all of {table}"
    found_by = node.get("Index Cond", "")
    if not re.search(r"\btenant_id = ", found_by) and name not in ALL_TENANTS:
        return f"finds rows of {table} without the tenant: {found_by}"
    return None


def estimate_fault(node):
    estimated, actual = node["Plan Rows"], node.get("Actual Rows", 0)
    if node.get("Relation Name") in TABLES and max(estimated, actual) > 5000 * max(1, min(estimated, actual)):
        return f"{node['Node Type']} of {node['Relation Name']}: {estimated} rows were expected, {actual} came"
    return None


def filter_fault(name, node):
    """Rows that an index found and a filter, or a join, threw away by many hundreds."""
    if node.get("Rows Removed by Join Filter", 0) > 700:
        return f"{node['Node Type']} throws away {node['Rows Removed by Join Filter']} rows: {node['Join Filter']}"
    thrown = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    if node.get("Relation Name") in TABLES and thrown > 700 and name not in LOOKED_THROUGH:
        return f"{node['Node Type']} of {node['Relation Name']} looks through {thrown} rows: {node.get('Filter')}"
    return None


def sorts_ties(name, node):
    """Cards of one time by their ids: what comes before, the index gave in order."""
    return name == "cards_list" and [key.split(".")[-1] for key in node.get("Presorted Key", ())][-1:] == ["created_at"]


def scans(name, plans):
    return {fault for plan in plans for node in nodes(plan["Plan"]) for fault in [scan_fault(name, node)] if fault}


def faults(name, example, plans, are_known=False):
    for statement_plan in plans:
        for node in nodes(statement_plan["Plan"]):
            for fault in (scan_fault(name, node), are_known and name not in GUESSED and estimate_fault(node), filter_fault(name, node)):
                if fault:
                    yield f"{fault}\n      in {statement_plan['Query Text'].strip()[:200]}"
            sorts = "Sort" in node["Node Type"] and not sorts_ties(name, node)
            unsorted = name == "cards_list" and example != SORTED_LIST
            if sorts and (name not in SORTS or unsorted):
                yield f"sorts by {node.get('Sort Key')}\n      in {statement_plan['Query Text'].strip()[:200]}"


def check(owner, name, role="cardbox_app", **how):
    found = [f"{example}: {fault}" for example in EXAMPLES[name]
             for fault in faults(name, example, explain(owner, name, example, role), **how)]
    assert not found, "\n" + "\n".join(found)


def test_every_statement_is_planned():
    names = {os.path.basename(path)[:-4]
             for path in glob.glob(os.path.join(cardbox_test.ROOT, "sql", "statements", "*.sql"))}
    known = set(EXAMPLES) | set(NOT_PLANNED)
    assert names == known, f"in neither table: {sorted(names - known)}; gone: {sorted(known - names)}"
    assert not set(EXAMPLES) & set(NOT_PLANNED) and set(SORTS) | set(LOOKED_THROUGH) | set(ALL_TENANTS) | set(GUESSED) | set(NOT_OF_WORKERS) <= set(EXAMPLES)


def test_plans():
    for name in EXAMPLES:
        yield name, lambda name=name: check(analysed(), name, are_known=True)


def test_plans_of_workers():
    for name in EXAMPLES:
        if name not in NOT_OF_WORKERS:
            yield name, lambda name=name: check(analysed(), name, WORKER, are_known=True)


def test_plans_without_statistics():
    for name in EXAMPLES:
        yield name, lambda name=name: check(unknown(), name)


def test_plans_of_new_projects():
    """Where several indexes begin with the project, and only one leads to the row."""
    for name in EXAMPLES:
        yield name, lambda name=name: check(outdated(), name)


def test_plans_of_empty_tables():
    """They are kept until a server has the tables analysed. Until then they read no table from end to end."""
    for name in EXAMPLES:
        yield name, lambda name=name: check_kept(name)


def check_kept(name):
    loaded, known = kept()
    found = [f"{example}: {fault}" for example in EXAMPLES[name]
             for fault in (*scans(name, loaded[name, example]), *faults(name, example, known[name, example]))]
    assert not found, "\n" + "\n".join(found)


def test_results_beside_a_path():
    """Only sessions of Claude Code look for them, by the index of the first entries of branches."""
    for session, finds in ((CLAUDE, True), (SESSION, False)):
        found = [node for plan in explain(analysed(), "session_context", f"{session}, '', 1000000, NULL, NULL") for node in nodes(plan["Plan"])
                 if node.get("Index Name") == "session_lines_starts"]
        assert found and any(node["Actual Loops"] > 0 for node in found) == finds, (session, found)
        assert all("parent_line = " in node["Index Cond"] for node in found), found


def test_the_search_combines_its_indexes():
    """The GIN index of terms, alone or with the BRIN index of times: never an index that finds all documents of a tenant."""
    used = {node["Index Name"] for plan in explain(analysed(), "search_find", find("5")) for node in nodes(plan["Plan"])
            if node["Node Type"] == "Bitmap Index Scan"}
    assert used == {"search_documents_terms", "search_documents_by_period"}, used


def test_the_test_sees():
    """Statements that scan, sort, or find by a parameter of the wrong type are found out."""
    owner = analysed()
    scan = json.loads(psql(owner, "EXPLAIN (FORMAT JSON) SELECT * FROM cardbox.cards WHERE metadata ->> 'role' = 'x'"))
    cast = json.loads(psql(owner, "SET enable_seqscan = off; EXPLAIN (FORMAT JSON) SELECT * FROM cardbox.cards"
                                  " WHERE tenant_id::bytea = 'x'"))
    for plan in (scan, cast):
        assert any(scan_fault("cards_get", node) for node in nodes(plan[0]["Plan"])), plan


if __name__ == "__main__":
    cardbox_test.main()
