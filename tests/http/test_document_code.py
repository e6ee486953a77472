#!/usr/bin/env python3
"""The example code of the ledger's and the sessions' document, in TypeScript (tests/documents/), over the HTTP API.

tests/documents/shim.ts maps the calls of the documents to requests. Each test of the TypeScript files is one case.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import npm
from cardbox_test import Skip, once, server

FOLDER = os.path.join(cardbox_test.ROOT, "tests", "documents")
TOOLS = os.path.join(cardbox_test.ROOT, "build", "typescript")
COMPILER, TYPES, NODE = "typescript@5.9.3", "@types/node@20.19.8", "node@20"
SHIM_LINES = 60


def packages(*arguments, **options):
    """The node_modules with these packages of npm."""
    try:
        return npm.install(*arguments, **options)
    except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
        raise Skip(f"no packages of npm: {error}") from None


def system_node():
    """The major version of the system's node; 0 if there is none."""
    try:
        return int(subprocess.run(["node", "--version"], capture_output=True, text=True).stdout[1:].split(".")[0])
    except FileNotFoundError:
        return 0


@once
def node():
    """A node of version 20 or later: the system's, or npm's."""
    if system_node() >= 20:
        return "node"
    return os.path.join(packages(os.path.join(TOOLS, "node"), NODE, scripts=True), "node", "bin", "node")


@once
def compiled():
    """The folder of the compiled tests. The compiler checks their types first."""
    modules = packages(TOOLS, COMPILER, TYPES)
    folder = cardbox_test.temp_dir()
    done = subprocess.run([node(), os.path.join(modules, "typescript", "lib", "tsc.js"), "-p", FOLDER, "--outDir", folder],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return folder


def cases(name):
    """The tests of a file as (name, function) pairs."""
    done = subprocess.run([node(), "--test-reporter=tap", os.path.join(compiled(), f"{name}.js")], capture_output=True, text=True,
                          env={**os.environ, "CARDBOX_URL": f"http://127.0.0.1:{server().port}"}, timeout=cardbox_test.WAIT_S)
    # A report is a line `ok N - NAME`, or `not ok N - NAME` with indented lines that tell why.
    reports = re.findall(r"(?m)^(not )?ok \d+ - (.*)\n((?:^  .*\n)*)", done.stdout)
    planned = re.search(r"(?m)^1\.\.(\d+)$", done.stdout)
    assert planned and len(reports) == int(planned[1]) > 0, done.stdout + done.stderr

    def check(failed, why):
        assert not failed, why
    return [(test, lambda failed=failed, why=why: check(failed, why)) for failed, test, why in reports]


def test_ledger():
    yield from cases("ledger")


def test_sessions():
    yield from cases("sessions")


def test_the_shim_decides_nothing():
    with open(os.path.join(FOLDER, "shim.ts"), encoding="utf-8") as file:
        text = file.read()
    assert text.count("\n") <= SHIM_LINES, text.count("\n")
    assert not re.search(r"\b(for|while|switch|sort|filter|find|reverse|slice|Date|random)\b", text)
    assert text.count("if (") == 1 and "if (!answer.ok) throw" in text


if __name__ == "__main__":
    cardbox_test.main(globals())
