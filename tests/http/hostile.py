"""The malformed requests of test_hostile.py: generators over a seeded random.Random.

Each yields Attempts. What is common to all of them (no 5xx, our error body where one is due, an
end within seconds) is checked by the test; an Attempt says what is special about it.
"""

import ctypes
import json
import struct

MARKER = b"smuggled-marker"
PREY = b"01970000-0000-7000-8000-0000000000ee"  # a box that may be deleted
SESSION = b"/projects/p/sessions/s"
CARDS_BATCH = b"/projects/p/cards/batch"
BOXES_BATCH = b"/projects/p/boxes/batch"
BOX = b"01970000-0000-7000-8000-000000000001"
SMUGGLED = b"GET /projects/p/cards/" + MARKER + b" HTTP/1.1\r\nHost: x\r\n\r\n"



def library_is_strict():
    """Whether libmicrohttpd sees what version 0.9.75 hides: folded lines, bare line feeds, and NULs and colons at the
    start of lines, which end the headers for it."""
    version = ctypes.CDLL("libmicrohttpd.so.12").MHD_get_version
    version.restype = ctypes.c_char_p
    return not version().startswith(b"0.9.75")


class Attempt:
    """Bytes to send, and how.

    ours: the request is good HTTP, so the answer must be ours, not libmicrohttpd's HTML.
    allowed: statuses of 500 and above that are right here.
    responses: how many there are at most. send: "open" waits for all of them; "half" too, or for
    silence, then closes our side and reads what else comes; "shut" closes it before; "leave" closes
    the connection at once, "reset" cuts it.
    """

    def __init__(self, data, ours=False, allowed=(), responses=1, send="half", pieces=None):
        self.data = data
        self.ours = ours
        self.allowed = allowed
        self.responses = responses
        self.send = send
        self.pieces = pieces  # bytes at a time


def request(method, path, body=None, headers=()):
    lines = [method + b" " + path + b" HTTP/1.1", b"Host: localhost"]
    lines += [name + b": " + value for name, value in headers]
    if body is not None:
        lines += [b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + (body or b"")


def post(path, body, headers=()):
    return request(b"POST", path, body, headers)


# --- bodies ---

VALID_BODIES = [
    (CARDS_BATCH, {"card_ids": ["a", "b", "ünï-😀", "a"]}),
    (BOXES_BATCH, {"box_ids": [BOX.decode()], "hydrate": True, "limit": 2}),
    (b"/projects/p/cards", {"card_id": "w1", "content": {"__type__": "TextContent", "text": "x"},
                            "metadata": {"type": "agent.thought", "step_id": "s"}, "ttl_seconds": 60}),
    (b"/projects/p/cards", {"cards": [{"card_id": "w2", "content": [1, 2.5, None]}], "strict": True}),
    (b"/projects/p/boxes", {"card_ids": ["a"], "parent_ids": [BOX.decode()]}),
    (b"/projects/p/boxes/" + BOX + b"/append", {"card_ids": ["a"], "expected_version": 1}),
    (b"/projects/p/boxes/" + BOX + b"/fork", {"at_length": 1}),
    (SESSION + b"/entries", {"entries": [{"id": "e", "type": "user", "content": "x"}, {"type": "label",
                                          "targetId": "e", "label": "l"}]}),
    (SESSION + b"/entries", {"entry": {"type": "message", "message": {"role": "user", "content": []}},
                             "expected_version": 2}),
    (SESSION + b"/fork", {"entry_id": "e", "session_id": "f"}),
]

NASTY = [b"\x00", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\\u0000", b"\\ud800", b"\\u12", b"\\x41",
         b"\xef\xbb\xbf", b"1e131071", b"-0", b"01", b"NaN", b"Infinity", b"-", b"1.", b".5", b"+1",
         b"9" * 400, b"[" * 200, b"{\"a\":" * 200, b"]" * 50, b"}", b"//x", b"/*x*/", b"'", b"\t",
         b"\x7f", b"\xe2\x80\xa8", b"nul", b"True", b",,", b"::", b"\"\"", b"{}", b"[]", b"null",
         b"\"card_ids\":[1],", b"\"limit\":1e5,", b"\n\n", b"\\\"", b"\xf4\x90\x80\x80"]


def mutate(rng, body):
    """One to four changes anywhere in the bytes."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(body) + 1)
        span = rng.randint(1, 12)
        body = rng.choice([
            lambda: body[:at] + rng.choice(NASTY) + body[at:],
            lambda: body[:at] + rng.choice(NASTY) + body[at + span:],
            lambda: body[:at] + body[at + span:],
            lambda: body[:at] + bytes([rng.randrange(256)]) + body[at + 1:],
            lambda: body[:at] + body[at:at + span] * rng.randint(2, 50) + body[at + span:],
            lambda: body[:at],
        ])()
    return body


def junk_json(rng):
    while True:
        path, value = rng.choice(VALID_BODIES)
        body = json.dumps(value, ensure_ascii=rng.random() < 0.5).encode()
        yield Attempt(post(path, mutate(rng, body)), ours=True, send="open")


def any_value(rng, depth=0):
    simple = [None, True, False, 0, -1, 1.5, 2 ** 31, 2 ** 63, 2 ** 64, -2 ** 63 - 1, 10 ** 40, 1e300,
              "", "x", "\0", "\ud800", "a" * 600, BOX.decode(), "1", "true", "💥"]
    kind = rng.random()
    if depth > 2 or kind < 0.6:
        return rng.choice(simple)
    if kind < 0.8:
        return [any_value(rng, depth + 1) for _ in range(rng.randrange(6))]
    return {rng.choice(["a", "", "card_id", "content", "\0", "__type__", "🙂"]):
            any_value(rng, depth + 1) for _ in range(rng.randrange(4))}


def wrong_types(rng):
    """Well-formed JSON whose members have any type at all, or are missing, or too many."""
    names = ["card_ids", "box_ids", "hydrate", "limit", "cards", "card_id", "content", "metadata",
             "tool_calls", "tool_call_id", "ttl_seconds", "strict", "sealed", "restore", "box_id",
             "parent_ids", "entry", "entries", "entry_id", "session_id", "expected_version", "at_version", "at_length", "unknown"]
    while True:
        path, value = rng.choice(VALID_BODIES)
        value = dict(value)
        for _ in range(rng.randint(1, 3)):
            name = rng.choice([*value, *names])
            value[name] = any_value(rng)
        if rng.random() < 0.1:
            value = any_value(rng)
        if rng.random() < 0.05:
            value = {"card_ids": [f"id{n}" for n in range(rng.choice([100, 101, 5000]))]}
        yield Attempt(post(path, json.dumps(value).encode()), ours=True, send="open")


# --- request lines ---

SEGMENTS = [b"%00", b"a%00b", b"%", b"%4", b"%zz", b"%G1", b"%c0%af", b"%ed%a0%80", b"%ff", b"%f4%90%80%80",
            b"..", b".", b"%2e%2e", b"%2F", b"%2f..%2f", b"", b"a+b", b"%0d%0aX: y", b"%07", b"%7f",
            b"a" * 256, b"a" * 513, b"%41" * 300, b"batch", b"cards", b"boxes", b"projects", b"p", BOX,
            BOX.upper(), b"~", b";x=y", b"@", b"'", b"\"", b"\\", b"|", b"{}", b"\xc3\xbc", b"\xff",
            b"%E2%82%AC", b"*", b"null", b"-1", b"%25", b"%2500", b"a/b/c/d/e/f/g"]
QUERIES = [b"", b"?", b"?limit=", b"?limit=x", b"?limit=2.5", b"?limit=%00", b"?limit=1&limit=2", b"?limit=%zz",
           b"?limit=-99999999999999999999", b"?LIMIT=1", b"?" + b"a=b&" * 500, b"?cursor=%ff%ff", b"?cursor=AAAA",
           b"?leaf=%ff", b"?leaf=e&compare=%00", b"?lines=-1", b"?format=", b"?a=e&b=e", b"?a=e&b=",
           b"?at_version=x", b"?at_time=yesterday", b"?at_length=-1", b"?&&&===", b"?%", b"?=", b"?limit=1e3",
           b"?meta.a=b&meta.=c", b"?created_after=99999-01-01T00:00:00Z", b"?limit=0x10", b"?limit= 1"]


def bad_paths(rng):
    prefixes = [b"/projects/p/cards/", b"/projects/p/boxes/", b"/projects/", b"/", SESSION + b"/",
                SESSION + b"/entries/", SESSION + b"/context", SESSION + b"/diff", SESSION + b"/tree", b"/projects/p/boxes/" + BOX + b"/",
                b"", b"//", b"http://localhost/projects/p/cards/", b"http://", b"ui/../", b"/ui/", b"/docs/"]
    while True:
        path = rng.choice(prefixes) + b"/".join(rng.choice(SEGMENTS) for _ in range(rng.randint(1, 3)))
        path += rng.choice(QUERIES)
        method = rng.choice([b"GET", b"GET", b"GET", b"HEAD", b"POST", b"PUT", b"DELETE"])
        body = b"{}" if method in (b"POST", b"PUT") else None
        yield Attempt(request(method, path, body), allowed=(505,))


def wild_methods(rng):
    known = [b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE", b"CONNECT", b"PROPFIND", b"get", b"Post", b"HEAD"]
    while True:
        method = rng.choice([*known, bytes(rng.choices(range(33, 127), k=rng.randint(1, 40))),
                             b"A" * rng.choice([100, 2000, 70000])])
        path = rng.choice([b"/projects/p/cards/prey", b"/projects/p/boxes/" + PREY, CARDS_BATCH, BOXES_BATCH,
                           b"/healthz", b"/metrics", b"/nowhere"])
        body = rng.choice([None, b"{}", b"x" * 100])
        # A method with a slash or a colon may read as another kind of line; 501 is fine for one
        # that nobody knows.
        yield Attempt(request(method, path, body), allowed=(501, 505))


# --- headers ---


def bad_headers(rng):
    lines = [b"No-Colon", b": no name", b"Spa ce: x", b"X-Nul: a\x00b", b"X-High: \xff\xfe", b"X: " + b"y" * 100000,
             b"\x00", b"X\x00Y: 1", b" folded: start", b"Content-Type: text/plain", b"Content-Type: ;;;",
             b"Content-Type: application/json; charset=utf-16", b"Content-Encoding: gzip",
             b"Accept-Encoding: gzip;q=x, *;q=-1", b"Accept: \x01", b"If-None-Match: \"", b"If-None-Match: W/*, *",
             b"If-Match: \"99999999999999999999\"", b"Idempotency-Key: " + b"k" * 5000, b"Idempotency-Key: a\x00b",
             b"X-Request-Id: a\x00b", b"X-Request-Id: " + b"i" * 3000, b"X-Request-Id: \xff", b"X-Request-Id: <script>",
             b"Authorization: Bearer", b"Authorization: Bearer \x00", b"Authorization: Basic !!!", b"traceparent: 00-zz",
             b"traceparent: " + b"0" * 4000, b"Expect: 200-maybe", b"Connection: \x00, close, upgrade", b"Upgrade: h2c",
             b"Range: bytes=9-1", b"Origin: \"><", b"Cookie: " + b"a=b; " * 400, b"Cardbox-Lsn: FFFFFFFFF/0", b"Host: a\r\nHost: b",
             b"Content-Length: 0\r\nContent-Length: 0", b"Trailer: X", b"TE: trailers, deflate;q=0.5"]
    while True:
        chosen = rng.sample(lines, rng.randint(1, 3))
        if rng.random() < 0.05:
            chosen = [b"X-%d: y" % n for n in range(rng.choice([100, 1000, 5000]))]
        start = rng.choice([b"GET /projects/p/cards/a HTTP/1.1", b"POST " + CARDS_BATCH + b" HTTP/1.1",
                            b"GET /projects/p/boxes/" + BOX + b"/cards HTTP/1.1", b"GET /healthz HTTP/1.1",
                            b"POST /projects/p/boxes/" + BOX + b"/append HTTP/1.1"])
        end = rng.choice([b"\r\n\r\n", b"\r\n\r\n", b"\n\n"])
        yield Attempt(b"\r\n".join([start, b"Host: x", *chosen]) + end)


def bad_start_lines(rng):
    """Not quite HTTP, and not HTTP at all."""
    lines = [b"GET /healthz HTTP/9.9", b"GET /healthz HTTP/1.15", b"GET /healthz http/1.1", b"GET /healthz", b"GET",
             b"GET  /healthz  HTTP/1.1", b"GET\t/healthz\tHTTP/1.1", b"GET /health z HTTP/1.1", b" GET /healthz HTTP/1.1",
             b"PRI * HTTP/2.0", b"GET /" + b"a" * 200000 + b" HTTP/1.1", b"\r\n\r\n\r\nGET /healthz HTTP/1.1", b"HTTP/1.1 200 OK",
             b"GET /healthz HTTP/1.1 extra", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET /healthz HTTP/0.9"]
    while True:
        if rng.random() < 0.5:
            data = bytes(rng.randrange(256) for _ in range(rng.choice([1, 10, 100, 1000, 40000])))
        else:
            data = rng.choice(lines) + b"\r\nHost: x\r\n\r\n"
        yield Attempt(data, allowed=(505,))


# --- framing ---


def smuggling(rng):
    """Two readings of where a request ends: the second request inside must never be answered.

    What version 0.9.75 of libmicrohttpd hides is left out with it: a server that strangers reach then has a proxy
    before it (test_proxies.py).
    """
    start = b"POST " + CARDS_BATCH + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    chunked = b"0\r\n\r\n" + SMUGGLED
    inner = len(SMUGGLED)
    forms = [
        b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n" % len(chunked) + chunked,
        b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n" % len(chunked) + chunked,
        b"Content-Length: 2\r\nContent-Length: %d\r\n\r\n{}" % (2 + inner) + SMUGGLED,
        b"Content-Length: %d\r\nContent-Length: 2\r\n\r\n{}" % (2 + inner) + SMUGGLED,
        b"Content-Length : %d\r\n\r\n" % inner + SMUGGLED,
        b"Content-Length: 2, %d\r\n\r\n{}" % (2 + inner) + SMUGGLED,
        b"Content-Length: +2\r\n\r\n{}" + SMUGGLED,
        b"Content-Length: 0x2\r\n\r\n{}" + SMUGGLED,
        b"Content-Length: -1\r\n\r\n{}" + SMUGGLED,
        b"Content-Length: 18446744073709551618\r\n\r\n{}" + SMUGGLED,
        b"Transfer-Encoding: gzip\r\n\r\n" + chunked,
        b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked,
        b"Transfer-Encoding: chunked, identity\r\n\r\n" + chunked,
        b"Transfer-Encoding : chunked\r\n\r\n" + chunked,
        b"Transfer-Encoding: xchunked\r\nContent-Length: %d\r\n\r\n" % len(chunked) + chunked,
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunked,
        b"Transfer-Encoding:\x0bchunked\r\nContent-Length: %d\r\n\r\n" % len(chunked) + chunked,
        b"Content-Length: %d\r\nTransfer-Encoding:\r\n chunked\r\n\r\n" % len(chunked) + chunked,
    ]
    if library_is_strict():
        forms += [b"\0\r\n" + SMUGGLED, b": x\r\n" + SMUGGLED, b"\0: x\r\n" + SMUGGLED,
                  b"X: y\0\r\n\0\n" + SMUGGLED]
    while True:
        form = rng.choice(forms)
        if rng.random() < 0.3:
            form = form.replace(b"Content-Length", b"content-LENGTH").replace(b"Transfer", b"tRANSFER")
        yield Attempt(start + form, allowed=(501,))


def chunk(data):
    return b"%x\r\n" % len(data) + data + b"\r\n"


def bad_chunks(rng):
    start = b"POST " + CARDS_BATCH + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b'{"card_ids":["a"]}'
    forms = [
        chunk(body[:5]) + chunk(body[5:]) + b"0\r\n\r\n", chunk(body) + b"0\r\nTrailer: x\r\n\r\n",
        b"12;ext=\"x\"\r\n" + body + b"\r\n0\r\n\r\n", b"fffffffffffffffff\r\n" + body, b"7fffffffffffffff\r\n" + body,
        b"-1\r\n" + body, b"zz\r\n" + body, b"0x12\r\n" + body + b"\r\n0\r\n\r\n", b" 12\r\n" + body + b"\r\n0\r\n\r\n",
        b"12\n" + body + b"\n0\n\n", b"11\r\n" + body + b"\r\n0\r\n\r\n", b"13\r\n" + body + b"\r\n0\r\n\r\n", b"12\r\n" + body,
        b"12" + b";" * 40000 + b"\r\n", b"00000000000000000012\r\n" + body + b"\r\n0\r\n\r\n", chunk(b"x") * 3000 + b"0\r\n\r\n",
        b"\r\n\r\n", b"0\r\n" + b"T: x\r\n" * 3000 + b"\r\n",
    ]
    while True:
        yield Attempt(start + rng.choice(forms))


def truncated(rng):
    """Good requests cut anywhere."""
    while True:
        path, value = rng.choice(VALID_BODIES)
        data = post(path, json.dumps(value).encode(), [(b"X-Pad", b"p" * rng.randrange(200))])
        yield Attempt(data[:rng.randrange(len(data))], send=rng.choice(["half", "half", "reset"]))


def early_disconnects(rng):
    """A whole request, or several, from a client that is gone before the answer."""
    while True:
        path, value = rng.choice(VALID_BODIES[:2])
        data = rng.choice([post(path, json.dumps(value).encode()), request(b"GET", b"/projects/p/cards/a"),
                           request(b"GET", b"/projects/p/boxes/" + BOX + b"/cards")])
        yield Attempt(data * rng.randint(1, 4), send=rng.choice(["reset", "reset", "leave"]))


def half_closed(rng):
    """A client that has nothing more to say, and listens on."""
    while True:
        path = rng.choice([b"/projects/p/cards/a", b"/projects/p/cards/nope", b"/healthz", b"/nowhere"])
        yield Attempt(request(b"GET", path), ours=True, send="shut")


def pipelined(rng):
    """Good and bad requests in one go: each good one before the first that closes gets its answer."""
    good = request(b"GET", b"/projects/p/cards/a")
    while True:
        count = rng.randint(2, 10)
        data = b"".join(rng.choice([good, post(CARDS_BATCH, b"{"), request(b"GET", b"/projects/p/cards/%00")])
                        for _ in range(count))
        yield Attempt(data, ours=True, responses=count, send="open")


def oversized(rng):
    """More than the limits: refused with 413, without reading or keeping it all."""
    body = b'{"card_ids":["' + b"x" * (9 << 20) + b'"]}'
    start = b"POST " + CARDS_BATCH + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    forms = [post(CARDS_BATCH, body),
             start + b"Content-Length: 1000000000000\r\n\r\n" + b"x" * 1000,
             start + b"Content-Length: 9223372036854775807\r\n\r\n{}",
             start + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(body[:1 << 16]) * 200 + b"0\r\n\r\n",
             start + b"Content-Length: 1000000000000\r\nExpect: 100-continue\r\n\r\n"]
    while True:
        yield Attempt(rng.choice(forms))


def dribbled(rng):
    """Good and bad requests a few bytes at a time."""
    sources = [junk_json(rng), bad_headers(rng), smuggling(rng), bad_chunks(rng)]
    while True:
        attempt = next(rng.choice(sources))
        if len(attempt.data) < 2000:
            attempt.pieces = max(1, len(attempt.data) // rng.randint(20, 60))
            yield attempt


def linger_zero():
    """The socket option that makes close() send a reset."""
    return struct.pack("ii", 1, 0)
