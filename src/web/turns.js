// turns.js: the turns of a session: a turn begins with a message of the user, and its number is how many of
// these the path from the root has. Paths are read from their beginning, page by page on demand.
import { el, fill, oneLine } from './dom.js';
import { go } from './place.js';

const FIRST = 150; // entries of a path that are asked for first
const PAGE = 500; // and then, at once
const SHOWN = 60; // turns that have a link of their own, around the current one
const WORDS = 90; // characters of a message in a link's title

/** Is an entry a message of a user? An entry that is too large for a preview has only its role. */
export function isOfUser({ type, role, preview }) {
  return ['message', 'user'].includes(type) && (preview?.role ?? role) === 'user';
}

export class Turns {
  #load; // returns a page of the path
  #next = 0; // the depth up to which it is read; null: all of it
  #busy = null;

  /** `leaf`: the last entry of the path; undefined: the head. */
  constructor(api, session, leaf) {
    this.#load = (cursor) => api.path(session, leaf, { limit: cursor ? PAGE : FIRST, preview: true, cursor });
    this.all = []; // the nodes that begin turns
    this.numbers = new Map(); // entry -> number of the turn that it is part of; 0: before the first
  }

  get isWhole() {
    return this.#next === null;
  }

  async #page() {
    const { path, next_cursor: next } = (await this.#load(this.#next || undefined)).data;
    for (const node of path) {
      if (isOfUser(node)) this.all.push(node);
      this.numbers.set(node.entry_id, this.all.length);
    }
    this.#next = next;
  }

  /** Reads the first page of the path. */
  async readFirst() {
    await this.until(() => true);
  }

  /** Reads the whole path. */
  async readAll() {
    await this.until(() => false);
  }

  /** Reads the beginning, and on until `isEnough` returns true, or to the end. */
  async until(isEnough) {
    while (!this.isWhole && (this.#next === 0 || !isEnough())) {
      this.#busy ??= this.#page().finally(() => { this.#busy = null; });
      await this.#busy;
    }
  }

  /** Reads the numbers of the turns up to an entry, which may be on another path. */
  async reach(api, session, { entry_id: id, depth }) {
    await this.until(() => Number(this.#next) > depth);
    if (this.numbers.has(id)) return;
    const own = new Turns(api, session, id);
    await own.readAll();
    for (const [entry, number] of own.numbers) this.numbers.set(entry, number);
  }

  /** The entry that begins a turn; undefined: the path has fewer turns. */
  async find(number) {
    await this.until(() => this.all.length >= number);
    return this.all[number - 1]?.entry_id;
  }
}

/** A form for the number of a turn of `whom`, after the nodes `before`. `last`: the highest number, if that is known. */
export function turnForm({ last, whom, before = null }, choose) {
  const field = el('input', {
    type: 'number', min: 1, max: last, name: 'turn', class: 'turn-number', 'aria-label': 'number of a turn', placeholder: 'No.',
  });
  const form = el('form', { class: 'turns' }, el('span', { class: 'faint' }, `Turn of the ${whom}`), before, field, el('button', {}, 'Go'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (field.value) choose(Number(field.value));
  });
  return form;
}

/** The links to the turns and the field for a number, at the turn `current`. */
export function turnControls(turns, current, here) {
  const to = (turn) => go({ ...here, query: { turn } });
  const links = el('span', { class: 'turn-links' });
  const from = Math.max(0, Math.min(current - SHOWN / 2, turns.all.length - SHOWN));
  fill(links, turns.all.slice(from, from + SHOWN).map((node, at) => el('button', {
    type: 'button', 'data-turn': from + at + 1, 'aria-current': from + at + 1 === current ? 'step' : null,
    'aria-label': `turn ${from + at + 1}`,
    title: oneLine(node.preview?.text ?? '', WORDS), onclick: () => to(from + at + 1),
  }, from + at + 1)), turns.isWhole && from + SHOWN >= turns.all.length ? null : el('span', { class: 'faint' }, '…'));
  return turnForm({ last: turns.isWhole ? turns.all.length : null, whom: 'user', before: links }, to);
}
