/** Messages of models' APIs: session.add and session.context against the server CARDBOX_URL. The proxy CARDBOX_PROXY loses the answer to each write that is sent first. */

import assert from "node:assert";
import { test } from "node:test";

import { CardBox, CardBoxError } from "cardbox";

const project = new CardBox(process.env["CARDBOX_URL"]!).project("typescript-messages");
const call = (id: string, args = "{}") => ({ id, type: "function", function: { name: "clock", arguments: args } });
const user = { role: "user", content: "q" };
const calls = { role: "assistant", content: null, tool_calls: [call("functions.clock:0"), call("b", '{"n": 9007199254740993}')] };
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: `result of ${id}` });
const answer = { role: "assistant", content: "done", unknown_member: [1, { two: 2 }] };

test("a loop", async () => {
    const session = project.session("loop");
    const added = await session.add(user, { key: "turn-1" });
    assert.deepEqual([added.next, added.open_calls, added.ids.length], ["model", [], 1]);
    assert.deepEqual((await session.add(user, { key: "turn-1" })).ids, added.ids);
    assert.equal((await session.context()).next, "model");
    await session.add(calls, { model: "m", usage: { prompt_tokens: 1 } });
    const { next, open_calls, messages } = await session.context();
    assert.equal(next, "tools");
    assert.deepEqual(messages.slice(0, 2), [user, calls]);
    assert.deepEqual(open_calls.map((one) => [one.id, one.name, one.arguments]),
        [["functions.clock:0", "clock", "{}"], ["b", "clock", '{"n": 9007199254740993}']]);
    const added_results = await Promise.all(open_calls.map(({ id }) => session.add(result(id)))); // at the same time
    assert.deepEqual(added_results.map((one) => one.next), ["tools", "model"]);
    await session.add(answer);
    const last = await session.context();
    assert.deepEqual([last.next, last.messages.at(-1)], ["user", answer]);
    assert.equal(last.messages.length, 5);
});

test("the format of the session, and that of a call", async () => {
    const anthropic = project.session("formats", { format: "anthropic" });
    const said = { id: "msg_1", type: "message", role: "assistant", model: "claude", stop_reason: "tool_use", usage: { input_tokens: 1 },
        content: [{ type: "thinking", thinking: "", signature: "s" }, { type: "tool_use", id: "t", name: "clock", input: { n: 1 } }] };
    await anthropic.add([user, said]);
    const context = await anthropic.context();
    assert.equal(context.format, "anthropic");
    assert.deepEqual(context.messages[1], { role: "assistant", content: said.content });
    assert.equal(context.open_calls[0]!.arguments["n"], 1);
    const other = await anthropic.context({ format: "openai" });
    assert.equal(other.open_calls[0]!.arguments, '{"n":1}');
    await anthropic.add(result("t"), { format: "openai" });
    assert.equal((await anthropic.context({ format: "responses" })).messages.at(-1).type, "function_call_output");
});

test("integers beyond 2^53 are text", async () => {
    const session = project.session("integers", { format: "anthropic" });
    const said = '{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"a \\\\\\"]","input":{"id": 2512292042121000001, "a": [{}]}}]}';
    await session.add(`[${JSON.stringify(user)}, ${said}]`);
    const context = await session.context({ text: true });
    assert(context.messages.includes(said), context.messages);
    assert.deepEqual(context.open_calls.map((one) => one.arguments), ['{"id": 2512292042121000001, "a": [{}]}']);
    assert.deepEqual(JSON.parse(context.messages), (await session.context()).messages);
    assert.deepEqual([context.next, context.digests.length], ["tools", (await session.context()).digests.length]);
    await assert.rejects(session.add("{"), SyntaxError);
});

test("another process is quicker", async () => {
    const [a, b] = [project.session("race"), project.session("race")];
    await a.add(user, { key: "turn" });
    for (const session of [a, b]) assert.equal((await session.context()).next, "model");
    assert.equal((await a.add(calls)).ids.length, 1);
    const lost = await b.add({ role: "assistant", content: "another answer" });
    assert.deepEqual([lost.ids, lost.next, lost.open_calls.length], [[], "tools", 2]);
    assert.deepEqual((await b.add(answer)).ids, []); // still without a new context
    for (const session of [a, b]) assert.equal((await session.context()).next, "tools");
    assert.equal((await a.add(result("b"))).ids.length, 1);
    assert.deepEqual((await b.add(result("b"))).ids, []); // the call has a result
    assert.equal((await b.add(result("functions.clock:0"))).next, "model"); // this call is still open
    assert.deepEqual((await a.add(answer)).ids, []); // a has not read the other result
    await a.context();
    assert.equal((await a.add(answer)).next, "user");
    assert.equal((await a.context()).messages.length, 5);
});

test("one of two answers is stored, also if it says nothing", async () => {
    const [a, b] = [0, 1].map(() => project.session("silent", { format: "anthropic" })) as [any, any];
    await a.add(user);
    for (const session of [a, b]) assert.equal((await session.context()).next, "model");
    assert.equal((await a.add({ role: "assistant", content: [] })).next, "user");
    const lost = await b.add({ role: "assistant", content: "hi" });
    assert.deepEqual([lost.ids, lost.next], [[], "user"]);
    const { version, messages } = await b.context();
    assert.deepEqual([lost.version, messages], [version, [user]]);
});

test("entries that no model sees are no conflict", async () => {
    const [a, b] = [project.session("labels"), project.session("labels")];
    const { leaf } = await a.add(user);
    await a.context();
    await b.append({ type: "label", targetId: leaf, label: "first" });
    assert.equal((await a.add(answer)).next, "user");
    assert.deepEqual((await a.context()).messages, [user, answer]);
});

test("a version of the caller, and other conflicts, are errors", async () => {
    const session = project.session("errors");
    const { version } = await session.add(user, { key: "k" });
    await session.context();
    const status = (error: unknown) => error instanceof CardBoxError && error.status === 409;
    await assert.rejects(session.add(answer, { expected_version: version + 5 }), status);
    await assert.rejects(session.add(answer, { key: "k" }), status);
    await assert.rejects(session.add([{ content: "x" }]), (error: any) => error.status === 422);
    assert.equal((await session.add(answer)).next, "user");
    assert.equal((await session.add(user)).next, "model"); // a message of the user starts a turn whatever the version is
});

test("lost answers of the server", async () => {
    const session = new CardBox(process.env["CARDBOX_PROXY"]!).project("typescript-messages").session("lost");
    await session.add([user]);
    for (const next of [calls, result("b"), result("functions.clock:0"), answer]) {
        await session.context();
        assert.equal((await session.add(next)).ids.length, 1);
    }
    assert.deepEqual((await session.context()).messages.length, 5);
});

test("settings, model and usage are sent", async () => {
    const bodies: any[] = [];
    const send = async (_: unknown, init?: RequestInit) => {
        bodies.push(JSON.parse(init!.body as string));
        return new Response('{"ids":["e"],"version":2,"leaf":"e","next":"user","open_calls":[]}');
    };
    const session = new CardBox("http://127.0.0.1:1", { fetch: send as typeof fetch }).project("p").session("s", { format: "anthropic" });
    const how = { system: "be brief", tools: [{ name: "clock" }], parameters: { max_tokens: 9 }, model: "m", usage: { input_tokens: 1 }, create: false };
    await session.add(answer, { ...how, key: "k" });
    assert.deepEqual(bodies, [{ messages: answer, format: "anthropic", ...how }]);
});
