#!/usr/bin/env python3
"""cardbox migrate: eight at once, dry runs, functions that changed, and databases that do not fit the build."""

import hashlib
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, as_role, cardbox, database, holding, psql

SQL = os.path.join(cardbox_test.ROOT, "sql")
FILES = sorted(os.listdir(os.path.join(SQL, "migrations")))
FUNCTIONS = sorted(name[:-4] for name in os.listdir(os.path.join(SQL, "functions")))
RECORD = ("SELECT version, name, checksum, release, applied_at FROM cardbox.migrations UNION ALL"
          " SELECT 0, name, checksum, release, applied_at FROM cardbox.functions ORDER BY 1, 2")


def checksum(*path):
    with open(os.path.join(SQL, *path), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def empty():
    return Postgres.shared().database(migrate=False)


def refused(dsn, say):
    before = psql(dsn, RECORD)
    done = cardbox("migrate", "--dsn", dsn, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    assert say in done.stderr, done.stderr
    assert psql(dsn, RECORD) == before


def test_all_files_in_order_and_once():
    dsn = empty()
    first = cardbox("migrate", "--dsn", dsn).stdout
    assert (f"{len(FILES)} migrations and {len(FUNCTIONS)} functions applied:"
            f" the database is at migration {len(FILES)}") in first
    assert first.count(" applied\n") == len(FILES), "the functions of a new database are not listed"
    rows = psql(dsn, "SELECT version, name, checksum FROM cardbox.migrations ORDER BY version").split()
    assert rows == [f"{int(name[:4])}|{name[5:-4]}|{checksum('migrations', name)}" for name in FILES]
    rows = psql(dsn, "SELECT name, checksum FROM cardbox.functions ORDER BY name").split()
    assert rows == [f"{name}|{checksum('functions', name + '.sql')}" for name in FUNCTIONS]
    assert "nothing to do" in cardbox("migrate", "--dsn", dsn).stdout


def test_not_through_a_pooler():
    """Its lock would stay behind on a connection of the pooler."""
    dsn = empty()
    done = cardbox("migrate", "--dsn", cardbox_test.pooled(dsn), check=False)
    assert done.returncode == 1 and "PostgreSQL itself" in done.stderr, done
    assert psql(dsn, "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database"
                     " WHERE locktype = 'advisory' AND d.datname = current_database()") == "0\n"
    assert psql(dsn, "SELECT to_regnamespace('cardbox') IS NULL") == "t\n"


def test_json():
    dsn = empty()
    done = json.loads(cardbox("migrate", "--dsn", dsn, "--json").stdout)
    assert done["applied"] == len(FILES) == done["version"] and done["dry_run"] is False
    assert [m["name"] for m in done["migrations"]] == [name[5:-4] for name in FILES]
    assert done["functions_applied"] == len(FUNCTIONS) and [f["name"] for f in done["functions"]] == FUNCTIONS
    assert {row["state"] for row in done["migrations"] + done["functions"]} == {"applied"}
    done = json.loads(cardbox("migrate", "--dsn", dsn, "--json").stdout)
    assert done["applied"] == done["functions_applied"] == 0
    assert {row["state"] for row in done["migrations"] + done["functions"]} == {"present"}


def test_dry_run_changes_nothing():
    dsn = empty()
    done = cardbox("migrate", "--dry-run", "--dsn", dsn).stdout
    assert "pending" in done and f"{len(FILES)} migrations and {len(FUNCTIONS)} functions would be applied" in done
    assert psql(dsn, "SELECT to_regnamespace('cardbox') IS NULL") == "t\n"
    cardbox("migrate", "--dsn", dsn)
    psql(dsn, f"DELETE FROM cardbox.migrations WHERE version = {len(FILES)};"
              " UPDATE cardbox.functions SET checksum = 'x' WHERE name = 'now_ms'")
    before = psql(dsn, RECORD)
    done = json.loads(cardbox("migrate", "--dry-run", "--json", "--dsn", dsn).stdout)
    assert done["applied"] == done["functions_applied"] == 0
    assert [m["state"] for m in done["migrations"]] == ["present"] * (len(FILES) - 1) + ["pending"]
    assert [f["name"] for f in done["functions"] if f["state"] == "pending"] == ["now_ms"]
    assert psql(dsn, RECORD) == before


def test_functions_that_changed():
    """They are applied again, with their rights; and all or none."""
    dsn = Postgres.shared().database()
    text = psql(dsn, "SELECT prosrc, proacl FROM pg_proc WHERE proname = 'now_ms'")
    psql(dsn, "UPDATE cardbox.functions SET checksum = 'x' WHERE name IN ('now_ms', 'slice_ids');"
              "CREATE OR REPLACE FUNCTION cardbox.now_ms() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';"
              "REVOKE ALL ON FUNCTION cardbox.now_ms FROM cardbox_writer;"
              "ALTER FUNCTION cardbox.slice_ids OWNER TO postgres")
    record = psql(dsn, RECORD)
    done = cardbox("migrate", "--dsn", dsn, check=False)
    assert done.returncode == 1 and "function slice_ids failed: must be owner" in done.stderr, done
    assert psql(dsn, RECORD) == record and psql(dsn, "SELECT cardbox.now_ms()") == "1\n"
    psql(dsn, "ALTER FUNCTION cardbox.slice_ids OWNER TO cardbox")
    assert "\n0 migrations and 2 functions applied" in cardbox("migrate", "--dsn", dsn).stdout
    assert sorted(psql(dsn, "SELECT prosrc, proacl FROM pg_proc WHERE proname = 'now_ms'")) == sorted(text)
    assert "nothing to do" in cardbox("migrate", "--dsn", dsn).stdout


def test_function_of_an_earlier_release():
    """A dump of its parameter, a keyword since PostgreSQL 17, can't be restored there."""
    dsn = Postgres.shared().database()
    psql(dsn, "DELETE FROM cardbox.migrations WHERE version >= 20;"
              "ALTER TABLE cardbox.session_lines DROP COLUMN appended_at; DROP TABLE cardbox.usage;"
              "CREATE FUNCTION cardbox.check_json_depth(name text, \"json\" text) RETURNS void LANGUAGE sql AS 'SELECT';"
              "ALTER FUNCTION cardbox.check_json_depth OWNER TO cardbox")
    cardbox("migrate", "--dsn", dsn)
    assert psql(dsn, "SELECT to_regproc('cardbox.check_json_depth') IS NULL") == "t\n"


def test_functions_of_another_build():
    """A program wants those that it was built with, or those of a newer release."""
    dsn = Postgres.shared().database()
    ask = lambda: cardbox("card", "list", "--project", "p", "--dsn", as_role(dsn, "cardbox_app"), check=False)
    assert ask().returncode == 0
    for spoil in ("DELETE FROM cardbox.functions WHERE name = 'now_ms'",
                  "INSERT INTO cardbox.functions VALUES ('now_ms', 'x', '0.1.9')"):
        psql(dsn, spoil)
        assert "cardbox migrate" in ask().stderr, ask()
    psql(dsn, "UPDATE cardbox.functions SET release = '0.10.0' WHERE name = 'now_ms'")  # not by its letters
    assert ask().returncode == 0, ask()


def test_eight_at_once():
    dsn = empty()
    program = os.path.join(cardbox_test.BUILD, "bin", "cardbox")
    running = [subprocess.Popen([program, "migrate", "--json", "--dsn", dsn],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
               for _ in range(8)]
    outputs = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * 8, outputs
    applied = sorted((json.loads(out)["applied"], json.loads(out)["functions_applied"]) for out, _ in outputs)
    assert applied == [(0, 0)] * 7 + [(len(FILES), len(FUNCTIONS))]
    assert psql(dsn, "SELECT count(*) FROM cardbox.migrations") == f"{len(FILES)}\n"


def test_another_has_the_lock():
    """A wait that ends, and says who is in the way and what to do."""
    dsn = empty()
    with holding(dsn, "SELECT pg_advisory_lock(hashtextextended('cardbox.migrate', 0))") as pid:
        done = cardbox("migrate", "--dsn", dsn, "--wait-s", "1", check=False)
        assert done.returncode == 1, done
        assert f"waited 1 s for a lock: session {pid} (holder) has it; wait until" in done.stderr, done.stderr
        assert f"SELECT pg_terminate_backend({pid})" in done.stderr, done.stderr
        done = cardbox("migrate", "--dsn", as_role(dsn, "postgres"), "--wait-s", "0", check=False)
        assert "(holder) has it in a transaction of " in done.stderr and "SELECT 'held by " in done.stderr, done.stderr
        assert "idle in transaction" in done.stderr, done.stderr
        assert "would be applied" in cardbox("migrate", "--dry-run", "--dsn", dsn).stdout
        psql(dsn, f"SELECT pg_terminate_backend({pid})")
        cardbox("migrate", "--dsn", dsn)


def test_its_table_is_locked():
    dsn = database()
    with holding(dsn, "LOCK TABLE cardbox.migrations") as pid:
        done = cardbox("migrate", "--dsn", dsn, "--wait-s", "1", check=False)
        assert done.returncode == 1 and f"session {pid} (holder)" in done.stderr, done


def test_several_databases_at_once():
    """They share the cluster's roles."""
    databases = [empty() for _ in range(4)]
    program = os.path.join(cardbox_test.BUILD, "bin", "cardbox")
    running = [subprocess.Popen([program, "migrate", "--dsn", dsn], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE) for dsn in databases]
    errors = [process.communicate(timeout=120)[1] for process in running]
    assert [process.returncode for process in running] == [0] * 4, errors


def test_changed_file():
    dsn = Postgres.shared().database()
    psql(dsn, "UPDATE cardbox.migrations SET checksum = repeat('0', 64) WHERE version = 2")
    refused(dsn, "migration 2 (cards) was changed after it was applied")


def test_gap():
    dsn = Postgres.shared().database()
    psql(dsn, "DELETE FROM cardbox.migrations WHERE version = 3")
    refused(dsn, "the database has migration 4 but not 3 (boxes)")


def test_newer_database():
    dsn = Postgres.shared().database()
    psql(dsn, "INSERT INTO cardbox.migrations VALUES (99, 'later', 'x', '99.0.0')")
    refused(dsn, "the database is at migration 99, this build ends at")


def test_newer_functions():
    """An older program must not put its own in their place."""
    dsn = Postgres.shared().database()
    psql(dsn, "UPDATE cardbox.functions SET checksum = 'x', release = '0.10.0' WHERE name = 'now_ms'")
    refused(dsn, "the database was migrated by release 0.10.0, this is ")
    done = cardbox("migrate", "--dry-run", "--dsn", dsn, check=False)
    assert done.returncode == 1 and "nothing was changed; use a newer cardbox" in done.stderr, done


def test_development_version():
    """Its migrations were others: it is left as it is, and the message says how projects move."""
    dsn = empty()
    psql(dsn, """CREATE SCHEMA cardbox AUTHORIZATION cardbox; SET ROLE cardbox;
        CREATE TABLE cardbox.migrations (version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
                                         applied_at timestamptz NOT NULL DEFAULT now());
        INSERT INTO cardbox.migrations VALUES (1, 'roles', 'x'), (2, 'cards', 'x')""")
    for option in ([], ["--dry-run"]):
        done = cardbox("migrate", "--dsn", dsn, *option, check=False)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done
        for words in ("development version", "`cardbox export` of the old program and `cardbox import`", "Tokens, grants",
                      "do not move"):
            assert words in done.stderr, (words, done.stderr)
    assert psql(dsn, "SELECT relname FROM pg_class WHERE relnamespace = 'cardbox'::regnamespace AND relkind = 'r'"
                ) == "migrations\n"
    done = cardbox("card", "list", "--project", "p", "--dsn", dsn, check=False)
    assert "cardbox migrate" in done.stderr, done


def test_failed_migration_leaves_nothing():
    dsn = empty()
    psql(dsn, "CREATE SCHEMA cardbox AUTHORIZATION cardbox; CREATE TABLE cardbox.cards ()")
    done = cardbox("migrate", "--dsn", dsn, check=False)
    assert done.returncode == 1
    assert 'migration 2 (cards) failed: relation "cards" already exists' in done.stderr
    assert psql(dsn, "SELECT version FROM cardbox.migrations") == "1\n"
    psql(dsn, "DROP TABLE cardbox.cards")
    assert f"{len(FILES) - 1} migrations and " in cardbox("migrate", "--dsn", dsn).stdout


def test_looks_in_pg_catalog_alone():
    """What others have put into public must not run with the owner's rights."""
    dsn = empty()
    psql(dsn, """
        CREATE TABLE public.paths (path text);
        GRANT ALL ON public.paths TO public;
        CREATE FUNCTION public.look() RETURNS event_trigger LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO public.paths VALUES (current_setting('search_path')); END $$;
        CREATE EVENT TRIGGER look ON ddl_command_start EXECUTE FUNCTION public.look()""")
    cardbox("migrate", "--dsn", dsn)
    assert psql(dsn, "SELECT DISTINCT path FROM public.paths") == "pg_catalog\n"


def test_other_encodings():
    """They hold what a test writes, and refuse the first card in another script."""
    dsn = empty()
    psql(dsn, "CREATE DATABASE latin OWNER cardbox TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
    done = cardbox("migrate", "--dsn", dsn.split("dbname=")[0] + "dbname=latin", check=False)
    psql(dsn, "DROP DATABASE latin")
    assert done.returncode == 1 and "encoding is LATIN1, but UTF8 is needed" in done.stderr, done


def test_owner_that_sees_no_rows():
    """It would move none, and say nothing: from PostgreSQL 16 on every owner that made the group roles."""
    dsn, role = empty(), f"lazy_{os.getpid()}"
    cardbox("migrate", "--dsn", empty())  # the roles are there
    psql(dsn, f"CREATE ROLE {role} LOGIN CREATEROLE NOINHERIT; ALTER DATABASE " + dsn.split("dbname=")[1] + f" OWNER TO {role}")
    cardbox_test.at_end(lambda: psql(dsn, f"DROP OWNED BY {role} CASCADE; ALTER DATABASE " + dsn.split("dbname=")[1]
                                          + f" OWNER TO cardbox; DROP OWNED BY {role} CASCADE; DROP ROLE {role}"))
    done = cardbox("migrate", "--dsn", as_role(dsn, role), check=False)
    assert done.returncode == 1 and f"ALTER ROLE {role} INHERIT" in done.stderr, done
    assert psql(dsn, "SELECT count(*) FROM cardbox.migrations") == "0\n"
    for group in ("cardbox_service", "cardbox_writer"):  # PostgreSQL 15 needs the first statement only
        if done.returncode == 0:
            break
        assert f"lacks the rights of {group}," in done.stderr, done
        psql(dsn, re.search("as superuser run (.*); run the command as", done.stderr).group(1))
        done = cardbox("migrate", "--dsn", as_role(dsn, role), check=False)
    assert done.returncode == 0, done


def test_role_without_rights_may_check():
    dsn = as_role(Postgres.shared().database(), "cardbox_app")
    assert "nothing to do" in cardbox("migrate", "--dsn", dsn).stdout
    done = cardbox("migrate", "--dsn", as_role(empty(), "cardbox_app"), check=False)
    assert done.returncode == 1 and "permission denied" in done.stderr


if __name__ == "__main__":
    cardbox_test.main()
