#!/usr/bin/env python3
"""Every option and variable that --help names is in the manual, and the other way round; the README and
the guides name nothing that does not exist."""

import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402

OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])\b")
VARIABLE = re.compile(r"\bCARDBOX_[A-Z_]+\b")
PAGES = {"cardboxd": ("src", "server", "cardboxd.8"), "cardbox": ("src", "cli", "cardbox.1"),
         "cardbox-worker": ("src", "worker", "cardbox-worker.8")}
GIVEN_TO_TOOLS = {"CARDBOX_TASK_ID", "CARDBOX_CALL_ID"}  # by the worker: nobody sets them


def read(*parts):
    with open(os.path.join(cardbox_test.ROOT, *parts), encoding="utf-8") as text:
        return text.read()


def help_of(program, *words):
    done = subprocess.run([os.path.join(cardbox_test.BUILD, "bin", program), *words, "--help"],
                          capture_output=True, text=True, timeout=cardbox_test.WAIT_S)
    assert done.returncode == 0 and done.stdout and not done.stderr, done
    return done.stdout


def subcommands():
    """The words of each subcommand, from the overview."""
    overview = re.search(r"^Commands:\n(.*?)\n\n", help_of("cardbox"), re.M | re.S).group(1)
    for line in re.findall(r"^  ([a-z]+(?: [a-z-]+)?)  ", overview, re.M):
        yield line.split()


def all_help(program):
    text = help_of(program)
    if program == "cardbox":
        text += "".join(help_of(program, *words) for words in subcommands())
    return text


def manual(program):
    """The page with its options as they are typed, whichever macros it is written in."""
    return read(*PAGES[program]).replace("\\-", "-").replace("Fl -", "--")


def same(expected, found, where):
    assert not expected - found, f"{where} lacks {sorted(expected - found)}"
    assert not found - expected, f"{where} has what does not exist: {sorted(found - expected)}"


def options_agree(program):
    expected = set(OPTION.findall(all_help(program)))
    assert expected, "no options found"
    expected -= {"help", "version"}
    same(expected, set(OPTION.findall(manual(program))) - {"help", "version"}, "the manual")


def variables_agree(program):
    expected = set(VARIABLE.findall(all_help(program)))
    same(expected, set(VARIABLE.findall(manual(program))) - GIVEN_TO_TOOLS, "the manual")


def defaults_in_help():
    """option -> its default as the help says it; flags are off."""
    found = {}
    unwrapped = re.sub(r"\n {8,}", " ", help_of("cardboxd"))
    for name, value, text in re.findall(r"^  --([a-z-]+)( [A-Z:]+)?  +(.*?)(?: \[\$\w+\])?$", unwrapped, re.M):
        said = re.search(r"\bdefault:? (.*)$", text)
        if said or not value:
            found[name] = said.group(1) if said else "off"
    return found


def defaults_in_manual():
    """option -> its default as the manual says it."""
    entries = re.findall(r"^\.It --([a-z-]+)[^\n]*\n(.*?)(?=^\.It |^\.El)", manual("cardboxd"), re.M | re.S)
    said = {name: re.search(r"^Default: (.*?)(?:[;,] .*|\.)?$", text, re.M) for name, text in entries}
    return {name: default.group(1) for name, default in said.items() if default}


def test_defaults_agree():
    plain = {name: value for name, value in defaults_in_help().items()
             if value != "off" and re.fullmatch(r"[\w.:]+", value)}
    found = defaults_in_manual()
    assert len(plain) > 15, plain
    for name, value in plain.items():
        assert found.get(name) == value, (name, found.get(name), value)


OTHERS_OPTIONS = {"rm", "build", "detach", "profile", "volumes", "entrypoint", "signal",  # of docker
                  "cflags", "libs", "record",  # of pkg-config, tests/lint
                  "now", "no-owner"}  # of systemctl, pg_restore


def guide_names_what_exists(path, options, variables):
    """Every option and every variable of a guide is one of a program. The compiler checks the names of C."""
    text = re.sub(r"```c\n.*?```", "", read(path), flags=re.S)
    unknown = set(OPTION.findall(text)) - options, set(VARIABLE.findall(text)) - variables
    assert unknown == (set(), set()), unknown


def test_guides_name_what_exists():
    described = "".join(map(all_help, PAGES)) + "".join(map(manual, PAGES))
    options = set(OPTION.findall(described)) | OTHERS_OPTIONS
    sources = [*glob.glob("tests/**/*.py", root_dir=cardbox_test.ROOT, recursive=True), "docker/compose.yaml",
               "docker/compose.tls.yaml",
               "include/cardbox/status.h", "tests/run"]
    variables = set(VARIABLE.findall(described + "".join(map(read, sources))))
    for path in ["README.md", *sorted(glob.glob("*/README.md", root_dir=cardbox_test.ROOT))]:
        yield path, lambda path=path: guide_names_what_exists(path, options, variables)


def test_options():
    for program in PAGES:
        yield program, lambda program=program: options_agree(program)


def test_variables():
    for program in PAGES:
        yield program, lambda program=program: variables_agree(program)


def test_types_of_entries_are_described():
    """The manual and the OpenAPI document have each type, and the member of it that matters most."""
    table = re.findall(r'\[SESSION_\w+\] = \{("\w+".*?)\},\n', read("src", "model", "session", "entry.c"), re.S)
    assert len(table) == 17, table
    entries = manual("cardbox").partition(".SH ENTRIES\n")[2].partition(".SH ROWS\n")[0]
    document = read("openapi", "cardbox.yaml").partition("**Dialect plain.**")[2].partition("- name: tasks")[0]
    for row in table:
        for name in re.findall(r'"(\w+)"', row):
            assert re.search(rf"\b(f[BR])?{name}\b", entries), f"cardbox.1: {name}"
            assert re.search(rf"\b{name}\b", document), f"cardbox.yaml: {name}"


def test_common_options_are_where_the_overview_says():
    """The overview names the commands that take --dsn, --project, --json and --limit."""
    names = [" ".join(words) for words in subcommands()]
    taking = {option: {name for name in names if f"--{option} " in help_of("cardbox", *name.split())}
              for option in ("dsn", "project", "json", "limit")}
    files = {"session check", "ability list", "ability show"}  # they know no database
    grouped = {name for name in names if name.split()[0] in ("card", "box", "session", "task", "ability")} - files
    lists = {"search", "project list", "task list", "card list", "card boxes", "card revisions", "box list", "box log"} | {
        f"session {word}" for word in ("list", "path", "leaves", "branch-points", "children", "labels", "diff")}
    assert taking == {"dsn": set(names) - {"dev"} - files, "project": {"import", "export", "search"} | grouped,
                      "json": set(names) - {"dev", "export", "session export"}, "limit": lists | {"box context", "session context"}}
    overview = re.sub(r"\s+", " ", help_of("cardbox"))
    for line in ("--dsn (or CARDBOX_DSN) all but dev, session check, ability list and show --",
                 "--project (or CARDBOX_PROJECT) import, export, search, ability invoke; all of card, box, "
                 "task; session except check --",
                 "--json all but dev, export, session export --",
                 "--limit most commands that print lists --"):
        assert line in overview, line


if __name__ == "__main__":
    cardbox_test.main()
