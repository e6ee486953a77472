#!/usr/bin/env python3
"""GET /projects: the projects by pages, for whoever may see all of them."""

import os
import sys

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


def test_what_is_capped():
    load(filled(), *[{"kind": "card", "card_id": f"more-{n}", "content": n} for n in range(1000)], project=NAMES[0])
    assert (page()["projects"][0]["cards"], page()["projects"][0]["capped"]) == (1000, ["cards"])
    assert page()["projects"][1]["capped"] == []


def test_who_may():
    """A token of admin for all projects, and no other: not one of all of some project."""
    dsn = database()
    load(dsn, {"kind": "card", "card_id": "c", "content": 1}, project="a")
    every = "read,write,tasks,admin"
    secrets = {name: cardbox("token", "create", "--dsn", dsn, "--name", name, *options).stdout.strip()
               for name, options in (("all", ("--all-tenants", "--scope", "admin")),
                                     ("one", ("--tenant", "a", "--scope", every)),
                                     ("reader", ("--all-tenants", "--scope", "read,write,tasks")))}
    guarded = Server(dsn, auth=True)

    def ask(name):
        return guarded.get("/projects", {"Authorization": f"Bearer {secrets[name]}"})
    await_(lambda: ask("all").status == 200)
    assert [one["project_id"] for one in ask("all").json()["projects"]] == ["a"]
    for name in "one", "reader":
        assert ask(name).status == 403, ask(name)
    assert guarded.get("/projects").status == 401
    guarded.stop()


if __name__ == "__main__":
    cardbox_test.main()
