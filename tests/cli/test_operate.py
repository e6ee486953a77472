#!/usr/bin/env python3
"""cardbox doctor and gc."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, as_role, cardbox


def psql(dsn, sql):
    return Postgres.shared().psql(dsn, sql)


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


def test_all_is_well():
    dsn = as_role(Postgres.shared().database(), "cardbox_app")
    found = findings(dsn)
    assert {result for result, _ in found.values()} == {"ok"}, found
    assert set(found) == {"connection", "server", "migrations", "isolation", "role", "jit"}
    text = cardbox("doctor", "--dsn", dsn).stdout
    assert all(line.startswith("ok  ") for line in text.splitlines()) and "PostgreSQL" in text


def test_roles_with_too_many_rights():
    dsn = Postgres.shared().database()
    result, detail = findings(as_role(dsn, "postgres"))["role"]
    assert result == "warning" and "is a superuser" in detail
    result, detail = findings(dsn)["role"]
    assert result == "warning" and "owns tables" in detail and "cardbox_service" in detail


def test_role_with_too_few():
    dsn = Postgres.shared().database()
    name = f"worker_{os.getpid()}"
    psql(dsn, f"CREATE ROLE {name} LOGIN; GRANT cardbox_worker TO {name}")
    result, detail = findings(as_role(dsn, name))["role"]
    assert result == "warning" and f"GRANT cardbox_service TO {name}" in detail
    psql(dsn, f"ALTER ROLE {name} BYPASSRLS")
    psql(dsn, f"GRANT cardbox_service TO {name}")
    result, detail = findings(as_role(dsn, name))["role"]
    assert result == "warning" and f"ALTER ROLE {name} NOBYPASSRLS" in detail


def test_isolation_that_is_off():
    dsn = Postgres.shared().database()
    psql(dsn, "ALTER TABLE cardbox.cards DISABLE ROW LEVEL SECURITY;"
              "ALTER TABLE cardbox.card_boxes NO FORCE ROW LEVEL SECURITY")
    result, detail = findings(as_role(dsn, "cardbox_app"), status=1)["isolation"]
    assert result == "error" and "cards" in detail and "card_boxes" in detail


def test_jit_and_newer_schema():
    dsn = Postgres.shared().database()
    name = dsn.split("dbname=")[1]
    psql(dsn, f"ALTER DATABASE {name} SET jit = on;"
              " INSERT INTO cardbox.migrations VALUES (99, 'later', 'x')")
    found = findings(as_role(dsn, "cardbox_app"))
    assert found["jit"][0] == "warning" and "SET jit = off" in found["jit"][1]
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


def test_gc():
    dsn = filled()
    dry = json.loads(cardbox("gc", "--dsn", dsn, "--dry-run", "--json").stdout)
    assert dry["dry_run"] is True and dry["cards"] == 52 and dry["bytes"] > 52 * 20
    assert len(left(dsn)) == 57
    done = json.loads(cardbox("gc", "--dsn", dsn, "--batch", "7", "--json").stdout)
    assert done == {"dry_run": False, "cards": 52, "bytes": dry["bytes"]}
    assert left(dsn) == ["aalive", "ajust-deleted", "alater", "balive", "blater"]
    assert cardbox("gc", "--dsn", dsn).stdout == "0 cards (0 bytes) removed\n"


def test_gc_retention():
    dsn = filled()
    assert cardbox("gc", "--dsn", dsn, "--retention-days", "36500").stdout.startswith("50 cards (")
    assert "adeleted-long-ago" in left(dsn)
    assert cardbox("gc", "--dsn", dsn, "--retention-days", "0").stdout.startswith("3 cards (")
    assert left(dsn) == ["aalive", "alater", "balive", "blater"]


def test_gc_needs_a_role_that_sees_all():
    dsn = filled()
    assert cardbox("gc", "--dsn", as_role(dsn, "cardbox_app")).stdout.startswith("52 cards")


if __name__ == "__main__":
    cardbox_test.main()
