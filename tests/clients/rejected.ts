/** Each marked line must be an error of the compiler, and the compiler must find no other error. */

import { CardBox } from "cardbox";

const project = new CardBox("http://127.0.0.1:8099").project("p");

await project.abilities.call("task:spawn", { goal: "g" });
await project.session("s").append({ type: "tool_result", toolCallId: "c", output: "x", success: true });
// @ts-expect-error: an unknown ability
await project.abilities.call("task:spwan", { goal: "g" });
// @ts-expect-error: a misspelt member of an input
await project.abilities.call("task:spawn", { gaol: "g" });
// @ts-expect-error: the members of entries are in camel case
await project.session("s").append({ type: "tool_result", tool_call_id: "c", output: "x", success: true });
// @ts-expect-error: a misspelt parameter
await project.cards.list({ limti: 1 });
// @ts-expect-error: an unknown format
await project.session("s").context({ format: "opnai" });
// @ts-expect-error: an unknown format of a session
project.session("s", { format: "opnai" });
// @ts-expect-error: a misspelt option of an addition
await project.session("s").add({ role: "user", content: "q" }, { fromat: "openai" });
// @ts-expect-error: the format openai has arguments as text
(await project.session("s").context()).open_calls[0]!.arguments.n;
