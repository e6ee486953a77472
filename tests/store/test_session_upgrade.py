#!/usr/bin/env python3
"""Sessions that an earlier release imported: ids of lines without one were made of the session's name then,
and stay so. Their files go out and come in as before, and what was appended comes with them."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, cardbox


@cardbox_test.once
def database():
    return Postgres.shared().database()


def session(*words, stdin=None):
    env = {"CARDBOX_DSN": database(), "CARDBOX_PROJECT": "p"}
    return cardbox("session", *words, env=env, stdin=stdin, check=False).stdout


def lines(count, header="file"):
    text = json.dumps({"type": "session", "id": header}) + "\n"
    for n in range(count):
        text += json.dumps({"type": "custom", "n": n}) + "\n"
    return text


def load(name, text):
    return json.loads(session("import", "--session", name, "--json", stdin=text))


def tree(name):
    rows = [json.loads(line) for line in session("tree", "--json", name).splitlines()]
    return [(row["entry_id"], row["parent_id"]) for row in rows]


def old(name, count, grown=0):
    """A session as it was imported then, with a label before it grew. A file whose header has its name has
    such ids still."""
    for session_id, header in ((name + "-ids", name), (name, "file")):
        load(session_id, lines(count, header))
        if grown:
            session("label", session_id, tree(session_id)[1][0], "mark")
            load(session_id, lines(grown, header))
    Postgres.shared().psql(
        database(),
        "UPDATE cardbox.session_entries e SET entry_id = o.entry_id FROM cardbox.session_entries o"
        f" WHERE e.session_id = '{name}' AND o.session_id = '{name}-ids' AND o.seq = e.seq"
        " AND e.target IS NULL")


def test_its_file_is_there_already():
    old("same", 4)
    report = load("same", lines(4))
    assert not report["changed"] and report["unchanged"] == 5, report
    assert session("export", "same") == lines(4)


def test_a_longer_file_goes_on_behind_what_was_appended():
    old("grown", 4, grown=6)
    for count, appended in ((6, 0), (8, 2), (8, 0)):
        report = load("grown", lines(count))
        assert report["appended"] == appended and report["roots"] == 1, report
    assert report["entries"] == 9 and not report["changed"], report


def test_its_export_is_the_same_tree_elsewhere():
    old("named", 4)
    session("label", "named", tree("named")[1][0], "mark")
    load("named", lines(8))
    load("copy", session("export", "named"))
    assert tree("copy") == tree("named")
    assert "mark" in session("labels", "copy")
    load("branch", session("export", "--entry", tree("named")[3][0], "named"))
    assert tree("branch") == tree("named")[:4]


if __name__ == "__main__":
    cardbox_test.main()
