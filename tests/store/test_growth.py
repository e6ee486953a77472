#!/usr/bin/env python3
"""A plan that was made while a table was empty is not kept when the table has grown: a server
runs ANALYZE for it, and then all connections make new plans."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, as_role

CARDS = 8000


def plans_before_and_after(dsn):
    """Of one connection that reads cards: while there were none, and when a server had time to look."""
    wanted = "'{c-77}'"
    script = f"""
        SET random_page_cost = 1; -- and nothing else of what our connections set
        PREPARE it AS SELECT c.content FROM unnest($1::text[]) AS k (id)
          JOIN cardbox.cards c ON c.tenant_id = 'p' AND c.card_id = k.id COLLATE "C";
        {f"EXECUTE it ({wanted});" * 7}
        \\echo before
        EXPLAIN (COSTS OFF) EXECUTE it ({wanted});
        INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at)
        SELECT 'p', 'c-' || i, '1', '{{}}', now() FROM generate_series(1, {CARDS}) AS i;
        DO $$
        BEGIN
            FOR i IN 1 .. 600 LOOP
                EXIT WHEN (SELECT reltuples FROM pg_class WHERE oid = 'cardbox.cards'::regclass) >= {CARDS};
                PERFORM pg_sleep(0.1);
            END LOOP;
        END
        $$;
        \\echo after
        EXPLAIN (COSTS OFF) EXECUTE it ({wanted});"""
    said = subprocess.run(["psql", as_role(dsn, "postgres"), "-XqAt", "-v", "ON_ERROR_STOP=1"], input=script,
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    return said.split("after")


def test_plans_follow_the_size_of_tables():
    dsn = Postgres.shared().database()
    cardbox_test.psql(dsn, "ALTER TABLE cardbox.cards SET (autovacuum_enabled = off)")
    server = Server(dsn, "--gc-interval-s", "0")
    before, after = plans_before_and_after(dsn)
    server.stop()
    by_key = "(card_id = (k.id)::text)"
    assert by_key not in before, before  # if it is, the server has nothing to mend
    assert by_key in after, after


def test_tables_that_are_small_are_left_alone():
    dsn = Postgres.shared().database()
    server = Server(dsn)
    cardbox_test.load(dsn, *({"kind": "card", "card_id": f"c{n}", "content": "x"} for n in range(100)))
    said = cardbox_test.psql(dsn, "SELECT cardbox.analyze_grown()")
    server.stop()
    assert said.strip() == "", said


if __name__ == "__main__":
    cardbox_test.main()
