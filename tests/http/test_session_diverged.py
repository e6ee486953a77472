#!/usr/bin/env python3
"""Sessions and files that have gone different ways: nothing of either is lost, lines stay lines, an entry
that was taken stays; and cards that stand where an entry's belongs."""

import json
import os
import random
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Server, await_locks, connected, database, dsn, json_lines, psql, server

NDJSON = {"Content-Type": "application/x-ndjson"}
JSON = {"Content-Type": "application/json"}


def url(session, what=""):
    return f"/projects/p/sessions/{session}{what}"


def bring(session, data, status=200):
    answer = server().request("POST", url(session, "/import"), data, NDJSON, timeout=120)
    assert answer.status == status, answer
    report = answer.json()
    counts = [report[name] for name in ("appended", "unchanged", "kept", "not_kept")] if status == 200 else []
    assert status != 200 or sum(counts) == report["lines"], report
    return report


def take(session):
    answer = server().get(url(session, "/export"), timeout=120)
    assert answer.status == 200, answer
    return answer.body


def append(session, *entries):
    return server().request("POST", url(session, "/entries"), json.dumps({"entries": entries}), JSON)


def user(identifier, parent):
    return {"type": "user", "id": identifier, "parentId": parent, "timestamp": "t", "content": identifier}


def tree_of(session):
    return {e["entry_id"]: e["parent_id"] for e in server().get(url(session, "/tree")).json()["entries"]}


def ids(data):
    return {json.loads(line)["id"] for line in data.split(b"\n") if line.startswith(b'{"type": "user", "id"')
            and line.endswith(b"}")}


# --- lines without an end ---


def test_a_torn_line_stays_a_line():
    first = json_lines(user("a", None))
    torn = b'{"type":"user","id":"b","pare'
    bring("torn", first + torn)
    report = bring("torn", first + json_lines(user("c", "a")))
    assert report["appended"] == 1, report
    assert take("torn") == first + torn + b"\n" + json_lines(user("c", "a"))
    bring("torn-again", take("torn"))
    assert tree_of("torn-again") == {"a": None, "c": "a"}


def test_a_whole_line_without_an_end():
    first = json_lines(user("a", None))
    bring("whole", first + json_lines(user("b", "a"))[:-1])
    bring("whole", first + json_lines(user("c", "a")) + json_lines(user("d", "c"))[:-1])
    assert take("whole") == first + json_lines(user("b", "a"), user("c", "a"), user("d", "c"))[:-1]
    append("whole", user("e", "d"))
    assert take("whole") == first + json_lines(user("b", "a"), user("c", "a"), user("d", "c"), user("e", "d"))


def test_files_that_diverge():
    """Any three of one beginning: every entry of each is in the export, and in what is made of that."""
    for seed in range(40):
        dice = random.Random(seed)
        begin = [json.dumps(user(f"s{i}", f"s{i - 1}" if i else None)) if dice.random() < .7 else ""
                 for i in range(dice.randint(0, 5))]
        files = []
        for name in "abz":
            more = [dice.choice([json.dumps(user(f"{name}{i}", dice.choice(["s0", f"{name}{i - 1}"])))] * 4
                                + ["", "junk" + name]) for i in range(dice.randint(0, 4))]
            text = "\n".join(begin + more)
            files.append((text + ("\n" if text and dice.random() < .5 else "")).encode())
        session = f"any-{seed}"
        for data in files:
            bring(session, data)
        want = set().union(*map(ids, files))
        out = take(session)
        assert want <= ids(out), (seed, files, out)
        bring(session + "-again", out)
        assert tree_of(session) == tree_of(session + "-again"), (seed, files, out)
        assert not bring(session, out)["changed"], (seed, files, out)


# --- parents ---


def test_an_append_links_no_old_roots():
    """The next import of a file does."""
    bring("waits", json_lines(user("q", "w"), user("r", "q")))
    assert append("waits", user("w", None)).status == 200
    assert tree_of("waits") == {"q": None, "r": "q", "w": None}
    report = bring("waits", take("waits"))
    assert report["changed"] and report["version"] == server().get(url("waits")).json()["version"], report
    assert tree_of("waits") == {"q": "w", "r": "q", "w": None}
    assert not bring("waits", take("waits"))["changed"]
    assert append("waits", {"type": "user", "content": "x"}).status == 200


def test_lines_without_ids_follow_their_own():
    """Version 1: a line goes on from the one before it in the file, not from what came between."""
    def file(count):
        return (b'{"type":"session","id":"v1","timestamp":"2025-01-01T00:00:00Z","cwd":"/x"}\n'
                + b"".join(b'{"type":"message","timestamp":"t","message":{"role":"user","content":"m%d"}}\n'
                           % i for i in range(count)))
    bring("v1", file(4))
    assert append("v1", {"type": "message", "id": "X", "message": {"role": "user", "content": "X"}}).status == 200
    bring("v1", file(6))
    bring("v1", file(7))
    context = server().get(url("v1", "/context")).json()["messages"]
    assert [m["content"] for m in context] == [f"m{i}" for i in range(7)], context


def test_the_parent_is_the_importers_in_every_batch():
    """The file's 4,001st line has no id and goes on from the line before, which came here by an append. Its batch is a
    new one, and begins where the session ends: but what ends the session is another line."""
    start = {"type": "custom", "id": "a", "parentId": None}
    other = {"type": "custom", "id": "x", "parentId": "a"}
    between = [{"type": "custom", "id": f"b{n}", "parentId": "a"} for n in range(3997)]
    header = {"type": "session", "version": 3, "id": "batches", "timestamp": "2025-01-01T00:00:00Z", "cwd": "/"}
    bring("batches", json_lines(header, start))
    assert append("batches", other).status == 200
    report = bring("batches", json_lines(header, start, *between, other, {"type": "custom", "data": "no id"}))
    assert report["appended"] == len(between) + 1, report
    head = server().get(url("batches")).json()["head_entry_id"]
    assert server().get(url("batches", f"/entries/{head}")).json()["parent_id"] == "x"


def test_a_report_reads_the_version():
    """An append comes between the last lines of an import and the linking of parents that came later."""
    bring("between", json_lines(user("a", None)))
    report, appended = [], []
    importer = threading.Thread(target=lambda: report.append(
        bring("between", json_lines(user("a", None), user("child", "parent"), user("parent", "a")))))
    writer = threading.Thread(target=lambda: appended.append(append("between", user("z", "a"))))
    with connected(dsn(), "postgres") as holder:
        holder.run("BEGIN; SELECT FROM cardbox.sessions WHERE session_id = 'between' FOR UPDATE")
        importer.start()
        await_locks(dsn())
        writer.start()
        await_locks(dsn(), 2)
        holder.run("COMMIT")
        importer.join()
        writer.join()
    assert appended[0].status == 200, appended
    version = server().get(url("between")).json()["version"]
    assert tree_of("between")["child"] == "parent"
    if appended[0].json()["version"] < version:  # as it was meant to be
        assert report[0]["version"] == version, (report, appended, version)
    else:
        print("the append came after the import")


def test_a_replay_answers_in_the_order_of_the_lines():
    """However PostgreSQL joins them."""
    own = database()
    for join in "nestloop", "hashjoin":
        psql(own, f"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET enable_{join} = off', current_database()); END $$")
    other = Server(own)
    try:
        assert other.request("PUT", url("order"), b"{}", JSON).status == 200
        entries = [user(f"e{n:03}", None) for n in reversed(range(100))]
        answers = [other.request("POST", url("order", "/entries"), json.dumps({"entries": entries}),
                              {**JSON, "Idempotency-Key": "k"}).json() for _ in range(2)]
        first, again = ([(e["entry_id"], e["line"]) for e in answer["entries"]] for answer in answers)
        assert first == again and len(first) == 100, (first[:3], again[:3])
    finally:
        other.stop()


# --- reports ---


def test_the_same_report_again():
    data = (json_lines(user("a", None), user("a", None), user("a", "a"), user("o", "o"), user("p", "q"), user("q", "p"))
            + b"bad\n")
    first = bring("again", data)
    again = bring("again", data)
    names = ("duplicates", "conflicts", "cycles", "bad", "entries", "dangling_parents")
    assert [first[name] for name in names] == [again[name] for name in names] == [1, 1, 2, 1, 4, 0], (first, again)
    assert not again["changed"] and take("again") == data, again


def test_what_became_of_the_lines():
    """Each is in one count, and the second time all are there already."""
    for name, data, kept in (("sum-cycle", json_lines(user("a", "b"), user("b", "a")), 0),
                             ("sum-self", json_lines(user("a", "a"), user("b", "a")), 0),
                             ("sum-twice", json_lines(user("a", None), user("a", None)), 1),
                             ("sum-other", json_lines(user("a", None), {**user("a", None), "content": "y"}), 1),
                             ("sum-end", json_lines(user("a", None), user("a", None))[:-1], 1),
                             ("sum-junk", json_lines(user("a", None)) + b"junk\n\n", 2)):
        first = bring(name, data)
        assert (first["kept"], first["not_kept"], first["appended"]) == (kept, 0, first["entries"]), (name, first)
        more = [bring(name, data), bring(name, data)]
        assert all(one["unchanged"] == one["lines"] and not one["changed"] for one in more), (name, more)
        longer = bring(name, data + b"\n" * (not data.endswith(b"\n")) + json_lines(user("n", None), user("n", None)))
        assert (longer["appended"], longer["kept"]) == (1, 1), (name, longer)
    assert append("sum-other", user("x", None)).status == 200
    away = bring("sum-other", json_lines(user("q", None), {**user("a", None), "content": "z"}))
    assert (away["appended"], away["not_kept"], away["conflicts"]) == (1, 1, 1), away
    assert b'"z"' not in take("sum-other")


def issues(report):
    return [(one["line"], one["kind"], one.get("id")) for one in report["issues"]]


def test_a_cycle_is_reported_with_its_line():
    """Its link is not made: the entry stays a root."""
    first, second = json_lines(user("a", "b")), b"bad\n\n" + json_lines(user("b", "a"), user("c", "b"))
    assert issues(bring("closed", first)) == [(1, "dangling", "a")]
    for session in ("closed", "closed", "closed", "closed-at-once"):
        report = bring(session, first + second)
        assert (report["cycles"], issues(report)) == (1, [(1, "cycle", "a"), (2, "bad", None)]), (session, report)
        assert tree_of(session) == {"a": None, "b": "a", "c": "b"}
    bring("elsewhere", first)
    assert append("elsewhere", user("x", None)).status == 200
    report = bring("elsewhere", first + second)
    want = [(2, "not_kept", None), (2, "bad", None), (3, "not_kept", None), (1, "cycle", "a")]
    assert sorted(issues(report), key=str) == sorted(want, key=str), report
    bring("others", json_lines(user("a", "b"), user("b", "c"), user("d", "b")))
    report = bring("others", json_lines(user("c", "a")))
    assert issues(report) == [] and report["cycles"] == 1, report
    assert tree_of("others") == {"a": "b", "b": None, "c": "a", "d": "b"}


def test_what_comes_before_a_line_without_an_id():
    """The entry of the line before, also behind the border of a batch, of a file that differs from there on."""
    chain = json_lines(*(user(f"e{at}", f"e{at - 1}" if at else None) for at in range(4000)))
    bring("border", chain + json_lines(user("z", None)))
    report = bring("border", chain + b'{"type":"user","content":"x"}\n')
    assert (report["appended"], report["max_depth"]) == (1, 4000), report


def test_a_header_that_comes_late():
    """Of a file that was empty or torn: it is kept, unless somebody has appended meanwhile."""
    header = json_lines({"type": "session", "version": 3, "id": "late", "timestamp": "2025-01-02T03:04:05Z", "cwd": "/x"})
    entry = {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "a"}}
    for name, first in (("late", b""), ("late-torn", header[:40])):
        bring(name, first)
        report = bring(name, header + json_lines(entry))
        assert (report["kept"], report["appended"]) == (1, 1), report
        assert server().get(url(name)).json()["header"]["id"] == "late"
        assert take(name) == header + json_lines(entry)
    bring("too-late", b"")
    assert append("too-late", {**entry, "id": "n"}).status == 200
    report = bring("too-late", header + json_lines(entry))
    assert (report["not_kept"], report["appended"]) == (1, 1) and issues(report) == [(1, "not_kept", None)], report


def test_an_empty_file_makes_a_session():
    assert bring("empty", b"")["changed"]
    assert not bring("empty", b"")["changed"]


def test_a_fork_keeps_where_it_worked():
    cwd = "/" + "w" * 300
    header = {"type": "session", "version": 3, "id": "home", "timestamp": "2025-01-02T03:04:05Z", "cwd": cwd}
    bring("home", json_lines(header, user("a", None)))
    answer = server().request("POST", url("home", "/fork"), json.dumps({"session_id": "away"}), JSON)
    assert answer.status in (200, 201), answer
    first = take("away").split(b"\n")[0]
    assert json.loads(first)["cwd"] == cwd and len(first) < 512, first


# --- many writers ---


def test_many_writers_without_a_parent():
    bring("many", json_lines(user("a", None)))
    answers = []

    def write():
        answers.extend(append("many", {"type": "user", "content": "x"}).status for _ in range(6))
    threads = [threading.Thread(target=write) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 96, answers
    assert server().get(url("many")).json()["entries"] == 97


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()
