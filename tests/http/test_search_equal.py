#!/usr/bin/env python3
"""The hits of a search equal a scan of all cards with the tokeniser of tests/lib/search_words.py, and for two adjacent
CJK characters a plain substring scan. Cards of six languages in databases with LC_CTYPE C and en_US.UTF-8.

CARDBOX_SEARCH_CARDS is the number of cards; default 600.
"""

import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
import search_data
import search_words
from cardbox_test import Postgres, Server, Skip, as_role, await_, cardbox, once, temp_dir

CARDS = int(os.environ.get("CARDBOX_SEARCH_CARDS", "600"))
QUERIES = 12  # of each language
HITS_MOST = 2000  # queries with more hits take long
LOCALES = {"C": "C", "en_US": "en_US.UTF-8"}


def make_locale(name):
    installed = subprocess.run(["locale", "-a"], check=True, capture_output=True, text=True).stdout.lower().split()
    if name == "C" or name.lower().replace("-", "") in installed:
        return
    made = subprocess.run(["localedef", "-i", "en_US", "-f", "UTF-8", name], capture_output=True, text=True)
    if made.returncode > 1:
        raise Skip(f"there is no locale {name}: {made.stderr}")


@once
def cluster():
    """A cluster that has begun after the locales were made: PostgreSQL finds no others."""
    for ctype in LOCALES.values():
        make_locale(ctype)
    return Postgres()


@once
def cards():
    """The searchable text of each card."""
    return [search_words.text_of(search_data.content(number)[:search_words.TEXT_CHARS]) for number in range(CARDS)]


@once
def queries():
    """Words, identifiers, and adjacent characters of some cards, and what is in none."""
    dice = random.Random(20)
    chosen = ["nowhere-to-be-found", "檢討"]
    for language in range(len(search_data.LANGUAGES)):
        for _ in range(QUERIES):
            text = search_data.text(dice.randrange(CARDS // 6) * 6 + language)
            words = re.findall(r"[\w/.]+", text)
            word = dice.choice(words)
            if search_data.LANGUAGES[language] in ("chinese", "japanese"):
                at = dice.randrange(max(1, len(word) - 1))
                word = word[at:at + dice.choice((1, 2, 2, 3))]
            chosen += [word, f"{word} {dice.choice(words)[:2]}"] if dice.random() < 0.3 else [word]
    return list(dict.fromkeys(chosen))


@once
def expected():
    """The cards that each query matches: of the cards with all of its terms, those that the tokeniser confirms."""
    postings = {}
    for number, text in enumerate(cards()):
        for term in search_words.terms(text):
            postings.setdefault(term, []).append(number)
    found = {}
    for query in queries():
        looked_up = [set(postings.get(term, ())) for term in search_words.lookups(query)]
        candidates = set.intersection(*looked_up) if looked_up else set()
        found[query] = sorted(search_data.card_id(number) for number in candidates if search_words.matches(query, cards()[number]))
    return found


@once
def substrings():
    """Pairs of adjacent CJK characters, and the cards whose text has them."""
    dice = random.Random(21)
    pairs = []
    while len(pairs) < 3 * QUERIES:
        text = search_data.text(dice.randrange(CARDS // 6) * 6 + dice.choice((3, 4)))
        at = dice.randrange(len(text) - 1)
        if all(search_words.CJK.match(char) for char in text[at:at + 2]):
            pairs.append(text[at:at + 2])
    return {pair: sorted(search_data.card_id(number) for number, text in enumerate(cards()) if pair in text) for pair in pairs}


def loaded(name, ctype):
    """A server of a new database with the cards in project `p`, and others in project `q`."""
    postgres = cluster()
    owner = re.sub(r"dbname=\S+", f"dbname=search_{name}_{os.getpid()}".lower(), postgres.database(migrate=False))
    database = re.search(r"dbname=(\S+)", owner).group(1)
    postgres.psql(re.sub(r"dbname=\S+", "dbname=postgres", owner),
                  f"CREATE DATABASE {database} OWNER cardbox TEMPLATE template0 LC_CTYPE '{ctype}' LC_COLLATE '{ctype}'")
    cardbox("migrate", "--dsn", owner)
    postgres.psql(owner, "GRANT cardbox_service TO cardbox_app")
    path = os.path.join(temp_dir(), "cards")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(search_data.copy_line("p", number) for number in range(CARDS))
        file.writelines(search_data.copy_line("q", number) for number in range(CARDS, CARDS + 200))
    subprocess.run(["psql", as_role(owner, "postgres"), "-Xq", "-v", "ON_ERROR_STOP=1", "-c",
                    f"\\copy cardbox.cards (tenant_id, card_id, content, metadata, created_at) FROM '{path}'"], check=True)
    server = Server(owner)
    await_(lambda: server.alive() and postgres.psql(owner, "SELECT count(*) FROM cardbox.search_queue").strip() == "0", server.log,
           seconds=60 + CARDS)
    return server


def hits(server, query):
    found, cursor = [], None
    while len(found) <= HITS_MOST:
        given = {"q": query, "limit": 100, **({"cursor": cursor} if cursor else {})}
        answer = server.post("/projects/p/abilities/search:find", given)
        assert answer.status == 200, (query, answer)
        found += [hit["id"] for hit in answer.json()["hits"]]
        cursor = answer.json()["cursor"]
        if cursor is None:
            break
    return found


def compare(server, of):
    compared = 0
    for query, ids in of.items():
        if len(ids) > HITS_MOST:
            continue
        found = hits(server, query)
        assert sorted(found) == ids, (query, len(found), len(ids), sorted(set(found) ^ set(ids))[:5])
        assert found == sorted(found, reverse=True), (query, "are not newest first")
        compared += 1
    print(json.dumps({"queries": compared, "hits": sum(map(len, of.values())), "cards": CARDS}))


def test_equality():
    for name, ctype in LOCALES.items():
        def case(name=name, ctype=ctype):
            server = loaded(name, ctype)
            compare(server, expected())
            compare(server, substrings())
            server.stop()
        yield name, case


if __name__ == "__main__":
    cardbox_test.main()
