#!/usr/bin/env python3
"""cardbox import: what rows become, what is refused and why, and that nothing spoils the rest."""

import concurrent.futures
import datetime
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Server, cardbox, database, load, psql, shared_file

BOX = "01970000-0000-7000-8000-0000000000%02d"


def card(card_id, content=None, **members):
    return {"kind": "card", "card_id": card_id,
            "content": {"__type__": "TextContent", "text": card_id} if content is None else content,
            **members}


def box(number, card_ids, **members):
    return {"kind": "box", "box_id": BOX % number, "card_ids": card_ids, **members}


def stored(dsn, card_id, column="content"):
    return psql(dsn, f"SELECT {column} FROM cardbox.cards WHERE card_id = '{card_id}'").strip("\n")


# --- values ---


def test_members_are_kept():
    dsn = database()
    status, counts, _ = load(dsn, card(
        "c", {"any": ["JSON", 1.5]}, tool_calls=[{"id": "x"}], tool_call_id="call-1",
        ttl_seconds=60, expires_at="2099-01-01T00:00:00+02:00", metadata={"type": "tool.call"},
        created_at="2025-01-02T03:04:05.123456+00:00", deleted_at=None, sealed=True))
    assert status == 0 and counts["cards"]["inserted"] == 1
    row = psql(dsn, "SELECT content, tool_calls, tool_call_id, ttl_seconds,"
                    " expires_at AT TIME ZONE 'UTC', metadata, created_at AT TIME ZONE 'UTC',"
                    " deleted_at, sealed, tenant_id FROM cardbox.cards")
    assert row == ('{"any": ["JSON", 1.5]}|[{"id": "x"}]|call-1|60|2098-12-31 22:00:00|'
                   '{"type": "tool.call"}|2025-01-02 03:04:05.123456||t|p\n'), row


def test_times_without_offset_are_utc():
    dsn = database()
    load(dsn, card("c", created_at="2025-01-02T03:04:05"), box(1, [], updated_at="2025-01-02 03:04"))
    assert stored(dsn, "c", "created_at AT TIME ZONE 'UTC'") == "2025-01-02 03:04:05"
    assert psql(dsn, "SELECT updated_at = created_at, updated_at AT TIME ZONE 'UTC'"
                     " FROM cardbox.card_boxes") == "t|2025-01-02 03:04:00\n"


def test_what_was_made_in_a_day_and_more():
    """An error of its line, for each kind alike, by the command line and over HTTP. Hours are a wrong clock."""
    dsn = database()

    def rows(hours):
        ms = int((time.time() + 3600 * hours) * 1000)
        at = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc).isoformat()
        task = {"kind": "task", "id": f"t{hours}", "system_prompt": "x", "created_at": ms, "updated_at": 1}
        return (card(f"c{hours}", created_at=at), box(hours % 7, [], created_at=at), box(hours % 7 + 7, [], updated_at=at),
                {"kind": "session", "session_id": f"s{hours}", "version": 1, "created_at": at}, task,
                {"kind": "message", "id": f"m{hours}", "task_id": "t", "role": "user", "content": "x", "timestamp": ms},
                {"kind": "call", "id": f"k{hours}", "task_id": "t", "ability_name": "card:get", "parameters": "{}",
                 "status": "completed", "created_at": ms, "updated_at": 1, "start_message_id": "m"})

    needed = ({"kind": "task", "id": "t", "system_prompt": "x", "created_at": 1, "updated_at": 1},
              {"kind": "message", "id": "m", "task_id": "t", "role": "user", "content": "x", "timestamp": 1})
    names = ["created_at", "created_at", "updated_at", "created_at", "created_at", "timestamp", "created_at"]
    said = [f"line {number}: {name} is more than a day ahead" for number, name in enumerate(names, 1)]
    assert load(dsn, *needed, *rows(23))[0] == 0
    status, counts, complaints = load(dsn, *rows(25))
    assert status == 1 and complaints[:7] == said, complaints
    assert not any(one["inserted"] for one in counts.values() if isinstance(one, dict)), counts
    server = Server(dsn)
    body = cardbox_test.json_lines(*rows(25), card("good"))
    answer = server.request("POST", "/projects/p/import", body, {"Content-Type": "application/x-ndjson"}).json()
    assert [f"line {one['line']}: {one['reason']}" for one in answer["errors"]] == said, answer
    assert answer["cards"]["inserted"] == 1, answer
    for ms in (2 ** 63 - 1, 253402300799999):
        status, _, complaints = load(dsn, {**needed[0], "id": "far", "created_at": ms})
        assert status == 1 and "created_at is more than a day ahead" in complaints[0], complaints
    for ms in (-1, -2 ** 63):
        assert load(dsn, {**needed[0], "id": "far", "created_at": ms})[0] == 1
    server.stop()



def test_versions_of_sessions():
    """A version that leaves no room for appends is an error of its line. So is one that SQL restores."""
    dsn, most = database(), 2**53 - 1
    status, _, complaints = load(dsn, {"kind": "session", "session_id": "s", "version": most + 1})
    assert status == 1 and complaints[0] == f"line 1: version must be 1 to {most}, not {most + 1}", complaints
    assert load(dsn, {"kind": "session", "session_id": "s", "version": 2**63 - 1})[0] == 1
    assert load(dsn, {"kind": "session", "session_id": "s", "version": most})[0] == 0
    for version in (0, most + 1):
        done = subprocess.run(["psql", dsn, "-Xqc", "SELECT cardbox.restore_session('p', 'x', 'plain', NULL, NULL, NULL, NULL, "
                               f"{version}, NULL, NULL)"], capture_output=True, text=True)
        assert "the version of a session must be 1 to" in done.stderr, done


def test_boxes_that_name_themselves():
    dsn = database()
    for parents in ([BOX % 1], [BOX % 2, "x", (BOX % 1).upper()], json.dumps([BOX % 1])):
        status, counts, complaints = load(dsn, box(1, [], parent_ids=parents), box(2, [], parent_ids=[BOX % 1]))
        assert status == 1 and complaints[0] == "line 1: parent_ids: a box can't be its own parent", complaints
        assert counts["boxes"]["refused"] == 1, counts


def test_dead_cards_are_dead():
    dsn = database()
    load(dsn, card("deleted", deleted_at="2025-02-01T00:00:00Z"),
         card("expired", ttl_seconds=0, expires_at="2025-01-01T00:00:00Z"),
         card("negative", ttl_seconds=-5, created_at="2025-01-01T00:00:00Z"),
         card("null", content=False))
    assert stored(dsn, "negative", "expires_at AT TIME ZONE 'UTC'") == "2024-12-31 23:59:55"
    done = cardbox("card", "get", "--dsn", dsn, "--project", "p", "deleted", "expired", "negative",
                   check=False)
    assert done.returncode == 1 and done.stderr.count("card not found") == 3


def test_null_content_is_refused():
    """A row that its own system could not read either. Its neighbours are imported."""
    dsn = database()
    status, counts, said = load(dsn, '{"kind":"card","card_id":"c","content":null}', card("d"))
    assert status == 1 and counts["cards"]["refused"] == 1 and counts["cards"]["inserted"] == 1
    assert "content is null" in str(said), said


def test_known_class_in_its_normal_form():
    dsn = database()
    load(dsn, card("fields", {"__type__": "FieldsSchemaContent", "fields": [{"name": "  a "}]}),
         card("call", {"__type__": "ToolCallContent", "tool_name": "t", "arguments": {},
                       "status": "s"}),
         card("wrong", {"__type__": "TextContent", "text": 5}))
    assert json.loads(stored(dsn, "fields"))["fields"] == [{"name": "a", "description": ""}]
    assert json.loads(stored(dsn, "call"))["target_subject"] is None
    assert json.loads(stored(dsn, "wrong")) == {"__type__": "TextContent", "text": 5}


def test_values_that_were_encoded_twice():
    dsn = database()
    load(dsn, card("c", metadata='{"type":"from.string"}', tool_calls='[{"id":"in-string"}]'),
         card("junk", metadata="junk", tool_calls="junk"), card("odd", metadata=[1], tool_calls=5),
         card("number", metadata="42"), box(1, '["a", "b"]'))
    assert stored(dsn, "c", "metadata ->> 'type', tool_calls -> 0 ->> 'id'") == \
        "from.string|in-string"
    assert stored(dsn, "junk", "metadata, tool_calls") == '"junk"|"junk"'
    assert stored(dsn, "odd", "metadata, tool_calls") == "[1]|5"
    assert stored(dsn, "number", "metadata") == '"42"'
    assert psql(dsn, "SELECT card_ids FROM cardbox.boxes") == '["a", "b"]\n'


def test_text_that_jsonb_cannot_hold():
    dsn = database()
    exact = '{"b":"\\u0000","b":"\\ud800", "n":1e2}'
    status, _, _ = load(dsn, '{"kind":"card","card_id":"c","content":%s}' % exact)
    assert status == 0
    assert stored(dsn, "c") == exact
    assert stored(dsn, "c", "cardbox.card_text(content) IS NULL") == "t"
    shown = cardbox("export", "--dsn", dsn, "--project", "p").stdout
    assert '"content":' + exact + "," in shown


def test_boxes():
    dsn = database()
    status, counts, _ = load(
        dsn, box(1, ["a", "b"], parent_ids=[BOX % 2]), box(2, None, parent_ids=None),
        box(3, ["", "x" * 2000]), box(4, [f"id-{i}" for i in range(20000)]),
        box(5, [], updated_at="2025-01-02T00:00:00Z", created_at="2025-01-01T00:00:00Z"),
        {"kind": "box", "box_id": "ABCDEFAB-CDEF-7ABC-8DEF-ABCDEFABCDEF", "card_ids": []})
    assert status == 0 and counts["boxes"]["inserted"] == 6
    assert psql(dsn, "SELECT length, card_ids ->> 19999 FROM cardbox.boxes"
                     " WHERE length > 9000") == "20000|id-19999\n"
    assert psql(dsn, "SELECT card_ids, parent_ids FROM cardbox.boxes"
                     f" WHERE box_id IN ('{BOX % 1}', '{BOX % 2}') ORDER BY box_id") == \
        f'["a", "b"]|["{BOX % 2}"]\n[]|[]\n'
    assert psql(dsn, f"SELECT updated_at - created_at FROM cardbox.boxes"
                     f" WHERE box_id = '{BOX % 5}'") == "1 day\n"
    # The same list is left alone, another one takes its place and can be read as it was.
    status, counts, _ = load(dsn, box(1, ["a", "b"]), box(2, ["c"]))
    assert counts["boxes"] == {"inserted": 0, "unchanged": 1, "repaired": 1, "refused": 0}
    get = cardbox("box", "get", "--dsn", dsn, "--project", "p", "--json", "--at-version", "1",
                  BOX % 2)
    assert json.loads(get.stdout)["card_ids"] == []


# --- tenants ---


def test_project_or_the_rows_tenant():
    dsn = database()
    rows = [card("c", tenant_id="a"), box(1, ["c"], tenant_id="b"), card("c", tenant_id="b")]
    assert load(dsn, *rows)[0] == 0
    assert psql(dsn, "SELECT DISTINCT tenant_id FROM cardbox.cards") == "p\n"
    assert load(dsn, *rows, project=None, options=["--tenant-from-rows"])[0] == 0
    assert psql(dsn, "SELECT tenant_id FROM cardbox.cards ORDER BY 1") == "a\nb\np\n"
    status, _, complaints = load(dsn, card("c"), card("d", tenant_id=""), project=None,
                                 options=["--tenant-from-rows"])
    assert status == 1 and complaints == [
        "line 1: the row has no tenant_id",
        "line 2: tenant_id must be 1 to 255 bytes of UTF-8 without control characters"]


def test_examples_of_the_manual():
    """They are run as they stand there; the other system's table is made here."""
    with open(os.path.join(cardbox_test.ROOT, "src", "cli", "cardbox.1"), encoding="utf-8") as page:
        section = page.read().split("\n.SH EXAMPLES\n")[1].split("\n.SH ")[0]
    examples = [text.replace("\\-", "-") for text in re.findall(r"\.nf\n(.*?)\n\.fi", section, re.S)]
    assert len(examples) == 2
    dsn = database()
    load(dsn, card("c"), box(1, ["c"]), project="demo")
    psql(dsn, "CREATE TABLE public.messages (id int, team text, body text, author text, sent_at"
              " timestamptz); GRANT SELECT ON public.messages TO PUBLIC;"
              " INSERT INTO public.messages VALUES (7, 'blue', E'two\nlines \"', 'ann', '2025-01-02')")
    for text in examples:
        # The other system's table, and not ours of that name, which the role cardbox would find first.
        text = text.replace("-d other", f"-d '{dsn} options=-csearch_path=public'")
        subprocess.run(["bash", "-euo", "pipefail", "-c", text], check=True, timeout=60, env={
            **os.environ, "CARDBOX_DSN": dsn,
            "PATH": os.path.join(cardbox_test.BUILD, "bin") + ":" + os.environ["PATH"]})
    assert stored(dsn, "msg-7", "tenant_id, content ->> 'text', metadata ->> 'author_id',"
                                " created_at::date") == 'blue|two\nlines "|ann|2025-01-02'
    assert psql(dsn, "SELECT tenant_id FROM cardbox.boxes ORDER BY 1") == "copy\ndemo\n"


def test_variable_names_the_project():
    dsn = database()
    done = cardbox("import", "--json", stdin=json.dumps(card("c")),
                   env={"CARDBOX_DSN": dsn, "CARDBOX_PROJECT": "from-variable"})
    assert json.loads(done.stdout)["cards"]["inserted"] == 1
    assert stored(dsn, "c", "tenant_id") == "from-variable"
    cardbox("import", "--tenant-from-rows", stdin=json.dumps(card("d", tenant_id="own")),
            env={"CARDBOX_DSN": dsn, "CARDBOX_PROJECT": "from-variable"})
    assert stored(dsn, "d", "tenant_id") == "own"


# --- bad lines ---

BAD = [
    ("not JSON", "{", "not valid JSON at byte 1"),
    ("not UTF-8", '{"kind":"card\\ud800"}', 'unknown kind "card\\ud800"'),
    ("no object", "[1]", "the line must be a JSON object, not array"),
    ("two values", '{"kind":"box"} 1', "not valid JSON at byte 15"),
    ("too deep", '{"kind":"card","card_id":"c","content":' + "[" * 300 + "]" * 300 + "}",
     "not valid JSON"),
    ("no kind", {"card_id": "c"},
     "the row has no kind: card, box, session_entry, usage, session, task, message or call"),
    ("kind of another type", {"kind": 1}, "kind must be a string, not number"),
    ("unknown kind", {"kind": "x"}, 'unknown kind "x"'),
    ("member twice", '{"kind":"card","card_id":"a","card_id":"b"}', "the row has card_id twice"),
    ("kind twice", '{"kind":"task","kind":"card","card_id":"a","content":1}', "the row has kind twice"),
    *[(f"tenant_id of a {kind} twice", '{"kind":"%s","tenant_id":"p","tenant_id":"p"}' % kind,
       "the row has tenant_id twice")
      for kind in ("card", "box", "session_entry", "session", "task", "message", "call")],
    ("no card_id", {"kind": "card", "content": 1}, "the row has no card_id"),
    ("card_id of another type", {"kind": "card", "card_id": 1}, "card_id must be a string"),
    ("empty card_id", {"kind": "card", "card_id": ""}, "card_id must be 1 to 512 bytes"),
    ("long card_id", {"kind": "card", "card_id": "x" * 513}, "card_id must be 1 to 512 bytes"),
    ("NUL in card_id", '{"kind":"card","card_id":"\\u0000"}', "card_id must be 1 to 512 bytes"),
    ("no content", {"kind": "card", "card_id": "c"}, "the row has no content"),
    ("metadata for no jsonb", '{"kind":"card","card_id":"c","content":1,"metadata":"\\u0000"}',
     "metadata holds what PostgreSQL's jsonb can't"),
    ("bad ttl", card("c", ttl_seconds=1.5), "ttl_seconds must be an integer"),
    ("huge ttl", card("c", ttl_seconds=2 ** 40), "ttl_seconds must be an integer"),
    ("bad time", card("c", created_at="yesterday"), 'created_at must be a time like'),
    ("time of another type", card("c", expires_at=5), "expires_at must be a string"),
    ("bad sealed", card("c", sealed="yes"), "sealed must be true or false"),
    ("bad tool_call_id", card("c", tool_call_id=5), "tool_call_id must be a string"),
    ("no box_id", {"kind": "box"}, "the row has no box_id"),
    ("bad box_id", {"kind": "box", "box_id": "b"}, 'box_id must be a UUID, not "b"'),
    ("ids that are a number", box(1, 7), "card_ids must be an array of strings, not number"),
    ("ids that are a string", box(1, "c-1"), "card_ids must be an array of strings, not string"),
    ("ids that are an object", box(1, {"a": 1}), "card_ids must be an array of strings, not obj"),
    ("an id that is null", box(1, ["a", None]), "card_ids[1] must be a string, not null"),
    ("parents that are no strings", box(1, [], parent_ids=[1]), "parent_ids[0] must be a string"),
]


def test_each_bad_line_alone():
    dsn = database()

    def check(row, say):
        status, counts, complaints = load(dsn, card("before"), "", row, card("after"))
        assert status == 1 and len(complaints) == 1, complaints
        assert complaints[0].startswith("line 3: ") and say in complaints[0], complaints
        assert sum(kind["refused"] for kind in counts.values() if isinstance(kind, dict)) == 1
        assert counts["cards"]["inserted"] + counts["cards"]["unchanged"] == 2

    for name, row, say in BAD:
        yield name, lambda row=row, say=say: check(row, say)


def test_bad_lines_among_a_thousand():
    dsn = database()
    rows = [card(f"c-{i}") for i in range(1000)]
    bad = dict(zip(range(7, 1000, 25), [row for _, row, _ in BAD]))
    for index, row in bad.items():
        rows[index] = row
    status, counts, complaints = load(dsn, *rows)
    numbers = sorted(int(re.match(r"line (\d+): ", line).group(1)) for line in complaints)
    assert status == 1 and numbers == [index + 1 for index in sorted(bad)]
    assert counts["cards"]["inserted"] == 1000 - len(bad)


def test_a_file_that_is_no_export():
    """It has not as many complaints as lines; what comes behind them is imported, and all is counted."""
    dsn, lines = database(), ["# A title", "", *["A line of text."] * 100]
    told = [r"line 1: .*", *[fr"line {n}: .*" for n in (3, 4, 5, 6)],
            "from line 7 on, bad lines are only counted, until a row of an export comes"]
    for rest, inserted, behind in (
            ([], 0, ["no line is a row of an export; `cardbox session import` reads a session's file"]),
            ([card("good"), "bad"], 1, [r"line 104: .*"])):
        status, counts, said = load(dsn, *lines, *rest)
        assert status == 1 and counts["other"]["refused"] == 101 + len(rest) // 2, counts
        assert counts["cards"]["inserted"] == inserted and counts["lines"] == len(lines) + len(rest), counts
        assert len(said) == 7 and all(map(re.fullmatch, told + behind, said)), said


def test_rows_that_the_database_refuses():
    """A value that only PostgreSQL finds: the others of its batch are written."""
    dsn = database()
    result = {"metadata": {"type": "tool.result"}, "tool_call_id": "call"}
    load(dsn, card("first", **result), card("sealed", sealed=True),
         card("gone", deleted_at="2025-01-01T00:00:00Z"), box(9, []))
    psql(dsn, "UPDATE cardbox.card_boxes SET deleted_at = now()")
    rows = [card(f"c-{i}") for i in range(40)]
    rows[3] = card("second", **result)
    rows[11] = card("sealed", {"other": 1})
    rows[12] = card("gone")
    rows[25] = card("late", created_at="2025-01-01T00:00:00Z", ttl_seconds=2 ** 31 - 1,
                    metadata={"step_id": "x" * 5000 + os.urandom(3000).hex()})
    status, counts, complaints = load(dsn, *rows, box(9, ["c-1"]), box(10, ["c-1"]))
    assert status == 1 and counts["cards"]["inserted"] == 36, (counts, complaints)
    assert counts["boxes"]["inserted"] == 1 and counts["boxes"]["refused"] == 1
    said = {int(re.match(r"line (\d+): ", line).group(1)): line for line in complaints}
    assert sorted(said) == [4, 12, 13, 26, 41] and len(complaints) == 5, complaints
    assert counts["cards"]["refused"] == 4, counts
    assert "card first is the result of this tool call already" in said[4]
    assert "sealed" in said[12] and "deleted here" in said[13] and "index row" in said[26]
    assert "the box was deleted here" in said[41]


def test_unknown_members_are_named():
    status, counts, complaints = load(database(), card("a"), card("b", colour=1, shape=2),
                                      card("c", colour=3))
    assert status == 0 and counts["ignored_members"] == 3
    assert complaints == ['cardbox import: warning: 3 unknown members were left out; the first is '
                          '"colour" in line 2']


def test_long_lines():
    dsn = database()
    text = "x" * (3 << 20)
    status, counts, _ = load(dsn, card("long", {"__type__": "TextContent", "text": text}), card("b"))
    assert status == 0 and counts["cards"]["inserted"] == 2
    assert stored(dsn, "long", "length(content ->> 'text')") == str(len(text))


def test_no_such_file():
    done = cardbox("import", "--project", "p", "/nonexistent", check=False)
    assert done.returncode == 1
    assert done.stderr == ("cardbox import: cannot open /nonexistent: No such file or directory\n")
    done = cardbox("import", "--project", "p", "--dsn", database(), "/tmp", check=False)
    assert done.returncode == 1 and "cannot read /tmp: Is a directory" in done.stderr


# --- again ---


def test_second_import_writes_nothing():
    dsn = database()
    rows = [card(f"c-{i}", metadata={"type": "agent.thought"}) for i in range(700)]
    rows += [box(i, [f"c-{n}" for n in range(i * 7)]) for i in range(50)]
    rows.append(card("deleted", deleted_at="2025-02-01T00:00:00Z"))
    assert load(dsn, *rows)[0] == 0
    rows_as_they_are = "SELECT ctid, xmin FROM cardbox.{} ORDER BY 1"
    before = [psql(dsn, rows_as_they_are.format(table)) for table in ("cards", "card_boxes")]
    status, counts, _ = load(dsn, *rows)
    assert status == 0
    assert counts["cards"] == {"inserted": 0, "unchanged": 701, "repaired": 0, "refused": 0}
    assert counts["boxes"] == {"inserted": 0, "unchanged": 50, "repaired": 0, "refused": 0}
    assert before == [psql(dsn, rows_as_they_are.format(table))
                      for table in ("cards", "card_boxes")]
    people = cardbox("import", "--dsn", dsn, "--project", "p",
                     stdin="\n".join(map(json.dumps, rows))).stdout
    assert people == ("cards  0 inserted, 701 unchanged, 0 repaired, 0 refused\n"
                      "boxes  0 inserted, 50 unchanged, 0 repaired, 0 refused\n")


def test_repair():
    dsn = database()
    load(dsn, card("c", {"v": 1}))
    _, counts, _ = load(dsn, card("c", {"v": 2}))
    assert counts["cards"]["repaired"] == 1 and stored(dsn, "c") == '{"v": 2}'
    assert psql(dsn, "SELECT content FROM cardbox.card_revisions") == '{"v": 1}\n'


def test_contract_rows():
    rows = shared_file("contract", "rows.ndjson")
    dsn = database()
    done = cardbox("import", "--dsn", dsn, "--tenant-from-rows", rows, check=False)
    assert done.returncode == 1
    assert done.stdout == ("cards  1395 inserted, 0 unchanged, 0 repaired, 3 refused\n"
                           "boxes  130 inserted, 0 unchanged, 0 repaired, 4 refused\n")
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == \
        ["line 4", "line 1230", "line 1233", "line 1407", "line 1408", "line 1409", "line 1411"]
    assert psql(dsn, "SELECT count(DISTINCT tenant_id) FROM cardbox.cards") == "4\n"


def test_boxes_in_two_orders_at_once():
    """Two imports that meet wait for one another, never each for the other."""
    dsn = database()
    def rows(turn):
        return [{"kind": "box", "box_id": f"00000000-0000-7000-8000-{n:012}", "card_ids": [f"{turn}"]} for n in range(300)]
    for turn in range(4):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda given: load(dsn, *given), (rows(f"a{turn}"), rows(f"b{turn}")[::-1])))
        assert [status for status, _, _ in done] == [0, 0], done
    assert psql(dsn, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == "0\n"


if __name__ == "__main__":
    cardbox_test.main()
