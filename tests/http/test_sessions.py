#!/usr/bin/env python3
"""Sessions over HTTP: made, appended to, walked, branched, forked, and what a model gets at a leaf;
concurrent writers; what is refused, with the reason."""

import base64
import concurrent.futures
import datetime
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules
from cardbox_test import LIGHT, dsn, psql, server
from cardbox_test import session_url as url

FORMATS = ("openai", "anthropic", "entries")
WRITERS = 8
APPENDS = 5 if LIGHT else 20


def ask(method, path, body=None, status=200, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    data = None if body is None else json.dumps(body)
    answer = server().request(method, path, data, {"Content-Type": "application/json", **headers})
    assert answer.status == status, (method, path, body, answer)
    return answer.json()


def get(path, status=200):
    return ask("GET", path, None, status)


def make(session, **body):
    return ask("PUT", url(session), body)


def append(session, *entries, status=200, **more):
    return ask("POST", url(session, "entries"), {"entries": list(entries), **more}, status)


def plain(identifier, parent, kind="user", **more):
    return {"id": identifier, "parentId": parent, "timestamp": "2025-01-02T03:04:05Z", "type": kind,
            **({"content": f"says {identifier}"} if kind in ("user", "assistant", "system") else {}),
            **more}


def ids(answer, member="entries"):
    return [entry["entry_id"] for entry in answer[member]]


def reason(answer):
    return answer["detail"]["error_message"]


def test_append_refuses_what_no_model_sees():
    """A member that is missing is said at once; what a file has is taken as it is."""
    def of_pi(**message):
        return {"type": "message", "message": message}
    nothing = (({"type": "user"}, "content"), ({"type": "user", "metadata": {"text": "x"}}, "content"),
               ({"type": "user", "content": None}, "content"), ({"type": "system"}, "content"),
               ({"type": "assistant"}, "content"), ({"type": "tool_result"}, "output"),
               ({"type": "tool_result", "details": "x"}, "output"), ({"type": "message"}, "message"),
               ({"type": "message", "message": "x"}, "message"), ({"type": "message", "content": "x"}, "message"),
               (of_pi(content="x"), "message"), (of_pi(role="user"), "content"), (of_pi(role="toolResult"), "content"),
               ({"type": "custom_message"}, "content"), ({"type": "compaction"}, "summary"),
               ({"type": "branch_summary"}, "summary"), ({"type": "branch_summary", "summary": 5}, "summary"),
               ({"type": "branch_summary", "summary": {"text": "x"}}, "summary"))
    make("silent")
    for entry, member in nothing:
        said = append("silent", entry, status=422)
        assert f"of type {entry['type']} needs the member {member}" in reason(said), (entry, said)
    make("silent-pi")
    assert 'and custom, not "new"' in reason(append("silent-pi", of_pi(role="new"), status=422))
    for session, entries in (
            ("silent", ({"type": "user", "content": ""}, {"type": "assistant", "toolCalls": []},
                        {"type": "assistant", "thinking": "x"}, {"type": "tool", "name": "t", "toolCallId": "c"},
                        {"type": "tool_result", "toolCallId": "c", "output": False}, {"type": "metadata"}, {"type": "usr"})),
            ("silent-pi", (of_pi(role="assistant", content=[]), of_pi(role="bashExecution", command="ls"),
                           {"type": "branch_summary", "summary": ""}, {"type": "custom"}))):
        make(session)
        append(session, *entries)
    for number, (entry, _) in enumerate(nothing):
        data = json.dumps({"id": "a", **entry}).encode()
        answer = server().request("POST", url(f"silent-{number}", "import"), data, {"Content-Type": "application/x-ndjson"})
        assert answer.status == 200 and answer.json()["entries"] == 1, answer


@cardbox_test.once
def tree():
    """    a - b - c - d
                 \\- e - f - g     and a root of its own: r"""
    make("tree", dialect="plain")
    append("tree", plain("a", None), plain("b", "a", "assistant"), plain("c", "b"),
           plain("d", "c", "assistant"), plain("e", "b"), plain("f", "e", "assistant"),
           plain("g", "f"), plain("r", None))
    return "tree"


# --- made and listed ---


def test_make():
    assert make("made") == {"session_id": "made", "outcome": "created", "version": 1}
    assert make("made")["outcome"] == "exists"
    assert ask("PUT", url("made"), {"strict": True}, 409)["detail"]["current_version"] == 1
    assert ask("PUT", url("made"))["outcome"] == "exists"
    session = get(url("made"))
    assert (session["session_id"], session["project_id"], session["dialect"], session["entries"],
            session["head_entry_id"]) == ("made", "p", None, 0, None), session
    assert get(url("made", project="q"), 404)["detail"]["error_message"] == "session not found: made"


def test_dialects():
    """A session that is there is not said to be of the dialect that was asked for if it is not."""
    for dialect, other, body in (("plain", "pi", {"dialect": "pi"}), ("plain", "pi", {"cwd": "/"}),
                                 ("pi", "plain", {"dialect": "plain"})):
        make("of-" + dialect, dialect=dialect)
        refused = ask("PUT", url("of-" + dialect), body, 409)["detail"]
        assert f"in another dialect than {other}" in refused["error_message"], refused
        assert refused["current_version"] == 1 and get(url("of-" + dialect))["dialect"] == dialect
        assert make("of-" + dialect, dialect=dialect)["outcome"] == make("of-" + dialect)["outcome"] == "exists"
    label, summary = {"type": "label", "targetId": "a", "label": "x"}, {"type": "branch_summary", "summary": "x"}
    append("of-plain", plain("a", None))
    said = append("of-plain", label, summary, status=409)
    assert reason(said) == "entries[1]: an entry of type branch_summary is of the dialect pi, the session is of another one", said
    make("untold")
    append("untold", plain("a", None))
    ask("PUT", url("untold"), {"dialect": "pi"}, 409)


def test_headers():
    """Of sessions of pi: one that is made, or the client's own."""
    make("own", header={"type": "session", "version": 3, "id": "x", "cwd": "/w", "extra": [1.0]})
    assert get(url("own"))["header"]["extra"] == [1.0] and get(url("own"))["dialect"] == "pi"
    make("pi", cwd="/home")
    header = get(url("pi"))["header"]
    assert (header["type"], header["version"], header["id"], header["cwd"]) == \
        ("session", 3, "pi", "/home")
    assert get(url("pi"))["dialect"] == "pi"
    for body in ({"dialect": "plain", "header": {"type": "session"}}, {"dialect": "xml"},
                 {"cwd": "/", "header": {"type": "session"}}, {"header": []}, {"dialekt": "pi"}):
        ask("PUT", url("not-made"), body, 422)
    assert "session" in reason(ask("PUT", url("not-made"), {"header": {"type": "message"}}, 422))
    # Readers of such files look at the first 512 bytes: a header must end there, with its line feed.
    header = {"type": "session", "id": "x", "pad": ""}
    header["pad"] = "p" * (511 - len(json.dumps(header, separators=(",", ":"))))
    for body, what in (({"header": {**header, "pad": header["pad"] + "p"}}, "header has "),
                       ({"cwd": "/" * 500}, "the header made with cwd has ")):
        refused = ask("PUT", url("not-made"), body, 413)["detail"]
        assert refused["error_code"] == "too_large" and refused["error_message"].startswith(what), refused
        assert "the limit is 511" in refused["error_message"], refused
    get(url("not-made"), 404)
    line = json.dumps(header, separators=(",", ":")).encode()
    answer = server().request("PUT", url("full"), b'{"header":' + line + b"}", {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    assert server().get(url("full", "export")).body == line + b"\n"
    make("s" * 512, cwd="")  # a long id is none of the header's doing


def test_list():
    names = [f"list-{number} / é" for number in range(7)]
    for name in names:
        ask("PUT", url(name, project="lists"))
    found, cursor = [], ""
    while cursor is not None:
        page = get(url(project="lists") + "?limit=3" + (f"&cursor={cursor}" if cursor else ""))
        found += [session["session_id"] for session in page["sessions"]]
        cursor = page["next_cursor"]
    assert found == names[::-1], found
    assert get(url(project="nobody"))["sessions"] == []
    get(url(project="lists") + "?cursor=x", 422)
    get(url(project="lists") + "?state=x", 422)


# --- appending ---


def test_append_fills_in():
    """An id, the parent, the time: what a client that talks on need not know."""
    make("talk")
    first = ask("POST", url("talk", "entries"), {"entry": {"type": "user", "content": "hi"}})
    second = append("talk", {"type": "assistant", "content": "hello"}, {"type": "user", "content": "ok"})
    one, = ids(first)
    two, three = ids(second)
    assert [entry["outcome"] for entry in second["entries"]] == ["appended"] * 2
    path = get(url("talk", "entries", three, "path") + "?lines=10000")
    assert ids(path, "path") == [one, two, three] and path["length"] == 3
    lines = [node["entry"] for node in path["path"]]
    assert [line.get("parentId") for line in lines] == [None, one, two] and "parentId" not in lines[0]
    assert all(type(line["timestamp"]) is int for line in lines), lines
    assert get(url("talk"))["head_entry_id"] == three and get(url("talk"))["version"] == 3
    ask("PUT", url("talk", "head"), {"entry_id": one})
    branch, = ids(append("talk", {"type": "assistant", "content": "again"}))
    assert get(url("talk", "entries", branch))["parent_id"] == one
    assert ids(get(url("talk", "branch-points"))) == [one]


def test_append_exactly():
    """Entries that say all themselves are kept to the byte, whatever is in them."""
    make("exact")
    line = ('{"id":"x","parentId":null,"timestamp":"t","type":"unknown kind", "odd" : '
            '[1.0,1e400,"\\u0000\\ud800\\/"],"odd":2}')
    body = '{"entries":[' + line + "]}"
    answer = server().request("POST", url("exact", "entries"), body.encode(),
                              {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    shown = server().get(url("exact", "entries", "x")).body.decode()
    assert '"entry":' + line in shown, shown


def test_append_again():
    make("again")
    first = append("again", plain("a", None), plain("b", "a"))
    again = append("again", plain("a", None), plain("b", "a"))
    assert [entry["outcome"] for entry in again["entries"]] == ["unchanged"] * 2
    assert [entry["line"] for entry in again["entries"]] == [entry["line"] for entry in first["entries"]]
    assert again["version"] == first["version"] == get(url("again"))["version"]
    other = append("again", plain("c", "b"), plain("b", "a", content="other"), status=409)
    assert "entry b exists" in reason(other) and other["detail"]["current_version"] == 2, other
    get(url("again", "entries", "c"), 404)
    get(url("again", "entries", "k"), 404)


def test_one_id_twice_in_one_append():
    make("twice")
    open_one = {"id": "g", "type": "user", "content": "a"}
    for first, second in ((open_one, {"id": "g", "type": "assistant", "content": "b"}), (plain("g", None), plain("g", None, content="b")),
                          (open_one, {"id": "g", "parentId": None, "type": "user", "content": "a"})):
        said = append("twice", plain("x", None), first, second, status=422)["detail"]
        assert "entries[1] and entries[2] have the id \"g\" but different content" in said["error_message"], said
        assert [fault["loc"] for fault in said["faults"]] == [["body", "entries", 2]], said
    assert get(url("twice"))["entries"] == 0
    other = {**open_one, "id": "h"}
    for entries, outcomes in (((open_one, open_one), "appended unchanged"), ((open_one, open_one), "unchanged unchanged"),
                              ((open_one, other, open_one, other), "unchanged appended unchanged unchanged"),
                              ((open_one, other, open_one, other), "unchanged unchanged unchanged unchanged")):
        written = append("twice", *entries)["entries"]
        assert [entry["outcome"] for entry in written] == outcomes.split(), written
        assert [entry["line"] for entry in written] == [{"g": 0, "h": 1}[entry["entry_id"]] for entry in written], written
    assert get(url("twice", "entries", "h"))["parent_id"] == "g"
    call = {"id": "c", "type": "assistant", "content": "", "toolCalls": [{"id": "t", "name": "f", "params": {}}]}
    result = {"id": "r", "type": "tool_result", "toolCallId": "t", "output": "o"}
    append("twice", call, result, result)
    assert get(url("twice", "context"))["report"]["repairs"] == []


def test_keys():
    make("keys")
    entries = {"entries": [plain("a", None), plain("b", "a")]}
    path, headers = url("keys", "entries"), {"Content-Type": "application/json", "Idempotency-Key": "k"}
    first = server().request("POST", path, json.dumps(entries), headers)
    assert first.status == 200 and first.header("Idempotent-Replayed") is None, first
    append("keys", plain("c", "b"))
    again = server().request("POST", path, json.dumps(entries), headers)
    assert again.header("Idempotent-Replayed") == "true", again.headers
    assert again.json()["version"] == first.json()["version"] == 2
    assert [entry["line"] for entry in again.json()["entries"]] == [0, 1]
    other = ask("POST", path, {"entries": [plain("d", "c")]}, 409, Idempotency_Key="k")
    assert "key" in reason(other)
    open_one = {key: value for key, value in plain("d", "c").items() if key != "id"}
    said = reason(ask("POST", path, {"entries": [open_one]}, 422, Idempotency_Key="l"))
    assert "with a key an entry needs an id" in said, said


def test_expected_version():
    make("versions")
    assert append("versions", plain("a", None), expected_version=1)["version"] == 2
    refused = append("versions", plain("b", "a"), expected_version=1, status=409)
    assert refused["detail"]["current_version"] == 2, refused
    refused = append("versions", {"type": "user", "content": "x"}, expected_version=1, status=409)
    assert refused["detail"]["current_version"] == 2, refused
    assert append("versions", {"type": "user", "content": "x"}, expected_version=2)["version"] == 3


def test_append_refuses():
    make("refusals")
    append("refusals", plain("a", None))
    for entries, status, words in (
            ([], 422, "at least 1"), ([1], 422, "object"), ([plain("a", None), None], 422, "object"),
            ([{}], 422, "type"), ([{"type": ""}], 422, "type"), ([{"type": "session"}], 422, "header"),
            ([plain("x" * 513, None)], 422, "id"), ([plain(7, None)], 422, "id"),
            ([plain("", None)], 422, "id"), ([plain("x\n", None)], 422, "id"),
            ([plain("b", "nowhere")], 404, "parent nowhere"), ([plain("b", "b")], 422, "own parent"),
            ([plain("b", 7)], 422, "parentId"), ([plain("c", "b"), plain("b", "a")], 404, "parent b"),
            ([plain(f"n{n}", None) for n in range(1001)], 400, "exceeds limit 1000")):
        said = reason(append("refusals", *entries, status=status))
        assert words in said, (entries, said)
    for body in ({}, {"entry": plain("x", None), "entries": []}, {"entries": {}}, {"entry": []},
                 {"entries": [plain("x", None)], "expected": 1}, []):
        ask("POST", url("refusals", "entries"), body, 422)
    for body, loc in (({"entry": {"type": ""}}, ["body", "entry"]), ({"entries": [plain("x", None), {}]}, ["body", "entries", 1])):
        fault, = ask("POST", url("refusals", "entries"), body, 422)["detail"]["faults"]
        assert fault["loc"] == loc, fault
    append("nothing", plain("a", None), status=404)
    append("nothing", {"type": "user", "content": "x"}, status=404)
    assert get(url("refusals"))["version"] == 2 and get(url("refusals"))["entries"] == 1


def test_a_thousand():
    make("many")
    entries = [plain(f"n{n}", f"n{n - 1}" if n else None) for n in range(1000)]
    assert append("many", *entries)["entries"][999]["line"] == 999
    assert get(url("many", "entries", "n999", "path") + "?limit=1")["length"] == 1000


def write(number):
    with server().client() as client:
        for turn in range(APPENDS):
            said = f"writer {number} turn {turn}"
            body = json.dumps({"entry": {"type": "user", "content": said}})
            answer = client.request("POST", url("crowd", "entries"), body,
                                    {"Content-Type": "application/json"})
            while answer.status == 409:  # the head moved ten times while it was asked for
                answer = client.request("POST", url("crowd", "entries"), body,
                                        {"Content-Type": "application/json"})
            assert answer.status == 200, answer


def test_concurrent_writers():
    """All go on from the head: one chain, without a branch, nothing lost or doubled."""
    make("crowd")
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(write, number) for number in range(WRITERS)]:
            done.result()
    session = get(url("crowd"))
    assert session["entries"] == WRITERS * APPENDS
    assert ids(get(url("crowd", "branch-points"))) == [] and len(ids(get(url("crowd", "leaves")))) == 1
    path = get(url("crowd", "entries", session["head_entry_id"], "path") + "?limit=500&lines=9999")
    said = [node["entry"]["content"] for node in path["path"]]
    assert sorted(said) == sorted(f"writer {n} turn {t}" for n in range(WRITERS)
                                  for t in range(APPENDS)), said


# --- walking ---


def pages(path, limit, member="entries"):
    found, cursor = [], ""
    while cursor is not None:
        page = get(f"{path}{'&' if '?' in path else '?'}limit={limit}" +
                   (f"&cursor={cursor}" if cursor else ""))
        assert len(page[member]) <= limit
        found += ids(page, member)
        cursor = page["next_cursor"]
    return found


def test_lists():
    session = tree()
    for limit in (1, 2, 3, 500):
        assert pages(url(session, "tree"), limit) == list("abcdefgr")
        assert pages(url(session, "leaves"), limit) == list("dgr")
        assert pages(url(session, "branch-points"), limit) == ["b"]
        assert pages(url(session, "entries", "b", "children"), limit) == ["c", "e"]
        assert pages(url(session, "entries", "g", "path"), limit, "path") == list("abefg")
    head = get(url(session))["head_entry_id"]
    for query in ("", "?lines=100", "?limit=2"):
        assert get(url(session, "path") + query) == get(url(session, "entries", head, "path") + query)
    assert get(url(session, "entries", "g", "children"))["entries"] == []
    make("no-path")
    assert get(url("no-path", "path"))["path"] == []
    get(url("nix", "path"), 404)
    assert get(url(session, "branch-points"))["entries"][0]["children"] == 2


def test_lines():
    """A list gives lines only when asked, and not the long ones."""
    session = tree()
    append(session, plain("long", "g", content="x" * 500))
    assert all("entry" not in node for node in get(url(session, "tree"))["entries"])
    nodes = {node["entry_id"]: node for node in get(url(session, "tree") + "?lines=300")["entries"]}
    assert nodes["a"]["entry"]["content"] == "says a" and "entry" not in nodes["long"]
    assert nodes["long"]["size"] > 500
    path = get(url(session, "entries", "long", "path") + "?lines=300")["path"]
    assert "entry" in path[0] and "entry" not in path[-1]


def test_previews():
    """What entries say in a line, as the command line shows it, without the lines themselves."""
    make("said", dialect="pi")
    said = lambda name, **message: {"id": name, "type": "message", "message": message}
    append("said", said("q", role="user", content="why?\n" + "\u2603" * 500),
           {**said("a", role="assistant", content=[
               {"type": "text", "text": "I look"},
               {"type": "toolCall", "id": "c", "name": "read", "arguments": {}},
               {"type": "toolCall", "id": "d", "name": "write", "arguments": {}}]),
            "timestamp": "2026-01-02T03:04:05Z"},
           said("r", role="toolResult", toolCallId="c", isError=True, content=[{"type": "text", "text": "no"}]),
           {"id": "m", "type": "model_change", "provider": "p", "modelId": "m"},
           said("long", role="user", content="x" * (256 << 10)))
    rows = {row["entry_id"]: row for row in get(url("said", "tree") + "?preview=true&limit=50")["entries"]}
    shown = {name: row["preview"] and tuple(row["preview"][key] for key in ("role", "text", "tools"))
             for name, row in rows.items()}
    assert shown.pop("q") == ("user", "why?\n" + "\u2603" * 331, "")  # 998 bytes of 1,000
    assert shown == {"a": ("assistant", "I look", "read, write"), "r": ("result", "(error) no", ""),
                     "m": ("setting", "model p/m", ""), "long": None}, shown
    assert rows["a"]["preview"]["time"] == "2026-01-02T03:04:05Z"
    assert all("entry" not in row for row in rows.values())
    both = get(url("said", "leaves") + "?preview=true&lines=1000000")["entries"][0]
    assert both["preview"] is None and both["entry"]["message"]["content"].startswith("xxx")
    assert all("preview" not in row for row in get(url("said", "tree"))["entries"])
    assert all("preview" not in row for row in get(url("said", "tree") + "?preview=false")["entries"])
    get(url("said", "tree") + "?preview=2", 422)
    for lines in ("", "&lines=100"):  # that are not asked for, and that are too short for the preview alone
        way = get(url("said", "entries", "r", "path") + "?preview=true&limit=50" + lines)["path"]
        assert [(row["entry_id"], row["preview"], "entry" in row) for row in way] == [
            (name, rows[name]["preview"], lines != "" and rows[name]["size"] <= 100) for name in ("q", "a", "r")], way
        parted = get(url("said", "diff") + "?a=a&b=r&preview=true&limit=50" + lines)
        assert parted["common"]["preview"] == rows["a"]["preview"] and parted["a"] == []
        assert [row["preview"] for row in parted["b"]] == [rows["r"]["preview"]], parted
    assert get(url("said", "path") + "?preview=true&limit=50")["path"][-1]["preview"] is None
    for path in (url("said", "path"), url("said", "diff") + "?a=a&b=r"):
        assert '"preview"' not in server().get(path).body.decode()


def test_entry():
    session = tree()
    node = get(url(session, "entries", "e"))
    assert (node["parent_id"], node["depth"], node["type"], node["role"], node["label"]) == \
        ("b", 2, "user", "user", None), node
    assert node["entry"] == plain("e", "b")


def test_diff():
    session = tree()
    both = get(url(session, "diff") + "?a=d&b=g")
    assert both["common"]["entry_id"] == "b" and both["complete"]
    assert (ids(both, "a"), ids(both, "b")) == (list("cd"), list("efg"))
    assert ids(get(url(session, "diff") + "?a=b&b=g"), "a") == []
    assert get(url(session, "diff") + "?a=g&b=r")["common"] is None
    part = get(url(session, "diff") + "?a=d&b=g&limit=2")
    assert not part["complete"] and ids(part, "b") == list("ef")
    for query in ("", "?a=d", "?a=d&b=", "?a=d&b=g&c=1"):
        get(url(session, "diff") + query, 422)
    for query in ("?a=d&b=no", "?a=no&b=no"):
        get(url(session, "diff") + query, 404)
    assert "no entry" in json.dumps(get(url(session, "diff") + "?a=d&b=nope", 404))
    assert "nope" in json.dumps(get(url(session, "diff") + "?a=d&b=nope", 404))


def test_labels():
    make("labels", dialect="pi")
    append("labels", {"id": "m", "parentId": None, "type": "message",
                      "message": {"role": "user", "content": "x"}},
           {"id": "l1", "type": "label", "targetId": "m", "label": "good"},
           {"id": "l2", "type": "label", "targetId": "l1", "label": "odd"},
           {"id": "l3", "type": "label", "targetId": "l1"},
           {"id": "n", "type": "session_info", "name": "a name"})
    labelled = get(url("labels", "labels"))["entries"]
    assert [(node["entry_id"], node["label"]) for node in labelled] == [("m", "good")], labelled
    assert get(url("labels", "entries", "m"))["label"] == "good"
    assert get(url("labels"))["name"] == "a name"


def test_appended_at():
    """All reads of entries have the time of storing. A fork has the times of its source."""
    make("times", dialect="pi")
    begin = datetime.datetime.now(datetime.timezone.utc)
    append("times", {"id": "m", "parentId": None, "type": "custom", "timestamp": "2001-01-01T00:00:00Z"})
    append("times", {"id": "n", "type": "custom"}, {"id": "l", "type": "label", "targetId": "m", "label": "good"},
           {"id": "o", "parentId": "m", "type": "custom"})
    reads = {"tree": "entries", "leaves": "entries", "branch-points": "entries", "labels": "entries", "path": "path",
             "diff?a=n&b=o": "a", "entries/m/children": "entries"}
    times = {}
    for part, member in reads.items():
        for node in get(url("times") + "/" + part)[member]:
            assert times.setdefault(node["entry_id"], node["appended_at"]) == node["appended_at"], part
    assert set(times) == set("mnlo") and get(url("times", "entries", "m"))["appended_at"] == times["m"]
    moments = [datetime.datetime.fromisoformat(times[name].replace("Z", "+00:00")) for name in "mnlo"]
    assert begin - datetime.timedelta(seconds=1) <= moments[0] < moments[1] == moments[2] == moments[3], times
    ask("POST", url("times", "fork"), {"session_id": "times-fork"})
    assert {node["entry_id"]: node["appended_at"] for node in get(url("times-fork", "path"))["path"]} == \
        {name: times[name] for name in "mnl"}
    psql(dsn(), "UPDATE cardbox.session_lines SET appended_at = NULL WHERE session_id = 'times' AND entry_id = 'm'")
    assert get(url("times", "entries", "m"))["appended_at"] is None
    assert get(url("times", "tree"))["entries"][0]["appended_at"] is None


def test_name_of_a_fork():
    r"""The last that an entry of it gives, also if the line has escapes that no text of PostgreSQL holds."""
    make("named", dialect="pi")
    names = ["first", "a \\ \u00e4 name", "", None, 5]
    append("named", {"id": "top", "parentId": None, "type": "custom"},
           *({"id": f"n{at}", "type": "session_info", "name": name, "data": "\x00 \\u0000" if at == 1 else ""}
             for at, name in enumerate(names)))
    for entry, name in (("top", None), ("n0", "first"), ("n1", names[1]), ("n4", names[1])):
        ask("POST", url("named", "fork"), {"entry_id": entry, "session_id": f"named-{entry}"})
        assert get(url(f"named-{entry}"))["name"] == name, entry
    assert get(url("named"))["name"] == names[1]


def test_nothing_there():
    """404 says whether it is the session or the entry; an empty session has empty lists."""
    make("empty")
    for part in ("tree", "leaves", "branch-points", "labels"):
        assert get(url("empty", part)) == {"entries": [], "next_cursor": None}
        assert reason(get(url("nothing", part), 404)) == "session not found: nothing"
        get(url("empty", part) + "?cursor=x", 422)
        get(url("empty", part) + "?lines=-1", 422)
    for rest in ((), ("children",), ("path",)):
        assert reason(get(url("nothing", "entries", "a", *rest), 404)) == "session not found: nothing"
        assert reason(get(url("empty", "entries", "a", *rest), 404)) == "session empty has no entry a"
        get(url("empty", "entries", "x" * 513, *rest), 404)
    assert reason(get(url("x" * 513), 404)).startswith("session not found: an id is 1 to 512 bytes")
    assert reason(get(url("x" * 512), 404)) == "session not found: " + "x" * 492
    ask("PUT", url("x" * 513), None, 422)
    context = get(url("empty", "context"))
    assert context["messages"] == [] and context["leaf"] is None
    assert "a" in reason(get(url("empty", "context") + "?leaf=a", 404))


def test_an_image_of_5_mb():
    """The largest that a model of Anthropic takes fits into a request by default."""
    make("image")
    data = base64.b64encode(b"\x89PNG" + bytes(5 * 1024 * 1024 - 4)).decode()
    image = {"type": "image", "data": data, "mimeType": "image/png"}
    append("image", {"type": "user", "content": [{"type": "text", "text": "What is this?"}, image]})
    content = get(url("image", "context") + "?format=anthropic")["messages"][0]["content"]
    assert content[1]["source"]["data"] == data
    append("image", {"type": "user", "content": [image, image]})
    fault = append("image", {"type": "user", "content": [image, image, image]}, status=413)["detail"]
    assert fault["error_message"] == "the body is over the limit of 16777216 bytes (--body-max)", fault
    assert "one large object needs a larger --body-max" in fault["hint"], fault


# --- head and forks ---


UNSEEN = ("metadata", "label", "session_info", "unknown")


def unseen(kind, identifier, **more):
    return {"id": identifier, "type": kind, **({"targetId": "a1"} if kind == "label" else {}), **more}


def check_head(session, head, *texts):
    assert get(url(session))["head_entry_id"] == head
    context = get(url(session, "context"))
    assert context["leaf"] == head and [message["content"] for message in context["messages"]] == list(texts), context


def two_branches(session):
    return [plain("u1", None, content="1"), plain("a1", "u1", content="2"), plain("u2", "a1", content="3"),
            plain("a2", "u2", content="4")]


def test_what_no_model_sees_hides_no_branch():
    """On an old leaf it leaves the head where it is; behind the head it is the head."""
    for kind in UNSEEN:
        name = f"unseen-{kind}"
        make(name)
        append(name, *two_branches(name))
        for _ in range(2):
            append(name, unseen(kind, "exit", parentId="a1"), unseen(kind, "exit-2"), unseen(kind, "root", parentId=None))
            check_head(name, "a2", "1", "2", "3", "4")
        append(name, unseen(kind, "here"))
        check_head(name, "here", "1", "2", "3", "4")
        assert get(url(name, "entries", "here"))["parent_id"] == "a2"
        append(name, plain("back", "exit", content="5"), unseen(kind, "last"))
        check_head(name, "last", "1", "2", "5")
        append(name, {"type": "user", "content": "6"})
        ask("PUT", url(name, "head"), {"entry_id": "u2"})
        append(name, unseen(kind, "behind-the-other", parentId="a2"))
        check_head(name, "u2", "1", "2", "3")
        fork = ask("POST", url(name, "fork"), {"session_id": name + "-fork"})
        append(fork["session_id"], unseen(kind, "old", parentId="u1"))
        check_head(fork["session_id"], "u2", "1", "2", "3")
        append(fork["session_id"], {"type": "user", "content": "7"})
        assert len(get(url(fork["session_id"], "path"))["path"]) == 4


def test_an_import_hides_no_branch_either():
    for kind in UNSEEN:
        name = f"unseen-import-{kind}"
        lines = [*two_branches(name), unseen(kind, "exit", parentId="a1"), unseen(kind, "root"), unseen(kind, "early", parentId="late"),
                 unseen(kind, "late", parentId="exit")]
        for count in (3, 5, 8, 8):
            data = "".join(json.dumps(line) + "\n" for line in lines[:count]).encode()
            answer = server().request("POST", url(name, "import"), data, {"Content-Type": "application/x-ndjson"})
            assert answer.status == 200, answer
            check_head(name, *(["u2", "1", "2", "3"] if count == 3 else ["a2", "1", "2", "3", "4"]))
        only = f"only-{kind}"
        append(only, unseen(kind, "one", **({"targetId": "one"} if kind == "label" else {})), create={"dialect": "plain"},
               status=404 if kind == "label" else 200)
        if kind != "label":
            append(only, unseen(kind, "two", parentId=None), plain("said", None, content="x"), unseen(kind, "three", parentId="two"))
            check_head(only, "said", "x")


def test_what_no_model_sees_in_pi():
    make("unseen-pi", dialect="pi")
    def said(identifier, parent):
        return {"id": identifier, "parentId": parent, "type": "message", "message": {"role": "user", "content": identifier}}
    append("unseen-pi", said("u1", None), said("u2", "u1"))
    for kind, more in (("custom", {}), ("model_change", {"provider": "p", "modelId": "m"}), ("thinking_level_change", {"thinkingLevel": "high"}),
                       ("label", {"targetId": "u1"}), ("session_info", {"name": "n"}), ("new", {})):
        append("unseen-pi", {"id": kind, "parentId": "u1", "type": kind, **more})
        assert get(url("unseen-pi"))["head_entry_id"] == "u2", kind
    assert get(url("unseen-pi"))["name"] == "n"
    for kind, more in (("branch_summary", {"summary": "s"}), ("compaction", {"summary": "s"}), ("custom_message", {"content": "c"})):
        append("unseen-pi", {"id": kind, "parentId": "u1", "type": kind, **more})
        assert get(url("unseen-pi"))["head_entry_id"] == kind


def test_head():
    make("heads")
    append("heads", plain("a", None), plain("b", "a"))
    moved = ask("PUT", url("heads", "head"), {"entry_id": "a", "expected_head": "b"})
    assert moved == {"session_id": "heads", "head_entry_id": "a", "version": 3}
    assert ask("PUT", url("heads", "head"), {"entry_id": "a"})["version"] == 3
    elsewhere = ask("PUT", url("heads", "head"), {"entry_id": "b", "expected_head": "b"}, 409)
    assert "entry a" in reason(elsewhere) and elsewhere["detail"]["current_version"] == 3
    ask("PUT", url("heads", "head"), {"entry_id": "b", "expected_version": 2}, 409)
    ask("PUT", url("heads", "head"), {"entry_id": "no"}, 404)
    ask("PUT", url("nothing", "head"), {"entry_id": "a"}, 404)
    ask("PUT", url("heads", "head"), {}, 422)
    assert get(url("heads", "context"))["leaf"] == "a"


def test_fork():
    session = tree()
    made = ask("POST", url(session, "fork"), {"entry_id": "f", "session_id": "forked"})
    assert made == {"session_id": "forked", "forked_from": session, "entries": 4, "version": 1}
    assert pages(url("forked", "tree"), 500) == list("abef")
    assert get(url("forked"))["forked_from"] == session and get(url("forked"))["head_entry_id"] == "f"
    append("forked", plain("own", "f"))
    get(url(session, "entries", "own"), 404)
    ask("POST", url(session, "fork"), {"session_id": "forked"}, 409)
    ask("POST", url(session, "fork"), {"entry_id": "no"}, 404)
    ask("POST", url("nothing", "fork"), {}, 404)
    assert ask("POST", url(session, "fork"))["entries"] >= 1
    assert len(ask("POST", url(session, "fork"), {})["session_id"]) == 36


# --- contexts ---


CALLS = [
    plain("u", None), plain("x", "u", "assistant", toolCalls=[{"id": "c1", "name": "find", "params": {}},
                                                              {"id": "c2", "name": "get", "params": {}}]),
    plain("t", "x", "tool_result", toolCallId="c1", output="found", success=True),
    plain("v", "t", "assistant"),
]


def test_context():
    make("calls")
    append("calls", *CALLS)
    for form in FORMATS:
        context = get(url("calls", "context") + f"?format={form}")
        llm_rules.check(context)
        assert (context["leaf"], context["path_length"], context["format"]) == ("v", 4, form)
    context = get(url("calls", "context"))
    assert [message["role"] for message in context["messages"]] == \
        ["user", "assistant", "tool", "tool", "assistant"]
    assert [one["repair"] for one in context["report"]["repairs"]] == ["synthetic_result"]
    raw = get(url("calls", "context") + "?repair=off&format=entries")
    assert [entry["id"] for entry in raw["messages"]] == list("uxtv")
    assert get(url("calls", "context") + "?leaf=u")["messages"] == [
        {"role": "user", "content": "says u"}]
    path = url("calls", "context")
    tag = server().get(path).header("ETag")
    assert server().get(path, {"If-None-Match": tag}).status == 304
    for query in ("?leaf=", "?format=x", "?compare=", "?tail=3"):
        get(path + query, 422)


def test_settings():
    make("settings", dialect="pi")
    append("settings", {"type": "message", "message": {"role": "user", "content": "x"}},
           {"type": "model_change", "provider": "anthropic", "modelId": "m-1"},
           {"type": "thinking_level_change", "thinkingLevel": "high"})
    context = get(url("settings", "context"))
    assert (context["provider"], context["model"], context["thinking_level"]) == \
        ("anthropic", "m-1", "high"), context


def test_comparison():
    """How far a cache of prompts that one leaf filled serves another."""
    session = tree()
    def compared(leaf, other):
        return get(url(session, "context") + f"?leaf={leaf}&compare={other}")["comparison"]
    assert compared("d", "g") == {"leaf": "g", "messages": 5, "first_difference": 2}
    assert compared("d", "d") == {"leaf": "d", "messages": 4, "first_difference": None}
    assert compared("d", "b")["first_difference"] == 2 and compared("b", "d")["first_difference"] == 2
    assert "no" in reason(get(url(session, "context") + "?leaf=d&compare=no", 404))


def some_entry(rng, identifier, parent):
    kind = rng.choice(("user", "assistant", "tool_result", "tool", "system", "metadata"))
    entry = plain(identifier, parent, kind)
    if kind == "assistant" and rng.random() < .6:
        entry["toolCalls"] = [{"id": f"c{rng.randrange(9)}", "name": rng.choice(["f", "g h", ""]),
                               "params": {}} for _ in range(rng.randrange(1, 3))]
    elif kind == "tool_result":
        entry.update(toolCallId=f"c{rng.randrange(9)}", output=rng.choice(["", "out", {"a": 1}]),
                     success=rng.random() < .8)
    elif kind == "tool":
        entry.update(name="f", params={}, toolCallId=f"c{rng.randrange(9)}")
    return entry


def test_broken_contexts():
    """Trees at random, with broken pairs: every leaf's context is one that the APIs take."""
    rng = random.Random(11)
    for number in range(3 if LIGHT else 8):
        session = f"broken-{number}"
        make(session)
        names = []
        entries = []
        for at in range(40):
            entries.append(some_entry(rng, f"e{at}", rng.choice(names[-3:]) if names else None))
            names.append(f"e{at}")
        append(session, *entries)
        for leaf in pages(url(session, "leaves"), 500):
            for form in FORMATS:
                first = server().get(url(session, "context") + f"?leaf={leaf}&format={form}")
                again = server().get(url(session, "context") + f"?leaf={leaf}&format={form}")
                assert first.status == 200 and first.body == again.body, first
                llm_rules.check(first.json())


def test_stored_depths_below_zero():
    """What a role of a worker may have written is a fault of the database's, and no lack of memory."""
    name = "below"
    make(name)
    append(name, plain("a", None), plain("b", "a"))
    for depth in (-1, -2, -2 ** 31):
        psql(dsn(), f"UPDATE cardbox.session_lines SET depth = {depth} WHERE session_id = '{name}' AND entry_id = 'b'")
        for path in ("context", "path", "entries/b/path"):
            answer = server().get(url(name, *path.split("/")))
            assert answer.status == 500 and answer.json()["detail"]["error_code"] == "internal", (depth, path, answer)
    assert server().get(url(name, "entries", "a")).status == 200


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()
