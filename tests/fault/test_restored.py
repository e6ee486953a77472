#!/usr/bin/env python3
"""A database that comes back as it was a while ago, under a server that has cached what it read since: what is
read is what is there, and an etag that was given before the restore is never given again."""

import json
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import libpq
from cardbox_test import Postgres, Server, await_, url


def serve(dsn):
    """Adds a card. The server only reads: the indexer of another would use transaction numbers."""
    server = Server(dsn)
    assert server.post(url("p", "cards"), {"cards": [{"card_id": "card", "content": "first"}]}).status == 200
    server.stop()
    return Server(dsn, "--read-only")


def write(postgres, dsn, says):
    """The transaction's number and the etag that the card gets."""
    postgres.psql(dsn, f"UPDATE cardbox.cards SET content = to_json('{says}'::text) WHERE tenant_id = 'p' AND card_id = 'card'")
    return postgres.psql(dsn, "SELECT xmin, etag FROM cardbox.cards WHERE card_id = 'card'").strip().split("|")


def read(server, says):
    for _ in range(4):
        answer = server.get(url("p", "cards", "card"))
        assert answer.json()["content"] == says, answer


def says(postgres, dsn):
    """What the card says now, though not to the server."""
    return json.loads(postgres.psql(dsn, "SELECT content FROM cardbox.cards WHERE card_id = 'card'"))


def checkpointer(postgres, dsn):
    """Its process id: after a crash, PostgreSQL starts another. None: PostgreSQL is not there."""
    try:
        return postgres.psql(dsn, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
    except libpq.Error:
        return None


def test_restored():
    postgres = Postgres("autovacuum=off")
    dsn = postgres.database()
    server = serve(dsn)
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
    again = write(postgres, dsn, "other")
    assert again[0] == before[0], "the same transaction, or this test shows nothing"
    assert again[1] != before[1]
    read(server, "other")
    server.stop()


def test_lost_in_a_crash():
    """When a backend is killed, PostgreSQL recovers what is on disk, and a commit that is not there is lost. The WAL writer
    writes every 10 s. If it has written a part of the transaction, the next round tries again."""
    postgres = Postgres("autovacuum=off", "synchronous_commit=off", "wal_writer_delay=10s", "wal_writer_flush_after=1GB")
    dsn = postgres.database()
    server = serve(dsn)
    for number in range(100):
        write(postgres, dsn, f"kept {number}")
        postgres.psql(dsn, "CHECKPOINT")
        before = write(postgres, dsn, f"lost {number}")
        read(server, f"lost {number}")
        first = checkpointer(postgres, dsn)
        os.kill(postgres.backends(dsn)[0], signal.SIGKILL)
        await_(lambda: checkpointer(postgres, dsn) not in (None, first))
        kept = says(postgres, dsn) == f"kept {number}"
        server.await_ready()
        again = write(postgres, dsn, "other")
        if kept and again[0] == before[0]:
            break
    assert kept and again[0] == before[0], "no whole transaction was lost, so this test shows nothing"
    assert again[1] != before[1]
    read(server, "other")
    server.stop()


if __name__ == "__main__":
    cardbox_test.main()
