// search.js: what is found in a project by its words, newest first and page by page, and its filters.
import { el, fill, notice, shortId, untrusted } from './dom.js';
import { filterFields, filterValues, paged } from './lists.js';
import { go, link, setTitle } from './place.js';
import { boxRow, hitRow } from './rows.js';

const KINDS = [['', 'All'], ['card', 'Cards'], ['entry', 'Entries of sessions'], ['message', 'Messages of tasks']];
const FIELDS = [['role', 'Role', 'user'], ['type', 'Type', 'tool.result'], ['session_id', 'Session', ''], ['task_id', 'Task', ''],
  ['created_after', 'After', '2025-05-24 or 2025-05-24T08:00:00Z'], ['created_before', 'Before', '']];

function kindChips(here) {
  return el('div', { class: 'chips' }, KINDS.map(([kind, words]) => el('button', {
    type: 'button', class: 'chip', 'aria-pressed': String((here.query.kind ?? '') === kind), 'data-kind': kind || 'all',
    onclick: () => go({ ...here, query: { ...here.query, kind } }),
  }, words)));
}

function filterForm(here) {
  const isGiven = FIELDS.some(([name]) => here.query[name]);
  const form = el('form', { class: 'filters' }, filterFields(FIELDS, here.query), el('button', {}, 'Filter'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    go({ ...here, query: { ...here.query, ...filterValues(FIELDS, form) } });
  });
  return el('details', { open: isGiven }, el('summary', {}, 'Filters'), form);
}

/** Shows the boxes that hold the card `of`, newest first. */
async function showBoxesOf(of, into, api, here) {
  const list = el('div', {});
  fill(into, el('h2', {}, 'Boxes that hold the card ', el('a', { href: link({ project: here.project, view: 'card', id: of }) }, shortId(of))), list,
    el('h2', {}, 'The same words'));
  await paged(list, async (cursor) => {
    const { data } = await api.boxesWithCard(of, cursor);
    return { items: data.boxes, next: data.next_cursor };
  }, (box) => boxRow(box, here), () => el('p', { class: 'faint' }, 'No box holds it.'));
}

/** Shows what is found for the query of the address. */
export async function showSearch(main, api, here) {
  const { q = '', of, card, entry, ...filters } = here.query;
  const boxes = el('div', { class: 'rows', 'data-part': 'boxes' });
  const list = el('div', { class: 'rows' });
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, 'Search', q ? [': ', untrusted(q)] : null)), kindChips(here),
    filterForm(here), boxes, list);
  setTitle(`Search: ${q}`);
  if (of) showBoxesOf(of, boxes, api, here);
  if (q.trim() === '') {
    fill(list, notice('Search this project', 'Words, identifiers such as parseJson, and Chinese, Japanese or Korean text ' +
      'in cards, entries of sessions and messages of tasks.'));
    return;
  }
  await paged(list, async (cursor) => {
    const { data } = await api.search({ q, ...filters }, cursor);
    return { items: data.hits, next: data.cursor };
  }, (hit) => hitRow(hit, here), () => notice('Nothing found',
    'All words must occur: whole words, or parts of identifiers such as user in getUserName. Text is found a moment after it was written.'));
}
