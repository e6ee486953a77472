#!/usr/bin/env python3
"""Large batches of hydrated boxes, whose rows the server takes as they come: what each box shows is
what it shows by itself; and what clients get when it is too large, too slow, cut or given up."""

import concurrent.futures
import gzip
import json
import os
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Client, Postgres, Server, await_, holding, once, psql

BOXES = 40
CARDS = 60  # in the largest box; every seventh of a tenant's cards is missing
BATCH = "/projects/p/boxes/batch"
CARD = "/projects/p/cards/c1"


def box_id(number):
    return f"01970000-0000-7000-8000-{number:012d}"


def ids_of(number):
    """Boxes of all lengths, also of none; they share cards, and hold some twice."""
    return [f"c{(number * 31 + place * 7) % 900}" for place in range(number * 17 % (CARDS + 1))]


@once
def dsn():
    made = Postgres.shared().database()
    rows = [{"kind": "card", "card_id": f"c{number}", "metadata": {"type": "note", "n": number},
             "content": {"text": f"{number} " * 400}} for number in range(900) if number % 7]
    rows += [{"kind": "box", "box_id": box_id(number), "card_ids": ids_of(number)} for number in range(BOXES)]
    cardbox_test.cardbox("import", "--dsn", made, "--project", "p", stdin="\n".join(map(json.dumps, rows)))
    return made


@once
def server():
    return Server(dsn(), "--loops", "1")


def ask(limit, asked=server):
    return asked().post(BATCH, {"box_ids": [box_id(number) for number in range(BOXES)], "hydrate": True,
                                "limit": limit}, timeout=60)


def missing_of(limit):
    """The cards that are missing, in the order in which they come first."""
    seen = [card for number in range(BOXES) for card in ids_of(number)[-limit:] if int(card[1:]) % 7 == 0]
    return list(dict.fromkeys(seen))


@once
def expected():
    return ask(50).body


def test_as_one_by_one():
    for limit in (1, 50, 500):
        answer = ask(limit).json()
        assert [box["box_id"] for box in answer["boxes"]] == [box_id(number) for number in range(BOXES)]
        for number, box in enumerate(answer["boxes"]):
            alone = server().get(f"/projects/p/boxes/{box_id(number)}/cards?limit={limit}")
            assert box["card_ids"] == ids_of(number), number
            assert box["hydrated_cards"] == alone.json(), number
        assert answer["missing_card_ids"] == missing_of(limit) and answer["missing_box_ids"] == []


def test_as_with_others():
    """What waits for a connection is joined, and then rows come all together: it is the same."""
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(ask, 50) for _ in range(30)]:
            assert done.result().status == 200 and done.result().body == expected()


def test_small_with_others():
    """Requests for few boxes, some of which are not there, beside others for one of these boxes."""
    few = [box_id(3), box_id(5), box_id(99)]
    body = json.dumps({"box_ids": few})
    right = server().post(BATCH, {"box_ids": few}).json()
    assert [box["box_id"] for box in right["boxes"]] == few[:2] and right["missing_box_ids"] == few[2:]

    def asked(_):
        with Client(server().port) as client:
            for _ in range(60):
                one = client.request("GET", f"/projects/p/boxes/{box_id(3)}").json()
                answer = client.request("POST", BATCH, body)
                assert one["card_ids"] == ids_of(3) and answer.json() == right, answer
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        list(pool.map(asked, range(24)))


def test_none_there():
    answer = server().post(BATCH, {"box_ids": [box_id(99), "no", box_id(98)], "hydrate": True}).json()
    assert answer == {"boxes": [], "missing_box_ids": [box_id(99), "no", box_id(98)], "missing_card_ids": []}
    assert server().post(BATCH, {"box_ids": ["no"], "hydrate": True}).json()["missing_box_ids"] == ["no"]


def test_statements_heal():
    """A prepared statement that a migration has made unusable is prepared again before rows come."""
    psql(dsn(), "DROP POLICY limits ON cardbox.cards")  # the type of a column of a policy can't be changed
    for collation in ("POSIX", "C"):
        assert ask(50).body == expected()
        psql(dsn(), f'ALTER TABLE cardbox.cards ALTER COLUMN tool_call_id TYPE text COLLATE "{collation}"')
    assert ask(50).body == expected()


def test_without_named_statements():
    unnamed = once(lambda: Server(dsn(), "--no-prepared-statements"))
    for _ in range(3):
        assert ask(50, asked=unnamed).body == expected()
    unnamed().stop()


def test_over_the_budget():
    """413, and the connection that it came on serves again."""
    small = once(lambda: Server(dsn(), "--response-max", "200K", "--read-connections", "1"))
    for limit in (50, 1, 50, 500):
        answer = ask(limit, asked=small)
        if limit == 1:
            assert answer.status == 200 and answer.json() == ask(1).json()
        else:
            assert answer.status == 413, answer
            assert "--response-max" in answer.json()["detail"]["error_message"], answer
    small().stop()


def test_over_its_time():
    """504 while the statement waits, and all is well afterwards."""
    hasty = once(lambda: Server(dsn(), "--database-timeout-ms", "600"))
    await_(lambda: ask(50, asked=hasty).body == expected())
    with holding(dsn(), "LOCK TABLE cardbox.cards IN ACCESS EXCLUSIVE MODE"):
        assert ask(50, asked=hasty).status == 504
    await_(lambda: ask(50, asked=hasty).body == expected())
    hasty().stop()


def test_slow_reader():
    """The memory of a large answer is used again for the next, but not before it was read, also by one
    who reads it late or packed."""
    alone = server().post(BATCH, {"box_ids": [box_id(7)]}).body
    assert len(ask(500).body) > 1 << 20
    with server().client() as slow, concurrent.futures.ThreadPoolExecutor(2) as pool:
        slow.connection.request("POST", BATCH, json.dumps({
            "box_ids": [box_id(number) for number in range(BOXES)], "hydrate": True, "limit": 500}))
        others = [pool.submit(ask, 40 + number) for number in range(6)]
        packed = server().post(BATCH, {"box_ids": [box_id(number) for number in range(BOXES)], "hydrate": True},
                               {"Accept-Encoding": "gzip"})
        assert len({len(answer.result().body) for answer in others}) == 6
        assert server().post(BATCH, {"box_ids": [box_id(7)]}).body == alone
        assert slow.connection.getresponse().read() == ask(500).body == gzip.decompress(packed.body)


def test_client_leaves():
    """One that goes away while its answer is made, or that does not read it, costs nobody else theirs."""
    body = json.dumps({"box_ids": [box_id(number) for number in range(BOXES)], "hydrate": True})
    request = (f"POST {BATCH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
               f"Content-Length: {len(body)}\r\n\r\n{body}").encode()
    idle = []
    for number in range(20):
        connection = socket.create_connection(("127.0.0.1", server().port), timeout=30)
        connection.sendall(request)
        if number % 2:
            connection.close()
        else:
            idle.append(connection)
    assert ask(50).body == expected() and server().get(CARD).status == 200
    for connection in idle:
        connection.close()


def test_connections_are_cut():
    """In the middle of the rows: the server is held up until the database can send no more, and finds
    the connection lost. The answer is whole all the same."""
    cut = ("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'cardboxd'"
           " AND datname = current_database() AND wait_event = 'ClientWrite'")
    cuts = attempts = 0
    began = time.monotonic()
    ask(500)
    takes_s = time.monotonic() - began
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        while cuts < 3:
            answer = pool.submit(ask, 500)
            time.sleep(attempts % 20 / 20 * takes_s)
            server().process.send_signal(signal.SIGSTOP)
            cuts += int(psql(dsn(), cut))
            server().process.send_signal(signal.SIGCONT)
            assert answer.result().status == 200 and answer.result().body == ask(500).body
            attempts += 1
            assert attempts < 200, "no statement was caught while it sent rows"


def test_neighbours_are_served():
    """While a client asks for nothing but large answers, others get their small ones."""
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        large = [pool.submit(ask, 500) for _ in range(20)]
        while not all(answer.done() for answer in large):
            assert server().get(CARD).status == 200
        assert {answer.result().status for answer in large} == {200}


def test_stop():
    server().stop()


if __name__ == "__main__":
    cardbox_test.main()
