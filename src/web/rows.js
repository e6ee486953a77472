// rows.js: one row for each kind of thing: a session, a task, a box, a hit of a search. All lists that
// have such a thing draw it by these, so that it looks the same everywhere. Knows no server.
import { copyButton, count, el, namedLink, oneLine, shortId, untrusted, visible } from './dom.js';
import { link } from './place.js';
import { statusNodes } from './task_status.js';
import { when, whenMs } from './time.js';
import { tokens } from './usage.js';

/** A row of a list. All of it opens `href`; its `actions` (buttons, links) appear on hover and on focus.
 * Its name is the node `name`, else the first sentence of `text`, else `id`. `facts` are nodes below. */
export function row({ href, text, id, name = null, facts = [], actions = [], props = {} }) {
  return el('div', { ...props, class: 'row' },
    el('div', { class: 'row-text' }, name ? el('a', { href, class: 'whole' }, name) : namedLink(href, text, id, { class: 'whole' }),
      el('div', { class: 'faint row-facts' }, facts)),
    actions.length > 0 ? el('span', { class: 'actions' }, actions) : null);
}

const commas = (...parts) => parts.filter((one) => one !== null && one !== undefined && one !== false && one !== '')
  .map((one, at) => [at > 0 ? ', ' : '', one]);

/** The actions of a row: what a model gets of it, and its id. */
const actions = (id, context) => [context ? el('a', { href: link(context), 'data-do': 'context', title: 'what a model gets' }, 'Context') : null,
  copyButton(id, 'Copy id')];

/** The kind of thing that a row is, in a list of several kinds. */
const kindMark = (kind) => (kind ? el('span', { class: 'kind' }, kind) : null);

/** The beginning of the last message of a session, with a badge if the message reports an error. */
function lastMessage(last) {
  if (!last) return null;
  const text = oneLine([last.text, last.tools && `→ ${last.tools}`].filter(Boolean).join(' '), 100);
  return [last.failed ? el('span', { class: 'badge bad' }, 'error') : null, untrusted(last.role), ': ', untrusted(text)];
}

/** A session of a list with previews. With `kind`, the row shows it. */
export function sessionRow(one, here, kind = null) {
  return row({
    href: link({ project: here.project, view: 'session', id: one.session_id }),
    text: one.name ?? one.first?.text, id: one.session_id, props: { 'data-session': one.session_id },
    facts: [kindMark(kind), commas(count(one.entries, 'entry', 'entries'),
      one.forked_from ? ['a fork of ', shortId(one.forked_from)] : null, tokens(one.usage), when(one.updated_at), shortId(one.session_id)),
    one.last ? el('div', { class: 'last' }, lastMessage(one.last)) : null],
    actions: actions(one.session_id, { project: here.project, view: 'session-context', id: one.session_id }),
  });
}

/** When something happened in a task last, in milliseconds. */
export const lastOf = (task) => Math.max(task.updatedAt, task.lastMessageAt ?? 0);

/** A task as ldg:task:query with goals returns it. */
export function taskRow(one, here, kind = null) {
  return row({
    href: link({ project: here.project, view: 'task', id: one.id }), text: one.goal || one.systemPrompt, id: one.id,
    props: { 'data-task': one.id },
    facts: [kindMark(kind), statusNodes(one), ' ', one.router ? el('span', { class: 'badge' }, 'router') : null,
      commas(one.parentTaskId && one.parentTaskId !== here.id ? 'a subtask' : null, whenMs(lastOf(one)), shortId(one.id))],
    actions: actions(one.id),
  });
}

/** A box of a list with previews. Optional: `card`, a card in the box to which the row leads. */
export function boxRow(box, here, kind = null, card = undefined) {
  return row({
    href: link({ project: here.project, view: 'box', id: box.box_id, query: { at: card } }), text: box.preview?.text, id: box.box_id,
    props: { 'data-box': box.box_id },
    facts: [kindMark(kind), commas(count(box.length, 'card'), box.version > 1 ? `version ${box.version}` : null,
      box.parent_ids.length > 0 ? [box.parent_ids.length > 1 ? 'from ' : 'a fork of ', shortId(box.parent_ids[0])] : null, box.sealed ? 'sealed' : null,
      when(box.updated_at), shortId(box.box_id))],
    actions: actions(box.box_id, { project: here.project, view: 'context', id: box.box_id }),
  });
}

// --- hits ---

/** A snippet whose matches are marked. The offsets count code points. */
function marked(snippet, offsets) {
  const points = [...snippet];
  const nodes = [];
  let at = 0;
  for (const [from, to] of offsets) {
    nodes.push(visible(points.slice(at, from).join('')), el('mark', {}, visible(points.slice(from, to).join(''))));
    at = to;
  }
  return el('bdi', {}, nodes, visible(points.slice(at).join('')));
}

/** Where a hit leads: to the card, to the entry in its session, or to the message in its task. */
function hitPlace({ kind, id, session_id: session, task_id: task }, here) {
  if (kind === 'entry') return { project: here.project, view: 'session', id: session, query: { at: id } };
  if (kind === 'message' && task) return { project: here.project, view: 'task', id: task, query: { at: id } };
  return { project: here.project, view: 'card', id };
}

/** A hit of a search; `to` is the page that it leads to. */
export function hitRow(hit, here, to = hitPlace(hit, here)) {
  return row({
    href: link(to), name: marked(hit.snippet, hit.offsets), id: hit.id, props: { 'data-hit': hit.id },
    facts: [kindMark(hit.kind), commas(hit.role ? untrusted(hit.role) : null, hit.type && hit.type !== hit.role ? untrusted(hit.type) : null,
      when(hit.created_at), hit.session_id ? ['session ', shortId(hit.session_id)] : null,
      hit.task_id ? ['task ', shortId(hit.task_id)] : null, hit.kind === 'card' ? shortId(hit.id) : null)],
  });
}
