#!/usr/bin/env python3
"""What the schema must be as a whole, read from PostgreSQL's catalog: texts are ordered by their bytes, by
which no newer library of the system changes an index, and autovacuum comes early to big and to busy tables."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, once, psql

# Columns with the database's own collation, and why that does no harm.
EQUAL_ONLY = {
    "migrations.name": "told, never compared",
    "migrations.checksum": "compared for being the same only",
    "card_box_log.op": "told, never compared",
    "task_channels.channel": "told, never compared",
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
GROWING = ("cards", "card_revisions", "card_box_segments", "card_box_chains", "card_box_log", "session_entries",
           "session_lines", "messages", "task_events")
CHANGING = ("card_boxes", "sessions", "tasks", "calls")


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


if __name__ == "__main__":
    cardbox_test.main()
