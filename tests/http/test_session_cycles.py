#!/usr/bin/env python3
"""Entries of a file whose parents lead back to them: one link of each cycle is not made, and its entry is a root
that is reported. No line leaves the tree or the export."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import server
from cardbox_test import session_url as url

NDJSON = {"Content-Type": "application/x-ndjson"}


def line(identifier, parent, **more):
    return json.dumps({"id": identifier, "parentId": parent, "timestamp": "2025-01-02T03:04:05Z", "type": "user",
                       "content": "hello", **more}).encode() + b"\n"


def ok(answer):
    assert answer.status == 200, answer
    return answer.json()


def bring(session, data):
    return ok(server().request("POST", url(session, "import"), data, NDJSON))


def parents(session):
    return {one["entry_id"]: one["parent_id"] for one in ok(server().get(url(session, "tree")))["entries"]}


def issues(report, kind):
    return [(one["line"], one["id"]) for one in report["issues"] if one["kind"] == kind]


def check(session, data, roots, tree):
    report = bring(session, data)
    assert (report["cycles"], report["entries"], report["kept"]) == (len(roots), len(tree), 0), report
    assert issues(report, "cycle") == roots and report["dangling_parents"] == 0, report
    assert parents(session) == tree
    assert server().get(url(session, "export")).body == data
    again = bring(session, data)
    assert not again["changed"] and issues(again, "cycle") == roots, again


def test_a_cycle_of_two():
    check("two", line("a", "b") + line("b", "a"), [(1, "a")], {"a": None, "b": "a"})


def test_an_entry_that_is_its_own_parent():
    check("own", line("a", None) + line("b", "b") + line("c", "b"), [(2, "b")], {"a": None, "b": None, "c": "b"})


def test_the_last_link_to_a_later_line_is_not_made():
    """The others are made in the order of the lines."""
    check("several", line("a", "c") + line("b", "d") + line("c", "b") + line("d", "a") + line("e", "d"), [(2, "b")],
          {"a": "c", "b": None, "c": "b", "d": "a", "e": "d"})


def test_what_is_below_a_cycle_has_contexts():
    bring("context", line("a", "b", content="first") + line("b", "a", content="second") + line("c", "b", content="third"))
    answer = ok(server().get(url("context", "context") + "?leaf=c"))
    assert [one["content"] for one in answer["messages"]] == ["first", "second", "third"], answer
    assert [one["missing_parent"] for one in ok(server().get(url("context", "tree")))["entries"]
            if "missing_parent" in one] == ["b"]


def test_a_late_parent_in_a_second_file():
    """A longer version of the file brings the parent, which closes a cycle."""
    begin = line("a", "c") + line("b", "a")
    report = bring("late", begin)
    assert (report["dangling_parents"], report["cycles"]) == (1, 0), report
    check("late", begin + line("c", "b"), [(1, "a")], {"a": None, "b": "a", "c": "b"})


def test_forks_and_copies():
    data = line("a", "b") + line("b", "a") + line("c", "a")
    bring("stem", data)
    ok(server().post(url("stem", "fork"), {"session_id": "fork", "entry_id": "b"}))
    assert parents("fork") == {"a": None, "b": "a"}
    assert not bring("fork", server().get(url("fork", "export")).body)["changed"]


if __name__ == "__main__":
    cardbox_test.main()
