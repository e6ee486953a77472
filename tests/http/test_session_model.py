#!/usr/bin/env python3
"""Odd files at random, of both dialects and of all of pi's versions: the report, the tree, paths, contexts and
exports are those that a model of its own makes of the same bytes; and so they are of forks and of what was
exported, wherever it is read again. CARDBOX_SESSIONS=3000 tries so many; CARDBOX_SESSIONS_SEED begins elsewhere."""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules
import session_model
from cardbox_test import LIGHT, server

COUNT = int(os.environ.get("CARDBOX_SESSIONS", 10 if LIGHT else 30))
SEED = int(os.environ.get("CARDBOX_SESSIONS_SEED", 1))
JUNK = (b"", b" \t\r", b"\0\0", b'{"type":"user","id":"broken', b"[]", b"5", b"null", b'"text"', b"{}",
        b'{"n":1}', b'{"type":"user","id":7}', b'{"type":"user","id":""}', b'{"type":"message","id":"a\\u0001"}',
        b"\xff\xfe", b'{"type":"session","id":"other","cwd":"/"}', b'{"type":"user","x":NaN}')
NDJSON = {"Content-Type": "application/x-ndjson"}


# --- files ---


class Maker:
    """`idless`: how many of the lines say no id, as in version 1."""

    def __init__(self, seed):
        dice = self.dice = random.Random(seed)
        self.is_pi = dice.random() < .6
        self.idless = dice.choice([0, 0, 1, .3])
        self.odd = dice.choice([0, .05, .2])
        self.ids, self.lines, self.number, self.places = [], [], 0, 0

    def parent(self):
        dice = self.dice
        if dice.random() < self.odd:
            return dice.choice([None, "", 7, "missing", f"e{self.number + 2}", f"e{self.number}", "a\0", [1]])
        near = self.ids[-1:] if dice.random() < .7 else self.ids[-6:]
        return dice.choice(near) if near else None

    def content(self, blocks):
        dice = self.dice
        return dice.choice([f"text {self.number}", "", None, 5, "\0 \ud800", " "] if dice.random() < .3 else
                           [f"text {self.number}"]) if not blocks else blocks + (
                               [{"type": "text", "text": dice.choice(["t", ""])}] if dice.random() < .5 else [])

    def calls(self, arguments):
        dice = self.dice
        return [{"id": self.call(), "name": dice.choice(["t", "no name!", ""]), arguments: {"a": 1}}
                for _ in range(dice.choice([0, 1, 1, 2, 3]))]

    def call(self):
        return self.dice.choice([f"c{self.dice.randrange(6)}"] * 9 + ["", None, "odd id \n"])

    def kept(self, idless):
        dice = self.dice
        index = {"firstKeptEntryIndex": dice.choice([dice.randrange(self.places + 2)] * 9 + [-1, 2.5, "e1", 10 ** 30])}
        entry = {"firstKeptEntryId": dice.choice(self.ids[-8:] * 3 + ["missing", None])}
        return index if idless else dice.choice([entry] * 7 + [{**index, **entry}, {}])

    def message(self):
        dice = self.dice
        who = dice.choice(["user", "assistant", "assistant", "toolResult", "toolResult", "bashExecution", "custom",
                           "hookMessage", "nobody"])
        if who == "assistant":
            blocks = [{"type": "toolCall", **call} for call in self.calls("arguments")]
            return {"role": who, "content": self.content(blocks), "provider": "p", "model": "m",
                    "stopReason": dice.choice(["stop"] * 6 + ["error", "aborted"])}
        if who == "toolResult":
            return {"role": who, "toolCallId": self.call(), "toolName": "t", "content": self.content([]),
                    "isError": dice.choice([True, False])}
        if who == "bashExecution":
            return {"role": who, "command": "ls", "output": "o", "excludeFromContext": dice.choice([True, False, 1])}
        return {"role": who, "content": self.content([])}

    def of_pi(self, idless):
        dice = self.dice
        kind = dice.choice(["message"] * 12 + ["compaction", "compaction", "branch_summary", "custom", "custom_message",
                                               "label", "session_info", "thinking_level_change", "model_change", "new"])
        return {"type": kind, **{
            "message": lambda: {"message": self.message() if dice.random() > self.odd / 4 else 5},
            "compaction": lambda: {"summary": dice.choice(["so far", "\0"]), "tokensBefore": 1, **self.kept(idless)},
            "branch_summary": lambda: {"fromId": "x", "summary": dice.choice(["s", "", None])},
            "custom_message": lambda: {"customType": "c", "content": self.content([]), "display": True},
            "label": lambda: {"targetId": dice.choice(self.ids + ["missing", None]), "label": dice.choice(["l", "", None])},
            "session_info": lambda: {"name": dice.choice(["n", ""])},
            "thinking_level_change": lambda: {"thinkingLevel": dice.choice(["high", None])},
            "model_change": lambda: {"provider": "p", "modelId": dice.choice(["m2", None])},
        }.get(kind, dict)()}

    def of_plain(self, _):
        dice = self.dice
        kind = dice.choice(["user", "user", "assistant", "assistant", "tool", "tool", "tool_result", "tool_result",
                            "tool_result", "system", "metadata", "label", "new"])
        return {"type": kind, **{
            "user": lambda: {"content": self.content([])}, "system": lambda: {"content": self.content([])},
            "assistant": lambda: {"content": self.content([]), **dice.choice([{}, {"toolCalls": self.calls("params")}])},
            "tool": lambda: {"name": "t", "params": {}, "toolCallId": self.call()},
            "tool_result": lambda: {"toolCallId": self.call(), "output": dice.choice(["o", "", None, {"a": 1}]),
                                    "success": dice.choice([True, False])},
            "label": lambda: {"targetId": dice.choice(self.ids + [None]), "label": dice.choice(["l", ""])},
        }.get(kind, dict)()}

    def line(self):
        dice = self.dice
        if dice.random() < self.odd / 2:
            return dice.choice(JUNK)
        if self.lines and dice.random() < self.odd / 4:
            return dice.choice(self.lines).strip(b"\n\0 ")
        is_pi = self.is_pi if dice.random() > self.odd / 8 else not self.is_pi
        idless = dice.random() < self.idless
        entry = {"n": self.number, "timestamp": "2025-01-02T03:04:05Z", **(self.of_pi if is_pi else self.of_plain)(idless)}
        if not idless:
            entry["id"] = f"e{self.number}" if dice.random() > self.odd / 4 or not self.ids else dice.choice(self.ids)
            if dice.random() > self.odd / 4:
                entry["parentId"] = self.parent()
            self.ids.append(entry["id"])
        elif dice.random() < .1 * (self.idless < 1):
            entry["parentId"] = self.parent()
        text = json.dumps(entry).encode()
        return (b" " * dice.randrange(3) + text + dice.choice([b"", b"\r", b"\0"])) if dice.random() < self.odd else text

    def make(self, count):
        for _ in range(count):
            line = self.line()
            self.number += 1
            self.places += line[:1] == b"{"
            self.lines.append(line + b"\n")
        return b"".join(self.lines)

    def header(self, name):
        if self.is_pi and self.dice.random() < .9:
            version = {} if self.idless else {"version": self.dice.choice([2, 3])}
            self.lines.append(json.dumps({"type": "session", **version, "id": name, "cwd": "/"}).encode() + b"\n")
            self.places += 1


def random_file(seed):
    maker = Maker(seed)
    if maker.dice.random() < maker.odd:
        maker.lines.append(b"\n")
    maker.header(f"file-{seed}")
    data = maker.make(maker.dice.randrange(2, 40))
    return data[:-1] if maker.dice.random() < .1 else data


# --- what CardBox makes of it ---


def url(session, what="", **query):
    return (f"/projects/p/sessions/{session}{what}"
            + ("?" + "&".join(f"{name}={value}" for name, value in query.items()) if query else ""))


def get(path):
    answer = server().get(path)
    assert answer.status == 200, (path, answer)
    return answer


def bring(session, data, force=""):
    answer = server().request("POST", url(session, "/import") + force, data, NDJSON)
    if not force and answer.status == 400 and b"the file is no session" in answer.body:
        return bring(session, data, "?force=true")
    assert answer.status == 200, (session, answer)
    return answer.json()


def entries(session, what="/tree"):
    return get(url(session, what, limit=1000)).json()["entries"]


def context(session, leaf=None, **more):
    return get(url(session, "/context", **({"leaf": leaf} if leaf else {}), **more)).json()


def said(message):
    """Which line a message is of; None: it is synthetic."""
    return message.get("n")


def numbers(made):
    return [None if one is None else one.value["n"] for one in made]


def check_tree(session, file):
    """The id of each entry of the model's tree."""
    lines = {one.line - 1: one.place for one in file.tree}
    got, want = {lines.get(one["line"]): one for one in entries(session)}, {one.place: one for one in file.tree}
    assert sorted(got) == sorted(want), (sorted(got), sorted(want))
    ids = {place: one["entry_id"] for place, one in got.items()}
    assert len(set(ids.values())) == len(ids)
    for place, one in want.items():
        there = got[place]
        parent = one.parent and ids[one.parent.place]
        assert (there["parent_id"], there["depth"], there["label"]) == (
            parent, len(session_model.path(one)) - 1, one.label), (one, there)
        assert one.id in (None, there["entry_id"]), (one, there)
    assert [one["entry_id"] for one in entries(session, "/leaves")] == [
        ids[one.place] for one in file.tree if not one.children]
    points = [one for one in file.tree if len(one.children) > 1]
    points.sort(key=lambda one: min(child.line for child in one.children))
    assert [one["entry_id"] for one in entries(session, "/branch-points")] == [ids[one.place] for one in points]
    assert {one["entry_id"]: one["label"] for one in entries(session, "/labels")} == {
        ids[one.place]: one.label for one in file.tree if one.label}
    return ids


def check_spoken(session, leaf, name):
    raw = context(session, name, format="entries", repair="off")["messages"]
    spoken = session_model.spoken(leaf)
    assert list(map(said, raw)) == numbers(spoken), (leaf, raw, spoken)
    return spoken


def check_leaf(session, leaf, name):
    way = get(url(session, f"/entries/{name}/path")).json()["path"]
    assert [one["line"] for one in way] == [one.line - 1 for one in session_model.path(leaf)], (leaf, way)
    spoken = check_spoken(session, leaf, name)
    mended = context(session, name, format="entries")["messages"]
    want = [one for sources in session_model.repaired(session_model.messages(spoken)) for one in sources or [None]]
    assert list(map(said, mended)) == numbers(want), (leaf, mended, want)
    llm_rules.openai(context(session, name, format="openai")["messages"])
    anthropic = context(session, name, format="anthropic")
    llm_rules.anthropic(anthropic["messages"], anthropic.get("system") or None)


def contexts(session, names):
    """Of the same entries, whatever their session."""
    return {name: context(session, name, format="entries", repair="off")["messages"] for name in names}


def same(some, others):
    """A line may say more at its end."""
    assert {name: list(map(said, messages)) for name, messages in some.items()} == {
        name: list(map(said, messages)) for name, messages in others.items()}, (some, others)


def links(session):
    return {one["entry_id"]: one["parent_id"] for one in entries(session)}


def check_copies(session, ids, name, way):
    """Of a fork and of a branch's export, read again in turn, and where they came from."""
    wanted = contexts(session, [ids[one.place] for one in way if one.kept][-2:] + [name])
    links_here = links(session)
    fork, branch = session + "-fork", session + "-branch"
    answer = server().post(url(session, "/fork"), {"session_id": fork, "entry_id": name})
    assert answer.status in (200, 201), answer
    bring(branch, get(url(session, "/export", leaf=name)).body, "?force=true")
    bring(fork + "-again", get(url(fork, "/export")).body, "?force=true")
    for copy in (fork, branch, fork + "-again"):
        assert links(copy) == {ids[one.place]: links_here[ids[one.place]] for one in way}, copy
        same(contexts(copy, wanted), wanted)
        report = bring(session, get(url(copy, "/export")).body, "?force=true")
        assert not report["appended"] and links(session) == links_here, (copy, report)


def check_report(report, file):
    assert {name: report[name] for name in file.report()} == file.report(), (report, file.report())
    said_of = [(one["line"], "bad" if one["kind"] == "torn" else one["kind"]) for one in report["issues"]
               if one["kind"] not in ("nuls", "not_in_context")]
    assert sorted(said_of) == file.issues, (report, file.issues)


def check_file(session, data, dice):
    file = session_model.File(data)
    report = bring(session, data)
    check_report(report, file)
    ids = check_tree(session, file)
    assert get(url(session, "/export")).body == data
    again = bring(session, data)
    assert not again["changed"] and again["issues"] == report["issues"], (report, again)
    check_report(again, file)
    for leaf in dice.sample(file.tree, min(3, len(file.tree))) + file.tree[-1:]:
        check_leaf(session, leaf, ids[leaf.place])
    if file.tree:
        assert context(session)["leaf"] == ids[session_model.head(file).place]
        leaf = dice.choice(file.tree)
        check_copies(session, ids, ids[leaf.place], session_model.path(leaf))


def check_diverged(session, first, second, dice, is_sound):
    """Two files of one beginning in one session: what each says holds, and what comes out is the same session
    wherever it is read."""
    bring(session, first)
    report = bring(session, second, "?force=true")
    file = session_model.File(second)
    if is_sound and report["conflicts"] == 0 and not any(one.is_dangling for one in file.tree):
        for leaf in file.tree:
            if leaf.kept and leaf.id:
                check_spoken(session, leaf, leaf.id)
    out = get(url(session, "/export")).body
    bring(session + "-copy", out, "?force=true")
    assert links(session + "-copy") == links(session)
    names = dice.sample(sorted(links(session)), min(6, len(links(session))))
    same(contexts(session + "-copy", names), contexts(session, names))
    assert not bring(session, out, "?force=true")["changed"]


def said_line(number, idless, **more):
    link = {} if idless else {"id": f"e{number}", "parentId": f"e{number - 1}" if number > 1 else None}
    return json.dumps({"n": number, "timestamp": "2025-01-02T03:04:05Z", "type": "message", **link,
                       "message": {"role": "user", "content": f"text {number}"}, **more}).encode() + b"\n"


def test_what_a_compaction_keeps():
    """By index in version 1, by id in 2 and 3, behind blank and bad lines and a branch: also of a fork and of a
    branch's export."""
    for version, idless in ((None, True), (2, False), (3, True), (3, False)):
        session = f"kept-{version}-{idless}"
        header = {"type": "session", "id": session, "cwd": "/", **({"version": version} if version else {})}
        by = {"firstKeptEntryIndex": 4} if idless else {"firstKeptEntryId": "e4"}
        lines = [json.dumps(header).encode() + b"\n", b"\n", b"bad\n",
                 *(said_line(number, idless) for number in range(1, 6)), b"\n",
                 said_line(6, idless, type="compaction", summary="so far", tokensBefore=9, **by), said_line(7, idless)]
        if not idless:
            lines.insert(5, said_line(99, False, parentId="e1"))
        data = b"".join(lines)
        check_file(session, data, random.Random(1))
        assert list(map(said, context(session, format="entries")["messages"])) == [6, 4, 5, 7]
        fork = session + "-out"
        server().post(url(session, "/fork"), {"session_id": fork})
        out = get(url(fork, "/export")).body
        bring(fork + "-in", out, "?force=true")
        for copy in (session, fork, fork + "-in"):
            assert list(map(said, context(copy, format="entries")["messages"])) == [6, 4, 5, 7], (copy, out)


def test_random_files():
    for seed in range(SEED, SEED + COUNT):
        data = random_file(seed)
        try:
            check_file(f"s{seed}", data, random.Random(seed))
        except AssertionError as fault:
            raise AssertionError(f"seed {seed}: {fault}\n{data.decode('utf-8', 'backslashreplace')}") from None


def test_files_that_diverge():
    for seed in range(SEED, SEED + COUNT // 3):
        maker = Maker(seed)
        maker.header(f"two-{seed}")
        begin = maker.make(maker.dice.randrange(1, 12))
        files = []
        for _ in range(2):
            maker.lines = []
            files.append(begin + maker.make(maker.dice.randrange(1, 12)))
        try:
            check_diverged(f"d{seed}", *files, random.Random(seed), maker.odd == 0)
        except AssertionError as fault:
            raise AssertionError(f"seed {seed}: {fault}\n{files}") from None


if __name__ == "__main__":
    cardbox_test.main()
