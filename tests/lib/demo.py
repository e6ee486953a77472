"""The demo of `cardbox dev`, written over HTTP for tests of pages."""

import json
import os
import re
import time

import cardbox_test

DEMO = os.path.join(cardbox_test.ROOT, "src", "cli", "dev", "demo.ndjson")


def put_demo(invoke):
    """Calls invoke(ability, input) for each step of the demo. src/cli/dev/demo.c describes the times in it."""
    begin = time.time() - 3600

    def when(found):
        at = begin + int(found[1])
        text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        return str(int(at * 1000)) if found[2] else json.dumps(text)

    with open(DEMO, encoding="utf-8") as steps:
        for step in steps:
            made = json.loads(re.sub(r'"@(-?\d+)(ms)?"', when, step))
            invoke(made["ability"], made["input"])
