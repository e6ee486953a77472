#!/usr/bin/env python3
"""cardbox card and box: tables, --json, and what happens to what is written."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, cardbox, on_terminal

SAMPLE = os.path.join(cardbox_test.ROOT, "tests", "lib", "sample.ndjson")
BOX = "01970000-0000-7000-8000-000000000001"


def sample():
    """The environment of commands that work on a fresh copy of the sample."""
    env = {"CARDBOX_DSN": Postgres.shared().database(), "CARDBOX_PROJECT": "demo"}
    cardbox("import", SAMPLE, env=env)
    return env


SHARED = {}


def shared():
    """The same for those that only read."""
    if not SHARED:
        SHARED.update(sample())
    return SHARED


def objects(*arguments, env=None, **options):
    """The JSON objects that a command prints with --json."""
    done = cardbox(*arguments, "--json", env=env or shared(), **options)
    return [json.loads(line) for line in done.stdout.splitlines()]


# --- reading ---


def test_box_cards_table():
    lines = cardbox("box", "cards", BOX, env=shared()).stdout.splitlines()
    assert lines[0] == f"box {BOX}   version 1   15 cards"
    assert lines[1].split() == ["#", "type", "role", "age", "content"]
    assert re.fullmatch(r"   1  task\.instruction    user +\d+ \w+  The nightly backup .*", lines[2])
    call = 'read_log {"host":"db-2","unit":"backup-orders"'
    assert re.fullmatch(r"   6  tool\.call           assistant +\d+ \w+  " + call + ".*call_log_1",
                        lines[7]), lines[7]
    assert "failed, timeout: db-2 sent no answer within 30 s" in lines[8]
    assert "3 tools: read_log, disk_usage, list_files" in lines[4]
    assert len(lines) == 17
    tail = cardbox("box", "cards", "--tail", "2", BOX, env=shared()).stdout.splitlines()
    assert [line.split()[0] for line in tail[2:]] == ["14", "15"]


def test_box_cards_json_are_card_objects():
    cards = objects("box", "cards", BOX)
    assert len(cards) == 15
    assert list(cards[0])[:10] == ["card_id", "project_id", "type", "content", "created_at",
                                   "author_id", "metadata", "tool_calls", "tool_call_id",
                                   "ttl_seconds"]
    assert cards[0]["project_id"] == "demo" and "__type__" not in cards[0]["content"]
    assert [card["card_id"] for card in objects("box", "cards", BOX, "--tail", "1")] == \
        ["demo-015-file"]


def test_missing_cards_keep_their_place():
    env = sample()
    cardbox("box", "append", BOX, "nix", "demo-001-instruction", env=env)
    lines = cardbox("box", "cards", "--tail", "3", BOX, env=env).stdout.splitlines()
    assert [line.split()[:2] for line in lines[2:]] == [
        ["15", "task.deliverable"], ["16", "missing"], ["17", "task.instruction"]]
    assert lines[3].endswith("nix")
    lines = cardbox("box", "cards", "--ids", "--tail", "3", BOX, env=env).stdout.splitlines()
    assert [line.split()[:2] for line in lines[2:]] == [
        ["15", "demo-015-file"], ["16", "nix"], ["17", "demo-001-instruction"]]
    found = objects("box", "cards", "--tail", "3", BOX, env=env)
    assert [card["card_id"] for card in found] == ["demo-015-file", "nix", "demo-001-instruction"]
    assert found[1] == {"card_id": "nix", "missing": True} and "content" in found[2]


def test_box_as_of():
    env = sample()
    cardbox("box", "append", BOX, "a", "b", env=env)
    then = objects("box", "get", BOX, env=env)[0]["updated_at"]
    cardbox("box", "append", BOX, "c", env=env)
    for verb in ("get", "cards"):
        def length(*options):
            done = objects("box", verb, *options, BOX, env=env)
            return len(done[0]["card_ids"]) if verb == "get" else len(done)
        assert [length(), length("--at-version", "1"), length("--at-length", "16"), length("--at-time", then)] == \
            [18, 15, 16, 17]
        done = cardbox("box", verb, BOX, "--at-time", "soon", env=env, check=False)
        assert done.returncode == 2 and "--at-time" in done.stderr, done
        done = cardbox("box", verb, BOX, "--at-length", "2", "--at-version", "1", env=env, check=False)
        assert done.returncode == 2 and "give one of --at-version" in done.stderr, done


def test_box_context():
    env = sample()
    cardbox("box", "append", BOX, "nothing", env=env)
    done = cardbox("box", "context", BOX, env=env)
    messages = json.loads(done.stdout)
    assert [message["role"] for message in messages[:2]] == ["user", "system"] and len(messages) > 5, messages
    said = done.stderr.splitlines()
    assert said[0].startswith(f"context of {BOX} at version 2; cards: 16; messages: {len(messages)}"), said
    assert "  1 card is missing" in said, said
    whole, = objects("box", "context", BOX, "--format", "anthropic", "--at-version", "1", env=env)
    assert whole["system"] and whole["report"]["missing_card_ids"] == [] and whole["report"]["cards"] == 15, whole
    assert whole["report"]["format"] == "anthropic" and all(m["role"] != "system" for m in whole["messages"]), whole
    raw, = objects("box", "context", BOX, "--no-repair", "--tail", "2", env=env)
    assert raw["report"]["cards"] == 2 and raw["report"]["repairs"] == [], raw
    items, = objects("box", "context", BOX, "--format", "responses", env=env)
    assert {item["type"] for item in items["messages"]} >= {"message", "function_call", "function_call_output"}, items
    done = cardbox("box", "context", BOX, "--as", "maria", env=env)
    assert {message["role"] for message in json.loads(done.stdout)} == {"user", "system"}, done
    assert "of other authors became texts of users" in done.stderr, done
    for wrong in (["--format", "xml"], ["--at-version", "1", "--at-length", "1"], ["--as", ""], ["--as", "a" * 513]):
        assert cardbox("box", "context", BOX, *wrong, env=env, check=False).returncode == 2, wrong
    gone = cardbox("box", "context", BOX, "--at-version", "9", env=env, check=False)
    assert gone.returncode == 1 and gone.stdout == "", gone


def test_box_context_then():
    env = sample()
    first, second = "01970000-0000-7000-8000-000000000002", "01970000-0000-7000-8000-000000000003"
    cardbox("box", "append", second, "nothing", env=env)
    done = cardbox("box", "context", BOX, "--then", first, "--then", second + "@1", env=env)
    assert f"; then {first} at version 1; cards: 2; then {second} at version 1; cards: " in done.stderr, done
    whole, = objects("box", "context", BOX, "--then", first, "--tail", "3", env=env)
    assert (whole["report"]["cards"], whole["report"]["then"][0]["cards"]) == (1, 2), whole
    missing = BOX[:-1] + "9"
    gone = cardbox("box", "context", BOX, "--then", missing, env=env, check=False)
    assert gone.returncode == 1 and missing in gone.stderr, gone
    for wrong in (["--then", "x"], ["--then", first + "@0"], ["--then", first] * 17):
        done = cardbox("box", "context", BOX, *wrong, env=env, check=False)
        assert done.returncode == 2 and "--then" in done.stderr, (wrong, done)


def test_box_seal():
    env = sample()
    done = cardbox("box", "seal", BOX, env=env)
    assert done.stdout.startswith(f"box {BOX}   version 2   15 cards   sealed\n"), done
    sealed, = objects("box", "seal", BOX, env=env)
    assert sealed["sealed"] is True and sealed["version"] == 2 and len(sealed["card_ids"]) == 15, sealed
    assert objects("box", "log", BOX, env=env)[0]["op"] == "seal"
    assert {box["box_id"]: box["sealed"] for box in objects("box", "list", env=env)}[BOX] is True
    for command in (["append", BOX, "x"], ["replace", BOX, "x"], ["delete", BOX]):
        done = cardbox("box", *command, env=env, check=False)
        assert done.returncode == 1 and "sealed" in done.stderr, done
    assert objects("box", "fork", BOX, env=env)[0]["length"] == 15
    gone = cardbox("box", "seal", BOX[:-1] + "9", env=env, check=False)
    assert gone.returncode == 1 and "box not found" in gone.stderr, gone


def test_box_get():
    lines = cardbox("box", "get", "01970000-0000-7000-8000-000000000002", env=shared()).stdout
    assert lines.splitlines() == [
        "box 01970000-0000-7000-8000-000000000002   version 1   2 cards", f"  from box {BOX}",
        "  #  card", "  1  demo-014-deliverable", "  2  demo-015-file"]
    box, = objects("box", "get", BOX.upper())
    assert box["box_id"] == BOX and box["length"] == 15 == len(box["card_ids"])
    assert box["version"] == 1 and box["parent_ids"] == []
    assert box["updated_at"].startswith("2025-05-24T08:00:49")


def test_card_get():
    text = cardbox("card", "get", "demo-010-result", env=shared()).stdout
    assert text.startswith("card demo-010-result\n  type       tool.result\n  role       tool\n")
    assert "  tool call  call_log_2\n" in text and "(" in text and " ago)" in text
    assert "No space left on device" in text.split("\n\n")[1]
    cards = objects("card", "get", "demo-002-profile", "demo-001-instruction")
    assert [card["card_id"] for card in cards] == ["demo-002-profile", "demo-001-instruction"]
    done = cardbox("card", "get", "demo-001-instruction", "nix", env=shared(), check=False)
    assert done.returncode == 1 and "card demo-001" in done.stdout
    assert done.stderr == "cardbox card get: card not found: nix\n"


def test_card_list():
    cards = objects("card", "list")
    assert len(cards) == 19 and cards[0]["card_id"] == "demo-019-deliverable"
    assert {card["type"] for card in objects("card", "list", "--type", "tool.call")} == {"tool.call"}
    assert len(objects("card", "list", "--call", "call_log_1")) == 2
    assert len(objects("card", "list", "--step", "step-2", "--role", "tool")) == 2
    assert len(objects("card", "list", "--before", "2025-05-24T08:30:00Z")) == 15
    assert {card["card_id"] for card in objects("card", "list", "--meta", "agent_turn_id=turn-1",
                                                "--meta", "author_id=read_log")} == {"demo-007-result"}
    for wrong in ("type", "=x"):
        done = cardbox("card", "list", "--meta", wrong, env=shared(), check=False)
        assert done.returncode == 2 and "--meta takes KEY=VALUE" in done.stderr, done
    table = cardbox("card", "list", "--limit", "2", env=shared())
    assert [line.split()[0] for line in table.stdout.splitlines()] == [
        "card", "demo-019-deliverable", "demo-018-result"]
    cursor = re.fullmatch(r"further ones: --cursor (\S+)\n", table.stderr).group(1)
    rest = objects("card", "list", "--cursor", cursor)
    assert len(rest) == 17 and rest[0]["card_id"] == "demo-017-call"


def test_box_list():
    boxes = objects("box", "list")
    assert [box["box_id"][-1] for box in boxes] == ["3", "2", "1"], boxes
    assert list(boxes[0]) == ["box_id", "version", "length", "parent_ids", "created_at", "updated_at", "sealed"]
    assert boxes[0]["parent_ids"] == [boxes[2]["box_id"]]
    table = cardbox("box", "list", "--limit", "2", env=shared())
    lines = table.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["box", boxes[0]["box_id"], boxes[1]["box_id"]]
    cursor = re.fullmatch(r"further ones: --cursor (\S+)\n", table.stderr).group(1)
    assert objects("box", "list", "--cursor", cursor) == boxes[2:]
    done = cardbox("box", "list", "--project", "nix", env=shared())
    assert (done.stdout, done.stderr) == ("", "no boxes in project nix\n"), done
    done = cardbox("box", "list", "--cursor", "x", env=shared(), check=False)
    assert done.returncode == 2 and '--cursor "x" is not one' in done.stderr, done


def test_card_list_of_nothing():
    for arguments, note in ((["--type", "nix"], "no such cards in project demo\n"),
                            (["--project", "nix"], "no cards in project nix\n"),
                            (["--project", "nix", "--json"], "")):
        done = cardbox("card", "list", *arguments, env=shared())
        assert (done.stdout, done.stderr) == ("", note), done


def test_card_list_of_bad_values():
    for option, value, say in (("--after", "gestern", "--after must be a time like"),
                               ("--before", "2025", "--before must be a time like"),
                               ("--cursor", "x", '--cursor "x" is not one')):
        done = cardbox("card", "list", option, value, env=shared(), check=False)
        assert done.returncode == 2 and done.stdout == "" and say in done.stderr, done
        assert done.stderr.count("\n") == 1


def test_not_found():
    for arguments in (["box", "get", "nix"], ["box", "cards", "nix"], ["box", "context", "nix"], ["box", "log", "nix"],
                      ["box", "fork", BOX[:-1] + "9"], ["box", "append", BOX[:-1] + "9", "c"]):
        done = cardbox(*arguments, env=shared(), check=False)
        assert done.returncode == 1 and done.stdout == "", done
        assert done.stderr.startswith(f"cardbox {arguments[0]} {arguments[1]}: "), done.stderr
        assert done.stderr.count("\n") == 1


# --- history ---


def test_card_revisions():
    env = sample()
    assert cardbox("card", "revisions", "demo-010-result", env=env).stderr == \
        "no such revisions of demo-010-result\n"
    for text in ("one", "two", "three"):
        cardbox("card", "add", "--id", "r", "--text", text, "--type", "note", env=env)
    rows = objects("card", "revisions", "r", env=env)
    assert [(row["revision"], row["card"]["content"]["text"]) for row in rows] == [(2, "two"), (1, "one")]
    assert rows[0]["replaced_at"] > rows[1]["replaced_at"] and rows[0]["card"]["project_id"] == "demo"
    older = cardbox("card", "revisions", "--before", "2", "r", env=env).stdout.splitlines()
    assert older[0].split() == ["revision", "type", "until", "content"] and older[1].endswith("one")
    assert len(older) == 2
    assert cardbox("card", "revisions", "nix", env=env, check=False).returncode == 1


def test_boxes_of_a_card():
    env = sample()
    found = [box["box_id"] for box in objects("card", "boxes", "demo-001-instruction", env=env)]
    assert sorted(found) == [BOX, BOX[:-1] + "3"]
    assert BOX in cardbox("card", "boxes", "demo-001-instruction", env=env).stdout
    assert "contains nix now" in cardbox("card", "boxes", "nix", env=env).stderr


def test_replace_and_delete():
    env = sample()
    change, = objects("box", "replace", "--expected-version", "1", BOX, "a", "b", env=env)
    assert (change["version"], change["length"]) == (2, 2)
    done = cardbox("box", "replace", "--expected-version", "1", BOX, env=env, check=False)
    assert done.returncode == 1 and "2" in done.stderr
    assert objects("box", "replace", BOX, env=env)[0]["length"] == 0
    assert cardbox("box", "delete", BOX, env=env).stdout == f"box {BOX} is deleted\n"
    assert cardbox("box", "get", BOX, env=env, check=False).returncode == 1
    done = cardbox("card", "delete", "--json", "demo-019-deliverable", "nix", env=env, check=False)
    assert done.returncode == 1 and done.stdout == '{"card_id":"demo-019-deliverable","deleted":true}\n'
    assert done.stderr.startswith("cardbox card delete: card not found: nix"), done.stderr
    assert cardbox("card", "get", "demo-019-deliverable", env=env, check=False).returncode == 1


def test_parents():
    env = sample()
    made, = objects("box", "create", "--parent", BOX, "a", env=env)
    assert objects("box", "get", made["box_id"], env=env)[0]["parent_ids"] == [BOX]


# --- writing ---


def test_card_add():
    env = sample()
    done = cardbox("card", "add", "--type", "agent.thought", "--text", "a thought", env=env).stdout
    match = re.fullmatch(r"([0-9a-f-]{36})  inserted\n", done)
    card, = objects("card", "get", match.group(1), env=env)
    assert card["content"] == {"text": "a thought"} and card["type"] == "agent.thought"
    assert card["metadata"] == {"type": "agent.thought", "role": "assistant"}

    add = ["card", "add", "--id", "c", "--content"]
    assert cardbox(*add, '{"v":1}', env=env).stdout == "c  inserted\n"
    assert objects(*add, '{"v": 1}', env=env) == [{"card_id": "c", "outcome": "unchanged"}]
    done = cardbox(*add, '{"v":2}', "--strict", env=env, check=False)
    assert done.returncode == 1 and done.stdout == "" and "c" in done.stderr
    assert cardbox(*add, '{"v":2}', env=env).stdout == "c  repaired\n"
    assert cardbox(*add, '{"v":3}', "--sealed", env=env).stdout == "c  repaired\n"
    assert cardbox(*add, '{"v":4}', env=env, check=False).returncode == 1


def test_card_add_takes_everything():
    env = sample()
    cardbox("card", "add", "--id", "c", "--text", "x", "--metadata", '{"k":[1]}', "--tool-call-id",
            "call", "--tool-calls", '[{"id":"call"}]', "--ttl", "3600", "--role", "user", "--author",
            "me", "--step", "s-1", "--sealed", env=env)
    card, = objects("card", "get", "c", env=env)
    assert card["metadata"] == {"k": [1], "role": "user", "step_id": "s-1", "author_id": "me"}
    assert card["tool_call_id"] == "call" and card["tool_calls"] == [{"id": "call"}]
    assert card["ttl_seconds"] == 3600 and card["sealed"] is True and card["expires_at"]


def test_card_add_from_standard_input():
    env = sample()
    text = "two\nlines with \t and é\n"
    cardbox("card", "add", "--id", "t", "--text", "-", env=env, stdin=text)
    cardbox("card", "add", "--id", "j", "-", env=env, stdin='{"a": "\\u0000"}\n')
    cards = objects("card", "get", "t", "j", env=env)
    assert cards[0]["content"] == {"text": text} and cards[1]["content"] == {"a": "\0"}


def test_card_add_checks():
    env = shared()

    def check(arguments, say, stdin="", status=2):
        done = cardbox("card", "add", *arguments, env=env, check=False, stdin=stdin)
        assert done.returncode == status and say in done.stderr, done
        assert done.stdout == "" and done.stderr.count("\n") == 1, done

    check(["--content", "{"], "--content is not valid JSON at byte 1")
    check(["--content", '{"__type__":"TextContent"}'], "--content: field text")
    check(["--text", "x", "--metadata", "[]"], "--metadata must be a JSON object")
    check(["--text", "x", "--tool-calls", "{}"], "--tool-calls must be a JSON array")
    check(["--text", "x", "--id", ""], "--id must be 1 to 512 bytes")
    check(["-"], "JSON", status=1)
    check(["--text", "-"], "NUL byte", stdin="a\0b", status=1)


def test_box_ids_that_are_none():
    for arguments in (["create", "--id", "nix"], ["fork", "--new-id", "nix", BOX]):
        done = cardbox("box", *arguments, env=shared(), check=False)
        assert done.returncode == 2 and f"{arguments[1]} must be a UUID" in done.stderr, done


def test_box_life():
    env = sample()
    box, = objects("box", "create", env=env)
    assert box["version"] == 1 and box["length"] == 0
    box_id = box["box_id"]
    assert cardbox("box", "append", box_id, "a", "b", env=env).stdout == \
        f"box {box_id}   version 2   2 cards\n"
    keyed = ["box", "append", box_id, "c", "--key", "turn-1"]
    assert objects(*keyed, env=env)[0]["replayed"] is False
    assert objects(*keyed, env=env)[0] == {"box_id": box_id, "version": 3, "length": 3,
                                           "replayed": True}
    assert "(done before)" in cardbox(*keyed, env=env).stdout
    done = cardbox("box", "append", box_id, "d", "--expected-version", "2", env=env, check=False)
    assert done.returncode == 1 and "version 3" in done.stderr
    assert objects("box", "append", box_id, "d", "--expected-version", "3", env=env)[0]["version"] == 4

    assert objects("box", "get", box_id, "--at-version", "2", env=env)[0]["card_ids"] == ["a", "b"]
    fork, = objects("box", "fork", box_id, "--at-length", "1", env=env)
    assert objects("box", "get", fork["box_id"], env=env)[0]["card_ids"] == ["a"]
    assert objects("box", "fork", box_id, "--at-length", "0", env=env)[0]["length"] == 0
    fork, = objects("box", "fork", box_id, "--at-version", "3", "--new-id", BOX[:-1] + "7", env=env)
    got, = objects("box", "get", fork["box_id"], env=env)
    assert got["card_ids"] == ["a", "b", "c"] and got["parent_ids"] == [box_id]
    assert fork["box_id"] == BOX[:-1] + "7"
    made, = objects("box", "create", "x", "y", "--id", BOX[:-1] + "8", env=env)
    assert made == {"box_id": BOX[:-1] + "8", "version": 1, "length": 2, "replayed": False}

    log = objects("box", "log", box_id, env=env)
    assert [(e["version"], e["op"], e["added"], e["length"], e["append_key"]) for e in log] == [
        (4, "append", 1, 4, None), (3, "append", 1, 3, "turn-1"), (2, "append", 2, 2, None),
        (1, "create", 0, 0, None)]
    assert [e["version"] for e in objects("box", "log", box_id, "--limit", "1", "--before", "4",
                                          env=env)] == [3]
    table = cardbox("box", "log", box_id, env=env).stdout.splitlines()
    assert table[0].split() == ["version", "op", "added", "length", "age", "at", "key"]
    assert table[2].split()[:4] == ["3", "append", "1", "3"] and table[2].endswith("turn-1")


# --- terminals ---


def test_terminal_cuts_and_colours():
    text = on_terminal("box", "cards", BOX, columns=90, env=shared())
    assert "\033[32muser\033[0m" in text and "\033[33mtool\033[0m" in text
    plain = re.sub("\033\\[[0-9;]*m", "", text)
    assert max(map(len, plain.splitlines())) == 90 and "…" in plain
    facts = on_terminal("card", "get", "demo-010-result", columns=40, env=shared())
    assert re.search(r'"step_id": "step-2", .*"}', facts) and "…" not in facts, facts  # all of it is what one looks for
    narrow = re.sub("\033\\[[0-9;]*m", "", on_terminal("box", "cards", BOX, columns=66, env=shared()))
    assert max(map(len, narrow.splitlines())) <= 66


def test_ids_of_a_list_are_whole():
    """They are there to be copied: no command takes a beginning of a card's id."""
    env, card = sample(), "01a2067e-5e5a-775c-90a9-d2918a7b3635"
    cardbox("card", "add", "--id", card, "--type", "task.instruction", "--text", "count the birds in the pond", env=env)
    box = json.loads(cardbox("box", "create", card, "--json", env=env).stdout)["box_id"]
    for columns in (60, 80):
        for command in (["card", "list", "--limit", "1"], ["box", "cards", "--ids", box]):
            text = on_terminal(*command, columns=columns, env={**env, "NO_COLOR": "1"})
            row, = [line for line in text.splitlines() if card in line]
            assert "instruction" in row and len(row) <= columns, text
            assert ("count the" in row) == (columns == 80), text


def test_the_next_page_on_a_narrow_terminal():
    """The option stands on one line as long as there is room for it alone."""
    wide, narrow = (on_terminal("card", "list", "--limit", "1", columns=columns, env=shared()).splitlines()
                    for columns in (100, 72))
    assert re.fullmatch(r"further ones: --cursor \S+", wide[-1]) and len(wide[-1]) > 72, wide
    assert narrow[-2:] == ["further ones:", wide[-1].removeprefix("further ones: ")], narrow
    assert len(narrow[-1]) <= 72, narrow


def test_no_colours():
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\033" not in on_terminal("box", "cards", BOX, env={**shared(), **env})
    assert "\033" not in cardbox("box", "cards", BOX, env=shared()).stdout
    assert "\033" not in on_terminal("box", "cards", "--json", BOX, env=shared())


def test_progress_only_on_a_terminal():
    env = {**shared(), "CARDBOX_PROJECT": "other"}
    assert cardbox("import", SAMPLE, env=env).stderr == ""
    text = on_terminal("import", SAMPLE, env=env)
    assert "import" in text and "19 unchanged" in text and "\033[K" in text


def test_escape_sequences_of_contents_do_not_reach_the_terminal():
    env = sample()
    evil = "\033]0;title\007\033[31mred \u009b1m \u202e reversed"
    cardbox("card", "add", "--id", "evil\u2066", "--type", "t", "--text", evil, env=env)
    for arguments in (["card", "list", "--type", "t"], ["card", "get", "evil\u2066"]):
        shown = cardbox(*arguments, env=env).stdout
        assert "red" in shown and "reversed" in shown
        assert not set("\033\007\u009b\u202e\u2066") & set(shown), repr(shown)
    found = cardbox("card", "get", "none\u2066", env=env, check=False)
    assert found.returncode == 1 and "none" in found.stderr and "\u2066" not in found.stderr, found


def test_escape_sequences_in_json_do_not_reach_the_terminal():
    """What is shown there says the same; what goes elsewhere is as it was."""
    env, evil = {**sample(), "NO_COLOR": "1"}, "\033[31mred \u009b1m \x7f \u202e reversed"
    cardbox("card", "add", "--id", "evil", "--text", evil, env=env)
    cardbox("session", "append", "--create", "plain", "talk", env=env,
            stdin=json.dumps({"type": "user", "content": evil}, ensure_ascii=False))
    for arguments, path in ((["card", "get", "evil", "--json"], ["content", "text"]),
                            (["ability", "invoke", "card:get", '{"card_id": "evil"}'], ["content", "text"]),
                            (["session", "context", "talk"], [0, "content"]),
                            (["session", "export", "talk"], None)):
        shown, piped = on_terminal(*arguments, env=env), cardbox(*arguments, env=env).stdout
        shown = re.sub(r"\r[^\n]*\033\[K", "", shown)  # the progress of what is long
        assert "reversed" in shown and not set("\033\u009b\x7f\u202e") & set(shown), repr(shown)
        assert set("\u009b\x7f\u202e") <= set(piped), repr(piped)
        if path:
            text = json.loads(shown.split("\n")[0])
            for step in path:
                text = text[step]
            assert text == evil, shown


def test_escape_sequences_of_ids_do_not_reach_the_terminal():
    """Nor those of entries, which others may have made, in the one line that a change is told in."""
    env = {**sample(), "NO_COLOR": "1"}
    evil = "evil\u009b1m\u202e"
    lines = [json.dumps({"type": "user", "id": name, "content": name}) for name in ("first", evil)]
    cardbox("session", "append", "--create", "plain", "ids", env=env, stdin="\n".join(lines))
    for how in ([], ["--json"]):
        fork = evil + "".join(how)  # the id of a deleted session stays in use
        for arguments in (["session", "head", "ids"], ["session", "head", "ids", "evil"],
                          ["session", "label", "ids", "evil", evil], ["session", "fork", "ids", "--new-id", fork],
                          ["session", "context", "ids", "first", "--compare", "evil"], ["session", "delete", fork],
                          ["card", "add", "--id", evil, "--text", "x", "--restore"], ["card", "delete", evil]):
            shown = on_terminal(*arguments, *how, env=env)
            assert shown.strip() and not set("\u009b\u202e") & set(shown), (arguments, shown)
            assert "version" in shown or not how or json.loads(shown), shown


def test_lines_that_end_as_those_of_windows():
    env = sample()
    cardbox("card", "add", "--id", "crlf", "--text", "one\r\ntwo\rthree\r\n", env=env)
    assert cardbox("card", "get", "crlf", env=env).stdout.endswith("\none\ntwo\ufffdthree\n\n")


if __name__ == "__main__":
    cardbox_test.main()
