#!/usr/bin/env python3
"""Sessions of a project import: nobody sees one before it is whole; an import that broke off is repeated, or
its session deleted."""

import json
import os
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import as_role, await_, await_locks, cardbox, connected, dsn, json_lines, once, psql, server, url

NDJSON = {"Content-Type": "application/x-ndjson"}
JSON = {"Content-Type": "application/json"}
ENTRIES = 1300  # more than the importer sends at once


def of(project, session="long", *rest):
    return url(project, "sessions", session, *rest)


@once
def exported():
    """The lines of a project with one session, that has a header, a name and a head that was moved."""
    lines = [{"type": "session", "version": 3, "id": "file", "timestamp": "2025-01-02T03:04:05Z", "cwd": "/"}]
    lines += [{"type": "custom", "id": f"e{n}", "parentId": f"e{n - 1}" if n else None, "timestamp": "t"}
              for n in range(ENTRIES)]
    lines.append({"type": "session_info", "id": "name", "parentId": f"e{ENTRIES - 1}", "timestamp": "t", "name": "its name"})
    answer = server().request("POST", of("source", "long", "import"), json_lines(*lines), NDJSON)
    assert answer.status == 200, answer
    answer = server().request("PUT", of("source", "long", "head"), b'{"entry_id": "e7"}', JSON)
    assert answer.status == 200, answer
    answer = server().get(url("source", "export"))
    assert answer.status == 200 and answer.body.count(b"\n") == ENTRIES + 3, answer
    return answer.body.splitlines(keepends=True)


def show(project):
    answer = server().get(of(project))
    return {name: value for name, value in answer.json().items() if name not in ("project_id", "tenant_id")}


class Import:
    """One whose lines come in two parts."""

    def __init__(self, project, lines):
        self.lines, self.go_on, self.breaks_off, self.answer = lines, threading.Event(), False, None
        self.thread = threading.Thread(target=self._run, args=(project,))
        self.thread.start()
        entries = f"SELECT count(*) FROM cardbox.session_lines WHERE tenant_id = '{project}'"
        await_(lambda: int(psql(as_role(dsn(), "postgres"), entries)) >= 500)

    def _parts(self):
        yield b"".join(self.lines[:-1])
        self.go_on.wait()
        if self.breaks_off:
            raise InterruptedError
        yield self.lines[-1]

    def _run(self, project):
        try:
            with server().client() as client:
                client.connection.request("POST", url(project, "import"), self._parts(), NDJSON, encode_chunked=True)
                reply = client.connection.getresponse()
                self.answer = reply.status, json.loads(reply.read().splitlines()[-1])
        except InterruptedError:
            pass

    def end(self, breaks_off=False):
        self.breaks_off = breaks_off
        self.go_on.set()
        self.thread.join()
        return self.answer


def bring(project, lines=None):
    answer = server().request("POST", url(project, "import"), b"".join(lines or exported()), NDJSON)
    assert answer.status == 200, answer
    return json.loads(answer.body.splitlines()[-1])


def broken_off(project):
    running = Import(project, exported())
    running.end(breaks_off=True)
    await_(lambda: psql(as_role(dsn(), "postgres"), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        " AND application_name = 'cardboxd transfer'").strip() == "0")


def check_whole(project):
    assert show(project) == show("source") and show(project)["head_entry_id"] == "e7", show(project)
    for what in ("export", "context", "tree"):
        moved, source = (re.sub(rb'"appended_at":"[^"]*"', b"", server().get(of(name, "long", what)).body) for name in (project, "source"))
        assert moved.replace(project.encode(), b"source") == source, what


def check_invisible(project):
    for what in ((), ("export",), ("tree",), ("leaves",), ("context",), ("entries", "e1"), ("entries", "e1", "path")):
        answer = server().get(of(project, "long", *what))
        assert answer.status == 404, (what, answer)
    assert server().get(url(project, "sessions")).json()["sessions"] == []
    entry = {"type": "custom", "id": "new", "parentId": None, "timestamp": "t"}
    for path, value in ((of(project, "long", "entries"), {"entries": [entry]}),
                        (of(project, "long", "fork"), {"session_id": "fork"})):
        answer = server().post(path, value)
        assert answer.status == 404, answer
    for method, path, body in (("PUT", of(project), b"{}"), ("POST", of(project, "long", "import"), json_lines(entry))):
        answer = server().request(method, path, body, JSON if method == "PUT" else NDJSON)
        assert answer.status == 409 and "is being restored" in answer.json()["detail"]["error_message"], answer
    assert b'"kind":"session' not in server().get(url(project, "export")).body


def test_nobody_sees_it_before_it_is_whole():
    running = Import("unseen", exported())
    check_invisible("unseen")
    status, report = running.end()
    assert status == 200 and report["sessions"]["inserted"] == 1 and report["sessions"]["refused"] == 0, report
    check_whole("unseen")
    assert bring("unseen")["sessions"]["unchanged"] == 1


def test_an_import_that_broke_off_is_repeated():
    broken_off("repeated")
    check_invisible("repeated")
    cardbox("gc", "--dsn", dsn(), "--json")
    report = bring("repeated")
    assert report["sessions"]["inserted"] == 1 and report["session_entries"]["refused"] == 0, report
    assert report["session_entries"]["unchanged"] >= 500, report
    check_whole("repeated")


def test_what_an_import_left_is_deleted():
    broken_off("left")
    assert server().request("DELETE", of("left")).status == 200
    assert server().request("DELETE", of("left")).status == 404
    assert server().request("PUT", of("left"), b"{}", JSON).status == 200
    assert server().get(of("left")).json()["entries"] == 0


def test_a_session_and_its_restoration_exclude_each_other():
    """Whoever comes first, the other waits for it, and then finds it."""
    answers = []
    with connected(dsn(), "postgres") as creator:
        creator.run("BEGIN; SELECT FROM cardbox.create_session('met', 'long', 'pi', NULL, NULL, false)")
        importer = threading.Thread(target=lambda: answers.append(bring("met")))
        importer.start()
        await_locks(dsn())
        creator.run("COMMIT")
        importer.join()
    assert answers[0]["sessions"]["repaired"] == 1, answers
    assert server().get(of("met")).json()["version"] == show("source")["version"]


def test_a_session_without_its_head_stays_unseen():
    lines = [line for line in exported() if b'"e7"' not in line.split(b'"parent')[0] or b'"kind":"session"' in line]
    report = bring("headless", lines)
    assert report["sessions"]["refused"] == 1, report
    check_invisible("headless")
    bring("headless", [line for line in exported() if b'"kind":"session_entry"' not in line][:1])
    assert server().request("DELETE", of("headless")).status == 200


if __name__ == "__main__":
    cardbox_test.main()
