/** Messages of models' APIs: their types, and where the loop of an agent stands. */

import type { Answer, InFormat, Query } from "./types.js";

/**
 * `openai`: messages of chat completions. `responses`: items of OpenAI's Responses API. `anthropic`: messages of Anthropic's
 * Messages API, also whole answers.
 */
export type MessageFormat = "openai" | "responses" | "anthropic";

/**
 * A message in the types of the vendor's package. This package does not depend on it, so a context can be assigned to
 * `ChatCompletionMessageParam[]`, `ResponseInputItem[]` or `MessageParam[]` without a cast.
 */
export type ApiMessage = any;

/** A call of the last answer that has no result. */
export interface OpenCall<Arguments = string> {
    /** The id for the result, in the format of the request. */
    id: string;
    name: string;
    /** In the formats `openai` and `responses`, the text of the model, which may be no valid JSON. In `anthropic`, an object. */
    arguments: Arguments;
    /** The id of the entry with the call. */
    entry: string;
}

/** Where the loop of an agent stands. */
export interface LoopState<Arguments = string> {
    /** `tools`: run the open calls. `model`: ask the model. `user`: the turn has ended, perhaps with an empty answer. */
    next: "tools" | "model" | "user";
    open_calls: OpenCall<Arguments>[];
}

type Arguments<Format, Text> = Format extends "anthropic" ? (Text extends true ? string : Record<string, any>) : string;
type AnyContext = Answer<"getSessionContext">;

interface Messages<Format, Text> extends LoopState<Arguments<Format, Text>> {
    format: Format;
    /** With `text`, the JSON of the list. */
    messages: Text extends true ? string : ApiMessage[];
    system?: any;
    instructions?: any;
    tools?: any[];
    parameters?: Record<string, any>;
}

/** The context of a session in a format. With `text`, the messages are JSON that is not parsed. */
export type SessionContext<Format, Text = false> = Format extends MessageFormat
    ? Omit<AnyContext, keyof Messages<Format, Text>> & Messages<Format, Text>
    : InFormat<AnyContext, Format> & LoopState;

type AnyBoxContext = Answer<"getBoxContext">;

/** The context of boxes in a format. */
export type BoxContext<Format> = Format extends MessageFormat
    ? Omit<InFormat<AnyBoxContext, Format>, "messages"> & { messages: ApiMessage[] }
    : InFormat<AnyBoxContext, Format>;

/** The parameters of a session's context. */
export type ContextQuery<Format, Text> = Omit<Query<"getSessionContext">, "format"> & {
    /** Default: the format of the session. */
    format?: Format;
    /**
     * Leaves the messages, and the arguments of open calls, as JSON text. Use it if numbers in messages may exceed 2^53, or
     * if the bytes matter: JSON.parse rounds such numbers.
     */
    text?: Text;
};

/** Options of an addition of messages. */
export interface MessageOptions {
    /** Default: the format of the session. */
    format?: MessageFormat;
    /** The model of the last message of the assistant. */
    model?: string | undefined;
    /** The usage that the API returned with this message. */
    usage?: object | null | undefined;
    /** The system prompt. It is stored if it has changed. */
    system?: string | readonly object[] | undefined;
    /** The definitions of the tools. They are stored if they have changed. */
    tools?: readonly object[] | undefined;
    /** Other parameters of the request to the model. They are stored if they have changed. */
    parameters?: object | undefined;
    /**
     * Identifies the addition to this session, also after a crash of the caller. Without a key, the client makes one for this
     * call.
     */
    key?: string;
    /** The id of the entry after which the messages follow. Default: the head. */
    parent_id?: string;
    /** The version that the session must have. Another version is then an error. */
    expected_version?: number;
    /** False: the session must exist. */
    create?: boolean;
    /** True: the id may be that of a deleted session, whose entries do not come back. */
    restore?: boolean;
}

/** The answer to an addition. If `ids` is empty, nothing was stored, because another process was quicker. */
export interface Added extends LoopState<any> {
    /** The ids of the new entries. */
    ids: string[];
    /** The version of the session: after this addition, or as the other process has left it. */
    version: number;
    leaf: string;
    parent_moved?: boolean;
}

/** The index after the string that begins at `at`. */
function stringEnd(json: string, at: number): number {
    for (let end = json.indexOf('"', at + 1); ; end = json.indexOf('"', end + 1)) {
        let escapes = 0;
        while (json[end - 1 - escapes] === "\\") escapes++;
        if (escapes % 2 === 0) return end + 1;
    }
}

/** The members of an object, or the elements of an array (by their numbers), as JSON that is not parsed. `json` is valid. */
function valuesOf(json: string): Map<string, string> {
    const found = new Map<string, string>();
    let depth = 0, start = 0;
    let name: string | undefined;
    for (let at = 0; at < json.length; at++) {
        const character = json[at]!;
        if (character === '"') at = stringEnd(json, at) - 1;
        else if (character === "[" || character === "{") {
            if (++depth === 1) start = at + 1;
        } else if (depth === 1 && character === ":") {
            name = JSON.parse(json.slice(start, at));
            start = at + 1;
        } else if (depth === 1 && /[,\]}]/.test(character)) {
            const value = json.slice(start, at).trim();
            if (value !== "") found.set(name ?? String(found.size), value);
            start = at + 1;
            name = undefined;
        }
        if (character === "]" || character === "}") depth--;
    }
    return found;
}

/** A context whose messages, and whose arguments of open calls, are JSON text. */
export function parseContextText(text: string): any {
    const members = valuesOf(text);
    const context: any = {};
    for (const [name, json] of members) context[name] = name === "messages" ? json : JSON.parse(json);
    const calls = [...valuesOf(members.get("open_calls") ?? "[]").values()];
    context.open_calls?.forEach((call: any, n: number) => {
        if (typeof call.arguments !== "string") call.arguments = valuesOf(calls[n]!).get("arguments")!;
    });
    return context;
}

function blocks(message: any): any[] {
    return Array.isArray(message.content) ? message.content : [];
}

/** True: the message is an answer of a model or a result of a tool, and not a user's. */
function isStep(message: any): boolean {
    if (message?.role === "user") return blocks(message).some((block) => block?.type === "tool_result");
    if (message?.role === "system" || message?.role === "developer") return false;
    return true;
}

/** True: the messages begin with an answer or a result, so they were made from a context. */
export function continues(messages: readonly any[]): boolean {
    return messages.length > 0 && isStep(messages[0]);
}

/** The ids of the calls that the messages answer; undefined: some message is no result. */
function answeredCalls(messages: readonly any[]): string[] | undefined {
    const ids = messages.flatMap((message): (string | undefined)[] => {
        const results = blocks(message).filter((block) => block?.type === "tool_result");
        if (message?.role === "user" && results.length > 0) return results.map((block) => block.tool_use_id);
        if (message?.role === "tool") return [message.tool_call_id];
        return [/_output$/.test(message?.type ?? "") ? message.call_id : undefined];
    });
    return ids.includes(undefined) ? undefined : (ids as string[]);
}

/** True: all messages are results of calls that are still open. */
export function areOpen(messages: readonly any[], { open_calls }: LoopState<any>): boolean {
    const open = open_calls.map((call) => call.id);
    return answeredCalls(messages)?.every((id) => open.includes(id)) ?? false;
}
