#!/usr/bin/env python3
"""/metrics: every line is of Prometheus' text format 0.0.4, counters count what was done, the
histogram adds up, no project's name gets out, and the manual lists what is there."""

import json
import os
import re
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, await_, once

SAMPLE = os.path.join(cardbox_test.ROOT, "tests", "lib", "sample.ndjson")
PROJECT = "secret-project"
CARD = f"/projects/{PROJECT}/cards/demo-005-thought"
BATCH = f"/projects/{PROJECT}/cards/batch"
DURATION = "cardbox_request_duration_seconds"
TYPE = "text/plain; version=0.0.4; charset=utf-8"

HELP = re.compile(r"# HELP ((?:cardbox|process)_[a-z_]+) (\S.*)")
KIND = re.compile(r"# TYPE ((?:cardbox|process)_[a-z_]+) (counter|gauge|histogram|summary)")
SAMPLE_LINE = re.compile(
    r"((?:cardbox|process)_[a-z_]+)(\{[a-z_]+=\"[^\"\\\n]*\"(?:,[a-z_]+=\"[^\"\\\n]*\")*\})? "
    r"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)")
SUFFIXES = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count"),
            "summary": ("_sum", "_count")}


@once
def server():
    dsn = Postgres.shared().database()
    cardbox_test.cardbox("import", "--dsn", dsn, "--project", PROJECT, SAMPLE)
    made = Server(dsn, "--loops", "2")
    made.await_ready()
    return made


def labels_of(text):
    return frozenset(re.findall(r"([a-z_]+)=\"([^\"]*)\"", text or ""))


def families(text):
    """name -> (help, type, {(line's name, labels): value}); every line must fit."""
    found, name = {}, None
    assert text.endswith("\n")
    lines = iter(text[:-1].split("\n"))
    for line in lines:
        said = HELP.fullmatch(line)
        if said:
            name = said.group(1)
            assert name not in found, f"{name} is there twice"
            kind = KIND.fullmatch(next(lines))
            assert kind and kind.group(1) == name, line
            found[name] = (said.group(2), kind.group(2), {})
            continue
        sample = SAMPLE_LINE.fullmatch(line)
        assert sample, f"{line!r} is no line of the format"
        assert sample.group(1) in [name + suffix for suffix in SUFFIXES[found[name][1]]], line
        key = (sample.group(1), labels_of(sample.group(2)))
        assert key not in found[name][2], f"{line} is there twice"
        found[name][2][key] = float(sample.group(3))
    return found


def scrape(client=None):
    response = (client.request("GET", "/metrics") if client else server().get("/metrics"))
    assert response.status == 200 and response.header("Content-Type") == TYPE, response
    return families(response.body.decode())


def value(found, name, **labels):
    """The one value; 0 where the series has not begun."""
    base = next(name.removesuffix(suffix) for suffix in ("", "_bucket", "_sum", "_count")
                if name.removesuffix(suffix) in found)
    return found[base][2].get((name, frozenset(labels.items())), 0)


def settled():
    """A request counts once it is over, which is after its client has the answer."""
    await_(lambda: value(scrape(), "cardbox_requests_in_flight") == 1)
    return scrape()


def moved(before, after, name, **labels):
    return value(after, name, **labels) - value(before, name, **labels)


def test_format():
    found = settled()
    for name, (help_text, kind, samples) in found.items():
        assert help_text.endswith(".") and "\\" not in help_text, name
        assert (kind == "counter") == name.endswith("_total"), (name, kind)
    assert len(found) > 15
    head = server().request("HEAD", "/metrics")
    assert head.status == 200 and head.header("Content-Type") == TYPE and head.body == b""


def test_requests_are_counted():
    before = settled()
    for _ in range(5):
        assert server().get(CARD).status == 200
    assert server().get(CARD + "-not").status == 404
    assert server().get("/no/such/path").status == 404
    sent = json.dumps({"card_ids": ["demo-005-thought", "nope"]})
    answer = server().request("POST", BATCH, sent, {"Content-Type": "application/json"})
    assert answer.status == 200
    after = settled()
    requests = "cardbox_requests_total"
    assert moved(before, after, requests, operation="getCard", status="2xx") == 5
    assert moved(before, after, requests, operation="getCard", status="4xx") == 1
    assert moved(before, after, requests, operation="getCards", status="2xx") == 1
    assert moved(before, after, requests, operation="none", status="4xx") == 1
    assert moved(before, after, "cardbox_errors_total", error_code="not_found",
                 reason="not_found") == 1
    assert moved(before, after, "cardbox_request_body_bytes_total") == len(sent)
    assert moved(before, after, "cardbox_response_body_bytes_total") > 6 * len(answer.body) / 2
    for name in ("cardbox_statements_total", "cardbox_batch_requests_sum", "cardbox_batch_requests_count"):
        assert moved(before, after, name, statement="cards_get") == 7, name
    assert moved(before, after, "cardbox_rows_total") == 6
    assert moved(before, after, DURATION + "_count", **{"class": "read"}) == 7


def test_histogram_adds_up():
    found = settled()
    samples = found[DURATION][2]
    total = sum(found["cardbox_requests_total"][2].values())
    counted = 0
    for name in ("read", "write", "list", "other"):
        bounds = sorted((float(dict(labels)["le"]), count) for (line, labels), count
                        in samples.items()
                        if line.endswith("_bucket") and dict(labels)["class"] == name)
        counts = [count for _, count in bounds]
        assert bounds[-1][0] == float("inf") and len(bounds) == 16
        assert counts == sorted(counts), (name, counts)
        count = value(found, DURATION + "_count", **{"class": name})
        seconds = value(found, DURATION + "_sum", **{"class": name})
        assert count == counts[-1] and (seconds > 0) == (count > 0), (name, count, seconds)
        counted += count
    assert counted == total, (counted, total)


def test_connections():
    with server().client() as client:  # a connection for each scrape would come and go among them
        def await_open(count):
            await_(lambda: value(scrape(client), "cardbox_client_connections") == count)
        await_open(1)
        before = scrape(client)
        idle = [socket.create_connection(("127.0.0.1", server().port)) for _ in range(7)]
        await_open(8)
        for one in idle:
            one.close()
        await_open(1)
        assert moved(before, scrape(client), "cardbox_client_connections_total") == 7


def test_database():
    found = settled()
    samples = found["cardbox_database_connections"][2]
    assert sum(samples.values()) >= 8 and value(found, "cardbox_ready") == 1
    assert value(found, "cardbox_database_connections", group="reads", state="usable") >= 1
    assert value(found, "cardbox_queue_length") == 0


def test_process():
    found = settled()
    version = cardbox_test.cardbox("--version").stdout.split()[-1]
    assert value(found, "cardbox_build_info", version=version) == 1
    assert abs(value(found, "process_start_time_seconds") - time.time()) < 3600
    kb = server().rss_kb()
    assert 0.5 * kb < value(found, "process_resident_memory_bytes") / 1024 < 2 * kb
    descriptors = value(found, "process_open_fds")
    assert 5 < descriptors < value(found, "process_max_fds")
    assert value(found, "process_cpu_seconds_total") > 0
    assert value(found, "cardbox_loops") == 2


def test_no_project_is_named():
    assert server().get(CARD).status == 200
    body = server().get("/metrics").body
    assert PROJECT.encode() not in body and b"demo-005" not in body


def test_an_outage_is_told():
    """Refusals by reason, and connections by state, on a database of its own that goes away."""
    postgres = Postgres()
    alone = Server(postgres.database(), "--loops", "1")
    await_(lambda: alone.get("/readyz").status == 200)
    postgres.stop("immediate")
    await_(lambda: alone.get("/readyz").status == 503)
    await_(lambda: alone.get(CARD).json()["detail"]["error_message"] ==
             "the database does not answer")
    found = families(alone.get("/metrics").body.decode())
    assert value(found, "cardbox_ready") == 0
    assert value(found, "cardbox_database_connections", group="reads", state="usable") == 0
    assert value(found, "cardbox_database_connections", group="reads", state="down") > 0
    assert value(found, "cardbox_errors_total", error_code="unavailable",
                 reason="database_away") >= 1
    assert value(found, "cardbox_requests_total", operation="readyz", status="5xx") >= 1
    alone.stop()


def test_undecided_is_no_want_of_memory():
    """What a server answers that has not reached its database: nobody can say who may do what."""
    postgres = Postgres()
    dsn = postgres.database()
    postgres.stop("immediate")
    alone = Server(dsn, "--loops", "1")
    assert alone.get(CARD).status == 503
    postgres.start()
    await_(lambda: alone.get("/readyz").status == 200)
    found = families(alone.get("/metrics").body.decode())
    assert value(found, "cardbox_errors_total", error_code="unavailable", reason="memory") == 0
    assert value(found, "cardbox_errors_total", error_code="unavailable",
                 reason="database_away") >= 1
    alone.stop()


def test_manual_lists_them():
    with open(os.path.join(cardbox_test.ROOT, "src", "server", "cardboxd.8"), encoding="utf-8") as text:
        rows = re.findall(r"^\.It ((?:cardbox|process)_[a-z_]+) Pq (\w+)\n(.*)$", text.read(), re.M)
    listed = {name: (kind, said) for name, kind, said in rows}
    served = {name: (kind, said) for name, (said, kind, _) in scrape().items()}
    assert listed == served, f"only in the manual: {listed.items() - served.items()}, " \
                             f"only served: {served.items() - listed.items()}"


def test_openapi_names_them():
    described = server().get("/openapi.json").json()["paths"]["/metrics"]["get"]["description"]
    assert set(re.findall(r"`((?:cardbox|process)_[a-z_]+)`", described)) == set(scrape())


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()
