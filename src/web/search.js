// search.js: what is found in a project by its words, newest first and page by page, and its filters.
import { add, el, fill, notice, shortId, untrusted } from './dom.js';
import { queryOf } from './elsewhere.js';
import { filterFields, filterValues, paged } from './lists.js';
import { go, link, setTitle } from './place.js';
import { boxRow, hitRow } from './rows.js';
import { trouble } from './trouble.js';

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
  }, (box) => boxRow(box, here, null, of), () => el('p', { class: 'faint' }, 'No box holds it.'));
}

/** The words of the card `of`, or of this entry of a session. */
async function wordsOf(of, session, api) {
  return queryOf(session ? (await api.entry(session, of)).data.entry : (await api.card(of)).data);
}

const OBJECTS = ['card', 'session', 'box', 'task'];

/** The words that stand for no hits. A query that may be an id also leads to what may have this id: ids are not searched. */
function nothingFound(q, here) {
  return notice('Nothing found',
    'All words must occur: whole words, or parts of identifiers such as user in getUserName. Text is found a moment after it was written.',
    /\s/.test(q) ? null : el('p', { 'data-part': 'ids' }, 'The ids of cards, sessions, boxes and tasks are not searched. If it is an id, open the ',
      OBJECTS.map((view, at) => [['', ', the ', ', the ', ' or the '][at], el('a', { href: link({ project: here.project, view, id: q }) }, view)]), '.'));
}

/** Lists the hits. Where the words are those of the message `of`, it is marked. */
async function showHits(list, q, filters, api, here) {
  const { of, in: session } = here.query;
  const isItself = (hit) => of && hit.id === of && (session ? hit.session_id === session : hit.kind !== 'entry');
  let isElsewhere = !of;
  await paged(list, async (cursor) => {
    const { data } = await api.search({ q, ...filters }, cursor);
    isElsewhere ||= data.cursor !== null || !data.hits.every(isItself);
    return { items: data.hits, next: data.cursor };
  }, (hit) => {
    const row = hitRow(hit, here);
    if (isItself(hit)) {
      row.dataset.itself = 'yes';
      row.querySelector('.row-facts').prepend(el('span', { class: 'badge' }, 'this message'), ' ');
    }
    return row;
  }, () => (of ? null : nothingFound(q, here)));
  if (!isElsewhere && !list.querySelector('[role=alert]')) add(list, notice('No other text', 'No other text in this project has all of these words.'));
}

/** Shows what is found for the query of the address, or for the first words of the card or entry that it names. */
export async function showSearch(main, api, here) {
  const { q: asked = '', of, in: session, card, entry, ...filters } = here.query;
  const title = el('h1', {}, of ? 'Where else' : 'Search');
  const boxes = el('div', { class: 'rows', 'data-part': 'boxes' });
  const list = el('div', { class: 'rows', 'data-part': 'hits' });
  fill(main, el('header', { class: 'box-head' }, title), kindChips(here), filterForm(here), boxes, list);
  if (of && !session) showBoxesOf(of, boxes, api, here);
  let q = asked.trim();
  try {
    if (of && !q) q = await wordsOf(of, session, api);
  } catch (error) {
    if (error.name !== 'AbortError') fill(list, trouble(error, ['It is not there', 'It was deleted, has expired or was never written.', of]));
    return;
  }
  setTitle(`${of ? 'Where else' : 'Search'}: ${q}`);
  if (q) add(title, ': ', untrusted(q));
  if (q) await showHits(list, q, filters, api, here);
  else if (of) fill(list, notice('It has no text', 'There are no words of its own that could be looked for.'));
  else fill(list, notice('Search this project', 'Words, identifiers such as parseJson, and Chinese, Japanese or Korean text ' +
    'in cards, entries of sessions and messages of tasks.'));
}
