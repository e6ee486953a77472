#!/usr/bin/env python3
"""pg_dump and pg_restore of a database, and logical replication: what comes back is whole, and goes on."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, as_role, await_, cardbox, database, psql

SAMPLE = os.path.join(cardbox_test.ROOT, "tests", "lib", "sample.ndjson")
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


def test_restored_without_owners():
    """The writing functions are then of the role that restores: the doctor sees that, and migrating mends it."""
    dsn = original()
    folder, done = dump(as_role(dsn, "postgres"))
    assert done.returncode == 0, done
    copy = cardbox_test.Postgres.shared().database(migrate=False)
    subprocess.run(["pg_restore", "-j2", "-e", "--no-owner", "-d", as_role(copy, "postgres"), folder], check=True)
    writers = "SELECT proname FROM pg_proc WHERE proowner = 'cardbox_writer'::regrole ORDER BY 1"
    assert psql(copy, writers) == ""
    found = cardbox("doctor", "--dsn", as_role(copy, "cardbox_app"), check=False)
    said = " ".join(found.stdout.split())
    assert found.returncode == 1 and "append_to_boxes, " in said and "do not run as cardbox_writer" in said, said
    assert re.search("[1-9]\\d functions applied", cardbox("migrate", "--dsn", as_role(copy, "postgres")).stdout)
    assert psql(copy, writers) == psql(dsn, writers)
    assert cardbox("doctor", "--dsn", as_role(copy, "cardbox_app")).returncode == 0
    assert "nothing to do" in cardbox("migrate", "--dsn", as_role(copy, "postgres")).stdout


def test_drill_of_the_guide():
    """The three commands of docker/README.md: the restored database is whole."""
    with open(os.path.join(cardbox_test.ROOT, "docker", "README.md"), encoding="utf-8") as guide:
        commands = re.search(r"<!-- drill -->\n```sh\n(.*?)```", guide.read(), re.S).group(1)
    assert commands.count("\n") == 3
    postgres = Postgres()
    dsn = postgres.database(migrate=False)
    name = re.search(r"dbname=(\S+)", dsn).group(1)
    postgres.psql(dsn.replace(name, "postgres"), f"ALTER DATABASE {name} RENAME TO cardbox")
    dsn = dsn.replace(name, "cardbox")
    cardbox("migrate", "--dsn", dsn)
    cardbox("import", "--dsn", dsn, "--project", "demo", SAMPLE)
    env = {**os.environ, "PGHOST": re.search(r"host=(\S+)", dsn).group(1), "PGUSER": "postgres", "PGDATABASE": "postgres",
           "PATH": os.path.join(cardbox_test.BUILD, "bin") + os.pathsep + os.environ["PATH"]}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], capture_output=True, text=True, env=env,
                          cwd=cardbox_test.temp_dir())
    assert done.returncode == 0, done
    assert not re.search("^error", done.stdout, re.M) and "at migration" in done.stdout, done
    restored = dsn.replace("dbname=cardbox", "dbname=cardbox_drill")
    exported = [cardbox("export", "--dsn", each, "--project", "demo", binary=True).stdout for each in (dsn, restored)]
    assert exported[0] == exported[1] and len(exported[0]) > 1000


def test_the_owner_makes_no_half_dump():
    """Row-level security is forced on the owner too: pg_dump stops rather than leave rows out."""
    _, done = dump(original())
    assert done.returncode != 0 and re.search("row-level security|row level security", done.stderr), done


def contents(postgres, dsn):
    """table -> a sum of its rows, of all that a publication has."""
    tables = postgres.psql(dsn, "SELECT oid::regclass FROM pg_class WHERE relnamespace = 'cardbox'::regnamespace"
                                " AND relkind = 'r' AND relpersistence = 'p'").split()
    total = "SELECT md5(string_agg(x::text, '|' ORDER BY x::text COLLATE \"C\")) FROM {} x"
    return {table: postgres.psql(dsn, total.format(table)) for table in tables}


def changes(server):
    """Of every kind that there is: rows are added, changed and removed."""
    box = server.post("/projects/p/boxes", {"card_ids": ["a"]}).json()["box_id"]
    session = "/projects/p/sessions/s"
    plain = {"Content-Type": "application/json"}, '{"dialect": "plain"}'
    yield server.post("/projects/p/cards", {"cards": [{"card_id": f"c{n}", "content": {"n": n}} for n in range(100)]})
    yield server.post(f"/projects/p/boxes/{box}/append", {"card_ids": [f"c{n}" for n in range(100)]})
    yield server.post("/projects/p/cards", {"card_id": "c1", "content": "another"})
    yield server.request("DELETE", "/projects/p/cards/c2")
    yield server.request("PUT", session, plain[1], plain[0])
    yield server.post(session + "/entries", {"entries": [{"type": "user", "content": "x"}, {"type": "user", "content": "y"}]})
    yield server.request("PUT", session + "-2", plain[1], plain[0])
    yield server.request("DELETE", session + "-2")
    task = server.post("/projects/p/abilities/task:spawn", {"goal": "g"}).json()["taskId"]
    yield server.post("/projects/p/abilities/task:cancel", {"taskId": task, "reason": "enough"})


def test_logical_replication():
    """As docker/README.md describes it: every change comes over, and after the switch it goes on there."""
    here, there = Postgres("wal_level=logical"), Postgres()
    dsn = here.database()
    cardbox("token", "create", "--dsn", dsn, "--name", "t", "--tenant", "demo")
    server = Server(dsn)
    target = there.database()
    there.psql(target, "TRUNCATE cardbox.migrations, cardbox.functions, cardbox.token_changes")
    here.psql(dsn, "CREATE PUBLICATION everything FOR ALL TABLES")
    run_as_owner = "WITH (run_as_owner = true)" if int(there.psql(target, "SHOW server_version_num")) >= 160000 else ""
    there.psql(target, f"CREATE SUBSCRIPTION everything CONNECTION '{as_role(dsn, 'postgres')}' PUBLICATION everything {run_as_owner}")
    for answer in changes(server):
        assert answer.status == 200, answer
    assert cardbox("gc", "--dsn", dsn, "--retention-days", "0").stdout.endswith("\n1 rows removed\n")
    await_(lambda: contents(here, dsn) == contents(there, target))
    server.stop()
    there.psql(target, "DROP SUBSCRIPTION everything")
    with open(os.path.join(cardbox_test.ROOT, "docker", "README.md"), encoding="utf-8") as guide:
        there.psql(target, re.search("SELECT setval.*?(?=`)", guide.read()).group(0))
    assert cardbox("token", "create", "--dsn", target, "--name", "after", "--tenant", "demo").stdout.startswith("cbx_")
    server = Server(target)
    assert server.get("/projects/p/cards/c1").json()["content"] == "another"
    for answer in changes(server):
        assert answer.status in (200, 201, 410), answer
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()
