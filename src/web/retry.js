// retry.js: the dialogs that fork and retry. A fork is a copy of a box or of a path of a session. A retry is a copy in
// which another message replaces the last one or follows it, so that a model answers again.
import { el, sentence, shortId, untrusted } from './dom.js';
import { ask } from './dialog.js';
import { newId } from './id.js';
import { Message } from './message.js';

const INSTEAD = 'Another message instead of this one (optional)';

/** The field for a message of the user. */
function messageField(label) {
  const field = el('textarea', { name: 'text', rows: 4, autofocus: true, dir: 'auto' });
  return { field, fields: el('div', { class: 'message-fields' }, el('label', {}, label, field)) };
}

// --- sessions ---

/** A message of the user, as an entry of the dialect. */
const userEntry = (dialect, id, text) => (dialect === 'pi'
  ? { id, type: 'message', message: { role: 'user', content: text, timestamp: Date.now() } }
  : { id, type: 'user', content: text });

/** Asks for a message, and forks the session up to the entry `node`. If `replaces`, the message replaces the entry. */
export function askToForkSession(node, { isRetry = false, replaces = false }, api, here) {
  const before = replaces ? node.parent_id : null; // null: the first entry of a session can't be replaced
  const { field, fields } = messageField(before === null ? 'A message of the user after it (optional)' : INSTEAD);
  const messageId = newId();
  const forks = new Map(); // last entry -> the new session, which a second attempt uses again
  ask({
    title: isRetry ? 'Retry from this message' : 'Fork this session', yes: isRetry ? 'Retry' : 'Fork',
    text: ['A new session in the project ', untrusted(here.project), ' has the path to ', shortId(node.entry_id),
      ' of the session ', untrusted(here.id), ', and continues from there. This session stays as it is.'], fields,
  }, async () => {
    const text = field.value;
    const isGiven = text.trim() !== '';
    const last = isGiven && before !== null ? before : node.entry_id;
    if (!forks.has(last)) forks.set(last, (await api.forkSession(here.id, { entry_id: last })).data);
    const { session_id: id } = forks.get(last);
    if (isGiven) {
      const { data: { dialect } } = await api.session(id);
      await api.appendToSession(id, { entry: userEntry(dialect, messageId, text) });
    }
    return { project: here.project, view: 'session', id, query: { at: isGiven ? messageId : last } };
  });
}

// --- boxes ---

/** Asks for a message, and forks the box. `body` is that of the fork, and `what` is what the fork begins with, in words.
 * With `before`, which is the body of a shorter fork, the message replaces the last card. */
export function askToForkBox(api, here, box, { body, before = null, what, isRetry = false }) {
  const message = new Message(before ? INSTEAD : 'A message after it (optional)', true);
  const forks = new Map(); // body -> the new box, which a second attempt uses again
  ask({
    title: isRetry ? 'Retry with a fork of this box' : 'Fork this box', yes: isRetry ? 'Retry' : 'Fork',
    text: ['A new box in the project ', untrusted(here.project), ` begins with ${what} of the box `,
      shortId(box), '. Cards are shared, not copied, and this box stays as it is.'], fields: message.fields,
  }, async () => {
    const wanted = before && !message.isEmpty ? before : body;
    if (!forks.has(wanted)) forks.set(wanted, (await api.fork(box, wanted)).data);
    const { box_id: id, version } = forks.get(wanted);
    const at = message.isEmpty ? undefined : await message.append(api, id, version);
    return { project: here.project, view: 'box', id, query: { at } };
  });
}

// --- turns of tasks ---

const APPEND_MOST = 1000; // entries of a request

/** The messages of a context in OpenAI's format as entries of a session. */
function entriesOf(messages) {
  return messages.map((one) => {
    if (one.role === 'tool') return { type: 'tool_result', toolCallId: one.tool_call_id, output: one.content, success: true };
    const calls = (one.tool_calls ?? []).map((call) => ({
      id: call.id, name: call.function.name, params: parameters(call.function.arguments),
    }));
    return { type: one.role, content: one.content ?? '', ...calls.length > 0 ? { toolCalls: calls } : {} };
  });
}

function parameters(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

/** Asks for a message, and makes a session of the messages that `load` returns. */
export function askToRetryInSession(api, here, { title, name, load }) {
  const { field, fields } = messageField('A message of the user after them (optional)');
  ask({
    title, yes: 'Retry', fields,
    text: ['A new session in the project ', untrusted(here.project), ' gets the messages that the model got,',
      ' without its answer. The session continues from there, and nothing else changes.'],
  }, async () => {
    const said = field.value.trim() === '' ? [] : [{ role: 'user', content: field.value }];
    const entries = [{ type: 'session_info', name: sentence(name) }, ...entriesOf([...await load(), ...said])];
    const [id, last] = [newId(), newId()];
    entries.at(-1).id = last;
    for (let at = 0; at < entries.length; at += APPEND_MOST)
      await api.appendToSession(id, { create: { dialect: 'plain' }, entries: entries.slice(at, at + APPEND_MOST) });
    return { project: here.project, view: 'session', id, query: { at: last } };
  });
}
