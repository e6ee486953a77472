"""What the black-box tests share: private PostgreSQL, cardboxd, the CLI, HTTP clients, cases.

A test is an executable script of functions test_*, ended by

    if __name__ == "__main__":
        cardbox_test.main()

Each function is one case; one that yields (name, function) pairs is as many cases. The last line
printed is `N passed, N failed`. Names on the command line choose among the functions.
Environment: CARDBOX_BUILD, where bin/ is (default build); CARDBOX_TEST_PG, the folder of a cluster
that runs already (else the script starts its own); CARDBOX_TEST_LIGHT, set: fewer repetitions;
CARDBOX_TEST_POOLED, set: servers reach the database through PgBouncer in transaction mode.
"""

import argparse
import atexit
import contextlib
import fcntl
import glob
import http.client
import inspect
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
import urllib.parse

import libpq

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.path.join(ROOT, os.environ.get("CARDBOX_BUILD", "build"))
CARDBOXD = os.path.join(BUILD, "bin", "cardboxd")
SHARED = os.path.join(ROOT, "..", "shared")
LIGHT = bool(os.environ.get("CARDBOX_TEST_LIGHT"))
POOLED = bool(os.environ.get("CARDBOX_TEST_POOLED"))
PG_SH = os.path.join(ROOT, "tests", "lib", "pg.sh")
SANITIZER_REPORT = re.compile(
    rb"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:|\bpanic\b", re.I)


class Skip(Exception):
    """A case that can't be run here; it counts as neither passed nor failed."""


def once(function):
    """A fixture: made by the first case that asks; if that fails, all that ask fail alike."""
    made = []

    def get():
        if not made:
            try:
                made.append((function(), None))
            except Exception as error:
                made.append((None, error))
        value, error = made[0]
        if error:
            raise error
        return value
    return get


WAIT_S = 120  # for what must come; generous, since it is no measurement


def await_(condition, describe=lambda: "", seconds=WAIT_S):
    """Waits until condition() gives something true, and returns that."""
    asked = time.monotonic()
    deadline = asked + seconds
    while not (met := condition()):
        answered = time.monotonic()
        assert answered < deadline, f"it did not come within {seconds} s: {describe()}"
        time.sleep(max(0.05, 2 * (answered - asked)))  # what is asked about has most of the time
        asked = time.monotonic()
    return met


def shared_file(*parts):
    """A file of the folder beside the project that holds contract and data; may be absent."""
    path = os.path.join(SHARED, *parts)
    if not os.path.exists(path):
        raise Skip(f"no {os.path.join('..', 'shared', *parts)}")
    return path


# --- what must be gone at the end, also after Ctrl-C and a time limit ---

_cleanups = []


def at_end(function):
    """Calls function when the script ends; the last one registered goes first."""
    _cleanups.append(function)


def _clean_up():
    """Returns whether all went well."""
    well = True
    while _cleanups:
        try:
            _cleanups.pop()()
        except Exception:  # the rest must still be cleaned
            traceback.print_exc()
            well = False
    return well


def temp_dir():
    path = tempfile.mkdtemp(prefix="cardbox-test-")
    at_end(lambda: shutil.rmtree(path, ignore_errors=True))
    return path


def _on_signal(number, _frame):
    sys.exit(128 + number)


atexit.register(_clean_up)
signal.signal(signal.SIGTERM, _on_signal)
signal.signal(signal.SIGINT, _on_signal)


# --- PostgreSQL ---


def as_role(dsn, role):
    """The DSN for another role: postgres (superuser), cardbox (owner), cardbox_app (service)."""
    return re.sub(r"user=\w+", f"user={role}", dsn)


def pooled(dsn):
    """The DSN through PgBouncer; as it is, if it names no cluster of the tests."""
    place = re.search(r"host=(\S+)", dsn)
    if not place or not os.path.isdir(os.path.join(place.group(1), "data")):
        return dsn
    return subprocess.run([PG_SH, "pooled", place.group(1), dsn], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


class Postgres:
    """A private cluster. Postgres() starts one, Postgres.shared() takes the test run's."""

    def __init__(self, *settings, directory=None):
        self.own = directory is None
        self.directory = directory or temp_dir()
        self.databases = []
        if self.own:
            at_end(self.remove)
            self._run("start", *settings)

    @classmethod
    def shared(cls):
        if not hasattr(cls, "_shared"):
            cls._shared = cls(directory=os.environ.get("CARDBOX_TEST_PG"))
        return cls._shared

    def _run(self, verb, *arguments):
        command = [PG_SH, verb, self.directory, *arguments]
        env = {**os.environ, "CARDBOX_BUILD": BUILD}
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env).stdout

    def start(self):
        self._run("start")

    def stop(self, mode="fast"):
        self._run("stop", mode)

    def restart(self, mode="immediate"):
        self._run("restart", mode)

    def standby(self, *settings):
        """A hot standby of it, which goes when the script ends."""
        other = Postgres(directory=temp_dir())
        at_end(other.remove)
        other._run("standby", self.directory, *settings)
        return other

    def promote(self):
        self._run("promote")

    def age(self, xid):
        """Restarts it, with xid as its next transaction."""
        self._run("age", str(xid))

    def there(self, dsn):
        """A DSN of another cluster, of the same database in this one."""
        return re.sub(r"host=\S+", f"host={self.directory}", dsn)

    def remove(self):
        self._run("remove")

    def database(self, migrate=True):
        """A new database; returns its owner's DSN."""
        return self._run("migrated" if migrate else "createdb", self._new_name()).strip()

    def copy(self, dsn):
        """A new database with all that is in the DSN's, to which nobody is connected."""
        return self._run("copied", self._new_name(), re.search(r"dbname=(\S+)", dsn).group(1)).strip()

    def _new_name(self):
        """A name for a database, which goes when the script ends."""
        if not self.own and not self.databases:
            at_end(lambda: self._run("dropdb", *self.databases))
        self.databases.append(f"test_{os.getpid()}_{time.monotonic_ns()}")
        return self.databases[-1]

    def psql(self, dsn, sql):
        """Runs SQL as superuser in the DSN's database; returns unaligned rows, as psql -At -c prints them."""
        return libpq.run(as_role(dsn, "postgres"), sql)

    def backends(self, dsn):
        """Process ids of the sessions in the DSN's database, other than the one that asks."""
        rows = self.psql(dsn, "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                              " AND pid <> pg_backend_pid()")
        return [int(row) for row in rows.split()]


def database():
    """A new database; returns its owner's DSN."""
    return Postgres.shared().database()


@once
def dsn():
    """One database for all cases of the script."""
    return database()


def literal(value):
    """A value in the text of a statement."""
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


def psql(dsn_, sql):
    return Postgres.shared().psql(dsn_, sql)


def say_pieces(dsn_, tenant, task, message, first, *texts):
    """Pieces of a message, from number `first` on, as the worker writes them that holds the task. Its claim is not seen."""
    where = f"tenant_id = '{tenant}' AND task_id = '{task}'"
    pieces = ",".join("'" + json.dumps(text).replace("'", "''") + "'" for text in texts)
    psql(dsn_, f"UPDATE cardbox.tasks SET lease_owner = 'w' WHERE {where};"
               f"SELECT cardbox.write_task_chunk('{tenant}', '{task}', t.lease_epoch, '{message}', {first} - 1 + p.n, p.text)"
               f"  FROM cardbox.tasks t, unnest(ARRAY[{pieces}]::json[]) WITH ORDINALITY AS p(text, n) WHERE {where};"
               f"UPDATE cardbox.tasks SET lease_owner = NULL WHERE {where}")


def await_locks(dsn_, count=1):
    """Until so many sessions in the DSN's database wait for locks, at least."""
    ask = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    await_(lambda: int(psql(dsn_, ask)) >= count)


@contextlib.contextmanager
def holding(dsn_, sql):
    """A superuser's session called holder, which keeps what `sql` has locked; gives its process id."""
    session = subprocess.Popen(["psql", as_role(dsn_, "postgres") + " application_name=holder", "-XqAt"],
                               text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        session.stdin.write(f"BEGIN; {sql}; SELECT 'held by ' || pg_backend_pid();\n")
        session.stdin.flush()
        while not (line := session.stdout.readline()).startswith("held by "):
            assert session.poll() is None
        yield int(line.split()[-1])
    finally:
        session.stdin.close()
        session.wait()


class Connection:
    """A psql that stays: statements of one connection."""

    def __init__(self, dsn_, role="cardbox_app"):
        self.process = subprocess.Popen(["psql", as_role(dsn_, role), "-XqAt"], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        at_end(self.process.kill)

    def send(self, sql):
        self.process.stdin.write(f"{sql};\n\\echo done\n")
        self.process.stdin.flush()

    def receive(self):
        """What it printed of the statements that were sent, errors too."""
        lines = []
        while (line := self.process.stdout.readline()) not in ("done\n", ""):
            lines.append(line)
        return "".join(lines).strip()

    def run(self, sql):
        """What it printed; none of the statements may fail."""
        self.send(sql)
        said = self.receive()
        assert "ERROR:  " not in said, (sql, said)
        return said

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def connected(dsn_, *role):
    one = Connection(dsn_, *role)
    try:
        yield one
    finally:
        one.close()


# --- programs ---


def cardbox(*arguments, check=True, stdin=None, env=None, timeout=WAIT_S, binary=False):
    """Runs the CLI; returns its subprocess.CompletedProcess, with text or `binary` output."""
    if POOLED and arguments[0] != "migrate":
        arguments = [pooled(word) if word.startswith("host=") else word for word in arguments]
        env = {name: pooled(value) for name, value in (env or {}).items()}
    done = subprocess.run([os.path.join(BUILD, "bin", "cardbox"), *arguments], input=stdin,
                          capture_output=True, text=not binary, timeout=timeout,
                          env={**os.environ, **(env or {})})
    said = done.stderr if binary else done.stderr.encode()
    assert not SANITIZER_REPORT.search(said), done.stderr
    if check and done.returncode != 0:
        raise AssertionError(f"cardbox {' '.join(arguments)}: exit status {done.returncode}\n"
                             f"{done.stdout}{done.stderr}")
    return done


def on_terminal(*arguments, columns=100, env=None, program="cardbox"):
    """What a program prints on a terminal of so many columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([os.path.join(BUILD, "bin", program), *arguments], stdin=its, stdout=its, stderr=its,
                               env={**os.environ, "TERM": "xterm", **(env or {})})
    os.close(its)
    text = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while piece := os.read(ours, 65536):
            text += piece
    os.close(ours)
    assert process.wait(WAIT_S) == 0, text
    return text.decode().replace("\r\n", "\n")


def cardboxd(*options, prefix=()):
    """Runs a cardboxd that ends by itself; returns its subprocess.CompletedProcess, with text."""
    return subprocess.run([*prefix, CARDBOXD, *options], capture_output=True, text=True, timeout=WAIT_S)


def load(dsn_, *rows, project="p", options=()):
    """Imports rows (dicts, or lines as they are); returns (exit status, counts, complaints)."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    done = cardbox("import", "--dsn", dsn_, "--json", *(["--project", project] if project else []),
                   *options, check=False, stdin="\n".join(lines) + "\n")
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr.splitlines()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# No token is needed. Raw requests may name the host x.
OPEN = ("--insecure-no-auth", "--allow-host", "x")
PATIENT = ("--database-timeout-ms", str(1000 * WAIT_S), "--request-read-timeout-ms", str(1000 * WAIT_S))


class Server:
    """A running cardboxd, as role cardbox_app; requests to it are methods. However loaded the machine is, it answers:
    options of its own may make it less patient.

    `auth`: it asks for tokens. `prefix`: a program, with arguments, that runs it in its own place, such as prlimit. `port`: any
    free one, where none is given; its own `port` says which.
    """

    def __init__(self, dsn, *options, wait=WAIT_S, prefix=(), port=0, auth=False):
        self.log_path = os.path.join(temp_dir(), "cardboxd.log")
        if POOLED:
            dsn, options = pooled(dsn), (*options, "--no-prepared-statements")
        command = [*prefix, CARDBOXD,
                   "--dsn", as_role(dsn, "cardbox_app"),
                   "--listen", f"127.0.0.1:{port}", *([] if auth else OPEN), *PATIENT, *options]
        with open(self.log_path, "wb") as log:
            # A session of its own: Ctrl-C must reach it through stop(), once.
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log,
                                            start_new_session=True)
        at_end(self._end)
        self.output = []
        self._await_ready(wait)
        threading.Thread(target=self._drain, daemon=True).start()

    def _await_ready(self, wait):
        deadline = time.monotonic() + wait
        stdout = self.process.stdout
        while time.monotonic() < deadline:
            if not select.select([stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                break
            line = stdout.readline().decode()
            if not line:
                break
            self.output.append(line)
            if line.startswith("ready: "):
                self.port = int(re.fullmatch(r"ready: http://127\.0\.0\.1:(\d+)\n", line).group(1))
                return
        raise AssertionError(f"cardboxd was not ready within {wait} s: exit status "
                             f"{self.process.poll()}\n{''.join(self.output)}{self.log()}")

    def await_ready(self):
        """Until it serves: it has its database."""
        await_(lambda: self.get("/readyz").status == 200, self.log)

    def _drain(self):
        for line in self.process.stdout:
            self.output.append(line.decode(errors="replace"))

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _end(self):
        """However it ended or must end now: a server that no case stops is held to the same."""
        if self.alive():
            self.stop()
        self.check_log()

    def stop(self, wait=WAIT_S, expect=0):
        """SIGTERM; the exit status must be `expect`, and no sanitizer may have complained."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(wait)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"cardboxd did not stop within {wait} s\n{self.log()}") from None
        self.check_log()
        assert status == expect, f"cardboxd: exit status {status}\n{self.log()}"

    def check_log(self):
        with open(self.log_path, "rb") as log:
            text = log.read()
        assert not SANITIZER_REPORT.search(text), text.decode(errors="replace")

    def alive(self):
        return self.process.poll() is None

    def rss_kb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def peak_rss_kb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1))

    def wakeups(self):
        """How often its threads have waited for something, and been woken."""
        count = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/status"):
            with open(path, encoding="ascii") as status:
                count += int(re.search(r"(?m)^voluntary_ctxt_switches:\s+(\d+)", status.read()).group(1))
        return count

    def metric(self, name):
        """A number of /metrics, over all of its labels that `name` begins with."""
        lines = self.get("/metrics").body.decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines
                   if line.startswith((name + " ", name + ",", name + "}")))

    def client(self, timeout=WAIT_S):
        return Client(self.port, timeout)

    def request(self, method, path, body=None, headers=None, timeout=WAIT_S):
        """One request on a connection of its own."""
        with self.client(timeout) as client:
            return client.request(method, path, body, headers)

    def get(self, path, headers=None, timeout=WAIT_S):
        return self.request("GET", path, None, headers, timeout)

    def post(self, path, value, headers=None, timeout=WAIT_S):
        headers = {"Content-Type": "application/json", **(headers or {})}
        return self.request("POST", path, json.dumps(value).encode(), headers, timeout)

    def raw(self, data, **options):
        """Sends bytes as they are; returns all that came back."""
        return raw_exchange(self.port, data, **options)


@once
def server():
    """A server on dsn(), for all cases of the script."""
    return Server(dsn())


def ask(method, path, body=None, status=200, **headers):
    """Sends a request with a JSON body to server(), and checks the status of the answer. In names of headers "_"
    stands for "-"."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = server().request(method, path, None if body is None else json.dumps(body),
                              {"Content-Type": "application/json", **named})
    assert answer.status == status, (method, path, body, named, answer)
    return answer


# --- HTTP ---


def url(tenant, *rest):
    """The path of something in a project."""
    return "/projects/" + "/".join(urllib.parse.quote(part, safe="") for part in (tenant, *rest))


def session_url(*parts, project="p"):
    """The path of a session, or of something in it; without parts, of all of them."""
    return url(project, "sessions", *parts)


def json_lines(*objects):
    """A file of them, one a line."""
    return b"".join(json.dumps(one).encode() + b"\n" for one in objects)


class Response:
    """status, reason, headers (any case: get()), body as bytes."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def header(self, name, default=None):
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return default

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.body[:300]!r}>"


class Client:
    """One keep-alive connection."""

    def __init__(self, port, timeout=WAIT_S):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def request(self, method, path, body=None, headers=None):
        if isinstance(body, str):
            body = body.encode()
        self.connection.request(method, path, body, headers or {})
        reply = self.connection.getresponse()
        return Response(reply.status, reply.getheaders(), reply.read())


def raw_exchange(port, data, timeout=WAIT_S, half_close=False, idle=None, pause=0, chunk=None):
    """Sends bytes (in pieces of `chunk`, `pause` seconds apart), returns what came back.

    Reads until the server closes, or nothing came for `idle` seconds (default: timeout).
    """
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        try:
            for start in range(0, len(data), chunk or max(len(data), 1)):
                connection.sendall(data[start:start + (chunk or len(data))])
                if pause:
                    time.sleep(pause)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it may answer and close before it has read everything
        return read_all(connection, idle or timeout)


def read_all(connection, idle=None):
    """All that comes until the other side closes; `idle`: or until nothing came for so many seconds."""
    received = b""
    if idle is not None:
        connection.settimeout(idle)
    try:
        while piece := connection.recv(65536):
            received += piece
    except (ConnectionError, ssl.SSLError):
        pass
    except socket.timeout:
        if idle is None:
            raise
    return received


def parse_responses(data, head=False):
    """Splits raw bytes into Responses; raises ValueError where they are no HTTP/1.1.

    `head`: the answers are to HEAD requests and have no bodies. A last response whose body is cut
    short is an error; a body without a length reaches to the end.
    """
    responses = []
    while data:
        top, separator, data = data.partition(b"\r\n\r\n")
        if not separator:
            raise ValueError(f"header block without end: {top[:200]!r}")
        lines = top.split(b"\r\n")
        match = re.fullmatch(rb"HTTP/1\.[01] (\d{3}) [ -~]*", lines[0])
        if not match:
            raise ValueError(f"status line {lines[0][:200]!r}")
        headers = []
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon:
                raise ValueError(f"header line {line[:200]!r}")
            headers.append((name.decode("latin-1"), value.strip().decode("latin-1")))
        response = Response(int(match.group(1)), headers, b"")
        if not head and response.status not in (100, 204, 304):
            response.body, data = _take_body(response, data)
        responses.append(response)
    return responses


def _take_body(response, data):
    if response.header("Transfer-Encoding", "").lower() == "chunked":
        return _take_chunks(data)
    length = response.header("Content-Length")
    if length is None:
        return data, b""
    length = int(length)
    if len(data) < length:
        raise ValueError(f"{len(data)} of {length} body bytes")
    return data[:length], data[length:]


def _take_chunks(data):
    pieces, at = [], 0
    while True:
        start = data.find(b"\r\n", at) + 2
        size = int(data[at:start], 16) if start > 1 else -1
        if size < 0 or len(data) < start + size + 2:
            raise ValueError("chunked body cut short")
        pieces.append(data[start:start + size])
        at = start + size + 2
        if size == 0:
            return b"".join(pieces), data[at:]


# --- cases ---


class _Tally:
    passed = 0
    failed = 0


_thread_errors = []


def _on_thread_error(error):
    """Else a thread that tests could end in its midst, and nobody would hear of it."""
    threading.__excepthook__(error)
    if error.exc_type is not SystemExit:
        _thread_errors.append(f"{error.exc_type.__name__}: {error.exc_value}")


threading.excepthook = _on_thread_error


def _check_threads():
    errors = _thread_errors[:]
    _thread_errors.clear()
    assert not errors, f"threads failed: {errors[:3]}"


def _reason():
    """The exception at hand, with one line for each of our own frames."""
    kind, error, trace = sys.exc_info()
    lines = [f"    {os.path.basename(frame.filename)}:{frame.lineno}: {frame.line}"
             for frame in traceback.extract_tb(trace)[1:]]
    return "\n".join([*lines, f"    {kind.__name__}: {error}", ""])


def _run_case(name, function):
    try:
        started = time.monotonic()
        result = function()
        if inspect.isgenerator(result):
            part = None
            for part, part_function in result:
                _run_case(f"{name}[{part}]", part_function)
            assert part is not None, "it has no cases"
            return
        _check_threads()
        _Tally.passed += 1
        print(f"ok      {name} ({time.monotonic() - started:.2f} s)", flush=True)
    except Skip as reason:
        print(f"SKIPPED: {name}: {reason}", flush=True)
    except Exception:
        _Tally.failed += 1
        print(f"FAILED  {name}\n{_reason()}", flush=True)


def command_line(about):
    """A parser for a script of which `about`, its own description, says what it does."""
    return argparse.ArgumentParser(description=about, allow_abbrev=False,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)


def main(namespace=None):
    """Runs the calling script's cases and exits: 0 if none failed."""
    namespace = namespace or sys.modules["__main__"].__dict__
    cases = {name: function for name, function in namespace.items()
             if name.startswith("test_") and callable(function)}
    asked = command_line(namespace["__doc__"])
    asked.add_argument("cases", nargs="*", metavar="CASE", help="test_...; without one, all of them")
    wanted = asked.parse_args().cases
    if unknown := [name for name in wanted if name not in cases]:
        asked.error(f"there is no case {', '.join(unknown)}; there are {', '.join(cases)}")
    for name in wanted or cases:
        _run_case(name, cases[name])
    if not _clean_up():
        _Tally.failed += 1
        print("FAILED  what was left at the end", flush=True)
    print(f"{_Tally.passed} passed, {_Tally.failed} failed", flush=True)
    sys.exit(1 if _Tally.failed else 0)
