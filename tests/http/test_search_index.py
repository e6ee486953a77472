#!/usr/bin/env python3
"""What the search finds after writes: everything that is committed, however it was written, and nothing
that is gone. With several servers, when a server is killed, and while others write."""

import json
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Server, as_role, at_end, await_, cardbox, connected, database, dsn, holding, psql, server, session_url, url
from search_data import copy_line

TASKS = "/projects/{}/abilities/task:{}"


def call(method, path, body=None):
    """The JSON of the answer of server() to a request that succeeds."""
    answer = server().request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
    assert answer.status < 300, (method, path, body, answer)
    return answer.json() if answer.body else None


def hits(q, project="p", of=None, **filters):
    """All hits of a search, of all pages."""
    found, cursor = [], None
    while True:
        given = {"q": q, "limit": 100, **filters, **({"cursor": cursor} if cursor else {})}
        answer = (of or server()).post(f"/projects/{project}/abilities/search:find", given)
        assert answer.status == 200, answer
        found += answer.json()["hits"]
        cursor = answer.json()["cursor"]
        if cursor is None:
            return found


def ids(q, project="p", of=None, **filters):
    return sorted(hit["id"] for hit in hits(q, project, of, **filters))


def await_ids(q, expected, project="p", of=None, **filters):
    await_(lambda: ids(q, project, of, **filters) == sorted(expected), lambda: f"{q}: {ids(q, project, of, **filters)}")


def add(card_id, text, project="p", **members):
    call("POST", url(project, "cards"), {"card_id": card_id, "content": {"text": text}, "metadata": {}, **members})


def insert(dsn_, project, count, text, prefix="n"):
    psql(dsn_, f"""INSERT INTO cardbox.cards (tenant_id, card_id, content) SELECT '{project}', '{prefix}-' || i,
                   json_build_object('text', '{text} ' || i) FROM generate_series(1, {count}) AS i""")


def waiting(dsn_, project=None):
    where = f"WHERE tenant_id = '{project}'" if project else ""
    return int(psql(dsn_, f"SELECT count(*) FROM cardbox.search_queue {where}"))


def documents(dsn_, project="p"):
    return int(psql(dsn_, f"SELECT count(*) FROM cardbox.search_documents WHERE tenant_id = '{project}'"))


# --- cards ---


def test_times_that_are_no_dates():
    """They can be written by psql, and become the nearest time that has a date of four digits."""
    insert(dsn(), "times", 1100, "many")
    psql(dsn(), """INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at) SELECT 'times', at, '"rare"', at::timestamptz
                     FROM unnest(ARRAY['infinity', '200000-01-01', '-infinity', '0044-03-15 BC']) AS at""")
    await_ids("rare", ["infinity", "200000-01-01", "-infinity", "0044-03-15 BC"], "times")
    assert [hit["created_at"] for hit in hits("rare", "times")] == 2 * ["9999-12-31T23:59:59.999999Z"] + 2 * ["0001-01-01T00:00:00Z"]


def test_a_card_is_found_repaired_and_deleted():
    add("c1", "quokka")
    await_ids("quokka", ["c1"])
    add("c1", "wombat")
    await_ids("wombat", ["c1"])
    await_ids("quokka", [])
    call("DELETE", url("p", "cards", "c1"))
    await_ids("wombat", [])
    add("c1", "wombat again", restore=True)
    await_ids("wombat", ["c1"])


def test_rows_of_psql():
    insert(dsn(), "p", 3, "platypus", "sql")
    await_ids("platypus", ["sql-1", "sql-2", "sql-3"])
    psql(dsn(), """UPDATE cardbox.cards SET content = '"echidna"' WHERE card_id = 'sql-1'""")
    await_ids("echidna", ["sql-1"])
    psql(dsn(), "UPDATE cardbox.cards SET card_id = 'sql-9' WHERE card_id = 'sql-2'")
    await_ids("platypus", ["sql-3", "sql-9"])
    await_(lambda: psql(dsn(), "SELECT id FROM cardbox.search_documents WHERE id ~ '^sql' ORDER BY id").split() == ["sql-1", "sql-3", "sql-9"])
    psql(dsn(), "DELETE FROM cardbox.cards WHERE card_id = 'sql-3'")
    await_ids("platypus", ["sql-9"])


def test_rows_of_a_superuser():
    """No limit binds it: odd ids do not stay in the queue, and do not hold up the rows of others."""
    insert(as_role(dsn(), "postgres"), "", 3, "void")
    await_(lambda: documents(dsn(), "") == 3)
    psql(as_role(dsn(), "postgres"), "UPDATE cardbox.cards SET card_id = repeat('i', 600) WHERE tenant_id = '' AND card_id = 'n-1'")
    add("beside", "numbat")
    await_ids("numbat", ["beside"])
    await_(lambda: waiting(dsn()) == 0, lambda: waiting(dsn()))
    psql(as_role(dsn(), "postgres"), "DELETE FROM cardbox.cards WHERE tenant_id = ''")
    await_(lambda: waiting(dsn()) == documents(dsn(), "") == 0, lambda: documents(dsn(), ""))


def test_an_expired_card_is_not_found():
    add("short", "mayfly", ttl_seconds=1000)
    await_ids("mayfly", ["short"])
    psql(dsn(), "ALTER TABLE cardbox.cards DISABLE TRIGGER USER; UPDATE cardbox.cards SET expires_at = now()"
                " WHERE card_id = 'short'; ALTER TABLE cardbox.cards ENABLE TRIGGER USER")
    assert ids("mayfly") == []


def test_gc_removes_documents():
    own = database()
    one = Server(own, "--gc-interval-s", "1", "--retention-days", "0")
    insert(own, "p", 50, "extinct")
    one.request("PUT", session_url("s"), '{"dialect":"plain"}', {"Content-Type": "application/json"})
    one.post(session_url("s", "entries"), {"entries": [{"type": "user", "content": "extinct"}]})
    await_(lambda: documents(own) == 51 and waiting(own) == 0, one.log)
    psql(own, "UPDATE cardbox.cards SET deleted_at = now() - interval '1 day'")
    one.request("DELETE", session_url("s"))
    await_(lambda: documents(own) == 0 and waiting(own) == 0, one.log)
    one.stop()


def test_filters():
    add("f1", "kookaburra", metadata={"type": "agent.thought"})
    add("f2", "kookaburra", metadata={"type": "tool.result", "role": "user"})
    await_ids("kookaburra", ["f1", "f2"])
    assert ids("kookaburra", type="agent.thought") == ["f1"] == ids("kookaburra", role="assistant")
    assert ids("kookaburra", role="user", type="tool.result", kind="card") == ["f2"]
    assert ids("kookaburra", kind="entry") == [] == ids("kookaburra", role="tool")
    time = next(hit["created_at"] for hit in hits("kookaburra") if hit["id"] == "f1")
    assert ids("kookaburra", created_after=time) == ["f2"] and ids("kookaburra", created_before=time) == []


def test_newest_first_and_pages():
    times = [f"2026-02-{day:02d}T00:00:00Z" for day in (3, 1, 5, 2, 4, 4)]
    for number, time in enumerate(times):
        psql(dsn(), f"""INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at)
                        VALUES ('paged', 'c{number}', '"numbat"', '{time}')""")
    await_(lambda: len(hits("numbat", "paged")) == 6)
    found, cursor = [], None
    for _ in range(6):
        page = call("POST", "/projects/paged/abilities/search:find", {"q": "numbat", "limit": 1, **({"cursor": cursor} if cursor else {})})
        found += [hit["id"] for hit in page["hits"]]
        cursor = page["cursor"]
    assert cursor is None and found in (["c2", "c4", "c5", "c0", "c3", "c1"], ["c2", "c5", "c4", "c0", "c3", "c1"]), found


# --- messages and sessions ---


def test_messages():
    task = call("POST", TASKS.format("p", "spawn"), {"goal": "find the bilby"})["taskId"]
    await_(lambda: len(hits("bilby")) == 1)
    hit = hits("bilby")[0]
    assert hit["kind"] == "message" and hit["task_id"] == task and hit["role"] == "user", hit
    assert hits("bilby", task_id=task) == [hit] and hits("bilby", task_id="other") == []


def test_messages_after_their_cards():
    """An import writes the cards of messages before the messages."""
    call("POST", TASKS.format("p", "spawn"), {"goal": "export the dugong"})
    call("POST", url("p", "cards"), {"content": {"text": "a dugong"}, "metadata": {}})
    exported = server().get("/projects/p/export").body
    cardbox("import", "--dsn", dsn(), "--project", "copy", "-", stdin=exported.decode())
    await_(lambda: sorted(hit["kind"] for hit in hits("dugong", "copy")) == ["card", "message"], lambda: str(hits("dugong", "copy")))


def test_entries():
    call("PUT", session_url("s1"), {"dialect": "plain"})
    call("POST", session_url("s1", "entries"), {"entries": [
        {"id": "e1", "type": "user", "content": "the cassowary", "timestamp": "2026-01-02T03:04:05Z"},
        {"id": "e2", "type": "assistant", "content": "a cassowary is a bird"}]})
    await_ids("cassowary", ["e1", "e2"])
    newest, oldest = hits("cassowary")
    assert newest["kind"] == "entry" and newest["session_id"] == "s1" and newest["role"] == "assistant", newest
    assert oldest["created_at"] == "2026-01-02T03:04:05Z", oldest
    assert ids("cassowary", session_id="s1", role="user") == ["e1"] and ids("cassowary", session_id="s2") == []
    call("DELETE", session_url("s1"))
    assert ids("cassowary") == []


def test_time_of_a_large_entry():
    """Only the beginning of an entry is searchable, and the time is read from it."""
    call("PUT", session_url("large"), {"dialect": "plain"})
    entry = {"type": "user", "metadata": {"timestamp": "2001-01-01T00:00:00Z"}, "timestamp": "2026-01-02T03:04:05Z",
             "content": "thylacine " + "x " * 40000 + "afterthought"}
    call("POST", session_url("large", "entries"), {"entries": [entry]})
    await_(lambda: len(hits("thylacine")) == 1)
    assert hits("thylacine")[0]["created_at"] == "2026-01-02T03:04:05Z" and hits("afterthought") == []


# --- projects ---


def test_projects_are_apart():
    add("shared", "wallaby", "one")
    add("shared", "wallaby", "two")
    await_ids("wallaby", ["shared"], "one")
    await_ids("wallaby", ["shared"], "two")
    call("DELETE", url("one", "cards", "shared"))
    await_ids("wallaby", [], "one")
    assert ids("wallaby", "two") == ["shared"] and ids("wallaby", "three") == []


def test_workers_find_in_granted_projects_only():
    add("w1", "potoroo", "granted")
    add("w2", "potoroo", "denied")
    await_ids("potoroo", ["w1"], "granted")
    await_ids("potoroo", ["w2"], "denied")
    role = f"search_worker_{os.getpid()}"
    psql(dsn(), f"CREATE ROLE {role} LOGIN IN ROLE cardbox_worker; INSERT INTO cardbox.tenant_grants (tenant_id, role_name) VALUES ('granted', '{role}')")
    at_end(lambda: psql(dsn(), f"DROP ROLE {role}"))
    for project, expected in (("granted", "w1"), ("denied", "")):
        with connected(dsn(), role) as worker:
            terms = psql(dsn(), f"SELECT terms[1:1] FROM cardbox.search_documents WHERE tenant_id = '{project}'").strip()
            assert worker.run(f"SELECT id FROM cardbox.search_find('{project}', '{terms}', NULL, NULL, NULL, NULL, 10, 100)") == expected
    with connected(dsn(), role) as worker:
        for right in ("search_queue", "search_documents"):
            assert worker.run(f"SELECT has_table_privilege('cardbox.{right}', 'SELECT')") == "f"


def test_a_backlog_does_not_delay_other_projects():
    insert(dsn(), "backlog", 20000, "many")
    add("urgent", "urgently", "quick")
    await_ids("urgently", ["urgent"], "quick")
    assert waiting(dsn(), "backlog") > 0


# --- the queue ---


def test_stored_rows_are_queued_by_the_migration():
    own = database()
    insert(own, "p", 20, "fossil")
    psql(own, "TRUNCATE cardbox.search_queue")
    with open(os.path.join(cardbox_test.ROOT, "sql", "migrations", "0014_search_queue.sql"), encoding="utf-8") as file:
        psql(own, file.read())
    one = Server(own)
    await_(lambda: len(ids("fossil", of=one)) == 20, one.log)
    one.stop()


def test_a_document_that_fails_stops_no_other():
    own = database()
    psql(own, "ALTER TABLE cardbox.search_documents ADD CHECK (id <> 'n-7')")
    one = Server(own)
    insert(own, "p", 30, "brittle")
    await_(lambda: len(ids("brittle", of=one)) == 29 and waiting(own) == 0, one.log)
    assert "event=search_skipped" in one.log() and '"n-7"' in one.log()
    one.stop()


def test_only_the_document_that_fails_is_skipped():
    """While a single document fails, one of another project is queued, which is first in turn then."""
    own = database()
    psql(own, """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                 BEGIN PERFORM pg_sleep(2); RAISE 'refused'; END $$;
                 CREATE TRIGGER refuse BEFORE INSERT ON cardbox.search_documents
                 FOR EACH ROW WHEN (NEW.tenant_id = 'p') EXECUTE FUNCTION refuse()""")
    one = Server(own)
    insert(own, "p", 1, "brittle", "bad")
    await_(lambda: "event=search_failed" in one.log(), one.log)
    await_(lambda: psql(own, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()").strip() == "1",
           one.log)
    insert(own, "a", 1, "healthy", "good")
    await_(lambda: waiting(own) == 0, one.log)
    assert ids("healthy", "a", one) == ["good-1"] and documents(own) == 0
    assert one.log().count("event=search_skipped") == 1 and '"bad-1"' in one.log()
    one.stop()


def test_writers_do_not_wait_for_the_indexer():
    own = database()
    insert(own, "p", 10, "unhurried")
    psql(own, """INSERT INTO cardbox.sessions (tenant_id, session_id, version, created_at, updated_at) VALUES ('p', 's', 1, now(), now());
                 INSERT INTO cardbox.session_lines (tenant_id, session_id, line, size, entry_id, content) VALUES ('p', 's', 0, 2, 'e', '{}')""")
    with holding(as_role(own, "cardbox_app"), "SELECT count(*) FROM cardbox.search_take('', 100)"):
        psql(own, """SET lock_timeout = '2s'; UPDATE cardbox.cards SET content = '"other"'; UPDATE cardbox.session_lines SET content = '{"a":1}';
                     UPDATE cardbox.sessions SET version = 2; DELETE FROM cardbox.cards; DELETE FROM cardbox.session_lines""")


def test_one_indexes_at_a_time():
    own = database()
    insert(own, "p", 10, "alone")
    with holding(as_role(own, "cardbox_app"), "SELECT count(*) FROM cardbox.search_take('', 5)"):
        assert psql(own, "SELECT count(*) FROM cardbox.search_take('', 5)").strip() == "0"
    await_(lambda: psql(own, "SELECT count(*) FROM cardbox.search_take('', 5)").strip() == "5")  # when the other has ended


def test_two_servers_and_one_is_killed():
    own = database()
    first, second = Server(own), Server(own)
    insert(own, "p", 3000, "relay")
    await_(lambda: 0 < documents(own) < 3000 or documents(own) == 3000, first.log)
    first.kill()
    await_(lambda: documents(own) == 3000 and waiting(own) == 0, second.log)
    assert len(ids("relay", of=second)) == 3000
    second.stop()


def test_a_killed_server_loses_nothing():
    own = database()
    insert(own, "p", 3000, "phoenix")
    first = Server(own)
    await_(lambda: documents(own) > 0, first.log)
    first.kill()
    second = Server(own)
    await_(lambda: len(ids("phoenix", of=second)) == 3000 and waiting(own) == 0, second.log)
    assert documents(own) == 3000
    second.stop()


def test_a_read_only_server_does_not_index():
    own = database()
    insert(own, "p", 5, "reader")
    one = Server(own, "--read-only")
    one.await_ready()
    assert one.metric("cardbox_search_queue_length") == 0
    other = Server(own)
    await_(lambda: len(ids("reader", of=other)) == 5, other.log)
    assert len(ids("reader", of=one)) == 5
    one.stop()
    other.stop()


def test_metrics():
    own = database()
    psql(own, "CREATE TABLE cardbox.held (LIKE cardbox.search_documents); DROP TABLE cardbox.held")
    insert(own, "p", 20000, "counted")
    one = Server(own)
    await_(lambda: one.metric("cardbox_search_queue_length") > 0 and one.metric("cardbox_search_queue_age_seconds") > 0, one.log)
    psql(own, "DELETE FROM cardbox.search_queue")
    await_(lambda: one.metric("cardbox_search_queue_length") == 0 == one.metric("cardbox_search_queue_age_seconds"), one.log)
    one.stop()


def test_writers_and_the_indexer_at_the_same_time():
    """Cards are repaired, deleted and restored while they are indexed: at the end, exactly the live cards are found."""
    one, two = Server(dsn()), Server(dsn())

    def write(seed):
        for number in range(60):
            card, word = f"busy-{number % 7}", f"busy{seed}x{number}"
            answer = two.post(url("busy", "cards"), {"card_id": card, "content": {"text": f"busy {word}"}, "metadata": {}, "restore": True})
            assert answer.status < 300, answer
            if number % 5 == seed:
                assert two.request("DELETE", url("busy", "cards", card)).status < 500
            answer = two.post(session_url(f"busy-{seed}", "entries", project="busy"), {"entries": [{"type": "user", "content": f"busy {word}"}]})
            assert answer.status == 200, answer

    for seed in range(4):
        two.request("PUT", session_url(f"busy-{seed}", project="busy"), '{"dialect":"plain"}', {"Content-Type": "application/json"})
    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    await_(lambda: waiting(dsn(), "busy") == 0)
    assert len(hits("busy", "busy", kind="entry")) == 240
    live = json.loads(psql(dsn(), "SELECT coalesce(json_object_agg(card_id, content ->> 'text'), '{}') FROM cardbox.cards WHERE tenant_id = 'busy' AND deleted_at IS NULL"))
    assert ids("busy", "busy", kind="card") == sorted(live), live
    for card, text in live.items():
        assert card in ids(text.split()[1], "busy", kind="card"), (card, text)
    one.stop()
    two.stop()


def test_copy():
    """COPY is one statement: one trigger queues all of its rows."""
    lines = "".join(copy_line("copied", number) for number in range(300))
    with open(os.path.join(cardbox_test.temp_dir(), "cards"), "w", encoding="utf-8") as file:
        file.write(lines)
    subprocess.run(["psql", as_role(dsn(), "postgres"), "-Xq", "-v", "ON_ERROR_STOP=1", "-c",
                    f"\\copy cardbox.cards (tenant_id, card_id, content, metadata, created_at) FROM '{file.name}'"], check=True)
    await_(lambda: documents(dsn(), "copied") == 300)


if __name__ == "__main__":
    cardbox_test.main()
