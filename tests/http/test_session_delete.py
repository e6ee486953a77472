#!/usr/bin/env python3
"""DELETE of a session: all of it is removed, in parts if it is long, while others append, fork, import and
delete; its id again; tenants and scopes."""

import json
import os
import random
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import LIGHT, Server, as_role, await_locks, cardbox, connected, database, dsn, psql, server
from cardbox_test import session_url as url

NDJSON = {"Content-Type": "application/x-ndjson"}


def entry(identifier, parent, text="hello"):
    return {"id": identifier, "parentId": parent, "timestamp": "2025-01-02T03:04:05Z", "type": "user",
            "content": text}


def chain(count, text="hello"):
    return b"".join(json.dumps(entry(f"e{at}", f"e{at - 1}" if at else None, text)).encode() + b"\n"
                    for at in range(count))


def bring(session, data=None, status=200, project="p", restore=False):
    answer = server().request("POST", url(session, "import", project=project) + "?restore=true" * restore,
                              data or chain(4), NDJSON)
    assert answer.status == status, answer
    return answer.json()


def fork(session, new, entry_id=None):
    answer = server().post(url(session, "fork"), {"session_id": new, **({"entry_id": entry_id} if entry_id else {})})
    assert answer.status == 200, answer


def delete(session, status=200, project="p", headers=None):
    answer = server().request("DELETE", url(session, project=project), headers=headers)
    assert answer.status == status, answer
    return answer.json()


def export(session, project="p"):
    answer = server().get(url(session, "export", project=project))
    assert answer.status == 200, answer
    return answer.body


def count(sql):
    return int(psql(as_role(dsn(), "postgres"), sql))


def leftovers(project):
    """Lines of sessions that do not exist."""
    return count(f"SELECT count(*) FROM cardbox.session_lines l WHERE l.tenant_id = '{project}' AND NOT EXISTS"
                 " (SELECT FROM cardbox.sessions s WHERE s.tenant_id = l.tenant_id AND s.session_id = l.session_id)")


def rows(project):
    """But for the ids of deleted sessions."""
    return count(f"SELECT count(*) FROM cardbox.sessions WHERE tenant_id = '{project}' AND state <> 'gone'") + sum(
        count(f"SELECT count(*) FROM cardbox.{table} WHERE tenant_id = '{project}'")
        for table in ("session_lines", "session_append_keys", "cards"))


def test_all_of_it_goes():
    bring("one", b"{}\nno entry\n" + chain(4), project="gone")
    answer = server().post(url("one", "entries", project="gone"), {"entries": [entry("x", "e3")]},
                           {"Idempotency-Key": "k"})
    assert answer.status == 200, answer
    assert delete("one", project="gone") == {"session_id": "one", "deleted": True, "entries": 5}
    assert rows("gone") == 0
    for path in ("", "/tree", "/context", "/export", "/entries/e1"):
        assert server().get(url("one", project="gone") + path).status == 404, path
    assert delete("one", 404, project="gone")["detail"]["error_message"] == "session not found: one"
    assert server().request("DELETE", url("one", project="gone") + "?x=1").status == 422


def test_forks_stay():
    bring("stem")
    fork("stem", "branch", "e1")
    fork("branch", "twig")
    before = export("branch"), export("twig")
    assert delete("stem") == {"session_id": "stem", "deleted": True, "entries": 4}
    assert (export("branch"), export("twig")) == before
    assert delete("branch")["entries"] == 2 and export("twig") == before[1]
    assert delete("twig")["entries"] == 2
    assert leftovers("p") == 0


def test_its_id_again():
    bring("again", b'{"type":"session","id":"again","cwd":"/"}\n' + b'{"id":"l","type":"label","targetId":"l"}\n')
    assert delete("again")["entries"] == 1
    bring("again", chain(4, "something else"), 410)
    bring("again", b'{"step":1,"state":"new"}\n', 400, restore=True)
    bring("again", chain(4, "something else"), 410)
    bring("again", chain(4, "something else"), restore=True)
    assert export("again") == chain(4, "something else")
    session = server().get(url("again")).json()
    assert (session["dialect"], session["header"], session["version"]) == ("plain", None, 2), session


def refused(answer):
    """It would bring a deleted session back."""
    assert answer.status == 410, answer
    fault = answer.json()["detail"]
    assert "was deleted: use another id, or set restore where a session is created" in fault["error_message"], fault
    return fault


def test_nothing_brings_it_back_unasked():
    def append(**create):
        return server().post(url("late", "entries"), {"create": {"dialect": "plain", **create},
                                                      "entry": {"type": "user", "content": "late"}})
    def ability(name, **value):
        return server().post(f"/projects/p/abilities/session:{name}", {"session_id": "late", **value})
    assert append().status == 200 and delete("late")["entries"] == 1
    spoken = [{"type": "user", "content": "late"}]
    bring("other")
    for answer in (append(), append(restore=False), server().request("PUT", url("late"), b"{}", {"Content-Type": "application/json"}),
                   server().post(url("other", "fork"), {"session_id": "late"}),
                   server().request("POST", url("late", "import"), chain(1), NDJSON)):
        assert refused(answer)["error_code"] == "gone", answer
    for answer in (ability("create"), ability("append", entries=spoken, create={})):
        fault = refused(answer)
        assert (fault["error_code"], fault["reason"]) == ("error", "gone"), fault
    assert server().post(url("late", "entries"), {"entries": spoken}).status == 404
    assert server().get(url("late")).status == 404 and delete("late", 404)
    for restore in (lambda: append(restore=True), lambda: ability("create", restore=True),
                    lambda: ability("append", entries=spoken, create={"restore": True}),
                    lambda: server().request("PUT", url("late"), b'{"restore":true,"strict":true}', {"Content-Type": "application/json"})):
        assert restore().status == 200
        entries = server().get(url("late")).json()["entries"]
        assert entries <= 1, "what was deleted does not come back"
        assert append(restore=True).status == 200 and server().get(url("late")).json()["entries"] == entries + 1
        assert delete("late")["entries"] == entries + 1


def test_its_id_is_free_after_the_retention():
    bring("kept", project="kept")
    delete("kept", project="kept")
    cardbox("gc", "--dsn", dsn())
    bring("kept", status=410, project="kept")
    psql(as_role(dsn(), "postgres"), "UPDATE cardbox.sessions SET deleted_at = now() - interval '31 days' WHERE tenant_id = 'kept'")
    cardbox("gc", "--dsn", dsn())
    bring("kept", project="kept")
    assert export("kept", project="kept") == chain(4)


def test_a_large_one_goes_in_parts():
    """More entries than one part has: all go before it is answered, and the id is free."""
    many = 25000
    bring("large", chain(many), project="big")
    answer = server().post(url("large", "fork", project="big"), {"session_id": "few", "entry_id": "e9"})
    assert answer.status == 200, answer
    assert delete("large", project="big") == {"session_id": "large", "deleted": True, "entries": many}
    delete("large", 404, project="big")
    assert export("few", project="big") == chain(10)
    bring("large", chain(many), project="big", restore=True)
    assert server().post("/projects/big/abilities/session:delete", {"session_id": "large"}).json()["entries"] == many
    delete("few", project="big")
    assert rows("big") == 0


def part(session, most, project, continues="false"):
    """Deletes so much, as if whoever did had left then."""
    return psql(as_role(dsn(), "postgres"), "SELECT entries, more FROM"
                f" cardbox.delete_session('{project}', '{session}', {most}, {continues})").strip()


def test_new_session_is_not_deleted_with_the_old():
    """Between two parts of a deletion another one removes the rest, and the id is used again."""
    bring("reused", project="parts")
    assert part("reused", 2, "parts") == "2|t"
    delete("reused", project="parts")
    assert part("reused", 2, "parts", continues="true") == "|"
    bring("reused", project="parts", restore=True)
    assert part("reused", 2, "parts", continues="true") == "|"
    assert export("reused", project="parts") == chain(4)
    delete("reused", project="parts")


def test_nothing_is_read_of_what_is_left():
    lines = chain(6) + b"no entry\n" + json.dumps(entry("side", "e1")).encode() + b"\n" \
        + json.dumps({"id": "l", "parentId": None, "type": "label", "targetId": "e5", "label": "x"}).encode() + b"\n"
    bring("left", lines, project="parts")
    bring("whole", project="parts")
    assert part("left", 2, "parts") == "2|t"
    for path in ("", "/tree", "/leaves", "/branch-points", "/labels", "/entries/e5", "/entries/e5/path",
                 "/entries/e1/children", "/diff?a=e4&b=e5", "/context", "/export"):
        answer = server().get(url("left", project="parts") + path)
        assert answer.status == 404, (path, answer)
    assert [s["session_id"] for s in server().get("/projects/parts/sessions").json()["sessions"]] == ["whole"]
    moved = [json.loads(line) for line in server().get("/projects/parts/export").body.splitlines()]
    assert {row["session_id"] for row in moved if row["kind"].startswith("session")} == {"whole"}, moved
    assert server().post(url("left", "entries", project="parts"), {"entries": [entry("x", "e5")]}).status == 404
    for answer in (server().request("PUT", url("left", project="parts"), b"{}", {"Content-Type": "application/json"}),
                   server().post(url("whole", "fork", project="parts"), {"session_id": "left"}),
                   server().request("POST", url("left", "import", project="parts"), chain(4), NDJSON)):
        refused(answer)
    for answer in (server().request("PUT", url("left", project="parts"), b'{"restore":true}', {"Content-Type": "application/json"}),
                   server().request("POST", url("left", "import", project="parts") + "?restore=true", chain(4), NDJSON)):
        assert answer.status == 409 and "try again in a moment" in answer.json()["detail"]["error_message"], answer
    assert delete("left", project="parts") == {"session_id": "left", "deleted": True, "entries": 6}
    delete("left", 404, project="parts")
    bring("left", project="parts", restore=True)
    assert export("left", project="parts") == chain(4)


def test_the_collector_removes_what_is_left():
    def collect(*options):
        return {kind: counted["rows"] for kind, counted in json.loads(
            cardbox("gc", "--dsn", dsn(), "--json", "--batch", "3", *options).stdout).items() if kind != "dry_run"}

    collect()
    bring("swept", chain(9) + b"no entry\n", project="swept")
    answer = server().post(url("swept", "fork", project="swept"), {"session_id": "few", "entry_id": "e5"})
    assert answer.status == 200, answer
    assert part("swept", 2, "swept") == "2|t" and part("few", 1, "swept") == "1|t"
    expected = collect("--dry-run")
    assert (expected["entries"], expected["cards"]) == (12, 0), expected
    assert collect() == expected and sum(collect("--dry-run").values()) == 0
    assert rows("swept") == 0


def test_other_tenants_and_scopes():
    bring("mine")
    bring("mine", project="other")
    delete("mine")
    assert server().get(url("mine", project="other")).status == 200
    bring("mine", restore=True)
    delete("mine", 404, project="third")
    own = database()
    headers = {}
    for scope in ("read", "write"):
        made = cardbox("token", "create", "--dsn", own, "--name", scope, "--tenant", "p", "--scope", scope,
                       "--json")
        headers[scope] = {"Authorization": f"Bearer {json.loads(made.stdout)['token']}"}
    with_tokens = Server(own, auth=True)
    try:
        path = url("s")
        assert with_tokens.request("PUT", path, b"{}", {**headers["write"], "Content-Type":
                                                         "application/json"}).status == 200
        assert with_tokens.request("DELETE", path).status == 401
        assert with_tokens.request("DELETE", path, headers=headers["read"]).status == 403
        assert with_tokens.request("DELETE", path, headers=headers["write"]).status == 200
    finally:
        with_tokens.stop()


def test_a_worker_may_not():
    bring("held")
    said = psql(as_role(dsn(), "postgres"), "SELECT has_function_privilege('cardbox_worker',"
                " 'cardbox.delete_session(text, text, bigint, boolean)', 'EXECUTE'), has_function_privilege('cardbox_service',"
                " 'cardbox.delete_session(text, text, bigint, boolean)', 'EXECUTE')")
    assert said.strip() == "f|t", said


def test_while_others_write():
    """Appends, forks and imports of one family of sessions, and deletes of all of them."""
    names = [f"s{at}" for at in range(4)]
    faults = []

    def work(seed):
        rng = random.Random(seed)
        with server().client() as client:
            for number in range(15 if LIGHT else 60):
                name, other = rng.sample(names, 2)
                kind = rng.random()
                if kind < 0.3:
                    answer = client.request("DELETE", url(name, project="busy"))
                    allowed = (200, 404)
                elif kind < 0.6:
                    answer = client.request("POST", url(name, "fork", project="busy"),
                                            json.dumps({"session_id": other}).encode(),
                                            {"Content-Type": "application/json"})
                    allowed = (200, 404, 409, 410)
                elif kind < 0.8:
                    answer = client.request("POST", url(name, "import", project="busy") + "?restore=true", chain(6), NDJSON)
                    allowed = (200, 404, 409, 410, 503)  # 503: too many at once
                else:
                    answer = client.request("POST", url(name, "entries", project="busy"), json.dumps(
                        {"entries": [{"type": "user", "content": f"{seed} {number}"}]}).encode(),
                        {"Content-Type": "application/json"})
                    allowed = (200, 404, 409)
                if answer.status not in allowed:
                    faults.append((kind, answer))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults[:3]
    assert leftovers("busy") == 0
    for name in names:
        if server().get(url(name, project="busy")).status == 200:
            export(name, project="busy")
            delete(name, project="busy")
    assert rows("busy") == 0


def test_import_while_it_is_deleted():
    """It waits for the deletion, and brings nothing back."""
    bring("waits", chain(2))
    other = b"".join(json.dumps(entry(f"n{at}", None)).encode() + b"\n" for at in range(3))
    answers = []
    with connected(dsn(), "postgres") as deleter:
        assert deleter.run("BEGIN; SELECT 1 FROM cardbox.sessions WHERE session_id = 'waits' FOR UPDATE") == "1"
        importer = threading.Thread(target=lambda: answers.append(bring("waits", other, 410)))
        importer.start()
        await_locks(dsn())
        deleter.run("SELECT FROM cardbox.delete_session('p', 'waits', 10, false); COMMIT")
        importer.join()
    assert answers and answers[0]["detail"]["error_code"] == "gone", answers
    bring("waits", other, restore=True)
    assert export("waits") == other


if __name__ == "__main__":
    cardbox_test.main()
