#!/usr/bin/env python3
"""A database with settings of its own: what our statements mean and do stays the same; and statements that
it refuses leave nothing in its sessions."""

import concurrent.futures
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, cardbox, database, psql

JSON = {"Content-Type": "application/json"}
SETTINGS = ("default_transaction_isolation = 'serializable'", "standard_conforming_strings = off", "DateStyle = 'SQL, DMY'",
            "TimeZone = 'Asia/Kathmandu'", "IntervalStyle = 'sql_standard'", "bytea_output = 'escape'", "extra_float_digits = -5",
            "array_nulls = off", "transform_null_equals = on", "quote_all_identifiers = on", "xmloption = 'document'",
            "jit = on", "jit_above_cost = 0", "random_page_cost = 100", "plan_cache_mode = 'force_generic_plan'")


def odd_database():
    dsn = database()
    name = dsn.split("dbname=")[1]
    psql(dsn, ";".join(f"ALTER DATABASE {name} SET {setting}" for setting in SETTINGS))
    return dsn


def test_writers_of_one_session():
    writers_take_turns(Server(odd_database()))


def test_options_of_the_connection_string():
    """They count, but not against what our statements need: the longest statement, the isolation."""
    dsn = database()
    ours = "-c statement_timeout=1 -c default_transaction_isolation=serializable -c standard_conforming_strings=off"
    writers_take_turns(Server(f"{dsn} options='{ours}'"))
    for given, env in ((f"{dsn} options='-c default_transaction_read_only=on'", {}),
                       (dsn, {"PGOPTIONS": "-c default_transaction_read_only=on"})):
        done = cardbox("card", "add", "--dsn", given, "--project", "p", "--text", "x", check=False, env=env)
        assert done.returncode == 1 and "read-only transaction" in done.stderr, done
    done = cardbox("card", "list", "--dsn", f"{dsn} options='{'-c jit=off ' * 200}'", "--project", "p", check=False)
    assert done.returncode == 2 and "have more than 1000 bytes" in done.stderr, done


def test_what_connections_ask_for():
    """That PostgreSQL asks whether the other end is there, or it keeps what it has locked for hours; unless told otherwise.
    And that a page costs the same wherever it is, or it sorts what an index has in order: whatever it is told."""
    dsn = database()
    names = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout", "random_page_cost")
    psql(dsn, """
        CREATE TABLE public.settings (name text, value text);
        CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
            INSERT INTO public.settings SELECT s.name, s.reset_val FROM pg_catalog.pg_settings s WHERE s.name LIKE 'tcp%' OR s.name = 'random_page_cost';
            RETURN NULL;
        END $$;
        CREATE TRIGGER note AFTER INSERT ON cardbox.cards EXECUTE FUNCTION public.note()""")
    for options, expected in (("", ("30", "10", "3", "30000", "1")),
                              (" options='-c tcp_keepalives_idle=7 -c random_page_cost=9'", ("7", "10", "3", "30000", "1"))):
        server = Server(dsn + options)
        answer = server.post("/projects/p/cards", {"card_id": f"card{len(options)}", "content": 1})
        assert answer.status == 200, answer
        server.stop()
        told = dict(row.split("|") for row in psql(dsn, "DELETE FROM public.settings RETURNING name, value").split())
        assert tuple(told[name] for name in names) == expected, told


def writers_take_turns(server):
    """Those of one session: where a transaction is serializable, all but one at a time fail."""
    assert server.request("PUT", "/projects/p/sessions/s", '{"dialect": "plain"}', JSON).status == 200

    def write(number):
        return server.post("/projects/p/sessions/s/entries", {"entry": {"type": "user", "content": str(number)}})

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(write, range(100)))
    assert {answer.status for answer in answers} == {200}, [answer for answer in answers if answer.status != 200][:3]
    fork = server.post("/projects/p/sessions/s/fork", {"session_id": "s-2"})
    assert fork.status in (200, 201) and fork.json()["entries"] == 100, fork
    again = server.post("/projects/p/sessions/s-2/fork", {})
    assert again.status in (200, 201), again
    assert server.request("DELETE", "/projects/p/sessions/s").status == 200
    assert server.get("/projects/p/sessions/s-2/context").status == 200
    server.stop()


def test_command_line():
    dsn = odd_database()
    line = '{"kind": "card", "card_id": "a", "created_at": "2026-02-01T03:04:05.678901Z", "content": 1.0000000000000001}'
    cardbox("import", "--dsn", dsn, "--project", "p", stdin=line)
    out = cardbox("export", "--dsn", dsn, "--project", "p").stdout
    assert "2026-02-01T03:04:05.678901Z" in out and "1.0000000000000001" in out, out
    assert cardbox("gc", "--dsn", dsn).returncode == 0


def test_reads_only():
    """As a standby, or one that its administrator has closed: reads go on, and writes say why not."""
    dsn = database()
    name = dsn.split("dbname=")[1]
    cardbox("import", "--dsn", dsn, "--project", "p", stdin='{"kind": "card", "card_id": "a", "content": 1}')
    psql(dsn, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    server = Server(dsn)
    assert server.get("/projects/p/cards/a").status == 200 and server.get("/readyz").status == 200
    refused = server.post("/projects/p/cards", {"card_id": "b", "content": 1})
    assert refused.status == 503 and "only reads" in refused.json()["detail"]["error_message"], refused
    assert "default_transaction_read_only is on" in cardbox("doctor", "--dsn", dsn, check=False).stdout
    psql(dsn, f"BEGIN READ WRITE; ALTER DATABASE {name} RESET default_transaction_read_only; COMMIT")
    cardbox_test.await_(lambda: server.post("/projects/p/cards", {"card_id": "b", "content": 1}).status in (200, 201))
    server.stop()


def test_too_few_places():
    """With room for less than half of its connections a server serves, and again after all of them were lost:
    the one that reads the tokens does not go without for those that only make it quicker."""
    postgres = Postgres("max_connections=12")
    dsn = postgres.database()
    server = Server(dsn, "--loops", "2", "--gc-interval-s", "0")

    def serves():
        return [server.post("/projects/p/cards", {"card_id": "a", "content": 1}).status,
                server.get("/projects/p/cards/a").status] == [200, 200]

    for _ in range(2):
        cardbox_test.await_(lambda: all(serves() for _ in range(10)), server.log)
        postgres.restart()
    server.stop()


def test_refused_statements_leave_nothing():
    """What fails as it runs the first time was prepared all the same, and is not prepared again each time."""
    dsn = database()
    psql(dsn, "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;"
              "CREATE TRIGGER refuse BEFORE INSERT ON cardbox.cards FOR EACH ROW EXECUTE FUNCTION public.refuse()")
    server = Server(dsn, "--loops", "1", "--write-connections", "1")
    for _ in range(5):
        assert server.post("/projects/p/cards", {"card_id": "a", "content": 1}).status == 500
    sessions = set(Postgres.shared().backends(dsn))
    with open(os.path.join(Postgres.shared().directory, "log"), encoding="utf-8", errors="replace") as log:
        said = [line for line in log if "already exists" in line and any(f"[{pid}]" in line for pid in sessions)]
    assert not said, said
    psql(dsn, "DROP TRIGGER refuse ON cardbox.cards")
    assert server.post("/projects/p/cards", {"card_id": "a", "content": 1}).status in (200, 201)
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()
