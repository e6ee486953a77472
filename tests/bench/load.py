"""The three that make load: wrk for HTTP, the SDK's program, pgbench. Each runs for some seconds and
gives operations per second; anything that was refused or failed on the way is an error, since the
figure would be of something else."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
from cardbox_test import temp_dir  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def run(*command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


# --- HTTP ---


def _milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


class Wrk:
    """One run: rate (requests/s), p50 and p99 (ms)."""

    def __init__(self, port, connections, seconds, *what):
        # One thread can load the server fully, and leaves the cores to it and to PostgreSQL.
        out = run("wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--latency",
                  "--timeout", "30s", "-s", os.path.join(HERE, "requests.lua"),
                  f"http://127.0.0.1:{port}", "--", *(str(part) for part in what))
        failed = re.search(r"Non-2xx.*|Socket errors:.*", out)
        if failed:
            raise RuntimeError(f"wrk {what[0]}: {failed.group()}")
        self.rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
        self.p50, self.p99 = (_milliseconds(re.search(rf"\s{part}%\s+(\S+)", out).group(1))
                              for part in (50, 99))
        if self.rate == 0:
            raise RuntimeError(f"wrk {what[0]}: not one answer in {seconds} s")


# --- pgbench ---


class Reference:
    """Scripts for pgbench -M prepared, and the texts that it passes as parameters."""

    def __init__(self, *scripts, **texts):
        folder = temp_dir()
        self.arguments = []
        for number, script in enumerate(scripts):
            path = os.path.join(folder, f"script-{number}.sql")
            with open(path, "w", encoding="utf-8") as file:
                file.write(script)
            self.arguments += ["-f", path]
        for name, text in texts.items():
            self.arguments += ["-D", f"{name}={text}"]

    def rate(self, dsn, seconds, clients=8):
        length = ("-T", str(round(seconds))) if seconds >= 1 else ("-t", str(round(200 * seconds)))
        out = run("pgbench", dsn, "-n", "-M", "prepared", "-c", str(clients), "-j", "1", *length,
                  *self.arguments)
        if not re.search(r"number of failed transactions: 0 ", out):
            raise RuntimeError(f"pgbench: {out}")
        return float(re.search(r"tps = ([\d.]+) \(without initial connection time\)", out).group(1))


# --- programs of this folder ---


def compiled(name):
    """Builds a program of this folder with the flags of the library, and links it with the library."""
    with open(os.path.join(cardbox_test.BUILD, "flags"), encoding="utf-8") as file:
        flags = file.read().split()
    program = os.path.join(temp_dir(), name)
    run(*[flag for flag in flags if flag != "-fPIC"], "-o", program, os.path.join(HERE, name + ".c"),
        os.path.join(cardbox_test.BUILD, "lib", "libcardbox.a"), "-lpq", "-luuid", "-lutf8proc", cwd=cardbox_test.ROOT)
    return program


class Sdk:
    """tests/bench/sdk_load.c"""

    def __init__(self, dsn, document_file):
        self.program = compiled("sdk_load")
        self.dsn = dsn
        self.document_file = document_file

    def _run(self, *arguments):
        out = json.loads(run(self.program, self.dsn, *(str(argument) for argument in arguments)))
        return out["operations"] / out["seconds"]

    def append(self, threads, seconds, prefix, boxes):
        return self._run("append", threads, seconds, prefix, boxes)

    def fork(self, threads, seconds, prefix, boxes):
        return self._run("fork", threads, seconds, prefix, boxes)

    def add(self, threads, seconds, batch):
        """Cards a second, in calls of `batch` cards."""
        return self._run("add", threads, seconds, self.document_file, batch)

    def append_entries(self, threads, seconds, message_file):
        """Entries a second; each thread appends to a session of its own."""
        return self._run("entries", threads, seconds, message_file)

    def write_range(self, first, count):
        """The same cards whenever it is asked for the same numbers."""
        return self._run("range", 1, 0, self.document_file, first, count)

    def import_session(self, path):
        """Bytes a second of one import into a new session."""
        return self._run("import", 1, 0, path)

    def context(self, seconds, session):
        """Contexts a second of the head of a session of tenant-0."""
        return self._run("context", 1, seconds, session)


class PlainServer:
    """tests/bench/plain_server.c"""

    def __init__(self, dsn):
        self.process = subprocess.Popen([compiled("plain_server"), dsn], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def stop(self):
        self.process.terminate()
        self.process.wait()
