"""What a session file means, worked out from its bytes alone: tree, report, contexts. Written from the rules,
over Python's own JSON; knows nothing of how CardBox reads files."""

import json

PLAIN = {"user", "assistant", "tool", "tool_result", "system", "metadata"}
SPOKEN = {"user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage"}


def is_id(value):
    return (isinstance(value, str) and 0 < len(value.encode("utf-8", "replace")) <= 512
            and not any(ord(c) < 32 or ord(c) == 127 or 0xd800 <= ord(c) < 0xe000 for c in value))


def parsed(text):
    def refuse(word):
        raise ValueError(word)
    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError:
        return None


class Entry:
    def __init__(self, place, line, text, value):
        self.place, self.line, self.text, self.value = place, line, text, value
        self.id = value.get("id") if is_id(value.get("id")) else None  # None: CardBox makes one
        self.before = None       # the entry of the line before
        self.parent = None
        self.is_dangling = self.is_cycle = False
        self.kept = None
        self.children = []
        self.label = None

    def __repr__(self):
        return f"<{self.place} {self.text}>"


class File:
    def __init__(self, data):
        self.header, self.entries, self.blank, self.bad, self.headers = None, [], 0, 0, 0
        self.duplicates = self.conflicts = self.cycles = 0
        self.issues = []         # (line, kind), in their order; but for NULs
        self.places = []         # headers and entries: what an index counts
        self.named = {}
        self.before = None       # the entry of the last line that is one
        for number, line in enumerate(data.split(b"\n") if data else [], 1):
            if number > data.count(b"\n") and not line:
                break
            self._line(number, (line[3:] if number == 1 and line[:3] == b"\xef\xbb\xbf" else line).strip(b" \t\r\0"))
        self._link()

    def _line(self, number, text):
        value = parsed(text.decode("utf-8", "surrogateescape")) if text else None
        if not text:
            self.blank += 1
        elif not isinstance(value, dict):
            self.bad += 1
            self.issues.append((number, "bad"))
        elif value.get("type") == "session" and "parentId" not in value:
            self.headers += 1
            if self.headers > 1 or self.entries:
                self.issues.append((number, "header"))
            if not self.places:
                self.header = value
            self.places.append(None)
        elif value.get("id") is not None and not is_id(value["id"]) or not (
                isinstance(value.get("type"), str) or isinstance(value.get("id"), str)):
            self.bad += 1
            self.issues.append((number, "bad"))
            self.places.append(None)
        else:
            self._entry(Entry(len(self.places), number, text, value))

    def _entry(self, entry):
        self.find_kept(entry)
        first = self.named.get(entry.id)
        self.places.append(first or entry)
        entry.before, self.before = self.before, first or entry
        if first:
            self.duplicates += first.text == entry.text
            self.conflicts += first.text != entry.text
            self.issues.append((entry.line, "duplicate" if first.text == entry.text else "conflict"))
            return
        if entry.id:
            self.named[entry.id] = entry
        self.entries.append(entry)

    def find_kept(self, entry):
        """The entry, or the id of one that may come later."""
        kept = entry.value.get("firstKeptEntryId", entry.value.get("firstKeptEntryIndex"))
        if entry.value.get("type") != "compaction" or isinstance(kept, bool):
            return
        if isinstance(kept, str):
            entry.kept = kept
        elif isinstance(kept, int) and 0 <= kept < len(self.places):
            entry.kept = self.places[kept]

    def _link(self):
        for entry in self.entries:
            parent = entry.value.get("parentId")
            if isinstance(entry.kept, str):
                entry.kept = self.named.get(entry.kept)
            if is_id(parent):
                entry.parent = self.named.get(parent)
                entry.is_dangling = entry.parent is None
            elif "parentId" not in entry.value:
                entry.parent = None if entry.id else entry.before
            else:
                entry.is_dangling = parent not in (None, "")
        for entry in self.entries:      # of each cycle one link is not made: the last of those to a later line
            way = []
            while entry and entry not in way:
                way.append(entry)
                entry = entry.parent
            if entry:
                last = max((one for one in way[way.index(entry):] if one.parent.place >= one.place),
                           key=lambda one: one.place)
                last.is_cycle, last.parent = True, None
                self.cycles += 1
        self.tree = self.entries
        for entry in self.tree:
            if entry.parent:
                entry.parent.children.append(entry)
        for entry in self.tree:
            target = self.named.get(entry.value.get("targetId")) if is_id(entry.value.get("targetId")) else None
            if entry.value.get("type") == "label" and target:
                label = entry.value.get("label")
                target.label = label if isinstance(label, str) and label else None
        self.issues += [(entry.line, "cycle" if entry.is_cycle else "dangling") for entry in self.entries
                        if entry.is_cycle or entry.is_dangling]
        self.issues.sort()

    def report(self):
        return {"headers": self.headers, "entries": len(self.tree), "blank": self.blank, "bad": self.bad,
                "duplicates": self.duplicates, "conflicts": self.conflicts, "cycles": self.cycles,
                "roots": sum(not entry.parent for entry in self.tree),
                "leaves": sum(not entry.children for entry in self.tree),
                "branch_points": sum(len(entry.children) > 1 for entry in self.tree),
                "dangling_parents": sum(entry.is_dangling for entry in self.tree)}


def path(entry):
    way = [entry]
    while way[0].parent:
        way.insert(0, way[0].parent)
    return way


# --- the head ---


MOVES = PLAIN - {"metadata"} | {"message", "compaction", "branch_summary", "custom_message"}


def head(file):
    """What no model sees becomes the head only behind the head."""
    last = None
    for entry in file.tree:
        if last is None or entry.parent is last or entry.value.get("type") in MOVES:
            last = entry
    return last


# --- contexts ---


def role(value):
    """"user", "assistant", "result", "system"; None: it says nothing to a model."""
    kind = value.get("type")
    if kind == "message":
        message = value.get("message")
        said = message.get("role") if isinstance(message, dict) else None
        if said not in SPOKEN or said == "bashExecution" and message.get("excludeFromContext") is True:
            return None
        return {"assistant": "assistant", "toolResult": "result"}.get(said, "user")
    if kind == "branch_summary":
        return "user" if isinstance(value.get("summary"), str) and value["summary"] else None
    return {"compaction": "user", "custom_message": "user", "user": "user", "assistant": "assistant",
            "tool": "assistant", "tool_result": "result", "system": "system"}.get(kind)


def spoken(leaf):
    """The entries whose messages a model is given, by rule 2."""
    way = path(leaf)
    folds = [at for at, entry in enumerate(way) if entry.value.get("type") == "compaction"]
    if folds:
        last = folds[-1]
        kept = way[last].kept
        first = way.index(kept) if kept in way[:last] else last
        way = way[last:last + 1] + [entry for entry in way[first:last] if entry.value.get("type") != "compaction"
                                    ] + way[last + 1:]
    return [entry for entry in way if role(entry.value)]


class Message:
    def __init__(self, entry):
        value = entry.value
        self.sources, self.role, self.calls, self.call = [entry], role(value), [], None
        self.is_plain = value.get("type") in PLAIN
        body = value["message"] if value.get("type") == "message" else value
        self.has_failed = value.get("type") == "message" and body.get("stopReason") in ("error", "aborted")
        if self.role == "result":
            call = body.get("toolCallId")
            self.call = call if isinstance(call, str) and call else None
            self.is_error = value.get("success") is False if self.is_plain else body.get("isError") is True
        elif self.role == "assistant" and value.get("type") != "tool":
            blocks = body.get("content") if not self.is_plain else []
            calls = [block for block in blocks if isinstance(block, dict) and block.get("type") == "toolCall"
                     ] if isinstance(blocks, list) else []
            for call in calls if not self.is_plain else value.get("toolCalls") or []:
                self.add_call(call.get("id"))

    def add_call(self, call):
        self.calls.append({"id": call if isinstance(call, str) and call else None, "by": self, "result": None, "answered": False})


def messages(entries):
    """A plain tool belongs to the assistant right before it, and is no second call where it was listed."""
    made, waiting = [], {}
    for entry in entries:
        if entry.value.get("type") == "tool":
            call = entry.value.get("toolCallId")
            call = call if isinstance(call, str) else ""
            if made and call and waiting.get(call):
                made[-1].sources.append(entry)
                continue
            if made and made[-1].role == "assistant" and made[-1].is_plain:
                made[-1].sources.append(entry)
            else:
                made.append(Message(entry))
            made[-1].add_call(call)
        else:
            made.append(Message(entry))
        waiting.update({call["id"]: True for call in made[-1].calls} if made[-1].role == "assistant"
                       else {made[-1].call: False})
    return made


def repaired(made):
    """Rule 4: lists of the entries of each message; None: a synthetic result. A call has one result: the last successful
    one, else the last. Results without an id are paired by position."""
    latest, caller = {}, None
    for one in made:
        for call in one.calls:
            if call["id"]:
                if latest.get(call["id"], [{"by": None}])[0]["by"] is not one:
                    latest[call["id"]] = []
                latest[call["id"]].append(call)
        caller = one if one.calls else caller
        if one.role == "result":
            group = latest.get(one.call, [])
            if not one.call and caller:
                group = [call for call in caller.calls if not call["id"] and not call["result"]]
            one.answers = next((call for call in group if not call["answered"]), group[-1] if group else None)
            if one.answers:
                one.answers["answered"] = True
                before = one.answers["result"]
                one.answers["result"] = one if not before or not one.is_error or before.is_error else before
    kept = [one for one in made if not one.has_failed and not (
        one.role == "result" and (not one.answers or one.answers["by"].has_failed or one.answers["result"] is not one))]
    out = []
    for at, one in enumerate(kept):
        if one.role == "result":
            continue
        out.append(one.sources)
        behind = at + 1
        done = []
        while behind < len(kept) and kept[behind].role == "result" and kept[behind].answers["by"] is one:
            done.append(kept[behind].answers)
            out.append(kept[behind].sources)
            behind += 1
        for call in one.calls:
            if call not in done:
                out.append(call["result"].sources if call["result"] else None)
    return out
