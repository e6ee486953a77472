#!/usr/bin/env python3
"""Cards that were read before are found by where they lay, and what they said is kept. Whatever has
happened to them since, and to the table, what is read is what is there now."""

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
    """Each card of each tenant, one by one and together, some times: by its key, then by its place."""
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


def test_what_lies_elsewhere():
    dsn = Postgres.shared().copy(database())
    server = Server(dsn)
    check(server, lambda tenant, card_id: "old")

    def now(tenant, card_id):
        return "new" if tenant == "red" and card_id in IDS[::2] else "old"

    write(server, "red", "new", IDS[::2])
    check(server, now)
    # Each card comes to lie where others did, of both tenants.
    psql(dsn, "CREATE INDEX turned ON cardbox.cards (card_id DESC, tenant_id)")
    psql(dsn, "CLUSTER cardbox.cards USING turned")
    check(server, now)
    gone = IDS[5:8]
    for card_id in gone:
        assert server.request("DELETE", url("red", "cards", card_id)).status == 200
    check(server, now, gone)
    psql(dsn, f"UPDATE cardbox.cards SET expires_at = now() WHERE tenant_id = 'red' AND card_id = '{IDS[8]}'")
    check(server, now, IDS[5:9])
    # The table ends before where they lay.
    psql(dsn, "DELETE FROM cardbox.cards WHERE tenant_id = 'red'")
    psql(dsn, "VACUUM FULL cardbox.cards")
    check(server, now, IDS)
    server.stop()


def test_the_index_is_spared():
    """Only the first read of a card goes through the index."""
    dsn = Postgres.shared().copy(database())

    def scans():
        return int(psql(dsn, "SELECT sum(idx_scan) FROM pg_stat_all_indexes WHERE relname = 'cards'"))

    server, before = Server(dsn), scans()
    for _ in range(10):
        for card_id in IDS:
            assert server.get(url("blue", "cards", card_id)).status == 200
    server.stop()  # when its connections end, PostgreSQL counts what they did
    await_(lambda: scans() >= before + CARDS)
    await_(lambda: Postgres.shared().backends(dsn) == [])
    assert scans() < before + 2 * CARDS, scans() - before


def statements(server, name):
    found = re.search(rf'^cardbox_statements_total{{statement="{name}"}} (\d+)$', server.get("/metrics").body.decode(), re.M)
    return int(found.group(1)) if found else 0


def asked(server):
    """Statements so far: for cards by their keys, by their places, and for their versions."""
    return tuple(statements(server, name) for name in ("cards_get_at", "cards_placed", "cards_versions"))


def test_what_is_gone_is_forgotten():
    """A card that is not where it lay is looked for by its key, once; if it is nowhere, it has no place."""
    dsn = Postgres.shared().copy(database())
    server, card = Server(dsn), url("red", "cards", IDS[0])
    for _ in range(2):
        assert server.get(card).status == 200
    assert asked(server) == (1, 1, 0)
    psql(dsn, f"DELETE FROM cardbox.cards WHERE tenant_id = 'red' AND card_id = '{IDS[0]}'")
    for _ in range(3):
        assert server.get(card).status == 404
    assert asked(server) == (4, 1, 1)
    server.stop()


def test_what_is_read_often_is_sent_once():
    """Of a card that was read by its place only the version is asked for, until it has another."""
    dsn = Postgres.shared().copy(database())
    server, card = Server(dsn), url("red", "cards", IDS[0])
    first = [server.get(card) for _ in range(5)]
    assert asked(server) == (1, 1, 3)
    assert len({(one.body, one.header("etag")) for one in first}) == 1, first
    psql(dsn, f"UPDATE cardbox.cards SET raw = '{{\"says\": \"new\"}}' WHERE card_id = '{IDS[0]}'")
    then = [server.get(card) for _ in range(4)]
    assert {one.json()["content"]["says"] for one in then} == {"new"}
    # It is not where it was; the next is told where it is, and reads it there; then it is known again.
    assert asked(server) == (2, 2, 6)
    batch, old = url("red", "cards", "batch"), asked(server)
    answers = [server.post(batch, {"card_ids": IDS[:5]}) for _ in range(5)]
    assert len({one.body for one in answers}) == 1
    assert asked(server) == (old[0] + 1, old[1] + 1, old[2] + 3)
    server.stop()


def test_another_version_at_the_same_place():
    """Two updates, and the room of the first version is the third's: nobody takes one for the other."""
    dsn = Postgres.shared().copy(database())
    server, card = Server(dsn), url("red", "cards", IDS[0])
    where = f"FROM cardbox.cards WHERE tenant_id = 'red' AND card_id = '{IDS[0]}'"
    for _ in range(3):
        server.get(card)
    place, known = psql(dsn, f"SELECT ctid {where}"), asked(server)
    for number in range(100):  # not in place: an index has the time
        psql(dsn, f"UPDATE cardbox.cards SET raw = '{{\"says\": {number}}}', created_at = now()"
                  f" WHERE tenant_id = 'red' AND card_id = '{IDS[0]}'")
        psql(dsn, "VACUUM cardbox.cards")
        if psql(dsn, f"SELECT ctid {where}") == place:
            break
    else:
        raise AssertionError("no version came to lie where the first was")
    assert [server.get(card).json()["content"]["says"] for _ in range(4)] == [number] * 4
    assert asked(server)[2] > known[2]
    server.stop()


def test_without_a_cache():
    dsn = Postgres.shared().copy(database())
    server, card = Server(dsn, "--card-cache", "0"), url("red", "cards", IDS[0])
    for _ in range(5):
        assert server.get(card).status == 200
    assert asked(server) == (1, 4, 0)
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
    assert all(count > 0 for count in asked(server)), asked(server)
    server.stop()


def test_plans_of_a_small_table_serve_a_big_one():
    """A plan is made once for a connection; what was best for a page must not read thousands."""
    dsn = Postgres.shared().copy(database())
    psql(dsn, "ALTER TABLE cardbox.cards SET (autovacuum_enabled = off)")
    psql(dsn, "DELETE FROM cardbox.cards WHERE card_id > 'card-1'")
    psql(dsn, "VACUUM (FULL, ANALYZE) cardbox.cards")
    server = Server(dsn)
    for _ in range(20):  # the first five of a connection are planned one by one
        assert server.get(url("red", "cards", IDS[0])).status == 200
    psql(dsn, "INSERT INTO cardbox.cards (tenant_id, card_id, content, raw, metadata, created_at)"
              " SELECT 'red', 'more-' || n, '1', '1', '{}', now() FROM generate_series(1, 5000) AS n")
    for _ in range(20):
        assert server.get(url("red", "cards", IDS[0])).status == 200
    server.stop()
    await_(lambda: Postgres.shared().backends(dsn) == [])
    assert int(psql(dsn, "SELECT seq_tup_read FROM pg_stat_all_tables WHERE relname = 'cards'")) < 5000


if __name__ == "__main__":
    cardbox_test.main()
