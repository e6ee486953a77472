// session.js: the sessions of a project, and one of them as the tree that it is: branches set in,
// the head and labels marked, each entry with the beginning of what it says.
import { add, count, el, fill, foreign, notice } from './dom.js';
import { showContext } from './context.js';
import { paged } from './lists.js';
import { link } from './place.js';
import { clock, when } from './time.js';
import { trouble } from './trouble.js';

const PAGE = 500; // entries that are asked for at once
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
  }, foreign(one.name ?? one.session_id, { class: one.name ? '' : 'id' }), el('span', { class: 'faint' },
    ' ', one.dialect ?? '', ', ', count(one.entries, 'entry').replace('entrys', 'entries'),
    one.forked_from ? [', of ', foreign(one.forked_from, { class: 'id' })] : null, ', ',
    when(one.updated_at))), () => notice('No sessions', 'Nobody has kept one in this project so far.'));
}

// --- the tree ---

/** Rows in the order of the tree: {node, level, begins, leaf}; `begins`: the first of a branch. A child
 * alone goes on at its parent's level, several are set in. */
export function rowsOf(nodes) {
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

/** What an entry says, in a line; of one that is too long to be read, its size. */
function saysOf({ preview, type, size }) {
  const said = preview && [preview.text, preview.tools && `→ ${preview.tools}`].filter(Boolean).join(' ');
  const text = (said ?? '').replace(/\s+/g, ' ').trim() || `(${type}, ${count(size, 'byte')})`;
  return text.length > SHOWN ? `${text.slice(0, SHOWN)} …` : text;
}

function entryRow({ node, level, begins, leaf, children }, session, here) {
  const word = node.preview?.role ?? node.type;
  const at = (view, query) => link({ project: here.project, view, id: here.id, query });
  const row = el('div', {
    class: `entry role-${SPEAKERS.has(word) ? node.role : 'other'}${begins ? ' begins' : ''}${leaf ? ' leaf' : ''}`,
    'data-entry': node.entry_id, 'data-level': level,
  }, el('span', { class: 'role' }, foreign(word)),
  el('span', { class: 'says' }, foreign(saysOf(node))),
  node.entry_id === session.head_entry_id ? el('span', { class: 'badge good' }, 'head') : null,
  typeof node.label === 'string' ? el('span', { class: 'badge' }, foreign(node.label)) : null,
  node.missing_parent === undefined ? null : el('span', { class: 'badge bad' }, 'its parent is missing'),
  children > 1 ? el('span', { class: 'badge' }, count(children, 'branch').replace('branchs', 'branches')) : null,
  el('span', { class: 'space' }),
  el('span', { class: 'faint time' }, clock(node.preview?.time)),
  el('a', { class: 'faint', href: at('session', { card: node.card_id }) }, foreign(node.entry_id.slice(0, 12),
    { class: 'id' })),
  el('a', { href: at('session-context', { leaf: node.entry_id }), 'data-do': 'context' }, 'context'));
  row.style.setProperty('--level', Math.min(level, DEEPEST));
  return row;
}

async function loadTree(api, id, from, into) {
  const { data } = await api.tree(id, { limit: PAGE, preview: true, cursor: from });
  into.push(...data.entries);
  return data.next_cursor;
}

function facts(session) {
  return el('p', { class: 'facts' }, session.dialect ?? 'no dialect yet', ', ',
    count(session.entries, 'entry').replace('entrys', 'entries'), `, version ${session.version}, `,
    when(session.updated_at), session.forked_from ? [', of ', foreign(session.forked_from, { class: 'id' })]
      : null);
}

/** Shows one session. Its tree is drawn anew with each page that comes. */
export async function showSession(main, api, here) {
  const tree = el('div', { class: 'tree' }, el('p', { class: 'faint' }, 'Loading …'));
  const nodes = [];
  try {
    const { data: session } = await api.session(here.id);
    fill(main, el('header', { class: 'box-head' }, el('h1', {}, el('span', { class: 'faint' }, 'Session '),
      foreign(session.name ?? here.id, { class: session.name ? '' : 'id' })), facts(session)), tree);
    const draw = async (from) => {
      const next = await loadTree(api, here.id, from, nodes);
      fill(tree, rowsOf(nodes).map((row) => entryRow(row, session, here)));
      if (nodes.length === 0) add(tree, notice('An empty session', 'Nothing has been said so far.'));
      if (next) add(tree, el('button', { type: 'button', class: 'wide', onclick: () => draw(next) },
        `More entries (${(session.entries - nodes.length).toLocaleString('en')})`));
    };
    await draw();
    const wanted = here.query.at && [...tree.children].find((one) => one.dataset.entry === here.query.at);
    if (wanted) wanted.scrollIntoView({ block: 'center' });
  } catch (error) {
    if (error.name === 'AbortError') return;
    fill(main, trouble(error, ['No such session', 'There is none with this id in this project.', here.id]));
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
