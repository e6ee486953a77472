#!/usr/bin/env python3
"""cardbox dev: first start, second start, every way to stop, and all that may be in its way."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import WAIT_S, at_end, await_, cardbox, temp_dir

BOX = "01970000-0000-7000-8000-000000000001"
CARDS = 32  # of this box, in the demo
PROJECT = '  project    "demo": 6 boxes, 74 cards, 2 sessions, 3 tasks'
PROGRAM = os.path.join(cardbox_test.BUILD, "bin", "cardbox")
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("PG", "CARDBOX_DSN", "CARDBOX_PROJECT", "CARDBOX_LISTEN", "CARDBOX_INSECURE"))}


def open_folder():
    """A folder that every user may enter, so that the data stays in it."""
    path = temp_dir()
    os.chmod(path, 0o755)
    return path


class Dev:
    """A running `cardbox dev`, on any free port."""

    def __init__(self, folder, *options, wait=WAIT_S, ready=True, cwd=None, program=PROGRAM, user=None, env=()):
        self.folder = folder
        command = [program, "dev", "--listen", "127.0.0.1:0", *options]
        if folder is not None:
            command += ["--data", folder]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**CLEAN, **dict(env)}, cwd=cwd, start_new_session=True, user=user,
                                        group=user)
        at_end(self.kill)
        self.text = ""
        if ready:
            self.read_until("Ctrl-C stops", wait)

    def read_until(self, wanted, wait=WAIT_S):
        deadline = time.monotonic() + wait
        while wanted not in self.text:
            left = deadline - time.monotonic()
            if left < 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise AssertionError(f"no {wanted!r} within {wait} s: {self.text}")
            piece = os.read(self.process.stdout.fileno(), 65536).decode()
            if not piece:
                raise AssertionError(f"ended: {self.text}\n{self.process.stderr.read().decode()}")
            self.text += piece

    @property
    def port(self):
        return int(re.search(r"^ready: http://127.0.0.1:(\d+)$", self.text, re.M).group(1))

    @property
    def dsn(self):
        return re.search(r"^dsn: (.*)$", self.text, re.M).group(1)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=WAIT_S) as answer:
            return json.loads(answer.read())

    def status(self, path, headers=()):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=dict(headers))
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def children(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            return {self.name_of(pid): int(pid) for pid in children.read().split()}

    @staticmethod
    def name_of(pid):
        with open(f"/proc/{pid}/comm") as name:
            return name.read().strip()

    def stop(self, number=signal.SIGINT, status=0):
        """Sends a signal; returns what was printed after it, and the complaints."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT_S)
        assert self.process.returncode == status, (self.process.returncode, err)
        return out.decode(), err.decode()

    def ended(self, status=1):
        """It ends by itself; returns the complaints."""
        out, err = self.process.communicate(timeout=WAIT_S)
        assert self.process.returncode == status, (out, err)
        return err.decode()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_for_end(pids, wait=WAIT_S):
    deadline = time.monotonic() + wait
    while any(map(is_alive, pids)):
        assert time.monotonic() < deadline, [pid for pid in pids if is_alive(pid)]
        time.sleep(0.05)


def test_first_and_second_start():
    folder = os.path.join(open_folder(), "new", "var")
    dev = Dev(folder)
    lines = dev.text.splitlines()
    assert re.fullmatch(r"cardbox \d+\.\d+\.\d+", lines[0])
    assert re.fullmatch(rf"  database   private PostgreSQL \d+\.\d+ in {folder}/pg \(unix socket\), "
                        r"\d+ migrations applied", lines[1]), lines[1]
    assert lines[2] == PROJECT
    assert lines[3] == f"dsn: host={folder}/pg port=5432 user=cardbox dbname=cardbox"
    assert lines[4] == f"ready: http://127.0.0.1:{dev.port}"
    assert lines[5] == f"inspector: http://127.0.0.1:{dev.port}/ui/#/demo"
    hints = [line.strip() for line in lines[6:]]
    assert [line.split(" http://")[0] for line in hints[:3]] == ["a version of a box:", "a session:         ", "a task:            "]
    assert any(line.startswith("curl -s http://127.0.0.1:") for line in hints)
    assert any("box cards --project demo" in line for line in hints)

    cards = dev.get(f"/projects/demo/boxes/{BOX}/cards")
    assert len(cards) == CARDS and cards[0]["card_id"] == "demo-001-instruction"
    cardbox("card", "add", "--dsn", dev.dsn, "--project", "mine", "--id", "kept", "--text", "x")
    cardbox("import", "--dsn", dev.dsn, "--project", "demo",
            stdin='{"kind":"card","card_id":"demo-001-instruction","content":"changed"}')
    out, err = dev.stop()
    assert out.endswith("stopped\n") and err == ""

    dev = Dev(folder)
    assert re.search(r"\(unix socket\), at migration \d+$", dev.text.splitlines()[1])
    assert dev.get("/projects/mine/cards/kept")["content"] == {"text": "x"}
    assert dev.get("/projects/demo/cards/demo-001-instruction")["content"] == "changed"
    assert "token" not in dev.text
    cardbox("token", "create", "--dsn", dev.dsn, "--name", "first", "--tenant", "demo")
    assert dev.get("/projects/mine/cards/kept")["content"] == {"text": "x"}
    dev.stop(signal.SIGTERM)


def box_path(number, rest=""):
    return f"/projects/demo/boxes/{BOX[:-1]}{number}{rest}"


def ability(dev, name, **value):
    request = urllib.request.Request(f"http://127.0.0.1:{dev.port}/projects/demo/abilities/{name}", json.dumps(value).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
        return json.loads(answer.read())


def check_boxes(dev):
    """The histories of the boxes, and contexts that need no repair."""
    versions = [dev.get(box_path(number))["version"] for number in range(1, 7)]
    assert versions == [27, 5, 8, 22, 8, 5] and dev.get(box_path(4))["sealed"], versions
    for number in range(1, 7):
        report = dev.get(box_path(number, "/context"))["report"]
        assert report["repairs"] == [], (number, report)
    operations = {entry["op"] for number in (1, 3) for entry in dev.get(box_path(number, "/log"))["log"]}
    assert operations == {"create", "append", "fork", "replace"}, operations
    assert dev.get(box_path(1, "?at_version=8"))["card_ids"][-1] == "demo-013-thought"
    fork = dev.get(box_path(3))
    assert fork["parent_ids"] == [BOX] and fork["card_ids"][-1] == "demo-022-deliverable"


def test_demo():
    dev = Dev(open_folder())
    check_boxes(dev)
    before = dev.get("/projects/demo/cards/demo-014-deliverable/revisions")["revisions"]
    assert "on both nights" in json.dumps([one["card"]["content"] for one in before])
    for session in ("demo-session", "demo-session-plain"):
        for kind, count in (("leaves", 2), ("labels", 2)):
            assert len(dev.get(f"/projects/demo/sessions/{session}/{kind}")["entries"]) == count, (session, kind)
    for name, state, calls in (("waiting", "waiting", 2), ("done", "completed", 9), ("failed", "failed", 3)):
        task = ability(dev, "ldg:task:get", taskId=f"demo-task-{name}")["task"]
        assert task["state"] == state, task
        assert len(ability(dev, "ldg:call:list", taskId=task["id"])["calls"]) == calls
    claimed = cardbox("task", "list", "--dsn", dev.dsn, "--project", "demo", "--json").stdout
    assert '"wakeAt"' not in claimed and "running" not in claimed, claimed
    dev.stop()


def test_demo_is_loaded_into_an_empty_project_only():
    folder = open_folder()
    dev = Dev(folder, "--no-sample")
    cardbox("card", "add", "--dsn", dev.dsn, "--project", "demo", "--id", "demo-001-instruction", "--text", "mine")
    dev.stop()
    for _ in range(2):
        dev = Dev(folder)
        assert '"demo": 0 boxes, 1 card, 0 sessions, 0 tasks' in dev.text and "a task:" not in dev.text, dev.text
        dev.stop()


def test_folder_of_an_earlier_version():
    """It has another demo, which stays."""
    folder = open_folder()
    Dev(folder, "--no-sample").stop()
    with open(os.path.join(folder, "sample-loaded"), "w") as file:
        file.write("loaded\n")
    dev = Dev(folder)
    assert '"demo": 0 boxes' in dev.text and "a task:" not in dev.text, dev.text
    dev.stop()


def test_auth():
    dev = Dev(open_folder(), "--auth", env={"CARDBOX_INSECURE_NO_AUTH": "1"})
    assert re.search("^  curl -s -H 'Authorization: Bearer cbx_...' http://", dev.text, re.M), dev.text
    assert "Requests need a token" in dev.text and "token create --name NAME --all-tenants" in dev.text
    path = f"/projects/demo/boxes/{BOX}/cards"
    assert dev.status(path) == 401
    token = cardbox("token", "create", "--dsn", dev.dsn, "--name", "first", "--tenant", "demo").stdout.strip()
    await_(lambda: dev.status(path, {"Authorization": f"Bearer {token}"}) == 200)
    dev.stop()


def test_names_of_other_hosts():
    """A web page whose name was made to lead here (DNS rebinding) reads and changes nothing."""
    dev = Dev(open_folder(), "--no-sample")
    assert dev.status("/projects", {"Host": "localhost:1"}) == 200
    assert dev.status("/projects", {"Host": f"evil.example:{dev.port}"}) == 421
    dev.stop()


def test_command_lines_of_the_hints_work():
    place = open_folder()
    dev = Dev(None, cwd=place)
    assert "in var/pg" in dev.text and "the data stays in var." in dev.text
    program = os.path.join(place, "cardbox")
    os.symlink(PROGRAM, program)
    for line in dev.text.splitlines():
        if not line.startswith("  ") or "://" in line or "cardbox" not in line:
            continue
        if " box cards " in line:
            command = f"{PROGRAM} box cards " + line.split(" box cards ")[1]
            done = subprocess.run(command, shell=True, cwd=place, env=CLEAN, capture_output=True,
                                  text=True)
            assert done.returncode == 0 and f"{CARDS} cards" in done.stdout, done
    assert os.stat(os.path.join(place, "var", "dsn")).st_uid == os.geteuid()
    dev.stop()
    assert not os.path.exists(os.path.join(place, "var", "dsn"))


def test_no_sample():
    folder = open_folder()
    dev = Dev(folder, "--no-sample")
    assert "sample" not in dev.text and "card add --project demo" in dev.text
    count = cardbox("card", "list", "--dsn", dev.dsn, "--project", "demo", "--json").stdout
    assert count == ""
    dev.stop()


def test_second_in_the_same_folder():
    folder = open_folder()
    dev = Dev(folder)
    done = cardbox("dev", "--data", folder, check=False)
    assert done.returncode == 1
    assert f"another cardbox dev (process {dev.process.pid}) uses {folder}" in done.stderr
    assert dev.get("/healthz")
    dev.stop()


def test_address_that_others_can_reach():
    for address in (":8099", "8099", "foo", "127.0.0.1:", "unix:/tmp/x"):
        done = cardbox("dev", "--listen", address, "--data", "/nonexistent", check=False)
        assert done.returncode == 2 and f'takes ADDR:PORT, not "{address}"' in done.stderr, done
    for address in ("0.0.0.0:8099", "10.0.0.1:80", "[::]:8099", "example.org:80"):
        done = cardbox("dev", "--listen", address, "--data", "/nonexistent", check=False)
        assert done.returncode == 2 and "can be reached from other machines" in done.stderr, done
    for address in ("127.0.0.1:0", "localhost:0", "[::1]:0", "127.9.9.9:0"):
        done = cardbox("dev", "--listen", address, "--data", "/dev/null/x", check=False)
        assert done.returncode == 1 and "cannot make the folder" in done.stderr, done


def test_killed_alone_its_children_end():
    folder = open_folder()
    dev = Dev(folder)
    children = dev.children()
    assert set(children) == {"postgres", "cardboxd"}, children
    dev.process.kill()
    dev.process.wait()
    # At once: the next one waits for what is just ending.
    again = Dev(folder)
    wait_for_end(children.values())
    assert len(again.get(f"/projects/demo/boxes/{BOX}/cards")) == CARDS
    again.stop()


def test_killed_with_its_children():
    folder = open_folder()
    dev = Dev(folder)
    for pid in dev.children().values():
        os.kill(pid, signal.SIGKILL)
    dev.process.kill()
    dev.process.wait()
    assert os.path.exists(os.path.join(folder, "pg", "postmaster.pid"))
    again = Dev(folder)
    assert len(again.get(f"/projects/demo/boxes/{BOX}/cards")) == CARDS
    again.stop()


def test_pid_file_that_names_another_process():
    folder = open_folder()
    Dev(folder).stop()
    other = subprocess.Popen(["sleep", "60"])
    at_end(other.kill)
    path = os.path.join(folder, "pg", "postmaster.pid")
    with open(path, "w") as file:
        file.write(f"{other.pid}\n{folder}/pg\n1700000000\n5432\n{folder}/pg\n\n  1 1\nready   \n")
    owner = os.stat(os.path.join(folder, "pg"))
    os.chown(path, owner.st_uid, owner.st_gid)
    Dev(folder).stop()
    other.kill()
    other.wait()


def test_server_that_dies():
    dev = Dev(open_folder())
    os.kill(dev.children()["cardboxd"], signal.SIGKILL)
    said = dev.ended()
    assert "cardboxd has ended by itself" in said and "cardboxd.log" in said, said


def test_database_that_dies():
    dev = Dev(open_folder())
    server = dev.children()["cardboxd"]
    # Its server tries to connect all the while: the reason must not drown in that.
    with open(os.path.join(dev.folder, "pg.log"), "a") as log:
        for number in range(300):
            log.write(f"2026-01-01 00:00:00.000 UTC [{number}] FATAL:  the database system is shutting"
                      " down\n")
    os.kill(dev.children()["postgres"], signal.SIGQUIT)
    said = dev.ended()
    assert "PostgreSQL has ended by itself" in said and "immediate shutdown" in said, said
    assert "ready to accept connections" in said, said
    wait_for_end([server])


def test_port_that_is_taken():
    dev, folder = Dev(open_folder()), open_folder()
    for data in (folder, os.path.join(folder, "new")):
        done = cardbox("dev", "--data", data, "--listen", f"127.0.0.1:{dev.port}", check=False)
        assert done.returncode == 1 and done.stderr.count(f"127.0.0.1:{dev.port} is in use") == 1, done
        assert "make run ARGS='--listen 127.0.0.1:9000'" in done.stderr, done
    assert os.listdir(folder) == ["lock"], "the port is tried first"
    dev.stop()


def test_any_free_port():
    dev = Dev(open_folder())
    assert dev.port > 0 and f"curl -s http://127.0.0.1:{dev.port}/" in dev.text and dev.get("/readyz")
    dev.stop()


def test_stop_while_it_starts():
    """At any moment: in the middle of initdb, of the migrations, of the server's start."""
    folder = open_folder()
    for delay in (0, 0.1, 0.3, 0.4, 0.5, 0.6, 0.8):
        dev = Dev(folder, ready=False)
        dev.read_until("cardbox ")
        time.sleep(delay)
        started = time.monotonic()
        dev.process.send_signal(signal.SIGINT)
        err = dev.ended(status=0)
        assert err == "" and time.monotonic() - started < 20, (delay, err)
    again = Dev(folder)
    assert PROJECT in again.text
    again.stop()


def test_folder_with_a_long_name():
    folder = os.path.join(open_folder(), "l" * 120, "it's a long one")
    dev = Dev(folder)
    socket = re.search("host=(/tmp/cardbox-[^ ]+) ", dev.dsn).group(1)
    assert cardbox("doctor", "--dsn", dev.dsn).returncode == 0
    dev.stop()
    assert not os.path.exists(socket)


def test_folder_with_spaces():
    folder = os.path.join(open_folder(), "it's one")
    dev = Dev(folder)
    assert "host='" in dev.dsn
    assert "connection" in cardbox("doctor", "--dsn", dev.dsn).stdout
    dev.stop()


def test_folder_that_the_databases_user_may_not_enter():
    if os.geteuid() != 0:
        raise cardbox_test.Skip("only root starts PostgreSQL as another user")
    place = temp_dir()  # 0700
    folder = os.path.join(place, "var")
    dev = Dev(folder)
    data = os.readlink(os.path.join(folder, "pg"))
    at_end(lambda: shutil.rmtree(data, ignore_errors=True))
    assert data.startswith("/var/lib/cardbox/dev-") and f"in {data} (unix socket)" in dev.text
    dev.stop()
    dev = Dev(folder)
    assert len(dev.get(f"/projects/demo/boxes/{BOX}/cards")) == CARDS
    dev.stop()


def test_folder_of_root_is_opened_for_the_database():
    if os.geteuid() != 0:
        raise cardbox_test.Skip("only root starts PostgreSQL as another user")
    folder = os.path.join(open_folder(), "var")
    os.mkdir(folder, 0o700)
    dev = Dev(folder)
    assert f"in {folder}/pg (unix socket)" in dev.text
    assert os.stat(folder).st_mode & 0o777 == 0o711
    dev.stop()


def test_unprivileged_user():
    if os.geteuid() != 0:
        raise cardbox_test.Skip("needs root to become somebody else")
    folder = open_folder()
    os.chown(folder, 65534, 65534)
    programs = os.path.join(open_folder(), "bin")
    shutil.copytree(os.path.join(cardbox_test.BUILD, "bin"), programs)
    dev = Dev(folder, program=os.path.join(programs, "cardbox"), user=65534)
    assert len(dev.get(f"/projects/demo/boxes/{BOX}/cards")) == CARDS
    dev.stop()
    assert os.stat(os.path.join(folder, "pg")).st_uid == 65534


if __name__ == "__main__":
    cardbox_test.main()
