#!/usr/bin/env python3
"""Sessions in and out over HTTP as JSON Lines: byte for byte, again and longer, one branch, the other
dialect; files that are broken in every way; and a real session, whose context is the one known."""

import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules
from cardbox_test import json_lines, parse_responses, server
from cardbox_test import session_url as url

FORMATS = ("openai", "anthropic", "entries")
NDJSON = {"Content-Type": "application/x-ndjson"}


def bring(session, data, status=200):
    answer = server().request("POST", url(session, "import"), data, NDJSON, timeout=120)
    assert answer.status == status, answer
    return answer.json()


def take(session, query="", status=200):
    answer = server().get(url(session, "export") + query, timeout=120)
    assert answer.status == status, answer
    if status == 200:
        assert answer.header("Content-Type") == "application/x-ndjson", answer.headers
    return answer.body


HEADER = {"type": "session", "version": 3, "id": "h", "timestamp": "2025-01-02T03:04:05Z", "cwd": "/"}


def message(identifier, parent, role="user", **more):
    content = [{"type": "text", "text": f"says {identifier}"}]
    return {"type": "message", "id": identifier, "parentId": parent, "timestamp": "2025-01-02T03:04:05Z",
            "message": {"role": role, "content": content, **more}}


TREE = json_lines(HEADER, message("a", None), message("b", "a", "assistant"), message("c", "b"),
             message("d", "b"), message("e", "d", "assistant"))


# --- ordinary files ---


def test_in_and_out():
    report = bring("tree", TREE)
    assert (report["session_id"], report["dialect"], report["changed"], report["appended"],
            report["entries"], report["leaves"], report["branch_points"]) == \
        ("tree", "pi", True, 5, 5, 2, 1), report
    assert take("tree") == TREE
    again = bring("tree", TREE)
    assert not again["changed"] and again["appended"] == 0 and again["unchanged"] == 6, again
    longer = bring("tree", TREE + json_lines(message("f", "e")))
    assert longer["changed"] and longer["appended"] == 1, longer
    assert take("tree") == TREE + json_lines(message("f", "e"))
    session = server().get(url("tree")).json()
    assert session["head_entry_id"] == "f" and session["header"] == HEADER, session


def test_a_branch():
    bring("branch", TREE)
    assert take("branch", "?leaf=c") == json_lines(HEADER, message("a", None), message("b", "a", "assistant"),
                                              message("c", "b"))
    take("branch", "?leaf=no", 404)
    take("branch", "?leaf=", 422)
    take("branch", "?leav=c", 422)
    take("branch", "?dialect=pi", 422)
    take("nothing", "", 404)
    take("nothing", "?leaf=c", 404)
    take("x" * 513, "", 404)


def test_appended_lines_follow():
    bring("follow", TREE)
    body = json.dumps({"entry": message("g", "c")})
    answer = server().request("POST", url("follow", "entries"), body, {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    assert take("follow") == TREE + body[len('{"entry": '):-1].encode() + b"\n"


def test_empty_sessions():
    assert server().request("PUT", url("empty"), b"{}", {"Content-Type": "application/json"}).status == 200
    assert take("empty") == b""
    report = bring("empty", b"")
    assert not report["changed"] and report["lines"] == 0, report


def test_files_of_other_programs():
    for name, data, line, looks in (
            ("turns", b"\nno JSON\n" + json_lines({"type": "turn"}), 3, "a file of another program"),
            ("api", json_lines({"role": "user", "content": "x"}), 1, "messages of a model's API"),
            ("project", json_lines({"kind": "card", "card_id": "c", "created_at": None}), 1, "an export of a project")):
        said = bring(name, data + TREE, 400)["detail"]["error_message"]
        assert f"the file is no session: from line {line} on, it looks like {looks}" in said, said
        take(name, status=404)
        answer = server().request("POST", url(name, "import") + "?force=true", data + TREE, NDJSON)
        assert answer.status == 200 and take(name) == data + TREE, answer


def test_head_of_exports():
    bring("heads", TREE)
    raw = server().raw(b"HEAD %s HTTP/1.1\r\nHost: x\r\n\r\n" % url("heads", "export").encode(), idle=2)
    answer, = parse_responses(raw, head=True)
    assert answer.status == 200 and answer.header("Content-Type") == "application/x-ndjson", answer


def test_fork_of_a_header_that_the_database_cannot_read():
    for name, odd in (("half", "\\ud800x"), ("nul", "\\u0000")):
        header = f'{{"type":"session","id":"{odd}","provider":"anthropic","modelId":"m","thinkingLevel":"off"}}\n'
        answer = server().request("POST", f"/projects/odd/sessions/{name}/import", header.encode() + (
            b'{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"x"}}\n'),
            {"Content-Type": "application/x-ndjson"})
        assert answer.status == 200, answer
        answer = server().post(f"/projects/odd/sessions/{name}/fork", {"session_id": name + "-fork"})
        assert answer.status == 200, answer
        context = server().get(f"/projects/odd/sessions/{name}-fork/context").json()
        assert (context["provider"], context["model"], context["thinking_level"]) == ("anthropic", "m", "off"), name


def test_gzip():
    data = TREE + b"".join(json_lines(message(f"n{n}", "e")) for n in range(400))
    bring("gzip", data)
    answer = server().get(url("gzip", "export"), {"Accept-Encoding": "gzip"})
    assert answer.header("Content-Encoding") == "gzip", answer.headers
    import gzip  # pylint: disable=import-outside-toplevel
    assert gzip.decompress(answer.body) == data


# --- files that are not as they should be ---


BROKEN = {
    "torn": TREE + b'{"type":"message","id":"z","par', "no newline": TREE[:-1],
    "bom": b"\xef\xbb\xbf" + TREE, "crlf": TREE.replace(b"\n", b"\r\n"),
    "blank lines": b"\n \n" + TREE.replace(b"\n", b"\n\n\t\n"), "no header": TREE.partition(b"\n")[2],
    "second header": TREE + json_lines(HEADER), "duplicates": TREE + TREE,
    "conflict": TREE + json_lines(message("a", None, "assistant")),
    "missing parent": TREE + json_lines(message("x", "nowhere")),
    "child first": json_lines(HEADER, message("b", "a"), message("a", None)),
    "cycle": TREE + json_lines(message("x", "y"), message("y", "x")),
    "own parent": TREE + json_lines(message("x", "x")), "junk": bytes(range(1, 10)) + b"\xff\xfe\n" + TREE,
    "surrogates": json_lines(HEADER) + rb'{"type":"message","id":"s","parentId":null,"message":{"role":"user",'
                                  rb'"content":"\ud800\u0000"}}' + b"\n",
    "not objects": TREE + b"[1]\n7\nnull\n\"x\"\n{}\n", "only blanks": b"\n\n  \n",
    "version 1": json_lines({"type": "session", "id": "v1", "timestamp": "2025-01-02T03:04:05Z", "cwd": "/",
                        "provider": "p", "modelId": "m", "thinkingLevel": "off"},
                       {"type": "message", "timestamp": "t", "message": {"role": "user", "content": "x"}},
                       {"type": "message", "timestamp": "t",
                        "message": {"role": "assistant", "content": [{"type": "text", "text": "y"}]}}),
}


def test_broken_files():
    for name, data in BROKEN.items():
        yield name, lambda name=name, data=data: check_broken(f"broken {name}", data)


def check_broken(session, data):
    """A report, the same bytes back, nothing written the second time, and every leaf has a context."""
    report = bring(session, data)
    assert report["lines"] == len(data.splitlines()) or "junk" in session or "crlf" in session, report
    assert take(session) == data, report
    again = bring(session, data)
    assert not again["changed"] and again["version"] == report["version"], (again, report)
    assert server().get(url(session)).json()["version"] == report["version"]
    for node in server().get(url(session, "leaves")).json()["entries"]:
        for form in FORMATS:
            answer = server().get(url(session, "context") +
                                  f"?format={form}&leaf={urllib.parse.quote(node['entry_id'])}")
            assert answer.status == 200, answer
            llm_rules.check(answer.json())


def test_nul_bytes():
    """They are what a crash leaves at the end of a file: the report says so."""
    report = bring("nuls", TREE + b"\0" * 100)
    assert report["entries"] == 5, report


def test_long_line():
    data = TREE + json_lines(message("big", "e", extra="x" * 50_000_000))
    report = bring("long", data)
    assert report["entries"] == 6 and take("long") == data


def test_context_of_long_lines():
    """Of a way whose lines are over 32 MiB no context is made; at an entry further up it is."""
    long = [message("a", None), *(message(name, before, "user", content="x" * (12 << 20))
                                  for before, name in zip("abc", "bcd"))]
    bring("heavy", json_lines(HEADER, *long))
    refused = server().get(url("heavy", "context")).json()["detail"]
    assert refused["error_code"] == "too_large" and "with limit or token_budget" in refused["hint"], refused
    assert "33554432 bytes" in refused["error_message"], refused
    up = server().get(url("heavy", "context") + "?leaf=c")
    assert up.status == 200 and len(up.json()["messages"]) == 3, up
    refused = server().get(url("heavy", "context") + "?leaf=a&compare=d")
    assert refused.status == 413, refused


def test_report_names_lines():
    report = bring("reports", BROKEN["not objects"] + json_lines(message("x", "nowhere")))
    kinds = {issue["line"]: issue["kind"] for issue in report["issues"]}
    assert kinds[7] == "bad" and kinds[12] == "dangling", report


def test_report_names_what_no_model_sees():
    report = bring("unseen", TREE + json_lines({"type": "fly", "id": "x1"}, {"type": "user", "id": "x2"}))
    unseen = [(issue["kind"], issue["reason"]) for issue in report["issues"]]
    assert unseen == [("not_in_context", "an entry of an unknown type is never part of a context"),
                      ("not_in_context", "an entry without content is never part of a context")], report
    assert report["not_in_context"] == 2 and bring("unseen-not", TREE)["not_in_context"] == 0


def test_refused_requests():
    path = url("refused", "import")
    wrong = server().request("POST", path, TREE, {"Content-Type": "text/plain"})
    assert wrong.status == 415 and "application/x-ndjson" in wrong.json()["detail"]["hint"], wrong
    assert server().request("POST", path + "?x=1", TREE, NDJSON).status == 422
    assert server().request("POST", url("x" * 513, "import"), TREE, NDJSON).status == 404
    assert server().get(path).status == 405
    assert server().get(url("refused")).status == 404


def test_files_of_another_session():
    """Refused, and nothing of them is written, unless that is forced."""
    own = json_lines({"type": "session", "id": "own"}, message("m", None))
    odd = {"another id": json_lines({"type": "session", "id": "other"}, message("n", None)),
           "dialect is pi": json_lines({"type": "user", "id": "n", "content": "x"})}
    bring("owned", own)
    for why, data in odd.items():
        for query in ("", "?force=false"):
            refused = server().request("POST", url("owned", "import") + query, data, NDJSON)
            assert refused.status == 409, refused
            assert why in refused.json()["detail"]["error_message"], refused
        assert take("owned") == own
    forced = server().request("POST", url("owned", "import") + "?force=true", odd["another id"], NDJSON)
    assert forced.status == 200 and forced.json()["appended"] == 1, forced
    assert [(issue["line"], issue["kind"]) for issue in forced.json()["issues"]] == [(1, "not_kept")]
    assert take("owned") == own + odd["another id"].split(b"\n", 1)[1]
    assert server().request("POST", url("owned", "import") + "?force=x", own, NDJSON).status == 422


def test_client_that_leaves():
    """What came before is in, no line is cut, and the whole file again finishes it."""
    data = TREE + b"".join(json_lines(message(f"n{n}", "e")) for n in range(3000))
    server().raw(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"
                 b"Content-Length: %d\r\n\r\n" % (url("left", "import").encode(), len(data)) +
                 data[:len(data) // 2 + 7], idle=.2)
    report = bring("left", data)
    assert report["entries"] == 3005, report
    assert take("left") == data


# --- a real one ---


def test_real_session():
    with open(cardbox_test.shared_file("data", "pi", "large-session.jsonl"), "rb") as file:
        data = file.read()
    report = bring("real", data)
    assert (report["lines"], report["appended"], report["headers"], report["bad"], report["leaves"]) == \
        (1019, 1018, 1, 0, 1), report
    assert take("real") == data
    again = bring("real", data)
    assert not again["changed"] and again["unchanged"] == 1019, again
    for form in FORMATS:
        context = server().get(url("real", "context") + f"?format={form}").json()
        llm_rules.check(context)
        assert context["path_length"] == 1018
        assert (context["provider"], context["model"], context["thinking_level"]) == \
            ("anthropic", "claude-sonnet-4-5", "off"), context["model"]
        # pi itself: 914 -> 892. It keeps results of dropped calls, which we leave out.
        assert context["report"]["messages_before"] == 914
    check_messages(server().get(url("real", "context")).json()["report"])


def check_messages(report):
    """Every message that is not there, or there in addition, by the repair that says why."""
    count = {}
    for repair in report["repairs"]:
        count[repair["repair"]] = count.get(repair["repair"], 0) + 1
    dropped = sum(count.get(name, 0) for name in ("dropped_message", "dropped_result", "orphan_result",
                                                  "second_result"))
    added = count.get("synthetic_result", 0)
    assert report["messages_after"] == report["messages_before"] - dropped + added, count


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()
