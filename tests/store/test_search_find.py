#!/usr/bin/env python3
"""cardbox.search_find() returns all documents with the terms, each once, newest first, whatever their times are: close
together, equal, centuries apart, or in the future. It examines the newest ones first, and then one period after another."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import cardbox_test
from cardbox_test import Connection, Postgres, once

# Each tenth of the cards has its own distribution of times. All have term 1, every 7th has term 7 and so on.
CARDS = """
INSERT INTO cardbox.cards (tenant_id, card_id, content, metadata, created_at)
SELECT t, 'card-' || n, '1', '{}', CASE n % 10
       WHEN 0 THEN timestamptz '2026-01-01'
       WHEN 1 THEN timestamptz '2026-01-01' + n * interval '1 us'
       WHEN 2 THEN timestamptz '2026-01-01' - n * interval '1 year' / 3
       WHEN 3 THEN timestamptz '9999-12-31' - n * interval '1 s'
       WHEN 4 THEN timestamptz '0001-01-01 00:00+00'
       ELSE timestamptz '2026-01-01' - n * interval '1 min' END
  FROM unnest(ARRAY['mine', 'other']) AS t, generate_series(0, 2999) AS n;
DELETE FROM cardbox.search_queue;
INSERT INTO cardbox.search_documents (tenant_id, session_id, id, kind, created_at, terms)
SELECT c.tenant_id, '', c.card_id, 'card', c.created_at,
       ARRAY(SELECT k FROM unnest(ARRAY[1, 7, 89, 997, 1499]) AS k WHERE substr(c.card_id, 6)::int % k = 0)
  FROM cardbox.cards c ORDER BY random();
"""

# All pages of a search together: the ids of the documents.
PAGES = """
CREATE FUNCTION pg_temp.pages(terms bigint[], after timestamptz, before timestamptz, size bigint, newest bigint)
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    ids  text[] := '{}';
    page text[];
    at   timestamptz;
    n    bigint;
BEGIN
    LOOP
        SELECT array_agg(f.id), (array_agg(f.created_at))[count(*)], (array_agg(f.n))[count(*)] INTO page, at, n
          FROM cardbox.search_find('mine', terms, after, before, at, n, size, newest) AS f;
        ids := ids || page;
        EXIT WHEN cardinality(page) < size IS NOT FALSE;
    END LOOP;
    RETURN ids;
END
$$;
CREATE FUNCTION pg_temp.scan(terms bigint[], after timestamptz, before timestamptz) RETURNS text[] LANGUAGE sql AS $$
    SELECT coalesce(array_agg(d.id ORDER BY d.created_at DESC, d.n DESC), '{}') FROM cardbox.search_documents d
     WHERE d.tenant_id = 'mine' AND d.terms @> scan.terms
       AND d.created_at > coalesce(after, '-infinity') AND d.created_at < coalesce(before, 'infinity')
$$;
"""
TERMS = ("{1}", "{7}", "{89}", "{997}", "{1499}", "{7,89}", "{2}")
PERIODS = (("NULL", "NULL"), ("NULL", "'2026-01-01'"), ("'2025-12-31 23:00'", "NULL"), ("'1900-01-01'", "'2026-01-01 00:00:01'"),
           ("'2026-01-01'", "'2026-01-01'"), ("'0001-01-01 00:00+00'", "'0001-01-02 00:00+00'"), ("'9999-12-31'", "NULL"))


@once
def connection():
    postgres = Postgres.shared()
    dsn = postgres.database()
    postgres.psql(dsn, CARDS)
    made = Connection(dsn)
    made.run(PAGES)
    return made


def test_pages():
    for after, before in PERIODS:
        def case(after=after, before=before):
            for terms in TERMS:
                for size, newest in ((10, 1), (3, 20), (100, 1000), (5000, 10)):
                    got, wanted = connection().run(
                        f"SELECT pg_temp.pages('{terms}', {after}, {before}, {size}, {newest});"
                        f"SELECT pg_temp.scan('{terms}', {after}, {before})").split("\n")
                    assert got == wanted, (terms, size, newest, got[:300], wanted[:300])
        yield f"{after} to {before}", case


if __name__ == "__main__":
    cardbox_test.main()
