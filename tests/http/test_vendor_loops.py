#!/usr/bin/env python3
"""Loops of 50 turns with the official packages of OpenAI and Anthropic, against strict stubs of their APIs.

The turns have thinking, parallel calls, images, refusals, empty and cut answers, broken arguments, and ids of other servers.
The program dies at every line of each third turn, and starts again.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import client_test
import vendor_server
from cardbox_test import once, server

TURNS = 50


@once
def program():
    return os.path.join(client_test.compile_programs(os.path.join(cardbox_test.ROOT, "tests", "clients", "loops.ts")), "loops.js")


def check_loop(format_, api):
    model = vendor_server.VendorServer(api)
    environment = {**os.environ, "CARDBOX_URL": f"http://127.0.0.1:{server().port}", "MODEL_URL": model.url, "TURNS": str(TURNS)}
    done = client_test.run_node(program(), format_, ",".join(api.kinds), env=environment)
    assert done.returncode == 0 and not model.faults, (model.faults[:2], done.stderr[-2000:])
    answers = sum(len(api.answers(turn, api.kinds[turn % len(api.kinds)])) for turn in range(TURNS))
    said = json.loads(done.stdout)
    assert said["deaths"] > TURNS and model.requests >= answers and said["messages"] > TURNS, (said, answers, model.requests)


def test_loops():
    for format_, api in (("openai", vendor_server.OpenAI), ("responses", vendor_server.Responses), ("anthropic", vendor_server.Anthropic)):
        yield format_, lambda format_=format_, api=api: check_loop(format_, api)


if __name__ == "__main__":
    cardbox_test.main(globals())
