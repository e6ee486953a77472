// session.js: the sessions of a project, and one of them as the tree that it is: branches are set in, the head and
// labels are marked. Each entry shows the beginning of its text. There are links to turns, and a search. A long session
// opens at its newest entry.
import { copyButton, count, el, fill, namedLink, notice, sentence, shortId, untrusted } from './dom.js';
import { entryText } from './blocks.js';
import { showBranches } from './branches.js';
import { openCalls, showContext } from './context.js';
import { commandOf } from './curl.js';
import { entryRow } from './entries.js';
import { pageKeys } from './keys.js';
import { paged } from './lists.js';
import { go, link, setTitle } from './place.js';
import { askToForkSession, nextStep } from './retry.js';
import { hitRow, sessionRow } from './rows.js';
import { scrollRepeatedly } from './seen.js';
import { when } from './time.js';
import { trouble } from './trouble.js';
import { isOfUser, turnControls, Turns } from './turns.js';
import { tokens } from './usage.js';

const PAGE = 500; // entries that are asked for at once
const BEFORE = 100; // entries before the one that is looked for
const KEPT = 1500; // entries that are shown at once: earlier or later ones go
const LONG = 100; // a session with more entries opens at the newest one
const NEWEST = 30; // messages among which the open calls are: an answer and its results
const COUNTED = 5000; // entries of a path that are read for the numbers of its last turns, if nobody has asked for a turn

// --- the list ---

/** The sessions of a project, newest first. */
export async function listSessions(main, api, here) {
  const list = el('div', { class: 'rows' });
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, 'Sessions')), list);
  await paged(list, async (cursor) => {
    const { data } = await api.sessions(cursor);
    return { items: data.sessions, next: data.next_cursor };
  }, (one) => sessionRow(one, here),
  () => notice('No sessions', 'Nobody has kept one in this project so far.'));
}

// --- the tree ---

/** Rows in the order of the tree: {node, level, begins, leaf}; `begins`: the first of a branch. A child
 * alone goes on at its parent's level, several are set in. */
function rowsOf(nodes) {
  const children = new Map(nodes.map((node) => [node.entry_id, []]));
  const roots = [];
  for (const node of nodes) (children.get(node.parent_id) ?? roots).push(node);
  const rows = [];
  const stack = roots.map((node) => ({ node, level: 0, begins: roots.length > 1 })).reverse();
  while (stack.length > 0) {
    const row = stack.pop();
    const below = children.get(row.node.entry_id);
    rows.push({ ...row, leaf: below.length === 0, children: below.length });
    const branches = below.length > 1;
    for (let at = below.length - 1; at >= 0; at--)
      stack.push({ node: below[at], level: row.level + (branches ? 1 : 0), begins: branches });
  }
  return rows;
}

/** Sets `below` of each row that begins a branch to how many rows of the branch come after it. Leaves out the rows of
 * folded branches. */
function foldedRows(rows, folded) {
  const kept = [];
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at];
    kept.push(row);
    if (!row.begins) continue;
    let next = at + 1;
    while (next < rows.length && (rows[next].level > row.level || (rows[next].level === row.level && !rows[next].begins)))
      next++;
    row.below = next - at - 1;
    row.folded = folded.has(row.node.entry_id);
    if (row.folded) at += row.below;
  }
  return kept;
}

/** Where it came from, and how large it is. */
function facts(session, here) {
  const at = (query, id = here.id) => link({ project: here.project, view: 'session', id, query });
  const { head_entry_id: head, forked_from: parent } = session;
  const used = tokens(session.usage);
  return el('p', { class: 'facts' }, shortId(here.id), copyButton(here.id, 'Copy id'), ' ',
    session.dialect ?? 'no dialect yet', ', ', count(session.entries, 'entry', 'entries'),
    `, version ${session.version}, `, when(session.updated_at), used ? [', ', used] : null,
    parent ? [', a fork of ', el('a', { href: at({}, parent), 'data-do': 'parent' }, shortId(parent))] : null,
    head ? [', head ', el('a', { href: at({ at: head }), 'data-do': 'head' }, shortId(head))] : null);
}

/** Shows the calls of the last answer that have no result. A context of the newest messages has them. */
async function showOpenCalls(place, api, { id }) {
  try {
    const { data } = await api.sessionContext(id, { format: 'openai', limit: NEWEST });
    fill(place, openCalls(data.open_calls));
  } catch {
    // there is no such context: the page is complete without
  }
}

/** The search within the session, and the views of it. */
function tools(here, hasBranches) {
  const at = (query) => link({ project: here.project, view: 'session', id: here.id, query });
  const form = el('form', { class: 'in-session', role: 'search' }, el('input', {
    type: 'search', name: 'q', 'aria-label': 'search in this session', placeholder: 'Search in this session',
    value: here.query.q, autocomplete: 'off', spellcheck: 'false', maxlength: 1000,
  }), el('button', {}, 'Search'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    go({ project: here.project, view: 'session', id: here.id, query: { q: form.elements.q.value.trim() } });
  });
  const { q, at: sought, branches, a, b } = here.query;
  const isFound = q && !sought;
  const isCompared = branches || a || b;
  return el('div', { class: 'controls session-tools' }, form, el('span', { class: 'space' }),
    q && sought ? el('a', { href: at({ q }), 'data-do': 'found' }, 'All results') : null,
    isFound || isCompared ? el('a', { href: at({}), 'data-do': 'tree' }, 'All entries') : null,
    isCompared || !hasBranches ? null : el('a', { href: at({ branches: 'all' }), 'data-do': 'branches' }, 'Compare branches'),
    el('a', { href: link({ project: here.project, view: 'session-context', id: here.id }), 'data-do': 'context' },
      'What a model gets'));
}

/** The part of a tree that is loaded. It grows at both ends, by pages; what is then too much goes at the other. */
class Part {
  constructor(api, id, from) {
    Object.assign(this, { api, id, from, next: from, nodes: [] });
  }

  /** The server's cursor is the number of the line that comes next. */
  async #page(from) {
    const cursor = from > 0 ? from : undefined;
    return (await this.api.tree(this.id, { limit: PAGE, preview: true, cursor })).data;
  }

  async later() {
    const { entries, next_cursor: next } = await this.#page(this.next);
    this.nodes.push(...entries);
    this.next = next;
    if (this.nodes.length <= KEPT) return;
    this.nodes.splice(0, this.nodes.length - KEPT);
    this.from = this.nodes[0].line;
  }

  async earlier() {
    const from = Math.max(0, this.from - PAGE);
    const { entries } = await this.#page(from);
    this.nodes.unshift(...entries.filter((one) => one.line < this.from));
    this.from = from;
    if (this.nodes.length <= KEPT) return;
    this.next = this.nodes[KEPT].line;
    this.nodes.length = KEPT;
  }
}

/** Returns the numbers of the turns that begin in the tree: those of the path to the head, and from there on. */
function numbersOf(nodes, turns) {
  const counts = new Map(); // entry -> the number of user's messages on its path, if that is known
  for (const node of nodes) {
    const above = node.parent_id === null ? 0 : counts.get(node.parent_id) ?? turns.numbers.get(node.parent_id);
    const count = turns.numbers.get(node.entry_id) ?? (above === undefined ? undefined : above + Number(isOfUser(node)));
    if (count !== undefined) counts.set(node.entry_id, count);
  }
  return counts;
}

/** Replaces the children of a parent. Those that are there already, in this order, are not touched. */
function replaceWith(parent, children) {
  const stay = new Set(children);
  for (const one of [...parent.childNodes]) if (!stay.has(one)) one.remove();
  let at = parent.firstChild;
  for (const one of children) {
    if (one === at) at = at.nextSibling;
    else parent.insertBefore(one, at);
  }
}

/** The tree of a session as it is shown. */
class Tree {
  #isLoading = false; // a page that is asked for twice would stand there twice
  #folded = new Set();
  #rows = new Map(); // entry -> {looks, node}

  constructor(part, turns, place) {
    Object.assign(this, { part, turns, place, node: el('div', { class: 'tree' }) });
  }

  async load(direction) {
    await this.part[direction]();
    this.paint();
  }

  async #press({ target: button }, direction) {
    if (this.#isLoading) return;
    this.#isLoading = true;
    this.node.querySelector('.notice')?.remove();
    try {
      await this.load(direction);
    } catch (error) {
      if (error.name !== 'AbortError') button.before(trouble(error));
    }
    this.#isLoading = false;
  }

  #fold(id) {
    if (!this.#folded.delete(id)) this.#folded.add(id);
    this.paint();
    this.node.querySelector(`[data-entry="${CSS.escape(id)}"] [data-do=fold]`).focus();
  }

  /** The row of an entry: the one that is there, unless it would look otherwise now. */
  #rowOf(one, numbers) {
    const { node, level, begins, leaf, children, below, folded } = one;
    const turn = isOfUser(node) ? numbers.get(node.entry_id) : undefined;
    const looks = [level, begins, leaf, children, below, folded, turn].join();
    const before = this.#rows.get(node.entry_id);
    if (before?.looks === looks) return before;
    return { looks, node: entryRow(one, { ...this.place, turn, onfold: () => this.#fold(node.entry_id) }) };
  }

  /** Draws the rows that have changed. The rows in sight stay at their height. */
  paint() {
    const { part, node } = this;
    const seen = [...node.querySelectorAll('.entry')].find((one) => one.getBoundingClientRect().bottom > 0);
    const before = seen?.getBoundingClientRect().top;
    const more = (direction, words) => el('button', {
      type: 'button', class: 'wide', onclick: (event) => this.#press(event, direction),
    }, words);
    const numbers = numbersOf(part.nodes, this.turns);
    this.#rows = new Map(foldedRows(rowsOf(part.nodes), this.#folded)
      .map((one) => [one.node.entry_id, this.#rowOf(one, numbers)]));
    replaceWith(node, [part.from > 0 ? more('earlier', 'Earlier entries') : null,
      ...[...this.#rows.values()].map((one) => one.node),
      part.nodes.length === 0 ? notice('An empty session', 'Nothing has been said so far.') : null,
      part.next ? more('later', 'Later entries') : null].filter((one) => one !== null));
    const after = seen && node.querySelector(`[data-entry="${CSS.escape(seen.dataset.entry)}"]`);
    if (after) scrollRepeatedly(() => window.scrollBy(0, after.getBoundingClientRect().top - before));
  }
}

/** Makes the arrow keys go to the previous and the next turn. */
function stepThroughTurns(turns, current, here) {
  const to = async (turn) => {
    if (turn > 0 && await turns.find(turn)) go({ ...here, query: { turn } });
  };
  pageKeys({
    ArrowLeft: ['previous turn', () => to(current - 1)],
    ArrowRight: ['next turn', () => to(current + 1)],
  });
}

/** Leads to any part of a long session: to its oldest entries, to the line with a number, and to the newest. */
function pageControls({ entries, header }, here) {
  if (entries <= LONG) return null;
  const at = (from) => ({ project: here.project, view: 'session', id: here.id, query: { from } });
  const field = el('input', {
    type: 'number', min: 1, max: linesOf(entries, header), name: 'line', class: 'turn-number', 'aria-label': 'number of a line', placeholder: 'No.',
  });
  const form = el('form', { class: 'turns', 'data-part': 'pages' }, el('span', { class: 'faint' }, 'Line'), field, el('button', {}, 'Go'),
    el('a', { href: link(at(1)), 'data-do': 'oldest' }, 'Oldest'), el('a', { href: link(at()), 'data-do': 'newest' }, 'Newest'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (field.value) go(at(field.value));
  });
  return form;
}

/** The number of lines that are an entry or the header of a session. */
function linesOf(entries, header) {
  return entries + (header === null ? 0 : 1);
}

/** The line, from 0, at which the part of a session begins that is shown first. `from`: the number of a line, from 1;
 * `sought`: the entry that is looked for. */
function firstLine({ entries, header }, from, sought) {
  if (sought) return Math.max(0, sought.line - BEFORE);
  const lines = linesOf(entries, header);
  if (from === undefined) return entries > LONG ? lines - PAGE : 0;
  return Math.max(0, Math.trunc(Math.min(from, lines)) - 1) || 0;
}

/** Shows the entries of a session, at the one that is looked for, else at the newest one of a long session. */
async function showTree(body, api, here, session, turns) {
  const turn = Number(here.query.turn) || 0;
  const current = turn > 0 ? await turns.find(turn) : here.query.at;
  const sought = current ? (await api.entry(here.id, current)).data : null;
  const isNewest = !sought && here.query.from === undefined && session.entries > LONG;
  const tree = new Tree(new Part(api, here.id, firstLine(session, here.query.from, sought)), turns,
    { session, here, api, current });
  const controls = el('div', {});
  let shown = null; // the entry at which the page opens
  const show = () => {
    const at = turn || (shown && numbersOf(tree.part.nodes, turns).get(shown.entry_id)) || 0;
    fill(controls, turns.all.length > 0 ? turnControls(turns, at, here) : null, pageControls(session, here),
      turn > turns.all.length ? el('p', { class: 'failure', role: 'alert' },
        `There is no turn ${turn} on the path to the head: it has ${turns.all.length}.`) : null);
    stepThroughTurns(turns, at, here);
  };
  fill(body, controls, tree.node, pageControls(session, here));
  await tree.load('later');
  while (isNewest && tree.part.next) await tree.load('later'); // the session has grown
  shown = sought ?? (isNewest ? tree.part.nodes.at(-1) : null);
  show();
  if (!shown) return;
  const row = tree.node.querySelector(`[data-entry="${CSS.escape(shown.entry_id)}"]`);
  if (sought || !history.state?.seen) scrollRepeatedly(() => row?.scrollIntoView({ block: 'center' }));
  if (numbersOf(tree.part.nodes, turns).has(shown.entry_id) || (!sought && shown.depth > COUNTED)) return;
  await turns.reach(api, here.id, shown);
  show();
  tree.paint();
}

/** Shows the hits of a search in the session. */
async function showFound(body, api, here) {
  const list = el('div', { class: 'rows' });
  fill(body, list);
  await paged(list, async (cursor) => {
    const { data } = await api.search({ q: here.query.q, session_id: here.id }, cursor);
    return { items: data.hits, next: data.cursor };
  }, (hit) => hitRow({ ...hit, kind: '', session_id: undefined }, here, { ...here, query: { at: hit.id, q: here.query.q } }),
  () => notice('Nothing found', 'No entry of this session has all of these words.'));
}

/** The name of a session, else the beginning of the first message of a user. `turns` must have their first page. */
function nameOf(session, turns) {
  return session.name ?? sentence(turns.all[0]?.preview?.text);
}

/** Shows one session: its entries, what is found in it, or two of its branches. */
export async function showSession(main, api, here) {
  const [body, open] = [el('div', {}, el('p', { class: 'faint' }, 'Loading …')), el('div', {})];
  const { at, q, branches, a, b } = here.query;
  let missing = ['No such session', 'There is none with this id in this project.', here.id];
  try {
    const turns = new Turns(api, here.id);
    const [{ data: session }, { data: leaves }] = await Promise.all([api.session(here.id), api.leaves(here.id, { limit: 2 }), turns.readFirst()]);
    const name = nameOf(session, turns);
    setTitle(name || here.id);
    fill(main, el('header', { class: 'box-head' }, el('h1', {}, name ? untrusted(name) : untrusted(here.id, { class: 'id' })),
      facts(session, here), open, nextStep(here), tools(here, leaves.entries.length > 1)), body);
    if (session.head_entry_id !== null) showOpenCalls(open, api, here);
    missing = ['No such entry', 'The session has none with this id.', at ?? a ?? here.id];
    if (branches || a || b) await showBranches(body, api, here, session);
    else if (q && !at) await showFound(body, api, here);
    else await showTree(body, api, here, session, turns);
  } catch (error) {
    if (error.name === 'AbortError') return;
    fill(main, trouble(error, missing));
  }
}

/** Shows what a model gets at a leaf. */
export async function showSessionContext(main, api, here) {
  const session = (at) => link({ project: here.project, view: 'session', id: here.id, query: { at } });
  const { leaf, compare } = here.query;
  const missing = ['No such entry', 'The session or the entry is not there.', leaf ?? here.id];
  const wanted = (query) => ({ ...query, leaf, compare });
  try {
    const turns = new Turns(api, here.id);
    const [{ data }, said] = await Promise.all([api.session(here.id), leaf ? api.entry(here.id, leaf) : null, turns.readFirst()]);
    const name = nameOf(data, turns);
    const last = said?.data ?? (data.head_entry_id ? { entry_id: data.head_entry_id } : null);
    setTitle('What a model gets', name || here.id);
    await showContext(main, here, {
      title: [el('span', { class: 'faint' }, 'What a model gets of '), namedLink(session(), name, here.id),
        leaf ? [el('span', { class: 'faint' }, ' up to '), namedLink(session(leaf), entryText(said.data.entry), leaf)] : null],
      load: (query) => api.sessionContext(here.id, wanted(query)), openSource: session, missing,
      retry: last ? () => askToForkSession(last, { isRetry: true, replaces: isOfUser(last) }, api, here) : null,
      command: (query) => commandOf(api.address(['sessions', here.id, 'context'], wanted(query))),
    });
  } catch (error) {
    if (error.name !== 'AbortError') fill(main, trouble(error, missing));
  }
}
