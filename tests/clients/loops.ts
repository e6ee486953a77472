/**
 * Loops with the official packages: the turns FIRST to LAST of a session. MODEL_URL is a strict server of the test, which has
 * the questions, the answers and the tools (tests/lib/vendor_server.py).
 *
 * The program dies at a step: between any two lines, and after each answer of a server. Each turn of the list DYING dies at
 * its step 0, its step 1 and so on, and starts again. Such a death is a life that never continues. Each turn of the list
 * TWICE runs twice at the same time. With KILL, the program kills itself at this step.
 */

import Anthropic from "@anthropic-ai/sdk";
import { CardBox, type MessageFormat } from "cardbox";
import OpenAI from "openai";

const [format, name, first, last, dying, twice, kill] = process.argv.slice(2) as [MessageFormat, ...string[]];
const base = process.env["MODEL_URL"]!;

let left = kill === undefined ? Infinity : Number(kill);
let die: (() => void) | undefined;
let doing: "asked" | "ran" | "other" = "other"; // what is done again after a death
const deaths = { asked: 0, ran: 0, other: 0 };

async function step(): Promise<void> {
    if (left-- !== 0) return;
    deaths[doing]++;
    doing = "other";
    if (!die) process.kill(process.pid, "SIGKILL");
    else die();
    await new Promise(() => undefined);
}

function stepping(before: (url: string) => void): typeof fetch {
    return async (input, init) => {
        const response = await fetch(input, init);
        const text = await response.text();
        before(String(input));
        await step();
        return new Response(text, { status: response.status, headers: response.headers });
    };
}

const ask = { apiKey: "k", maxRetries: 0, fetch: stepping(() => (doing = "asked")) };
const openai = new OpenAI({ baseURL: `${base}/v1`, ...ask }), anthropic = new Anthropic({ baseURL: base, ...ask });
const stored = stepping((url) => (doing = url.endsWith("/messages") ? "other" : doing));
const tools = stepping(() => (doing = "ran"));

function resultOf(id: string, output: string): object {
    if (format === "openai") return { role: "tool", tool_call_id: id, content: output };
    if (format === "responses") return { type: "function_call_output", call_id: id, output };
    return { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: output }] };
}

async function runTool(id: string, args: unknown): Promise<string> {
    try {
        if (typeof args === "string") JSON.parse(args);
    } catch {
        return `the arguments are no JSON: ${args}`;
    }
    return ((await (await tools(`${base}/tool`, { method: "POST", body: JSON.stringify({ id }) })).json()) as { output: string }).output;
}

async function answerTo({ messages, system, instructions, tools, parameters }: any): Promise<object> {
    if (format === "anthropic") return anthropic.messages.create({ model: "stub", messages, system, tools, ...parameters });
    if (format === "responses") return (await openai.responses.create({ model: "stub", input: messages, instructions, tools, ...parameters })).output;
    return (await openai.chat.completions.create({ model: "stub", messages, tools, ...parameters })).choices[0]!.message;
}

async function run(turn: number): Promise<void> {
    const session = new CardBox(process.env["CARDBOX_URL"]!, { fetch: stored }).project("loops").session(name!, { format });
    const { question, how, kind } = (await (await fetch(`${base}/turn/${turn}`)).json()) as { question: object; how: object; kind: string };
    await step();
    await session.add(question, { key: `turn ${turn}`, ...how });
    for (;;) {
        await step();
        const context = await session.context();
        await step();
        if (context.next === "user") return;
        for (const { id, arguments: args } of context.open_calls.reverse()) { // the last call first
            const output = await runTool(id, args);
            await step();
            await session.add(resultOf(id, output));
            await step();
        }
        if (context.next !== "model") continue;
        const answer = await answerTo(context);
        await step();
        await session.add(answer);
        if (kind === "abandoned") return;
    }
}

/** One life of a turn. False: it has died. */
async function live(turn: number, steps: number): Promise<boolean> {
    const death = new Promise<boolean>((resolve) => (die = () => resolve(false)));
    left = steps;
    return Promise.race([run(turn).then(() => true), death]);
}

const has = (list: string | undefined, turn: number) => (list ?? "").split(",").includes(String(turn));

for (let turn = Number(first); turn < Number(last); turn++) {
    if (has(dying, turn)) {
        for (let steps = 0; !(await live(turn, steps)); steps++) if (steps > 200) throw new Error(`turn ${turn} does not end`);
        [left, die] = [Infinity, undefined];
    } else await Promise.all(has(twice, turn) ? [run(turn), run(turn)] : [run(turn)]);
}
console.log(JSON.stringify(deaths));
process.exit(0); // lives that died still wait
