#!/usr/bin/env python3
"""The checker of prose itself, on small texts. `make lint` runs these cases too."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cardbox_test
import prose


def rules_of(text, lines=0, path="src/a.c"):
    return [finding.rule for finding in prose.findings_in(prose.Text(path, 1, "comment", text, lines))]


def test_prose_rules():
    for text, expected in (
            ("Returns the card.", []),
            ("Returns false anew.", ["word"]),
            ("The row, of which nothing is left, is gone.", ["word"]),
            ("The test in code `takes` is no word of a sentence.", []),
            ("A placeholder and a runway are other words.", []),
            ("An agent's turn ends.", []),
            ("Servers work in turn.", ["word"]),
            ("What is read.", ["start"]),
            ("What is read?", []),
            ("whether it is read", ["start"]),
            ("It is read. Of these one is left.", ["start"]),
            ("Offsets are numbers.", []),
            (" ".join(["word"] * 30) + ".", []),
            (" ".join(["word"] * 31) + ".", ["long"]),
            ("Reads `a b c d e f g h`, " + " ".join(["word"] * 28), [])):
        assert rules_of(text) == expected, (text, rules_of(text))
    assert rules_of("Returns the card.", lines=5) == [] and rules_of("Returns the card.", lines=6) == ["comment"]


def texts(reader, text, path="src/a.c"):
    return [(one.kind, " ".join(one.text.split()), one.lines) for one in reader(path, text)]


def test_prose_of_c():
    source = ('/*\n * a.c: reads\n * cards.\n */\n#include "base/a b c d.h"\n'
              '/* Frees\n * all. */\nerror("no card of this id" " was found");\nf("ok", "a %s"); // no\n')
    assert texts(prose.c_texts, source) == [
        ("comment", "a.c: reads cards.", 0), ("comment", "Frees all.", 2),
        ("message", "no card of this id was found", 0)], texts(prose.c_texts, source)
    assert texts(prose.c_texts, "int a;\n/* b\n * c. */\n", "include/a.h")[0][2] == 0, "public documentation may be long"
    tags = texts(prose.c_texts, "int a;\n/** Reads.\n * @param a  the card\n * @return it */\n")[0]
    assert tags[2] == 3 and len(prose.sentences(prose.comment_text("/** Reads.\n * @param a  b\n * @return c */")[0])) == 3, tags


def test_prose_of_js():
    source = ("// a.js: reads\n// cards.\nconst address = 'http://a'; // of b\n/** Frees\n * all. */\n"
              "function f() { // the one\n}\nconst c = `\n  d // e`;\n")
    assert texts(prose.js_texts, source) == [
        ("comment", "`a.js`: reads cards.", 0), ("comment", "of b", 1), ("comment", "Frees all.", 2),
        ("comment", "the one", 1)], texts(prose.js_texts, source)


def test_prose_of_sql():
    source = ("-- a: the purpose.\n-- More.\nSELECT 1; -- one\n  RAISE EXCEPTION 'the card % can not be read';\n"
              "SELECT 'a b c d e';\n")
    assert texts(prose.sql_texts, source) == [
        ("comment", "a: the purpose. More.", 0), ("comment", "one", 1),
        ("message", "the card % can not be read", 0)], texts(prose.sql_texts, source)


def test_prose_of_guides():
    source = ("# How to read\nText with [a link](x.md) and `code`.\n- item one\n  goes on\n\n| a cell here | another cell |\n"
              "```sh\nno prose here\n```\n")
    assert [one[1] for one in texts(prose.guide_texts, source)] == [
        "How to read", "Text with a link and `code`.", "item one goes on", "a cell here", "another cell"]


def test_prose_of_manuals():
    source = ".\\\" no\n.Sh NAME\n.Nm\nreads\n.Pa /a .\n.Pp\nSecond one.\n.Bd -literal\nno prose\n.Ed\n.TP\n.B tag\nIts text.\n"
    assert [one[1] for one in texts(prose.manual_texts, source, "src/b.1")] == ["b reads /a.", "Second one.", "Its text."]


def test_prose_of_descriptions():
    source = "a:\n  description: One line.\n  b:\n    - summary: >-\n        Two\n        lines.\n      type: x\n"
    assert [one[1] for one in texts(prose.description_texts, source, "a.yaml")] == ["One line.", "Two lines."]
    assert [one[1] for one in texts(prose.description_texts, '{"description": "A \\"b\\"."}', "a.json")] == ['A "b".']


def test_prose_record_only_shrinks():
    found = [prose.Finding("a.c", 1, "word", "x"), prose.Finding("a.c", 2, "word", "y"), prose.Finding("b.c", 1, "long", "z")]
    assert list(prose.differences(found, {("a.c", "word"): 2, ("b.c", "long"): 1})) == []
    more = list(prose.differences(found, {("a.c", "word"): 1, ("b.c", "long"): 1}))
    assert len(more) == 3 and more[0].startswith("a.c: 2 findings"), more
    fewer = list(prose.differences(found, {("a.c", "word"): 2, ("b.c", "long"): 4, ("c.c", "word"): 1}))
    assert len(fewer) == 2 and all("--record" in line for line in fewer), fewer
    assert prose.lowered(found, {("a.c", "word"): 1, ("b.c", "long"): 4}) == {("a.c", "word"): 1, ("b.c", "long"): 1}
    assert prose.lowered(found, None) == {("a.c", "word"): 2, ("b.c", "long"): 1}


if __name__ == "__main__":
    cardbox_test.main()
