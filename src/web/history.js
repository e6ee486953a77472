// history.js: the history of a box with that of the boxes that it was forked from. The versions of a
// parent up to the fork come before those of the fork, also if the parent is a fork. Knows no page.
import { Versions } from './versions.js';

const DEEPEST = 64; // forks of forks
const COMPARED = 20; // cards at the end of two lists
const LOOKED_AT = 500; // versions, one by one

export class History {
  #api;

  constructor(api, id) {
    this.#api = api;
    this.own = new Versions(api, id);
    /** Oldest first: {versions, last, before}: the versions 1 to `last` of a box, after `before` others. */
    this.parts = [{ versions: this.own, last: 0, before: 0 }];
    this.lost = null; // the parent whose history can't be read
  }

  /** Loads the newest versions; again, to see what has come since. */
  async open() {
    await this.own.open();
    this.#count();
  }

  #count() {
    this.length = 0;
    for (const part of this.parts) {
      part.before = this.length;
      if (part.versions === this.own) part.last = this.own.newest;
      this.length += part.last;
    }
  }

  /** {versions, version} at a position, from 1 on. */
  at(position) {
    const part = this.parts.findLast((one) => position > one.before) ?? this.parts[0];
    return { versions: part.versions, version: position - part.before };
  }

  /** The position of a version; 0: it is not part of this history. */
  position(id, version) {
    const part = this.parts.find((one) => one.versions.id === id);
    return part && Number.isInteger(version) && version >= 1 && version <= part.last ? part.before + version : 0;
  }

  /** Adds the histories of the boxes that it was forked from, up to the first that can't be read. */
  async trace() {
    const seen = new Set([this.own.id]);
    while (this.lost === null && seen.size < DEEPEST) {
      const child = this.parts[0].versions;
      const made = await child.fetchEntry(1);
      if (made?.op !== 'fork') return;
      const [parent] = (await child.box()).parent_ids ?? [];
      if (parent === undefined || seen.has(parent)) return;
      seen.add(parent);
      const versions = new Versions(this.#api, parent);
      const last = await pointOfFork(versions, child, made);
      if (last === 0) this.lost = parent;
      else this.parts.unshift({ versions, last, before: 0 });
      this.#count();
    }
  }
}

/** The newest version for which `holds` is true. It is true of all before, too. 0: of none. */
async function newestWhere(versions, to, holds) {
  let [below, above] = [0, to + 1];
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    const entry = await versions.fetchEntry(middle);
    if (!entry || holds(entry)) below = middle;
    else above = middle;
  }
  return below;
}

const moment = (text) => text.replace(/Z$/, ''); // so that texts compare as times do

async function hasSameEnd(parent, version, child) {
  const [a, b] = [await parent.lastIds(version, COMPARED), await child.lastIds(1, COMPARED)];
  return a.length === b.length && a.every((id, at) => id === b[at]);
}

/** The version of the parent that a fork was made of. If the fork begins with a part of a version, the version
 * before. 0: there is none, such as of a parent that was deleted. */
async function pointOfFork(parent, child, made) {
  try {
    await parent.open();
  } catch (error) {
    if (error.status === 404 || error.status === 410) return 0;
    throw error;
  }
  const then = await newestWhere(parent, parent.newest, ({ at }) => moment(at) <= moment(made.at));
  // Lists mostly grow; if one did not, the versions are looked at one by one.
  const found = await newestWhere(parent, then, ({ length }) => length <= made.length);
  const entry = found > 0 ? await parent.entry(found) : null;
  if (entry?.length === made.length && await hasSameEnd(parent, found, child)) return found;
  let grew = true; // from the version that is looked at to `then`
  let part = 0;
  for (let version = then; version > Math.max(0, then - LOOKED_AT); version--) {
    const one = await parent.entry(version);
    if (one?.length === made.length && await hasSameEnd(parent, version, child)) return version;
    if (grew && part === 0 && one?.length < made.length) part = version;
    grew &&= one?.op === 'append' || one?.op === 'seal';
  }
  return part || (entry?.length < made.length ? found : 0);
}
