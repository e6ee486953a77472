#!/usr/bin/env python3
"""What must not cost more in a box of a million ids, or with a log of a hundred thousand changes,
than in one of a hundred: counted in pages that PostgreSQL touches, since those do not depend on the
machine's mood."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, once, psql
from sql_statements import fill

SMALL, LARGE, LONG = (f"01970000-0000-7000-8000-00000000000{n}" for n in (1, 2, 3))
LARGE_IDS = 1_000_000
VERSIONS = 100_000
MOST = 3  # times the pages of the small box


def append(box, ids, key="NULL"):
    return fill("boxes_append", "'{t}'", f"ARRAY[{box}]", f"ARRAY[{ids}]", "'{NULL}'", f"ARRAY[{key}]", "true")


BUILD = f"""
SELECT cardbox.create_box('t', b::uuid, '[]', '[]', NULL, false)
  FROM unnest(ARRAY['{SMALL}', '{LARGE}', '{LONG}']) AS b;
DO $$ BEGIN
    FOR n IN 1 .. 100 LOOP
        PERFORM cardbox.append_ids('t', '{SMALL}', jsonb_build_array('c-' || n), NULL, NULL, true);
    END LOOP;
    FOR n IN 1 .. {LARGE_IDS // 10_000} LOOP
        PERFORM cardbox.append_ids('t', '{LARGE}', (
            SELECT jsonb_agg('c-' || (n * 10000 + i)) FROM generate_series(1, 10000) AS i), NULL, NULL, true);
    END LOOP;
END $$;
-- Changes that append nothing, a second apart: only the log is long.
INSERT INTO cardbox.card_box_log (tenant_id, box_id, version, op, chain_id, length, added, at)
SELECT 't', '{LONG}', v, 'append', '{LONG}', 0, 0, timestamptz '2025-01-01Z' + v * interval '1 s'
  FROM generate_series(2, {VERSIONS}) AS v;
UPDATE cardbox.card_box_log SET at = '2025-01-01Z' WHERE box_id = '{LONG}' AND version = 1;
UPDATE cardbox.card_boxes SET version = {VERSIONS}, updated_at = '2025-02-01Z' WHERE box_id = '{LONG}';
INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at)
SELECT 't', 'c-' || n, '1', now()
  FROM (SELECT generate_series(1, 100) UNION SELECT generate_series({LARGE_IDS} - 90, {LARGE_IDS} + 9999)) AS s(n);
"""


@once
def database():
    dsn = Postgres.shared().database()
    psql(dsn, BUILD)
    psql(dsn, "VACUUM ANALYZE")
    return dsn


def pages(dsn, *statements):
    """The pages touched by statements, run once before so that caches of the session are warm."""
    explain = "".join(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {one};" for one in statements)
    said = psql(dsn, f"BEGIN; {explain} ROLLBACK; BEGIN; {explain} ROLLBACK")
    plans = [json.loads(part)[0]["Plan"] for part in re.findall(r"^\[$.*?^\]$", said, re.M | re.S)]
    assert len(plans) == 2 * len(statements), said
    return sum(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
               for plan in plans[len(statements):])


def read(box, want=1, tail="NULL", skip="0", most="NULL", version="NULL", length="NULL",
         time="NULL"):
    arrays = ("'t'", f"'{box}'", want, tail, skip, most, version, length, time)
    return fill("boxes_read", *(f"(ARRAY[{value}])" for value in arrays))


def flat(small, *large):
    """Checks each list of statements against the first one."""
    dsn = database()
    allowed = MOST * pages(dsn, *small)
    for one in large:
        found = pages(dsn, *one)
        print(f"        {found} pages, {allowed // MOST} in a small box")
        assert found <= allowed, f"{found} pages instead of {allowed // MOST}"


def test_append():
    """As many as it takes to fill a segment, so that one is sealed."""
    flat(*([append(f"'{box}'", f"'[\"new-{n}\"]'", f"'key-{n}'")
            for n in range(64)] for box in (SMALL, LARGE, LONG)))


def test_append_again_by_key():
    def twice(box):
        return [append(f"'{box}'", "'[\"new\"]'", "'key'")] * 2
    flat(*(twice(box) for box in (SMALL, LARGE, LONG)))


def test_tail():
    for want in (1, 2):
        flat(*([read(box, want, tail="50")] for box in (SMALL, LARGE)))


def test_page():
    flat([read(SMALL, skip="10", most="50")],
         *([read(LARGE, skip=str(skip), most="50")] for skip in (10, 500_000, LARGE_IDS - 60)))


def test_as_of_version():
    flat([read(SMALL, tail="50", version="90")],
         [read(LARGE, tail="50", version="2")], [read(LARGE, tail="50", version="101")],
         [read(LONG, tail="50", version="50000")])


def test_as_of_length():
    flat([read(SMALL, tail="50", length="90")],
         *([read(LARGE, tail="50", length=str(n))] for n in (90, 500_000, LARGE_IDS)))


def test_as_of_time():
    dsn = database()
    middle = {box: "'" + psql(dsn, f"SELECT at FROM cardbox.card_box_log WHERE box_id = '{box}' AND"
                              f" version = {n}").strip() + "'" for box, n in ((SMALL, 50), (LARGE, 51))}
    flat([read(SMALL, tail="50", time=middle[SMALL])], [read(LARGE, tail="50", time=middle[LARGE])],
         *([read(LONG, tail="50", time=f"'2025-01-{day}Z'")] for day in ("01 00:00:01", "01 12:00", "02 03:00", "31")))


def test_fork():
    new = "'01970000-0000-7000-8000-00000000000f'"

    def fork(box, version="NULL", length="NULL"):
        return [fill("box_fork", "'t'", f"'{box}'", new, version, length)]
    flat(fork(SMALL), fork(LARGE), fork(LARGE, length=str(LARGE_IDS)),
         fork(LARGE, length="500000"), fork(LARGE, version="51"), fork(LONG, version="50000"))


def test_fork_is_read():
    """Its ids lie in the chain of the box that it was forked from, here a fork itself."""
    dsn = database()
    forks = {box: [f"01970000-0000-7000-8000-{box[-1]}000000000{n}0" for n in (1, 2)]
             for box in (SMALL, LARGE)}
    for box, (first, second) in forks.items():
        for old, new in ((box, first), (first, second)):
            psql(dsn, fill("box_fork", "'t'", f"'{old}'", f"'{new}'", "NULL", "NULL"))
    small, large = forks[SMALL][1], forks[LARGE][1]
    flat([read(small, tail="50")], [read(large, tail="50")],
         [read(large, skip="500000", most="50")], [read(large, tail="50", version="1")])


def test_log():
    flat(*([fill("box_log", "'t'", f"'{box}'", before, "50", "NULL")]
           for box, before in ((SMALL, "90"), (LARGE, "90"), (LONG, "50000"), (LONG, "60"))))


def test_boxes_of_a_common_card():
    """Those that hold a card that is in too many segments to look for it everywhere: of boxes that have it in one of
    their first or last runs, or not, and of forks of forks from before and behind it and from
    behind where the fork that they are of begins, and as deep as forks get; whether much is looked at or little."""
    dsn = Postgres.shared().database()
    psql(dsn, """
        SELECT cardbox.create_box('t', ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid,
                                  (SELECT jsonb_agg(CASE WHEN n % 7 > 0 AND i = n % 200 THEN 'common' ELSE 'c-' || i END)
                                     FROM generate_series(0, 199) AS i), '[]', NULL, false) FROM generate_series(1, 1500) AS n;
        CREATE FUNCTION pg_temp.forked(kind integer, source integer) RETURNS SETOF record LANGUAGE sql AS $$
            SELECT b.box_id, cardbox.fork_box('t', b.box_id, overlay(b.box_id::text PLACING lpad(kind::text, 4, '0') FROM 20)::uuid,
                                              NULL, (right(b.box_id::text, 12)::bigint * 64 * kind) % 256 * b.length / 256)
              FROM cardbox.card_boxes b WHERE b.box_id::text LIKE format('00000000-0000-0000-%s-%%', lpad(source::text, 4, '0')) $$;
        SELECT count(*) FROM pg_temp.forked(1, 0) AS f(a uuid, b record);
        SELECT cardbox.append_ids('t', b.box_id, (SELECT jsonb_agg('own-' || i) FROM generate_series(0, 99) AS i), NULL, NULL, true)
          FROM cardbox.card_boxes b WHERE b.box_id::text LIKE '00000000-0000-0000-0001-%';
        SELECT count(*) FROM pg_temp.forked(3, 1) AS f(a uuid, b record);
        DO $$ DECLARE last uuid := '00000000-0000-0000-0000-000000000001'; next uuid; BEGIN
            FOR n IN 1 .. 258 LOOP
                next := ('00000000-0000-0000-0009-' || lpad(n::text, 12, '0'))::uuid;
                PERFORM cardbox.fork_box('t', last, next, NULL, NULL);
                PERFORM cardbox.append_ids('t', next, (SELECT jsonb_agg('own-' || i) FROM generate_series(1, 64) AS i), NULL, NULL, true);
                last := next;
            END LOOP;
        END $$""")
    expected = psql(dsn, "SELECT box_id FROM cardbox.boxes WHERE card_ids ? 'common' ORDER BY created_at DESC, box_id DESC").split()
    held = int(psql(dsn, "SELECT count(*) FROM cardbox.card_box_segments WHERE card_ids ? 'common'"))
    assert held > 1000 and 1500 < len(expected) < 4000, (held, len(expected))
    for most, walk in ((1000, 5000), (200, 400)):
        seen, last = [], "NULL, NULL"
        while last:
            rows = [row.split("|") for row in psql(dsn, f"""
                SELECT flags, box_id, to_char(created_at, 'YYYY-MM-DD HH24:MI:SS.USOF') FROM (
                {fill("boxes_with_card", "'t'", "'common'", str(most), *last.split(", "), str(walk), "false")}) AS p""").split("\n")[:-1]]
            seen += [box for flags, box, _ in rows if int(flags) & 1]
            last = f"'{rows[-1][2]}', '{rows[-1][1]}'" if rows and (len(rows) == most or int(rows[-1][0]) & 2) else None
        assert seen == expected, (len(seen), len(expected))


def test_moments_are_found():
    """Halving finds what a look at every change finds, on and between changes, before and after."""
    wrong = psql(database(), f"""
        SELECT b.box_id, m.at, cardbox.version_at('t', b.box_id, m.at), e.version
          FROM cardbox.card_boxes b
         CROSS JOIN LATERAL (
            SELECT l.at + d AS at FROM cardbox.card_box_log l
             CROSS JOIN unnest(ARRAY[interval '-1 us', '0', '1 us']) AS d
             WHERE l.box_id = b.box_id AND (l.version < 20 OR l.version % 25013 < 2)
            UNION ALL SELECT unnest(ARRAY['-infinity'::timestamptz, '1900-01-01', '2900-01-01'])) AS m
          LEFT JOIN LATERAL (
            SELECT max(l.version) AS version FROM cardbox.card_box_log l
             WHERE l.box_id = b.box_id AND l.at <= m.at) AS e ON true
         WHERE cardbox.version_at('t', b.box_id, m.at) IS DISTINCT FROM e.version""")
    assert wrong == "", wrong


def test_times_do_not_run_against_versions():
    """However imports give them."""
    dsn = Postgres.shared().database()
    box = "'01970000-0000-7000-8000-0000000000aa'"
    for n, at in enumerate(("2030-01-01", "2020-01-01", "2031-01-01", "2010-01-01")):
        psql(dsn, fill("box_save", "'t'", box, f"'[\"{n}\"]'", "'[]'", "NULL", f"'{at}Z'"))
        psql(dsn, append(box, f"'[\"{n}\"]'"))
    assert psql(dsn, "SELECT count(*) FROM cardbox.card_box_log a JOIN cardbox.card_box_log b"
                     " ON b.version = a.version + 1 WHERE b.at < a.at") == "0\n"
    assert psql(dsn, "SELECT count(*) FROM cardbox.card_box_log") == "8\n"


if __name__ == "__main__":
    cardbox_test.main()
