// card.js: cards as one reads them: a card in a conversation, with its tool calls paired, and one
// card with all that is known of it.
import { copyButton, el, fill, untrusted } from './dom.js';
import { entryContent, entryText } from './blocks.js';
import { content, isObject, json, jsonOrText, messageOf, roleClass, toolCalls } from './content.js';
import { elsewhere, queryOf } from './elsewhere.js';
import { pretty, write } from './json.js';
import { link } from './place.js';
import { clock, when } from './time.js';
import { trouble } from './trouble.js';

/** The role of a card; '' if it has none. */
export function roleOf(card) {
  const role = card.metadata?.role;
  return typeof role === 'string' ? role : '';
}

/** The agent turn of a card; null if there is no card or it names none. */
export const agentTurnOf = (card) => (typeof card?.metadata?.agent_turn_id === 'string' ? card.metadata.agent_turn_id : null);

const TEXT_MOST = 2000; // characters of a card's text in short

/** The text of a card for one line: its beginning is enough. */
export function cardText(card) {
  const { content: of } = card;
  const calls = toolCalls(card).map((one) => one.name).join(', ');
  const message = messageOf(card);
  if (message) return entryText(message).slice(0, TEXT_MOST) || (calls ? `→ ${calls}` : write(message));
  if (typeof of === 'string' && of.trim()) return of.slice(0, TEXT_MOST);
  if (isObject(of) && typeof of.text === 'string' && of.text.trim()) return of.text.slice(0, TEXT_MOST);
  if (isObject(of) && typeof of.tool_name === 'string') return `→ ${of.tool_name}`;
  if (calls) return `→ ${calls}`;
  return firstText(of, 0) ?? (isObject(of) || Array.isArray(of) || of === '' || of === null ? '' : write(of));
}

/** The whole text of a card that has nothing but a text; else null. */
export function plainText({ content: of, content_class: kind, tool_calls: called }) {
  const text = kind === 'TextContent' ? of?.text : of;
  const isAlone = !Array.isArray(called) || called.length === 0;
  return isAlone && typeof text === 'string' && text.trim() ? text : null;
}

const NAMED_BY = 8; // cards at the beginning of a box

/** Reads the text that names a box: the first text of a user among the first cards, else the first text of any of them.
 * '': there is none. The function box_preview of the server has the same rule, for lists. */
export async function boxText(api, box) {
  const { data: cards } = await api.firstCards(box, NAMED_BY);
  const textOf = (card) => (messageOf(card) ? entryText(messageOf(card)) : isObject(card.content) ? card.content.text : card.content);
  const withText = cards.filter((one) => typeof textOf(one) === 'string' && textOf(one).trim());
  const first = withText.find((one) => one.metadata?.role === 'user') ?? withText[0];
  return first ? textOf(first).slice(0, TEXT_MOST) : '';
}

const DEEPEST = 8;

/** The first text with a word in a value; null if there is none near its top. */
function firstText(value, depth) {
  if (typeof value === 'string') return /\p{L}/u.test(value) ? value.slice(0, TEXT_MOST) : null;
  if (value === null || typeof value !== 'object' || depth > DEEPEST) return null;
  for (const one of Object.values(value)) {
    const found = firstText(one, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** The id of the call that a card makes or answers. */
const callIdOf = (card) => card.tool_call_id ?? messageOf(card)?.tool_call_id;

/** Calls get numbers and hues in the order in which they appear, so that pairs are seen. */
export function pairing(cards) {
  const calls = new Map();
  const note = (id, isAnswer) => {
    if (!id) return;
    if (!calls.has(id)) calls.set(id, { number: calls.size + 1, answered: false });
    if (isAnswer) calls.get(id).answered = true;
  };
  for (const card of cards) {
    for (const call of toolCalls(card)) note(call.id, false);
    note(callIdOf(card), isResult(card));
  }
  return calls;
}

function isResult(card) {
  return card.type === 'tool.result' || card.content_class === 'ToolResultContent' ||
    roleOf(card) === 'tool';
}

function hue(number) {
  return (number * 137 + 60) % 360;
}

function pairMark(id, calls, words) {
  const pair = calls.get(id);
  if (!pair) return null;
  const mark = el('button', { type: 'button', class: 'pair', 'data-call': id, title: `call id ${id}` },
    `${words} #${pair.number}`);
  mark.style.setProperty('--hue', hue(pair.number));
  mark.addEventListener('click', () => jumpToPair(mark, id));
  return mark;
}

/** From a call to its result, and back. */
function jumpToPair(mark, id) {
  const marks = [...document.querySelectorAll('.pair')].filter((one) => one.dataset.call === id &&
    one.closest('.card') !== mark.closest('.card'));
  const here = mark.closest('.card');
  const target = marks.find((one) => here.compareDocumentPosition(one) & 4) ?? marks[0];
  if (!target) return;
  target.closest('.card').scrollIntoView({ block: 'center', behavior: 'smooth' });
  target.focus({ preventScroll: true });
}

function calls(card, pairs) {
  return toolCalls(card).map((call) => {
    const pair = pairs.get(call.id);
    return el('div', { class: 'call' }, el('span', { class: 'tool' }, untrusted(call.name)), ' ',
      pairMark(call.id, pairs, 'call'),
      pair && !pair.answered ? el('span', { class: 'badge bad' }, 'no result here') : null,
      el('details', {}, el('summary', {}, 'arguments'), jsonOrText(call.arguments)));
  });
}

/** A card in a list or a conversation. `actions` are buttons; `change` marks how it came there. */
export function cardItem(card, { project, pairs = new Map(), change = null, position = null,
  actions = [], open }) {
  const role = roleOf(card);
  return el('article', {
    class: `card ${roleClass(role)}${change ? ` ${change}` : ''}`, 'data-card': card.card_id,
    'aria-label': `card ${card.card_id}`,
  },
  el('header', {},
    el('span', { class: 'role' }, untrusted(role || 'no role')),
    el('span', { class: 'type' }, untrusted(card.type)),
    callIdOf(card) ? pairMark(callIdOf(card), pairs, isResult(card) ? 'answers call' : 'call') : null,
    change ? el('span', { class: 'badge good' }, 'new in this version') : null,
    el('span', { class: 'space' }),
    card.author_id === 'unknown' ? null : untrusted(card.author_id, { class: 'author' }),
    el('span', {}, clock(card.created_at), ' · ', when(card.created_at)),
    position === null ? null : el('span', { class: 'position', title: 'place in the box' }, position)),
  el('div', { class: 'content' }, content(card)),
  calls(card, pairs),
  el('footer', {},
    el('a', { href: open ?? link({ project, view: 'card', id: card.card_id }), class: 'id' },
      untrusted(card.card_id)),
    el('span', { class: 'space' }), queryOf(card) ? elsewhere(project, card.card_id) : null, actions));
}

/** The item for a card of a box that can't be read. */
export function missingItem(id, { change = null, position = null } = {}) {
  return el('article', { class: `card missing${change ? ` ${change}` : ''}`, 'data-card': id },
    el('header', {}, el('span', { class: 'badge bad' }, 'missing'),
      el('span', { class: 'space' }), position === null ? null
        : el('span', { class: 'position' }, position)),
    el('p', {}, 'The box names ', untrusted(id, { class: 'id' }),
      ', which was deleted, has expired or was never written.'));
}

// --- one card ---

function row(name, value) {
  const empty = value === null || value === undefined;
  return [el('dt', {}, name), el('dd', {}, empty ? el('span', { class: 'faint' }, 'none')
    : typeof value === 'string' ? untrusted(value) : value instanceof Node ? value : json(value))];
}

function facts(card) {
  return el('dl', { class: 'fields' }, row('Card', card.card_id), row('Type', card.type),
    row('Content class', card.content_class), row('Author', card.author_id),
    row('Created', el('span', {}, untrusted(card.created_at), ' (', when(card.created_at), ')')),
    row('Expires', card.expires_at), row('Time to live, s', card.ttl_seconds),
    row('Sealed', card.sealed ? 'yes: it can never change' : 'no'),
    row('Answers call', card.tool_call_id), row('Metadata', card.metadata),
    row('Tool calls', card.tool_calls));
}

/** Loads into `part` only when it is opened. */
function later(title, load) {
  const body = el('div', {}, 'Loading …');
  const part = el('details', { class: 'part' }, el('summary', {}, title), body);
  part.addEventListener('toggle', async () => {
    if (!part.open || part.dataset.loaded) return;
    part.dataset.loaded = 'yes';
    try {
      fill(body, await load());
    } catch (error) {
      delete part.dataset.loaded;
      fill(body, el('p', { class: 'failure' }, untrusted(error.message)));
    }
  });
  return part;
}

function revisionsOf(data) {
  const all = data.revisions;
  if (all.length === 0) return el('p', {}, 'It has never said anything else.');
  return all.map((one) => el('section', { class: 'revision' },
    el('p', {}, `Revision ${write(one.revision)}, until `, when(one.replaced_at)),
    content(one.card), el('details', {}, el('summary', {}, 'raw'), pretty(write(one.card)))));
}

async function holdersOf(api, id, project) {
  let { data } = await api.boxesWithCard(id);
  while (data.boxes.length === 0 && data.next_cursor) ({ data } = await api.boxesWithCard(id, data.next_cursor));
  const all = data.boxes;
  if (all.length === 0) return el('p', {}, 'No box holds it.');
  return el('ul', {}, all.map(({ box_id: box }) => el('li', {},
    el('a', { href: link({ project, view: 'box', id: box }) }, untrusted(box, { class: 'id' })))));
}

/** Shows a card in full. `api` is of its project. */
export async function showCard(panel, api, project, id) {
  fill(panel, el('p', { class: 'faint' }, 'Loading …'));
  try {
    const { data: card, text } = await api.card(id);
    fill(panel, el('h2', {}, untrusted(card.card_id)), el('div', { class: 'content' }, content(card)),
      el('h3', {}, 'All fields'), facts(card),
      later('Boxes that hold it', () => holdersOf(api, id, project)),
      later('Earlier revisions', async () => revisionsOf((await api.revisions(id)).data)),
      el('details', { class: 'part' }, el('summary', {}, 'Raw JSON, as the server sends it'),
        copyButton(text, 'Copy JSON'), pretty(text)));
  } catch (error) {
    if (error.name === 'AbortError') return;
    fill(panel, trouble(error, ['No such card', 'It was deleted, has expired or was never written.',
      id]));
  }
}

/** An entry of a session in the panel. */
export async function showEntry(panel, api, session, id) {
  fill(panel, el('p', { class: 'faint' }, 'Loading …'));
  try {
    const { data, text } = await api.entry(session, id);
    const said = entryContent(data.entry);
    fill(panel, el('h2', {}, untrusted(data.entry_id)), el('div', { class: 'content' }, said),
      el('details', { class: 'part', open: said === null }, el('summary', {}, 'Raw JSON, as the server sends it'),
        copyButton(text, 'Copy JSON'), pretty(text)));
  } catch (error) {
    if (error.name === 'AbortError') return;
    fill(panel, trouble(error, ['No such entry', 'The session has no entry of this id.', id]));
  }
}
