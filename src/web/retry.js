// retry.js: the dialogs that fork and retry. A fork is a copy of a box or of a path of a session. A retry is a copy in
// which another message replaces the last one or follows it, so that a model answers again. The model is called
// by the reader's own agent: the dialogs and the pages that they lead to say so.
import { el, sentence, shortId, untrusted } from './dom.js';
import { ask } from './dialog.js';
import { plainEntryText } from './blocks.js';
import { newId } from './id.js';
import { Message } from './message.js';
import { link } from './place.js';

// Labels of the text of a message
const AFTER = 'A message after it (optional)';
const INSTEAD = 'Another message instead of this one (optional)';
const EDITED = 'The message';
const BELOW = 'the message below, which you can change';
const THEN_YOURS = ', and then your message, if you write one';

/** The label of the text that replaces `text`; null: that is no plain text. */
const labelOf = (text) => (text === null ? INSTEAD : EDITED);

// --- what comes next ---

/** Returns the sentence of a dialog about what happens after a retry. */
const willBe = (kind, more = '') => el('p', { class: 'faint', 'data-fact': 'next' },
  `CardBox calls no model${more}: your agent reads what a model gets of the new ${kind}, and appends the answer.`);

/** The address of the box or the session that a retry has made; `at` is its last message. */
const made = (here, view, id, at, isRetry) => ({ project: here.project, view, id, query: { at, made: isRetry ? 'retry' : undefined } });

/** Returns the same for the page of a new box or session; null for other pages. */
export function nextStep({ project, view, id, query }) {
  if (query.made !== 'retry') return null;
  return el('p', { class: 'facts', role: 'status', 'data-fact': 'next' }, 'CardBox calls no model: your agent reads ',
    el('a', { href: link({ project, view: view === 'box' ? 'context' : 'session-context', id }) }, 'What a model gets'),
    ` and appends the answer to this ${view}.`);
}

/** The field for a message of the user. With `text`, which it holds at first, it must not be empty. */
function messageField(label, text = null) {
  const field = el('textarea', { name: 'text', rows: 4, autofocus: true, required: text !== null, dir: 'auto' }, text);
  return { field, fields: el('div', { class: 'message-fields' }, el('label', {}, label, field)) };
}

// --- sessions ---

/** A message of the user, as an entry of the dialect. */
const userEntry = (dialect, id, text) => (dialect === 'pi'
  ? { id, type: 'message', message: { role: 'user', content: text, timestamp: Date.now() } }
  : { id, type: 'user', content: text });

/** The text of a message that is to be edited; null if it is no plain text or can't be read. */
async function textOf(node, api, here) {
  try {
    return plainEntryText((await api.entry(here.id, node.entry_id)).data.entry);
  } catch {
    return null;
  }
}

/** Returns words for what a fork of the session gets. `old`: the text of the message that is replaced, as textOf returns it. */
function entriesOfFork({ entry_id: id, parent_id: parent }, replaces, old) {
  if (!replaces) return ['the entries up to ', shortId(id), THEN_YOURS];
  return [parent === null ? 'only ' : ['the entries before ', shortId(id), ', and then '],
    old === null ? 'your message. Without one, it gets that message as it is' : BELOW];
}

/** A new session up to the entry `last`; null: a session without entries, which the first append creates. Returns its id. */
const forkAt = async (api, id, last) => (last === null ? newId() : (await api.forkSession(id, { entry_id: last })).data.session_id);

/** Asks for a message, and forks the session up to the entry `node`. If `replaces`, the message replaces the entry. */
export async function askToForkSession(node, { isRetry = false, replaces = false }, api, here) {
  const { hash } = location;
  const old = replaces ? await textOf(node, api, here) : null;
  if (location.hash !== hash || document.querySelector('dialog[open]')) return; // meanwhile
  const { field, fields } = messageField(replaces ? labelOf(old) : 'A message of the user after it (optional)', old);
  const oldValue = field.value; // as a field has it: its ends of lines are those of the browser
  const messageId = newId();
  const forks = new Map(); // last entry -> the new session, which a second attempt uses again
  ask({
    title: isRetry ? 'Retry from this message' : 'Fork this session', yes: isRetry ? 'Retry' : 'Fork',
    text: ['A new session in the project ', untrusted(here.project), ' gets from the session ', untrusted(here.id), ' ',
      entriesOfFork(node, replaces, old), '. This session stays as it is.'], fields: [fields, willBe('session')],
  }, async () => {
    const text = field.value;
    const isGiven = old === null ? text.trim() !== '' : text !== oldValue;
    const last = isGiven && replaces ? node.parent_id : node.entry_id;
    if (!forks.has(last)) forks.set(last, await forkAt(api, here.id, last));
    const id = forks.get(last);
    if (isGiven) {
      const { data: { dialect } } = await api.session(here.id);
      await api.appendToSession(id, { create: last === null ? { dialect } : undefined, entry: userEntry(dialect, messageId, text) });
    }
    return made(here, 'session', id, isGiven ? messageId : last, isRetry || isGiven);
  });
}

// --- boxes ---

/** Returns words for what a fork of the box gets. */
function contentsOfFork(box, what, replaced) {
  const of = [' of the box ', shortId(box)];
  if (replaced === null) return [what, of, THEN_YOURS];
  const before = replaced.isFirst ? 'only ' : [replaced.what, of, ', and then '];
  return [before, replaced.text === null ? ['your message. Without one, it gets ', what, of] : BELOW];
}

/** Asks for a message, and forks the box. `body` is that of the fork, and `what` is what the fork begins with, in words.
 * With `replaced`, the message replaces the last card: {body, what, text, isFirst}. Its `body` and `what` are those of
 * a fork without the card. `text` is that of the card, or null if it is no plain text. `isFirst`: no card is before it. */
export function askToForkBox(api, here, box, { body, replaced = null, what, isRetry = false }) {
  const old = replaced?.text ?? null;
  const message = new Message(replaced ? labelOf(old) : AFTER, old === null, old ?? '');
  const forks = new Map(); // body -> the new box, which a second attempt uses again
  ask({
    title: isRetry ? 'Retry with a fork of this box' : 'Fork this box', yes: isRetry ? 'Retry' : 'Fork',
    text: ['A new box in the project ', untrusted(here.project), ' gets ', contentsOfFork(box, what, replaced),
      '. Cards are shared, not copied, and this box stays as it is.'], fields: [message.fields, willBe('box')],
  }, async () => {
    const isGiven = old === null ? !message.isEmpty : message.isChanged;
    const wanted = replaced && isGiven ? replaced.body : body;
    if (!forks.has(wanted)) forks.set(wanted, (await api.fork(box, wanted)).data);
    const { box_id: id, version } = forks.get(wanted);
    const at = isGiven ? await message.append(api, id, version) : undefined;
    return made(here, 'box', id, at, isRetry || isGiven);
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
    title, yes: 'Retry', fields: [fields, willBe('session', ', and no worker continues the session')],
    text: ['A new session in the project ', untrusted(here.project), ' gets the messages that the model got,',
      ' without its answer', THEN_YOURS, '. Nothing else changes.'],
  }, async () => {
    const said = field.value.trim() === '' ? [] : [{ role: 'user', content: field.value }];
    const entries = [{ type: 'session_info', name: sentence(name) }, ...entriesOf([...await load(), ...said])];
    const [id, last] = [newId(), newId()];
    entries.at(-1).id = last;
    for (let at = 0; at < entries.length; at += APPEND_MOST)
      await api.appendToSession(id, { create: { dialect: 'plain' }, entries: entries.slice(at, at + APPEND_MOST) });
    return made(here, 'session', id, last, true);
  });
}
