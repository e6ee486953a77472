#!/usr/bin/env python3
"""Random conversations in the formats of three APIs: a context in the same format has their bytes, and the APIs' rules
find nothing in a context in another format. Sessions and boxes give the same contexts, and a box with several agents
gives each of them one that the APIs take."""

import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import llm_rules

LIB = os.path.join(cardbox_test.BUILD, "lib", "libcardbox.a")
FORMATS = ("openai", "responses", "anthropic")
COUNT = 300 if cardbox_test.LIGHT else 10000
TEXTS = ["Hello.", "É\U0001f600 \"quoted\" \\ back", "two\nlines", "漢字", "x" * 300, "{\"a\": 1}", "  spaces  inside  it."]
IMAGE = "iVBORw0KGgo="


@cardbox_test.once
def program():
    with open(os.path.join(cardbox_test.BUILD, "flags"), encoding="utf-8") as file:
        flags = file.read().split()
    path = os.path.join(cardbox_test.temp_dir(), "api_contexts")
    subprocess.run([*flags, "-o", path, os.path.join("tests", "lib", "api_contexts.c"), LIB, "-lpq", "-luuid", "-lutf8proc"],
                   cwd=cardbox_test.ROOT, check=True)
    # pylint: disable-next=consider-using-with
    return subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def contexts(format_, messages, authors):
    """The contexts of a session with these messages, JSON texts, of a box with them, and of the box as alice sees it, in each
    format."""
    lines = []
    for number, (message, author) in enumerate(zip(messages, authors)):
        parent = f'"m{number - 1}"' if number else "null"
        lines.append(f'{{"id":"m{number}","parentId":{parent},"type":"message","format":"{format_}","message":{message},'
                     f'"author":"{author}"}}')
    process = program()
    process.stdin.write("".join(f"{line}\n" for line in (str(len(lines)), *lines)).encode())
    process.stdin.flush()
    return {other: [process.stdout.readline().decode() for _ in range(3)] for other in FORMATS}


class Maker:
    """Makes conversations of one random number."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.calls = 0

    def often(self, share=0.5):
        return self.random.random() < share

    def text(self):
        return self.random.choice(TEXTS)

    def more(self, value):
        """The object, perhaps with a member that nobody knows."""
        if self.often(0.2):
            value[self.random.choice(["x_new", "index", "extra_content"])] = self.random.choice([1, None, {"deep": [True]}, "s"])
        return value

    def authors(self, messages):
        """The author of each message: one agent in each turn of the user."""
        author = "alice"
        for message in messages:
            if message.get("role") == "user" and "tool_result" not in str(message["content"]):
                author = self.random.choice(["alice", "bob", "bob \u00e9"])
            yield author

    def call_id(self):
        self.calls += 1
        return self.random.choice([f"call_{self.calls}", f"functions.tool:{self.calls}", f"toolu_{self.calls:039d}"])

    def json(self, value):
        """Its text, with the white space of one writer or another."""
        return json.dumps(value, ensure_ascii=self.often(), separators=self.random.choice([(",", ":"), (", ", ": ")]))

    def arguments(self):
        return self.random.choice([{}, {"path": self.text()}, {"n": 2512292042121000001, "deep": {"list": [1.5, None]}}])

    def turns(self):
        """What happens in the conversation: for each turn of the user, the rounds of calls before the answer."""
        return [[self.random.randint(1, 3) for _ in range(self.random.choice([0, 0, 1, 2]))]
                for _ in range(self.random.randint(1, 4))]

    # --- openai ---

    def openai(self):
        if self.often(0.3):
            yield self.more({"role": self.random.choice(["system", "developer"]), "content": self.text()})
        for rounds in self.turns():
            yield self.openai_user()
            for count in rounds:
                yield from self.openai_round(count)
            yield self.more({"role": "assistant", "content": self.text(), **({"refusal": None} if self.often() else {})})

    def openai_user(self):
        if self.often(0.6):
            return self.more({"role": "user", **({"name": "alice b"} if self.often(0.2) else {}), "content": self.text()})
        parts = [{"type": "text", "text": self.text()},
                 {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}]
        if self.often(0.3):
            parts.append({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}})
        if self.often(0.2):
            parts.append({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}})
        return self.more({"role": "user", "content": parts})

    def openai_round(self, count):
        ids = [self.call_id() for _ in range(count)]
        calls = [self.more({"id": id_, "type": "function",
                            "function": {"name": "tool", "arguments": self.json(self.arguments())}}) for id_ in ids]
        answer = {"role": "assistant", "content": self.random.choice([None, self.text()]), "tool_calls": calls}
        if self.often(0.3):
            answer["reasoning_content"] = self.text()
        yield self.more(answer)
        for id_ in self.random.sample(ids, count):
            content = self.text() if self.often(0.7) else [{"type": "text", "text": self.text()}]
            yield self.more({"role": "tool", "tool_call_id": id_, "content": content})

    # --- anthropic ---

    def anthropic(self):
        results = []
        for rounds in self.turns():
            blocks = [*results, *self.anthropic_blocks()]
            yield {"role": "user", "content": self.text() if not results and self.often() else blocks}
            for count in rounds:
                ids = [self.call_id().replace(".", "_").replace(":", "_") for _ in range(count)]
                yield {"role": "assistant", "content": [
                    *self.thinking(), *([{"type": "text", "text": self.text()}] if self.often() else []),
                    *[self.more({"type": "tool_use", "id": id_, "name": "tool", "input": self.arguments()}) for id_ in ids]]}
                results = [self.anthropic_result(id_) for id_ in ids]
                yield {"role": "user", "content": [*results, *(self.anthropic_blocks() if self.often(0.2) else [])]}
            results = []
            yield {"content": self.text() if self.often() else [*self.thinking(), self.more({"type": "text", "text": self.text()})],
                   "role": "assistant"}

    def thinking(self):
        if self.often(0.2):
            yield {"type": "redacted_thinking", "data": "RED"}
        if self.often(0.4):
            yield {"type": "thinking", "thinking": self.random.choice(["", "hm"]), "signature": "SIG"}

    def anthropic_blocks(self):
        yield self.more({"type": "text", "text": self.text()})
        if self.often(0.3):
            yield {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE},
                   "cache_control": {"type": "ephemeral"}}
        if self.often(0.2):
            yield {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}

    def anthropic_result(self, id_):
        content = self.text() if self.often(0.5) else [{"type": "text", "text": self.text()}]
        if isinstance(content, list) and self.often(0.3):
            content.append({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}})
        return {"type": "tool_result", "tool_use_id": id_, "content": content}

    # --- responses ---

    def responses(self):
        for rounds in self.turns():
            yield self.responses_user()
            for count in rounds:
                ids = [self.call_id() for _ in range(count)]
                if self.often(0.4):
                    yield {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "E"}
                for id_ in ids:
                    yield self.more({"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": "tool",
                                     "arguments": self.json(self.arguments())})
                for id_ in ids:
                    output = self.text() if self.often() else [{"type": "input_text", "text": self.text()}]
                    yield {"type": "function_call_output", "call_id": id_, "output": output}
            if self.often(0.2):
                yield {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search"}}
            yield self.more({"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": [
                {"type": "output_text", "text": self.text(), "annotations": []}]})

    def responses_user(self):
        if self.often():
            return {"role": "user", "content": self.text()}
        return {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": self.text()},
            {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}", "detail": "auto"}]}


RULES = {"openai": lambda context: llm_rules.openai(context["messages"]),
         "responses": lambda context: llm_rules.responses(context["messages"]),
         "anthropic": lambda context: llm_rules.anthropic(context["messages"], context.get("system"))}


def check_seen(seen, format_, other, said):
    """What alice sees of `said`, pairs of an author and a message in its bytes."""
    if other != format_:
        RULES[other](json.loads(seen))
        return
    at = 0
    for author, message in said:
        is_sent = author == "alice" and '"reasoning"' not in message and "tool_result" not in message
        assert not is_sent or (at := seen.find(message, at)) >= 0, (message, seen)
    repairs = {one["repair"] for one in json.loads(seen)["report"]["repairs"]}
    assert repairs <= {"other_speaker", "empty_message"}, seen


def check_conversation(format_, seed):
    maker = Maker(seed)
    given = list(getattr(maker, format_)())
    messages, authors = [maker.json(message) for message in given], list(maker.authors(given))
    try:
        for other, (of_session, of_box, seen) in contexts(format_, messages, authors).items():
            assert of_box == of_session, (of_box, of_session)
            if other == format_:
                assert f'"messages":[{",".join(messages)}]' in of_session, of_session
                assert json.loads(of_session)["report"]["repairs"] == [], of_session
            else:
                RULES[other](json.loads(of_session))
            check_seen(seen, format_, other, list(zip(authors, messages)))
    except AssertionError as fault:
        raise AssertionError(f"{format_}, seed {seed}: {fault}\n" + "\n".join(messages)) from None


def test_random_conversations():
    for format_ in FORMATS:
        def check(format_=format_):
            for seed in range(COUNT):
                check_conversation(format_, seed)
        yield format_, check


if __name__ == "__main__":
    cardbox_test.main()
