#!/usr/bin/env python3
"""Every option and variable that --help names is in the manual and in the README, and the other
way round: nothing is documented that does not exist."""

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
                          capture_output=True, text=True, timeout=30)
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


def readme_tables(program):
    """The rows of the README's tables of this program's options."""
    part = re.search(rf"^### `{program}`$(.*?)(?=^#)", read("README.md"), re.M | re.S)
    assert part, f"the README has no section on the options of {program}"
    return "\n".join(line for line in part.group(1).splitlines() if line.startswith("|"))


def same(expected, found, where):
    assert not expected - found, f"{where} lacks {sorted(expected - found)}"
    assert not found - expected, f"{where} has what does not exist: {sorted(found - expected)}"


def options_agree(program):
    expected = set(OPTION.findall(all_help(program)))
    assert expected, "no options found"
    expected -= {"help", "version"}
    same(expected, set(OPTION.findall(manual(program))) - {"help", "version"}, "the manual")
    same(expected, set(OPTION.findall(readme_tables(program))), "the README")


def variables_agree(program):
    expected = set(VARIABLE.findall(all_help(program)))
    same(expected, set(VARIABLE.findall(manual(program))) - GIVEN_TO_TOOLS, "the manual")
    same(expected, set(VARIABLE.findall(readme_tables(program))), "the README")


def defaults_in_help():
    """option -> its default as the help says it; flags are off."""
    found = {}
    unwrapped = re.sub(r"\n {8,}", " ", help_of("cardboxd"))
    for name, value, text in re.findall(r"^  --([a-z-]+)( [A-Z:]+)?  +(.*?)(?: \[\$\w+\])?$", unwrapped, re.M):
        said = re.search(r"\bdefault:? (.*)$", text)
        if said or not value:
            found[name] = said.group(1) if said else "off"
    return found


def defaults_in_readme():
    found = {}
    for line in readme_tables("cardboxd").splitlines():
        options, _, default, _ = (cell.strip() for cell in line.strip("|").split(" | ", 3)) \
            if line.count(" | ") >= 3 else ("",) * 4
        names = OPTION.findall(options)
        values = default.replace("`", "").split(", ") if len(names) > 1 else [default.replace("`", "")]
        found.update(zip(names, values))
    return found


def test_defaults_agree():
    said = defaults_in_help()
    for name, default in defaults_in_readme().items():
        if default:
            assert said.get(name) == default, (name, said.get(name), default)
    assert len(said) > 10


def test_options():
    for program in PAGES:
        yield program, lambda program=program: options_agree(program)


def test_variables():
    for program in PAGES:
        yield program, lambda program=program: variables_agree(program)


def test_common_options_are_where_the_overview_says():
    """The overview names the commands that take --dsn, --project, --json and --limit."""
    names = [" ".join(words) for words in subcommands()]
    taking = {option: {name for name in names if f"--{option} " in help_of("cardbox", *name.split())}
              for option in ("dsn", "project", "json", "limit")}
    files = {"session check", "session convert", "ability list", "ability show"}  # they know no database
    grouped = {name for name in names if name.split()[0] in ("card", "box", "session", "task", "ability")} - files
    lists = {"task list", "card list", "card boxes", "card revisions", "box list", "box log"} | {
        f"session {word}" for word in ("list", "path", "leaves", "branch-points", "children", "labels", "diff")}
    assert taking == {"dsn": set(names) - {"dev"} - files, "project": {"import", "export"} | grouped,
                      "json": set(names) - {"dev", "export", "session export", "session convert"}, "limit": lists}
    overview = re.sub(r"\s+", " ", help_of("cardbox"))
    for line in ("--dsn (or CARDBOX_DSN) all but dev, session check and convert, ability list and show --",
                 "--project (or CARDBOX_PROJECT) import, export, ability invoke; what begins with card, "
                 "box, session, task --",
                 "--json all but dev, export, session export and convert --", "--limit what lists --"):
        assert line in overview, line


if __name__ == "__main__":
    cardbox_test.main()
