#!/usr/bin/env python3
"""The command line as such: help for everybody, wrong usage, exit statuses, the man page."""

import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import cardbox, on_terminal

CLEAN = {"CARDBOX_DSN": "", "CARDBOX_PROJECT": ""}


def commands():
    """Every command, as the overview lists them."""
    overview = cardbox("--help").stdout
    section = overview.split("Commands:\n")[1].split("\n\n")[0]
    names = [line.split("  ")[1].strip() for line in section.splitlines() if line[2] != " "]
    return [name for name in names if name != "help COMMAND"]


def test_overview():
    for arguments in ([], ["help"], ["--help"], ["-h"]):
        done = cardbox(*arguments)
        assert done.stderr == "" and "Usage: cardbox COMMAND" in done.stdout, done
        assert "Examples:\n  cardbox " in done.stdout
    assert {"dev", "migrate", "import", "export", "card get", "card add", "card list", "box get",
            "box cards", "box append", "box fork", "box log", "doctor", "gc"} <= set(commands())


def test_version():
    with open(os.path.join(cardbox_test.ROOT, "include", "cardbox", "version.h")) as header:
        version = re.search(r'CARDBOX_VERSION +"(.*)"', header.read()).group(1)
    assert cardbox("--version").stdout == f"cardbox {version}\n"


def test_each_command_has_help_with_an_example():
    def check(name):
        words = name.split()
        helps = [cardbox("help", *words), cardbox(*words, "--help"), cardbox(*words, "-h")]
        assert len({done.stdout for done in helps}) == 1
        text = helps[0].stdout
        assert text.startswith(f"cardbox {name}: ")
        assert f"\nUsage: cardbox {name} [options]" in text
        assert f"Examples:\n  cardbox {name}" in text, text
        assert "--help" in text
        assert max(map(len, text.splitlines())) <= 80, text

    for name in commands():
        yield name, lambda name=name: check(name)


def test_abilities_are_wrapped_on_a_terminal():
    said = subprocess.run([os.path.join(cardbox_test.BUILD, "bin", "cardbox"), "ability", "list"],
                          capture_output=True, text=True, check=True).stdout
    assert max(map(len, said.splitlines())) > 80, "one line each, for grep"
    for columns in (40, 60, 120):  # beside the names, or below them
        text = re.sub("\033\\[[0-9;]*m", "", on_terminal("ability", "list", columns=columns))
        assert columns - 10 < max(map(len, text.splitlines())) <= columns, text
        assert ("\n    " in text.replace("\n     ", "")) == (columns <= 60), text
        assert text.split() == said.split()


def test_help_fits_the_terminal():
    """80 columns wherever it goes, and fewer where the terminal has fewer."""
    for program in ("cardboxd", "cardbox-worker", "cardbox"):
        plain = subprocess.run([os.path.join(cardbox_test.BUILD, "bin", program), "--help"],
                               capture_output=True, text=True, check=True).stdout
        assert 70 < max(map(len, plain.splitlines())) <= 80, plain
        assert on_terminal("--help", columns=200, program=program) == plain
    for words in (["import"], ["box", "get"], ["session", "context"]):
        text = on_terminal("help", *words, columns=60)
        assert 50 < max(map(len, text.splitlines())) <= 60, text
        assert not re.search(r" $", text, re.M), text
    wide, narrow = (re.sub(r"[\s\\]+", " ", on_terminal("help", "box", "get", columns=columns))
                    for columns in (80, 50))
    assert wide == narrow


def test_an_example_that_is_wrapped_is_one_command():
    text = cardbox("help", "card", "add").stdout
    assert "--type task.instruction --text \\\n      'Summarise the report'\n" in text, text


def test_examples_are_right_usage():
    """Typed as they stand, without a database: none of them is told that it is wrong."""
    folder, programs = cardbox_test.temp_dir(), os.path.join(cardbox_test.BUILD, "bin")
    env = {**os.environ, **CLEAN, "CARDBOX_DSN": "host=/nonexistent", "PATH": f"{programs}:{os.environ['PATH']}"}
    count = 0
    for name in commands():
        section = cardbox("help", *name.split()).stdout.split("Examples:\n")[1].replace("\\\n", " ")
        for example in re.findall(r"^  (.*)$", section, re.M):
            if name != "dev":  # which would begin
                done = subprocess.run(["bash", "-c", example], cwd=folder, env=env, capture_output=True, text=True,
                                      stdin=subprocess.DEVNULL, timeout=cardbox_test.WAIT_S)
                assert "cardbox help" not in done.stderr and "command not found" not in done.stderr, (example, done)
                count += 1
    assert count > 80, count


def test_group_has_help():
    for arguments in (["help", "box"], ["box", "--help"]):
        text = cardbox(*arguments).stdout
        assert "box append" in text and "Examples:\n  cardbox box " in text
        assert "card add" not in text


def test_help_of_help():
    for arguments in (["help", "help"], ["help", "--help"]):
        assert cardbox(*arguments).stdout == cardbox("help").stdout


def test_options_are_the_same_everywhere():
    for name in commands():
        text = cardbox("help", *name.split()).stdout
        if name in ("dev", "session check", "ability list", "ability show"):  # no database
            assert "--dsn" not in text
        else:
            assert "--dsn DSN" in text and "[$CARDBOX_DSN]" in text, name
        if "--project" in text:
            assert "--project PROJECT" in text and "[$CARDBOX_PROJECT]" in text, name


def wrong(*arguments, say, env=None):
    done = cardbox(*arguments, check=False, env={**CLEAN, **(env or {})})
    assert done.returncode == 2, done
    assert done.stdout == "" and done.stderr.startswith("cardbox") and say in done.stderr, done
    assert done.stderr.count("\n") == 1, done.stderr


def test_wrong_usage():
    wrong("nix", say='unknown command "nix"')
    wrong("box", say="needs a subcommand")
    wrong("box", "nix", say='unknown command "box nix"')
    wrong("help", "nix", say='unknown command "nix"; see `cardbox help`')
    wrong("box", "--json", say='"box" needs a subcommand')
    wrong("--project", "p", "card", "list", say="options go after the command")
    wrong("migrate", "extra", say="too many arguments")
    wrong("migrate", "--nix", say="unknown option --nix")
    wrong("box", "get", "--project", "p", say="expected BOX")
    wrong("box", "append", "--project", "p", "box", say="expected BOX CARD...")
    wrong("box", "get", "01970000-0000-7000-8000-000000000001", say="which project?")
    wrong("box", "get", "--at-version", "0", "--project", "p", "b", say="--at-version must be")
    wrong("box", "fork", "--at-version", "1", "--at-length", "1", "--project", "p", "b",
          say="not both")
    wrong("card", "list", "--limit", "many", "--project", "p", say="--limit must be a number")
    wrong("card", "add", "--project", "p", say="give one of --content")
    wrong("card", "add", "--project", "p", "--text", "a", "--content", "1", say="give one of")
    wrong("card", "add", "--project", "p", "text", say='unexpected argument "text"')
    wrong("import", say="--project PROJECT or --tenant-from-rows")
    wrong("import", "--project", "p", "--tenant-from-rows", say="either --project")
    wrong("export", say="which project?")
    wrong("dev", "--listen", "0.0.0.0:8099", say="can be reached from other machines")
    wrong("dev", "--listen", "foo", say='--listen takes ADDR:PORT, not "foo"')
    wrong("migrate", "--dsn", "nix=1", say='invalid connection option "nix"')
    wrong("card", "get", "--project", "p", "c", env={"CARDBOX_DSN": "a b=1"}, say="CARDBOX_DSN: bad")


def test_what_was_meant_is_said():
    for words, meant in (("sesion", "session"), ("tasks", "task"), ("boxes", "box"), ("sess", "session"), ("migrat", "migrate"),
                         ("hlep", "help"), ("hlep box", "help"), ("sesion nix", "session"), ("help sesion", "session"), ("help box appnd", "box append"),
                         ("sesion tree x", "session tree"), ("tasks list --json", "task list"), ("list tasks", "task list"),
                         ("box appnd b c", "box append"), ("card show x", "card get"), ("session entry s e", "session path"),
                         ("show card x", "card get"), ("task ls", "task list")):
        wrong(*words.split(), say=f"; did you mean `cardbox {meant}`?")
    for words in ("nix", "box nix", "list", "help nix"):
        done = cardbox(*words.split(), check=False)
        assert done.returncode == 2 and "did you mean" not in done.stderr, done
    wrong("box", "list", "--porject", "p", say="unknown option --porject (did you mean --project?); see")
    wrong("box", "list", "--proj=p", say="unknown option --proj (did you mean --project?); see")


def test_messages_are_cut_between_characters():
    programs = {"cardbox": [[], ["help"], ["box", "list", "--limit"]],
                "cardboxd": [["--log-level"], []], "cardbox-worker": [["--log-level"], []]}
    for program, calls in programs.items():
        for words in calls:
            for begin in ("x", "xy"):  # one of the two would be cut
                done = subprocess.run([os.path.join(cardbox_test.BUILD, "bin", program), *words, begin + "\u00e9" * 1500],
                                      capture_output=True, timeout=60)
                said = done.stderr.decode()  # it is UTF-8
                assert done.returncode == 2 and begin + "\u00e9" * 90 in said and "\\x" not in said, done.stderr


def test_no_escape_sequence_of_an_argument_reaches_the_terminal():
    done = cardbox("\033[31mred\n", check=False)
    assert done.returncode == 2 and "\033" not in done.stderr and done.stderr.count("\n") == 1


def test_no_database():
    done = cardbox("card", "get", "--dsn", "host=/nonexistent", "--project", "p", "c", check=False)
    assert done.returncode == 1 and "give --dsn DSN or set CARDBOX_DSN" in done.stderr
    assert done.stderr.count("\n") == 1
    done = cardbox("migrate", "--dsn", "host=/nonexistent", check=False)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1


def test_output_that_cannot_be_written():
    program = os.path.join(cardbox_test.BUILD, "bin", "cardbox")
    with open("/dev/full", "w") as full:
        done = subprocess.run([program, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "cannot write the output" in done.stderr


def test_man_page_has_every_command_and_option():
    with open(os.path.join(cardbox_test.ROOT, "src", "cli", "cardbox.1")) as page:
        text = page.read().replace("\\-", "-").replace("\\fB", "").replace("\\fI", "")
        text = text.replace("\\fR", "")
    described = text.split("\n.SH COMMANDS")[1].split("\n.SH ")[0]
    assert re.findall(r"^\.SS (.*)$", text, re.M) == re.findall(r"^\.SS (.*)$", described, re.M)
    for name in commands():
        assert f"\n.SS {name}\n" in described, name
        section = text.split(f"\n.SS {name}")[1].split("\n.S")[0]
        for option in re.findall(r"^  (--[a-z-]+)", cardbox("help", *name.split()).stdout, re.M):
            if option not in ("--dsn", "--project", "--json", "--limit"):
                assert option in section, f"{name}: {option}"


def test_lines_of_man_pages_fit():
    """What is set as it stands is not wrapped: the examples fit the narrower of two terminals."""
    for page in glob.glob(os.path.join(cardbox_test.ROOT, "src", "*", "*.[138]")):
        done = subprocess.run(["groff", "-mandoc", "-Tutf8", "-P-cbou", "-rLL=60n", "-rLT=60n", page], check=True,
                              capture_output=True, text=True)
        wide = [line for line in done.stdout.splitlines() if len(line) > 60]
        assert not wide, f"{page}: {wide}"


if __name__ == "__main__":
    cardbox_test.main()
