#!/usr/bin/env python3
"""Markdown in the inspector: what becomes of it, that no text is lost, that none becomes more than the elements
that are meant, and that hostile texts take no longer than others of their length."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test
from browser import no_complaints
from web_data import HOSTILE, UNSEEN, server, visit

ELEMENTS = {"p", "h3", "h4", "h5", "h6", "em", "strong", "del", "code", "pre", "ul", "ol", "li", "blockquote", "div",
            "table", "thead", "tbody", "tr", "th", "td", "a", "hr", "span"}
ATTRIBUTES = {"class", "dir", "value", "href", "title", "target", "rel"}
SEED = 20
# Pieces that random texts are made of.
PIECES = ["*", "**", "***", "_", "__", "~~", "`", "``", "```", "~~~", "[", "](", "](https://e.example/x)", ")", "![", "\\",
          "> ", "- ", "1. ", "12) ", "# ", "\n", "\n\n", "|", "|---|", "|-|-|\n", "    ", "\t", " ", "a", "bc", "é", "\u202e",
          "\u200b", "<b>", "</p>", "---", "https://h.example/j", "javascript:x", "漢", "😀", "(", "]", "\r\n", *HOSTILE]
LONG = 100_000  # characters of hostile texts


def page_with_markdown():
    """A page in which `draw(text)` gives an element with the text as Markdown."""
    browser = visit("/ui/#/demo/cards")
    browser.run("return import('./markdown.js').then(({ markdown, prose }) => { window.prose = prose; window.draw = (text) => {"
                "  const made = document.createElement('div'); made.append(...markdown(text)); return made; }; })")
    return browser


def html(browser, text):
    """What a text becomes, without attributes; the page's own serialiser writes it."""
    return browser.run("const made = draw(arguments[0]); for (const one of made.querySelectorAll('*'))"
                       "  for (const name of one.getAttributeNames()) if (name !== 'href') one.removeAttribute(name);"
                       "return made.innerHTML", text)


def test_what_it_becomes():
    browser = page_with_markdown()
    for text, wanted in (
            ("# One\n###### Six\n#no", "<h3>One</h3><h6>Six</h6><p>#no</p>"),
            ("a **b _c_** `d **e**`\nf", "<p>a <strong>b <em>c</em></strong> <code>d **e**</code>\nf</p>"),
            ("***a*** ~~b~~ snake_case_it 2 * 3 * 4 \\*c\\*", "<p><strong><em>a</em></strong> <del>b</del> snake_case_it 2 * 3 * 4 *c*</p>"),
            ("**open and *closed*", "<p>**open and <em>closed</em></p>"),
            ("- a\n- b\n  - c\n\n  d\n", "<ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul><p>d</p></li></ul>"),
            ("3. a\n   ```\n   b\n     c\n   ```\n4. d", "<ol><li><p>a</p><div><pre><code>b\n  c</code></pre></div></li><li><p>d</p></li></ol>"),
            ("> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"),
            ("| a | b |\n|---|:-:|\n| 1 | `x\\|y` |\n| 2 |", "<div><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td>"
             "<td><code>x|y</code></td></tr><tr><td>2</td></tr></tbody></table></div>"),
            ("```py\n<b>\n", "<div><p>py</p><pre><code>&lt;b&gt;\n</code></pre></div>"),
            ("a\n\n---\nb", "<p>a</p><hr><p>b</p>"),
            ("<b>a</b> &amp;", "<p>&lt;b&gt;a&lt;/b&gt; &amp;amp;</p>")):
        assert html(browser, text) == wanted, (text, html(browser, text))
    no_complaints(browser)


def test_links():
    """They lead to other hosts only where the text shows that, and take nothing along; images are links."""
    browser = page_with_markdown()
    anchor = '<a href="{0}">{1}</a>'
    for text, wanted in (
            ("[a](https://b.example/c_(d))", anchor.format("https://b.example/c_(d)", "a") + " <span>https://b.example/c_(d)</span>"),
            ("![a](http://b.example/p.gif)", anchor.format("http://b.example/p.gif", "<span>image: </span>a") +
             " <span>http://b.example/p.gif</span>"),
            ("see (https://a.example/b).", f"see ({anchor.format(*['https://a.example/b'] * 2)})."),
            ("[[1]](mailto:a@b.example)", anchor.format("mailto:a@b.example", "[1]") + " <span>mailto:a@b.example</span>"),
            ("[https://a.example](https://b.example)", anchor.format("https://b.example", "https://a.example") + " <span>https://b.example</span>"),
            *((text, text) for text in ("[a](javascript:alert(1))", "[a](data:text/html,x)", "[a](//b.example)", "[a](b.html)",
                                        "![a](file:///etc/passwd)", "[a](https://\u0430.example)", "[a](JaVaScript:x)"))):
        assert html(browser, text) == f"<p>{wanted}</p>", (text, html(browser, text))
    assert browser.run("return Object.fromEntries([...draw('[a](https://b.example)').querySelector('a').attributes]"
                       ".map(({ name, value }) => [name, value]))") == {
        "href": "https://b.example", "title": "https://b.example", "target": "_blank", "rel": "noopener noreferrer nofollow"}
    no_complaints(browser)


def test_random_texts():
    """No letter is lost or moved, and nothing but the elements that are meant arises."""
    browser = page_with_markdown()
    source = random.Random(SEED)
    texts = ["".join(source.choices(PIECES, k=source.randint(1, 60))) for _ in range(4000)]
    found = browser.run(
        "const [texts] = arguments; const elements = new Set(); const attributes = new Set(); const wrong = [];"
        "const letters = (text) => text.replace(/[^\\p{L}<>]/gu, '');"
        "for (const text of texts) {"
        "  const made = draw(text);"
        "  for (const one of made.querySelectorAll('*')) { elements.add(one.localName);"
        "    for (const name of one.getAttributeNames()) attributes.add(name);"
        "    if (one.href && !/^(https?|mailto):/.test(one.href)) wrong.push([text, one.href]); }"
        "  for (const one of made.querySelectorAll('.unseen, .faint')) one.remove();"
        "  const want = letters(text).replace(/>/g, ''); const got = letters(made.textContent).replace(/>/g, '');"
        "  if (want !== got) wrong.push([text, want, got]); }"
        "return [[...elements], [...attributes], wrong.slice(0, 3)]", texts)
    assert not found[2], f"seed {SEED}: {found[2]}"
    assert set(found[0]) <= ELEMENTS and set(found[1]) <= ATTRIBUTES, found[:2]
    assert browser.run("return document.pwned") is None
    no_complaints(browser)


def hostile_texts():
    """Each is a text that grows with n characters, such that a careless reader needs the square of them."""
    repeated = ["*a ", "**a** ", "_a", "[", "![", "[a](", "](", "[[](https://a.example)", "`a``b", ">", "> - ", "- ", "1. a\n", "|", "a|b\n-|-\n",
                "\u200b", "\u202e", " ", "\n", "- a\n\n\n\n", "-", "https://", "](()", "```\n", "\\", "# ", "~~a", "*_`[", "<div>", "😀"]
    for unit in repeated:
        yield unit, lambda n, unit=unit: unit * (n // len(unit))
    yield "deeper and deeper", lambda n: "\n".join(" " * min(2 * i, 1000) + "- x" for i in range(n // 1000))
    yield "10,000 quotes", lambda n: (">" * 10000 + " x\n") * (n // 10000)
    yield "runs of all lengths", lambda n: " ".join("`" * i for i in range(int((2 * n) ** 0.5)))
    yield "a pair of parentheses each", lambda n: "](" + "()a" * (n // 3)
    yield "a fence that is none", lambda n: "~" * n + "`"
    yield "a heading with a return", lambda n: "# " + " " * n + "\r."
    yield "a line of dashes that is none", lambda n: "a|b\n" + "-" * n + "x"


def test_hostile_texts_stay_linear():
    """Ten times the text may take more than ten times as long, but not the hundred times of a square. Counted are the
    characters that regular expressions and slices are given: the clock of a busy machine says nothing. If a regular
    expression tries the square of a text, the browser's script ends at its time limit."""
    browser = page_with_markdown()
    browser.run("window.work = 0; const count = (object, name, of) => { const real = object[name];"
                "  object[name] = function (...given) { work += of(this, given) + 1; return real.apply(this, given); }; };"
                "count(String.prototype, 'slice', (text, [from = 0, to = text.length]) => Math.max(0, to - from));"
                "count(String.prototype, 'replaceAll', (text) => text.length); count(String.prototype, 'split', (text) => text.length);"
                "count(String.prototype, 'trim', (text) => text.length); count(Array.prototype, 'slice', (all, [from = 0, to = all.length]) => Math.max(0, to - from));"
                "count(RegExp.prototype, 'test', (_, [text]) => (text ?? '').length);"
                "const exec = RegExp.prototype.exec; RegExp.prototype.exec = function (text) { const from = this.lastIndex;"
                "  const found = exec.call(this, text); work += this.global || this.sticky ? (found ? this.lastIndex - from : 0) : String(text).length;"
                "  return found; };")
    for name, make in hostile_texts():
        works = [browser.run("work = 0; draw(arguments[0]); return work", make(n)) for n in (LONG // 10, LONG)]
        assert works[1] < 25 * works[0] + 20 * LONG, (name, works)
    no_complaints(browser)


def test_as_text():
    """A button shows exactly what was written; a text without marks needs none."""
    text = "# Plan\n1. **Keep** `five`\n" + UNSEEN
    for identifier, said in (("md", text), ("plain", "no marks"), ("md-long", "*start*\n" + "- one more\n" * 400)):
        assert server().post("/projects/demo/cards", {"card_id": identifier, "content": {"__type__": "TextContent", "text": said},
                                                      "metadata": {"role": "assistant"}}).status == 200
    browser = visit("/ui/#/demo/card/md")
    browser.wait("return document.querySelector('main .markdown h3')")
    assert browser.texts("main .markdown ol strong") == ["Keep"]
    browser.click("main [data-do=as-text]")
    exact = browser.run("return document.querySelector('main .content .text').innerText")
    assert exact.startswith("# Plan\n1. **Keep** `five`\n") and "U+202E" in exact, exact
    browser.click("main [data-do=as-text]")
    browser.wait("return document.querySelector('main .markdown h3')")
    visit("/ui/#/demo/card/md-long")
    browser.wait("return document.querySelector('main .markdown .fold, main .fold')")
    assert browser.run("return document.querySelectorAll('main .markdown li').length") < 20
    browser.click("main .content .fold")
    assert browser.run("return document.querySelectorAll('main .markdown li').length") == 400
    visit("/ui/#/demo/card/plain").await_text("no marks")
    assert not browser.texts("main [data-do=as-text]")
    no_complaints(browser)


def test_no_character_is_cut_in_half():
    """What is shown in short ends before a character that has no room, also in names and ids."""
    browser = page_with_markdown()
    texts = browser.run("return import('./dom.js').then(({ block, oneLine, sentence, shortId }) => ['', 'a'].flatMap((before) => {"
                        "  const text = before + '😀'.repeat(2000); return [block(text).innerHTML, oneLine(text, 100), sentence(text),"
                        "    shortId(text).innerHTML]; }))")
    for text in texts:
        assert "😀" in text and "U+D83D" not in text and "U+DE00" not in text and text.isprintable(), text
    no_complaints(browser)


def test_what_tools_print_is_no_markdown():
    printed = "__init__.py\n* not a list *"
    assert server().post("/projects/demo/cards", {"card_id": "printed", "content": printed, "metadata": {"role": "tool"}}).status == 200
    browser = visit("/ui/#/demo/card/printed")
    browser.wait("return document.querySelector('main .content .text')")
    assert browser.texts("main .content .text") == [printed]
    no_complaints(browser)


if __name__ == "__main__":
    cardbox_test.main()
