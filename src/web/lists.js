// lists.js: the list of boxes, and the search for cards; both newest first and page by page.
import { add, count, el, fill, foreign, namedLink, notice } from './dom.js';
import { cardItem } from './card.js';
import { go, link } from './place.js';
import { when } from './time.js';
import { trouble } from './trouble.js';

/** A list that grows by pages; `load(cursor)` gives {items, next}. */
export async function paged(into, load, draw, empty) {
  const more = el('button', { type: 'button', class: 'wide' }, 'More');
  let cursor;
  const page = async () => {
    more.disabled = true;
    try {
      let { items, next } = await load(cursor);
      while (items.length === 0 && next) ({ items, next } = await load(next));
      more.remove();
      add(into, items.map(draw));
      if (cursor === undefined && items.length === 0) add(into, empty());
      cursor = next;
      if (next) into.append(more);
    } catch (error) {
      if (error.name === 'AbortError') return;
      more.remove();
      add(into, trouble(error));
      if (cursor !== undefined) into.append(more);
    }
    more.disabled = false;
  };
  more.addEventListener('click', page);
  await page();
}

/** A row of a list. All of it opens `href`; its `actions` (buttons, links) appear on hover and on focus.
 * `text` is its name or what it says, `id` stands for it if there is none, `facts` are nodes below. */
export function row({ href, text, id, facts = [], actions = [], props = {} }) {
  return el('div', { ...props, class: 'row' },
    el('div', { class: 'row-text' }, namedLink(href, text, id, { class: 'whole' }),
      el('div', { class: 'faint row-facts' }, facts)),
    actions.length > 0 ? el('span', { class: 'actions' }, actions) : null);
}

/** A project without boxes: what else it has. */
async function sayWhatElse(into, api, here) {
  try {
    const [sessions, tasks, cards] = await Promise.all([api.sessions(), api.tasks({}, 1), api.list({ limit: 1 })]);
    const there = [['sessions', sessions.data.sessions], ['tasks', tasks.data.tasks], ['cards', cards.data.cards]]
      .filter(([, items]) => items.length > 0);
    if (there.length === 0) fill(into, 'Nothing is in this project yet.');
    else fill(into, 'No boxes in this project. It has ', there.map(([view], at) =>
      [at > 0 ? ', ' : '', el('a', { href: link({ project: here.project, view }) }, view)]), '.');
  } catch {
    // That there are no boxes is said.
  }
}

/** The boxes of a project as links. */
export async function listBoxes(into, api, here) {
  fill(into);
  await paged(into, async (cursor) => {
    const { data } = await api.boxes(cursor);
    return { items: data.boxes, next: data.next_cursor };
  }, (box) => el('a', {
    class: 'box-link', href: link({ project: here.project, view: 'box', id: box.box_id }),
    'data-box': box.box_id,
  }, foreign(box.box_id, { class: 'id' }), el('span', { class: 'faint' },
    count(box.length, 'card'), box.version > 1 ? `, version ${box.version}` : '',
    (box.parent_ids ?? []).length > 0 ? ', with a parent' : '', ', ', when(box.updated_at))),
  () => {
    const note = el('p', { class: 'faint' }, 'No boxes in this project.');
    sayWhatElse(note, api, here);
    return note;
  });
}

// --- cards ---

const FILTERS = [
  ['type', 'Type', 'tool.result'], ['role', 'Role', 'assistant'], ['step_id', 'Step', ''],
  ['trace_id', 'Trace', ''], ['agent_turn_id', 'Agent turn', ''], ['tool_call_id', 'Tool call', ''],
  ['created_after', 'Created after', '2025-05-24T08:00:00Z'], ['created_before', 'Created before', ''],
];

function filterForm(here) {
  const inputs = FILTERS.map(([name, label, hint]) => el('label', {}, label, el('input', {
    name, value: here.query[name] ?? '', placeholder: hint, autocomplete: 'off', spellcheck: 'false',
  })));
  const [key, value] = Object.entries(here.query).find(([name]) => name.startsWith('meta.')) ?? ['', ''];
  const metaKey = el('input', { value: key.slice(5), placeholder: 'key', 'aria-label': 'metadata key' });
  const metaValue = el('input', { value, placeholder: 'value', 'aria-label': 'metadata value' });
  const id = el('input', { name: 'id', placeholder: 'opens it', autocomplete: 'off', spellcheck: 'false' });
  const form = el('form', { class: 'filters' }, el('label', {}, 'Card id', id), inputs,
    el('label', {}, 'Metadata', el('span', { class: 'two' }, metaKey, metaValue)),
    el('button', { class: 'main' }, 'Search'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (id.value.trim()) return go({ project: here.project, view: 'card', id: id.value.trim() });
    const query = Object.fromEntries(FILTERS.map(([name]) => [name, form.elements[name].value.trim()]));
    if (metaKey.value.trim()) query[`meta.${metaKey.value.trim()}`] = metaValue.value;
    return go({ project: here.project, view: 'cards', query });
  });
  return form;
}

/** The search for cards. */
export async function searchCards(main, api, here) {
  const found = el('div', { class: 'cards' });
  const filters = Object.fromEntries(Object.entries(here.query).filter(([name]) => name !== 'card'));
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, 'Cards')), filterForm(here), found);
  await paged(found, async (cursor) => {
    const { data } = await api.list(filters, cursor);
    return { items: data.cards, next: data.next_cursor };
  }, (card) => cardItem(card, {
    project: here.project, open: link({ ...here, query: { ...here.query, card: card.card_id } }),
  }), () => notice('Nothing found', 'No card has all of this. Take a filter away.'));
}
