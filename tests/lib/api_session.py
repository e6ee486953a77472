"""Requests that tests of messages of models' APIs share: additions, contexts, appends, and their answers."""

import json
import re

from cardbox_test import ask, server
from cardbox_test import session_url as url

FORMATS = ("openai", "responses", "anthropic")
PNG = "iVBORw0KGgo="


def add(session, form, messages, status=200, headers=None, **more):
    return ask("POST", url(session, "messages"), {"format": form, "messages": messages, **more}, status, **(headers or {})).json()


def add_raw(session, form, messages):
    """`messages`: the text of a JSON array or object."""
    answer = server().request("POST", url(session, "messages"), f'{{"format":"{form}","messages":{messages}}}'.encode(),
                              {"Content-Type": "application/json"})
    assert answer.status == 200, answer
    return answer.json()


def raw_context(session, query=""):
    """The bytes of the messages, and the whole answer."""
    body = ask("GET", url(session, "context") + "?" + query).body
    return re.search(rb'"messages":(\[.*\]),"digests":', body, re.DOTALL).group(1).decode(), json.loads(body)


def context(session, query="", status=200):
    return ask("GET", url(session, "context") + "?" + query, None, status).json()


def append(session, *entries, status=200, dialect="plain"):
    return ask("POST", url(session, "entries"), {"entries": list(entries), "create": {"dialect": dialect}}, status).json()


def stored(session):
    return [json.loads(line) for line in ask("GET", url(session, "export")).body.splitlines()]


def user(text="q"):
    return {"role": "user", "content": text}


def call(name, arguments="{}"):
    return {"id": name, "type": "function", "function": {"name": "f", "arguments": arguments}}


def refusal(detail):
    """The places and the messages of a 422."""
    return [(fault["loc"], fault["msg"]) for fault in detail["detail"]["faults"]]


def pi(role, **members):
    return {"type": "message", "message": {"role": role, **members}}
