#!/usr/bin/env python3
"""Row-level security, the second lock: a worker's database role reaches only the tenants that are
granted to it, whatever SQL it sends; the service's role reaches all, and neither owns anything."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, as_role

TABLES = ("cards", "card_revisions", "card_boxes", "card_box_segments", "card_box_chains", "card_box_log",
          "tasks", "messages", "calls", "task_events", "task_chunks", "task_channels", "abilities")
BOX = "00000000-0000-7000-8000-000000000001"
ROLE = f"worker_{os.getpid()}"


def sql(dsn, role, text):
    command = ["psql", as_role(dsn, role), "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", text]
    return subprocess.run(command, capture_output=True, text=True)


def add(tenant, card):
    return (f"SELECT outcome FROM cardbox.write_cards(ARRAY['{tenant}'], ARRAY['{card}'], "
            "ARRAY['1'::json], ARRAY[NULL::jsonb], ARRAY[NULL], ARRAY[NULL::int], "
            "ARRAY['{}'::jsonb], ARRAY[NULL::timestamptz], ARRAY[NULL::timestamptz], "
            "ARRAY[NULL::timestamptz], ARRAY[false], ARRAY[false], ARRAY[false], true)")


def append(tenant, count):
    ids = f"(SELECT jsonb_agg('id-' || i) FROM generate_series(1, {count}) i)"
    return f"SELECT outcome FROM cardbox.append_to_boxes('{{{tenant}}}', '{{{BOX}}}', ARRAY[{ids}], '{{NULL}}', '{{NULL}}', true)"


def spawn(tenant):
    return (f"""SELECT cardbox.create_task('{tenant}', 'same', '{{}}', '""', '[{{"id": "same-1", "role": "user", "metadata": {{}}}}]', """
            """ARRAY['{"text":"x"}'::json])""")


def database():
    """Two tenants with the same ids, and a worker's role that one of them is granted to."""
    pg = Postgres.shared()
    dsn = pg.database()
    pg.psql(dsn, f"DROP ROLE IF EXISTS {ROLE}; CREATE ROLE {ROLE} LOGIN IN ROLE cardbox_worker")
    cardbox_test.at_end(lambda: pg.psql(as_role(dsn, "postgres"), f"DROP ROLE IF EXISTS {ROLE}"))
    pg.psql(dsn, f"INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('mine', '{ROLE}')")
    for tenant in ("mine", "other"):
        pg.psql(dsn, add(tenant, "same"))
        pg.psql(dsn, f"SELECT cardbox.create_box('{tenant}', '{BOX}', '[]', '[]', NULL, false)")
        pg.psql(dsn, append(tenant, 100))
        pg.psql(dsn, f"SELECT cardbox.fork_box('{tenant}', '{BOX}', gen_random_uuid(), NULL, NULL)")
        pg.psql(dsn, spawn(tenant))
        pg.psql(dsn, f"SELECT cardbox.listen_for_tasks(ARRAY['{tenant}'])")
        pg.psql(dsn, f"INSERT INTO cardbox.calls VALUES ('{tenant}', 'same', 'same', 'card:get', '\"\"', 'pending', "
                     "'\"\"', 1, 1, 'same-1', NULL, 1)")
        pg.psql(dsn, f"INSERT INTO cardbox.task_chunks VALUES ('{tenant}', 'same', 'next', 1, '\"\"')")
        pg.psql(dsn, f"SELECT cardbox.save_ability('{tenant}', 'm:same', '', '{{}}', '{{}}', 'http://x.test/', '{{}}', 1, '[]', 200)")
        pg.psql(dsn, f"INSERT INTO cardbox.card_revisions (tenant_id, card_id, revision, content, created_at) VALUES ('{tenant}', 'same', 1, '1', now())")
    return dsn


def test_worker_sees_its_tenant_only():
    dsn = database()
    for table in TABLES:
        seen = sql(dsn, ROLE, f"SELECT DISTINCT tenant_id FROM cardbox.{table}")
        assert seen.stdout.split() == ["mine"], (table, seen)
    seen = sql(dsn, ROLE, "SELECT DISTINCT tenant_id FROM cardbox.boxes")
    assert seen.returncode != 0 or seen.stdout.split() == ["mine"], seen


def test_worker_writes_its_tenant_only():
    dsn = database()
    assert sql(dsn, ROLE, add("mine", "new")).stdout.strip() == "1"
    assert sql(dsn, ROLE, append("mine", 1)).stdout.strip() == "1"
    refused = sql(dsn, ROLE, add("other", "new"))
    assert 'may not write to project "other"' in refused.stderr, refused
    refused = sql(dsn, ROLE, append("other", 1))
    assert 'may not write to project "other"' in refused.stderr, refused
    for text in ("UPDATE cardbox.cards SET deleted_at = now() WHERE tenant_id = 'other'",
                 "UPDATE cardbox.cards SET tenant_id = 'other' WHERE card_id = 'same'",
                 "INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('other', current_user)",
                 "DELETE FROM cardbox.cards", "TRUNCATE cardbox.cards",
                 "ALTER TABLE cardbox.cards DISABLE ROW LEVEL SECURITY", "SET ROLE cardbox_service"):
        sql(dsn, ROLE, text)
    left = Postgres.shared().psql(dsn, "SELECT tenant_id, count(*) FROM cardbox.cards WHERE "
                                       "deleted_at IS NULL GROUP BY 1 ORDER BY 1")
    assert left.split() == ["mine|3", "other|2"], left


def test_worker_rewrites_no_history():
    dsn = database()
    Postgres.shared().psql(dsn, "INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('other', 'somebody')")
    assert sql(dsn, ROLE, "SELECT tenant_id FROM cardbox.tenant_grants").stdout.split() == ["mine"]
    for table in ("card_revisions", "card_box_segments", "card_box_chains", "card_box_log"):
        for text in (f"UPDATE cardbox.{table} SET tenant_id = tenant_id", f"DELETE FROM cardbox.{table}"):
            refused = sql(dsn, ROLE, text)
            assert "permission denied" in refused.stderr, (text, refused)


def test_worker_changes_no_sealed_box():
    """Neither by a function, nor by a statement of its own."""
    dsn = database()
    assert 'may not write to project "other"' in sql(dsn, ROLE, f"SELECT cardbox.seal_box('other', '{BOX}', NULL)").stderr
    assert sql(dsn, ROLE, f"SELECT outcome FROM cardbox.seal_box('mine', '{BOX}', NULL)").stdout.strip() == "1"
    for text, outcome in ((append("mine", 1), "11"), (append("mine", 70), "11"),
                          (f"SELECT outcome FROM cardbox.save_box('mine', '{BOX}', '[]', '[]', NULL, NULL)", "11"),
                          (f"SELECT outcome FROM cardbox.save_box('mine', '{BOX}', '[]', '[]', 0, NULL)", "11"),
                          (f"SELECT outcome FROM cardbox.import_box('mine', '{BOX}', '[]', '[]', NULL, false)", "11"),
                          (f"SELECT cardbox.delete_box('mine', '{BOX}') IS NULL", "t"),
                          (f"SELECT outcome FROM cardbox.create_box('mine', '{BOX}', '[]', '[]', NULL, true)", "2")):
        assert sql(dsn, ROLE, text).stdout.strip() == outcome, text
    for text in ("UPDATE cardbox.card_boxes SET sealed = false", "UPDATE cardbox.boxes SET sealed = false",
                 "DELETE FROM cardbox.card_boxes", "SELECT cardbox.append_ids('mine', NULL, '[]', NULL, NULL, true)"):
        assert "permission denied" in sql(dsn, ROLE, text).stderr, text
    left = Postgres.shared().psql(dsn, f"SELECT tenant_id, length, sealed FROM cardbox.boxes WHERE box_id = '{BOX}' ORDER BY 1")
    assert left.split() == ["mine|100|t", "other|100|f"], left


def test_worker_holds_no_lock_of_others():
    """Of gc, or of another project's imports: not those of today, and nobody asks for those of former releases."""
    dsn = database()
    ledger = ("SELECT count(*) FROM cardbox.save_ledger('other', '[{\"id\": \"x\", \"created\": 1, \"updated\": 1}, "
              "{\"id\": \"y\", \"created\": 1, \"updated\": 1}]', ARRAY['\"x\"', '\"x\"']::json[], '[]', NULL, '[]', NULL, NULL)")
    for text in ("SELECT FROM cardbox.lock_rows FOR UPDATE", "SELECT FROM cardbox.lock_rows", "SELECT cardbox.try_lock_row('gc')",
                 "BEGIN; LOCK TABLE cardbox.lock_rows IN ACCESS SHARE MODE", "BEGIN; LOCK TABLE cardbox.lock_rows",
                 "INSERT INTO cardbox.lock_rows VALUES ('other', 'ledger')", "DELETE FROM cardbox.lock_rows"):
        assert "permission denied" in sql(dsn, ROLE, text).stderr, text
    for text in ("SELECT FROM cardbox.lock_rows FOR UPDATE", "BEGIN; LOCK TABLE cardbox.lock_rows"):
        assert "permission denied" in sql(dsn, "cardbox_app", text).stderr, text
    assert sql(dsn, "cardbox_app", ledger).stdout.strip() == "2"
    with cardbox_test.connected(dsn, ROLE) as worker:
        for name in ("lock_ledger('other')", "lock_tasks('other', '{same}')"):
            assert "permission denied" in sql(dsn, ROLE, f"SELECT cardbox.{name}").stderr, name
        assert worker.run("BEGIN; " + ledger.replace("other", "mine")) == "2"
        worker.run("SELECT pg_advisory_lock(hashtextextended('cardbox.collect', 0)),"
                   " pg_advisory_lock(hashtextextended('other', hashtextextended('cardbox.save_ledger', 0)))")
        assert sql(dsn, "cardbox_app", "SET lock_timeout = 5000; " + ledger).stdout.strip() == "2"
        assert sql(dsn, "cardbox_app", "SELECT (cardbox.gc_batch(0, 10)).busy").stdout.strip() == "f"
        own = sql(dsn, "cardbox_app", "SET lock_timeout = 100; " + ledger.replace("other", "mine"))
        assert "lock timeout" in own.stderr, own


def test_boxes_keep_their_shape():
    """For every role that may write them: a superuser, too."""
    dsn = database()
    log = ("INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, append_key, at)"
           f" VALUES ('mine', '{BOX}', 9, %s, gen_random_uuid(), %s, 1, %s, now())")
    for role in ("postgres", "cardbox_app", "cardbox"):
        for change in ("length = -1", "length = length + 1", "version = 0", "own_from = 64, length = 36",
                       "own_from = 1", "tail = '1'", "tail = tail || '[\"x\"]'", "parent_ids = '[1]'", "tenant_id = ''"):
            refused = sql(dsn, role, f"UPDATE cardbox.card_boxes SET {change} WHERE box_id = '{BOX}' AND tenant_id = 'mine'")
            assert refused.returncode != 0, (role, change, refused)
        for values in (("'other'", "1", "NULL"), ("'append'", "-1", "NULL"), ("'append'", "1", "''"),
                       ("'append'", "1", "repeat('k', 513)")):
            refused = sql(dsn, role, log % values)
            assert "violates check constraint" in refused.stderr, (role, values, refused)


def test_ids_of_cards_have_their_lengths():
    """For the roles that write the table themselves. The message's card is checked with the message."""
    dsn = database()
    insert = "INSERT INTO cardbox.cards (tenant_id, card_id, content, tool_call_id, etag) VALUES ({}, {}, '1', {}, {})"
    good = ("repeat('p', 255)", "repeat('c', 512)", "repeat('t', 512)", "1")
    bad = (("''", "repeat('p', 256)"), ("''", "repeat('c', 513)"), ("repeat('t', 513)",), ("0", "-1"))
    for role in ("cardbox_app", "cardbox"):
        for place, values in enumerate(bad):
            for value in values:
                refused = sql(dsn, role, insert.format(*good[:place], value, *good[place + 1:]))
                assert 'row-level security policy "limits" for table "cards"' in refused.stderr, (role, value, refused)
    assert sql(dsn, "cardbox_app", insert.format(*good)).stderr == ""
    for values in (("x", "''"), ("x", "repeat('m', 513)")):
        ledger = ("SELECT cardbox.save_ledger('mine', '[{{\"id\": \"{}\", \"created\": 1, \"updated\": 1}}]', ARRAY['\"\"']::json[], "
                  "jsonb_build_array(jsonb_build_object('id', {}, 'task', 'x', 'role', 'user', 'metadata', '{{}}'::jsonb)), ARRAY['1']::json[], '[]', NULL, NULL)")
        refused = sql(dsn, ROLE, ledger.format(*values))
        assert "messages_message_id_check" in refused.stderr, (values, refused)


def test_worker_claims_its_tenant_only():
    dsn = database()
    claim = "SELECT tenant_id FROM cardbox.claim_tasks({}, 'w', 15000, 10, 5, false)"
    assert sql(dsn, ROLE, claim.format("cardbox.served_tenants()")).stdout.split() == ["mine"]
    assert sql(dsn, "cardbox_app", claim.format("cardbox.served_tenants()")).stdout.split() == ["other"]
    for call in ("claim_tasks(ARRAY['other'], 'w', 15000, 10, 5, false)", "cancel_task('other', 'same', '\"\"')",
                 "listen_for_tasks(ARRAY['other'])"):
        refused = sql(dsn, ROLE, f"SELECT cardbox.{call}")
        assert 'may not write to project "other"' in refused.stderr, refused


def test_what_was_said_stays():
    """Not even the owner changes a message or its card by mistake, and others write none without the functions."""
    dsn = database()
    for role in (ROLE, "cardbox_app", "cardbox"):
        for text in ("UPDATE cardbox.messages SET role = 'system' WHERE tenant_id = 'mine'",
                     "DELETE FROM cardbox.messages WHERE tenant_id = 'mine'",
                     "DELETE FROM cardbox.task_events WHERE tenant_id = 'mine'",
                     "UPDATE cardbox.cards SET content = '2' WHERE card_id = 'same-1' AND tenant_id = 'mine'"):
            refused = sql(dsn, role, text)
            assert refused.returncode != 0, (role, text)
    for role in (ROLE, "cardbox_app"):
        for text in ("UPDATE cardbox.tasks SET system_prompt = '\"other\"'", "UPDATE cardbox.calls SET parameters = '\"other\"'",
                     "INSERT INTO cardbox.messages VALUES ('mine', 'same', 'same', 'user', 1, 9)"):
            assert "permission denied" in sql(dsn, role, text).stderr, (role, text)
    seen = sql(dsn, ROLE, "SELECT role, ts > 1 FROM cardbox.messages")
    assert seen.stdout.strip() == "user|t", seen


def lists(tenant):
    """Lists of cards, and of boxes with a card, which are looked up in the owner's name."""
    return (f"SELECT (SELECT count(*) FROM cardbox.list_cards('{tenant}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
            "NULL, NULL, NULL, 100, 100)), "
            f"(SELECT count(*) FROM cardbox.boxes_containing('{tenant}', 'id-1', 100, 'infinity', "
            "'ffffffff-ffff-ffff-ffff-ffffffffffff', 100))")


def test_lists_are_of_what_is_granted():
    dsn = database()
    for role, seen in ((ROLE, "0|0"), ("cardbox_app", "2|2"), ("cardbox", "2|2"), ("postgres", "2|2")):
        assert sql(dsn, role, lists("mine")).stdout.strip() == "2|2", role
        assert sql(dsn, role, lists("other")).stdout.strip() == seen, role
    # Who has taken the worker's role sees what that sees, and who is no longer a worker sees nothing.
    assert sql(dsn, "postgres", f"SET ROLE {ROLE}; {lists('other')}").stdout.strip() == "0|0"
    assert sql(dsn, "postgres", f"SET ROLE {ROLE}; {lists('mine')}").stdout.strip() == "2|2"
    assert sql(dsn, "postgres", f"SET SESSION AUTHORIZATION {ROLE}; {lists('other')}").stdout.strip() == "0|0"
    assert "permission denied" in sql(dsn, ROLE, "SELECT cardbox.role_sees_tenant('other')").stderr
    Postgres.shared().psql(as_role(dsn, "postgres"), f"REVOKE cardbox_worker FROM {ROLE}")
    assert "permission denied" in sql(dsn, ROLE, lists("mine")).stderr


def statement(name, *values):
    """EXECUTE of a statement of the programs."""
    with open(os.path.join(cardbox_test.ROOT, "sql", "statements", f"{name}.sql"), encoding="utf-8") as text:
        return f"PREPARE s AS {text.read()}; EXECUTE s ({', '.join(values)})"


def test_a_revoked_grant_affects_its_tenant_only():
    """A worker that serves several tenants keeps the leases of the others, claims their tasks and hears of new ones."""
    dsn = database()
    pg = Postgres.shared()
    claim = {many: statement("tasks_claim", "'{kept,revoked}'", "'several'", "15000", str(many), "5", "false") for many in (2, 9)}
    listen = statement("tasks_listen", "'{kept,revoked}'")
    pg.psql(dsn, f"INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('kept', '{ROLE}'), ('revoked', '{ROLE}')")
    for tenant in ("kept", "revoked"):
        for task in ("held", "due"):
            pg.psql(dsn, f"""SELECT cardbox.create_task('{tenant}', '{task}', '{{}}', '""', '[{{"id": "m{task}", "role": "user"}}]', ARRAY['1'::json])""")
    held = dict(line.split("|")[:2] for line in sql(dsn, ROLE, claim[2]).stdout.split())
    assert set(held) == {"kept", "revoked"}, held
    renew = statement("tasks_renew", "'{revoked,kept}'", f"'{{{held['revoked']},{held['kept']}}}'", "'{1,1}'", "15000")
    assert sorted(sql(dsn, ROLE, renew).stdout.split()) == ["1|1|", "2|1|"]
    assert sql(dsn, ROLE, listen).stdout.split() == ["2"]
    pg.psql(dsn, "DELETE FROM cardbox.tenant_grants WHERE tenant_id = 'revoked'")
    assert sorted(sql(dsn, ROLE, renew).stdout.split()) == ["1|3|", "2|1|"]
    assert [line.split("|")[0] for line in sql(dsn, ROLE, claim[9]).stdout.split()] == ["kept"]
    assert sql(dsn, ROLE, listen).stdout.split() == ["1"]
    pg.psql(dsn, "DELETE FROM cardbox.tenant_grants WHERE tenant_id = 'kept'")
    for each in (renew, claim[9], listen):
        assert "may serve none of the projects" in sql(dsn, ROLE, each).stderr


def test_grant_and_revoke_at_once():
    dsn = database()
    pg = Postgres.shared()
    pg.psql(dsn, f"INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('other', '{ROLE}')")
    assert sql(dsn, ROLE, "SELECT count(DISTINCT tenant_id) FROM cardbox.cards").stdout.strip() == "2"
    pg.psql(dsn, "DELETE FROM cardbox.tenant_grants")
    assert sql(dsn, ROLE, "SELECT count(*) FROM cardbox.cards").stdout.strip() == "0"


def test_index_takes_no_function_of_others():
    """What is computed for an index by ANALYZE runs as the owner, whatever is on the path then."""
    dsn = database()
    pg = Postgres.shared()
    pg.psql(dsn, f"GRANT CREATE ON SCHEMA public TO {ROLE}")  # as everybody has it before PostgreSQL 15
    made = sql(dsn, ROLE, "CREATE FUNCTION public.hashtextextended(text, integer) RETURNS bigint LANGUAGE plpgsql AS"
                          " $$ BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$")
    assert made.returncode == 0, made
    pg.psql(dsn, "ANALYZE cardbox.card_box_segments; REINDEX TABLE cardbox.card_box_segments")
    pg.psql(dsn, f"DROP FUNCTION public.hashtextextended(text, integer); REVOKE CREATE ON SCHEMA public FROM {ROLE}")


def test_functions_are_for_our_roles():
    """With the owner's rights only by a path that others can put nothing on, pg_temp last and not first."""
    dsn = database()
    pg = Postgres.shared()
    assert pg.psql(dsn, "SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'cardbox'::regnamespace"
                        " AND has_function_privilege('public', oid, 'EXECUTE')") == ""
    assert pg.psql(dsn, "SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'cardbox'::regnamespace AND prosecdef"
                        " AND NOT coalesce(proconfig, '{}') @> '{\"search_path=pg_catalog, pg_temp\"}'") == ""


def test_service_and_owner():
    dsn = database()
    for role in ("cardbox_app", "cardbox"):
        for table in TABLES:
            seen = sql(dsn, role, f"SELECT DISTINCT tenant_id FROM cardbox.{table} ORDER BY 1")
            assert seen.stdout.split() == ["mine", "other"], (role, table, seen)
        assert sql(dsn, role, append("other", 1)).stdout.strip() == "1"


def test_sealed_cards_resist_sql():
    dsn = database()
    pg = Postgres.shared()
    pg.psql(dsn, "UPDATE cardbox.cards SET sealed = true WHERE tenant_id = 'mine' AND card_id = 'same'")
    for role in (ROLE, "cardbox_app"):
        for text in ("UPDATE cardbox.cards SET content = '2' WHERE tenant_id = 'mine'",
                     "UPDATE cardbox.cards SET sealed = false WHERE tenant_id = 'mine'",
                     "DELETE FROM cardbox.cards WHERE tenant_id = 'mine'"):
            refused = sql(dsn, role, text)
            assert refused.returncode != 0, (role, text)
    assert pg.psql(dsn, "SELECT content FROM cardbox.cards WHERE tenant_id = 'mine' AND card_id = 'same'").strip() == "1"


if __name__ == "__main__":
    cardbox_test.main()
