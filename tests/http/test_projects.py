#!/usr/bin/env python3
"""GET /projects: the projects by pages: all, or those of a token."""

import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Server, await_, cardbox, database, load, once

NAMES = [f"p-{n}" for n in range(7)] + ["é/\"x\""]


@once
def filled():
    dsn = database()
    for place, name in enumerate(NAMES):
        load(dsn, *[{"kind": "card", "card_id": f"c{n}", "content": n} for n in range(place + 1)], project=name)
    return dsn


@once
def server():
    return Server(filled())


def page(query=""):
    answer = server().get("/projects" + query)
    assert answer.status == 200, answer
    return answer.json()


def test_pages():
    expected = [{"project_id": name, "cards": place + 1, "boxes": 0, "sessions": 0, "tasks": 0, "capped": []}
                for place, name in enumerate(NAMES)]
    assert page() == {"projects": expected, "next_cursor": None}, page()
    for limit in (1, 3, 7):
        found, cursor = [], ""
        while cursor is not None:
            part = page(f"?limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
            assert 0 < len(part["projects"]) <= limit
            found, cursor = found + part["projects"], part["next_cursor"]
        assert found == expected, (limit, found)
    for bad in ("cursor=x", "cursor=0.6", "limit=x"):
        assert server().get(f"/projects?{bad}").status == 422, bad


def test_one_project():
    """Its counts, also of one that has nothing yet."""
    for place, name in enumerate(NAMES):
        answer = server().get("/projects/" + urllib.parse.quote(name, safe=""))
        assert (answer.status, answer.json()) == (200, {"project_id": name, "cards": place + 1, "boxes": 0, "sessions": 0,
                                                        "tasks": 0, "capped": []}), answer
    assert server().get("/projects/nothing").json()["cards"] == 0
    assert server().get("/projects/p-1?limit=1").status == 422
    assert server().request("DELETE", "/projects/p-1").status == 405


def test_what_is_capped():
    load(filled(), *[{"kind": "card", "card_id": f"more-{n}", "content": n} for n in range(1000)], project=NAMES[0])
    assert (page()["projects"][0]["cards"], page()["projects"][0]["capped"]) == (1000, ["cards"])
    assert page()["projects"][1]["capped"] == []


def test_who_may():
    """All projects need a token for all with the scope admin, the projects of a token the scope read."""
    dsn = database()
    for project in "a", "b", "d":
        load(dsn, {"kind": "card", "card_id": "c", "content": 1}, project=project)
    secrets = {name: cardbox("token", "create", "--dsn", dsn, "--name", name, *options).stdout.strip()
               for name, options in (("all", ("--all-tenants", "--scope", "admin")),
                                     ("some", ("--tenant", "d", "--tenant", "c", "--tenant", "a")),
                                     ("writer", ("--tenant", "a", "--scope", "write,tasks,admin")),
                                     ("reader", ("--all-tenants", "--scope", "read,write,tasks")))}
    guarded = Server(dsn, auth=True)

    def ask(name, query=""):
        return guarded.get("/projects" + query, {"Authorization": f"Bearer {secrets[name]}"})

    def listed(name, query=""):
        answer = ask(name, query).json()
        return [(one["project_id"], one["cards"]) for one in answer["projects"]], answer["next_cursor"]
    await_(lambda: ask("all").status == 200)
    assert listed("all") == ([("a", 1), ("b", 1), ("d", 1)], None)
    assert listed("some") == ([("a", 1), ("c", 0), ("d", 1)], None), listed("some")
    first, cursor = listed("some", "?limit=2")
    assert (first, listed("some", "?cursor=" + cursor)) == ([("a", 1), ("c", 0)], ([("d", 1)], None))
    beyond = listed("all", "?limit=1")[1]
    assert listed("some", "?cursor=" + beyond)[0] == [("c", 0), ("d", 1)], "a cursor of another token is a place"
    for name in "writer", "reader":
        assert ask(name).status == 403, ask(name)
    one = {(name, project): ask(name, "/" + project).status for name in ("some", "reader", "writer") for project in ("a", "b")}
    assert one == {("some", "a"): 200, ("some", "b"): 403, ("reader", "a"): 200, ("reader", "b"): 200, ("writer", "a"): 403,
                   ("writer", "b"): 403}, one
    assert guarded.get("/projects").status == 401
    guarded.stop()


if __name__ == "__main__":
    cardbox_test.main()
