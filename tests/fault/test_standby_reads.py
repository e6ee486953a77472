#!/usr/bin/env python3
"""Reads that standbys answer (--standby-dsn). A client that sends its Cardbox-Lsn back sees its own writes. Clients do not
notice the limits of a standby. The server does not read from a server that is no standby of the primary."""

import contextlib
import json
import os
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import Postgres, Server, as_role, await_, cardbox, cardboxd

LONG = 25000  # ids of a box that is answered in pages
KEEPS_ITS_LOG = "wal_keep_size=1GB"  # for a standby that is slower than the next checkpoint


@cardbox_test.once
def primary():
    postgres = Postgres(KEEPS_ITS_LOG)
    return postgres, postgres.database()


@cardbox_test.once
def standby():
    postgres, dsn = primary()
    other = postgres.standby()
    return other, other.there(dsn)


@cardbox_test.once
def server():
    """Reads are answered by the standby."""
    return with_standby(primary()[1], standby()[1])


def with_standby(dsn, read_dsn, *options):
    made = Server(dsn, "--standby-dsn", as_role(read_dsn, "cardbox_app"), *options)
    await_(lambda: usable(made) > 0, made.log)
    await_(lambda: made.get("/projects/none/cards/none").status == 404 and answered(made) > 0, made.log)
    return made


def metric(of, name):
    text = of.get("/metrics").body.decode()
    return int(re.search(rf"^{re.escape(name)} (\d+)$", text, re.M).group(1))


def usable(of):
    return metric(of, 'cardbox_database_connections{group="standby",state="usable"}')


def answered(of):
    return metric(of, "cardbox_standby_reads_total")


def is_read_from(of):
    """Whether the standby has answered a request."""
    before = answered(of)
    assert of.get("/projects/p/cards/kept").status == 200
    return answered(of) == before + 1


def catch_up(source=None, target=None):
    """Until the standby has what the primary has."""
    postgres, dsn = source or primary()
    other, there = target or standby()
    position = postgres.psql(dsn, "SELECT pg_current_wal_flush_lsn()").strip()
    await_(lambda: other.psql(there, f"SELECT pg_last_wal_replay_lsn() >= '{position}'").strip() == "t")


@contextlib.contextmanager
def paused():
    """While the standby replays nothing."""
    other, there = standby()
    catch_up()
    other.psql(there, "SELECT pg_wal_replay_pause()")
    await_(lambda: other.psql(there, "SELECT pg_get_wal_replay_pause_state()").strip() == "paused")
    try:
        yield
    finally:
        other.psql(there, "SELECT pg_wal_replay_resume()")


def add_card(of, project, card, content=1):
    answer = of.post(f"/projects/{project}/cards", {"card_id": card, "content": content})
    assert answer.status == 200, answer
    return answer.header("Cardbox-Lsn")


def add_box(of, project, ids):
    answer = of.post(f"/projects/{project}/boxes", {"card_ids": ids})
    assert answer.status == 200, answer
    return answer.json()["box_id"], answer.header("Cardbox-Lsn")


def reads(project, card, box):
    """The five requests that a standby answers, as functions of headers that give what they say of the card or the box."""
    place = f"/projects/{project}"
    ask = server()
    yield lambda headers: ask.get(f"{place}/cards/{card}", headers)
    yield lambda headers: ask.get(f"{place}/boxes/{box}", headers)
    yield lambda headers: ask.get(f"{place}/boxes/{box}/cards", headers)
    yield lambda headers: ask.post(f"{place}/cards/batch", {"card_ids": [card]}, headers)
    yield lambda headers: ask.post(f"{place}/boxes/batch", {"box_ids": [box], "hydrate": True}, headers)


def is_there(answer):
    assert answer.status in (200, 404), answer
    if answer.status == 404:
        return False
    said = answer.json()
    return not (isinstance(said, dict) and (said.get("missing_ids") or said.get("missing_box_ids")))


def test_a_standby_answers():
    add_card(server(), "p", "first")
    box, _ = add_box(server(), "p", ["first"])
    catch_up()
    for read in reads("p", "first", box):
        before = answered(server())
        assert is_there(read({}))
        assert answered(server()) == before + 1


def test_who_has_written_sees_it():
    """Where replay stands still; and who does not say so may see what was there before."""
    with paused():
        add_card(server(), "p", "new")
        box, position = add_box(server(), "p", ["new"])
        for read in reads("p", "new", box):
            before = answered(server())
            assert not is_there(read({}))
            assert is_there(read({"Cardbox-Lsn": position}))
            assert is_there(read({"Cardbox-Lsn": position.lower()}))
            assert answered(server()) == before + 1
    catch_up()
    await_(lambda: [read for read in reads("p", "new", box) if not is_there(read({}))] == [])
    for read in reads("p", "new", box):
        before = answered(server())
        assert is_there(read({"Cardbox-Lsn": position}))
        assert answered(server()) == before + 1


def test_cached_cards_are_the_standbys():
    """The cache has the primary's card; whoever is answered by a standby gets what that has, and tags are the same on both."""
    position = add_card(server(), "cached", "card", 1)
    catch_up()

    def said(headers=None):
        answer = server().get("/projects/cached/cards/card", headers or {})
        return answer.json()["content"], answer.header("ETag")

    at_primary, at_standby = said({"Cardbox-Lsn": "FFFFFFFF/FFFFFFFF"}), said()
    assert at_primary == at_standby == said() and at_primary[0] == 1
    with paused():
        position = add_card(server(), "cached", "card", 2)
        new = said({"Cardbox-Lsn": position})
        assert new[0] == 2 and new[1] != at_primary[1]
        for _ in range(3):
            assert said() == at_standby and said({"Cardbox-Lsn": position}) == new
        assert server().get("/projects/cached/cards/card", {"If-None-Match": at_standby[1]}).status == 304
        known = {"If-None-Match": at_standby[1], "Cardbox-Lsn": position}
        assert server().get("/projects/cached/cards/card", known).status == 200
    catch_up()
    await_(lambda: said() == new)
    assert server().get("/projects/cached/cards/card", {"If-None-Match": at_standby[1]}).status == 200


def test_who_writes_and_reads_at_once():
    """Many clients, each of which reads what it has just written, while the standby is behind by as much as it is."""
    failed, answers = [], answered(server())

    def work(number):
        with server().client() as client:
            for turn in range(100):
                card = json.dumps({"card_id": f"{number}-{turn}", "content": turn})
                written = client.request("POST", "/projects/busy/cards", card, {"Content-Type": "application/json"})
                seen = client.request("GET", f"/projects/busy/cards/{number}-{turn}", None,
                                      {"Cardbox-Lsn": written.header("Cardbox-Lsn")})
                if written.status != 200 or seen.status != 200 or seen.json()["content"] != turn:
                    failed.append((written, seen))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[:3]
    assert server().get("/projects/busy/cards/0-0").status in (200, 404)
    assert answered(server()) > answers


def test_a_long_box():
    """Its pages after the first come from the primary: another standby might not be as far."""
    ids = [f"card-{number}" for number in range(LONG)]
    box, _ = add_box(server(), "p", [])
    for start in range(0, LONG, 10000):
        position = server().post(f"/projects/p/boxes/{box}/append", {"card_ids": ids[start:start + 10000]}).header("Cardbox-Lsn")
    catch_up()
    with paused():
        before, passed = answered(server()), metric(server(), "cardbox_standby_fallback_total")
        assert server().get(f"/projects/p/boxes/{box}", {"Cardbox-Lsn": position}).json()["card_ids"] == ids
        assert answered(server()) == before + 1
        assert metric(server(), "cardbox_standby_fallback_total") > passed


def test_projects_do_not_meet():
    """Two have the same ids, and ask together."""
    box = "01970000-0000-7000-8000-000000000001"
    for project in ("left", "right"):
        position = add_card(server(), project, "same", project)
    assert server().post("/projects/left/boxes", {"box_id": box, "card_ids": ["same"]}).status == 200
    catch_up()
    failed = []

    def ask(project, headers):
        with server().client() as client:
            for _ in range(100):
                card = client.request("GET", f"/projects/{project}/cards/same", None, headers).json()
                cards = client.request("GET", f"/projects/{project}/boxes/{box}", None, headers)
                if card["content"] != project or cards.status != {"left": 200}.get(project, 404):
                    failed.append((project, card, cards))

    threads = [threading.Thread(target=ask, args=(project, headers)) for project in ("left", "right")
               for headers in ({}, {"Cardbox-Lsn": position}, {"Cardbox-Lsn": "FFFFFFFF/0"})]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[:3]


def test_what_is_no_place_in_the_log():
    plain = Server(primary()[1])
    for value in ("16", "16/", "/16", "16/B374D848,16/B374D848", "one/two", "123456789/0", ""):
        for of in (server(), plain):
            answer = of.get("/projects/p/cards/first", {"Cardbox-Lsn": value})
            assert answer.status == 400 and "Cardbox-Lsn" in answer.json()["detail"]["error_message"], (value, answer)
    assert plain.get("/projects/p/cards/first", {"Cardbox-Lsn": "FFFFFFFF/FFFFFFFF"}).status == 200
    assert 'group="standby"' not in plain.get("/metrics").body.decode()
    plain.stop()


def test_lost_under_load():
    """No request fails, and it is read from again when it is back."""
    postgres, dsn = primary()
    other = postgres.standby()
    there = other.there(dsn)
    of, stop, answers = with_standby(dsn, there, "--loops", "2"), threading.Event(), []
    add_card(of, "p", "kept")
    catch_up(target=(other, there))

    def ask():
        with of.client() as client:
            while not stop.is_set():
                answers.append(client.request("GET", "/projects/p/cards/kept"))
                answers.append(client.request("POST", "/projects/p/cards/batch", json.dumps({"card_ids": ["kept"]}),
                                              {"Content-Type": "application/json"}))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        for mode in ("immediate", "fast"):
            before = answered(of)
            await_(lambda: answered(of) > before + 100, of.log)
            other.stop(mode)
            await_(lambda: usable(of) == 0, of.log)
            count = len(answers)
            await_(lambda: len(answers) > count + 100)
            assert of.get("/readyz").status == 200
            other.start()
            await_(lambda: usable(of) > 0, of.log)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert {answer.status for answer in answers} == {200}, [answer for answer in answers if answer.status != 200][:3]
    await_(lambda: is_read_from(of), of.log)  # `usable` may count the connection of one of the loops only
    of.stop()
    assert 1 <= of.log().count("standby_away") <= 2, of.log()
    assert "database_away" not in of.log()


def test_promoted():
    """By mistake, or for a copy: it goes on by itself, and what is written from then on is not there."""
    postgres, dsn = primary()
    other = postgres.standby()
    of = with_standby(dsn, other.there(dsn))
    before = add_card(of, "p", "before")
    catch_up(target=(other, other.there(dsn)))
    other.promote()
    count = answered(of)
    position = add_card(of, "p", "after")
    assert of.get("/projects/p/cards/after").status == 200
    assert of.get("/projects/p/cards/after", {"Cardbox-Lsn": before}).status == 200
    assert of.get("/projects/p/cards/after", {"Cardbox-Lsn": position}).status == 200
    for _ in range(20):
        assert of.get("/projects/p/cards/after").status == 200
    assert answered(of) == count and of.get("/readyz").status == 200
    assert of.log().count("standby_incompatible") == 1, of.log()
    of.stop()


def test_another_became_the_primary():
    """One that was left behind with the old primary has another log from there on, however long; one that follows is read
    from when its control file has the new timeline."""
    postgres = Postgres("full_page_writes=on", KEEPS_ITS_LOG)
    dsn = postgres.database()
    heir = postgres.standby()
    left, follower = postgres.standby(), heir.standby()
    old = Server(dsn)
    for of in (heir, left, follower):
        catch_up((postgres, dsn), (of, of.there(dsn)))
    heir.promote()
    for number in range(60): # more log than the heir writes meanwhile
        add_card(old, "p", f"lost-{number}", "x" * 1000)
    catch_up((postgres, dsn), (left, left.there(dsn)))
    behind = Server(heir.there(dsn), "--standby-dsn", as_role(left.there(dsn), "cardbox_app"))
    position = add_card(behind, "p", "kept")
    assert left.psql(left.there(dsn), f"SELECT pg_last_wal_replay_lsn() >= '{position}'").strip() == "t"
    await_(lambda: "standby_incompatible" in behind.log(), behind.log)
    assert behind.get("/projects/p/cards/kept", {"Cardbox-Lsn": position}).status == 200
    assert behind.get("/projects/p/cards/kept").status == 200
    assert behind.get("/projects/p/cards/lost-1").status == 404
    assert usable(behind) == 0 and answered(behind) == 0
    behind.stop()
    catch_up((heir, heir.there(dsn)), (follower, follower.there(dsn)))
    for of in (heir, follower):
        of.psql(of.there(dsn), "CHECKPOINT")
    follows = with_standby(heir.there(dsn), follower.there(dsn))
    count = answered(follows)
    assert follows.get("/projects/p/cards/kept", {"Cardbox-Lsn": position}).status == 200
    assert answered(follows) == count + 1
    follows.stop()
    old.stop()


def test_what_is_no_standby_of_it():
    """Another database there, the primary itself, and a role that has more rights."""
    postgres, dsn = primary()
    elsewhere = postgres.database()
    catch_up()
    for read_dsn in (as_role(standby()[0].there(elsewhere), "cardbox_app"), as_role(dsn, "cardbox_app"),
                     as_role(standby()[1], "postgres")):
        of = Server(dsn, "--standby-dsn", read_dsn)
        await_(lambda: "standby_incompatible" in of.log(), of.log)  # pylint: disable=cell-var-from-loop
        add_card(of, "p", "here")
        assert of.get("/projects/p/cards/here").status == 200
        assert usable(of) == 0 and of.get("/readyz").status == 200
        of.stop()


def test_one_that_can_never_be():
    done = cardboxd("--dsn", primary()[1], "--standby-dsn", "host='x")
    assert done.returncode == 2 and "--standby-dsn or CARDBOX_STANDBY_DSN" in done.stderr, done


def test_the_primary_is_a_standby():
    """It is said, once, and when it is one no more."""
    postgres, dsn = primary()
    other = postgres.standby()
    of = Server(other.there(dsn), "--read-only", "--standby-dsn", standby()[1])
    await_(lambda: "dsn_is_standby" in of.log(), of.log)
    assert "--standby-dsn is not used" in of.log(), of.log()
    other.promote()
    await_(lambda: "dsn_is_primary" in of.log(), of.log)
    assert of.log().count("dsn_is_standby") == 1, of.log()
    of.stop()


def test_a_token_is_the_primarys():
    """One that was just revoked is not good, however far behind the standby is."""
    dsn = primary()[0].database()
    token = cardbox("token", "create", "--dsn", dsn, "--name", "t", "--all-tenants", "--scope", "read,write,admin").stdout.strip()
    headers = {"Authorization": f"Bearer {token}"}
    with paused():
        of = Server(dsn, "--standby-dsn", as_role(standby()[0].there(dsn), "cardbox_app"), auth=True)
        await_(lambda: of.get("/projects/p/cards/none", headers).status == 404)
        cardbox("token", "revoke", "--dsn", dsn, "t")
        await_(lambda: of.get("/projects/p/cards/none", headers).status == 401)
        of.stop()


if __name__ == "__main__":
    cardbox_test.main()
