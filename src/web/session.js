// session.js: the sessions of a project, and one of them as the tree that it is: branches set in,
// the head and labels marked, each entry with the beginning of what it says.
import { copyButton, count, el, fill, foreign, line, notice } from './dom.js';
import { showContext } from './context.js';
import { askToFork } from './fork.js';
import { paged } from './lists.js';
import { link } from './place.js';
import { clock, when } from './time.js';
import { trouble } from './trouble.js';

const PAGE = 500; // entries that are asked for at once
const BEFORE = 100; // of those before the one that is looked for
const ID_SHOWN = 13; // characters: of an id that is longer, both ends
const SHOWN = 200; // characters of what an entry says
const DEEPEST = 16; // steps that a branch is set in
// As the command line says who speaks; a summary has a role only for models.
const SPEAKERS = new Set(['system', 'user', 'assistant', 'result', 'call', 'bash']);

// --- the list ---

/** The sessions of a project, newest first. */
export async function listSessions(main, api, here) {
  const list = el('div', { class: 'cards' });
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, 'Sessions')), list);
  await paged(list, async (cursor) => {
    const { data } = await api.sessions(cursor);
    return { items: data.sessions, next: data.next_cursor };
  }, (one) => el('a', {
    class: 'box-link', 'data-session': one.session_id,
    href: link({ project: here.project, view: 'session', id: one.session_id }),
  }, foreign(one.name ?? one.session_id, { class: one.name ? '' : 'id' }), el('div', { class: 'faint' },
    one.name ? [foreign(one.session_id, { class: 'id' }), ', '] : null, one.dialect ?? 'no dialect yet', ', ', count(one.entries, 'entry', 'entries'),
    one.forked_from ? [', of ', foreign(one.forked_from, { class: 'id' })] : null, ', ',
    when(one.updated_at))), () => notice('No sessions', 'Nobody has kept one in this project so far.'));
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

/** Gives each row that begins a branch `below`, how many of the branch come after it, and leaves those out
 * of branches that are folded. */
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

/** What an entry says, in a line; of one that is too long to be read, its size. */
function saysOf({ preview, type, size }) {
  const said = preview && [preview.text, preview.tools && `→ ${preview.tools}`].filter(Boolean).join(' ');
  return line(said ?? '', SHOWN) || `(${type}, ${count(size, 'byte')})`;
}

/** An id whose time, at its beginning, says little: the end is what differs. */
function shortId(id) {
  const text = id.length > ID_SHOWN ? `${id.slice(0, 4)}…${id.slice(-8)}` : id;
  return foreign(text, { class: 'id', title: id });
}

/** A new session of the path to an entry, for another try from there. */
function forkButton(node, api, here) {
  return el('button', {
    type: 'button', class: 'quiet', 'data-do': 'fork', title: 'a new session that ends with this entry',
    onclick: () => askToFork({
      title: 'Fork this session',
      text: ['A new session in the project ', foreign(here.project), ' has the path to ', shortId(node.entry_id),
        ' of the session ', foreign(here.id), ', and goes on from there. This session stays as it is.'],
    }, async () => {
      const { data } = await api.forkSession(here.id, { entry_id: node.entry_id });
      return { project: here.project, view: 'session', id: data.session_id };
    }),
  }, 'Fork here');
}

function foldButton({ below, folded }, onfold) {
  return below > 0 ? el('button', {
    type: 'button', class: 'quiet fold', 'data-do': 'fold', 'aria-expanded': String(!folded),
    title: folded ? 'show the branch' : 'fold the branch', onclick: onfold,
  }, folded ? `▸ ${below.toLocaleString('en')} more` : '▾') : null;
}

function entryRow(one, session, here, api, onfold) {
  const { node, level, begins, leaf, children } = one;
  const word = node.preview?.role ?? node.type;
  const at = (view, query) => link({ project: here.project, view, id: here.id, query });
  const row = el('div', {
    class: `entry role-${SPEAKERS.has(word) ? node.role : 'other'}${begins ? ' begins' : ''}${leaf ? ' leaf' : ''}`,
    'data-entry': node.entry_id, 'data-level': level,
    'aria-current': node.entry_id === here.query.at ? 'location' : null,
  }, el('span', { class: 'role' }, foreign(word)),
  el('span', { class: 'says' }, foreign(saysOf(node))),
  node.entry_id === session.head_entry_id ? el('span', { class: 'badge good' }, 'head') : null,
  typeof node.label === 'string' ? el('span', { class: 'badge' }, foreign(node.label)) : null,
  node.missing_parent === undefined ? null : el('span', { class: 'badge bad' }, 'its parent is missing'),
  children > 1 ? el('span', { class: 'badge' }, count(children, 'branch', 'branches')) : null,
  foldButton(one, onfold),
  el('span', { class: 'space' }),
  el('span', { class: 'faint time' }, clock(node.preview?.time)),
  forkButton(node, api, here), copyButton(node.entry_id, 'Copy id'),
  el('a', { class: 'faint', href: at('session', { ...here.query, entry: node.entry_id }) }, shortId(node.entry_id)),
  el('a', { href: at('session-context', { leaf: node.entry_id }), 'data-do': 'context' }, 'context'));
  row.style.setProperty('--level', Math.min(level, DEEPEST));
  return row;
}

/** Where it came from, and where one goes on. */
function facts(session, here) {
  const at = (view, query, id = here.id) => link({ project: here.project, view, id, query });
  const { name, head_entry_id: head, forked_from: parent } = session;
  return [el('p', { class: 'facts' }, name ? [foreign(here.id, { class: 'id' }), copyButton(here.id, 'Copy id'), ' '] : null,
    session.dialect ?? 'no dialect yet', ', ', count(session.entries, 'entry', 'entries'),
    `, version ${session.version}, `, when(session.updated_at),
    parent ? [', of ', el('a', { href: at('session', {}, parent), 'data-do': 'parent' },
      foreign(parent, { class: 'id' }))] : null),
  head ? el('p', { class: 'facts' }, 'head: ', el('a', { href: at('session', { at: head }), 'data-do': 'head' },
    foreign(head, { class: 'id' })), copyButton(head, 'Copy id'), ' ',
  el('a', { href: at('session-context', { leaf: head }), 'data-do': 'context' }, 'its context')) : null];
}

/** The part of a tree that is loaded. It grows at both ends, by pages. */
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
  }

  async earlier() {
    const from = Math.max(0, this.from - PAGE);
    const { entries } = await this.#page(from);
    this.nodes.unshift(...entries.filter((one) => one.line < this.from));
    this.from = from;
  }
}

/** Shows one session, at the entry that is looked for. Its tree is drawn anew with each page that comes. */
export async function showSession(main, api, here) {
  const tree = el('div', { class: 'tree' }, el('p', { class: 'faint' }, 'Loading …'));
  let missing = ['No such session', 'There is none with this id in this project.', here.id];
  try {
    const { data: session } = await api.session(here.id);
    fill(main, el('header', { class: 'box-head' }, el('h1', {}, el('span', { class: 'faint' }, 'Session '),
      foreign(session.name ?? here.id, { class: session.name ? '' : 'id' }), ' ',
      session.name ? null : copyButton(here.id, 'Copy id')), facts(session, here)), tree);
    const { at } = here.query;
    missing = ['No such entry', 'The session has none with this id.', at];
    const part = new Part(api, here.id, at ? Math.max(0, (await api.entry(here.id, at)).data.line - BEFORE) : 0);
    const folded = new Set();
    const fold = (id) => {
      if (!folded.delete(id)) folded.add(id);
      paint();
      tree.querySelector(`[data-entry="${CSS.escape(id)}"] [data-do=fold]`).focus();
    };
    const draw = async (way) => {
      await part[way]();
      const height = document.documentElement.scrollHeight;
      paint();
      if (way === 'earlier') window.scrollBy(0, document.documentElement.scrollHeight - height);
    };
    let isLoading = false; // a page that is asked for twice would stand there twice
    const press = async ({ target: button }, way) => {
      if (isLoading) return;
      isLoading = true;
      tree.querySelector('.notice')?.remove();
      try {
        await draw(way);
      } catch (error) {
        if (error.name !== 'AbortError') button.before(trouble(error));
      }
      isLoading = false;
    };
    const paint = () => {
      const more = (way, words) => el('button', { type: 'button', class: 'wide', onclick: (event) => press(event, way) }, words);
      fill(tree, part.from > 0 ? more('earlier', 'Earlier entries') : null,
        foldedRows(rowsOf(part.nodes), folded).map((row) =>
          entryRow(row, session, here, api, () => fold(row.node.entry_id))),
        part.nodes.length === 0 ? notice('An empty session', 'Nothing has been said so far.') : null,
        part.next ? more('later', 'Later entries') : null);
    };
    await draw('later');
    tree.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' });
  } catch (error) {
    if (error.name === 'AbortError') return;
    fill(main, trouble(error, missing));
  }
}

/** What a model gets at a leaf. */
export function showSessionContext(main, api, here) {
  const session = (at) => link({ project: here.project, view: 'session', id: here.id, query: { at } });
  const { leaf, compare } = here.query;
  return showContext(main, here, {
    title: [el('span', { class: 'faint' }, 'What a model gets of session '),
      el('a', { href: session(leaf) }, foreign(here.id, { class: 'id' })),
      leaf ? [el('span', { class: 'faint' }, ' at '), foreign(leaf, { class: 'id' })] : null],
    load: (query) => api.sessionContext(here.id, { ...query, leaf, compare }),
    openSource: session,
    missing: ['No such entry', 'The session or the entry is not there.', leaf ?? here.id],
  });
}
