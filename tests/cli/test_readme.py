#!/usr/bin/env python3
"""README.md: what it tells people to type works, on a `cardbox dev` of its own.

Each ```sh block between <!-- run --> and <!-- /run --> is one case: it must exit with 0 and print
something, and each of its comments `# ... -> text` must be in what it prints, in that order. The C
programs are compiled and run, and the worker is started with the tools file.
"""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
from cardbox_test import WAIT_S  # noqa: E402

with open(os.path.join(cardbox_test.ROOT, "README.md"), encoding="utf-8") as _text:
    README = _text.read()


class Dev:
    """`cardbox dev` in a temporary folder."""

    def __init__(self):
        self.port = None
        self.model_port = cardbox_test.free_port()
        directory = cardbox_test.temp_dir()
        if os.getuid() == 0:  # the database then runs as another user, who must get there
            os.chmod(directory, 0o755)
        command = [os.path.join(cardbox_test.BUILD, "bin", "cardbox"), "dev",
                   "--data", os.path.join(directory, "var"), "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1,
                                        start_new_session=True)
        cardbox_test.at_end(self.kill)
        self.dsn = None
        self._await_ready(time.monotonic() + WAIT_S)

    def _await_ready(self, deadline):
        output = ""
        while time.monotonic() < deadline:
            if not select.select([self.process.stdout], [], [], 1)[0]:
                continue
            line = self.process.stdout.readline()
            output += line
            if line.startswith("dsn: "):
                self.dsn = line[5:].strip()
            if line.startswith("ready: "):
                self.port = int(re.fullmatch(r"ready: http://127\.0\.0\.1:(\d+)\n", line).group(1))
                return
            if not line:
                break
        raise AssertionError(f"cardbox dev was not ready: {self.process.poll()}\n{output}")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.stdout.read()
        assert self.process.wait(WAIT_S) == 0, self.process.returncode

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def environment(self):
        return {**os.environ, "CARDBOX_DSN": self.dsn, "NO_COLOR": "1", "base": f"http://127.0.0.1:{self.port}"}


def marked_blocks():
    for part in re.findall(r"<!-- run -->(.*?)<!-- /run -->", README, re.S):
        yield from re.findall(r"```sh\n(.*?)```", part, re.S)


def here(text, dev):
    """The text with this run's ports and programs."""
    text = text.replace("8099", str(dev.port)).replace("8098", str(dev.model_port))
    return text.replace("build/bin/", cardbox_test.BUILD + "/bin/")


def type_block(dev, block):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", here(block, dev)],
                          capture_output=True, text=True, timeout=120, cwd=cardbox_test.ROOT,
                          env=dev.environment())
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.stdout.strip(), f"no output\n{done.stderr}"
    return done.stdout


def run_block(dev, block):
    text = rest = type_block(dev, block)
    for expected in re.findall(r"#.* -> (.*)$", block, re.M):
        before, found, rest = rest.partition(expected.strip())
        assert found, f"{expected!r} is not in the rest of\n{text}"
    again = type_block(dev, block)  # people type it again, and what was there stays
    assert not re.search(r"^(null|(\S+: )?error: .*)$", again, re.M), again


def run_worker(dev, program):
    directory = cardbox_test.temp_dir()
    source = os.path.join(directory, "worker.c")
    with open(source, "w", encoding="utf-8") as text:
        text.write(program)
    # With the flags of the build: its library may be one for a sanitizer.
    with open(os.path.join(cardbox_test.BUILD, "flags"), encoding="utf-8") as text:
        flags = text.read().split()
    binary = os.path.join(directory, "worker")
    library = os.path.join(cardbox_test.BUILD, "lib", "libcardbox.a")
    subprocess.run([*flags, "-o", binary, source, library, "-lpq", "-luuid"], check=True,
                   cwd=cardbox_test.ROOT)
    said = []
    for _ in range(2):  # the second time nothing new is written
        done = subprocess.run([binary], capture_output=True, text=True, timeout=WAIT_S,
                              env=dev.environment())
        assert done.returncode == 0 and done.stdout.strip(), f"{done.stdout}{done.stderr}"
        said.append(done.stdout)
    assert said[0] == said[1], said


def run_agents(dev, tools):
    """The worker starts with the tools file, and its commands are there."""
    path = os.path.join(cardbox_test.temp_dir(), "tools.json")
    with open(path, "w", encoding="utf-8") as text:
        text.write(tools)
    commands = [tool["command"] for tool in json.loads(tools)["tools"] if "command" in tool]
    for command in commands:
        done = subprocess.run(command, input='{"text": "one\\ntwo"}', capture_output=True, text=True, timeout=WAIT_S)
        assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", ""), done
    assert commands
    worker = subprocess.Popen([os.path.join(cardbox_test.BUILD, "bin", "cardbox-worker"), "--project", "demo",
                               "--model-url", "http://127.0.0.1:9/v1", "--model", "none", "--tools", path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dev.environment())
    ready = worker.stdout.readline()
    worker.terminate()
    _, said = worker.communicate(timeout=WAIT_S)
    assert ready.startswith("ready: ") and worker.returncode == 0, said


def test_readme():
    dev = Dev()
    blocks = list(marked_blocks())
    assert len(blocks) >= 2, "the README has no blocks to run"
    for block in blocks:
        first = block.strip().splitlines()[0]
        yield first[:70], lambda block=block: run_block(dev, block)
    for program in re.findall(r"```c\n(.*?)```", README, re.S):
        yield "the C program", lambda program=program: run_worker(dev, program)
    for tools in re.findall(r'```json\n({"tools".*?)```', README, re.S):
        yield "the tools file", lambda tools=tools: run_agents(dev, tools)
    yield "stop", dev.stop


def test_paths_exist():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert os.path.exists(os.path.join(cardbox_test.ROOT, target)), target


if __name__ == "__main__":
    cardbox_test.main()
