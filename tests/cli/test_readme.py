#!/usr/bin/env python3
"""The README and the guides (README.md of each folder): their examples work, on a `cardbox dev` of the test's own.

Each ```sh block between <!-- run --> and <!-- /run --> is one case: it must exit with 0 and print
something, and each of its comments `# ... -> text` must be in its output, in that order. The C
programs are compiled and run, and the worker is started with the tools file. Links lead to files and headings.
"""

import glob
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
import client_test  # noqa: E402
from cardbox_test import WAIT_S  # noqa: E402

README_BYTES_MAX = 10000
LOOP_LINES_MAX = 20


def read_guides():
    """Path from the root of the repository -> text, the README first."""
    found = {}
    for path in ["README.md", *sorted(glob.glob("*/README.md", root_dir=cardbox_test.ROOT))]:
        with open(os.path.join(cardbox_test.ROOT, path), encoding="utf-8") as text:
            found[path] = text.read()
    return found


GUIDES = read_guides()


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
                                        start_new_session=True,
                                        env={**os.environ, "CARDBOX_ABILITIES_ALLOW_PRIVATE": "1"})
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


def marked_blocks(guide):
    for part in re.findall(r"<!-- run -->(.*?)<!-- /run -->", guide, re.S):
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


def run_program(dev, program):
    """Compiles and runs a C program twice; the second run writes nothing new."""
    directory = cardbox_test.temp_dir()
    source = os.path.join(directory, "program.c")
    with open(source, "w", encoding="utf-8") as text:
        text.write(program)
    # With the flags of the build: its library may be one for a sanitizer.
    with open(os.path.join(cardbox_test.BUILD, "flags"), encoding="utf-8") as text:
        flags = text.read().split()
    binary = os.path.join(directory, "program")
    library = os.path.join(cardbox_test.BUILD, "lib", "libcardbox.a")
    subprocess.run([*flags, "-o", binary, source, library, "-lpq", "-luuid", "-lutf8proc"], check=True,
                   cwd=cardbox_test.ROOT)
    outputs = []
    for _ in range(2):
        done = subprocess.run([binary], capture_output=True, text=True, timeout=WAIT_S,
                              env=dev.environment())
        assert done.returncode == 0 and done.stdout.strip(), f"{done.stdout}{done.stderr}"
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1], outputs


def run_loop(dev, program):
    """An agent loop runs with models of the test's own. It is also killed and started again."""
    client_test.check_program(here(program, dev), dev.port)


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


def examples(guide):
    """(title, function, text) of each example of a guide."""
    for block in marked_blocks(guide):
        yield block.strip().splitlines()[0][:70], run_block, block
    for part in re.findall(r"<!-- run -->(.*?)<!-- /run -->", guide, re.S):
        for language, program in re.findall(r"```(ts|python)\n(.*?)```", part, re.S):
            yield f"an agent loop ({language})", run_loop, program
    for program in re.findall(r"```c\n(.*?)```", guide, re.S):
        yield "a C program", run_program, program
    for tools in re.findall(r'```json\n({"tools".*?)```', guide, re.S):
        yield "the tools file", run_agents, tools


def test_examples():
    dev = Dev()
    cases = [(path, *example) for path, guide in GUIDES.items() for example in examples(guide)]
    for path, least in (("README.md", 3), ("openapi/README.md", 6), ("include/README.md", 4), ("sql/README.md", 1)):
        assert sum(1 for case in cases if case[0] == path) >= least, f"{path} has fewer than {least} examples"
    loops = [text for _, _, function, text in cases if function is run_loop]
    assert len(set(re.findall(r'session\("[^"]*"\)', "".join(loops)))) == len(loops), "two loops share a session"
    assert all(len(text.splitlines()) <= LOOP_LINES_MAX for text in loops), "a loop is too long for the README"
    for path, title, function, text in cases:
        yield f"{path}: {title}", lambda function=function, text=text: function(dev, text)
    yield "stop", dev.stop


def anchors(guide):
    """The names that links use for the headings of a guide."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", guide, flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links(path, guide):
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", guide):
        file = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        assert os.path.exists(os.path.join(cardbox_test.ROOT, file)), f"{path}: {target}"
        assert not anchor or anchor in anchors(GUIDES[file]), f"{path}: {target}#{anchor}"
    for name in re.findall(r"`([a-z_/]+/[a-z_0-9.]+\.(?:c|h|sql|py|json|yaml))`", guide):
        paths = (os.path.join(cardbox_test.ROOT, folder, name) for folder in ("", os.path.dirname(path)))
        assert name.startswith("build/") or any(map(os.path.exists, paths)), f"{path}: {name}"


def test_links():
    for path, guide in GUIDES.items():
        yield path, lambda path=path, guide=guide: check_links(path, guide)


def test_readme_is_short():
    size = len(GUIDES["README.md"].encode())
    assert size <= README_BYTES_MAX, f"{size} bytes, the limit is {README_BYTES_MAX}: move a part to a guide"


if __name__ == "__main__":
    cardbox_test.main()
