// lists.js: lists page by page; the list of boxes, and of cards by their members, both newest first.
import { add, el, fill, notice } from './dom.js';
import { cardItem } from './card.js';
import { go, link } from './place.js';
import { boxRow } from './rows.js';
import { trouble } from './trouble.js';

/** A list that grows by pages; `load(cursor)` returns {items, next}. */
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

/** The boxes of a project, newest first. */
export async function listBoxes(main, api, here) {
  const list = el('div', { class: 'rows' });
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, 'Boxes'),
    el('p', { class: 'facts' }, 'A box is what an agent reads: its context, card by card, at each turn.')), list);
  await paged(list, async (cursor) => {
    const { data } = await api.boxes(cursor);
    return { items: data.boxes, next: data.next_cursor };
  }, (box) => boxRow(box, here), () => notice('No boxes', 'None in this project so far.'));
}

// --- cards ---

const FILTERS = [
  ['type', 'Type', 'tool.result'], ['role', 'Role', 'assistant'], ['step_id', 'Step', ''],
  ['trace_id', 'Trace', ''], ['agent_turn_id', 'Agent turn', ''], ['tool_call_id', 'Tool call', ''],
  ['created_after', 'Created after', '2025-05-24 or 2025-05-24T08:00:00Z'], ['created_before', 'Created before', ''],
];
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Fields for filters [name, label, example]. */
export const filterFields = (filters, query) => filters.map(([name, label, example]) => el('label', {}, label, el('input', {
  name, value: query[name] ?? '', placeholder: example, autocomplete: 'off', spellcheck: 'false',
})));

/** The values of the fields, as members of a query. A time that is only a date is its first moment in UTC. */
export const filterValues = (filters, form) => Object.fromEntries(filters.map(([name]) => {
  const value = form.elements[name].value.trim();
  return [name, name.startsWith('created_') && DAY.test(value) ? `${value}T00:00:00Z` : value];
}));

function filterForm(here) {
  const [key, value] = Object.entries(here.query).find(([name]) => name.startsWith('meta.')) ?? ['', ''];
  const metaKey = el('input', { value: key.slice(5), placeholder: 'key', 'aria-label': 'metadata key' });
  const metaValue = el('input', { value, placeholder: 'value', 'aria-label': 'metadata value' });
  const id = el('input', { name: 'id', placeholder: 'opens it', autocomplete: 'off', spellcheck: 'false' });
  const form = el('form', { class: 'filters' }, el('label', {}, 'Card id', id), filterFields(FILTERS, here.query),
    el('label', {}, 'Metadata', el('span', { class: 'two' }, metaKey, metaValue)),
    el('button', { class: 'main' }, 'Search'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (id.value.trim()) return go({ project: here.project, view: 'card', id: id.value.trim() });
    const query = filterValues(FILTERS, form);
    if (metaKey.value.trim()) query[`meta.${metaKey.value.trim()}`] = metaValue.value;
    return go({ project: here.project, view: 'cards', query });
  });
  return form;
}

/** The cards of a project that have some members. */
export async function listCards(main, api, here) {
  const found = el('div', { class: 'cards' });
  const filters = Object.fromEntries(Object.entries(here.query).filter(([name]) => name !== 'card'));
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, 'Cards')), filterForm(here), found);
  await paged(found, async (cursor) => {
    const { data } = await api.listCards(filters, cursor);
    return { items: data.cards, next: data.next_cursor };
  }, (card) => cardItem(card, {
    project: here.project, open: link({ ...here, query: { ...here.query, card: card.card_id } }),
  }), () => (Object.keys(filters).length > 0 ? notice('Nothing found', 'No card has all of this. Take a filter away.')
    : notice('No cards', 'None in this project so far.')));
}
