#!/usr/bin/env python3
"""cardbox export: the form of its lines, the round trip, one moment for all of it."""

import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, cardbox, database, shared_file, temp_dir

SAMPLE = os.path.join(cardbox_test.ROOT, "tests", "lib", "sample.ndjson")


def export(dsn, project="p"):
    """The bytes of an export."""
    done = subprocess.run([os.path.join(cardbox_test.BUILD, "bin", "cardbox"), "export", "--dsn",
                           dsn, "--project", project], stdout=subprocess.PIPE, check=True)
    return done.stdout


def load(dsn, data, project="p"):
    return cardbox("import", "--dsn", dsn, "--project", project, "--json", stdin=data, check=False)


def round_trip(dsn, project="p"):
    first = export(dsn, project)
    other = database()
    done = load(other, first.decode(), project)
    assert done.returncode == 0, done.stderr
    second = export(other, project)
    if first != second:
        for a, b in zip(first.splitlines(), second.splitlines()):
            assert a == b, f"{a[:600]}\n{b[:600]}"
    assert first == second and first
    return first


def test_lines():
    dsn = database()
    card = ('{"kind":"card","card_id":"c","content":{"a":[1,null]},"tool_calls":null,'
            '"tool_call_id":"call","ttl_seconds":7,"expires_at":"2099-01-01T00:00:00Z",'
            '"deleted_at":null,"metadata":{"type":"x"},"created_at":"2025-01-02T03:04:05.500000Z"')
    box = ('{"kind":"box","box_id":"01970000-0000-7000-8000-000000000001","card_ids":["c","c"],'
           '"parent_ids":[],"updated_at":"2025-01-02T00:00:00Z"')
    made = ',"created_at":"2025-01-01T00:00:00Z"}'
    lines = [card + ',"exact":true}',
             card.replace('"c"', '"d"').replace('"type":"x"', '') + ',"sealed":true,"exact":true}',
             box + "}", box.replace("000001", "000002") + made]
    assert load(dsn, "\n".join(reversed(lines))).returncode == 0
    assert export(dsn).decode() == "\n".join(lines) + "\n"


def test_contract_rows_round_trip():
    dsn = database()
    cardbox("import", "--dsn", dsn, "--tenant-from-rows", shared_file("contract", "rows.ndjson"),
            check=False)
    for project in ("proj-a", "proj-b", "public", "проект № 1"):
        yield project, lambda project=project: round_trip(dsn, project)


def test_sample_round_trip():
    dsn = database()
    cardbox("import", "--dsn", dsn, "--project", "p", SAMPLE)
    assert len(round_trip(dsn).splitlines()) == len(open(SAMPLE).readlines())


def test_exact_text_round_trip():
    dsn = database()
    contents = ['{ "b" : "\\u0000" , "a":"\\ud800" }', '"\\uDFFF"', "[1e2, -0, 1E400]",
                '{"a":1,"a":2}', '{"\\u0061":1, "b":"\\/"}', "1.10", '"\\u00e9"', '""',
                '{"__type__":"TextContent","text":"\\u0000"}']
    lines = ['{"kind":"card","card_id":"c-%d","content":%s}' % pair
             for pair in enumerate(contents)]
    assert load(dsn, "\n".join(lines)).returncode == 0
    shown = [line.decode() for line in round_trip(dsn).splitlines()]
    for index in (0, 1, 2, 3):
        assert f'"content":{contents[index]},' in shown[index], shown[index]


def test_exact_text_of_several_lines_stays_one_line():
    dsn = database()
    cardbox("card", "add", "--dsn", dsn, "--project", "p", "--id", "c", "--content",
            '{"a":\n\t1e3,\r\n"b":2}')
    assert rb'"content_text":"{\"a\":\n\t1e3,\r\n\"b\":2}",' in round_trip(dsn)


def test_boxes_with_a_history_round_trip():
    """Forks, replaced lists, segments and their rests."""
    dsn = database()
    psql = Postgres.shared().psql
    psql(dsn, "SELECT cardbox.create_box('p', '01970000-0000-7000-8000-000000000001', '[]', '[]',"
              " NULL, false)")
    for count in (1, 62, 1, 1, 64, 200, 3):
        psql(dsn, "SELECT cardbox.append_ids('p', '01970000-0000-7000-8000-000000000001',"
                  f" (SELECT jsonb_agg('id-' || n) FROM generate_series(1, {count}) n), NULL, NULL, true)")
    for number, length in enumerate((0, 1, 63, 64, 65, 128, 200, 332), start=2):
        psql(dsn, "SELECT cardbox.fork_box('p', '01970000-0000-7000-8000-000000000001',"
                  f" '01970000-0000-7000-8000-00000000000{number}', NULL, {length})")
    psql(dsn, "SELECT cardbox.append_ids('p', '01970000-0000-7000-8000-000000000004',"
              " '[\"x\", \"y\"]', NULL, NULL, true)")
    lines = [json.loads(line) for line in round_trip(dsn).splitlines()]
    assert [len(line["card_ids"]) for line in lines] == [332, 0, 1, 65, 64, 65, 128, 200, 332]
    assert lines[3]["card_ids"][-3:] == ["id-62", "x", "y"]


def test_many_rows_round_trip():
    """More than a page, of very different sizes."""
    dsn = database()
    source = random.Random(7)
    lines = []
    for index in range(3000):
        size = source.choice([10, 100, 1000, 20000] if index % 50 == 0 else [10, 100])
        lines.append(json.dumps({"kind": "card", "card_id": f"c-{index}", "content": "x" * size}))
    for index in range(600):
        ids = [f"c-{n}" for n in range(source.randrange(0, 300))]
        lines.append(json.dumps({"kind": "box", "card_ids": ids,
                                 "box_id": f"01970000-0000-7000-8000-{index:012d}"}))
    assert load(dsn, "\n".join(lines)).returncode == 0
    assert len(round_trip(dsn).splitlines()) == 3600


def test_what_was_deleted_is_left_out():
    """Also what has expired: no reader gets its content any more. A row of it can be imported, and is no card."""
    dsn = database()
    row = {"kind": "card", "content": "secret", "metadata": {"of": "secret"}}
    old = {**row, "card_id": "old", "deleted_at": "2025-01-02T03:04:05Z"}
    rows = [{"kind": "card", "card_id": "kept", "content": "x"}, {**row, "card_id": "gone"}, old,
            {**row, "card_id": "expired", "ttl_seconds": 1, "created_at": "2025-01-02T03:04:05Z"},
            {"kind": "card", "card_id": "later", "content": "x", "ttl_seconds": 10 ** 8},
            {"kind": "box", "box_id": "01970000-0000-7000-8000-000000000001", "card_ids": ["kept", "gone", "old"]}]
    assert load(dsn, "".join(json.dumps(one) + "\n" for one in rows)).returncode == 0
    cardbox("card", "delete", "--dsn", dsn, "--project", "p", "gone")
    cardbox("session", "append", "--dsn", dsn, "--project", "p", "--create", "plain", "s", stdin='{"type":"user","content":"secret"}')
    cardbox("session", "delete", "--dsn", dsn, "--project", "p", "s")
    lines = [json.loads(line) for line in round_trip(dsn).splitlines()]
    assert [line.get("card_id", line["kind"]) for line in lines] == ["kept", "later", "box"], lines
    assert b"secret" not in export(dsn)
    again = load(dsn, json.dumps(old))
    assert json.loads(again.stdout)["cards"]["unchanged"] == 1, again
    said = cardbox("card", "add", "--dsn", dsn, "--project", "p", "--id", "old", "--text", "late", check=False)
    assert said.returncode == 1 and "was deleted or has expired" in said.stderr, said


def test_file_appears_when_it_is_whole():
    dsn = database()
    cardbox("import", "--dsn", dsn, "--project", "p", SAMPLE)
    folder = temp_dir()
    path = os.path.join(folder, "out.ndjson")
    done = cardbox("export", "--dsn", dsn, "--project", "p", path)
    assert done.stdout == f"19 cards, 3 boxes of project p in {path}\n" and done.stderr == ""
    assert os.listdir(folder) == ["out.ndjson"]
    with open(path, "rb") as file:
        assert file.read() == export(dsn)
    done = cardbox("export", "--dsn", dsn, "--project", "p", "/dev/full", check=False)
    assert done.returncode == 1 and "No space left on device" in done.stderr
    done = cardbox("export", "--dsn", dsn, "--project", "p", "/nonexistent/out", check=False)
    assert done.returncode == 1 and "cannot write /nonexistent/out" in done.stderr
    done = cardbox("export", "--dsn", dsn + "x", "--project", "p", path, check=False)
    assert done.returncode == 1 and os.listdir(folder) == ["out.ndjson"]


def test_a_project_in_place_of_a_file():
    """Where the variable names the project, who gives another as an argument is told."""
    folder, program = temp_dir(), os.path.join(cardbox_test.BUILD, "bin", "cardbox")
    given = {**os.environ, "CARDBOX_DSN": database(), "CARDBOX_PROJECT": "p"}

    def said(*arguments):
        done = subprocess.run([program, "export", *arguments], cwd=folder, env=given, capture_output=True,
                              text=True, check=True)
        return done.stderr.splitlines()[:-1]  # and that nothing is there
    assert said("other") == ["other is a file now; to export another project than p, give --project"]
    assert said("./other") == said("other.ndjson") == said("other", "--project", "p") == []


def test_output_that_cannot_be_written():
    dsn = database()
    cardbox("import", "--dsn", dsn, "--project", "p", SAMPLE)
    program = os.path.join(cardbox_test.BUILD, "bin", "cardbox")
    with open("/dev/full", "w") as full:
        done = subprocess.run([program, "export", "--dsn", dsn, "--project", "p"], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and done.stderr.startswith("cardbox export: cannot write the output")


def test_empty_project_and_bad_name():
    dsn = database()
    assert export(dsn) == b""
    done = cardbox("export", "--dsn", dsn, "--project", "p")
    assert done.stderr == "nothing is in project p\n"
    done = cardbox("export", "--dsn", dsn, "--project", "a\nb", check=False)
    assert done.returncode == 1 and "the project must be 1 to 255 bytes" in done.stderr


def test_reader_that_leaves():
    dsn = database()
    rows = [json.dumps({"kind": "card", "card_id": f"c-{n}", "content": "x" * 2000})
            for n in range(1000)]
    load(dsn, "\n".join(rows))
    program = os.path.join(cardbox_test.BUILD, "bin", "cardbox")
    done = subprocess.run(f"{program} export --dsn '{dsn}' --project p | head -n 1 | wc -l;"
                          " echo ${PIPESTATUS[0]}", shell=True, executable="/bin/bash",
                          capture_output=True, text=True)
    assert done.stdout.split() == ["1", "141"] and done.stderr == "", done


if __name__ == "__main__":
    cardbox_test.main()
