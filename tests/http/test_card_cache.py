#!/usr/bin/env python3
"""Cards that were read before are cached. Whatever has happened to them since, also by SQL, what is read is what
is there now; and what the server has is not sent again by PostgreSQL."""

import concurrent.futures
import json
import os
import random
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, await_, once, psql, url

TENANTS = ("red", "blue")
CARDS = 40
IDS = [f"card-{n}" for n in range(CARDS)]


@once
def database():
    dsn = Postgres.shared().database()
    server = Server(dsn)
    for tenant in TENANTS:
        write(server, tenant, "old", IDS)
    server.stop()
    return dsn


def write(server, tenant, what, ids):
    cards = [{"card_id": card_id, "content": {"says": f"{tenant} {what} {card_id}"}} for card_id in ids]
    answer = server.post(url(tenant, "cards"), {"cards": cards})
    assert answer.status in (200, 201), answer


def check(server, what, gone=()):
    """Each card of each tenant, one by one and together, some times: the first read caches it."""
    for _ in range(3):
        for tenant in TENANTS:
            batch = server.post(url(tenant, "cards", "batch"), {"card_ids": IDS}).json()
            missing = gone if tenant == "red" else ()
            assert batch["missing_ids"] == list(missing), batch["missing_ids"]
            cards = {card["card_id"]: card["content"] for card in batch["cards"]}
            for card_id in IDS:
                one = server.get(url(tenant, "cards", card_id))
                if card_id in missing:
                    assert one.status == 404, one
                    continue
                said = {"says": f"{tenant} {what(tenant, card_id)} {card_id}"}
                assert one.json()["content"] == cards[card_id] == said, (one, cards[card_id])


def test_cached_cards_are_current():
    dsn = Postgres.shared().copy(database())
    server = Server(dsn)
    check(server, lambda tenant, card_id: "old")

    def now(tenant, card_id):
        return "new" if tenant == "red" and card_id in IDS[::2] else "old"

    write(server, "red", "new", IDS[::2])
    check(server, now)
    # Rows move and stay the same; each comes to lie where others did.
    psql(dsn, "CREATE INDEX turned ON cardbox.cards (card_id DESC, tenant_id)")
    psql(dsn, "CLUSTER cardbox.cards USING turned")
    check(server, now)
    for card_id in IDS[5:8]:
        assert server.request("DELETE", url("red", "cards", card_id)).status == 200
    check(server, now, IDS[5:8])
    psql(dsn, f"UPDATE cardbox.cards SET expires_at = now() WHERE tenant_id = 'red' AND card_id = '{IDS[8]}'")
    check(server, now, IDS[5:9])
    psql(dsn, "DELETE FROM cardbox.cards WHERE tenant_id = 'red'")
    check(server, now, IDS)
    server.stop()


def test_changes_by_sql():
    """Any column, and a row that is removed and made again."""
    dsn = Postgres.shared().copy(database())
    server, card = Server(dsn), url("red", "cards", IDS[0])
    where = f"WHERE tenant_id = 'red' AND card_id = '{IDS[0]}'"
    tags = {server.get(card).header("ETag")}
    for change, member, value in (("content = '7'", "content", 7), ("metadata = '{\"type\": \"x\"}'", "type", "x"),
                                  ("tool_call_id = 'c'", "tool_call_id", "c"), ("sealed = true", "sealed", True)):
        psql(dsn, f"UPDATE cardbox.cards SET {change} {where}")
        for _ in range(3):
            found = server.get(card)
            assert found.json()[member] == value, (change, found)
        tags.add(found.header("ETag"))
    assert len(tags) == 5, tags
    psql(dsn, f"BEGIN; SET LOCAL session_replication_role = 'replica'; DELETE FROM cardbox.cards {where};"
              " INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at)"
              f" VALUES ('red', '{IDS[0]}', '8', now()); COMMIT")  # the role disables the trigger of sealed cards
    assert server.get(card).json()["content"] == 8 and server.get(card).header("ETag") not in tags
    server.stop()


def test_expiry_between_two_reads():
    """Nothing is written when a card expires."""
    dsn = Postgres.shared().copy(database())
    server, card = Server(dsn), url("red", "cards", "short")
    body = {"cards": [{"card_id": "short", "content": 1, "ttl_seconds": 2}]}
    assert server.post(url("red", "cards"), body).status == 200
    tag = server.get(card).header("ETag")
    assert server.get(card, {"If-None-Match": tag}).status == 304
    await_(lambda: server.get(card).status == 404)
    assert server.get(card, {"If-None-Match": tag}).status == 404
    server.stop()


def test_what_is_too_large_to_be_cached():
    """The client's tag suffices, also when it is not cached."""
    dsn = Postgres.shared().copy(database())
    psql(dsn, "INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at)"
              " SELECT 'red', 'large', to_json(repeat('x', 100000)), now()")
    server, card = Server(dsn), url("red", "cards", "large")
    for coding in ("identity", "gzip"):
        first = server.get(card, {"Accept-Encoding": coding})
        again = server.get(card, {"Accept-Encoding": coding, "If-None-Match": first.header("ETag")})
        assert (again.status, again.body) == (304, b"") and again.header("ETag") == first.header("ETag")
        assert again.header("Vary") == first.header("Vary") == "Accept-Encoding"
    psql(dsn, "UPDATE cardbox.cards SET content = '1' WHERE card_id = 'large'")
    changed = server.get(card, {"If-None-Match": first.header("ETag")})
    assert changed.status == 200 and changed.json()["content"] == 1
    server.stop()


def test_without_a_cache():
    dsn = Postgres.shared().copy(database())
    server = Server(dsn, "--card-cache", "0")
    check(server, lambda tenant, card_id: "old")
    server.stop()


def test_reads_beside_writes():
    """Two tenants have the same ids. Who reads is given what was written last before, or later, and its own."""
    dsn = Postgres.shared().copy(database())
    server = Server(dsn, "--card-cache", "1M", "--loops", "2")  # not all fit for long
    written, wrong, over = {}, [], threading.Event()

    def put(client, tenant, card_id, number):
        content = {"says": tenant, "number": number, "padding": "x" * (number % 900)}
        body = {"cards": [{"card_id": card_id, "content": content}]}
        answer = client.request("POST", url(tenant, "cards"), json.dumps(body), {"Content-Type": "application/json"})
        assert answer.status in (200, 201), answer
        written[tenant, card_id] = number

    def write(tenant):
        with server.client() as client:
            for number in range(2, 30):
                for card_id in IDS:
                    put(client, tenant, card_id, number)

    def check(tenant, least, card):
        said = card["content"]
        if said["says"] != tenant or said["number"] < least[card["card_id"]]:
            wrong.append((tenant, least[card["card_id"]], card))

    def read(tenant, seed):
        dice = random.Random(seed)
        with server.client() as client:
            while not over.is_set():
                least = {card_id: written[tenant, card_id] for card_id in IDS}
                if dice.random() < 0.9:
                    check(tenant, least, client.request("GET", url(tenant, "cards", dice.choice(IDS))).json())
                    continue
                batch = json.dumps({"card_ids": dice.sample(IDS, 10)})
                answer = client.request("POST", url(tenant, "cards", "batch"), batch, {"Content-Type": "application/json"})
                assert len(answer.json()["cards"]) == 10
                for card in answer.json()["cards"]:
                    check(tenant, least, card)

    with server.client() as client:
        for tenant in TENANTS:
            for card_id in IDS:
                put(client, tenant, card_id, 1)
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        readers = [pool.submit(read, TENANTS[n % 2], n) for n in range(8)]
        try:
            for done in [pool.submit(write, tenant) for tenant in TENANTS]:
                done.result()
            psql(dsn, "VACUUM FULL cardbox.cards")
        finally:
            over.set()
        for reader in readers:
            reader.result()
    assert wrong == []
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()
