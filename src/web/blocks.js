// blocks.js: messages in the shapes of all APIs and dialects as nodes: texts, thinking, calls, results and images.
// Knows no server. An image is drawn from its bytes only: to load one from an address would tell somebody of it.
import { content as cardContent, isObject, json, jsonOrText, textOf, toolCalls } from './content.js';
import { el, untrusted } from './dom.js';
import { prose } from './markdown.js';

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const PRINTED = new Set(['toolResult', 'tool_result', 'bashExecution', 'tool', 'function_call_output', 'custom_tool_call_output']); // roles and types

const faint = (text) => el('p', { class: 'faint' }, text);

/** An image of base64. */
function picture(type, data) {
  if (!IMAGES.has(type) || typeof data !== 'string' || !/^[\w+/=-]+$/.test(data)) return faint('An image.');
  return el('img', { class: 'shown', src: `data:${type};base64,${data}`, alt: 'an image of this message', loading: 'lazy' });
}

/** An image with an address, which may have the bytes in it. */
function imageAt(url) {
  const [, type, data] = /^data:(image\/\w+);base64,(.*)$/s.exec(String(url)) ?? [];
  return type ? picture(type, data) : el('p', {}, 'An image: ', untrusted(String(url), { class: 'uri' }));
}

/** An image as a block of pi or MCP, or of Anthropic's API. */
function imageOf({ data, mimeType, source }) {
  if (isObject(source)) return source.type === 'base64' ? picture(source.media_type, source.data) : imageAt(source.url ?? source.file_id ?? '');
  return picture(mimeType, data);
}

/** A call of a tool. */
export function call(name, id, input) {
  return el('div', { class: 'call' }, el('span', { class: 'tool' }, untrusted(String(name ?? 'tool'))), ' ',
    untrusted(id ?? '', { class: 'id faint' }), jsonOrText(input));
}

const result = (id, isError, of) => el('div', { class: 'call' },
  el('span', { class: isError ? 'badge bad' : 'badge' }, 'result'), ' ', untrusted(id ?? '', { class: 'id' }), parts(of, true));

const thinking = (text) => (String(text ?? '').trim() ? el('details', {}, el('summary', {}, 'thinking'), prose(String(text))) : null);
const text = (one, isPlain) => (typeof one.text === 'string' && one.text.trim() ? textOf(one.text, isPlain) : null);

// The functions make nodes of a block, or of an item of the Responses API.
const BLOCKS = {
  text, input_text: text, output_text: text,
  refusal: (one) => el('p', { class: 'failure' }, untrusted(String(one.refusal ?? ''))),
  thinking: (one) => thinking(one.thinking),
  redacted_thinking: () => faint('Thinking that only its API can read.'),
  reasoning: (one) => thinking([...one.content ?? [], ...one.summary ?? []].map((part) => part?.text ?? '').join('\n\n'))
    ?? faint('Reasoning that only its API can read.'),
  toolCall: (one) => call(one.name, one.id, one.arguments),
  tool_use: (one) => call(one.name, one.id, one.input),
  function_call: (one) => call(one.name, one.call_id, one.arguments),
  custom_tool_call: (one) => call(one.name, one.call_id, one.input),
  tool_result: (one) => result(one.tool_use_id, one.is_error, one.content),
  function_call_output: (one) => result(one.call_id, false, one.output),
  custom_tool_call_output: (one) => result(one.call_id, false, one.output),
  image: (one) => imageOf(one),
  image_url: (one) => imageAt(isObject(one.image_url) ? one.image_url.url : one.image_url),
  input_image: (one) => imageAt(one.image_url ?? one.file_id ?? ''),
};

const block = (one, isPlain) => (isObject(one) && Object.hasOwn(BLOCKS, one.type) ? BLOCKS[one.type](one, isPlain) : json(one));

/** The nodes of a content; `isPlain`: a tool has printed it. */
export function parts(of, isPlain) {
  if (typeof of === 'string') return of.trim() ? textOf(of, isPlain) : null;
  if (!Array.isArray(of)) return of ? json(of) : null;
  return of.map((one) => block(one, isPlain));
}

/** The nodes of a message of a context, or of an item of the Responses API. */
export function messageNodes(message) {
  if (message.content === undefined && Object.hasOwn(BLOCKS, message.type)) return [block(message)];
  return [parts(message.content, PRINTED.has(message.role)),
    typeof message.reasoning_content === 'string' ? thinking(message.reasoning_content) : null,
    typeof message.refusal === 'string' ? BLOCKS.refusal(message) : null,
    (message.toolCalls ?? toolCalls(message)).map((one) => call(one.name, one.id, one.arguments ?? one.params))];
}

// --- the entries of sessions ---

/** Returns the message of an entry, the payload of a line of codex, or the entry itself. */
const saidIn = (line) => [line.message, line.payload].find(isObject) ?? line;

/** The text of a session's entry, and the tools that it calls, as nodes. Null: it has neither. */
export function entryContent(line) {
  const said = saidIn(line);
  if (said.content === undefined && Object.hasOwn(BLOCKS, said.type) && said !== line) return [block(said)];
  const isPlain = PRINTED.has(said.role ?? said.type);
  const texts = [said.command && `$ ${said.command}`, said.content, said.summary, said.output, said.errorMessage]
    .filter((one) => typeof one === 'string' && one.trim()).map((one) => textOf(one, isPlain));
  const blocks = [said.content, said.output].filter(Array.isArray).flat().filter(isObject).map((one) => block(one, isPlain));
  const calls = [...(Array.isArray(said.toolCalls) ? said.toolCalls.filter(isObject) : []), ...toolCalls(said)]
    .map((one) => call(one.name, one.id, one.arguments ?? one.params));
  const settings = line.type === 'settings' ? settingsNodes(line) : [];
  const all = [...texts, ...blocks, ...calls, ...settings].filter((one) => one !== null);
  return all.length === 0 ? null : all;
}

/** The tools, the system text and the parameters of requests. */
export function settingsNodes({ system, tools, parameters }) {
  return [parts(system), Array.isArray(tools) ? cardContent({ content_class: 'ToolContent', content: { data: { tools } } }) : null,
    parameters === undefined ? null : el('div', {}, faint('Parameters'), json(parameters))].filter((one) => one !== null);
}

/** The first text of a session's entry; '' if it has none. */
export function entryText(line) {
  const said = saidIn(line);
  const blocks = Array.isArray(said.content) ? said.content.filter(isObject) : [];
  return [said.content, ...blocks.map((one) => one.text), said.summary, said.output]
    .find((one) => typeof one === 'string' && one.trim()) ?? '';
}

/** The whole text of a session's entry that has nothing but a text; else null. */
export function plainEntryText(line) {
  const { content: said } = isObject(line.message) ? line.message : line;
  const [first, ...rest] = Array.isArray(said) ? said : [{ type: 'text', text: said }];
  return rest.length === 0 && first?.type === 'text' && typeof first.text === 'string' && first.text.trim() ? first.text : null;
}
