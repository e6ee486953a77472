// session.js: the sessions of a project, and one of them as the tree that it is: branches set in,
// the head and labels marked, each entry with the beginning of what it says.
import { add, count, el, fill, foreign, notice } from './dom.js';
import { showContext } from './context.js';
import { paged } from './lists.js';
import { link } from './place.js';
import { clock, when } from './time.js';
import { trouble } from './trouble.js';

const PAGE = 500; // entries that are asked for at once
const LINES = 4000; // bytes: longer lines come one by one, when they are looked at,
const MOST = 1024 * 1024; // and those that are longer still do not
const SHOWN = 200; // characters of what an entry says
const DEEPEST = 16; // steps that a branch is set in
const ROLES = new Set(['system', 'user', 'assistant', 'tool']);
// The words of the command line for what is not said by anybody; a summary has a role only for models.
const WORDS = {
  model_change: 'setting', thinking_level_change: 'setting', session_info: 'name', label: 'label',
  compaction: 'summary', branch_summary: 'summary', custom: 'custom', custom_message: 'custom',
};
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

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

// --- what an entry says, in a line ---

function textOf(content) {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.filter(isObject).map((one) => one.text ?? (one.type === 'toolCall' ? `→ ${one.name}`
    : one.type === 'thinking' ? `(${one.thinking})` : `[${one.type}]`)).join(' ');
}

/** The beginning of it; what is not of a known shape gives its type alone. */
function preview(line) {
  if (!isObject(line)) return '';
  const message = isObject(line.message) ? line.message : line;
  const calls = Array.isArray(line.toolCalls) ? line.toolCalls.filter(isObject).map((one) => `→ ${one.name}`)
    : [];
  const said = [textOf(message.content), message.command, line.output, line.summary, line.label, line.name,
    line.modelId, line.thinkingLevel].filter((one) => typeof one === 'string' && one !== '');
  const text = [said[0] ?? '', ...calls].join(' ').replace(/\s+/g, ' ').trim();
  return text.length > SHOWN ? `${text.slice(0, SHOWN)} …` : text;
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

function wordOf({ type, role }) {
  return Object.hasOwn(WORDS, type) ? WORDS[type] : role === 'tool' ? 'result' : role ?? type;
}

function saysOf(node) {
  return [el('span', { class: 'says' },
    foreign(preview(node.entry) || `(${node.type}, ${count(node.size, 'byte')})`)),
  el('span', { class: 'faint time' }, clock(node.entry?.timestamp))];
}

/** Asks for the lines that did not come with the tree once their rows are seen. */
function watchLong(tree, rows, api, id) {
  const long = new Map(rows.filter(({ node }) => !isObject(node.entry) && node.size <= MOST)
    .map(({ node }) => [node.entry_id, node]));
  const watch = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting)
    .forEach(async ({ target }) => {
      const node = long.get(target.dataset.entry);
      watch.unobserve(target);
      try {
        node.entry = (await api.entry(id, node.entry_id)).data.entry;
      } catch {
        return; // its kind and size stay, which is what is known of it
      }
      const [says, time] = saysOf(node);
      target.querySelector('.says').replaceWith(says);
      target.querySelector('.time').replaceWith(time);
    }));
  for (const row of tree.querySelectorAll('.entry')) if (long.has(row.dataset.entry)) watch.observe(row);
  return watch;
}

function entryRow({ node, level, begins, leaf, children }, session, here) {
  const known = !Object.hasOwn(WORDS, node.type) && ROLES.has(node.role) ? node.role : 'other';
  const [says, time] = saysOf(node);
  const at = (view, query) => link({ project: here.project, view, id: here.id, query });
  const row = el('div', {
    class: `entry role-${known}${begins ? ' begins' : ''}${leaf ? ' leaf' : ''}`,
    'data-entry': node.entry_id, 'data-level': level,
  }, el('span', { class: 'role' }, foreign(wordOf(node))), says,
  node.entry_id === session.head_entry_id ? el('span', { class: 'badge good' }, 'head') : null,
  typeof node.label === 'string' ? el('span', { class: 'badge' }, foreign(node.label)) : null,
  node.missing_parent === undefined ? null : el('span', { class: 'badge bad' }, 'its parent is missing'),
  children > 1 ? el('span', { class: 'badge' }, count(children, 'branch').replace('branchs', 'branches')) : null,
  el('span', { class: 'space' }),
  time,
  el('a', { class: 'faint', href: at('session', { card: node.card_id }) }, foreign(node.entry_id.slice(0, 12),
    { class: 'id' })),
  el('a', { href: at('session-context', { leaf: node.entry_id }), 'data-do': 'context' }, 'context'));
  row.style.setProperty('--level', Math.min(level, DEEPEST));
  return row;
}

async function loadTree(api, id, from, into) {
  const { data } = await api.tree(id, { limit: PAGE, lines: LINES, cursor: from });
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
  let watch = null;
  try {
    const { data: session } = await api.session(here.id);
    fill(main, el('header', { class: 'box-head' }, el('h1', {}, el('span', { class: 'faint' }, 'Session '),
      foreign(session.name ?? here.id, { class: session.name ? '' : 'id' })), facts(session)), tree);
    const draw = async (from) => {
      const next = await loadTree(api, here.id, from, nodes);
      const rows = rowsOf(nodes);
      fill(tree, rows.map((row) => entryRow(row, session, here)));
      watch?.disconnect();
      watch = watchLong(tree, rows, api, here.id);
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
