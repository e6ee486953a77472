#!/usr/bin/env python3
"""What a burst of large answers leaves of the server's memory: nothing, once it is over."""

import concurrent.futures
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, await_

CARDS, CLIENTS, ROUNDS = 500, 48, 4
MOST_KB = 40 << 10  # above what it had before; without the trimmer more than 60 MB stay


def test_given_back():
    if cardbox_test.LIGHT:
        print("SKIPPED: a sanitizer's allocator keeps what is freed", flush=True)
        return
    dsn = Postgres.shared().database()
    Postgres.shared().psql(dsn, "INSERT INTO cardbox.cards (tenant_id, card_id, content, created_at)"
                                " SELECT 'p', 'c' || n, to_jsonb(repeat(n || ' ', 800)), now()"
                                f" FROM generate_series(1, {CARDS}) AS n")
    server = Server(dsn, "--loops", "2", "--request-timeout-ms", "120000")
    box = server.post("/projects/p/boxes", {"card_ids": [f"c{n}" for n in range(1, CARDS + 1)]}).json()
    path = f"/projects/p/boxes/{box['box_id']}/cards?limit={CARDS}"
    before = server.rss_kb()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        answers = pool.map(lambda _: server.get(path, timeout=120), range(ROUNDS * CLIENTS))
        for answer in answers:
            assert answer.status == 200 and len(answer.body) > 1600 * CARDS, len(answer.body)
    assert server.peak_rss_kb() > before + MOST_KB, "the burst was none"
    await_(lambda: server.rss_kb() < before + MOST_KB, lambda: f"{server.rss_kb()} {before}")
    assert server.get(path).status == 200
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()
