// entries.js: the entries of a session as rows: messages first, settings and labels small. From each one goes to
// its whole text, to what the model got, to a fork or a retry, and to where else in the project the same words are.
import { copyButton, count, el, shortId, untrusted } from './dom.js';
import { elsewhere } from './elsewhere.js';
import { link } from './place.js';
import { askToForkSession } from './retry.js';
import { clock, exactly } from './time.js';
import { isOfUser } from './turns.js';
import { answerFacts } from './usage.js';

const DEEPEST = 16; // steps that a branch is set in
// The same roles as in the command line; a summary has a role only for models.
const SPEAKERS = new Set(['system', 'user', 'assistant', 'result', 'call', 'bash']);
const TALKERS = new Set(['system', 'user', 'assistant', 'summary', 'custom']); // their texts are worth lines
const MINOR = new Set(['setting', 'settings', 'label', 'name', 'metadata']);

/** The text of an entry; the size of an entry that is too long. */
function saysOf({ preview, type, size }) {
  const calls = preview?.calls || preview?.tools;
  const said = preview && [preview.text.trim(), calls && `→ ${calls}`].filter(Boolean).join(' ');
  return said || `(${type}, ${count(size, 'byte')})`;
}

/** A new session of the path to an entry. With a user's message, a retry: another message may replace it. */
function forkButton(node, isTurn, api, here) {
  return el('button', {
    type: 'button', class: 'quiet', 'data-do': isTurn ? 'retry' : 'fork',
    title: isTurn ? 'a new session up to this message, also with another message instead' : 'a new session that ends with this entry',
    onclick: () => askToForkSession(node, { isRetry: isTurn, replaces: isTurn }, api, here),
  }, isTurn ? 'Retry' : 'Fork here');
}

function foldButton({ below, folded }, onfold) {
  return below > 0 ? el('button', {
    type: 'button', class: 'quiet fold', 'data-do': 'fold', 'aria-expanded': String(!folded),
    title: folded ? 'show the branch' : 'fold the branch', onclick: onfold,
    'aria-label': folded ? `▸ ${below.toLocaleString('en')} more: show the branch` : 'fold the branch',
  }, folded ? `▸ ${below.toLocaleString('en')} more` : '▾') : null;
}

/** An answer was made of what is before it; at all else, what a model gets there ends with it. */
function contextLink(node, word, at) {
  const isAnswer = word === 'assistant' && node.parent_id !== null;
  return el('a', {
    href: at('session-context', { leaf: isAnswer ? node.parent_id : node.entry_id }), 'data-do': 'context',
    title: isAnswer ? 'what the model got before it said this' : 'what the model gets up to here',
  }, 'What the model got');
}

/** The actions of an entry. */
function actions(node, word, api, here, isTurn) {
  const at = (view, query) => link({ project: here.project, view, id: here.id, query });
  const hasWords = !MINOR.has(word) && Boolean(node.preview?.text.trim() || node.preview?.tools);
  return el('span', { class: 'entry-actions' }, contextLink(node, word, at), forkButton(node, isTurn, api, here),
    hasWords ? elsewhere(here.project, node.entry_id, here.id) : null, copyButton(node.entry_id, 'Copy id'));
}

/** The time of an entry: its own, else that at which it was stored. */
function timeNode({ preview, appended_at: stored }) {
  const time = clock(preview?.time) ? preview.time : stored;
  const title = [clock(time) && exactly(time), time !== stored && stored ? `stored ${exactly(stored)}` : null].filter(Boolean).join(', ');
  return el('span', { class: 'faint time', title }, clock(time));
}

/** One entry. `row`: {node, level, begins, leaf, children, below, folded}; `turn`: the number of the turn that it
 * begins; `current`: the entry that is looked for. */
export function entryRow(row, { session, here, api, turn, current, onfold }) {
  const { node, level = 0, begins, leaf, children } = row;
  const word = node.preview?.role ?? node.type;
  const kind = MINOR.has(word) ? ' minor' : TALKERS.has(word) && node.preview?.text.trim() ? ' talk' : '';
  const open = link({ ...here, query: { ...here.query, entry: node.entry_id } });
  const made = el('div', {
    class: `entry role-${SPEAKERS.has(word) ? node.role : 'other'}${kind}${begins ? ' begins' : ''}${leaf ? ' leaf' : ''}`,
    'data-entry': node.entry_id, 'data-level': level, 'data-turn': turn,
    'aria-current': node.entry_id === current ? 'location' : null,
  }, el('span', { class: 'role' }, untrusted(word)),
  turn ? el('span', { class: 'turn-mark' }, `turn ${turn}`) : null,
  el('a', { class: 'says opens', href: open }, untrusted(saysOf(node))),
  node.entry_id === session.head_entry_id ? el('span', { class: 'badge good' }, 'head') : null,
  typeof node.label === 'string' ? el('span', { class: 'badge label' }, untrusted(node.label)) : null,
  node.missing_parent === undefined ? null : el('span', { class: 'badge bad' }, 'its parent is missing'),
  children > 1 ? el('span', { class: 'badge' }, count(children, 'branch', 'branches')) : null,
  foldButton(row, onfold), el('span', { class: 'space' }),
  actions(node, word, api, here, isOfUser(node)), answerFacts(node.preview ?? {}), timeNode(node),
  shortId(node.entry_id, { class: 'id faint' }));
  made.style.setProperty('--level', Math.min(level, DEEPEST));
  return made;
}
