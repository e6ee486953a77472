#!/usr/bin/env python3
"""`make bench-cpu`: how many instructions cardboxd spends on each of a fixed mix of requests. The
figure does not depend on what else the machine does, so it is the one to watch between commits; it
says nothing of what the database spends, nor of waiting.

Counted by `perf stat` where the processor's counters can be read, else by callgrind, in which only
the server's own code counts and not the kernel's. One client, one request at a time: what joining
requests saves is not in it. Writes build/bench-cpu.json: {"by": ..., "requests": {name: instructions}}.
Environment: BENCH_REQUESTS, of each kind (100); BENCH_OUT, the file.
"""

import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
import data  # noqa: E402
from cardbox_test import Server, temp_dir  # noqa: E402


class Perf:
    name = "perf stat"

    def __init__(self, owner):
        self.server = Server(owner)

    @staticmethod
    def works():
        if shutil.which("perf") is None:
            return False
        done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
        return done.returncode == 0 and done.stderr[:1].isdigit()

    def count(self, work):
        perf = subprocess.Popen(["perf", "stat", "-x,", "-e", "instructions:u", "-p", str(self.server.process.pid)],
                                stderr=subprocess.PIPE, text=True)
        work()
        perf.send_signal(signal.SIGINT)
        return int(perf.communicate()[1].split(",")[0])

    def stop(self):
        self.server.stop()


class Callgrind:
    name = "callgrind"

    def __init__(self, owner):
        self.folder = temp_dir()
        self.server = Server(owner, "--database-timeout-ms", "60000", wait=120, prefix=(
            "valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={self.folder}/out"))

    def _control(self, option):
        subprocess.run(["callgrind_control", option, str(self.server.process.pid)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def count(self, work):
        self._control("--zero")
        work()
        self._control("--dump")
        dump = max(glob.glob(self.folder + "/out.*"), key=lambda path: int(path.rpartition(".")[2]))
        with open(dump, encoding="utf-8") as file:
            return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M).group(1))

    def stop(self):
        self.server.stop(wait=120)


def requests(sizes):
    """name: a function that makes up (method, path, body)."""
    dice = random.Random(4)
    document = json.loads(data.document(dice))

    def path(number, rest):
        return f"/projects/{data.tenant(number)}/{rest}"

    def one_card():
        number = dice.randrange(sizes["cards"])
        return "GET", path(number, "cards/" + data.card_id(number)), None

    def some_cards():
        ids = [data.card_id(number) for number in dice.sample(range(0, sizes["cards"], data.TENANTS), 50)]
        return "POST", path(0, "cards/batch"), {"card_ids": ids}

    def box(rest):
        def make():
            number = dice.randrange(sizes["fifty"])
            return "GET", path(number, "boxes/" + data.box_id("fifty", number) + rest), None
        return make

    def some_boxes():
        ids = [data.box_id("fifty", number) for number in dice.sample(range(0, sizes["fifty"], data.TENANTS), 10)]
        return "POST", path(0, "boxes/batch"), {"box_ids": ids, "hydrate": True, "limit": 50}

    def new_card():
        return "POST", path(0, "cards"), {"card_id": str(uuid.UUID(int=dice.getrandbits(128))),
                                          "content": document, "metadata": {"type": "tool.result"}}

    return {"get_card": one_card, "card_missing": lambda: ("GET", path(0, "cards/none"), None),
            "cards_batch_50": some_cards, "box": box(""), "box_cards_50": box("/cards?limit=50"),
            "boxes_batch_10": some_boxes, "post_card": new_card,
            "healthz": lambda: ("GET", "/healthz", None)}


def send(client, made):
    for method, path, body in made:
        payload = None if body is None else json.dumps(body).encode()
        answer = client.request(method, path, payload, {"Content-Type": "application/json"} if payload else {})
        if answer.status >= 500 or answer.status == 404 and "none" not in path:
            raise RuntimeError(f"{method} {path}: {answer!r}")


def main():
    cardbox_test.command_line(__doc__).parse_args()
    count = int(data.number_from("BENCH_REQUESTS", 100, whole=True))
    out = os.environ.get("BENCH_OUT", os.path.join(cardbox_test.BUILD, "bench-cpu.json"))
    database = data.Database(data.SMALL)
    counter = (Perf if Perf.works() else Callgrind)(database.owner)
    results = {}
    print(f"instructions of cardboxd for a request, by {counter.name}, {count} requests each")
    with counter.server.client(timeout=120) as client:
        for name, make in requests(data.SMALL).items():
            made = [make() for _ in range(count + 20)]
            try:
                send(client, made[:20])  # statements are prepared, buffers have grown
                results[name] = round(counter.count(lambda made=made: send(client, made[20:])) / count)
            except RuntimeError as error:
                sys.exit(f"{name} could not be measured: {error}")
            print(f"{name:<18}{results[name]:>12,}", flush=True)
    counter.stop()
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"by": counter.name, "requests": results}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
