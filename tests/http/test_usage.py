#!/usr/bin/env python3
"""The tokens of sessions, tasks and projects equal the sums that this test keeps itself: after appends in all formats,
repeated requests, forks, imports, deletions and moves of projects."""

import concurrent.futures
import datetime
import json
import os
import random
import sys
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import as_role, ask, dsn, json_lines, literal, psql, server, url

NDJSON = {"Content-Type": "application/x-ndjson"}
MOST = 2 ** 53
LINES = 5 if cardbox_test.LIGHT else 40


def today():
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


class Sums:
    """What a project must answer: rows of day, source, id, model, and the numbers."""

    def __init__(self, project):
        self.project, self.rows = project, []

    def add(self, session, model, numbers, day=None, source="session_id"):
        numbers = [*numbers, *[0] * (4 - len(numbers))]
        self.rows.append({"day": day or today(), source: session, "model": model, "numbers": numbers})

    def forget(self, session):
        for row in self.rows:
            if row.get("session_id") == session:
                row["session_id"] = None

    def of(self, **which):
        rows = [row["numbers"] for row in self.rows if all(row.get(name, row) == value for name, value in which.items())]
        return [sum(Decimal(str(numbers[i])) for numbers in rows) for i in range(4)]

    def groups(self, *names):
        keys = {next((name, row[name]) for name in names if name in row) for row in self.rows}
        return {key: self.of(**dict([key])) for key in keys}

    def check(self):
        """All reads of the project."""
        for by, names in (("day", ["day"]), ("model", ["model"]), ("session", ["session_id", "task_id"])):
            answer = usage(self.project, by=by)
            assert numbers(answer["total"]) == self.of(), (by, answer["total"], self.of())
            got = {next((name, item[name]) for name in names if name in item): numbers(item) for item in answer["items"]}
            assert got == self.groups(*names), (by, got, self.groups(*names))
            assert answer["groups"] == len(answer["items"]) == len(got), answer
        days = [item["day"] for item in usage(self.project)["items"]]
        assert days == sorted(days, reverse=True), days
        listed = {one["session_id"]: numbers(one["usage"])
                  for one in ask("GET", url(self.project, "sessions") + "?limit=1000").json()["sessions"]}
        for session, found in listed.items():
            assert found == self.of(session_id=session), (session, found)
            assert numbers(ask("GET", url(self.project, "sessions", session)).json()["usage"]) == found


def usage(project, **query):
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return ask("GET", url(project, "usage") + (f"?{text}" if text else "")).json()


def numbers(sums):
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "cost")
    return [Decimal(str(sums.get(name, 0))) for name in names]


def add(project, session, form, messages, key=None, status=200, **more):
    headers = {"Idempotency-Key": key} if key else {}
    path = url(project, "sessions", session, "messages")
    return ask("POST", path, {"format": form, "messages": messages, **more}, status, **headers).json()


def append(project, session, entries, status=200, **more):
    body = {"create": {}, "entries": entries, **more}
    return ask("POST", url(project, "sessions", session, "entries"), body, status).json()


def bring(project, session, lines, query=""):
    answer = server().request("POST", url(project, "sessions", session, "import") + query, lines, NDJSON, timeout=120)
    assert answer.status == 200, answer
    return answer.json()


# Usage of each API, and what it must count as: input, cached, output, cost.
OPENAI = [
    ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}, [100, 0, 20]),
    ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
      "prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 8}}, [100, 64, 20]),
    # a server that counts reasoning beside the completion
    ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 150,
      "completion_tokens_details": {"reasoning_tokens": 30}}, [100, 0, 50]),
    ({"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6}, [10, 4, 1]),
    ({"prompt_tokens": 10, "completion_tokens": 1, "cached_tokens": 3}, [10, 3, 1]),
    # a proxy that names the cache as Anthropic does: the input has it
    ({"prompt_tokens": 10, "completion_tokens": 1, "cache_read_input_tokens": 5}, [10, 0, 1]),
    ({"prompt_tokens": 10, "completion_tokens": 1, "cost": 0.000125}, [10, 0, 1, "0.000125"]),
    ({"prompt_tokens": 10, "completion_tokens": None, "prompt_tokens_details": None}, [10, 0, 0]),
    ({}, [0, 0, 0]),
]
RESPONSES = [
    ({"input_tokens": 30, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 20},
      "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 34}, [30, 20, 4]),
]
ANTHROPIC = [
    ({"input_tokens": 7, "output_tokens": 9}, [7, 0, 9]),
    ({"input_tokens": 7, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 50, "output_tokens": 9,
      "server_tool_use": {"web_search_requests": 0}, "service_tier": "standard"}, [157, 100, 9]),
    ({"input_tokens": 7, "cache_read_input_tokens": None, "output_tokens": 9}, [7, 0, 9]),
]
PI = [
    ({"input": 5, "output": 6, "cacheRead": 40, "cacheWrite": 3, "totalTokens": 54,
      "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.30000000000000004}}, [48, 40, 6, "0.3"]),
]


def test_formats():
    """Each shape of usage, by POST .../messages, as entries, and as a file. Nothing is counted without a usage."""
    sums = Sums("formats")
    for form, cases in (("openai", OPENAI), ("responses", RESPONSES)):
        for i, (given, counted) in enumerate(cases):
            add("formats", f"{form}{i}", form, [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
                model=f"model-{form}", usage=given)
            sums.add(f"{form}{i}", f"model-{form}", counted)
    for i, (given, counted) in enumerate(ANTHROPIC):
        answer = {"id": "msg", "type": "message", "role": "assistant", "model": "claude", "content": [{"type": "text", "text": "a"}],
                  "usage": given}
        add("formats", f"anthropic{i}", "anthropic", [{"role": "user", "content": "q"}, answer])
        sums.add(f"anthropic{i}", "claude", counted)
    for i, (given, counted) in enumerate(PI):
        message = {"role": "assistant", "content": [{"type": "text", "text": "a"}], "provider": "x", "model": "pi-model", "usage": given}
        append("formats", f"pi{i}", [{"id": "a", "type": "message", "message": message}])
        sums.add(f"pi{i}", "pi-model", counted)
    entry = {"id": "a", "type": "message", "format": "openai", "message": {"role": "assistant", "content": "a"},
             "answer": {"model": "m", "usage": {"prompt_tokens": 1, "completion_tokens": 2}}}
    append("formats", "entry", [entry])
    sums.add("entry", "m", [1, 0, 2])
    append("formats", "plain", [{"type": "assistant", "content": "a"}])
    add("formats", "none", "openai", {"role": "assistant", "content": "a"}, model="m")
    sums.rows = [row for row in sums.rows if any(Decimal(str(n)) for n in row["numbers"])]
    sums.check()
    assert "cost" not in usage("formats", by="model")["items"][-1]


def test_last_answer_counts():
    """`usage` belongs to the last message of the assistant; items of an answer count once."""
    items = [{"type": "reasoning", "id": "r", "summary": []}, {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]
    add("last", "s", "responses", items, model="m", usage={"input_tokens": 3, "output_tokens": 4})
    assert usage("last")["total"] == {"input_tokens": 3, "cached_input_tokens": 0, "output_tokens": 4}


def test_bad_numbers():
    """They are not counted, and named; the others of the usage are counted."""
    bad = (-1, 1.5, "7", MOST + 1, True, [], 1e300)
    for i, value in enumerate(bad):
        got = add("bad", "s", "openai", {"role": "assistant", "content": "a"}, model="m",
                  usage={"prompt_tokens": value, "completion_tokens": 1})
        assert got["usage_ignored"] == [{"entry": got["ids"][0], "what": "prompt_tokens"}], got
    entry = {"id": "e", "type": "message", "format": "openai", "message": {"role": "assistant", "content": "a"},
             "answer": {"usage": {"prompt_tokens": 1, "cost": -1}}}
    got = append("bad", "t", [entry, {"type": "user", "content": "q"}])
    assert got["usage_ignored"] == [{"entry": "e", "what": "cost"}], got
    entry["answer"]["usage"] = "many"
    got = append("bad", "u", [entry])
    assert got["usage_ignored"] == [{"entry": "e", "what": "usage"}], got
    report = bring("bad", "v", json_lines({**entry, "timestamp": 1764300000000}, {"id": "f", "type": "user", "content": "q"}))
    assert [(one["line"], one["kind"], one["id"]) for one in report["issues"]] == [(1, "usage", "e")], report
    assert usage("bad")["total"] == {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": len(bad)}
    fine = add("bad", "s", "openai", {"role": "assistant", "content": "a"}, usage={"prompt_tokens": 2.0, "completion_tokens": 1})
    assert "usage_ignored" not in fine, fine


def test_sums_stop_at_the_most():
    """The sum of many is no error: it stays at 2^53."""
    for _ in range(3):
        add("most", "s", "openai", [{"role": "assistant", "content": "a"}], usage={"prompt_tokens": MOST, "completion_tokens": MOST})
    entries = [{"id": f"e{i}", "type": "message", "format": "openai", "message": {"role": "assistant", "content": "a"},
                "answer": {"usage": {"prompt_tokens": MOST}}} for i in range(1000)]
    append("most", "t", entries)
    for by in ("day", "model", "session"):
        answer = usage("most", by=by)
        assert answer["total"]["input_tokens"] == answer["items"][0]["input_tokens"] == MOST, answer
    add("most", "cost", "openai", [{"role": "assistant", "content": "a"}], usage={"prompt_tokens": 0, "cost": MOST})
    add("most", "cost", "openai", [{"role": "assistant", "content": "a"}], usage={"prompt_tokens": 0, "cost": MOST})
    assert ask("GET", url("most", "sessions", "cost")).json()["usage"]["cost"] == MOST


def test_odd_models():
    """A name that no text can hold is unknown; a long one is cut between characters; one may be a text of anything."""
    names = [("m\u0000", None), ("\ud800", None), ("a\u0007", None), ("", None), ("ä" * 300, "ä" * 127), ("x'\"\\{}", "x'\"\\{}")]
    for i, (name, _) in enumerate(names):
        append("odd", "s", [{"id": f"e{i}", "type": "message", "format": "openai", "message": {"role": "assistant", "content": "a"},
                             "answer": {"model": name, "usage": {"prompt_tokens": 1}}}])
    items = {item["model"]: item["input_tokens"] for item in usage("odd", by="model")["items"]}
    assert items == {None: 4, "ä" * 127: 1, "x'\"\\{}": 1}, items


# --- once ---


def test_repeated_requests():
    """With a key, by the ids of entries, one after the other and at the same time."""
    sums = Sums("repeated")

    def send(_=None):
        return add("repeated", "key", "openai", {"role": "assistant", "content": "a"}, key="k", model="m",
                   usage={"prompt_tokens": 5, "completion_tokens": 6})

    def send_settings(_=None):
        return add("repeated", "settings", "openai", {"role": "assistant", "content": "a"}, key="k", system="be kind",
                   usage={"prompt_tokens": 5, "completion_tokens": 6}, model="m")

    entry = {"id": "e", "type": "message", "format": "openai", "message": {"role": "assistant", "content": "a"},
             "answer": {"model": "m", "usage": {"prompt_tokens": 1}}}

    def send_entry(_=None):
        return append("repeated", "id", [entry])

    for request, session, counted in ((send, "key", [5, 0, 6]), (send_settings, "settings", [5, 0, 6]), (send_entry, "id", [1])):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(request, range(24)))
        request()
        sums.add(session, "m", counted)
    got = append("repeated", "id", [entry, {**entry, "id": "new", "parentId": "e"}])
    assert [one["outcome"] for one in got["entries"]] == ["unchanged", "appended"], got
    sums.add("id", "m", [1])
    sums.check()


def test_refused_appends():
    add("refused", "s", "openai", {"role": "user", "content": "q"})
    entry = {"id": "a", "type": "message", "format": "openai", "message": {"role": "assistant", "content": "a"},
             "answer": {"usage": {"prompt_tokens": 1}}}
    append("refused", "s", [entry, {**entry, "id": "b", "parentId": "gone"}], status=404)
    append("refused", "new", [entry, {**entry, "id": "b", "parentId": "gone"}], status=404)
    add("refused", "s", "openai", {"role": "assistant", "content": "a"}, status=409, expected_version=77, usage={"prompt_tokens": 1})
    assert usage("refused")["items"] == []


def test_forks_count_nothing():
    sums = Sums("forks")
    for session in ("a", "b"):
        for i in range(3):
            add("forks", session, "openai", [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
                model=f"m{i}", usage={"prompt_tokens": 10 + i, "completion_tokens": i})
            sums.add(session, f"m{i}", [10 + i, 0, i])
    fork = ask("POST", url("forks", "sessions", "a", "fork"), {}).json()["session_id"]
    sums.check()
    # the copy goes on
    add("forks", fork, "openai", {"role": "assistant", "content": "a"}, model="m9", usage={"prompt_tokens": 1})
    sums.add(fork, "m9", [1])
    # and its file comes back into it
    exported = server().get(url("forks", "sessions", fork, "export")).body
    bring("forks", fork, exported)
    sums.check()


# --- files ---


def answer_entry(i, day, model="m", n=1):
    return {"id": f"e{i}", **({"parentId": f"e{i - 1}"} if i else {}), "timestamp": f"{day}T23:59:59.999Z", "type": "message",
            "format": "openai", "message": {"role": "assistant", "content": f"a{i}"},
            "answer": {"model": model, "usage": {"prompt_tokens": n, "completion_tokens": 1, "cost": 0.01}}}


def test_imports():
    """The day is the entry's own. A file that is imported again, longer or with another beginning, counts what is new."""
    sums = Sums("imports")
    days = ["2024-02-29", "2024-03-01", "2025-12-31"]
    entries = [answer_entry(i, days[i % 3], f"m{i % 2}", i + 1) for i in range(LINES)]
    for i in range(LINES):
        sums.add("s", f"m{i % 2}", [i + 1, 0, 1, "0.01"], days[i % 3])
    bring("imports", "s", json_lines(*entries))
    sums.check()
    bring("imports", "s", json_lines(*entries))
    sums.check()
    longer = entries + [answer_entry(LINES, "2024-02-29", "m0", 7), {**answer_entry(LINES + 1, "2024-01-01"), "timestamp": "odd"}]
    sums.add("s", "m0", [7, 0, 1, "0.01"], "2024-02-29")
    sums.add("s", "m", [1, 0, 1, "0.01"])
    bring("imports", "s", json_lines(*longer))
    bring("imports", "s", json_lines(*longer[1:]), "?force=true")
    sums.check()
    total = usage("imports", **{"from": "2024-03-01", "to": "2025-12-30"})
    assert numbers(total["total"]) == sums.of(day="2024-03-01"), total
    assert [item["day"] for item in total["items"]] == ["2024-03-01"]


def claude_line(uuid, parent, message_id, usage_, day="2026-01-02", model="claude-sonnet-4-5", **more):
    message = {"model": model, "id": message_id, "type": "message", "role": "assistant", "content": [{"type": "text", "text": uuid}],
               "usage": usage_}
    return {"parentUuid": parent, "sessionId": "5e55", "type": "assistant", "message": message, "uuid": uuid,
            "timestamp": f"{day}T03:04:05.678Z", "isSidechain": False, **more}


def test_claude_code():
    """The lines of one answer count once, also if the first has fewer tokens, and if the file grows between them."""
    first = {"input_tokens": 4, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 20, "output_tokens": 1}
    last = {**first, "output_tokens": 50}
    lines = [claude_line("a1", None, "msg_1", first), claude_line("a2", "a1", "msg_1", first), claude_line("a3", "a2", "msg_1", last),
             claude_line("b1", "a3", "msg_2", last, "2026-01-03"),
             claude_line("x", "b1", "msg_x", {"input_tokens": 0, "output_tokens": 0}, model="<synthetic>"),
             claude_line("c1", "b1", "msg_3", first, isSidechain=True), claude_line("d1", "x", "msg_2", last)]
    sums = Sums("claude")
    for count, row in ((2, [34, 20, 1]), (3, [0, 0, 49]), (4, [34, 20, 50]), (7, [34, 20, 1])):
        report = bring("claude", "s", json_lines(*lines[:count]))
        assert report["dialect"] == "claude", report
        sums.add("s", "claude-sonnet-4-5", row, "2026-01-03" if count == 4 else "2026-01-02")
        sums.check()
    bring("claude", "s", json_lines(*lines))
    sums.check()


def codex_line(kind, payload, second, day="2026-01-02"):
    return {"timestamp": f"{day}T03:04:{second:02}.000Z", "type": kind, "payload": payload}


def tokens(total, last):
    def of(n):
        return {"input_tokens": n, "cached_input_tokens": n // 2, "output_tokens": 3, "reasoning_output_tokens": 1, "total_tokens": n + 3}
    return {"type": "token_count", "info": {"total_token_usage": of(total), "last_token_usage": of(last), "model_context_window": 1000},
            "rate_limits": None}


def test_codex():
    """Its events of token counts. An event that repeats the total counts nothing; the model is that of the turn."""
    lines = [codex_line("session_meta", {"id": "1", "timestamp": "2026-01-02T03:04:00Z", "cwd": "/", "originator": "codex_cli_rs"}, 0),
             codex_line("turn_context", {"cwd": "/", "model": "gpt-5-codex"}, 1),
             codex_line("event_msg", {"type": "token_count", "info": None, "rate_limits": {}}, 2),
             codex_line("response_item", {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}, 3),
             codex_line("event_msg", tokens(100, 100), 4), codex_line("event_msg", tokens(100, 100), 5),
             codex_line("turn_context", {"cwd": "/", "model": "gpt-6"}, 6, "2026-01-04"),
             codex_line("event_msg", tokens(160, 60), 7, "2026-01-04")]
    sums = Sums("codex")
    bring("codex", "s", json_lines(*lines[:5]))
    sums.add("s", "gpt-5-codex", [100, 50, 3], "2026-01-02")
    sums.check()
    report = bring("codex", "s", json_lines(*lines))
    assert report["dialect"] == "codex", report
    sums.add("s", "gpt-6", [60, 30, 3], "2026-01-04")
    sums.check()
    bring("codex", "s", json_lines(*lines))
    sums.check()


def test_large_file():
    """Lines in many batches, with one answer across the end of a batch."""
    count = 9000
    lines = [claude_line(f"u{i}", f"u{i - 1}" if i else None, f"msg_{i // 3}", {"input_tokens": 2, "output_tokens": i % 3 + 1})
             for i in range(count)]
    bring("large", "s", json_lines(*lines))
    answers = count // 3
    assert usage("large")["total"] == {"input_tokens": 2 * answers, "cached_input_tokens": 0, "output_tokens": 3 * answers}


# --- deletions, tasks, projects ---


def test_deletions():
    """The sums stay, without the id. A new session of the same id begins at 0."""
    sums = Sums("deleted")
    for session in ("a", "b", "c"):
        for day in ("2024-01-01", "2024-01-02"):
            bring("deleted", f"{session}-{day}", json_lines(answer_entry(0, day)))
            sums.add(f"{session}-{day}", "m", [1, 0, 1, "0.01"], day)
    sessions = [row["session_id"] for row in sums.rows]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda session: ask("DELETE", url("deleted", "sessions", session)), sessions[:4]))
    for session in sessions[:4]:
        sums.forget(session)
    sums.check()
    stored = psql(as_role(dsn(), "postgres"), "SELECT count(*) FROM cardbox.usage u WHERE u::text LIKE '%a-2024%'")
    assert stored == "0\n", stored
    add("deleted", sessions[0], "openai", {"role": "assistant", "content": "a"}, model="n", usage={"prompt_tokens": 3}, restore=True)
    sums.add(sessions[0], "n", [3])
    sums.check()


def save_answers(project, task, *answers):
    messages = [{"id": name, "task": task, "role": "assistant", "metadata": {},
                 "usage": {"model": model, "input_tokens": n, "cached_input_tokens": 0, "output_tokens": 1}} for name, model, n in answers]
    contents = ", ".join([f"'{json.dumps({'__type__': 'TextContent', 'text': 'a'})}'"] * len(answers))
    return psql(as_role(dsn(), "cardbox_app"),
                f"SELECT outcome FROM cardbox.save_ledger({literal(project)}, '[]', NULL, {literal(json.dumps(messages))}, "
                f"ARRAY[{contents}]::json[], '[]', NULL, NULL)").split()


def test_tasks():
    """The answers of tasks count once, and not if their batch is refused. test_agent.py has those of the worker."""
    sums = Sums("tasks")
    task = ask("POST", url("tasks", "abilities", "task:spawn"), {"goal": "do it", "systemPrompt": "you"}).json()["taskId"]
    for _ in range(2):
        save_answers("tasks", task, ("m1", "gpt", 10), ("m2", "gpt", 20))
    sums.add(task, "gpt", [30, 0, 2], source="task_id")
    assert save_answers("tasks", task, ("m3", "gpt", 10), ("m1", "gpt", 10), ("m4", "gpt", 1))[-1] == "1"
    sums.add(task, "gpt", [11, 0, 2], source="task_id")
    messages = json.dumps([{"id": "m5", "task": task, "role": "assistant", "metadata": {}, "usage": {"model": "gpt", "input_tokens": 1,
                            "cached_input_tokens": 0, "output_tokens": 0}}, {"id": "m6", "task": "gone", "role": "user", "metadata": {}}])
    refused = psql(as_role(dsn(), "cardbox_app"), f"SELECT outcome FROM cardbox.save_ledger('tasks', '[]', NULL, {literal(messages)}, "
                                                  "ARRAY['{}', '{}']::json[], '[]', NULL, NULL)").split()
    assert refused[-1] == "5", refused
    add("tasks", "s", "openai", {"role": "assistant", "content": "a"}, model="gpt", usage={"prompt_tokens": 1})
    sums.add("s", "gpt", [1])
    sums.check()


def test_moved_project():
    """An export has the sums, also of forks and deleted sessions. It can be imported twice, and after the project has gone on."""
    sums = Sums("moved")
    for i in range(4):
        for n in range(3):
            add("moved", f"s{i}", "openai", {"role": "assistant", "content": "a"}, model=f"m{n}",
                usage={"prompt_tokens": 10 * i + n, "cost": 0.25})
            sums.add(f"s{i}", f"m{n}", [10 * i + n, 0, 0, "0.25"])
    task = ask("POST", url("moved", "abilities", "task:spawn"), {"goal": "do it", "systemPrompt": "you"}).json()["taskId"]
    save_answers("moved", task, ("m1", "gpt", 10))
    sums.add(task, "gpt", [10, 0, 1], source="task_id")
    ask("POST", url("moved", "sessions", "s1", "fork"), {})
    ask("DELETE", url("moved", "sessions", "s2"))
    sums.forget("s2")
    sums.check()
    exported = server().get(url("moved", "export")).body
    for kind in ("inserted", "unchanged"):
        answer = server().request("POST", url("copied", "import"), exported, NDJSON, timeout=120)
        assert answer.status == 200 and answer.json()["errors"] == [], answer
        assert answer.json()["usage"][kind] == 13, answer.json()
    copied = Sums("copied")
    copied.rows = list(sums.rows)
    copied.check()
    add("copied", "s0", "openai", {"role": "assistant", "content": "b"}, model="m0", usage={"prompt_tokens": 1})
    copied.add("s0", "m0", [1])
    server().request("POST", url("copied", "import"), exported, NDJSON, timeout=120)
    copied.check()


def test_bad_rows_of_a_project():
    good = {"kind": "usage", "source": "session", "source_id": "", "day": "2026-01-01", "model": "", "input_tokens": 1,
            "cached_input_tokens": 0, "output_tokens": 0}
    bad = [{"source": "box"}, {"day": "2026-02-30"}, {"day": "yesterday"}, {"input_tokens": -1}, {"output_tokens": MOST + 1},
           {"cost": "much"}, {"cost": "-1"}, {"model": "a\u0000"}, {"model": "m" * 256}, {"source_id": None}]
    rows = [{**good, **change} for change in bad]
    answer = server().request("POST", url("rows", "import"), json_lines(*rows, good, {**good, "cost": "1e2"}, good), NDJSON)
    got = answer.json()
    assert answer.status == 200 and got["usage"]["refused"] == len(bad), answer
    assert usage("rows")["total"] == {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 0, "cost": 100}, usage("rows")


# --- who, and what is asked ---


def test_two_projects():
    for project in ("one", "two"):
        add(project, "s", "openai", {"role": "assistant", "content": "a"}, model="m", usage={"prompt_tokens": 1 + len(project)})
    assert usage("one") == usage("two")
    add("one", "s", "openai", {"role": "assistant", "content": "a"}, model="m", usage={"prompt_tokens": 9})
    assert usage("two")["total"]["input_tokens"] == 4 and usage("one")["total"]["input_tokens"] == 13
    assert usage("nobody")["items"] == [] and usage("nobody")["total"] == {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0}


def test_queries():
    add("queries", "s", "openai", {"role": "assistant", "content": "a"}, model="m", usage={"prompt_tokens": 1})
    for query in ("from=2026-13-01", "from=2026-1-1", "to=today", "to=2026-01-01T00:00:00Z", "by=week", "by=", "form=x", "from="):
        ask("GET", url("queries", "usage") + "?" + query, status=422)
    assert usage("queries", to="2020-01-01")["total"]["input_tokens"] == 0
    assert usage("queries", **{"from": today(), "to": today()})["total"]["input_tokens"] == 1
    called = ask("POST", url("queries", "abilities", "usage:query"), {"by": "model", "from": today()}).json()
    assert called == usage("queries", by="model", **{"from": today()}) and called["items"][0]["model"] == "m", called
    ask("POST", url("queries", "abilities", "usage:query"), {"from": "x"}, status=422)


def test_random_appends():
    """Appends of many clients to few sessions, with several models: no sum is lost."""
    sums, dice = Sums("random"), random.Random(7)
    requests = [(f"s{dice.randrange(3)}", f"m{dice.randrange(3)}", dice.randrange(1000)) for _ in range(60)]

    def send(request):
        session, model, n = request
        add("random", session, "openai", [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}], model=model,
            usage={"prompt_tokens": n, "completion_tokens": 1, "cost": n / 1000})

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(send, requests))
    for session, model, n in requests:
        sums.add(session, model, [n, 0, 1, str(Decimal(n) / 1000)])
    sums.check()


if __name__ == "__main__":
    cardbox_test.main()
