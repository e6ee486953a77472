// versions.js: the history of one box: its log, the ids that it had at each version, and what a
// change made of the list. Knows no page.

/** Longer lists are not loaded whole if their end will do. */
const WHOLE_MOST = 20000;

export class Versions {
  #api;
  id;
  #entries = new Map(); // version -> {version, op, length, added, at}
  #lists = new Map(); // version -> the result of list()
  #cards = new Map(); // id -> card, or null where there is none to be read
  newest = 0;
  oldest = Infinity; // version of the loaded part of the log

  constructor(api, id) {
    this.#api = api;
    this.id = id;
  }

  /** Loads the newest page of the log; again, to see what has come since. */
  async open() {
    await this.#page();
    for (const [id, card] of this.#cards) if (card === null) this.#cards.delete(id);
    this.newest = Math.max(...this.#entries.keys());
  }

  async #page(cursor) {
    const { data } = await this.#api.log(this.id, cursor);
    for (const entry of data.log) this.#entries.set(entry.version, entry);
    this.oldest = Math.min(this.oldest, ...data.log.map((entry) => entry.version));
  }

  /** The log entry of a version, without the page around it; undefined: the log no longer has it. */
  async fetchEntry(version) {
    if (!this.#entries.has(version)) {
      const { data } = await this.#api.log(this.id, version + 1, 1);
      if (data.log[0]?.version !== version) return undefined;
      this.#entries.set(version, data.log[0]);
    }
    return this.#entries.get(version);
  }

  /** The box without its card ids. */
  async box() {
    return (await this.#api.box(this.id, { at_length: 0 })).data;
  }

  /** The last cards of a version, by their ids; missing ones are left out. */
  async lastIds(version, most) {
    const { data } = await this.#api.lastCards(this.id, { at_version: version }, most);
    return data.map((card) => card.card_id);
  }

  /** The card that a version ends with, if the version added it and it is loaded. */
  newestCard(version) {
    return this.#cards.get(this.#entries.get(version)?.card_ids?.at(-1)) ?? null;
  }

  /** Loads the log from a version to another, and the card that each of them ends with. */
  async loadNewestCards(from, to) {
    const ids = [];
    for (let version = to; version >= from; version--) {
      const entry = await this.entry(version);
      if (entry?.card_ids?.length > 0) ids.push(entry.card_ids.at(-1));
    }
    await this.cards(ids);
  }

  /** The log entry of a version, with the page around it; undefined: the log no longer has it. */
  async entry(version) {
    if (!this.#entries.has(version) && version >= 1 && version <= this.newest)
      await this.#page(version + 1);
    return this.#entries.get(version);
  }

  /** The log entry of a version; undefined: it is not loaded. */
  loadedEntry(version) {
    return this.#entries.get(version);
  }

  /** {ids, from, length, box}: the ids from index `from` on; `box` is null of a list that is loaded in part. */
  async list(version) {
    if (!this.#lists.has(version)) this.#lists.set(version, await this.#load(version));
    return this.#lists.get(version);
  }

  async #load(version) {
    const entry = await this.entry(version);
    return (entry && entry.length > WHOLE_MOST ? await this.#end(version, entry.length) : null) ??
      this.#whole(version);
  }

  async #whole(version) {
    const { data } = await this.#api.box(this.id, { at_version: version });
    return { ids: data.card_ids, from: 0, length: data.card_ids.length, box: data };
  }

  /** The last cards of a long list; null if some are missing, since then the indexes of the
   * others are not known. */
  async #end(version, length) {
    const { data, headers } = await this.#api.lastCards(this.id, { at_version: version });
    if (headers.get('Cardbox-Missing') !== '0') return null;
    for (const card of data) this.#cards.set(card.card_id, card);
    return { ids: data.map((card) => card.card_id), from: length - data.length, length, box: null };
  }

  /** The cards of these ids, null for those that are missing. */
  async cards(ids) {
    const wanted = [...new Set(ids)].filter((id) => !this.#cards.has(id));
    for (let at = 0; at < wanted.length; at += 100) {
      const part = wanted.slice(at, at + 100);
      const { data } = await this.#api.cards(part);
      for (const id of part) this.#cards.set(id, null);
      for (const card of data.cards) this.#cards.set(card.card_id, card);
    }
    return ids.map((id) => this.#cards.get(id));
  }

  /** The change of a version: isNew(index) for indexes of its list, and the ids that were removed before the index
   * `at`. `isUnknown`: a list is loaded in part, so that the two lists can't be compared. */
  async change(version) {
    const entry = await this.entry(version);
    const none = { isNew: () => false, removed: [], at: Infinity, isUnknown: false };
    if (!entry || version === 1 || entry.op === 'seal') return none;
    if (entry.op === 'append') {
      const from = entry.length - entry.added;
      return { isNew: (place) => place >= from, removed: [], at: from };
    }
    const [before, now] = [await this.list(version - 1), await this.list(version)];
    return before.from > 0 || now.from > 0 ? { ...none, isUnknown: true } : compare(before.ids, now.ids);
  }

  /** The version that added the card at an index, if the loaded log has it and cards were only appended
   * from there to `version`; else null. */
  addedAtVersion(place, version) {
    for (let at = version; at >= this.oldest; at--) {
      const entry = this.#entries.get(at);
      if (entry?.op === 'seal') continue;
      if (entry?.op !== 'append') return null;
      if (place >= entry.length - entry.added) return at;
    }
    return null;
  }

  /** True if the loaded log shows that cards were only appended since a version. */
  onlyGrewSince(version) {
    for (let at = this.newest; at > version; at--)
      if (!['append', 'seal'].includes(this.#entries.get(at)?.op)) return false;
    return true;
  }
}

/** The difference between two lists. A card that only moved is not new. */
function compare(before, now) {
  const left = new Map(); // id -> how often it stood in the list before
  for (const id of before) left.set(id, (left.get(id) ?? 0) + 1);
  const added = new Set();
  now.forEach((id, place) => {
    if (left.get(id) > 0) left.set(id, left.get(id) - 1);
    else added.add(place);
  });
  const removed = before.filter((id) => {
    if (!(left.get(id) > 0)) return false;
    left.set(id, left.get(id) - 1);
    return true;
  });
  let at = 0;
  while (at < before.length && at < now.length && before[at] === now[at]) at++;
  return { isNew: (place) => added.has(place), removed, at };
}
