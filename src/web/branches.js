// branches.js: two branches of a session side by side: what both have, and what only one of them has.
import { count, el, fill, notice, oneLine } from './dom.js';
import { entryRow } from './entries.js';
import { go } from './place.js';
import { trouble } from './trouble.js';

const LEAVES = 500; // branches that can be chosen
const SHOWN = 100; // entries of a branch that are asked for at once
const COMMON = 5; // entries of the common part that are shown at first
const WORDS = 70; // characters of a branch's last message

/** The choice of one branch. One that does not end with a leaf stands there, too. */
function choice(name, leaves, chosen, session, to) {
  const nameOf = (leaf) => [leaf.entry_id === session.head_entry_id ? 'head: ' : '', leaf.preview?.role ?? leaf.type, ': ',
    oneLine(leaf.preview?.text || leaf.preview?.tools || leaf.entry_id, WORDS)].join('');
  const isLeaf = leaves.some(({ entry_id: id }) => id === chosen);
  const select = el('select', { name, 'aria-label': `branch ${name}`, onchange: () => to({ [name]: select.value }) },
    isLeaf ? null : el('option', { value: chosen, selected: true }, chosen),
    leaves.map((leaf) => el('option', { value: leaf.entry_id, selected: leaf.entry_id === chosen }, nameOf(leaf))));
  return el('label', {}, el('span', { class: 'faint' }, name === 'a' ? 'Branch A ' : 'Branch B '), select);
}

/** A list of entries with a button that brings more of them, at its end or at its beginning. */
function entries(first, draw, words, more) {
  const list = el('div', { class: 'branch-entries' }, first.map(draw));
  const button = el('button', { type: 'button', class: 'wide', onclick: async () => {
    button.disabled = true;
    list.querySelector('.notice')?.remove();
    try {
      const { nodes, isLast } = await more.load();
      const drawn = nodes.map(draw);
      if (more.isBefore) button.after(...drawn);
      else button.before(...drawn);
      if (isLast) button.remove();
    } catch (error) {
      if (error.name !== 'AbortError') button.before(trouble(error));
    }
    button.disabled = false;
  } }, words);
  if (more) list[more.isBefore ? 'prepend' : 'append'](button);
  return list;
}

/** The common part: its last entries, and those before them on demand. */
async function commonPart(api, here, common, draw) {
  if (common === null) return notice('Nothing in common', 'The two branches begin with different entries.');
  let from = common.depth + 1;
  const load = async (most) => {
    const cursor = Math.max(0, from - most);
    const { path } = (await api.path(here.id, common.entry_id, { limit: from - cursor, preview: true, cursor: cursor || undefined })).data;
    from = cursor;
    return { nodes: path, isLast: from === 0 };
  };
  const { nodes, isLast } = await load(COMMON);
  return el('section', { class: 'branch', 'data-branch': 'common' },
    el('h2', {}, 'Both ', el('span', { class: 'faint' }, count(common.depth + 1, 'entry', 'entries'))),
    entries(nodes, draw, 'Earlier entries', isLast ? null : { isBefore: true, load: () => load(SHOWN) }));
}

/** The part that only one branch has. */
async function ownPart(api, here, name, leaf, first, common, draw) {
  let from = (common?.depth ?? -1) + 1 + first.length;
  const load = async () => {
    const { path, length } = (await api.path(here.id, leaf, { limit: SHOWN, preview: true, cursor: from || undefined })).data;
    from += path.length;
    return { nodes: path, isLast: from >= length };
  };
  const { length } = (await api.path(here.id, leaf, { limit: 1 })).data;
  return el('section', { class: 'branch', 'data-branch': name },
    el('h2', {}, `Branch ${name.toUpperCase()} `, el('span', { class: 'faint' },
      count(length - (common?.depth ?? -1) - 1, 'entry', 'entries'))),
    first.length === 0 ? el('p', { class: 'faint' }, 'It ends there.') : null,
    entries(first, draw, 'Later entries', from < length ? { load } : null));
}

/** The two to compare: those of the address, else the head's and the newest other one. */
function chosen(leaves, session, { a, b }) {
  const ids = leaves.map(({ entry_id: id }) => id);
  const first = a ?? (ids.includes(session.head_entry_id) ? session.head_entry_id : ids.at(-1));
  return [first, b ?? ids.findLast((id) => id !== first) ?? first];
}

/** Shows two branches of a session, and which ones can be chosen. */
export async function showBranches(body, api, here, session) {
  const { entries: leaves, next_cursor: more } = (await api.leaves(here.id, { limit: LEAVES, preview: true })).data;
  const [a, b] = chosen(leaves, session, here.query);
  if (leaves.length < 2 && a === b) {
    fill(body, notice('One branch', 'This session has one branch so far: there is nothing to compare it with.'));
    return;
  }
  const to = (change) => go({ ...here, query: { a, b, ...change } });
  const parts = el('div', {}, el('p', { class: 'faint' }, 'Loading …'));
  fill(body, el('div', { class: 'controls branch-choice' }, choice('a', leaves, a, session, to),
    choice('b', leaves, b, session, to), el('button', { type: 'button', onclick: () => to({ a: b, b: a }) }, 'Swap'),
    more ? el('span', { class: 'faint' }, `The first ${count(leaves.length, 'branch', 'branches')} can be chosen.`) : null), parts);
  const { common, a: ofA, b: ofB } = (await api.diff(here.id, { a, b, limit: SHOWN, preview: true })).data;
  const draw = (node) => entryRow({ node, children: 0 }, { session, here, api });
  const drawn = await Promise.all([commonPart(api, here, common, draw), ownPart(api, here, 'a', a, ofA, common, draw),
    ownPart(api, here, 'b', b, ofB, common, draw)]);
  fill(parts, drawn[0], el('div', { class: 'branches beside' }, drawn.slice(1)));
}
