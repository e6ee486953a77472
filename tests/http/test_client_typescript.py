#!/usr/bin/env python3
"""The client in TypeScript (openapi/clients/typescript) with the real server, which is also killed in the middle of turns.

The cases of tests/clients/areas.ts and messages.ts are cases of this test. The compiler checks their types against the client's.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import client_test
import npm
from cardbox_test import Skip, once, server

TYPESCRIPT_7 = "typescript@7.0.2"
FILES = os.path.join(cardbox_test.ROOT, "tests", "clients")


@once
def programs():
    return client_test.compile_programs(*(os.path.join(FILES, name) for name in ("areas.ts", "messages.ts", "turns.ts", "rejected.ts")))


def test_no_dependencies():
    assert "dependencies" not in client_test.manifest()
    assert all(re.fullmatch(r"[\d.]+", version) for version in client_test.manifest()["devDependencies"].values())


def test_mistakes_do_not_compile():
    """The programs compile, although each marked line of rejected.ts is an error."""
    with open(os.path.join(FILES, "rejected.ts"), encoding="utf-8") as text:
        assert text.read().count("// @ts-expect-error") == 8
    programs()


def test_typescript_7():
    """A project with TypeScript 7 can use the client, whose own package is compiled by TypeScript 5."""
    try:
        modules = npm.install(os.path.join(cardbox_test.ROOT, "build", "typescript-7"), TYPESCRIPT_7)
    except AssertionError as error:
        raise Skip(f"no packages of npm: {error}") from None
    done = client_test.run_node(os.path.join(modules, "typescript", "bin", "tsc"), "-p", programs(), "--noEmit", "--skipLibCheck", "false")
    assert done.returncode == 0, done.stdout + done.stderr


class LossOfWrites(client_test.Proxy):
    """Loses the answer to each write once: the client's repetition of the same request gets its answer."""

    def on_request(self, line):
        previous = self.requests[-1] if self.requests else ""
        self.lose = 1 if line != previous and not line.startswith("GET") and not line.endswith("active") else 0


def run_cases(program, count):
    """Runs a program of the node's test runner; returns its reports: (not, name, why)."""
    proxy = LossOfWrites(server().port)
    done = client_test.run_node("--require", os.path.join(FILES, "node_18.cjs"), "--test-reporter=tap", os.path.join(programs(), program),
                                env={**os.environ, "CARDBOX_URL": f"http://127.0.0.1:{server().port}", "CARDBOX_PROXY": proxy.url})
    reports = re.findall(r"(?m)^(not )?ok \d+ - (.*)\n((?:^  .*\n)*)", done.stdout)
    assert len(reports) == count, done.stdout + done.stderr

    def check(failed, why):
        assert not failed, why
    for failed, name, why in reports:
        yield name, lambda failed=failed, why=why: check(failed, why)


def test_areas():
    yield from run_cases("areas.js", 9)


def test_messages():
    yield from run_cases("messages.js", 9)


def test_types_of_vendors():
    """Messages of the official packages go in and come out without a cast, also in the guide's loops."""
    client_test.compile_programs(*(os.path.join(FILES, name) for name in ("vendors.ts", "loops.ts")), *client_test.loops_of_guide())


def test_killed_server_in_the_middle_of_turns():
    names, turns = [f"typescript-{number}" for number in range(8)], 60
    compiled = programs()
    killed_server = client_test.KilledServer()
    done = client_test.run_node(os.path.join(compiled, "turns.js"), *names, env={**os.environ, "CARDBOX_URL": killed_server.url, "TURNS": str(turns)})
    killed_server.stop()
    assert done.returncode == 0, done.stderr
    assert killed_server.kills >= 2, "the server was not killed in the middle"
    client_test.check_turns(killed_server.port, names, turns)
    shared = [entry["content"] for entry in client_test.entries_of(killed_server.port, "shared")]
    for name in names:
        assert [one for one in shared if one.startswith(name + " ")] == [f"{name} {n}" for n in range(turns)]


if __name__ == "__main__":
    cardbox_test.main(globals())
