#!/usr/bin/env python3
"""The types that openapi-typescript makes from openapi/cardbox.json: what is right compiles, what is misspelt does not."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cardbox_test  # noqa: E402
import client_test  # noqa: E402

FOLDER = os.path.join(cardbox_test.ROOT, "build", "openapi-types")
HEAD = """import type { paths, components } from "./cardbox";
type Abilities = { [P in keyof paths as P extends `/projects/{project_id}/abilities/${infer A}`
    ? A extends "{ability_id}" ? never : A : never]:
        paths[P] extends { post: { requestBody?: { content: { "application/json": infer I } } } } ? I : never };
type Schemas = components["schemas"];
declare function ability<A extends keyof Abilities>(name: A, input: Abilities[A]): void;
declare function append(entry: Schemas["NewEntry"]): void;
declare function card(card: Schemas["NewCard"]): void;
declare const context: Schemas["SessionContext"];
declare const error: Schemas["Error"];
"""
GOOD = [
    'ability("task:spawn", { goal: "x" });',
    'ability("ldg:task:query", { completionStatus: "null" });',
    'ability("session:append", { session_id: "s", entries: [{ type: "user", content: "x" }] });',
    'append({ type: "user", content: "x" });',
    'append({ type: "user", content: [{ type: "image_url", image_url: { url: "https://x/y.png" } }, { type: "text", text: "x" }] });',
    'append({ type: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "x" } }] });',
    'append({ type: "tool_result", toolCallId: "c", output: { any: 1 } });',
    'append({ type: "assistant", toolCalls: [{ id: "c", name: "f", params: { a: 1 } }] });',
    'append({ type: "message", message: { role: "toolResult", toolCallId: "c", content: [{ type: "text", text: "x" }] } });',
    'append({ type: "label", targetId: "e", label: "x", id: "l", parentId: null, timestamp: 1 });',
    'card({ content: { __type__: "TextContent", text: "x" }, type: "task.instruction" });',
    'card({ content: [1, null], type: "my.type" });',
    'card({ content: { __type__: "MessageContent", format: "openai", message: { role: "user", content: "x", more: 1 } } });',
    'const said = { __type__: "ToolCallContent", tool_name: "f", arguments: {}, status: "called" } satisfies Schemas["ContentClass"];',
    'if (context.format === "anthropic") for (const { content } of context.messages) for (const one of content) typeof one === "object" && one.type === "tool_use";',
    'if (context.format === "openai") for (const one of context.messages) if (one.role === "tool") one.tool_call_id?.length;',
    'const code: "validation_failed" | "not_found" extends typeof error.detail.error_code ? 1 : 0 = 1;',
    'const at: (string | number)[] | undefined = error.detail.faults?.[0]?.loc;',
]
BAD = [
    'ability("task:spwan", { goal: "x" });',
    'ability("task:spawn", { gaol: "x" });',
    'ability("task:spawn", {});',
    'ability("session:append", { session_id: "s", entries: [{ type: "tool_result", tool_call_id: "c", output: 1 }] });',
    'append({ type: "tool_result", tool_call_id: "c", output: 1 });',
    'append({ type: "tool_result", toolCallId: "c", tool_call_id: "c", output: 1 });',
    'append({ type: "tool_resutl", toolCallId: "c", output: 1 });',
    'append({ role: "user", content: "x" });',
    'append({ type: "message", message: { role: "toolResult", tool_call_id: "c", content: "x" } });',
    'append({ type: "assistant", toolCalls: [{ id: "c", name: "f", arguments: {} }] });',
    '({ __type__: "TextContnt", text: "x" }) satisfies Schemas["ContentClass"];',
    '({ __type__: "MessageContent", format: "gemini", message: {} }) satisfies Schemas["ContentClass"];',
    'if (context.format === "anthropic") for (const one of context.messages) one.role === "tool";',
    'context.format === "xml";',
    'error.detail.error_code === "no_such_code";',
    'error.detail.faults?.[0]?.place;',
]


def run(*command):
    return subprocess.run(["node", *command], cwd=FOLDER, capture_output=True, text=True, timeout=240)


def test_generate():
    os.makedirs(FOLDER, exist_ok=True)
    done = run(os.path.join(client_test.modules(), "openapi-typescript", "bin", "cli.js"), os.path.join(cardbox_test.ROOT, "openapi", "cardbox.json"),
               "-o", "cardbox.d.ts")
    assert done.returncode == 0, done.stdout + done.stderr


def test_compile():
    """One line of the source for each case; the compiler names the lines with errors."""
    with open(os.path.join(FOLDER, "cases.ts"), "w", encoding="utf-8") as out:
        out.write(HEAD + "\n".join(GOOD + BAD) + "\n")
    done = run(os.path.join(client_test.modules(), "typescript", "lib", "tsc.js"), "--noEmit", "--strict", "--module", "esnext",
               "--moduleDetection", "force", "--moduleResolution", "bundler", "cases.ts")
    lines = done.stdout.splitlines()
    faulty = {int(line.split("(")[1].split(",")[0]) for line in lines if line.startswith("cases.ts(")}
    assert not any("cardbox.d.ts" in line for line in lines), done.stdout
    first = HEAD.count("\n") + 1
    for number, case in enumerate(GOOD + BAD, first):
        assert (number in faulty) == (case in BAD), f"{case}\n{done.stdout}"


if __name__ == "__main__":
    cardbox_test.main()
