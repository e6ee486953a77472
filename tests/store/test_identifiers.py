#!/usr/bin/env python3
"""No identifier in sql/ is a keyword of PostgreSQL 18 that can't name everything, so that the schema also works on
newer releases than that of the test."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from cardbox_test import ROOT, once, psql

# The names that the catalog has. The prefix is what a name is of.
NAMES = """
SELECT 'column of ' || c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'cardbox'::regnamespace AND c.relkind IN ('r', 'v', 'c') AND a.attnum > 0 AND NOT a.attisdropped
UNION SELECT 'relation', relname FROM pg_class WHERE relnamespace = 'cardbox'::regnamespace
UNION SELECT 'type', typname FROM pg_type WHERE typnamespace = 'cardbox'::regnamespace
UNION SELECT 'function', proname FROM pg_proc WHERE pronamespace = 'cardbox'::regnamespace
UNION SELECT 'parameter of ' || proname, unnest(proargnames) FROM pg_proc WHERE pronamespace = 'cardbox'::regnamespace
UNION SELECT 'trigger', tgname FROM pg_trigger
       WHERE tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'cardbox'::regnamespace) AND NOT tgisinternal
UNION SELECT 'policy', polname FROM pg_policy
UNION SELECT 'constraint', conname FROM pg_constraint WHERE connamespace = 'cardbox'::regnamespace
"""
RESTRICTED = "SELECT word FROM pg_get_keywords() WHERE catcode <> 'U' OR NOT barelabel"

# What follows a table or a closing bracket without being a name.
CLAUSES = ("all and as asc between both case check collate constraint cross default deferrable desc do else end except "
           "filter for from full group having ilike in inner intersect into is isnull join language left like limit natural "
           "not notnull null offset on or order over overlaps primary references returning right select set similar "
           "tablesample then union using values when where window with within without").split()


@once
def keywords():
    with open(os.path.join(ROOT, "tests", "store", "keywords_18.txt"), encoding="utf-8") as file:
        return {line.split()[1]: line.split()[0] for line in file if not line.startswith("#")}


def sources():
    for folder in ("migrations", "functions", "statements"):
        for name in sorted(os.listdir(os.path.join(ROOT, "sql", folder))):
            with open(os.path.join(ROOT, "sql", folder, name), encoding="utf-8") as file:
                text = re.sub(r"--[^\n]*", "", file.read())
            yield f"{folder}/{name}", re.sub(r"'(?:[^']|'')*'", "''", text)


def first_words(items):
    """The names in a list such as `a, b integer`."""
    return [item.split()[0] for item in items.split(",") if item.split()]


def names_in(text):
    """The names that a text without comments and literals defines: variables, aliases and labels."""
    found = []
    for block in re.findall(r"\bDECLARE\b(.*?)\bBEGIN\b", text, re.S):
        found += [line.split()[0] for line in block.split(";") if line.split()]
    for loop in re.findall(r"\bFOR(?:EACH)?\s+(\w+(?:\s*,\s*\w+)*)\s+(?:SLICE \d+ )?IN\b", text):
        found += first_words(loop)
    found += re.findall(r"\bAS\s+(?!SELECT\b)(\w+)", re.sub(r"\bCREATE DOMAIN\s+\S+\s+AS\b", "", text))
    for columns in re.findall(r"\bAS\s+\w+\s*\(([^()]*)\)", text):
        found += first_words(columns)
    for name, columns in re.findall(r"\b(\w+)\s*(?:\(([^()]*)\)\s*)?AS\s+(?:NOT\s+)?(?:MATERIALIZED\s+)?\(", text):
        found += [name, *first_words(columns)]
    for alias in re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+[\w.]+\s+(\w+)", text) + re.findall(r"\)\s+(\w+)", text):
        found += [] if alias.lower() in CLAUSES else [alias]
    return found


def refused(names):
    return [f"{of}: {name} is a keyword ({keywords()[name.lower()]})" for of, name in names if name.lower() in keywords()]


def test_keywords_of_this_server_are_listed():
    """The list is not complete if it lacks a keyword of the server of the test, which may be an older release."""
    missing = set(psql(cardbox_test.dsn(), RESTRICTED).split()) - set(keywords())
    assert not missing, sorted(missing)


def test_names_in_the_catalog():
    rows = [row.split("|") for row in psql(cardbox_test.dsn(), NAMES).splitlines()]
    assert len(rows) > 800, len(rows)
    assert not refused(rows), refused(rows)


def test_names_in_the_texts():
    rows = [(path, name) for path, text in sources() for name in names_in(text)]
    assert len(rows) > 1500, len(rows)
    assert not refused(rows), refused(rows)


def test_names_are_found():
    """Each kind of name that a text may define."""
    text = """DECLARE a1 text; a2 CONSTANT integer := 1; BEGIN FOR a3, a4 IN SELECT 1 LOOP FOREACH a5 IN ARRAY x LOOP
              WITH a6 AS (SELECT 1 AS a7), a8 (a9, a10) AS MATERIALIZED (SELECT x) SELECT FROM cardbox.cards a11
              JOIN cardbox.boxes a12 ON true CROSS JOIN unnest(y) AS a13(a14, a15) CROSS JOIN jsonb_each(z) a16
              UPDATE cardbox.cards a17 SET x = 1"""
    found = set(names_in(text))
    assert {f"a{n}" for n in range(1, 18)} <= found, found


if __name__ == "__main__":
    cardbox_test.main()
