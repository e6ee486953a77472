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
    for line in re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", overview, re.M):
        yield line.split()


def all_help(program):
    text = help_of(program)
    if program == "cardbox":
        text += "".join(help_of(program, *words) for words in subcommands())
    return text


def manual(program):
    """The page with its options as they are typed, whichever macros it is written in."""
    name = ("src", "cli", "cardbox.1") if program == "cardbox" else ("src", "server", "cardboxd.8")
    return read(*name).replace("\\-", "-").replace("Fl -", "--")


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
    same(expected, set(VARIABLE.findall(manual(program))), "the manual")
    same(expected, set(VARIABLE.findall(readme_tables(program))), "the README")


def test_options():
    for program in ("cardboxd", "cardbox"):
        yield program, lambda program=program: options_agree(program)


def test_variables():
    for program in ("cardboxd", "cardbox"):
        yield program, lambda program=program: variables_agree(program)


if __name__ == "__main__":
    cardbox_test.main()
