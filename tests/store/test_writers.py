#!/usr/bin/env python3
"""The writing functions, which are all that a worker's role writes with: each is called in the name of a tenant that is
not granted to the role, with odd values. It writes nothing and says so. The cases are made from the catalog."""

import itertools
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
from cardbox_test import Postgres, as_role, once, psql  # noqa: E402
from writers import BOX, calls, writers  # noqa: E402

ROLE = f"writer_{os.getpid()}"
REFUSED = "42501"

# What a writing function lacks.
FLAWED = """
SELECT p.proname || ': ' || w.flaw
  FROM pg_proc p
 CROSS JOIN LATERAL (
       SELECT 'is not of cardbox_writer' WHERE p.proowner <> 'cardbox_writer'::regrole
       UNION ALL SELECT 'is not SECURITY DEFINER' WHERE NOT p.prosecdef
       UNION ALL SELECT 'has no fixed search_path' WHERE NOT 'search_path=pg_catalog, pg_temp' = ANY (coalesce(p.proconfig, '{}'))
       UNION ALL SELECT 'does not check its caller first'
        WHERE p.prosrc !~ 'BEGIN\\s+IF NOT cardbox\\.is_service\\(\\) THEN\\s+PERFORM cardbox\\.check_grants\\((tenants|ARRAY\\[tenant\\])\\);\\s+(PERFORM cardbox\\.check_card_keys\\([^;]*;\\s+)?END IF;'
       UNION ALL SELECT 'names no tenant' WHERE NOT p.proargnames && ARRAY['tenant', 'tenants']
       UNION ALL SELECT 'may be run by everybody' WHERE p.proacl IS NULL OR has_function_privilege('pg_monitor', p.oid, 'EXECUTE')
       ) AS w (flaw)
 WHERE p.pronamespace = 'cardbox'::regnamespace AND (p.proowner = 'cardbox_writer'::regrole OR p.prosrc ~ 'is_service\\(\\)')
"""


@once
def database():
    """Makes a box and a held task for two tenants. A worker's role is granted one of the tenants."""
    dsn = Postgres.shared().database()
    psql(dsn, f"CREATE ROLE {ROLE} LOGIN IN ROLE cardbox_worker;"
              f"INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('mine', '{ROLE}'), ('other', 'somebody')")
    cardbox_test.at_end(lambda: psql(as_role(dsn, "postgres"), f"DROP ROLE {ROLE}"))
    for tenant in ("mine", "other"):
        psql(dsn, f"SELECT cardbox.create_box('{tenant}', '{BOX}', (SELECT jsonb_agg('i' || i) FROM generate_series(1, 100) AS i), '[]', NULL, false)")
        psql(dsn, f"SELECT cardbox.create_task('{tenant}', 'x', '{{}}', '\"\"', '[{{\"id\": \"m\", \"role\": \"user\"}}]', ARRAY['1'::json]);"
                  f"SELECT cardbox.claim_tasks('{{{tenant}}}', 'x', 100000, 1, 1, false)")
    return dsn


def run(statements, role=ROLE):
    """The SQLSTATE of each statement; '': it succeeded."""
    script = "\\set VERBOSITY sqlstate\n" + "".join(f"{one};\n\\warn next\n" for one in statements)
    done = subprocess.run(["psql", as_role(database(), role), "-Xq", "-o", os.devnull], input=script, text=True, capture_output=True)
    found = [re.search("^ERROR:  (\\S*)", part, re.M) for part in done.stderr.split("next\n")[:-1]]
    states = [one.group(1) if one else "" for one in found]
    assert len(states) == len(statements), done.stderr[-500:]
    return states


def snapshot(where):
    """All rows of all tables with tenants, in one number."""
    tables = psql(database(), "SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)"
                              " WHERE c.table_schema = 'cardbox' AND c.column_name = 'tenant_id' AND t.table_type = 'BASE TABLE'").split()
    return psql(database(), " UNION ALL ".join(f"SELECT '{name}', count(*), sum(hashtextextended(t::text, 0)) FROM cardbox.{name} t {where}"
                                               for name in sorted(tables)))


def test_writers_are_made_as_they_must_be():
    assert not psql(database(), FLAWED), psql(database(), FLAWED)
    assert {name for name, _, _ in writers(database())} >= {
        "append_to_boxes", "create_box", "save_box", "fork_box", "seal_box", "delete_box", "import_box", "set_boxes_created", "write_cards", "delete_card",
        "create_session", "append_entries", "append_or_create", "add_messages", "import_lines", "link_late_parents", "move_session_head", "fork_session",
        "restore_session", "claim_tasks", "renew_tasks", "write_task", "write_task_chunk", "save_ledger"}


def test_a_flaw_is_found():
    dsn = Postgres.shared().database()
    psql(dsn, """CREATE FUNCTION cardbox.careless(t text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN cardbox.is_service(); END $$;
                 CREATE FUNCTION cardbox.hasty(tenant text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN END $$;
                 GRANT CREATE ON SCHEMA cardbox TO cardbox_writer; ALTER FUNCTION cardbox.hasty OWNER TO cardbox_writer""")
    flaws = psql(dsn, FLAWED).splitlines()
    assert {"hasty: does not check its caller first", "hasty: is not SECURITY DEFINER", "careless: is not of cardbox_writer",
            "careless: names no tenant", "careless: may be run by everybody"} <= set(flaws), flaws


def test_the_owner_of_writers_is_nobody():
    """It owns the writing functions and nothing else, nobody logs in as it, and it makes nothing."""
    dsn = database()
    assert psql(dsn, "SELECT rolcanlogin OR rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = 'cardbox_writer'") == "f\n"
    assert psql(dsn, "SELECT has_schema_privilege('cardbox_writer', 'cardbox', 'CREATE')") == "f\n"
    assert psql(dsn, "SELECT count(*) FROM pg_class WHERE relowner = 'cardbox_writer'::regrole") == "0\n"
    assert psql(dsn, "SELECT rolname FROM pg_roles WHERE NOT rolsuper AND pg_has_role(oid, 'cardbox_writer', 'MEMBER')"
                     " AND rolname <> 'cardbox_writer'") == "cardbox\n"


def test_tenants_of_others_are_refused():
    before = snapshot("")
    tried = list(calls(database(), {"tenant": ("'other'", "NULL", "''", "'third'", "repeat('t', 100000)"),
                        "tenants": ("'{other}'", "'{mine,other}'", "'{other,mine}'", "'{NULL}'", "'{mine,NULL}'", "NULL")}))
    states = run(tried)
    wrong = [(sql[:300], state) for sql, state in zip(tried, states) if state != REFUSED]
    assert len(tried) > 100 and not wrong, (len(wrong), wrong[:5])
    assert snapshot("") == before
    said = subprocess.run(["psql", as_role(database(), ROLE), "-Xqc", f"SELECT cardbox.delete_box('other', '{BOX}')"], text=True, capture_output=True)
    assert f'role "{ROLE}" may not write to project "other"' in said.stderr, said


def test_odd_values_are_answered():
    """In the name of the tenant that is granted: each is done, or refused for what is given."""
    before = snapshot("WHERE tenant_id <> 'mine'")
    tried = list(calls(database(), {"tenant": ("'mine'",), "tenants": ("'{mine}'", "'{}'", "'{mine,mine}'")}))
    wrong = [(sql[:300], state) for sql, state in zip(tried, run(["BEGIN; " + one + "; ROLLBACK" for one in tried]))
             if state[:2] not in ("", "22", "23", "CB")]
    assert not wrong, (len(wrong), wrong[:5])
    assert snapshot("WHERE tenant_id <> 'mine'") == before


def test_ids_of_cards_are_checked():
    card = ("SELECT outcome FROM cardbox.write_cards('{{mine,mine}}', ARRAY['first', {}], '{{1,1}}', '{{NULL,NULL}}', ARRAY[NULL, {}], '{{NULL,NULL}}', "
            "'{{NULL,NULL}}', '{{NULL,NULL}}', '{{NULL,NULL}}', '{{NULL,NULL}}', '{{f,f}}', '{{f,f}}', '{{f,f}}', {})")
    for whole in ("true", "false"):
        bad = [card.format(*ids, whole) for ids in (("''", "NULL"), ("NULL", "NULL"), ("repeat('c', 513)", "NULL"), ("'last'", "repeat('t', 513)"))]
        assert run(bad) == ["22023"] * len(bad)
    assert run([card.format("repeat('c', 512)", "repeat('t', 512)", "true")]) == [""]


def test_lines_of_sessions_are_checked():
    """A worker can't make an entry that no program makes."""
    good = {"ids": "'{a,b}'", "duplicate_of": "'{0,0}'", "parents": "'{NULL,a}'", "refs": "'{0,1}'", "types": "'{message,label}'",
            "roles": "'{user,NULL}'", "sets": "'{NULL,model}'", "targets": "'{NULL,a}'", "labels": "'{NULL,NULL}'",
            "contents": "ARRAY['{}','{\"id\":\"b\"}']::json[]", "times": "'{NULL,1}'"}
    bad = {"ids": ("'{a,NULL}'", "'{a,\"\"}'", "ARRAY['a',repeat('k',513)]", "'{a}'", "NULL", "'[0:1]={a,b}'"),
           "duplicate_of": ("'{0,2}'", "'{0,-1}'", "'{0,NULL}'"), "parents": ("ARRAY['a',repeat('k',513)]", "'{a,b,c}'"),
           "refs": ("'{0,2}'", "'{1,0}'", "'{-2,0}'", "'{NULL,0}'"), "types": ("'{message,x}'", "'{message,NULL}'", "'{message,session}'"),
           "roles": ("'{user,x}'",), "sets": ("'{NULL,x}'",), "targets": ("ARRAY['a',repeat('k',513)]",), "labels": ("'{NULL}'",),
           "contents": ("ARRAY['{}','[]']::json[]", "ARRAY['{}',NULL]::json[]", "ARRAY['{}','1','{}']::json[]"),
           "times": ("'{NULL}'", "'{1,2,3}'", "NULL", "'[0:1]={1,2}'")}
    def append(values):
        return f"SELECT cardbox.append_entries('mine', 'lines', 'pi', NULL, NULL, {', '.join(values.values())})"
    tried = [append({**good, name: value}) for name, values in bad.items() for value in values]
    assert run(["SELECT cardbox.create_session('mine', 'lines', 'pi', NULL, NULL, false)"]) == [""]
    states = run(tried)
    assert set(states) == {"22023"}, [pair for pair in zip(tried, states) if pair[1] != "22023"]
    assert run([append(good)]) == [""]
    assert psql(database(), "SELECT entries FROM cardbox.sessions WHERE session_id = 'lines'") == "2\n"


def test_the_caller_is_who_is_asked_about():
    """Not who owns the function, nor who a setting names."""
    mine, other = (f"SELECT cardbox.delete_box('{tenant}', 'ffffffff-0000-0000-0000-000000000000')" for tenant in ("mine", "other"))
    assert run([mine, other]) == ["", REFUSED]
    for attempt in ("SET ROLE cardbox_service", "SET ROLE cardbox_writer", "SET SESSION AUTHORIZATION cardbox_app", "SET role = 'cardbox_app'",
                    "SELECT set_config('role', 'cardbox_app', false)"):
        states = run([attempt, other])
        assert states[0] != "" and states[1] == REFUSED, (attempt, states)
    assert run([f"SET ROLE {ROLE}", mine, other, "RESET ROLE", other], "postgres") == ["", "", REFUSED, "", ""]
    assert run([f"SET SESSION AUTHORIZATION {ROLE}", mine, other], "postgres") == ["", "", REFUSED]
    own = (f"CREATE OR REPLACE FUNCTION pg_temp.try() RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$ {other} $$")
    assert run([own, "SELECT pg_temp.try()"]) == ["", REFUSED]
    assert run([mine, other], "cardbox_app") == ["", ""]
    run([f"ALTER ROLE {ROLE} SET role = 'cardbox_app'"])
    states = run([mine, other, f"ALTER ROLE {ROLE} RESET role"])  # behind a warning that the setting is not allowed
    assert states[:2] == ["", REFUSED], states


def tables(condition="true"):
    return psql(database(), f"SELECT relname FROM pg_class WHERE relnamespace = 'cardbox'::regnamespace AND relkind IN ('r', 'p') AND {condition}").split()


def test_tables_are_read_only():
    """No row is written or locked without a function, and no table is locked more than a reader locks it."""
    for table in sorted(tables()):
        refused = [f"INSERT INTO cardbox.{table} DEFAULT VALUES",
                   *(f"UPDATE cardbox.{table} SET {column} = {column}" for column in psql(database(), f"SELECT attname FROM pg_attribute"
                     f" WHERE attrelid = 'cardbox.{table}'::regclass AND attnum > 0 AND attidentity = '' AND attgenerated = ''").split()),
                   f"DELETE FROM cardbox.{table}", f"TRUNCATE cardbox.{table}", f"COPY cardbox.{table} FROM '/dev/null'",
                   *(f"SELECT FROM cardbox.{table} FOR {lock}" for lock in ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE")),
                   *(f"BEGIN; LOCK TABLE cardbox.{table} IN {mode} MODE; ROLLBACK" for mode in
                     ("ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE"))]
        states = run(list(itertools.chain.from_iterable((one, "ROLLBACK") for one in refused)))[::2]
        wrong = [pair for pair in zip(refused, states, strict=True) if pair[1] != REFUSED]
        assert len(refused) > 16 and not wrong, wrong
        granted = psql(database(), "SELECT DISTINCT privilege_type FROM information_schema.column_privileges"
                                   f" WHERE table_schema = 'cardbox' AND table_name = '{table}' AND grantee = 'cardbox_worker'")
        assert granted in ("", "SELECT\n"), (table, granted)


def test_tables_can_be_read():
    """Those of a worker's tenants."""
    for table in tables("has_table_privilege('cardbox_worker', oid, 'SELECT')"):
        assert run([f"SELECT FROM cardbox.{table}", f"BEGIN; LOCK TABLE cardbox.{table} IN ACCESS SHARE MODE; ROLLBACK"]) == ["", ""], table


if __name__ == "__main__":
    cardbox_test.main()
