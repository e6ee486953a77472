"""model: what boxes and cards must do, as simply as it can be said, and the check of a history of
requests against it.

A box is a list with a version. Writes of many clients are put in the order of the versions that they
were answered, and replayed: each must have done what the documents say to the list that the version
before it left. A read must show a version that was the newest at some moment between its request and
its answer. A card belongs to one client that writes it, so that its outcomes are known beforehand; all
clients read it. Times are of one monotonic clock.
"""

import bisect
import collections

FOREVER = float("inf")


class Wrong(AssertionError):
    """A difference between the model and what was answered."""


def expect(condition, *what):
    if not condition:
        raise Wrong(" ".join(repr(part) if not isinstance(part, str) else part for part in what)[:3000])


class Write:
    """A request that changes a box. `answer`: (version, length), or None while it has none."""

    def __init__(self, kind, start, ids=(), key=None, expected=None, source=None):
        self.kind = kind
        self.start = start
        self.end = FOREVER
        self.ids = ids
        self.key = key
        self.expected = expected
        self.tagged = False  # `expected` is of an ETag, sent as If-Match
        self.source = source  # of a fork: (box, "version" or "length" or None, n)
        self.attempts = 0
        self.answer = None
        self.replayed = False
        self.refused = None   # (status, current_version)

    def unknown(self):
        """It got no answer at all, and may or may not have been done."""
        return self.answer is None and self.refused is None


class Box:
    def __init__(self, box_id):
        self.box_id = box_id
        self.writes = []
        self.reads = []  # (kind, argument, start, end, status, seen)
        self.newest = 0  # version, as far as clients know
        self.tag = None  # (version, ETag) of a read
        self.length = 0
        self.keyed = []  # writes with a key that were answered
        self.moments = []  # times of changes that a log has shown
        self.settled = None

    def state(self, version):
        """The list at a version, once settled."""
        ids = []
        for whole, given in self.settled[:version]:
            ids = list(given) if whole else ids + list(given)
        return ids


class Cards:
    """Cards with what they said, when: id -> [(content or None, start, end of the change)]."""

    def __init__(self):
        self.states = collections.defaultdict(lambda: [(None, -FOREVER, -FOREVER)])
        self.sealed = set()
        self.deleted = set()
        self.revisions = collections.defaultdict(list)
        self.reads = []  # (card_id, content or None, start, end)

    def content(self, card_id):
        return self.states[card_id][-1][0]

    def foresee(self, card_id, content, strict, sealed, restore):
        """The outcome of adding a card now."""
        state = self.states[card_id]
        if len(state) == 1:
            return "inserted"
        dead = card_id in self.deleted
        last = next(said for said, _, _ in reversed(state) if said is not None)
        if dead and not restore:
            return "gone"
        if last != content and (strict or card_id in self.sealed):
            return "conflict"
        if dead:
            return "restored"
        return "unchanged" if last == content else "repaired"

    def add(self, card_id, content, sealed, start, end):
        states = self.states[card_id]
        before = [said for said, _, _ in states if said is not None]
        if before and before[-1] != content:
            self.revisions[card_id].append(before[-1])
        if states[-1][0] != content:
            states.append((content, start, end))
        self.deleted.discard(card_id)
        if sealed:
            self.sealed.add(card_id)

    def delete(self, card_id, start, end):
        if card_id not in self.deleted:
            self.deleted.add(card_id)
            self.states[card_id].append((None, start, end))

    def could_say(self, card_id, content, start, end):
        states = self.states[card_id]
        for place, (said, began, _) in enumerate(states):
            over = states[place + 1][2] if place + 1 < len(states) else FOREVER
            if said == content and began <= end and over >= start:
                return True
        return False

    def check(self):
        for card_id, content, start, end in self.reads:
            expect(self.could_say(card_id, content, start, end), "card", card_id, "said", content,
                   "instead of one of", self.states[card_id])
        return len(self.reads)


# --- settling a box: which write made which version ---


def _writer(box, entry, claims, unknown, state):
    """The write that made the version of a log's entry, and the list after it."""
    made = {"append": "append", "replace": "replace", "create": "create", "fork": "fork"}[entry["op"]]
    version = entry["version"]
    # Who expected this version found it done, perhaps by one that got no answer.
    mine = [w for w in claims if w.kind == made and not (made == "replace" and w.expected == version)]
    fresh = [w for w in mine if not w.replayed]
    if made == "append":
        expect(len(fresh) <= 1, box.box_id, "version", version, "was answered to", len(fresh), "appends")
        expect(fresh or not mine or any(w.attempts > 1 for w in mine), box.box_id, "version", version,
               "was only answered as a replay")
    if fresh or mine:
        writer = (fresh or mine)[0]
    else:
        given = entry["card_ids"]  # None: too many to be shown
        fitting = [w for w in unknown if w.kind == made and
                   (w.ids == tuple(given) if given is not None else len(w.ids) == entry["added"])]
        expect(fitting, box.box_id, "version", version, "was written by nobody:", entry)
        writer = fitting[0]
        unknown.remove(writer)  # once, not twice
    return writer, (state + list(writer.ids) if made == "append" else list(writer.ids))


def settle(box, log, fork_ids=None):
    """Replays the writes in the order of their versions. `log`: the box's whole log, oldest first;
    `fork_ids`: the first list of a box that is a fork. Returns the number of writes checked."""
    expect([entry["version"] for entry in log] == list(range(1, len(log) + 1)), box.box_id,
           "versions have gaps", [entry["version"] for entry in log])
    claims = collections.defaultdict(list)
    for write in box.writes:
        if write.answer:
            expect(1 <= write.answer[0] <= len(log), box.box_id, "has no version", write.answer)
            claims[write.answer[0]].append(write)
    unknown = [w for w in box.writes if w.unknown()]
    box.settled, box.starts, box.ends, box.hashes = [], [], [], []
    state, latest_start = [], -FOREVER
    for entry in log:
        version, told = entry["version"], claims[entry["version"]]
        if entry["op"] == "fork":
            for write in box.writes:
                if write.kind == "fork":
                    write.ids = tuple(fork_ids)
        writer, after = _writer(box, entry, told, unknown, state)
        expect(entry["op"] != "replace" or after != state, box.box_id, version, "replaced by the same")
        expect(len(after) == entry["length"], box.box_id, version, "length", entry, len(after))
        expect(writer.expected in (None, version - 1), box.box_id, version, "expected", writer.expected)
        expect(writer.key == entry["append_key"], box.box_id, version, "key", writer.key, entry)
        for other in told:
            expect(other.answer[1] == len(after), box.box_id, version, "answered", other.answer)
            if other.kind == "append":
                expect(other.key == writer.key and other.ids == writer.ids, box.box_id, version,
                       "answers two appends", other.ids, writer.ids)
            elif other.kind == "replace":
                expect(list(other.ids) == after, box.box_id, version, "is not what was put")
                expect(other is writer or writer.kind == "replace" or
                       other.expected in (None, version), box.box_id, version, other.expected)
        # One of several that put the same list did it, and the others found it done; perhaps one that
        # got no answer.
        same = [w for w in (*told, *unknown) if w.kind == writer.kind and w.key == writer.key and
                (w.key or w.kind == "replace" and w.ids == writer.ids)]
        begun = min([writer.start] + [w.start for w in same])
        ended = min([writer.end] + [w.end for w in told if w.kind == "append" or w is writer])
        expect(ended >= latest_start, box.box_id, version, "was done before it was asked for")
        latest_start = max(latest_start, begun)
        box.settled.append((entry["op"] != "append", writer.ids))
        box.starts.append(begun)
        box.ends.append(ended)
        state = after
        box.hashes.append(hash(tuple(state)))
    _check_refused(box)
    _check_keys(box)
    return len(box.writes)


def window(box, start, end):
    """The versions that were the newest at some moment between start and end, as (first, last)."""
    last = len(box.starts)
    while last > 0 and box.starts[last - 1] > end:
        last -= 1
    first = len(box.ends)
    while first > 0 and box.ends[first - 1] >= start:
        first -= 1
    return first, last


def _check_refused(box):
    for write in box.writes:
        if not write.refused:
            continue
        status, current = write.refused
        first, last = window(box, write.start, write.end)
        expect(status == (412 if write.tagged else 409), box.box_id, "refused with", status)
        expect(current is not None or not write.tagged, box.box_id, "refused", write.expected, "for no version")
        if current is not None:
            expect(current != write.expected and first <= current <= last, box.box_id,
                   "refused", write.expected, "at", current, "but it was at", first, last)
        else:
            expect(any(w.key == write.key and w.ids != write.ids and w.start <= write.end
                       for w in box.writes if w.key), box.box_id, "key refused", write.key)


def _check_keys(box):
    """One key, one version; and no list of ids is there twice that was asked for once."""
    versions = {}
    for write in box.writes:
        if write.key and write.answer:
            expect(versions.setdefault(write.key, write.answer) == write.answer, box.box_id,
                   "key", write.key, "was answered", write.answer, "and", versions[write.key])


# --- reads of a settled box ---


def _at_time(at, moment):
    """The versions that may be the newest at a moment: several changes can have the same time."""
    last = bisect.bisect_right(at, moment)
    return {version for version in range(1, last + 1)
            if version == last or at[version - 1] == moment}


def _fits_tail(box, cards, version, limit, shown, start, end):
    """Whether `shown`, [(card id, content)], is what the last `limit` ids of a version gave."""
    left = list(reversed(shown))
    for card_id in box.state(version)[-limit:]:
        if left and left[-1][0] == card_id:
            left.pop()
        elif not cards.could_say(card_id, None, start, end):
            return False
    return not left


def check_reads(box, cards, log):
    at = [entry["at"] for entry in log]
    for kind, argument, start, end, status, seen in box.reads:
        first, last = window(box, start, end)
        what = (box.box_id, kind, argument, "gave", status, seen, "in versions", first, last)
        if status == 404:
            expect(first == 0 or kind == "at_version" and argument > first or
                   kind == "at_length" and argument > min(
                       len(box.state(v)) for v in range(first, last + 1)) or
                   kind == "at_time" and argument < at[0], *what)
            continue
        expect(status == 200, *what)
        if kind == "now":
            expect(max(first, 1) <= seen[0] <= last and box.hashes[seen[0] - 1] == seen[1], *what)
        elif kind == "batch":
            expect(any(box.hashes[v - 1] == seen for v in range(max(first, 1), last + 1)), *what)
        elif kind == "at_version":
            expect(seen[0] == argument <= last and box.hashes[argument - 1] == seen[1], *what)
        elif kind == "at_length":
            expect(max(first, 1) <= seen[0] <= last and
                   hash(tuple(box.state(seen[0])[:argument])) == seen[1], *what)
        elif kind == "at_time":
            expect(seen[0] in _at_time(at, argument) and box.hashes[seen[0] - 1] == seen[1], *what)
        elif kind == "tail":
            expect(any(_fits_tail(box, cards, v, argument, seen, start, end)
                       for v in range(max(first, 1), last + 1)), *what)
        elif kind == "log":
            expect(all(log[entry["version"] - 1] == entry for entry in seen), *what)
            if argument is None:
                expect(seen and max(first, 1) <= seen[0]["version"] <= last, *what)
    return len(box.reads)


def check_fork(box, source, write):
    """Its first list is what the source had, where it was forked."""
    kind, argument = write.source[1:]
    ids = box.state(1)
    first, last = window(source, write.start, write.end)
    if kind == "version":
        expect(argument <= last and source.state(argument) == ids, box.box_id, "forked at", argument)
        return
    whole = [source.state(v) for v in range(max(first, 1), last + 1)]
    cut = None if kind is None else argument
    expect(any(state[:cut] == ids and (cut is None or cut <= len(state)) for state in whole),
           box.box_id, "is no fork of", source.box_id, kind, argument, len(ids))
