/** Calls each area of the client against the server CARDBOX_URL. The proxy CARDBOX_PROXY loses the answer to each write that is sent first. */

import assert from "node:assert";
import { test } from "node:test";

import { CardBox, CardBoxError, eachPage, type NewEntry } from "cardbox";

const url = process.env["CARDBOX_URL"]!;
const project = new CardBox(url).project("typescript");

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
    const found: T[] = [];
    for await (const item of items) found.push(item);
    return found;
}

function failure(promise: Promise<unknown>): Promise<CardBoxError> {
    return promise.then(
        () => assert.fail("no error"),
        (error: unknown) => {
            assert(error instanceof CardBoxError, String(error));
            return error;
        },
    );
}

test("cards", async () => {
    const { cards } = project;
    assert.equal((await cards.add({ card_id: "a/é", content: { text: "ü" } })).outcome, "inserted");
    assert.equal((await cards.add([{ content: 1 }, { content: 2 }, { content: 3 }], { sealed: true })).cards.length, 3);
    assert.equal((await cards.add({ card_id: "a/é", type: "note", content: 2 })).outcome, "repaired");
    assert.equal((await cards.get("a/é")).content, 2);
    assert.deepEqual((await cards.getMany(["a/é", "gone"])).missing_ids, ["gone"]);
    assert.equal((await cards.revisions("a/é")).revisions.length, 1);
    const pages = await collect(eachPage((cursor) => cards.list({ limit: 2, ...cursor })));
    assert.deepEqual(pages.map((page) => page.cards.length), [2, 2]);
    assert.deepEqual((await cards.list({ type: "note" })).cards.map((card) => card.card_id), ["a/é"]);
    assert((await cards.delete("a/é")).deleted);
});

test("search", async () => {
    const cards = [0, 1, 2].map((n) => ({ card_id: `found-${n}`, type: "found", content: "a needle" }));
    await project.cards.add(cards);
    while ((await project.search("needle")).hits.length < 3) await new Promise((resolve) => setTimeout(resolve, 100));
    const pages = await collect(eachPage((cursor) => project.search("needle", { kind: "card", limit: 2, ...cursor })));
    assert.deepEqual(pages.map((page) => page.hits.length), [2, 1]);
    assert.deepEqual(pages[0]?.hits[0]?.offsets, [[2, 8]]);
    assert.equal((await failure(project.search("..."))).status, 422);
    for (const card of cards) await project.cards.delete(card.card_id);
});

test("boxes", async () => {
    const { card_id } = await project.cards.add({ type: "task.instruction", content: { text: "hi" } });
    const box = project.box((await project.boxes.create({ card_ids: [card_id] })).box_id);
    assert.equal((await box.append([card_id])).version, 2);
    assert.equal((await box.append([card_id], { expected_version: 2 })).length, 3);
    assert.equal((await box.replace([card_id], { expected_version: 3 })).version, 4);
    assert.equal((await box.get({ at_version: 2 })).card_ids.length, 2);
    assert.equal((await box.cards({ limit: 1 })).length, 1);
    const fork = project.box((await box.fork({ at_version: 2 })).box_id);
    assert((await fork.seal()).sealed);
    assert.equal((await box.log()).log[0]!.op, "replace");
    assert.equal((await box.context({ format: "openai" })).messages.length, 1);
    assert.equal((await project.boxes.getMany([box.id], { hydrate: true })).boxes.length, 1);
    assert.equal((await project.boxes.list()).boxes.length, 2);
    assert.equal((await project.cards.boxes(card_id)).boxes.length, 2);
    assert((await box.delete()).deleted);
});

test("sessions", async () => {
    const session = project.session("talk");
    await session.create({ dialect: "plain" });
    const first = (await session.append({ type: "user", content: "hi" })).entries[0]!.entry_id;
    assert(Date.parse((await session.entry(first)).appended_at!) > 0);
    await session.append([{ id: "a", type: "assistant", content: "one" }]);
    await session.append({ id: "b", parentId: first, type: "assistant", content: "two" }, { expected_version: 3 });
    const again = await session.append({ id: "a", type: "assistant", content: "one" });
    assert.equal(again.entries[0]!.outcome, "unchanged");
    const { messages } = await session.context({ format: "openai" });
    assert.deepEqual(messages.map((message) => message["content"]), ["hi", "two"]);
    assert.equal((await session.leaves()).entries.length, 2);
    assert.equal((await session.tree()).entries.length, 3);
    assert.equal((await session.branchPoints()).entries.length, 1);
    assert.equal((await session.children(first)).entries.length, 2);
    assert.equal((await session.labels()).entries.length, 0);
    assert.equal((await session.pathTo("a")).path.length, 2);
    assert.equal((await session.pathTo()).path.length, 2);
    assert.equal((await session.diff("a", "b")).common?.entry_id, first);
    assert.equal((await session.moveHead("a", { expected_head: "b" })).head_entry_id, "a");
    assert.equal((await session.fork({ session_id: "talk-2" })).entries, 2);
    const lines = await collect(session.export());
    assert.equal((await project.session("talk-3").import(lines)).appended, 3);
    assert.deepEqual(await collect(project.session("talk-3").export()), lines);
    assert.equal((await session.get()).entries, 3);
    assert.equal((await project.sessions.list()).sessions.length, 3);
    assert((await project.session("talk-3").delete()).deleted);
});

test("append with a key after a crash", async () => {
    const entries = [{ type: "user", content: "one" }, { id: "own", type: "assistant", content: "two" }] as const;
    const append = (list: readonly NewEntry[]) => // a new client, as after a crash
        new CardBox(url).project("typescript").session("keyed").append(list, { create: "plain", key: "turn 1" });
    await append(entries);
    const again = await append(entries);
    assert.deepEqual(again.entries.map((row) => [row.entry_id, row.outcome]), [["turn 1:0", "unchanged"], ["own", "unchanged"]]);
    assert.equal((await project.session("keyed").get()).entries, 2);
    assert.equal((await failure(append(entries.slice(0, 1)))).status, 409);
});

test("abilities and tasks", async () => {
    const { taskId } = await project.abilities.call("task:spawn", { goal: "wait" });
    const events = project.task(taskId).events();
    assert.equal((await events.next()).value!.event, "message_complete");
    const second = (await events.next()).value!;
    await project.abilities.call("task:cancel", { taskId, reason: "enough" });
    assert.deepEqual((await collect(events)).map((event) => event.event), ["task_complete"]);
    const rest = await collect(project.task(taskId).events({ lastEventId: second.id! }));
    assert.deepEqual(rest.map((event) => event.event), ["task_complete"]);
    assert((await project.abilities.list()).abilities.some((row) => row.id === "task:spawn"));
    assert.equal((await project.abilities.get("task:spawn")).id, "task:spawn");
});

test("projects", async () => {
    const lines = await collect(project.export());
    const other = new CardBox(url).project("typescript-2");
    await other.import(lines);
    assert.equal((await collect(other.export())).length, lines.length);
});

test("errors", async () => {
    const missing = await failure(project.cards.get("gone"));
    assert.deepEqual([missing.status, missing.errorCode, missing.message], [404, "not_found", "card not found"]);
    assert(missing.requestId);
    const misspelt = await failure(project.cards.list({ limti: 1 } as object));
    assert.deepEqual(misspelt.faults[0]!.loc, ["query", "limti"]);
    const stale = await failure(project.session("talk").append({ type: "user", content: "x" }, { expected_version: 1 }));
    assert.equal(stale.errorCode, "conflict");
    assert(stale.currentVersion! > 1);
    const large = await failure(project.session("talk").append({ type: "user", content: "x".repeat(30_000_000) }));
    assert.deepEqual([large.status, large.errorCode], [413, "too_large"]);
    const nobody = await failure(new CardBox("http://127.0.0.1:9", { tries: 2 }).project("p").cards.get("x"));
    assert.deepEqual([nobody.status, nobody.errorCode], [0, "unreachable"]);
    const never = (_: unknown, init?: RequestInit) =>
        new Promise<Response>((_resolve, reject) => init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason)));
    const silent = new CardBox(url, { tries: 1, timeoutMs: 50, fetch: never as typeof fetch }).project("p");
    assert.equal((await failure(silent.cards.get("x"))).errorCode, "timeout");
    const left = new AbortController();
    const cancelled = silent.cards.get("x", { signal: left.signal, timeoutMs: 60_000 });
    left.abort(new Error("left"));
    await assert.rejects(cancelled, /left/);
    for (const id of [".", ".."]) await assert.rejects(project.session(id).delete(), TypeError);
    await assert.rejects(collect(project.session("..").export()), TypeError);
});

test("lost answers and statuses", async () => {
    const p = new CardBox(process.env["CARDBOX_PROXY"]!).project("typescript-3");
    assert.equal((await p.cards.add({ content: 1 })).outcome, "unchanged");
    assert.equal((await p.session("lost").create({ dialect: "plain" })).outcome, "exists");
    assert.equal((await p.session("lost").append({ type: "user", content: "x" })).version, 2);
    assert.notEqual((await p.session("lost").fork()).session_id, "lost");
    const box = p.box((await p.boxes.create()).box_id);
    assert.equal((await box.append(["x"])).length, 1);
    assert.equal((await box.fork()).length, 1);
    assert((await box.delete()).deleted);
    const spawn = await failure(p.abilities.call("task:spawn", { goal: "once" }));
    assert.equal(spawn.errorCode, "unreachable");
    const append = { session_id: "lost", entries: [{ type: "user", content: "y" }] };
    for (const idempotency_key of [null, undefined]) {
        const lost = await failure(p.abilities.callRegistered("session:append", { ...append, idempotency_key }));
        assert.equal(lost.errorCode, "unreachable");
        await p.abilities.call("task:active", {});
    }
    const { tasks } = await p.abilities.call("task:active", {});
    assert.equal(tasks.length, 1);
});
