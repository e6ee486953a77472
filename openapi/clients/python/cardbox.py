"""A client of CardBox in one file, with the standard library only. Python 3.9 or later.

    with CardBox("http://127.0.0.1:8099") as cardbox:
        session = cardbox.project("demo").session("chat")
        session.add({"role": "user", "content": "Why is it slow?"})
        messages = session.context()["messages"]

The names of members, parameters and answers are those of the OpenAPI document. Query parameters are keyword arguments.

A request that fails without an answer, or with 429, 502, 503 or 504, is sent again if it is safe to repeat. If a write
needs an id or a key to be safe, and the caller sets none, the client sets one. All other failures raise a CardBoxError.

The objects may be used by several threads: each thread has its own connection. The iterators of exports and events
belong to one thread.
"""

import http.client
import json
import random
import re
import select
import socket
import ssl
import threading
import time
import urllib.parse
import uuid
import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Union

__all__ = ["CardBox", "CardBoxError", "Event", "each_page", "uuid7"]

Json = Dict[str, Any]
Lines = Union[str, bytes, Iterable[Union[str, bytes]]]

_PAUSE_FIRST_S = 0.1
_PAUSE_MAX_S = 5.0
_RETRY_AFTER_MAX_S = 60  # with a longer Retry-After, the error is raised at once
_RETRIED = {429, 502, 503, 504}
_READING = re.compile(r"bus:.*|search:find|(card|box|session|ldg|task|usage):(.*:)?(get|batch|list|query|revisions|boxes|cards|"
                      r"context|log|entry|tree|children|leaves|branch_points|labels|path|diff|active)")


class CardBoxError(Exception):
    """Any failure of a request.

    status: the HTTP status; 0 if there is no answer.
    error_code: a stable code, such as `not_found`. Without an answer: `unreachable` or `timeout`. If the answer is not
        one of CardBox: `bad_answer`.
    message, hint: the problem, and the remedy if the server knows one.
    faults: the faults of the input, if it is invalid; each has `type`, `loc` and `msg`.
    request_id: the id of the request in the server's log.
    retry_after: the number of seconds to wait before another try.
    current_version: the present version of the box or session, if the error is a conflict of versions.
    """

    def __init__(self, status: int, error_code: str, message: str, *, hint: Optional[str] = None,
                 faults: Optional[List[Json]] = None, request_id: Optional[str] = None,
                 retry_after: Optional[float] = None, current_version: Optional[int] = None):
        super().__init__(message)
        self.status = status
        self.error_code = error_code
        self.message = message
        self.hint = hint
        self.faults = faults or []
        self.request_id = request_id
        self.retry_after = retry_after
        self.current_version = current_version

    def __str__(self) -> str:
        return f"{self.status} {self.error_code}: {self.message}" + (f" (hint: {self.hint})" if self.hint else "")


class Event(NamedTuple):
    """An event of a task. `id` is None if the event is not stored."""

    id: Optional[str]
    event: str
    data: Json


class _JsonText(str):
    """JSON that is sent as it is."""


class _Call(NamedTuple):
    method: str
    path: Sequence[str]
    query: Mapping[str, Any] = {}
    body: Any = None                                # a value that is sent as JSON, a _JsonText, or bytes that are sent as NDJSON
    headers: Mapping[str, Optional[str]] = {}
    safe: bool = True                               # may be sent again if the outcome is unknown
    exists: Optional[Callable[[], Json]] = None     # the answer if a repeated request finds the object of an earlier try (409)
    parse: Callable[[bytes], Any] = json.loads      # reads the answer


def uuid7() -> str:
    """A new UUIDv7."""
    value = (int(time.time() * 1000) << 80) | random.SystemRandom().getrandbits(80)
    value = (value & ~(0xF << 76) & ~(0x3 << 62)) | (0x7 << 76) | (0x2 << 62)
    return str(uuid.UUID(int=value))


def each_page(list_: Callable[..., Json], *arguments: Any, **query: Any) -> Iterator[Json]:
    """The pages of a list: `each_page(project.cards.list, type="tool.result")`."""
    while True:
        page = list_(*arguments, **query)
        yield page
        cursor = page.get("next_cursor") or page.get("cursor")  # of a search: cursor
        if cursor is None:
            return
        query["cursor"] = cursor


def _given(**members: Any) -> Json:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def _members_of_object(value: Any) -> Json:
    """The members of an object of the packages of OpenAI or Anthropic, as the API returned them."""
    if hasattr(value, "to_dict"):
        return value.to_dict(mode="json")
    raise TypeError(f"not a value of JSON: {type(value).__name__}")


def _encode(value: Any) -> bytes:
    if isinstance(value, _JsonText):
        return value.encode()
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_members_of_object)
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_members_of_object).encode()


def _file(lines: Lines) -> bytes:
    if isinstance(lines, (str, bytes)):
        return lines.encode() if isinstance(lines, str) else lines
    return b"".join((line.encode() if isinstance(line, str) else line).rstrip(b"\n") + b"\n" for line in lines)


def _query_value(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _parse(text: bytes, read: Callable[[bytes], Any] = json.loads) -> Any:
    try:
        return read(text)
    except ValueError:
        return None


def _error_of_response(response: http.client.HTTPResponse, text: bytes) -> CardBoxError:
    answer = _parse(text)
    answer = answer if isinstance(answer, dict) else {}
    detail = answer.get("detail")
    after = response.headers.get("Retry-After", "")
    more = {"request_id": response.headers.get("X-Request-Id"), "retry_after": float(after) if after.isdigit() else None}
    if isinstance(detail, dict) and isinstance(detail.get("error_code"), str):
        return CardBoxError(response.status, detail["error_code"], detail.get("error_message", ""), hint=detail.get("hint"),
                            faults=detail.get("faults"), current_version=detail.get("current_version"), **more)
    if isinstance(detail, list):
        return CardBoxError(response.status, "validation_failed", "the request is invalid", faults=detail, **more)
    words = detail if isinstance(detail, str) else f"the answer has the status {response.status}"
    return CardBoxError(response.status, "not_found" if response.status == 404 else "bad_answer", words,
                        hint=answer.get("hint"), **more)


class _ThreadConnection:
    """The connection of one thread. It is closed when the thread has ended."""

    def __init__(self, connection: http.client.HTTPConnection):
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class _Transport:
    """Sends requests to one server."""

    def __init__(self, url: str, token: Optional[str], tries: int, timeout: float, context: Optional[ssl.SSLContext]):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not a URL of a server: {url!r}")
        self._parts, self._token, self._tries, self._timeout = parts, token, tries, timeout
        self._context = context
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open: "weakref.WeakSet[_ThreadConnection]" = weakref.WeakSet()

    def close(self) -> None:
        """Closes the connections of all threads."""
        with self._lock:
            held = list(self._open)
        for one in held:
            one.connection.close()

    def new_connection(self) -> http.client.HTTPConnection:
        host = self._parts.hostname or ""
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, self._parts.port, timeout=self._timeout, context=self._context)
        return http.client.HTTPConnection(host, self._parts.port, timeout=self._timeout)

    def _connection(self) -> http.client.HTTPConnection:
        """This thread's connection. A connection that the server has closed is opened again."""
        held: Optional[_ThreadConnection] = getattr(self._local, "held", None)
        if held is None:
            held = self._local.held = _ThreadConnection(self.new_connection())
            with self._lock:
                self._open.add(held)
        connection = held.connection
        if connection.sock is not None and _is_readable(connection.sock):
            connection.close()
        return connection

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        """Closes a connection. It is not used again: http.client keeps the headers of a request that was not sent."""
        connection.close()
        held: Optional[_ThreadConnection] = getattr(self._local, "held", None)
        if held is not None and held.connection is connection:
            self._local.held = None
            with self._lock:
                self._open.discard(held)

    def _target(self, call: _Call) -> str:
        query = [(name, _query_value(one)) for name, value in call.query.items() if value is not None
                 for one in (value if isinstance(value, (list, tuple)) else [value])]
        path = "/".join({".": "%2E", "..": "%2E%2E"}.get(part) or urllib.parse.quote(part, safe="") for part in call.path)
        return f"{self._parts.path.rstrip('/')}/{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")

    def _send_once(self, connection: http.client.HTTPConnection, call: _Call) -> http.client.HTTPResponse:
        headers = {name: value for name, value in call.headers.items() if value is not None}
        body = call.body
        if body is not None:
            headers["Content-Type"] = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
            body = body if isinstance(body, bytes) else _encode(body)
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if connection.sock is None:
            connection.connect()
        try:
            connection.request(call.method, self._target(call), body, headers)
        except (ConnectionError, ssl.SSLError):
            pass  # the server may have answered, such as with 413, and closed the connection before it had read the whole body
        response = connection.getresponse()
        if not response.chunked and response.length is None:  # http.client takes a lost connection for the end of the headers
            raise http.client.HTTPException("the answer ended in its headers")
        return response

    def _try(self, connection: http.client.HTTPConnection, call: _Call, stream: bool) -> "tuple[http.client.HTTPResponse, bytes]":
        try:
            response = self._send_once(connection, call)
            if stream and response.status < 300:
                return response, b""
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._drop(connection)
            raise _error_of_connection(error) from error
        except BaseException:  # such as KeyboardInterrupt: the connection is in the middle of a request or an answer
            self._drop(connection)
            raise
        if response.status >= 300:
            raise _error_of_response(response, text)
        return response, text

    def before_next(self, error: CardBoxError, call: _Call, tries: int) -> None:
        """Waits before the next try. Raises the error if there is none."""
        after = error.retry_after or 0
        again = call.safe and (error.status == 0 or error.status in _RETRIED) and after <= _RETRY_AFTER_MAX_S
        if not again or tries >= self._tries:
            raise error
        backoff = min(_PAUSE_MAX_S, _PAUSE_FIRST_S * 2 ** (tries - 1)) * (0.5 + random.random() / 2)
        time.sleep(max(after, backoff))

    def send(self, call: _Call) -> Any:
        """Sends a request, with retries if it is safe to repeat, and returns the JSON of the answer."""
        tries = 0
        while True:
            tries += 1
            try:
                response, text = self._try(self._connection(), call, stream=False)
            except CardBoxError as error:
                if error.status == 409 and tries > 1 and call.exists is not None:
                    return call.exists()
                self.before_next(error, call, tries)
                continue
            answer = _parse(text, call.parse)
            if answer is None:
                raise CardBoxError(response.status, "bad_answer", "the answer is not JSON")
            return answer

    def open(self, call: _Call) -> "tuple[http.client.HTTPConnection, http.client.HTTPResponse]":
        """A streamed answer, on a connection of its own, which the caller closes."""
        tries = 0
        while True:
            tries += 1
            connection = self.new_connection()
            try:
                return connection, self._try(connection, call, stream=True)[0]
            except CardBoxError as error:
                connection.close()
                self.before_next(error, call, tries)

    def lines(self, call: _Call) -> Iterator[bytes]:
        """The lines of a streamed answer. A stream that ends early raises an error."""
        connection, response = self.open(call)
        try:
            for line in _read_lines(response):
                yield line.rstrip(b"\n")
        finally:
            response.close()
            connection.close()

    def events(self, call: _Call, last: Optional[str]) -> Iterator[Event]:
        """The events of a stream. After a lost connection it continues after the last stored event."""
        failures = 0
        while True:
            connection, response = self.open(call._replace(headers={**call.headers, "Last-Event-ID": last}))
            error = CardBoxError(0, "unreachable", "the stream ended before the task was finished")
            try:
                if response.status == 204:  # no event is left
                    return
                for event in _parse_events(_read_lines(response)):
                    failures, last = 0, event.id or last
                    yield event
                    if event.event == "task_complete":
                        return
            except CardBoxError as cause:
                error = cause
            finally:
                response.close()
                connection.close()
            failures += 1
            self.before_next(error, call, failures)


def _is_readable(idle: socket.socket) -> bool:
    """If an idle connection has something to read, the server has closed it."""
    if not hasattr(select, "poll"):
        return bool(select.select([idle], [], [], 0)[0])
    poll = select.poll()
    poll.register(idle, select.POLLIN)
    return bool(poll.poll(0))


def _error_of_connection(error: Exception) -> CardBoxError:
    if isinstance(error, (TimeoutError, socket.timeout)):
        return CardBoxError(0, "timeout", f"no answer in time: {error}")
    return CardBoxError(0, "unreachable", f"the connection failed: {str(error) or type(error).__name__}")


def _read_lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Lines with their line feeds."""
    rest = b""
    while True:
        try:
            data = response.read1(65536)
            if not data and response.length:  # read1 does not report this
                raise http.client.IncompleteRead(b"", response.length)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _error_of_connection(error) from error
        if not data:
            break
        parts = (rest + data).split(b"\n")
        rest = parts.pop()
        yield from (part + b"\n" for part in parts)
    if rest:
        yield rest


def _parse_events(lines: Iterable[bytes]) -> Iterator[Event]:
    fields: Dict[str, str] = {}
    for line in lines:
        name, colon, value = line.decode().rstrip("\r\n").partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name:
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
        elif not colon:
            if "data" in fields:
                yield Event(fields.get("id"), fields.get("event", "message"), json.loads(fields["data"]))
            fields = {}


class _Resource:
    """Requests to paths below one path."""

    def __init__(self, transport: _Transport, *path: str):
        self._transport = transport
        self._path = path

    def _read(self, *path: str, query: Mapping[str, Any] = {}) -> Any:
        return self._transport.send(_Call("GET", (*self._path, *path), query))

    def _write(self, method: str, *path: str, body: Any = None, query: Mapping[str, Any] = {}, **how: Any) -> Any:
        return self._transport.send(_Call(method, (*self._path, *path), query, body, **how))


class CardBox(_Resource):
    """A CardBox server.

    url: the base URL, such as `http://127.0.0.1:8099`.
    token: the bearer token, if the server asks for tokens.
    tries: the maximum number of tries of a request that is safe to repeat.
    timeout: how long a try may wait for the server, in seconds. The time starts again with each part of an answer.
    context: the TLS settings for https. Default: those of the system.
    """

    def __init__(self, url: str, token: Optional[str] = None, *, tries: int = 8, timeout: float = 30.0,
                 context: Optional[ssl.SSLContext] = None):
        super().__init__(_Transport(url, token, tries, timeout, context))

    def __enter__(self) -> "CardBox":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections. A later request opens a new connection."""
        self._transport.close()

    def project(self, project_id: str) -> "Project":
        """A project of the server. No request is sent."""
        return Project(self._transport, "projects", project_id)

    def projects(self, **query: Any) -> Json:
        """One page of all projects, for tokens of operators."""
        return self._read("projects", query=query)


class Project(_Resource):
    """A project: its cards, boxes, sessions, abilities and tasks."""

    def __init__(self, transport: _Transport, *path: str):
        super().__init__(transport, *path)
        self.cards = Cards(transport, *path, "cards")
        self.boxes = Boxes(transport, *path, "boxes")
        self.sessions = Sessions(transport, *path, "sessions")
        self.abilities = Abilities(transport, *path, "abilities")

    def box(self, box_id: str) -> "Box":
        """The box with this id. No request is sent."""
        return Box(self._transport, *self._path, "boxes", box_id)

    def session(self, session_id: str, format: str = "openai") -> "Session":
        """The session with this id. `format` is the default of `add` and `context`. No request is sent."""
        return Session(self._transport, *self._path, "sessions", session_id, format=format)

    def task(self, task_id: str) -> "Task":
        """The task with this id. No request is sent."""
        return Task(self._transport, *self._path, "tasks", task_id)

    def search(self, q: str, **query: Any) -> Json:
        """One page of the cards, messages and entries that have all words of `q`, newest first."""
        return self._read("search", query={"q": q, **query})

    def export_lines(self) -> Iterator[bytes]:
        """The lines of an export of the whole project, without line feeds."""
        return self._transport.lines(_Call("GET", (*self._path, "export")))

    def import_lines(self, lines: Lines) -> Json:
        """Imports an export of a project: its text or bytes, or its lines."""
        return self._write("POST", "import", body=_file(lines))


class Cards(_Resource):
    """The cards of a project."""

    def add(self, card: Union[Json, Sequence[Json]], *, strict: Optional[bool] = None, sealed: Optional[bool] = None,
            restore: Optional[bool] = None) -> Json:
        """Adds one card, or up to 1,000 cards: all of them, or none. A card without a card_id gets a new UUIDv7."""
        how = _given(strict=strict, sealed=sealed, restore=restore)

        def identified(one: Json) -> Json:
            return one if one.get("card_id") is not None else {**one, "card_id": uuid7()}
        body = {**identified(card), **how} if isinstance(card, dict) else {"cards": [identified(one) for one in card], **how}
        return self._write("POST", body=body)

    def get(self, card_id: str) -> Json:
        """One card."""
        return self._read(card_id)

    def get_many(self, card_ids: Sequence[str]) -> Json:
        """Up to 100 cards, and the ids that are missing."""
        return self._write("POST", "batch", body={"card_ids": list(card_ids)})

    def list(self, **query: Any) -> Json:
        """One page of cards, newest first. For `meta.KEY`, use `**{"meta.KEY": value}`."""
        return self._read(query=query)

    def delete(self, card_id: str) -> Json:
        """Deletes a card."""
        return self._write("DELETE", card_id)

    def revisions(self, card_id: str, **query: Any) -> Json:
        """One page of the earlier contents of a repaired card."""
        return self._read(card_id, "revisions", query=query)

    def boxes(self, card_id: str, **query: Any) -> Json:
        """One page of the boxes that contain a card."""
        return self._read(card_id, "boxes", query=query)


def _create_box(transport: _Transport, boxes: Sequence[str], path: Sequence[str], body: Json) -> Json:
    """Creates a box with an id that the client knows, so that a repeated request can find the box."""
    box_id = body.get("box_id") or uuid7()

    def exists() -> Json:
        found = transport.send(_Call("GET", (*boxes, box_id)))
        return {"box_id": box_id, "version": found["version"], "length": found["length"]}
    made_here = body.get("box_id") is None
    return transport.send(_Call("POST", path, body={**body, "box_id": box_id}, exists=exists if made_here else None))


class Boxes(_Resource):
    """The boxes of a project."""

    def create(self, card_ids: Sequence[str] = (), *, box_id: Optional[str] = None,
               parent_ids: Optional[Sequence[str]] = None) -> Json:
        """Creates a box. Without a box_id, the box gets a new UUIDv7."""
        body = _given(box_id=box_id, card_ids=list(card_ids), parent_ids=parent_ids)
        return _create_box(self._transport, self._path, self._path, body)

    def get_many(self, box_ids: Sequence[str], *, hydrate: bool = False, limit: Optional[int] = None) -> Json:
        """Up to 100 boxes, with cards if `hydrate` is true."""
        return self._write("POST", "batch", body=_given(box_ids=list(box_ids), hydrate=hydrate, limit=limit))

    def list(self, **query: Any) -> Json:
        """One page of boxes, newest first."""
        return self._read(query=query)


class Box(_Resource):
    """One box: an ordered list of card ids."""

    @property
    def id(self) -> str:
        return self._path[-1]

    def get(self, **query: Any) -> Json:
        """The card ids and the version of the box, now or at an earlier version."""
        return self._read(query=query)

    def cards(self, **query: Any) -> List[Json]:
        """The cards of the last `limit` ids of the box, in the order of the box."""
        return self._read("cards", query=query)

    def append(self, card_ids: Sequence[str], *, key: Optional[str] = None, expected_version: Optional[int] = None) -> Json:
        """Appends card ids once. Without a `key`, the client makes an Idempotency-Key for this call."""
        body = _given(card_ids=list(card_ids), expected_version=expected_version)
        return self._write("POST", "append", body=body, headers={"Idempotency-Key": uuid7() if key is None else key})

    def replace(self, card_ids: Sequence[str], *, expected_version: Optional[int] = None) -> Json:
        """Replaces the list.

        With `expected_version`, the request is safe to repeat: then a repetition may find its own change, and raise 409.
        """
        body = _given(card_ids=list(card_ids), expected_version=expected_version)
        return self._write("PUT", body=body, safe=expected_version is not None)

    def fork(self, *, box_id: Optional[str] = None, at_version: Optional[int] = None, at_length: Optional[int] = None) -> Json:
        """Creates a box from the list of this box. Without a box_id, the new box gets a new UUIDv7."""
        body = _given(box_id=box_id, at_version=at_version, at_length=at_length)
        return _create_box(self._transport, self._path[:-1], (*self._path, "fork"), body)

    def seal(self) -> Json:
        """Seals the box: its list can't be changed any more."""
        return self._write("POST", "seal", body={})

    def delete(self) -> Json:
        """Deletes the box. Its cards remain."""
        return self._write("DELETE")

    def log(self, **query: Any) -> Json:
        """One page of the changes of the box, newest first."""
        return self._read("log", query=query)

    def context(self, *, as_: Optional[str] = None, **query: Any) -> Json:
        """The messages for a language model. `as_`: the id of the author that they are for, since `as` is a word of Python."""
        return self._read("context", query={**query, **_given(**{"as": as_})})


class Sessions(_Resource):
    """The sessions of a project."""

    def list(self, **query: Any) -> Json:
        """One page of sessions, newest first."""
        return self._read(query=query)


def _identified(entries: Sequence[Json], key: Optional[str]) -> List[Json]:
    """Adds ids, so that the entries are the same in each try. With a key of the caller, the id of entry n is KEY:n.

    Such entries get no timestamp: the server stores the time of each line beside it.
    """
    return [entry if "id" in entry else {"id": uuid7() if key is None else f"{key}:{n}", **entry} for n, entry in enumerate(entries)]


# --- messages of models' APIs ---


def _values_of(text: str) -> List["tuple[Any, str]"]:
    """The values of an object's members, or of an array's elements: each parsed and as JSON. A name precedes its value."""
    decoder, found, at = json.JSONDecoder(), [], text.index("{" if text.lstrip().startswith("{") else "[") + 1
    while True:
        at = re.compile(r"[\s,:]*").match(text, at).end()  # type: ignore[union-attr]
        if text[at] in "]}":
            return found
        value, end = decoder.raw_decode(text, at)
        found.append((value, text[at:end]))
        at = end


def _members_of(text: str) -> Dict[str, "tuple[Any, str]"]:
    found = _values_of(text)
    return {name: value for (name, _), value in zip(found[::2], found[1::2])}


def _parse_context_text(text: bytes) -> Json:
    """A context whose messages, and whose arguments of open calls, are JSON text."""
    members = _members_of(text.decode())
    context = {name: json_text if name == "messages" else value for name, (value, json_text) in members.items()}
    calls = _values_of(members["open_calls"][1]) if "open_calls" in members else []
    for call, (_, json_text) in zip(context.get("open_calls", []), calls):
        if not isinstance(call["arguments"], str):
            call["arguments"] = _members_of(json_text)["arguments"][1]
    return context


def _results(message: Json) -> List[Optional[str]]:
    """The ids of the calls that a message answers. [None]: it is no result."""
    content, role, kind = message.get("content"), message.get("role"), message.get("type")
    if role == "tool":
        return [message.get("tool_call_id")]
    if role == "user" and isinstance(content, list):
        return [one.get("tool_use_id") for one in content if isinstance(one, dict) and one.get("type") == "tool_result"] or [None]
    return [message.get("call_id") if isinstance(kind, str) and kind.endswith("_output") else None]


def _continues(messages: Sequence[Any]) -> bool:
    """True: the messages begin with an answer or a result, so they were made from a context."""
    first = messages[0] if messages else None
    if not isinstance(first, dict) or first.get("role") in ("system", "developer"):
        return False
    return first.get("role") != "user" or _results(first) != [None]


def _are_open(messages: Sequence[Json], context: Json) -> bool:
    """True: all messages are results of calls that are still open."""
    calls = {call["id"] for call in context["open_calls"]}
    return all(one in calls for message in messages for one in _results(message))


def _state_of(context: Json) -> str:
    return f"{(context['digests'] or [''])[-1]} {context['next']}"  # an answer that says nothing changes only `next`


class _Seen(NamedTuple):
    """The context that the caller of a session has read."""

    query: Json
    version: int           # the version that the session has, unless another process has changed it
    state: Optional[str]   # _state_of() the context; None: messages were added since


class Session(_Resource):
    """One session: a tree of entries."""

    def __init__(self, transport: _Transport, *path: str, format: str = "openai"):
        super().__init__(transport, *path)
        self._format = format
        self._seen: Optional[_Seen] = None
        self._lock = threading.Lock()

    @property
    def id(self) -> str:
        return self._path[-1]

    def create(self, dialect: Optional[str] = None, **members: Any) -> Json:
        """Creates the session, unless it exists.

        With `strict=True`, an existing session is a conflict, and the request is not repeated.
        """
        body = _given(dialect=dialect, **members)
        return self._write("PUT", body=body, safe=not body.get("strict"))

    def get(self) -> Json:
        """The session with its head and its version."""
        return self._read()

    def delete(self) -> Json:
        """Deletes the session with all entries. If the client repeats the request after a lost answer, it may raise 404."""
        return self._write("DELETE")

    def append(self, entries: Union[Json, Sequence[Json]], *, create: Optional[str] = None, key: Optional[str] = None,
               expected_version: Optional[int] = None) -> Json:
        """Appends one entry, or up to 1,000 entries: all of them, or none.

        `create` is the dialect of the session, `plain` or `pi`. If the session is missing, it is created. An entry
        without an id gets an id. The answers to reads have the time of each entry as `appended_at`.

        To continue after a crash of the caller, set the ids of the entries: an entry that is stored with the same
        content is `unchanged`, and other content is a conflict. Or set a `key`: entries without an id then get the ids
        KEY:0, KEY:1 and so on, by their index in the list. The same call after a crash appends nothing.
        """
        body = _given(entries=_identified([entries] if isinstance(entries, dict) else list(entries), key),
                      create=create and {"dialect": create}, expected_version=expected_version)
        return self._write("POST", "entries", body=body, headers={"Idempotency-Key": uuid7() if key is None else key})

    def add(self, messages: Any, *, format: Optional[str] = None, model: Optional[str] = None, usage: Any = None, system: Any = None,
            tools: Any = None, parameters: Any = None, key: Optional[str] = None, parent_id: Optional[str] = None,
            expected_version: Optional[int] = None, create: Optional[bool] = None, restore: Optional[bool] = None) -> Json:
        """Adds messages as a model's API returned them, or as it accepts them: one, or up to 1,000; all of them, or none.

        A message is a dict, an object of the packages of OpenAI or Anthropic, or a text: JSON of a message or of a list.
        The session is created if it is missing. Without a `key`, the client makes an Idempotency-Key for this call.

        After `context`, an answer or a result is stored only if the messages of the context are still the same, or if the
        result's call is still open. Otherwise another process was quicker: nothing is stored. `add` then returns an empty
        list of `ids`, and where the loop stands now. The loop goes on from the next `context`. With an `expected_version`
        of the caller, this is an error instead.
        """
        text = messages if isinstance(messages, str) else _encode(messages).decode()
        how = _given(model=model, usage=usage, system=system, tools=tools, parameters=parameters, parent_id=parent_id, create=create,
                     restore=restore, expected_version=expected_version)
        how["format"] = format or self._format
        parsed = json.loads(text)
        with self._lock:  # one after the other, so that versions follow
            return self._add(text, parsed if isinstance(parsed, list) else [parsed], how, uuid7() if key is None else key)

    def _add(self, text: str, messages: List[Any], how: Json, key: str) -> Json:
        chosen = "expected_version" in how or "parent_id" in how
        seen = self._seen if not chosen and _continues(messages) else None
        expected = seen and seen.version
        while True:
            rest = _encode({**how, **_given(expected_version=expected)} if seen else how).decode()
            body = _JsonText(f'{{"messages":{text},{rest[1:]}')
            try:
                added = self._write("POST", "messages", body=body, headers={"Idempotency-Key": key})
            except CardBoxError as error:
                if seen is None or error.status != 409 or error.current_version in (None, expected):
                    raise
                now = self._read("context", query=seen.query)
                if not _are_open(messages, now) and _state_of(now) != seen.state:
                    self._seen = seen._replace(state=None)  # until the caller has read the context
                    return {"ids": [], **{name: now[name] for name in ("version", "leaf", "next", "open_calls")}}
                expected = now["version"]
                continue
            self._seen = seen and seen._replace(version=added["version"] if expected == seen.version else seen.version, state=None)
            return added

    def context(self, *, text: bool = False, **query: Any) -> Json:
        """The messages for a language model on the path to a leaf, by default the head, and where the loop of an agent stands.

        `next` is `tools` (run the `open_calls`), `model` (ask the model) or `user` (the turn has ended). With `text`, the
        messages are the JSON of the list, and arguments of calls are text: so numbers and bytes stay as they are.
        """
        query["format"] = query.get("format") or self._format
        found = self._transport.send(_Call("GET", (*self._path, "context"), query, parse=_parse_context_text if text else json.loads))
        of_head = query.get("leaf") is None and query.get("branchLeafId") is None
        with self._lock:
            self._seen = _Seen(query, found["version"], _state_of(found)) if of_head else None
        return found

    def entry(self, entry_id: str) -> Json:
        """One entry with its JSON."""
        return self._read("entries", entry_id)

    def tree(self, **query: Any) -> Json:
        """One page of all entries in the order of their lines."""
        return self._read("tree", query=query)

    def leaves(self, **query: Any) -> Json:
        """One page of the entries without children."""
        return self._read("leaves", query=query)

    def branch_points(self, **query: Any) -> Json:
        """One page of the entries with several children."""
        return self._read("branch-points", query=query)

    def labels(self, **query: Any) -> Json:
        """One page of the entries that have a label."""
        return self._read("labels", query=query)

    def children(self, entry_id: str, **query: Any) -> Json:
        """One page of the children of an entry."""
        return self._read("entries", entry_id, "children", query=query)

    def path_to(self, entry_id: Optional[str] = None, **query: Any) -> Json:
        """One page of the path from the root to an entry. Without an id: to the head."""
        return self._read(*(["path"] if entry_id is None else ["entries", entry_id, "path"]), query=query)

    def diff(self, a: str, b: str, **query: Any) -> Json:
        """The last common entry of two entries, and the entries after it on both paths."""
        return self._read("diff", query={"a": a, "b": b, **query})

    def move_head(self, entry_id: str, *, expected_head: Optional[str] = None, expected_version: Optional[int] = None) -> Json:
        """Moves the head.

        With an expected head or version, the request is safe to repeat: then a repetition may find its own change, and
        raise 409.
        """
        how = _given(expected_head=expected_head, expected_version=expected_version)
        return self._write("PUT", "head", body={"entry_id": entry_id, **how}, safe=bool(how))

    def fork(self, *, session_id: Optional[str] = None, entry_id: Optional[str] = None) -> Json:
        """Copies the path to an entry into a new session. Without a session_id, the new session gets a new UUIDv7."""
        made = session_id or uuid7()

        def exists() -> Json:
            found = Session(self._transport, *self._path[:-1], made).get()
            return {"session_id": made, "forked_from": self.id, "entries": found["entries"], "version": found["version"]}
        return self._write("POST", "fork", body=_given(session_id=made, entry_id=entry_id),
                           exists=exists if session_id is None else None)

    def export_lines(self, **query: Any) -> Iterator[bytes]:
        """The lines of the session's file, or of one branch (`leaf`), without line feeds."""
        return self._transport.lines(_Call("GET", (*self._path, "export"), query))

    def import_lines(self, lines: Lines, **query: Any) -> Json:
        """Imports a session file: its text or bytes, or its lines. The report lists the lines that have problems."""
        return self._write("POST", "import", body=_file(lines), query=query)


class Abilities(_Resource):
    """The abilities of a project."""

    def call(self, name: str, input: Optional[Json] = None, *, caller_id: Optional[str] = None, call_id: Optional[str] = None,
             repeat: Optional[bool] = None) -> Json:
        """Calls an ability.

        `repeat`: the call is safe to repeat. Default: true for built-in abilities that read, for `ldg:*:save`, and with
        an `idempotency_key`. `caller_id` and `call_id` are for the server's log.
        """
        body = input or {}
        safe = _READING.fullmatch(name) or re.fullmatch(r"ldg:\w+:save", name) or body.get("idempotency_key") is not None
        return self._write("POST", name, body=body, safe=bool(safe) if repeat is None else repeat,
                           headers={"X-Caller-Id": caller_id, "X-Call-Id": call_id})

    def list(self) -> Json:
        """All abilities."""
        return self._read()

    def get(self, name: str) -> Json:
        """One ability with its schemas."""
        return self._read(name)

    def register(self, name: str, definition: Json) -> Json:
        """Registers an ability that a URL implements, or replaces its definition."""
        return self._write("PUT", name, body=definition)

    def delete(self, name: str) -> Json:
        """Deletes a registered ability."""
        return self._write("DELETE", name)


class Task(_Resource):
    """One task."""

    def events(self, last_event_id: Optional[str] = None) -> Iterator[Event]:
        """The past events of the task, or those after `last_event_id`, and then new events until the task is finished."""
        return self._transport.events(_Call("GET", (*self._path, "stream")), last_event_id)
