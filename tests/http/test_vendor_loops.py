#!/usr/bin/env python3
"""Loops of 50 turns with the official packages of OpenAI and Anthropic, and the loops of the guides, against strict stubs.

The turns have thinking, parallel calls, images, refusals, empty and cut answers, broken arguments, and ids of other servers.
Some turns die at every step and start again, and some run twice at the same time. A process is also killed by the kernel.
"""

import itertools
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import client_test
from cardbox_test import once, server
from vendor_server import APIS, OpenAI, VendorServer

FILES = os.path.join(cardbox_test.ROOT, "tests", "clients")
IS_LONG = os.environ.get("CARDBOX_LOOPS") == "whole"
TURNS, KILLS = 50, 1 if IS_LONG else 12  # every KILLSth step is a kill
DYING = ("parallel", "thinking", "empty", "cutcall", "blank")  # the kinds of turns that die, if only some do


@once
def programs():
    """The folder of the compiled loops: loops.js, anthropic.js, responses.js. test_client_typescript.py checks their types."""
    guides = client_test.loops_of_guide(("8099", str(server().port)))
    return client_test.compile_programs(os.path.join(FILES, "loops.ts"), *guides, checks=False)


def run_loop(model, format_, *arguments):
    environment = {**os.environ, "CARDBOX_URL": f"http://127.0.0.1:{server().port}", "MODEL_URL": model.url}
    done = client_test.run_node(os.path.join(programs(), "loops.js"), format_, *map(str, arguments), env=environment)
    assert not model.faults, model.faults[:2]
    return done


def plan(model):
    """The turns that die, and those that two programs run at the same time."""
    turns = [turn for turn in range(TURNS) if model.kind(turn) != "abandoned"]
    kinds = len(model.api.kinds)
    dying = turns[::2] if IS_LONG else [turn for turn in turns if turn < kinds and model.kind(turn) in DYING]
    return dying, [turn for turn in turns if turn not in dying][::2]


def expected_counts(model, turns):
    """The answers that the model is asked for, and the calls that a tool runs: both as (turn, what)."""
    asked, ran = set(), set()
    for turn in turns:
        kind = model.kind(turn)
        answers = model.api.answers(turn, kind)
        asked |= {(turn, step) for step in range(1 if kind == "abandoned" else len(answers))}
        for answer in [] if kind == "abandoned" else answers:
            calls = model.api.calls(answer)
            ran |= {(turn, call) for call in calls if not model.output(answer, call, kind).startswith("the arguments are no JSON")}
    return asked, ran


def check_counts(model, turns, deaths, twice):
    """Each answer and each tool was asked for once, and once more after a death that lost it, or for a second program."""
    asked, ran = expected_counts(model, turns)
    for name, found, expected in (("asked", model.asked, asked), ("ran", model.ran, {call for _, call in ran})):
        assert set(found) == expected, (name, set(found) ^ expected)
    of_call = {call: turn for turn, call in ran}
    for name, counts in (("asked", {key: (key[0], n) for key, n in model.asked.items()}),
                         ("ran", {key: (of_call[key], n) for key, n in model.ran.items()})):
        assert all(n <= 2 for turn, n in counts.values() if turn in twice), (name, counts)
        again = sum(n - 1 for turn, n in counts.values() if turn not in twice)
        assert again == deaths[name], (name, again, deaths)


def check_loop(format_):
    model = VendorServer(APIS[format_])
    dying, twice = plan(model)
    done = run_loop(model, format_, f"loop-{format_}", 0, TURNS, *(",".join(map(str, turns)) for turns in (dying, twice)))
    assert done.returncode == 0, done.stderr[-2000:]
    deaths = json.loads(done.stdout)
    assert all(deaths.values()), deaths
    check_counts(model, range(TURNS), deaths, twice)


def test_loops():
    for format_ in APIS:
        yield format_, lambda format_=format_: check_loop(format_)


def check_kills(format_):
    """The process is killed at a step of a turn with parallel calls, and started again. At most one answer or result is lost."""
    model, name = VendorServer(APIS[format_]), f"killed-{format_}"
    kinds = model.api.kinds
    for step in itertools.count(0, KILLS):
        turn = kinds.index("parallel") + step * len(kinds)
        status = run_loop(model, format_, name, turn, turn + 1, "", "", step).returncode
        assert run_loop(model, format_, name, turn, turn + 1).returncode == 0
        asked, ran = expected_counts(model, [turn])
        again = [model.asked[key] - 1 for key in asked] + [model.ran[call] - 1 for _, call in ran]
        assert min(again) >= 0 and sum(again) <= (status != 0), (step, again)
        if status == 0:
            break
        assert status == -9, status
    assert step > 20, step


def test_killed_processes():
    for format_ in APIS if IS_LONG else ["openai"]:
        yield format_, lambda format_=format_: check_kills(format_)


def check_guide(format_, url, kinds):
    """The loop of the guide runs turns, and each turn again."""
    model = VendorServer(APIS[format_], is_loose=True)
    environment = {**os.environ, "MODEL_URL": model.url + url, "MODEL": "stub", "MODEL_KEY": "k"}
    for turn, kind in enumerate(kinds):
        question = f"turn {turn} {kind}"
        outputs = [client_test.run_node(os.path.join(programs(), f"{format_}.js"), question, question, env=environment) for _ in range(2)]
        assert not model.faults and [done.returncode for done in outputs] == [0, 0], (model.faults, outputs)
        assert outputs[0].stdout == outputs[1].stdout != "", outputs
    answers = [len(model.api.answers(turn, kind)) for turn, kind in enumerate(kinds)]
    assert list(model.asked.values()) == [1] * sum(answers), model.asked


def test_loops_of_the_guide():
    yield "anthropic", lambda: check_guide("anthropic", "", ["parallel", "blank"])
    yield "responses", lambda: check_guide("responses", "/v1", ["parallel", "cutthought"])


class Lives:
    """README's loop in Python. Each life is a process of its own."""

    def __init__(self, model):
        source = client_test.programs_of_guide("README.md", "python")[0].replace("8099", str(server().port))
        path = os.path.join(cardbox_test.temp_dir(), "agent.py")
        with open(path, "w", encoding="utf-8") as text:
            text.write(source)
        environment = {**os.environ, "MODEL_URL": model.url + "/v1", "MODEL": "stub", "MODEL_KEY": "k",
                       "PYTHONPATH": client_test.PYTHON_CLIENT, "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen([sys.executable, os.path.join(FILES, "lives.py"), path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)
        cardbox_test.at_end(self.process.kill)
        self.session = re.search(r'\.session\("(.*?)"\)', source).group(1)

    def run(self, turn, question, **how):
        self.process.stdin.write(json.dumps({"arguments": [turn, question], **how}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["status"], answer["output"]

    def answers(self):
        """The number of answers that are stored."""
        with cardbox_test.Client(server().port) as client:
            answer = client.request("GET", cardbox_test.session_url(self.session, "export", project="demo"))
        return 0 if answer.status == 404 else sum(b'"message":{"role":"assistant"' in line for line in answer.body.splitlines())


def check_turn_of_lives(lives, model, turn, kind, step):
    """Kills a life of a turn at a step, and starts another. Returns false if the step is after the end."""
    question, before = f"turn {turn} {kind}", lives.answers()
    status, _ = lives.run(question, question, step=step)
    stored, asked = lives.answers() - before, dict(model.asked)
    again, output = lives.run(question, question)
    assert status in (0, -9) and again == 0 and output.strip() and not model.faults, (question, step, status, again, output, model.faults)
    answers = range(len(OpenAI.answers(turn, kind)))
    asked_again = [model.asked[turn, n] - asked.get((turn, n), 0) for n in answers]
    assert asked_again == [int(n >= stored) for n in answers] and lives.answers() - before == len(answers), (question, step, asked_again)
    return status != 0


def test_readme_killed_at_every_step():
    """README's loop in Python is killed before each line and after each answer of a server: no stored answer is asked for again."""
    model = VendorServer(OpenAI, is_loose=True)
    lives, turns = Lives(model), itertools.count()
    for kind in [kind for kind in OpenAI.kinds if kind not in ("image", "abandoned")] if IS_LONG else ["parallel"]:
        steps = next(step for step in itertools.count() if not check_turn_of_lives(lives, model, next(turns), kind, step))
        assert steps > 15, (kind, steps)


if __name__ == "__main__":
    cardbox_test.main(globals())
