#!/usr/bin/env python3
"""A database that comes back as it was a while ago, under a server that has kept what it read since: transactions
are numbered as before, rows lie where others did, and what is read is what is there."""

import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, await_, url


def write(postgres, dsn, says):
    """The transaction's number and where the card lies."""
    postgres.psql(dsn, f"UPDATE cardbox.cards SET raw = to_json('{says}'::text) WHERE tenant_id = 'p' AND card_id = 'card'")
    return postgres.psql(dsn, "SELECT xmin, ctid FROM cardbox.cards WHERE card_id = 'card'")


def read(server, says):
    for _ in range(4):
        answer = server.get(url("p", "cards", "card"))
        assert answer.json()["content"] == says, answer


def test_restored():
    postgres = Postgres("autovacuum=off")
    dsn = postgres.database()
    server = Server(dsn)
    body = {"cards": [{"card_id": "card", "content": "first"}]}
    assert server.post(url("p", "cards"), body).status == 200
    data, backup = os.path.join(postgres.directory, "data"), os.path.join(postgres.directory, "backup")
    postgres.stop()
    shutil.copytree(data, backup)
    owner = os.stat(data)
    postgres.start()
    server.await_ready()
    before = write(postgres, dsn, "lost")
    read(server, "lost")
    postgres.stop()
    shutil.rmtree(data)
    shutil.copytree(backup, data)
    for folder, folders, files in os.walk(data):
        for name in [folder] + [os.path.join(folder, one) for one in folders + files]:
            os.chown(name, owner.st_uid, owner.st_gid)
    postgres.start()
    server.await_ready()
    assert write(postgres, dsn, "other") == before, "the same number and place, or this test shows nothing"
    read(server, "other")
    server.stop()


def test_crashed():
    """One process of PostgreSQL is killed, and with it end all but the first, which starts others. Where a commit does
    not wait for the disk, what was read is lost, and the number of its transaction comes again."""
    postgres = Postgres("autovacuum=off", "synchronous_commit=off", "wal_writer_delay=10s")
    dsn = postgres.database()
    server, card = Server(dsn), url("p", "cards", "card")
    body = {"cards": [{"card_id": "card", "content": "first"}]}
    assert server.post(url("p", "cards"), body).status == 200
    for stays in ("first", "other"):  # also where it is not the first time
        postgres.psql(dsn, "CHECKPOINT")
        before = write(postgres, dsn, "lost")
        read(server, "lost")
        os.kill(postgres.backends(dsn)[0], signal.SIGKILL)
        await_(lambda: server.get(card).json().get("content") == stays, server.log)
        assert write(postgres, dsn, "other") == before, "the same number and place, or this test shows nothing"
        read(server, "other")
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()
