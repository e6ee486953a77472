/** The types of the vendors' packages go into a session and come out of it without a cast. This program is only compiled. */

import Anthropic from "@anthropic-ai/sdk";
import type { Message, MessageParam, TextBlockParam, Tool } from "@anthropic-ai/sdk/resources/messages";
import { CardBox } from "cardbox";
import OpenAI from "openai";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions";
import type { ResponseInputItem, Tool as ResponseTool } from "openai/resources/responses/responses";

const project = new CardBox("http://127.0.0.1:8099").project("p");
const openai = new OpenAI({ apiKey: "k" });
const anthropic = new Anthropic({ apiKey: "k" });

export async function chat(question: ChatCompletionMessageParam, tools: ChatCompletionTool[]): Promise<ChatCompletionMessageParam[]> {
    const session = project.session("chat");
    await session.add(question, { tools, key: "turn" });
    const { messages } = await session.context();
    const answer = await openai.chat.completions.create({ model: "m", messages, tools });
    await session.add(answer.choices[0]!.message, { model: answer.model, usage: answer.usage });
    const kept = await session.context({ format: "openai", limit: 10 });
    const all: ChatCompletionMessageParam[] = kept.messages, of_box: ChatCompletionMessageParam[] = (await project.box("b").context()).messages;
    await openai.chat.completions.create({ model: "m", messages: [...of_box, ...all], tools: kept.tools, ...kept.parameters });
    await session.add(all);
    for (const { id, arguments: args } of (await session.context()).open_calls) {
        const text: string = args;
        await session.add({ role: "tool", tool_call_id: id, content: text } satisfies ChatCompletionMessageParam);
    }
    return all;
}

export async function responses(input: ResponseInputItem[], tools: ResponseTool[]): Promise<ResponseInputItem[]> {
    const session = project.session("responses", { format: "responses" });
    await session.add(input, { system: "be brief", tools });
    const { messages, instructions, tools: kept } = await session.context();
    const answer = await openai.responses.create({ model: "m", input: messages, instructions, tools: kept });
    await session.add(answer.output, { model: answer.model, usage: answer.usage });
    const all: ResponseInputItem[] = (await session.context()).messages;
    return all;
}

export async function messages(given: MessageParam[], system: TextBlockParam[], tools: Tool[]): Promise<MessageParam[]> {
    const session = project.session("messages", { format: "anthropic" });
    await session.add(given, { system, tools });
    const context = await session.context();
    const { messages, system: prompt, tools: kept } = context;
    const answer: Message = await anthropic.messages.create({ model: "m", max_tokens: 9, system: prompt, messages, tools: kept });
    await session.add(answer);
    for (const call of context.open_calls) {
        const input: { n?: number } = call.arguments;
        await session.add({ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: `${input.n}` }] } satisfies MessageParam);
    }
    const text: string = (await session.context({ text: true })).messages;
    const all: MessageParam[] = JSON.parse(text);
    return all;
}
