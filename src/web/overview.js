// overview.js: the first page of a project: how much it has, what failed, and the newest work of all
// kinds by its first sentence. A few requests of a few rows each, whatever the project holds.
import { cappedCount, copyButton, count, el, fill, untrusted } from './dom.js';
import { cardItem } from './card.js';
import { commandOf } from './curl.js';
import { showFirstEntry } from './first.js';
import { link } from './place.js';
import { boxRow, lastOf, sessionRow, taskRow } from './rows.js';
import { trouble } from './trouble.js';
import { firstDay, usageChart } from './usage.js';

const NEWEST = 8; // things of each kind
const FAILED = 3;

/** A number with what it counts, as a link to the list. */
function tile(here, view, number, word, capped, note) {
  const [digits, words] = cappedCount(number, capped, word, view);
  return el('a', { class: 'tile', href: link({ project: here.project, view }), 'data-count': view },
    el('strong', {}, digits), ' ', words,
    note ? el('span', { class: 'faint' }, note) : null);
}

function tiles(here, counts, tasks, open, failed) {
  const capped = (kind) => counts.capped.includes(kind);
  return el('nav', { class: 'tiles', 'aria-label': 'what the project has' },
    tile(here, 'sessions', counts.sessions, 'session', capped('sessions')),
    tile(here, 'tasks', tasks.total, 'task', false, [open.total > 0 ? count(open.total, 'unfinished', 'unfinished') : null,
      failed.total > 0 ? count(failed.total, 'failed', 'failed') : null].filter(Boolean).join(', ')),
    tile(here, 'boxes', counts.boxes, 'box', capped('boxes')),
    tile(here, 'cards', counts.cards, 'card', capped('cards')));
}

const section = (title, rows, all) => (rows.length === 0 ? null : el('section', { class: 'rows', 'data-part': title },
  el('h2', {}, title, all ? el('a', { class: 'all', href: all }, 'all') : null), rows));

/** All kinds in one list: what was changed last comes first. */
function newest(here, sessions, tasks, boxes) {
  const of = (items, at, draw, kind) => items.map((one) => ({ at: at(one), node: draw(one, here, kind) }));
  return [...of(sessions, (one) => Date.parse(one.updated_at), sessionRow, 'session'),
    ...of(tasks, lastOf, taskRow, 'task'),
    ...of(boxes, (one) => Date.parse(one.updated_at), boxRow, 'box')]
    .sort((a, b) => b.at - a.at).map(({ node }) => node);
}

/** The newest cards of a project that has nothing else, and the command that makes a box of the newest. */
async function cardsOnly(api, here) {
  const { data: { cards } } = await api.listCards({ limit: NEWEST });
  if (cards.length === 0) return null;
  const command = commandOf(api.address(['boxes']), { card_ids: [cards[0].card_id] });
  return [el('section', { class: 'cards' }, cards.map((card) => cardItem(card, { project: here.project }))),
    el('p', { class: 'how' }, 'No session, task or box uses a card so far. A box is what a model reads. To make one with the newest card:',
      copyButton(command)), el('pre', { class: 'code', tabindex: 0 }, command)];
}

/** Shows the overview of the project at `here`. */
export async function showOverview(main, api, here, signal) {
  fill(main, el('p', { class: 'faint' }, 'Loading …'));
  try {
    const [counts, sessions, tasks, open, failed, boxes, used] = (await Promise.all([api.counts(),
      api.sessions(undefined, NEWEST), api.tasks({}, NEWEST), api.tasks({ completionStatus: 'null' }, 1),
      api.tasks({ state: 'failed' }, FAILED), api.boxes(undefined, NEWEST),
      api.usage({ from: firstDay() }),
    ])).map(({ data }) => data);
    if (counts.sessions + tasks.total + counts.boxes + counts.cards === 0) {
      showFirstEntry(main, api, here, signal, () => showOverview(main, api, here, signal));
      return;
    }
    const work = newest(here, sessions.sessions, tasks.tasks, boxes.boxes);
    const cards = work.length === 0 ? await cardsOnly(api, here) : null;
    fill(main, el('header', { class: 'box-head' }, el('h1', {}, untrusted(here.project))),
      tiles(here, counts, tasks, open, failed), usageChart(used),
      section('Failed', failed.tasks.map((one) => taskRow(one, here)),
        link({ project: here.project, view: 'tasks', query: { state: 'failed' } })),
      section('Newest work', work),
      cards);
  } catch (error) {
    if (error.name === 'AbortError') return;
    fill(main, trouble(error));
  }
}
