#!/usr/bin/env python3
"""GET /projects/{p}/search and the ability search:find: hits of every kind, filters, pages, what is refused, snippets of
hostile text, tokens, and large pages."""

import concurrent.futures
import json
import os
import sys
import unicodedata
import urllib.parse
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Server, ask, await_, cardbox, database, dsn, psql, server, url

JSON = {"Content-Type": "application/json"}
HOSTILE = ("<script>alert(1)</script> \u202eneedle\u202c & \"quotes\" \\ \ud83d\udca5 e\u0301 needle <img src=x onerror=y>")


def find(project, q, status=200, at=None, headers=None, **query):
    """What the route answers. The ability must answer the same."""
    text = urllib.parse.urlencode({"q": q, **query})
    answer = (at or server()).get(f"{url(project, 'search')}?{text}", headers)
    assert answer.status == status, (project, q, query, answer)
    if status == 200:
        number = {"limit": int(query["limit"])} if "limit" in query else {}
        called = (at or server()).post(url(project, "abilities", "search:find"), {"q": q, **query, **number}, headers)
        assert called.body == answer.body, (answer, called)
    return answer.json()


def ids(project, q, **query):
    return [hit["id"] for hit in find(project, q, **query)["hits"]]


def indexed(dsn_=None):
    """Until all that was committed can be found."""
    await_(lambda: psql(dsn_ or dsn(), "SELECT count(*) FROM cardbox.search_queue").strip() == "0")


def project():
    """A new one: cases do not find what others wrote."""
    return str(uuid.uuid4())


def add(name, *cards, **options):
    ask("POST", url(name, "cards"), {"cards": list(cards), **options})


def card(identifier, content, **members):
    return {"card_id": identifier, "content": content, **members}


def invoke(name, ability, value):
    return ask("POST", url(name, "abilities", ability), value).json()


def message(name, task, identifier, content, **members):
    invoke(name, "ldg:task:save", {"task": {"id": task, "systemPrompt": "s", "createdAt": 1, "updatedAt": 1}})
    invoke(name, "ldg:msg:save", {"message": {"id": identifier, "taskId": task, "role": "user", "content": content,
                                              "timestamp": 1767225600123, **members}})


def entries(name, session, *given):
    ask("PUT", url(name, "sessions", session), {"dialect": "plain"})
    ask("POST", url(name, "sessions", session, "entries"), {"entries": list(given)})


def entry(identifier, content, **members):
    return {"id": identifier, "type": "user", "timestamp": "2026-01-02T00:00:00Z", "content": content, **members}


def marked(hit):
    """The texts of a hit that its offsets name."""
    return [hit["snippet"][start:end] for start, end in hit["offsets"]]


# --- hits ---


def test_each_kind():
    name = project()
    add(name, card("c", {"text": "the word Needle, once"}, type="agent.thought", role="assistant",
                   created_at="2026-01-03T00:00:00Z"), card("other", "hay"))
    entries(name, "s", entry("e", "a needle here"), entry("f", "hay"))
    message(name, "t", "m", "needles? NEEDLE!")
    indexed()
    assert find(name, "needle") == {"hits": [
        {"kind": "card", "id": "c", "type": "agent.thought", "role": "assistant", "created_at": "2026-01-03T00:00:00Z",
         "snippet": "the word Needle, once", "offsets": [[9, 15]]},
        {"kind": "entry", "id": "e", "session_id": "s", "type": "user", "role": "user",
         "created_at": "2026-01-02T00:00:00Z", "snippet": "a needle here", "offsets": [[2, 8]]},
        {"kind": "message", "id": "m", "task_id": "t", "type": "task.instruction", "role": "user", "created_at": "2026-01-01T00:00:00.123000Z",
         "snippet": "needles? NEEDLE!", "offsets": [[9, 15]]}], "cursor": None}, find(name, "needle")
    assert find(name, "nothing") == {"hits": [], "cursor": None}
    assert find(project(), "needle") == {"hits": [], "cursor": None}


def test_changes_of_cards():
    name = project()
    add(name, card("a", "first"), card("b", "first"), card("brief", "first", ttl_seconds=3600))
    indexed()
    assert sorted(ids(name, "first")) == ["a", "b", "brief"]
    add(name, card("a", "second"))
    ask("DELETE", url(name, "cards", "b"))
    psql(dsn(), f"UPDATE cardbox.cards SET expires_at = now() - interval '1 s' WHERE tenant_id = '{name}' AND card_id = 'brief'")
    assert "b" not in ids(name, "first") and "brief" not in ids(name, "first"), "not even before it is indexed"
    indexed()
    assert (ids(name, "first"), ids(name, "second")) == ([], ["a"])
    add(name, card("b", "first"), restore=True)
    indexed()
    assert ids(name, "first") == ["b"]


def test_deleted_session():
    name = project()
    entries(name, "s", entry("e", "needle"))
    indexed()
    assert ids(name, "needle") == ["e"]
    ask("DELETE", url(name, "sessions", "s"))
    assert ids(name, "needle") == []


def test_words():
    name = project()
    add(name, card("code", "def getUserName(http_server2): return parseJSONValue"), card("german", "Die Müller hätten Straßen"),
        card("cjk", "我们在東京都でラーメンを食べた 한국어"), card("calls", None, tool_calls=[{"function": "read_log"}]))
    indexed()
    for q, found in (("getusername", "code"), ("user", "code"), ("user name", "code"), ("Http-Server", "code"), ("server2", "code"),
                     ("muller", "german"), ("STRASSEN", "german"), ("東", "cjk"), ("東京", "cjk"), ("ラーメン", "cjk"),
                     ("국어", "cjk"), ("read_log", "calls"), ("readLog", "calls")):
        assert ids(name, q) == [found], (q, find(name, q))
    for q in ("京東", "nameuser", "mull", "東都"):
        assert ids(name, q) == [], (q, find(name, q))


# --- filters and pages ---


def filtered():
    name = project()
    add(name, *[card(f"c{n}", "needle", type=f"t{n % 3}", role=("user", "assistant")[n % 2],
                     created_at=f"2026-03-{n + 1:02}T00:00:00Z") for n in range(12)])
    entries(name, "one", entry("e1", "needle"), entry("e2", "needle", type="assistant"))
    entries(name, "two", entry("e1", "needle"))
    message(name, "task", "m1", "needle")
    message(name, "task2", "m2", "needle", role="assistant")
    indexed()
    return name


def test_filters():
    name = filtered()
    cards = [f"c{n}" for n in reversed(range(12))]
    for query, found in (
            ({"kind": "card"}, cards), ({"kind": "message", "task_id": "task"}, ["m1"]),
            ({"type": "t1"}, ["c10", "c7", "c4", "c1"]), ({"type": "t1", "role": "user"}, ["c10", "c4"]),
            ({"session_id": "one"}, ["e2", "e1"]), ({"session_id": "one", "role": "assistant"}, ["e2"]),
            ({"session_id": "one", "type": "user"}, ["e1"]), ({"session_id": "none"}, []), ({"task_id": "task2"}, ["m2"]),
            ({"session_id": "one", "task_id": "task"}, []), ({"kind": "entry", "task_id": "task"}, []), ({"type": ""}, []),
            ({"created_after": "2026-03-10T00:00:00Z"}, ["c11", "c10"]),
            ({"created_after": "2026-03-03T00:00:00Z", "created_before": "2026-03-05T01:00:00+01:00"}, ["c3"]),
            ({"created_before": "2026-01-02T00:00:00Z", "role": "assistant"}, ["m2"])):
        assert ids(name, "needle", **query) == found, (query, find(name, "needle", **query))


def test_filters_apply_before_limit():
    name = filtered()
    page = find(name, "needle", type="t0", limit="1")
    assert [hit["id"] for hit in page["hits"]] == ["c9"] and page["cursor"], page
    assert ids(name, "needle", task_id="task", limit="1") == ["m1"]
    page = find(name, "needle", kind="card", created_before="2026-03-02T00:00:00Z", limit="1")
    assert [hit["id"] for hit in page["hits"]] == ["c0"] and page["cursor"] is None, page


def each_page(name, q, limit, **options):
    """The hits of each page."""
    cursor = {}
    while cursor is not None:
        page = find(name, q, limit=str(limit), **options, **cursor)
        assert len(page["hits"]) <= limit
        yield page["hits"]
        cursor = {"cursor": page["cursor"]} if page["cursor"] else None


def pages(name, q, limit, **options):
    """All hits, page by page."""
    return [hit for hits in each_page(name, q, limit, **options) for hit in hits]


def test_pages():
    """Many cards of the same times: each comes once, the newest first."""
    name = project()
    add(name, *[card(f"c{n}", f"needle {n}", created_at=f"2026-03-0{1 + n % 3}T00:00:00Z") for n in range(250)])
    indexed()
    assert len(find(name, "needle")["hits"]) == 20 and len(find(name, "needle", limit="9999")["hits"]) == 100
    assert len(find(name, "needle", limit="-5")["hits"]) == 1
    for limit in (100, 7, 250):
        hits = pages(name, "needle", min(limit, 100))
        assert len({hit["id"] for hit in hits}) == len(hits) == 250, limit
        times = [hit["created_at"] for hit in hits]
        assert times == sorted(times, reverse=True)


def test_pages_while_cards_are_written():
    """A page begins where the one before ended, whatever was added or changed meanwhile."""
    name = project()
    add(name, *[card(f"c{n:03}", "needle", created_at=f"2026-03-01T00:{n // 60:02}:{n % 60:02}Z") for n in range(90)])
    indexed()
    count = iter(range(1000))

    def write():
        number = next(count)
        add(name, card(f"new{number}", "needle"), card(f"c{10 + number:03}", "needle again"))
        indexed()
    hits = []
    for page in each_page(name, "needle", 20):
        hits += [hit["id"] for hit in page]
        write()
    assert hits == [f"c{n:03}" for n in reversed(range(90))], hits


# --- what is refused ---


def test_refused():
    name = project()
    for query, loc, words in (
            ("", "q", "required"), ("q=", "q", "letter or a digit"), ("q=+%21%E2%80%A6", "q", "letter or a digit"),
            ("q=" + "a" * 1025, "q", "1024"), ("q=" + "%E6%9D%B1" * 342, "q", "1024"),
            ("q=" + "+".join(f"w{n}" for n in range(33)), "q", "32"), ("q=a&q=b", "q", "once"),
            ("q=a&limit=x", "limit", "integer"), ("q=a&limit=1.5", "limit", "integer"), ("q=a&cursor=x", "cursor", "cursor"),
            ("q=a&cursor=1.6e65656e", "cursor", "cursor"), ("q=a&cursor=", "cursor", "cursor"),
            ("q=a&created_after=yesterday", "created_after", "time"), ("q=a&created_before=2026-01-01", "created_before", "time"),
            ("q=a&kind=box", "kind", "card, message, entry"), ("q=a&role=" + "r" * 513, "role", "512"),
            ("q=a&session_id=" + "s" * 513, "session_id", "512"), ("q=a&text=b", "text", "known: q, kind")):
        answer = server().get(f"{url(name, 'search')}?{query}")
        detail = answer.json()["detail"]
        assert (answer.status, detail["error_code"]) == (422, "validation_failed"), (query, answer)
        assert detail["faults"][0]["loc"] == ["query", loc] and words in detail["error_message"], (query, detail)
    for query in ("q=%ff", "q=a%00b", "q=%zz"):
        assert server().get(f"{url(name, 'search')}?{query}").status == 400, query
    assert server().post(url(name, "search"), {"q": "a"}).status == 405


def test_refused_by_the_ability():
    for value, words in (({}, "/q: is missing"), ({"q": ""}, "/q: must contain a letter"), ({"q": 5}, "/q: "),
                         ({"q": "東" * 400}, "/q: must have at most 1024 bytes"), ({"q": "a\u0000"}, "/q: holds"),
                         ({"q": "a", "cursor": "x"}, "cursor"), ({"q": "a", "kind": "box"}, "/kind"),
                         ({"q": "a", "created_after": "x"}, "created_after"), ({"q": "a", "limit": "1"}, "/limit"),
                         ({"q": "a", "query": "b"}, "/query: is not known here")):
        answer = server().post(url("p", "abilities", "search:find"), value)
        assert answer.status == 422 and words in answer.json()["detail"]["error_message"], (value, answer)
    assert server().post(url("p", "abilities", "search:find"), {"q": "a", "limit": 0}).status == 200
    assert server().post(url("p", "abilities", "search:find"), {"q": " ".join(["word"] * 90)}).status == 200


# --- snippets ---


def check_snippet(hit):
    assert len(hit["snippet"]) <= 240 and hit["offsets"], hit
    before = 0
    for start, end in hit["offsets"]:
        assert before <= start < end <= len(hit["snippet"]), hit
        before = end
    assert "\n" not in hit["snippet"] and "  " not in hit["snippet"], hit


def test_snippets():
    """No code point is cut, and offsets count code points, not bytes."""
    name = project()
    texts = {"html": HOSTILE.replace("\ud83d\udca5", "💥"), "giant": "x" * 60000 + " needle " + "y" * 4000,
             "wide": "💥" * 300 + "needle" + "💥" * 300, "marks": "e\u0301" * 200 + " needle " + "e\u0301" * 200,
             "lines": "a\n\n\tneedle\r\n\u2028 b", "near": "needle " * 100, "cut": "needle" + "東" * 400,
             "controls": "\u0001\u001bneedle\u007f\u0085"}
    add(name, *[card(key, {"text": text}) for key, text in texts.items()])
    add(name, {"card_id": "nul", "content": {"text": "before needle after"}})
    raw = '{"cards": [{"card_id": "half", "content": "\\u0000 \\ud800 needle \\udfff"}]}'
    assert server().request("POST", url(name, "cards"), raw.encode(), JSON).status == 200
    indexed()
    hits = {hit["id"]: hit for hit in find(name, "needle")["hits"]}
    assert set(hits) == {*texts, "nul", "half"}, set(hits)
    for hit in hits.values():
        check_snippet(hit)
        assert all(text.casefold() == "needle"[:len(text)] for text in marked(hit)), hit
    assert "<script>alert(1)</script>" in hits["html"]["snippet"], hits["html"]
    assert len(hits["near"]["offsets"]) > 20
    assert "\ufffd" in hits["half"]["snippet"], hits["half"]
    assert not any(unicodedata.category(ch) == "Cs" for hit in hits.values() for ch in hit["snippet"])


def test_snippets_of_messages():
    """A snippet ends with the text that has the last match; what follows in the message can still be found."""
    name = project()
    said = {"role": "assistant", "content": [{"type": "text", "text": "First needle."}, {"type": "text", "text": "More hay."}],
            "provider": "anthropic", "usage": {"input": 5}}
    entries(name, "s", {"id": "e", "type": "message", "message": said})
    add(name, card("c", {"content": "A needle.", "model": "needle-2", "more": "hay"}), card("d", {"path": "/needle", "error": "none"}))
    indexed()
    assert {hit["id"]: hit["snippet"] for hit in find(name, "needle")["hits"]} == {
        "e": "First needle.", "c": "A needle. model needle-2 more hay", "d": "path /needle error none"}
    assert find(name, "first hay")["hits"][0]["snippet"] == "First needle. More hay."
    assert ids(name, "anthropic") == ["e"]


# --- who may ---


def test_tokens():
    own = database()
    guarded = Server(own, auth=True)
    secrets = {key: cardbox("token", "create", "--dsn", own, "--name", key, *options).stdout.strip()
               for key, options in (("a", ("--tenant", "a", "--scope", "read,write")), ("b", ("--tenant", "b")),
                                    ("writer", ("--tenant", "a", "--scope", "write")))}
    tokens = {key: {"Authorization": f"Bearer {secret}", **JSON} for key, secret in secrets.items()}
    await_(lambda: guarded.get("/projects/b/search?q=x", tokens["b"]).status == 200)
    written = guarded.post("/projects/a/cards", {"card_id": "c", "content": "needle"}, tokens["a"])
    assert written.status == 200, written
    indexed(own)
    assert [hit["id"] for hit in find("a", "needle", at=guarded, headers=tokens["a"])["hits"]] == ["c"]
    assert find("b", "needle", at=guarded, headers=tokens["b"])["hits"] == []
    for headers, status in ((tokens["b"], 403), (tokens["writer"], 403), ({}, 401)):
        answer = guarded.get("/projects/a/search?q=needle", headers)
        assert answer.status == status and b"needle" not in answer.body, answer
        assert guarded.post("/projects/a/abilities/search:find", {"q": "needle"}, headers).status == status
    guarded.stop()


def test_other_projects():
    """The same ids and words in two projects; a cursor of one is only a position in the other."""
    one, two = project(), project()
    for name in one, two:
        add(name, *[card(f"c{n}", f"needle of {name}") for n in range(5)])
    indexed()
    page = find(one, "needle", limit="2")
    rest = find(two, "needle", cursor=page["cursor"])
    for hit in page["hits"]:
        assert one in hit["snippet"]
    for hit in rest["hits"]:
        assert two in hit["snippet"]
    assert ids(one, two) == []


def test_read_only_server():
    own = database()
    writer = Server(own)
    assert writer.post("/projects/p/cards", {"card_id": "c", "content": "needle"}).status == 200
    indexed(own)
    reader = Server(own, "--read-only")
    assert [hit["id"] for hit in find("p", "needle", at=reader)["hits"]] == ["c"]
    reader.stop()
    writer.stop()


# --- load ---


def test_large_pages():
    """A helper thread reads 2 MB: 33 texts of 64 KB."""
    own, text = database(), " ".join(f"word{n % 50}" for n in range(9400))[:64000]
    large = Server(own, "--loops", "1")
    for part in range(4):
        cards = [card(f"c{part}-{n}", f"{text} needle") for n in range(25)]
        assert large.post("/projects/p/cards", {"cards": cards}, timeout=120).status == 200
    indexed(own)
    before = large.metric("cardbox_jobs_total")
    assert len(find("p", "needle", at=large, limit="100")["hits"]) == 33
    assert large.metric("cardbox_jobs_total") == before + 2, "the route and the ability"
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        searches = [pool.submit(large.get, "/projects/p/search?q=needle&limit=100", timeout=120) for _ in range(16)]
        assert {large.get(f"/projects/p/cards/c0-{n % 25}").status for n in range(100)} == {200}
        assert {one.result().status for one in searches} <= {200, 503}
    large.stop()


def test_pages_of_large_contents():
    """A page of the server ends after 2 MB of texts, here 11 of 196 KB. The SDK reads several and fills its page."""
    name = project()
    for part in range(4):
        cards = [card(f"c{part}-{n}", "needle " + "東京都" * 21800 * (n % 2),
                      tool_calls=["東京都" * 21800] * (1 - n % 2)) for n in range(10)]
        body = json.dumps({"cards": cards}, ensure_ascii=False).encode()
        assert server().request("POST", url(name, "cards"), body, JSON, timeout=120).status == 200
    indexed()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        read = list(pool.map(lambda limit: list(each_page(name, "needle", limit)), (100, 10)))
    assert [[len(hits) for hits in by] for by in read] == [[11, 11, 11, 7], [10] * 4], read
    filled = cardbox("search", "--dsn", dsn(), "--project", name, "--json", "--limit", "100", "needle").stdout.splitlines()
    for found in sum(read[0], []), sum(read[1], []), list(map(json.loads, filled)):
        assert len({hit["id"] for hit in found}) == len(found) == 40, found
        times = [hit["created_at"] for hit in found]
        assert times == sorted(times, reverse=True), times


def test_writers_and_readers():
    """Searches while cards are written, repaired and deleted: every answer is a page."""
    name = project()

    def write(number):
        for turn in range(15):
            add(name, card(f"c{number}-{turn % 4}", f"needle {turn}"))
            if turn % 5 == 4:
                ask("DELETE", url(name, "cards", f"c{number}-{turn % 4}"))
                add(name, card(f"c{number}-{turn % 4}", "needle"), restore=True)
        return []

    def read(_):
        seen = []
        for _ in range(25):
            answer = server().get(f"{url(name, 'search')}?q=needle&limit=100")
            assert answer.status == 200, answer
            seen.append([hit["id"] for hit in answer.json()["hits"]])
        return seen
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        done = [pool.submit(write, n) for n in range(3)] + [pool.submit(read, n) for n in range(3)]
        for one in done:
            for found in one.result():
                assert len(set(found)) == len(found), found
    indexed()
    assert sorted(ids(name, "needle", limit="100")) == sorted(f"c{number}-{turn}" for number in range(3) for turn in range(4))


if __name__ == "__main__":
    cardbox_test.main()
