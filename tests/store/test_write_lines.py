#!/usr/bin/env python3
"""Lines behind those of a session are written by a short way: it leaves the same rows, and gives the
same answers, as the way for all lines does."""

import hashlib
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, literal, once

TYPES = ("bigint", "integer", "text", "integer", "text", "integer", "integer", "json", "bytea", "bytea", "text", "json")
SESSIONS = 15

# What a tenant has, but for its name and times.
TABLES = (
    "SELECT to_jsonb(s) - 'tenant_id' - 'created_at' - 'updated_at' FROM cardbox.sessions s WHERE s.tenant_id = '%s' ORDER BY session_id",
    "SELECT to_jsonb(e) - 'tenant_id' FROM cardbox.session_entries e WHERE e.tenant_id = '%s' ORDER BY session_id, seq",
    "SELECT to_jsonb(l) - 'tenant_id' FROM cardbox.session_lines l WHERE l.tenant_id = '%s' ORDER BY session_id, seq, ord",
    "SELECT to_jsonb(c) - 'tenant_id' - 'created_at' - 'etag' FROM cardbox.cards c WHERE c.tenant_id = '%s' ORDER BY card_id",
)


def call(function, tenant, session, lines):
    columns = zip(*lines)
    arrays = ", ".join(f"ARRAY[{', '.join(literal(value) for value in column)}]::{kind}[]"
                       for kind, column in zip(TYPES, columns))
    return f"SELECT * FROM cardbox.{function}('{tenant}', '{session}', true, 1, NULL, NULL, {arrays})"


class File:
    """Lines that go on from one batch to the next, as an import sends them."""

    def __init__(self, dice, odd):
        self.dice = dice
        self.odd = odd  # whether there are lines that the short way leaves to the other
        self.seq = -1
        self.ids = []

    def _parent(self, here):
        """Its id, and its place or what it is instead."""
        way = self.dice.randrange(10)
        if way < 6 and here:
            return here[-1], len(here)
        if way == 6 and here:
            place = self.dice.randrange(len(here))
            return here[place], place + 1
        if way == 7 and self.ids:
            return self.dice.choice(self.ids), -3
        if way == 8:
            return "nobody", -3
        if self.dice.random() < 0.5:
            return None, 0
        return self.ids[-1] if self.ids and not here else None, -1  # of the batches before

    def _entry(self, here):
        """One line as write_lines has it."""
        number = len(self.ids) + len(here)
        kind = self.dice.choice((257, 513, 8, 9, 0, 10))
        parent, place = self._parent(here)
        label = json.dumps(f"it's {number}") if kind in (8, 9) and self.dice.random() < 0.7 else None
        line = [self.seq, 0, f"e{number}", 0, parent, place, kind, json.dumps({"id": f"e{number}", "n": self.seq}),
                self.dice.choice((None, None, " ")), self.dice.choice((None, None, " \n")),
                f"e{number // 2}" if kind == 8 else None, label]
        if self.odd and self.dice.randrange(12) == 0:
            if self.ids and self.dice.random() < 0.5:
                line[2] = self.dice.choice(self.ids)  # an id that the session has
            else:
                line[4:6] = (line[2], -4)
        return line

    def batch(self):
        lines, here = [], []
        if self.seq < 0 and self.dice.random() < 0.7:
            self.seq = 0
            header = '{"type":"session"}'
            lines.append([0, 0, None, 0, None, 0, -2, header, header + "\n", None, None, None])
            here.append(None)
        for _ in range(self.dice.randrange(0 if lines else 1, 12)):
            self.seq += 1
            line = self._entry([id for id in here if id])
            if line[5] > 0 and lines[0][6] < 0:
                line[5] += 1
            lines.append(line)
            here.append(line[2])
        self.ids += [id for id in here if id and id not in self.ids]
        if self.odd and self.dice.randrange(6) == 0:
            lines[-1][8 if lines[-1][6] < 0 else 9] = ""  # it has no end
        return lines


def written(pg, dsn, odd):
    """The answers, batch by batch, by the short way and by the other."""
    dice = random.Random(7 + odd)
    for number in range(SESSIONS):
        file = File(dice, odd)
        for _ in range(dice.randrange(1, 6)):
            lines = file.batch()
            yield [pg.psql(dsn, call(function, tenant, f"{odd}-{number}", lines))
                   for function, tenant in (("write_lines", "short"), ("write_session", "long"))]


def assert_same(pg, dsn, odd):
    for short, long in written(pg, dsn, odd):
        assert sorted(short.splitlines()) == sorted(long.splitlines()), f"{short}\n{long}"
    for table in TABLES:
        short, long = (pg.psql(dsn, table % tenant) for tenant in ("short", "long"))
        assert short == long and short, table


@once
def database():
    pg = Postgres.shared()
    return pg, pg.database()


def test_ordinary_lines():
    assert_same(*database(), False)


def test_odd_lines_among_them():
    assert_same(*database(), True)


def test_the_way_is_taken():
    """Ordinary lines need the other way no more than they need its function."""
    pg, dsn = database()
    pg.psql(dsn, "ALTER FUNCTION cardbox.write_session RENAME TO write_session_away")
    dice = random.Random(9)
    file = File(dice, False)
    for _ in range(4):
        answer = pg.psql(dsn, call("write_lines", "short", "taken", file.batch()))
        assert answer.splitlines()[0].startswith("0|1|"), answer
    pg.psql(dsn, "ALTER FUNCTION cardbox.write_session_away RENAME TO write_session")


def test_cards_that_are_there():
    """As after an import of a project's cards alone: they are found before anything is written."""
    pg = Postgres.shared()
    dsn = pg.database()
    lines = File(random.Random(11), False).batch()
    for tenant in ("short", "long"):
        pg.psql(dsn, call("write_session", tenant, "cards", lines))
        for table in ("session_entries", "session_lines", "sessions"):
            pg.psql(dsn, f"DELETE FROM cardbox.{table} WHERE tenant_id = '{tenant}' AND session_id = 'cards'")
    short, long = (pg.psql(dsn, call(function, tenant, "cards", lines))
                   for function, tenant in (("write_lines", "short"), ("write_session", "long")))
    assert sorted(short.splitlines()) == sorted(long.splitlines()) and short.startswith("0|1|"), f"{short}\n{long}"
    for table in TABLES:
        short, long = (pg.psql(dsn, table % tenant) for tenant in ("short", "long"))
        assert short == long, table


def test_ids_of_a_session_lie_together():
    """Ids are random: a page for each is what they cost where they lie among those of all sessions. The
    first change of a page behind a checkpoint is seen in the WAL."""
    pg = Postgres("full_page_writes=on")
    dsn = pg.database()
    pg.psql(dsn, """
        INSERT INTO cardbox.session_entries (tenant_id, session_id, seq, entry_id, depth, branch, kind, card_id, size)
        SELECT 't', 's-' || s, e, md5(s || '-' || e), e, 0, 257, s || '-' || e, 2
          FROM generate_series(1, 100) AS s, generate_series(0, 499) AS e""")
    lines = [[n, 0, hashlib.sha256(bytes([n % 256, n // 256])).hexdigest()[:32], 0, None, -1 if n else 0, 257, "{}",
              None, None, None, None] for n in range(500)]
    pg.psql(dsn, "CHECKPOINT")
    plan = json.loads(pg.psql(dsn, "EXPLAIN (ANALYZE, WAL, FORMAT JSON) " + call("write_lines", "t", "s", lines)))
    assert plan[0]["Plan"]["WAL FPI"] < 100, f"{plan[0]['Plan']['WAL FPI']} pages for {len(lines)} entries"


def test_settling_looks_up_each_entry():
    """Of a session that is all there is, all of whose entries wait for their parents."""
    entries = 2000
    pg, dsn = database()
    pg.psql(dsn, "SELECT cardbox.create_session('t', 'waits', 1, NULL, NULL, true)")
    pg.psql(dsn, f"""
        INSERT INTO cardbox.session_entries (tenant_id, session_id, seq, entry_id, missing, depth, branch, kind, card_id,
               size) SELECT 't', 'waits', e, 'e' || e, 'e' || e + 1, 0, e, 257, e, 2 FROM generate_series(0, {entries - 1}) AS e;
        UPDATE cardbox.sessions SET last_seq = {entries - 1}, entries = {entries}
         WHERE tenant_id = 't' AND session_id = 'waits'""")
    linked, read = pg.psql(dsn, """
        BEGIN;
        SELECT count(*) FROM cardbox.settle_session('t', 'waits') WHERE outcome = 1;
        SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'session_entries';
        COMMIT""").splitlines()
    assert int(linked) == entries - 1, linked
    assert int(read) < 20 * entries, f"{read} rows are read to link {entries}"


if __name__ == "__main__":
    cardbox_test.main()
