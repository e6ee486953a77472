/** Loops of TURNS turns with the official packages, which die and start again at every line. MODEL_URL is a strict server of the test. */

import assert from "node:assert";

import Anthropic from "@anthropic-ai/sdk";
import { CardBox, type MessageFormat } from "cardbox";
import OpenAI from "openai";

const [format, kinds] = [process.argv[2] as MessageFormat, process.argv[3]!.split(",")];
const model = "stub", base = process.env["MODEL_URL"]!;
const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: "k", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: base, apiKey: "k", maxRetries: 0 });
const project = new CardBox(process.env["CARDBOX_URL"]!).project("loops");
const image = "iVBORw0KGgo=";

class Death extends Error {}
let left = 0;
function line(): void {
    if (left-- === 0) throw new Death();
}

function question(text: string, withImage: boolean): object {
    if (!withImage) return format === "responses" ? { type: "message", role: "user", content: text } : { role: "user", content: text };
    const url = `data:image/png;base64,${image}`;
    if (format === "openai") return { role: "user", content: [{ type: "text", text }, { type: "image_url", image_url: { url } }] };
    if (format === "responses")
        return { type: "message", role: "user", content: [{ type: "input_text", text }, { type: "input_image", detail: "auto", image_url: url }] };
    return { role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: image } }, { type: "text", text }] };
}

function resultOf(id: string, text: string): object {
    if (format === "openai") return { role: "tool", tool_call_id: id, content: text };
    if (format === "responses") return { type: "function_call_output", call_id: id, output: text };
    return { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] };
}

async function ask(messages: any[]): Promise<object> {
    if (format === "openai") return (await openai.chat.completions.create({ model, messages })).choices[0]!.message;
    if (format === "responses") return (await openai.responses.create({ model, input: messages, store: false })).output;
    return anthropic.messages.create({ model, max_tokens: 1000, messages });
}

function tool(args: unknown): string {
    try {
        return `result of ${JSON.stringify(typeof args === "string" ? JSON.parse(args) : args)}`;
    } catch {
        return `the arguments are no JSON: ${args}`;
    }
}

async function run(turn: string, kind: string): Promise<void> {
    const session = project.session(`loop-${format}`, { format });
    line();
    await session.add(question(turn, kind === "image"), { key: turn });
    for (;;) {
        line();
        const { messages, next, open_calls } = await session.context();
        line();
        if (next === "user") break;
        for (const { id, arguments: args } of open_calls.reverse()) { // the last call first
            const text = tool(args);
            line();
            await session.add(resultOf(id, text));
            line();
        }
        if (next === "tools") continue;
        const answer = await ask(messages);
        line();
        if (Array.isArray(answer) && answer.length === 0) break; // an answer without items: there is nothing to store
        await session.add(answer);
    }
}

let deaths = 0;
for (let turn = 0; turn < Number(process.env["TURNS"]); turn++) {
    const kind = kinds[turn % kinds.length]!;
    for (let lives = turn % 3 === 0 ? 0 : 100; ; lives++) { // each third turn dies at every line
        assert(lives < 200, `turn ${turn} does not end`);
        left = lives;
        try {
            await run(`turn ${turn} ${kind}`, kind);
            break;
        } catch (error) {
            if (!(error instanceof Death)) throw error;
            deaths++;
        }
    }
}
const { messages, report } = await project.session(`loop-${format}`, { format }).context();
console.log(JSON.stringify({ deaths, messages: messages.length, repairs: report.repairs }));
