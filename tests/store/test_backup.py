#!/usr/bin/env python3
"""pg_dump and pg_restore of a database: what comes back is whole, and goes on."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import as_role, cardbox, database, psql

SAMPLE = os.path.join(cardbox_test.ROOT, "src", "cli", "sample.ndjson")
SCHEMA = ("SELECT conrelid::regclass::text, conname, convalidated FROM pg_constraint WHERE connamespace = 'cardbox'::regnamespace"
          " UNION ALL SELECT polrelid::regclass::text, polname, polpermissive FROM pg_policy"
          " UNION ALL SELECT indexrelid::regclass::text, indrelid::regclass::text, indisvalid FROM pg_index WHERE indrelid::regclass::text LIKE 'cardbox.%'"
          " UNION ALL SELECT tgrelid::regclass::text, tgname, tgenabled = 'O' FROM pg_trigger WHERE NOT tgisinternal"
          " UNION ALL SELECT oid::regclass::text, relname::text, relforcerowsecurity FROM pg_class WHERE relnamespace = 'cardbox'::regnamespace")


@cardbox_test.once
def original():
    dsn = database()
    cardbox("import", "--dsn", dsn, "--project", "demo", SAMPLE)
    cardbox("token", "create", "--dsn", dsn, "--name", "t", "--tenant", "demo")
    return dsn


def dump(dsn, *options):
    folder = os.path.join(cardbox_test.temp_dir(), "dump")
    done = subprocess.run(["pg_dump", "-Fd", "-j2", "-f", folder, *options, dsn], capture_output=True, text=True)
    return folder, done


def test_restored_whole():
    dsn = original()
    folder, done = dump(as_role(dsn, "postgres"))
    assert done.returncode == 0, done
    copy = cardbox_test.Postgres.shared().database(migrate=False)
    subprocess.run(["pg_restore", "-j2", "-e", "-d", as_role(copy, "postgres"), folder], check=True)
    made = [set(psql(each, SCHEMA).splitlines()) for each in (dsn, copy)]
    assert made[0] == made[1] and len(made[0]) > 150, made[0] ^ made[1]
    exported = [cardbox("export", "--dsn", each, "--project", "demo", binary=True).stdout for each in (dsn, copy)]
    assert exported[0] == exported[1] and len(exported[0]) > 1000
    assert "nothing to do" in cardbox("migrate", "--dsn", copy).stdout
    assert cardbox("token", "list", "--dsn", copy).stdout == cardbox("token", "list", "--dsn", dsn).stdout
    assert cardbox("doctor", "--dsn", as_role(copy, "cardbox_app")).returncode == 0
    cardbox("token", "create", "--dsn", copy, "--name", "t2", "--tenant", "demo")  # its sequence came along


def test_the_owner_makes_no_half_dump():
    """Row-level security is forced on the owner too: pg_dump stops rather than leave rows out."""
    _, done = dump(original())
    assert done.returncode != 0 and re.search("row-level security|row level security", done.stderr), done


if __name__ == "__main__":
    cardbox_test.main()
