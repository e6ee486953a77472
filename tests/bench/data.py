"""The data of the benchmark: a private PostgreSQL that is durable, cards of about 2 KB over four
tenants, and boxes of 10 to 10,000 ids, the same at every run.

Ids are UUID texts that end in a number, so that wrk, pgbench and the SDK's load program can each
make one up: number n is tenant n % 4's. See card_id, box_id.
"""

import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cardbox_test import Postgres, as_role  # noqa: E402

TENANTS = 4
FIRST = 100_000_000_000  # numbers have twelve digits: the last group of a UUID

# Durable, and without what falls into one side of a comparison by chance and would decide it:
# checkpoints by the clock, after which each page's next change writes the page as a whole, and
# autovacuum. Both are done by hand before each row (settle), when the indexing of the search is over.
SETTINGS = ("fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=512MB",
            "max_wal_size=16GB", "checkpoint_timeout=1h", "autovacuum=off")

# kind: (what it is in a box's id, ids a box from, to)
KINDS = {
    "ten": (1, 10, 10),
    "fifty": (2, 50, 50),
    "mixed": (3, 10, 60),
    "thousand": (4, 1000, 1000),
    "ten_thousand": (5, 10000, 10000),
}
FULL = {"session": 10_000, "cards": 100_000, "ten": 2000, "fifty": 2000, "mixed": 8000, "thousand": 400,
        "ten_thousand": 40}
SMALL = {"session": 1000, "cards": 2000, "ten": 40, "fifty": 400, "mixed": 80, "thousand": 8, "ten_thousand": 4}


def tenant(number):
    return f"tenant-{number % TENANTS}"


def card_id(number):
    return f"0197a000-0000-7000-8000-{FIRST + number}"


def box_prefix(kind):
    return f"0197b000-000{KINDS[kind][0]}-7000-8000-"


def box_id(kind, number):
    return f"{box_prefix(kind)}{FIRST + number}"


# --- cards ---

WORDS = ("the a of to and in for is with that this was from by on not are be at as it which file "
         "function test error value request answer server client table index query result agent "
         "message session context token model call tool returns reads writes checks builds runs "
         "fails passes expects found missing because before after while when where there line "
         "buffer pointer memory connection statement transaction column parameter length version "
         "timeout retry queue worker thread lock commit rollback snapshot segment append branch").split()
PLACES = ("src/store/cards.c", "src/store/boxes.c", "src/server/join.c", "src/server/http.c",
          "tests/http/test_reads.py", "sql/statements/boxes_read.sql", "include/cardbox/card.h")


def sentence(dice, least, most):
    return " ".join(dice.choices(WORDS, k=dice.randint(least, most)))


LINES = 5  # different lines among the hits of a search: repetitive, as what tools print is


def document(dice):
    """About 2 KB of what a tool answers an agent: rows of equal shape and some prose."""
    paths = dice.sample(PLACES, 2)
    lines = [sentence(dice, 5, 8) for _ in range(LINES)]
    hits = [{"path": dice.choice(paths), "line": dice.randint(1, 600), "kind": "match",
             "text": dice.choice(lines)} for _ in range(16)]
    return json.dumps({"__type__": "ToolResultContent", "status": "success", "after_execution": "suspend",
                       "result": {"query": sentence(dice, 2, 4), "hits": hits, "truncated": False,
                                  "note": sentence(dice, 8, 20)}})


def metadata(number):
    """As the SDK writes it for a tool.call of an agent's turn; ten cards a step, 100 a turn."""
    return json.dumps({"type": "tool.call", "role": "assistant", "step_id": f"step-{number // 40}",
                       "trace_id": f"trace-{number // 4000}", "agent_turn_id": f"turn-{number // 400}",
                       "author_id": "agent-1"}, separators=(",", ":"))


def card_lines(count):
    """Rows for COPY, newest last."""
    dice = random.Random(1)
    for number in range(count):
        text = document(dice).replace("\\", "\\\\")
        yield (f"{tenant(number)}\t{card_id(number)}\t{text}\t{metadata(number)}\t"
               f"2026-01-01 00:00:00+00\n")


# --- sessions ---

PATH = 1000  # entries of a session whose context is built


def session_entry(dice, number):
    """An agent's work in turns of ten: a question, then calls and what the tool said, then an answer."""
    place = number % 10
    message = {"role": "assistant", "provider": "anthropic", "model": "claude", "stopReason": "stop"}
    if place == 0:
        message = {"role": "user", "content": sentence(dice, 10, 60)}
    elif place % 2:
        message["content"] = [{"type": "text", "text": sentence(dice, 5, 40)}]
        if place < 9:
            message["stopReason"] = "toolUse"
            message["content"].append({"type": "toolCall", "id": f"call-{number}", "name": "search",
                                       "arguments": {"query": sentence(dice, 2, 4)}})
    else:
        message = {"role": "toolResult", "toolCallId": f"call-{number - 1}", "toolName": "search",
                   "content": [{"type": "text", "text": document(dice)}], "isError": False}
    return {"type": "message", "id": f"e{number}", "parentId": f"e{number - 1}" if number else None,
            "timestamp": "2026-01-01T00:00:00.000Z", "message": message}


def session_lines(count):
    """A session of pi's: a header and so many entries, one after the other."""
    dice = random.Random(4)
    yield {"type": "session", "version": 3, "id": "bench", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}
    for number in range(count):
        yield session_entry(dice, number)


def session_of_documents(count):
    """Yields the entries of a session with `count` messages of 2 KB."""
    dice = random.Random(5)
    for number in range(count):
        yield {"type": "user", "id": f"e{number}", "parentId": f"e{number - 1}" if number else None,
               "timestamp": "2026-01-01T00:00:00.000Z", "content": document(dice)}


# --- the database ---


def number_from(name, otherwise, whole=False):
    """A number above 0 from the environment. Ends the program where it is none."""
    text = os.environ.get(name, "")
    try:
        number = (int if whole else float)(text) if text else otherwise
        if not 0 < number < 1e6:
            raise ValueError
    except ValueError:
        sys.exit(f"{name} must be a {'whole ' if whole else ''}number above 0, not \"{text}\"")
    return number


def sizes_from(name):
    """How much data: small, or full, which is the default. Ends the program on anything else."""
    text = os.environ.get(name, "")
    if text not in ("", "small", "full"):
        sys.exit(f"{name} must be small or full, not \"{text}\"")
    return SMALL if text == "small" else FULL


class Database:
    """A private cluster with the data in it."""

    def __init__(self, sizes):
        self.sizes = sizes
        self.pg = Postgres(*SETTINGS)
        self.owner = self.pg.database()
        self.dsn = as_role(self.owner, "cardbox_app")  # what servers and pgbench connect as
        self._load_cards()
        for kind in KINDS:
            self._load_boxes(kind)
        self.settle()

    def settle(self):
        self.sql("VACUUM ANALYZE")
        self.sql("CHECKPOINT")

    def sql(self, text):
        return self.pg.psql(self.owner, text).strip()

    def _load_cards(self):
        copy = ("COPY cardbox.cards (tenant_id, card_id, content, metadata, created_at) FROM STDIN")
        psql = subprocess.Popen(["psql", as_role(self.owner, "postgres"), "-XqAt", "-v", "ON_ERROR_STOP=1",
                                 "-c", copy], stdin=subprocess.PIPE, text=True)
        with psql.stdin as pipe:
            pipe.writelines(card_lines(self.sizes["cards"]))
        if psql.wait() != 0:
            raise RuntimeError("the cards could not be loaded")
        # As agents write them: a second apart, so that lists have an order.
        self.sql("UPDATE cardbox.cards SET created_at = created_at"
                 f" + make_interval(secs => right(card_id, 12)::bigint - {FIRST})")
        self.sql("VACUUM FULL cardbox.cards")

    def _load_boxes(self, kind):
        """Boxes hold cards of their tenant that follow one another, from a place that differs."""
        _, least, most = KINDS[kind]
        per_tenant = self.sizes["cards"] // TENANTS
        self.sql(f"""
            SELECT count(cardbox.create_box(
                       'tenant-' || b.n % {TENANTS}, ('{box_prefix(kind)}' || {FIRST} + b.n)::uuid,
                       (SELECT jsonb_agg('0197a000-0000-7000-8000-' || {FIRST} + b.n % {TENANTS}
                                         + (b.n * 7919 + i) % {per_tenant} * {TENANTS} ORDER BY i)
                          FROM generate_series(1, {least} + b.n % {most - least + 1}) AS i),
                       '[]', NULL, false))
              FROM generate_series(0, {self.sizes[kind] - 1}) AS b (n)""")

    def compression(self):
        """Bytes of the cards' texts by the bytes that they take in the table."""
        return float(self.sql("SELECT sum(octet_length(content::text))::float8 / sum(pg_column_size(content))"
                              " FROM (SELECT content FROM cardbox.cards LIMIT 5000) AS c"))

    def card_bytes(self):
        return float(self.sql("SELECT avg(octet_length(content::text)) FROM cardbox.cards"))

    def bytes_of_cards_and_plain_ones(self):
        """Bytes of the cards with all their indexes, in a table of their own, and of a plain table with the same."""
        sizes = self.sql(f"""
            BEGIN;
            CREATE TABLE public.own_cards (LIKE cardbox.cards INCLUDING ALL);
            INSERT INTO public.own_cards SELECT * FROM cardbox.cards WHERE card_id >= '{card_id(0)}'
               AND card_id < '{card_id(self.sizes["cards"])}';
            CREATE TABLE public.plain_cards (tenant_id text, card_id text, content jsonb, metadata jsonb,
                                             created_at timestamptz, PRIMARY KEY (tenant_id, card_id));
            INSERT INTO public.plain_cards SELECT tenant_id, card_id, content, metadata, created_at FROM public.own_cards;
            SELECT pg_total_relation_size('public.own_cards'), pg_total_relation_size('public.plain_cards');
            ROLLBACK""")
        own, plain = map(int, sizes.split("|"))
        return own, plain

    def make_plain_messages(self):
        """The table of messages that one would make without us; empty."""
        self.sql("""
            SET client_min_messages = warning;
            DROP TABLE IF EXISTS public.plain_messages;
            CREATE TABLE public.plain_messages (
                id bigint GENERATED ALWAYS AS IDENTITY, session_id text NOT NULL, content jsonb NOT NULL,
                created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (session_id, id));
            GRANT SELECT, INSERT ON public.plain_messages TO cardbox_app""")

    def bytes_of_session_and_plain_messages(self, session):
        """Bytes of copies of a session's lines: in a table like ours with all indexes, and in the plain table."""
        self.make_plain_messages()
        sizes = self.sql(f"""
            BEGIN;
            CREATE TABLE public.own_lines (LIKE cardbox.session_lines INCLUDING ALL);
            INSERT INTO public.own_lines SELECT * FROM cardbox.session_lines
             WHERE tenant_id = 'tenant-0' AND session_id = '{session}' ORDER BY line;
            INSERT INTO public.plain_messages (session_id, content)
            SELECT session_id, content FROM public.own_lines ORDER BY line;
            SELECT pg_total_relation_size('public.own_lines'), pg_total_relation_size('public.plain_messages');
            ROLLBACK""")
        own, plain = map(int, sizes.split("|"))
        return own, plain

    def bytes_of_usage(self):
        """Bytes of a row of a copy of the table usage, with all indexes."""
        return float(self.sql("""
            BEGIN;
            CREATE TABLE public.own_usage (LIKE cardbox.usage INCLUDING ALL);
            INSERT INTO public.own_usage
            SELECT 'tenant-0', 'session', md5(n::text)::uuid, '2026-01-01'::date + n % 100, 'claude-sonnet-4-5', n, 0, n, NULL
              FROM generate_series(1, 10000) AS n;
            SELECT pg_total_relation_size('public.own_usage') / 10000.0;
            ROLLBACK"""))

    def make_plain_boxes(self, kind):
        """The table of the system that ours replaces, with the same lists: one array a box."""
        self.sql(f"""
            CREATE TABLE IF NOT EXISTS public.plain_{kind} (
                box_id uuid PRIMARY KEY, tenant_id text NOT NULL, card_ids jsonb NOT NULL,
                created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now());
            GRANT SELECT, UPDATE ON public.plain_{kind} TO cardbox_app;
            INSERT INTO public.plain_{kind} (box_id, tenant_id, card_ids)
            SELECT box_id, tenant_id, card_ids FROM cardbox.boxes
             WHERE box_id::text LIKE '{box_prefix(kind)}%' ON CONFLICT DO NOTHING""")
        self.settle()

    def copy_ms(self, table, path):
        """Milliseconds of a COPY of a file's lines, each one value: no byte of them quotes or separates."""
        copy = f"\\copy {table} FROM '{path}' WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')"
        done = subprocess.run(["psql", as_role(self.owner, "postgres"), "-Xq", "-v", "ON_ERROR_STOP=1",
                               "-c", "\\timing on", "-c", copy], check=True, capture_output=True, text=True)
        return float(re.search(r"Time: ([\d.]+) ms", done.stdout).group(1))

    def wal_bytes(self, work):
        """Bytes of WAL that `work` writes, with nothing else running."""
        before = self.sql("SELECT pg_current_wal_insert_lsn()")
        work()
        return int(self.sql(f"SELECT pg_current_wal_insert_lsn() - '{before}'::pg_lsn"))
