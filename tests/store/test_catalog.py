#!/usr/bin/env python3
"""What the schema must be as a whole, read from PostgreSQL's catalog: texts are ordered by their bytes, by
which no newer library of the system changes an index, autovacuum comes early to big and to busy tables, every
table is protected, and the functions are those of sql/functions."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, once, psql

# Columns with the database's own collation, and why that does no harm.
EQUAL_ONLY = {
    "migrations.name": "told, never compared",
    "migrations.checksum": "compared for being the same only",
    "migrations.release": "compared as numbers",
    "functions.checksum": "compared for being the same only",
    "functions.release": "compared as numbers",
    "card_box_log.op": "told, never compared",
    "task_channels.channel": "told, never compared",
    "abilities.description": "told, never compared",
    "abilities.url": "told, never compared",
    "tokens.tenants": "searched for one that is the same only",
    "tokens.scopes": "searched for one that is the same only",
}

COLUMNS = """
SELECT c.relname || '.' || a.attname
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_collation l ON l.oid = a.attcollation
 WHERE c.relnamespace = 'cardbox'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND l.collname <> 'C'
"""
# An operator class that compares bytes has no order of the collation, whichever it is given.
KEYS = """
SELECT x.relname || ' ' || k.n
  FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid CROSS JOIN generate_series(1, i.indnkeyatts) AS k(n)
  JOIN pg_collation l ON l.oid = i.indcollation[k.n - 1] JOIN pg_opclass o ON o.oid = i.indclass[k.n - 1]
 WHERE x.relnamespace = 'cardbox'::regnamespace AND l.collname <> 'C' AND o.opcname NOT LIKE '%\\_pattern\\_ops'
"""
# Of what only grows autovacuum is to count inserts, of what is changed again and again the dead rows.
SETTINGS = """
SELECT c.relname || ' ' || unnest(c.reloptions) FROM pg_class c
 WHERE c.relnamespace = 'cardbox'::regnamespace AND c.relkind = 'r'
"""
GROWING = ("cards", "card_revisions", "card_box_segments", "card_box_chains", "card_box_log", "session_lines",
           "messages", "task_events")
CHANGING = ("card_boxes", "sessions", "tasks", "calls", "search_queue", "search_documents", "usage")


@once
def database():
    return Postgres.shared().database()


def rows(query):
    return set(psql(database(), query).splitlines())


def test_texts_are_ordered_by_bytes():
    assert rows(COLUMNS) == set(EQUAL_ONLY), rows(COLUMNS) ^ set(EQUAL_ONLY)


def test_indexes_are_ordered_by_bytes():
    assert not rows(KEYS), rows(KEYS)


def test_autovacuum_comes_early():
    wanted = {f"{table} autovacuum_vacuum_insert_scale_factor=0.02" for table in GROWING}
    wanted |= {f"{table} autovacuum_vacuum_scale_factor=0.02" for table in CHANGING}
    found = {row for row in rows(SETTINGS) if "autovacuum" in row}
    assert found == wanted, found ^ wanted


# What protect() does for a table, and what is missing.
UNPROTECTED = """
SELECT c.relname || ': ' || w.missing
  FROM pg_class c
 CROSS JOIN LATERAL (
       SELECT 'row-level security is not on and forced' WHERE NOT (c.relrowsecurity AND c.relforcerowsecurity)
       UNION ALL
       SELECT 'no policy ' || r.name
         FROM (VALUES ('service', 'cardbox_service'), ('worker', 'cardbox_worker')) AS r (name, role)
        WHERE NOT EXISTS (SELECT FROM pg_policy p
                           WHERE p.polrelid = c.oid AND p.polname = r.name AND p.polroles = ARRAY[r.role::regrole::oid])
          AND (r.name = 'service' OR has_table_privilege(r.role, c.oid, 'SELECT'))
       UNION ALL
       SELECT 'cardbox_service may not read it' WHERE NOT has_table_privilege('cardbox_service', c.oid, 'SELECT')
       UNION ALL
       SELECT 'everybody has rights'
        WHERE EXISTS (SELECT FROM aclexplode(c.relacl) AS a WHERE a.grantee = 0)
       ) AS w (missing)
 WHERE c.relnamespace = 'cardbox'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('migrations', 'functions')
"""


def test_every_table_is_protected():
    assert not rows(UNPROTECTED), rows(UNPROTECTED)


def test_a_table_that_is_not_is_found():
    dsn = Postgres.shared().database()
    psql(dsn, "CREATE TABLE cardbox.forgotten (tenant_id text COLLATE \"C\"); GRANT SELECT ON cardbox.forgotten TO cardbox_worker")
    assert set(psql(dsn, UNPROTECTED).splitlines()) == {
        "forgotten: row-level security is not on and forced", "forgotten: no policy service", "forgotten: no policy worker",
        "forgotten: cardbox_service may not read it"}


# Names, arguments, results, settings, rights and texts.
FUNCTIONS = """
SELECT p.proname, md5(p.prosrc), pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.provolatile, p.proisstrict,
       p.prosecdef, p.proparallel, p.procost, p.prorows, p.proconfig, p.proowner::regrole, p.proacl
  FROM pg_proc p WHERE p.pronamespace = 'cardbox'::regnamespace
"""


def files():
    folder = os.path.join(cardbox_test.ROOT, "sql", "functions")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_functions_are_those_of_the_files():
    """All of the database are in a file, none is there twice, and the files make just these; with checked bodies."""
    dsn = Postgres.shared().database()
    before = psql(dsn, FUNCTIONS).splitlines()
    names = [os.path.basename(path)[:-4] for path in files()]
    assert sorted(row.split("|")[0] for row in before) == names
    sources = {}
    for name, path in zip(names, files()):
        body = re.search(r"AS \$\$(.*)\$\$;", read(path), re.S)
        assert body, f"{path} has no body between $$"
        sources[name] = body.group(1)
    for name, source in sources.items():
        assert psql(dsn, f"SELECT prosrc FROM pg_proc WHERE proname = '{name}'")[:-1] == source, name
    subprocess.run(["psql", dsn, "-Xq", "-v", "ON_ERROR_STOP=1"], check=True, text=True,
                   input="SET search_path = pg_catalog;\n" + "\n".join(map(read, files())))
    assert psql(dsn, FUNCTIONS).splitlines() == before


PRIVILEGES = """
SELECT p.proname, has_function_privilege('public', p.oid, 'EXECUTE'), has_function_privilege('cardbox_service', p.oid, 'EXECUTE'),
       has_function_privilege('cardbox_writer', p.oid, 'EXECUTE'), has_function_privilege('cardbox_worker', p.oid, 'EXECUTE')
  FROM pg_proc p WHERE p.pronamespace = 'cardbox'::regnamespace
"""


def test_privileges_of_functions():
    """The service and the writer may execute all functions, workers those that their files grant them, and PUBLIC none."""
    granted = {os.path.basename(path)[:-4]: "TO cardbox_worker;" in read(path) for path in files()}
    assert rows(PRIVILEGES) == {f"{name}|f|t|t|{'t' if granted[name] else 'f'}" for name in granted}


def test_privileges_are_set_again():
    """After a restore without privileges PUBLIC may execute all functions, until one is applied again."""
    dsn = Postgres.shared().database()
    before = psql(dsn, PRIVILEGES)
    psql(dsn, "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA cardbox TO PUBLIC;"
              "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA cardbox FROM cardbox_service, cardbox_writer;"
              "UPDATE cardbox.functions SET checksum = 'x' WHERE name = 'now_ms'")
    cardbox_test.cardbox("migrate", "--dsn", dsn)
    assert psql(dsn, PRIVILEGES) == before


if __name__ == "__main__":
    cardbox_test.main()
