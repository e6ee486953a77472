// app.js: the inspector: which project and which page are shown. Every page has an address,
// so Back and bookmarks work.
import { cappedCount, el, fill, notice } from './dom.js';
import { project, projects, token } from './api.js';
import { showBox } from './box.js';
import { showCard, showEntry } from './card.js';
import { showBoxContext } from './context.js';
import { addKeys, pageKeys, showHelp } from './keys.js';
import { listBoxes, listCards, paged } from './lists.js';
import { showOverview } from './overview.js';
import { go, link, place, setTitle } from './place.js';
import { row } from './rows.js';
import { showSearch } from './search.js';
import { showSeen } from './seen.js';
import { listSessions, showSession, showSessionContext } from './session.js';
import { listTasks, showTask } from './task.js';

const PROJECTS_KEY = 'cardbox.projects';
const SUGGESTED = 1000; // projects that the field suggests
const PARTS = ['overview', 'sessions', 'tasks', 'boxes', 'cards']; // links at the top
// The views by name: `part` is the link at the top that is marked; `title` is that of a list; `show` draws the view.
const VIEWS = new Map(Object.entries({
  overview: { part: 'overview', show: showOverview },
  search: { show: showSearch },
  sessions: { part: 'sessions', title: 'Sessions', show: listSessions },
  session: { part: 'sessions', show: showSession },
  'session-context': { part: 'sessions', show: showSessionContext },
  tasks: { part: 'tasks', title: 'Tasks', show: listTasks },
  task: { part: 'tasks', show: showTask },
  boxes: { part: 'boxes', title: 'Boxes', show: listBoxes },
  box: { part: 'boxes', show: showBox },
  context: { part: 'boxes', show: showBoxContext },
  cards: { part: 'cards', title: 'Cards', show: listCards },
  card: { part: 'cards', show: (into, api, here) => showCard(into, api, here.project, here.id) },
}));
const $ = (id) => document.getElementById(id);
const main = $('main');
const panel = $('panel');

let leave = new AbortController(); // aborts the requests for the main part
let leavePanel = new AbortController();

// --- what is remembered ---

function remembered() {
  try {
    const names = JSON.parse(localStorage.getItem(PROJECTS_KEY) ?? '[]');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

function remember(name) {
  const names = [name, ...remembered().filter((one) => one !== name)].slice(0, 12);
  localStorage.setItem(PROJECTS_KEY, JSON.stringify(names));
}

/** Reads the projects that the token may see. If a page fails, the projects of the earlier pages are returned. */
async function listProjects() {
  const names = [];
  try {
    let cursor;
    do {
      const { data } = await projects(cursor);
      names.push(...data.projects.map((one) => one.project_id));
      cursor = data.next_cursor;
    } while (cursor && names.length < SUGGESTED);
  } catch {
    listed.token = undefined; // the next focus tries again; a token that may not list projects can name its own
  }
  return names;
}

let listed = { token: undefined, names: undefined }; // the last token, and the promise of the projects that it may see

/** The field suggests the projects that were opened here, and those that the token may see. */
async function suggestProjects() {
  const show = (names) => fill($('projects'), [...new Set(names)].map((one) => el('option', { value: one })));
  if (listed.token !== token.get()) listed = { token: token.get(), names: listProjects() };
  show(remembered());
  show([...remembered(), ...await listed.names]);
}

// --- what is shown ---

/** Ends the requests for the main part, and removes its marks and keys. */
function leaveMain() {
  leave.abort();
  leave = new AbortController();
  main.classList.remove('in-the-past');
  main.removeAttribute('aria-busy');
  pageKeys({});
}

function welcome() {
  leaveMain();
  const list = el('nav', { class: 'projects', 'aria-label': 'projects' });
  fill(main, notice('Which project?', 'Choose one, or type its name at the top. A project that does ' +
    'not exist yet begins with its first contents.'), list);
  offerProjects(list);
}

/** One page of projects; none for a token that may not list them, but can name its own. */
async function pageOfProjects(cursor) {
  try {
    const { data } = await projects(cursor);
    return { items: data.projects, next: data.next_cursor };
  } catch (error) {
    if (error.status !== 403) throw error;
    $('project').focus();
    return { items: [], next: null };
  }
}

function offerProjects(list) {
  const many = (one, kind, word) => cappedCount(one[kind], one.capped.includes(kind), word, kind).join(' ');
  return paged(list, pageOfProjects, (one) => row({
    href: link({ project: one.project_id }), text: one.project_id, id: one.project_id,
    facts: [many(one, 'sessions', 'session'), ', ', many(one, 'tasks', 'task'), ', ',
      many(one, 'boxes', 'box'), ', ', many(one, 'cards', 'card')],
  }), () => el('p', { class: 'faint' }, 'There is no project to list yet.'));
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function withoutPanel(here) {
  const { card, entry, ...query } = here.query;
  return { ...here, query };
}

/** Marks the link at the top to which the view belongs. */
function markPart(here) {
  const part = VIEWS.get(here.view)?.part;
  for (const name of PARTS) {
    $(`to-${name}`).href = link({ project: here.project, view: name });
    if (name === part) $(`to-${name}`).setAttribute('aria-current', 'page');
    else $(`to-${name}`).removeAttribute('aria-current');
  }
}

function showMain(here) {
  leaveMain();
  window.scrollTo(0, 0);
  const api = project(here.project, leave.signal);
  const view = VIEWS.get(here.view);
  if (view) view.show(main, api, here, leave.signal);
  else fill(main, notice('No such page', 'This address belongs to no page. The links at the top lead to all pages.'));
}

function showPanel(here, before) {
  const shown = (at) => [at?.project, at?.query.card, at?.query.entry];
  const { card, entry } = here.query;
  panel.hidden = !here.project || !(card || entry);
  if (panel.hidden || same(shown(here), shown(before))) return;
  leavePanel.abort();
  leavePanel = new AbortController();
  const api = project(here.project, leavePanel.signal);
  if (card) showCard($('panel-body'), api, here.project, card);
  else showEntry($('panel-body'), api, here.id, entry);
  $('panel-close').focus();
}

/** Shows where one is; what has not changed since `before` stays. */
function show(before = null) {
  const here = place();
  document.body.dataset.view = here.project ? here.view : 'none';
  const isTyped = document.activeElement === $('project') && before?.project === here.project;
  if (!isTyped) $('project').value = here.project;
  if (!before || !same(withoutPanel(here), withoutPanel(before))) setTitle(VIEWS.get(here.view)?.title);
  showPanel(here, before);
  if (!here.project) return welcome();
  if (document.activeElement !== $('search')) $('search').value = here.view === 'search' ? here.query.q ?? '' : '';
  markPart(here);
  remember(here.project);
  if (before && same(withoutPanel(here), withoutPanel(before))) return;
  showMain(here);
  showSeen(main, leave.signal);
}

// --- what one can do ---

$('project-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const name = $('project').value;
  if (name) go({ project: name });
  $('project').blur();
});

// The field shows the last project: typing replaces it.
$('project').addEventListener('focus', () => {
  $('project').select();
  suggestProjects();
});

$('search-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const q = $('search').value.trim();
  const here = place();
  if (q && here.project) go({ project: here.project, view: 'search', query: { ...here.view === 'search' ? here.query : {}, of: undefined, q } });
  main.focus({ preventScroll: true }); // so that the keys of the page work
});

$('search').addEventListener('keydown', (event) => {
  if (event.key === 'Escape') main.focus({ preventScroll: true });
});

// The page that is shown already is drawn again, with what has come since.
$('parts').addEventListener('click', (event) => {
  if (event.target.closest('a')?.hash === location.hash) showMain(place());
});

$('panel-close').addEventListener('click', () => go(withoutPanel(place())));

const help = () => showHelp($('help-dialog'));
addKeys({ '/': ['search this project', () => $(place().project ? 'search' : 'project').select()], '?': ['this help', help] });
$('help-button').addEventListener('click', help);

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !panel.hidden && !document.querySelector('dialog[open]'))
    go(withoutPanel(place()));
});

$('token-button').addEventListener('click', () => {
  $('token').value = token.get();
  $('token-dialog').showModal();
});

$('token-cancel').addEventListener('click', () => $('token-dialog').close());

$('token-form').addEventListener('submit', () => {
  token.set($('token').value.trim());
  sayToken();
  show();
});

function sayToken() {
  $('token-button').textContent = token.get() ? 'Token ✓' : 'Token';
  $('token-button').title = token.get() ? 'a token is set' : 'no token is set';
}

// A dialog is about the page that was left.
window.addEventListener('hashchange', (event) => {
  for (const one of document.querySelectorAll('dialog[open]')) one.close();
  show(place(new URL(event.oldURL).hash));
});

sayToken();
const last = remembered()[0];
if (!place().project && last) go({ project: last });
else show();
