#!/usr/bin/env python3
"""What EXPLAIN expects tells a worker's role nothing of other tenants' rows: PostgreSQL keeps no statistics
of any column or index expression of a table that has tenants' rows, and what it kept before is found."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
from cardbox_test import Postgres, as_role, cardbox, database, once, psql  # noqa: E402

ROLE = f"guesser_{os.getpid()}"
TENANT_TABLES = """(SELECT attrelid FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
                     WHERE attname = 'tenant_id' AND relnamespace = 'cardbox'::regnamespace AND relkind IN ('r', 'p'))"""
ROWS = """
INSERT INTO cardbox.cards (tenant_id, card_id, content, tool_call_id, metadata, created_at)
SELECT t, 'card-' || n, '1', 'call-x', '{"type": "t", "trace_id": "tr", "step_id": "st", "agent_turn_id": "tu"}', now()
  FROM unnest(ARRAY['mine', 'other']) AS t, generate_series(1, 2000) AS n;
INSERT INTO cardbox.tasks (tenant_id, task_id, completion_status, system_prompt, created_at, updated_at)
SELECT t, 'task-' || n, 'failed: secret', '""', n, n FROM unnest(ARRAY['mine', 'other']) AS t, generate_series(1, 2000) AS n;
"""
# A key, a value of it that only another tenant's rows may have, and one that there is nowhere.
GUESSES = (("cards", "tenant_id", "other", "nobody"), ("cards", "tool_call_id", "call-x", "call-y"),
           ("cards", "card_id", "card-7", "nothing"), ("tasks", "tenant_id", "other", "nobody"),
           ("tasks", "completion_status", "failed: secret", "failed: no"),
           *(("cards", f"metadata ->> '{key}'", value, "no") for key, value in
             (("type", "t"), ("trace_id", "tr"), ("step_id", "st"), ("agent_turn_id", "tu"))))


@once
def filled():
    owner = database()
    psql(as_role(owner, "postgres"), f"CREATE ROLE {ROLE} LOGIN IN ROLE cardbox_worker;"
                                     f"INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('mine', '{ROLE}')")
    cardbox_test.at_end(lambda: psql(as_role(owner, "postgres"), f"DROP ROLE {ROLE}"))
    psql(owner, ROWS + "ANALYZE")
    return owner


def with_statistics():
    """As a database that was analysed before there were targets of 0."""
    owner = Postgres.shared().copy(filled())
    psql(owner, "ALTER TABLE cardbox.cards ALTER COLUMN tenant_id SET STATISTICS 100; ANALYZE cardbox.cards;"
                "ALTER TABLE cardbox.cards ALTER COLUMN tenant_id SET STATISTICS 0; ANALYZE cardbox.cards")
    return owner


def expected(owner, table, condition):
    plan = psql(as_role(owner, ROLE), f"EXPLAIN (FORMAT JSON) SELECT FROM cardbox.{table} WHERE {condition}")
    return json.loads(plan)[0]["Plan"]["Plan Rows"]


def told(owner):
    """The guesses that estimates answer: by equality, or by a range around the value."""
    found = []
    for table, key, there, nowhere in GUESSES:
        for condition in ("{0} = '{1}'", "{0} >= '{1}' AND {0} <= '{1}~'", "{0} < '{1}'"):
            if expected(owner, table, condition.format(key, there)) != expected(owner, table, condition.format(key, nowhere)):
                found.append(condition.format(f"{table}.{key}", there))
    return found


def test_no_column_has_a_target():
    wrong = psql(database(), f"""
        SELECT attrelid::regclass || '.' || attname FROM pg_attribute
         WHERE attnum > 0 AND NOT attisdropped AND attstattarget IS DISTINCT FROM 0
           AND (attrelid IN {TENANT_TABLES}
                OR EXISTS (SELECT FROM pg_index WHERE indexrelid = attrelid AND indrelid IN {TENANT_TABLES}
                              AND attnum <= indnkeyatts AND indkey[attnum - 1] = 0))
        UNION ALL SELECT stxname FROM pg_statistic_ext WHERE stxrelid IN {TENANT_TABLES}""")
    assert wrong == "", f"SET STATISTICS 0, as protect() does: {wrong}"


def test_nothing_is_kept():
    kept = psql(as_role(filled(), "postgres"), f"""
        SELECT DISTINCT starelid::regclass FROM pg_statistic
         WHERE starelid IN {TENANT_TABLES} OR starelid IN (SELECT indexrelid FROM pg_index WHERE indrelid IN {TENANT_TABLES})""")
    assert kept == "", kept


def test_estimates_tell_nothing():
    assert told(filled()) == []


def test_what_was_kept_is_found():
    """By the guesses above too, or they could not fail; and the statement that doctor gives removes it."""
    owner = with_statistics()
    assert any("tenant_id = 'other'" in guess for guess in told(owner)), told(owner)
    for role in (ROLE, "cardbox_app", "cardbox", "postgres"):
        lines = cardbox("doctor", "--dsn", as_role(owner, role), "--json", check=False).stdout.splitlines()
        found = next(row for row in map(json.loads, lines) if row["check"] == "estimates")
        assert found["result"] == "warning" and "(cards.tenant_id)" in found["detail"], (role, found)
    remedy = found["detail"][found["detail"].index("DELETE FROM"):]
    refused = subprocess.run(["psql", owner, "-Xqc", remedy], capture_output=True, text=True)
    assert "permission denied" in refused.stderr, refused
    psql(as_role(owner, "postgres"), remedy)
    assert told(owner) == []
    assert '"check":"estimates","result":"ok"' in cardbox("doctor", "--dsn", as_role(owner, "cardbox_app"), "--json").stdout


if __name__ == "__main__":
    cardbox_test.main()
