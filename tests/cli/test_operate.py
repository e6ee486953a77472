#!/usr/bin/env python3
"""cardbox doctor and gc."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, as_role, cardbox, holding, on_terminal, psql, temp_dir


def findings(dsn, status=0):
    """check -> (result, detail) of the last finding of that name that is not ok, else of any."""
    done = cardbox("doctor", "--dsn", dsn, "--json", check=False)
    assert done.returncode == status, done
    found = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if row["result"] != "ok" or row["check"] not in found:
            found[row["check"]] = (row["result"], row["detail"])
    return found


# --- doctor ---


def durable():
    """A database of a cluster that loses nothing, as the shared one does for speed. No other test makes roles in it."""
    if not hasattr(durable, "postgres"):
        durable.postgres = Postgres("fsync=on", "full_page_writes=on")
    return durable.postgres.database()


def test_all_is_well():
    dsn = as_role(durable(), "cardbox_app")
    found = findings(dsn)
    assert {result for result, _ in found.values()} == {"ok"}, found
    assert set(found) == {"connection", "server", "migrations", "isolation", "role", "search path",
                          "durability", "wraparound", "settings"}
    text = cardbox("doctor", "--dsn", dsn).stdout
    assert all(line.startswith("ok  ") for line in text.splitlines()) and "PostgreSQL" in text


def test_is_as_wide_as_the_terminal():
    """And says a remedy once that mends more than one thing."""
    dsn = as_role(durable(), "postgres")
    psql(dsn, f"ALTER DATABASE {dsn.split('dbname=')[1].split()[0]} SET cardbox.dev = on")
    whole = cardbox("doctor", "--dsn", dsn).stdout
    assert whole.count("let services log in as") == 1 and whole.count("warning ") == 4, whole
    # The size of the database and the age of its transactions may change meanwhile.
    words = lambda text: re.sub(r"\d+ [kM]B|the age \d+", "", " ".join(text.split()))
    for columns in (40, 60, 80, 120):
        lines = re.sub("\033\\[[0-9;]*m", "", on_terminal("doctor", "--dsn", dsn, columns=columns)).splitlines()
        assert words(" ".join(lines)) == words(whole), lines
        assert columns - 30 < max(map(len, lines)) <= columns and lines == [line.rstrip() for line in lines], lines
        below = [line for line in lines if line.startswith("    ") and line[4] != " "]
        assert (len(below) > 10) == (columns == 40), lines


def test_superuser():
    dsn = durable()
    found = findings(as_role(dsn, "postgres"))
    assert {found[check][0] for check in ("role", "isolation")} == {"warning"}, found
    assert "is a superuser" in found["role"][1] and "only a member of cardbox_service" in found["role"][1]
    assert "this role can read past" in cardbox("doctor", "--dsn", as_role(dsn, "postgres")).stdout
    assert psql(dsn, "SELECT (SELECT count(*) FROM cardbox.tokens)"
                     " + (SELECT count(*) FROM cardbox.tenant_grants)") == "0\n"
    text = cardbox("doctor", "--dsn", as_role(dsn, "cardbox_app")).stdout
    assert text.count("this role can't") == 3, text


def test_the_roles_of_an_installation():
    """As roles.sh makes them: nothing is wrong with any of them. A wrong role of a server is an error for itself and
    for those who administer the database."""
    postgres = Postgres("fsync=on", "full_page_writes=on")
    dsn = postgres.database(migrate=False)
    for role in ("cardbox", "cardbox_app"):  # the roles of other tests
        postgres.psql(dsn, f"DROP OWNED BY {role}")
    env = {**os.environ, "PGHOST": re.search(r"host=(\S+)", dsn).group(1), "POSTGRES_USER": "postgres",
           "POSTGRES_DB": re.search(r"dbname=(\S+)", dsn).group(1), "CARDBOX_OWNER_PASSWORD": "a",
           "CARDBOX_SERVER_PASSWORD": "b", "CARDBOX_WORKER_PASSWORD": "c"}
    subprocess.run([os.path.join(cardbox_test.ROOT, "docker", "roles.sh")], env=env, check=True, capture_output=True)
    owner, server, agent = (as_role(dsn, f"cardbox_{name}") for name in ("owner", "server", "agent"))
    cardbox("migrate", "--dsn", owner)
    postgres.psql(dsn, "INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('demo', 'cardbox_agent')")
    for each in (owner, server, agent):
        found = findings(each)
        assert {result for result, _ in found.values()} == {"ok"}, found
    assert "use this role for cardbox migrate" in cardbox("doctor", "--json", "--dsn", owner).stdout

    wrong = (("GRANT cardbox_writer TO {}", "REVOKE cardbox_writer FROM {}", "member of cardbox_writer"),
             ("ALTER ROLE {} BYPASSRLS", "ALTER ROLE {} NOBYPASSRLS", "BYPASSRLS"),
             ("GRANT cardbox_owner TO {}", "REVOKE cardbox_owner FROM {}", "member of the owner of the tables"),
             ("ALTER ROLE {} SUPERUSER", "ALTER ROLE {} NOSUPERUSER", "superuser"))
    for role in ("cardbox_server", "cardbox_agent"):
        for change, back, reason in wrong:
            postgres.psql(dsn, change.format(role))
            for each in (owner, as_role(dsn, role), as_role(dsn, "postgres")):
                done = cardbox("doctor", "--json", "--dsn", each, check=False)
                assert done.returncode == 1, (role, reason, done)
                assert f"{role} ({reason})" in done.stdout or each == as_role(dsn, role), (role, reason, done)
            postgres.psql(dsn, back.format(role))
    assert findings(owner)["role"][0] == "ok"


def test_roles_that_may_act_as_the_writer():
    """Directly or through another role, with its rights at once or only by SET ROLE."""
    dsn = Postgres.shared().database()
    name, between = f"writer_{os.getpid()}", f"between_{os.getpid()}"
    for group in ("cardbox_service", "cardbox_worker"):
        psql(dsn, f"CREATE ROLE {between} NOINHERIT IN ROLE cardbox_writer; CREATE ROLE {name} LOGIN NOINHERIT IN ROLE {between};"
                  f"CREATE ROLE {name}_of_all LOGIN IN ROLE {group}, {name}")
        result, detail = findings(as_role(dsn, f"{name}_of_all"), status=1)["role"]
        assert result == "error" and "is a member of cardbox_writer" in detail and "only a member of" in detail, detail
        psql(dsn, f"REVOKE cardbox_writer FROM {between}")
        assert findings(as_role(dsn, f"{name}_of_all"))["role"][0] == ("ok" if group == "cardbox_service" else "warning")
        psql(dsn, f"DROP ROLE {name}_of_all, {name}, {between}")


def test_roles_with_too_many_rights_in_dev():
    dsn = durable()
    psql(dsn, f"ALTER DATABASE {dsn.split('dbname=')[1]} SET cardbox.dev = on")
    for name, result in (("postgres", "warning"), ("cardbox", "ok")):
        found = findings(as_role(dsn, name))
        assert found["role"][0] == found["isolation"][0] == result, found
    psql(dsn, "ALTER TABLE cardbox.cards DISABLE ROW LEVEL SECURITY")  # that is wrong there too
    assert findings(dsn, status=1)["isolation"][0] == "error"


def test_role_with_too_few():
    dsn = Postgres.shared().database()
    name = f"worker_{os.getpid()}"
    psql(dsn, f"CREATE ROLE {name} LOGIN; GRANT cardbox_worker TO {name}")
    result, detail = findings(as_role(dsn, name))["role"]
    assert result == "warning" and "cardbox_service" not in detail, detail
    psql(dsn, re.search("INSERT INTO .*", detail).group(0).replace("PROJECT", "b"))
    assert findings(as_role(dsn, name))["role"] == ("ok", "worker: sees project b")
    psql(dsn, f"INSERT INTO cardbox.tenant_grants VALUES ('a', '{name}'), ('c', 'another')")
    assert findings(as_role(dsn, name))["role"] == ("ok", "worker: sees projects a, b")
    psql(dsn, "INSERT INTO cardbox.tenant_grants"
              f" SELECT 'p-' || n, '{name}' FROM generate_series(1, 5) n")
    assert findings(as_role(dsn, name))["role"][1].endswith("projects a, b, p-1, p-2, p-3, ...")
    psql(dsn, f"ALTER ROLE {name} BYPASSRLS")
    for _ in range(2):
        found = findings(as_role(dsn, name), status=1)
        assert found["role"][0] == "error" and "has BYPASSRLS" in found["role"][1], found
        assert "read past row-level security" in found["isolation"][1], found
        psql(dsn, f"GRANT cardbox_service TO {name}")


def test_role_in_neither_group():
    dsn = Postgres.shared().database()
    name = f"nobody_{os.getpid()}"
    psql(dsn, f"CREATE ROLE {name} LOGIN")
    result, detail = findings(as_role(dsn, name), status=1)["role"]
    assert result == "error" and "GRANT cardbox_service TO" in detail
    psql(dsn, f"GRANT USAGE ON SCHEMA cardbox TO {name}; GRANT SELECT ON cardbox.migrations, cardbox.functions TO {name}")
    result, detail = findings(as_role(dsn, name))["role"]
    assert result == "warning" and f"GRANT cardbox_service TO {name}" in detail


def test_database_of_dev_that_is_stopped():
    folder = temp_dir()
    os.makedirs(os.path.join(folder, "var", "pg"))
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("PG", "CARDBOX_DSN"))}
    say = "the database of ./var is not running: start it with `cardbox dev` (make run)"

    def check():
        for words in (["doctor"], ["migrate"], ["card", "list", "--project", "p"]):
            done = subprocess.run([os.path.join(cardbox_test.BUILD, "bin", "cardbox"), *words],
                                  cwd=folder, env=env, capture_output=True, text=True)
            assert done.returncode == 1 and say in done.stdout + done.stderr, done

        worker = [os.path.join(cardbox_test.BUILD, "bin", "cardbox-worker"), "--project", "p",
                  "--model-url", "http://127.0.0.1:1/v1", "--model", "m"]
        done = subprocess.run(worker, cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 1 and say in done.stderr, done

    check()
    with open(os.path.join(folder, "var", "dsn"), "w") as file:  # it was killed
        file.write("host=/nonexistent\n")
    check()


def test_who_is_answered_knows_that_postgresql_runs():
    """The hint is for those to whom nobody answered."""
    dsn = Postgres.shared().database()
    hint = "is PostgreSQL running there?"
    worker = ["--project", "p", "--model-url", "http://127.0.0.1:1/v1", "--model", "m"]
    for given, word, nobody in ((as_role(dsn, "no_such_role"), "no_such_role", False),
                                (dsn.rpartition("dbname=")[0] + "dbname=no_such", "no_such", False),
                                ("host=/nonexistent", "/nonexistent", True)):
        for program, words in (("cardbox", ["doctor"]), ("cardbox", ["box", "list", "--project", "p"]),
                               ("cardbox-worker", worker)):
            done = subprocess.run([os.path.join(cardbox_test.BUILD, "bin", program), *words, "--dsn", given],
                                  capture_output=True, text=True, timeout=60)
            said = done.stdout + done.stderr
            assert done.returncode == 1 and word in said and (hint in said) == nobody, done


def test_connection_strings_that_never_work():
    """Wrong usage, of every program, which names the option."""
    programs = {"cardboxd": ["--listen", "127.0.0.1:0"], "cardbox": ["doctor"],
                "cardbox-worker": ["--project", "p", "--model-url", "http://127.0.0.1:1/v1", "--model", "m"]}
    env = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    for program, options in programs.items():
        done = subprocess.run([os.path.join(cardbox_test.BUILD, "bin", program), *options, "--dsn", "host='x"], env=env,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and done.stdout == "", done
        assert ": --dsn or CARDBOX_DSN: " in done.stderr and "connection string" in done.stderr, done


def test_connection_strings_that_libpq_refuses():
    """Values that libpq reads when it connects: its own message names them."""
    for dsn, word in (("port=abc", '"abc"'), ("host=a,b port=1,2,3", "port"), ("sslmode=requir", "sslmode"),
                      ("target_session_attrs=write", "target_session_attrs")):
        done = cardbox("card", "list", "--project", "p", "--dsn", dsn, check=False)
        assert done.returncode == 1 and "cannot connect" in done.stderr and word in done.stderr, done


def test_isolation_that_is_off():
    dsn = Postgres.shared().database()
    psql(dsn, "ALTER TABLE cardbox.cards DISABLE ROW LEVEL SECURITY;"
              "ALTER TABLE cardbox.card_boxes NO FORCE ROW LEVEL SECURITY")
    result, detail = findings(as_role(dsn, "cardbox_app"), status=1)["isolation"]
    assert result == "error" and "cards" in detail and "card_boxes" in detail


def test_schemas_where_others_make_things():
    dsn = Postgres.shared().database()
    app = as_role(dsn, "cardbox_app")
    psql(dsn, "GRANT CREATE ON SCHEMA public TO public")
    result, detail = findings(app)["search path"]
    assert result == "warning" and "public (everybody)" in detail and "ALTER ROLE cardbox_app" in detail
    psql(dsn, "REVOKE CREATE ON SCHEMA public FROM public; GRANT CREATE ON SCHEMA public TO cardbox_worker")
    assert "public (cardbox_worker)" in findings(app)["search path"][1]
    psql(dsn, f"ALTER DATABASE {dsn.split('dbname=')[1]} SET search_path = pg_catalog")
    assert findings(app)["search path"][0] == "ok"


# --- what others have put into public ---


def test_sessions_look_in_pg_catalog_alone():
    """This function fits the owner's call better than PostgreSQL's own does."""
    dsn = Postgres.shared().database()
    psql(dsn, "CREATE FUNCTION public.make_interval(secs int8) RETURNS interval LANGUAGE plpgsql AS"
              " $$ BEGIN RAISE 'hostile'; END $$")
    done = cardbox("token", "create", "--dsn", dsn, "--name", "a", "--all-tenants", "--expires", "30d",
                   check=False)
    assert (done.returncode, "hostile" in done.stderr) == ((1, True) if cardbox_test.POOLED else (0, False)), done


def test_acknowledged_and_lost():
    """Only where synchronous_commit is off is it; the other ways to wait for less lose nothing here."""
    safe, fast = durable(), Postgres.shared().database()
    for value, result in (("off", "warning"), ("local", "ok"), ("on", "ok")):
        psql(safe, f"ALTER DATABASE {safe.split('dbname=')[1]} SET synchronous_commit = {value}")
        found = findings(as_role(safe, "cardbox_app"))["durability"]
        assert found[0] == result and ("SET synchronous_commit = on" in found[1]) == (value == "off"), found
    text = cardbox("doctor", "--dsn", as_role(fast, "cardbox_app")).stdout
    assert "ALTER SYSTEM SET fsync = on;" in text and "ALTER SYSTEM SET full_page_writes = on;" in text, text


def test_commits_that_wait_for_nobody():
    postgres = Postgres("fsync=on", "full_page_writes=on")
    app = as_role(postgres.database(), "cardbox_app")
    postgres.psql(app, "ALTER SYSTEM SET synchronous_standby_names = 'elsewhere'")
    postgres.restart()
    result, detail = findings(app, status=1)["durability"]
    assert result == "error" and "ALTER SYSTEM SET synchronous_standby_names = ''" in detail, detail
    postgres.psql(app, "SET synchronous_commit = local;"
                       f"ALTER DATABASE {app.split('dbname=')[1]} SET synchronous_commit = local")
    assert findings(app)["durability"][0] == "ok"


def test_settings_of_migrations_that_are_gone():
    for setting in ("jit", "random_page_cost"):
        dsn = Postgres.shared().database()
        name = dsn.split("dbname=")[1]
        assert findings(as_role(dsn, "cardbox_app"))["settings"][0] == "ok"
        psql(dsn, f"ALTER DATABASE {name} RESET {setting}")
        result, detail = findings(as_role(dsn, "cardbox_app"))["settings"]
        assert result == "warning" and f"ALTER DATABASE {name} SET random_page_cost = 1" in detail, (setting, detail)


def test_jit_and_newer_schema():
    dsn = Postgres.shared().database()
    name = dsn.split("dbname=")[1]
    psql(dsn, f"ALTER DATABASE {name} SET jit = on;"
              " INSERT INTO cardbox.migrations VALUES (99, 'later', 'x', '99.0.0')")
    found = findings(as_role(dsn, "cardbox_app"))
    assert found["settings"][0] == "warning" and "SET jit = off" in found["settings"][1]
    assert found["migrations"][0] == "warning" and "99" in found["migrations"][1]


def test_no_schema_and_no_database():
    dsn = Postgres.shared().database(migrate=False)
    result, detail = findings(dsn, status=1)["migrations"]
    assert result == "error" and "cardbox migrate" in detail
    result, detail = findings(dsn + "x", status=1)["connection"]
    assert result == "error" and "does not exist" in detail


# --- gc ---


def card(card_id, **members):
    return json.dumps({"kind": "card", "card_id": card_id, "content": "x" * 100, **members})


def filled():
    dsn = Postgres.shared().database()
    rows = [card("alive"), card("later", expires_at="2099-01-01T00:00:00Z"),
            card("deleted-long-ago", deleted_at="2025-01-01T00:00:00Z")]
    rows += [card(f"expired-{n}", ttl_seconds=1, expires_at="2025-01-01T00:00:00Z", sealed=n % 2 == 0)
             for n in range(25)]
    for project in ("a", "b"):
        cardbox("import", "--dsn", dsn, "--project", project, stdin="\n".join(rows))
    cardbox("card", "add", "--dsn", dsn, "--project", "a", "--id", "just-deleted", "--text", "x")
    psql(dsn, "UPDATE cardbox.cards SET deleted_at = now() WHERE card_id = 'just-deleted'")
    return dsn


def left(dsn):
    return psql(dsn, "SELECT tenant_id || card_id FROM cardbox.cards ORDER BY 1").split()


def gc(dsn, *options):
    """kind -> (rows, bytes), of the kinds that there were."""
    told = json.loads(cardbox("gc", "--dsn", dsn, "--json", *options).stdout)
    assert told.pop("dry_run") == ("--dry-run" in options)
    return {kind: (sum["rows"], sum["bytes"]) for kind, sum in told.items() if sum["rows"]}


def test_gc():
    dsn = filled()
    dry = gc(dsn, "--dry-run")
    assert list(dry) == ["cards"] and dry["cards"][0] == 52 and dry["cards"][1] > 52 * 20
    assert len(left(dsn)) == 57
    assert gc(dsn, "--batch", "7") == dry
    assert left(dsn) == ["aalive", "ajust-deleted", "alater", "balive", "blater"]
    psql(dsn, "INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at, deleted_at)"
              " SELECT 'a', 'big', jsonb_agg(repeat(n::text, 50)), '2025-01-01', '2025-01-01'"
              " FROM generate_series(1, 4000) n")
    dry = gc(dsn, "--dry-run")
    assert gc(dsn) == dry and dry["cards"][0] == 1 and dry["cards"][1] > 0
    assert cardbox("gc", "--dsn", dsn).stdout == "0 rows removed\n"


def test_gc_for_people():
    dsn = filled()
    lines = cardbox("gc", "--dsn", dsn, "--dry-run").stdout.splitlines()
    assert lines[0].split() == ["kind", "rows", "bytes"] and lines[1].split()[:2] == ["cards", "52"]
    assert lines[2:] == ["52 rows would be removed"]
    assert cardbox("gc", "--dsn", dsn).stdout.endswith("\n52 rows removed\n")


def test_gc_retention():
    dsn = filled()
    assert gc(dsn, "--retention-days", "36500")["cards"][0] == 50
    assert "adeleted-long-ago" in left(dsn)
    assert gc(dsn, "--retention-days", "0")["cards"][0] == 3
    assert left(dsn) == ["aalive", "alater", "balive", "blater"]


def test_gc_in_the_way_of_others():
    """Another collector, or a locked table: a wait that ends, and says who it is and what to do."""
    dsn = filled()
    for sql, what in (("SELECT FROM cardbox.lock_rows WHERE name = 'gc' FOR UPDATE", "the lock of gc"),
                      ("LOCK TABLE cardbox.cards", "locked tables")):
        with holding(dsn, sql) as pid:
            done = cardbox("gc", "--dsn", as_role(dsn, "cardbox_app"), "--wait-s", "1", check=False)
            assert done.returncode == 1 and done.stdout == "0 rows removed\n", done
            assert f"waited 1 s for {what}: session {pid} (holder) has it" in done.stderr, done.stderr
            assert f"SELECT pg_terminate_backend({pid})" in done.stderr, done.stderr
    reader = "SELECT count(*) FROM cardbox.cards"
    with holding(dsn, reader), holding(dsn, "SELECT 1 FROM cardbox.cards FOR UPDATE"):
        assert gc(dsn, "--wait-s", "1") == {}  # who reads is in nobody's way, and rows in use are left for later
    assert gc(dsn)["cards"][0] == 52


def test_gc_as_the_service():
    dsn = filled()
    assert gc(as_role(dsn, "cardbox_app"))["cards"][0] == 52


if __name__ == "__main__":
    cardbox_test.main()
