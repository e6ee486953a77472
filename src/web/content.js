// content.js: the content of a card, by its class. A content that has not the shape of its class is shown as
// JSON: nothing here may fail on what somebody has written.
import { entryContent } from './blocks.js';
import { add, block, count, el, untrusted } from './dom.js';
import { pretty, write } from './json.js';
import { prose } from './markdown.js';

export const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const ROLES = new Set(['system', 'user', 'assistant', 'tool']);

/** The CSS class of a card or message with this role. */
export const roleClass = (role) => `role-${ROLES.has(role) ? role : 'other'}`;

const FOLD_JSON = 1500; // characters

/** JSON that folds when it is long. */
export function json(value, summary = 'JSON') {
  const text = typeof value === 'string' ? value : write(value);
  if (text.length <= FOLD_JSON) return pretty(text);
  const folded = el('details', {}, el('summary', {}, `${summary}, ${count(text.length, 'character')}`));
  folded.addEventListener('toggle', () => {
    if (folded.open && folded.children.length === 1) add(folded, pretty(text));
  });
  return folded;
}

/** A text: as Markdown, unless a tool has printed it. */
export const textOf = (text, isPlain) => (isPlain ? block(text, { class: 'text' }) : prose(text));

const isOfTool = (card) => card.metadata?.role === 'tool' || card.type === 'tool.result';

/** Any value: text as text, all else as JSON. */
function value(of) {
  return typeof of === 'string' ? block(of, { class: 'text' }) : json(of);
}

/** A table of names and values. */
function fields(pairs) {
  return el('dl', { class: 'fields' }, pairs.map(([name, of]) => [
    el('dt', {}, untrusted(name)), el('dd', {}, value(of)),
  ]));
}

const FILE_FIELDS = ['content_type', 'size', 'width', 'height', 'page_count', 'duration_seconds',
  'format', 'codec', 'bitrate', 'expires_at', 'checksum', 'etag', 'preview'];

function file(content) {
  if (typeof content.uri !== 'string') return null;
  const known = FILE_FIELDS.filter((name) => content[name] !== null && content[name] !== undefined)
    .map((name) => [name, content[name]]);
  return [el('p', { class: 'uri' }, untrusted(content.uri)), fields(known)];
}

function tool(one) {
  const said = isObject(one.function) ? one.function : one;
  const schema = said.parameters ?? said.input_schema;
  return el('li', {}, el('strong', {}, untrusted(said.name ?? 'a tool without a name')), ' ',
    typeof said.description === 'string' ? untrusted(said.description) : null,
    schema === undefined ? null
      : el('details', {}, el('summary', {}, 'parameters'), pretty(write(schema))));
}

function toolResult(content) {
  const good = content.status === 'success';
  const error = content.error;
  return [
    el('p', {}, el('span', { class: good ? 'badge good' : 'badge bad' }, untrusted(content.status)),
      content.after_execution === 'terminate'
        ? el('span', { class: 'badge' }, 'ends the turn') : null),
    isObject(error)
      ? el('p', { class: 'failure' }, el('strong', {}, untrusted(error.code ?? 'error')), ' ',
        untrusted(error.message ?? '')) : null,
    content.result === null || content.result === undefined ? null : value(content.result),
  ];
}

// The functions make nodes of a content. Null: it has not the shape of the class.
const CLASSES = {
  TextContent: (c, card) => (typeof c.text === 'string' ? textOf(c.text, isOfTool(card)) : null),
  JsonContent: (c) => (c.data === undefined ? null : json(c.data)),
  FieldsSchemaContent: (c) => (Array.isArray(c.fields) && c.fields.every(isObject)
    ? fields(c.fields.map((one) => [one.name ?? '', one.description ?? ''])) : null),
  ToolContent: (c) => (isObject(c.data) && Array.isArray(c.data.tools) && c.data.tools.every(isObject)
    ? el('ul', { class: 'tools' }, c.data.tools.map(tool)) : null),
  ToolCallContent: (c) => (typeof c.tool_name === 'string'
    ? [el('p', {}, el('span', { class: 'tool' }, untrusted(c.tool_name)),
      c.status && c.status !== 'called' ? [' ', untrusted(c.status, { class: 'badge' })] : null),
    json(c.arguments ?? null, 'Arguments')] : null),
  ToolResultContent: (c) => (typeof c.status === 'string' ? toolResult(c) : null),
  MessageContent: ({ message }) => (isObject(message) ? entryContent({ message: { ...message, tool_calls: undefined } })
    ?? (Array.isArray(message.tool_calls) ? [] : null) : null), // a card shows its calls itself
  MultiFileContent: (c) => (Array.isArray(c.files) && c.files.every(isObject)
    ? el('ol', {}, c.files.map((one) => el('li', {}, file(one) ?? json(one)))) : null),
};

// --- any content ---

function makerOf({ content_class: kind }) {
  return kind ? CLASSES[kind] ?? (kind.endsWith('FileContent') ? file : null) : null;
}

/** The content of a card, as nodes. */
export function content(card) {
  const of = card.content;
  if (typeof of === 'string') return textOf(of, isOfTool(card));
  const make = makerOf(card);
  return (make && isObject(of) ? make(of, card) : null) ?? json(of, 'Content');
}

/** The message of a card with a message of an API; null: the card has other content. */
export const messageOf = ({ content_class: kind, content: of }) =>
  (kind === 'MessageContent' && isObject(of?.message) ? of.message : null);

/** The tool calls that a message carries beside its content: [{id, name, arguments}]. */
export function toolCalls(card) {
  const called = card.tool_calls ?? messageOf(card)?.tool_calls;
  if (!Array.isArray(called)) return [];
  return called.filter(isObject).map((call) => {
    const said = isObject(call.function) ? call.function : call;
    return { id: String(call.id ?? ''), name: String(said.name ?? 'tool'), arguments: said.arguments };
  });
}

/** A text that is mostly JSON, such as the arguments of a call. */
export function jsonOrText(of, summary = 'Arguments') {
  if (typeof of !== 'string') return json(of ?? null, summary);
  try {
    JSON.parse(of);
  } catch {
    return block(of, { class: 'text' });
  }
  return json(of, summary);
}
