// box.js: one box: its cards as a conversation, and a timeline over its versions, so that one sees
// what the agent saw at each turn, and forks there.
import { copyButton, count, el, fill, foreign, notice } from './dom.js';
import { askToFork } from './fork.js';
import { cardItem, missingItem, pairing } from './card.js';
import { link, place, revise } from './place.js';
import { when } from './time.js';
import { trouble } from './trouble.js';
import { Versions } from './versions.js';

const SHOWN_AT_FIRST = 60; // cards
const STRIP_MOST = 160; // versions that get a mark of their own

/** Shows the box at `here`. */
export async function showBox(main, api, here, signal) {
  const box = new Versions(api, here.id);
  fill(main, el('p', { class: 'faint' }, 'Loading …'));
  try {
    await box.open();
    await new BoxPage(main, api, here, box, signal).start();
  } catch (error) {
    if (error.name === 'AbortError' || signal.aborted) return;
    fill(main, trouble(error, ['No such box', 'There is none with this id in this project.', here.id]));
  }
}

class BoxPage {
  constructor(main, api, here, box, signal) {
    Object.assign(this, { main, api, here, box, signal });
    this.version = 0;
    this.shown = SHOWN_AT_FIRST;
    this.turn = 0; // counts moves of the slider: only the last one is drawn
  }

  async start() {
    const asked = Number(this.here.query.version ?? 0);
    this.list = el('div', { class: 'cards' });
    this.facts = el('div', { class: 'facts' });
    this.timeline = this.makeTimeline();
    fill(this.main, el('header', { class: 'box-head' },
      el('h1', {}, el('span', { class: 'faint' }, 'Box '), foreign(this.here.id, { class: 'id' }),
        ' ', copyButton(this.here.id, 'Copy id')), this.facts), this.timeline, this.list);
    await this.show(asked >= 1 && asked < this.box.newest ? asked : this.box.newest);
    this.scrollToCard(this.here.query.at);
  }

  // --- the timeline ---

  makeTimeline() {
    this.slider = el('input', {
      type: 'range', min: 1, max: this.box.newest, step: 1, value: this.box.newest, class: 'slider',
      'aria-label': 'version of the box', oninput: () => this.show(Number(this.slider.value)),
    });
    const step = (by) => () =>
      this.show(Math.min(this.box.newest, Math.max(1, this.version + by)));
    this.back = el('button', { type: 'button', onclick: step(-1), title: 'one version back' }, '◀');
    this.forth = el('button', { type: 'button', onclick: step(1), title: 'one version on' }, '▶');
    this.now = el('button', {
      type: 'button', onclick: () => this.refresh(), title: 'the box as it is at this moment',
    }, 'Now');
    this.said = el('p', { class: 'said', 'aria-live': 'polite' });
    this.strip = el('div', { class: 'strip', 'aria-hidden': 'true' });
    this.forkButton = el('button', {
      type: 'button', class: 'main', 'data-do': 'fork',
      onclick: () => this.fork({ at_version: this.version }, `version ${this.version}`),
    }, 'Fork here');
    this.contextLink = el('a', { class: 'button', 'data-do': 'context' }, 'What a model gets');
    return el('section', { class: 'timeline', 'aria-label': 'history' },
      el('div', { class: 'controls' }, this.back, this.slider, this.forth, this.now),
      this.strip, el('div', { class: 'controls' }, this.said, el('span', { class: 'space' }),
        this.contextLink, this.forkButton));
  }

  drawStrip() {
    const entries = this.box.loaded();
    if (this.box.newest > STRIP_MOST || entries.length < 2) return fill(this.strip);
    return fill(this.strip, entries.map((entry) => el('span', {
      class: `mark ${entry.op}${entry.version === this.version ? ' current' : ''}` +
        (entry.version > this.version ? ' later' : ''),
      title: `version ${entry.version}: ${entry.op}`, onclick: () => this.show(entry.version),
    })));
  }

  sayVersion(entry) {
    const { newest } = this.box;
    const words = { append: 'appended', create: 'created with', fork: 'forked with',
      replace: 'replaced by' };
    fill(this.said, el('strong', {}, `Version ${this.version} of ${newest}`),
      this.version === newest ? ' (now)' : null,
      entry ? [`: ${words[entry.op] ?? entry.op} ${count(entry.added, 'card')}, `, when(entry.at)]
        : ': the log no longer says how it came about');
  }

  sayFacts(list) {
    const parents = list.box?.parent_ids ?? [];
    fill(this.facts, count(list.length, 'card'),
      list.box?.created_at ? [', made ', when(list.box.created_at)] : null,
      parents.length > 0 ? [', from ', parents.map((parent, at) => [at > 0 ? ', ' : '',
        el('a', { href: link({ project: this.here.project, view: 'box', id: parent }) },
          foreign(parent, { class: 'id' }))])] : null);
  }

  // --- a version ---

  async show(version) {
    const turn = ++this.turn;
    this.version = version;
    this.slider.value = version;
    this.main.setAttribute('aria-busy', 'true');
    try {
      const state = await this.load(version);
      if (turn !== this.turn || this.signal.aborted) return;
      this.draw(state);
      if (turn > 1) this.list.querySelector('.added')?.scrollIntoView({ block: 'nearest' });
      const { card } = place().query; // which may stand beside it
      revise({ ...this.here, query: { card, version: version === this.box.newest ? undefined : version } });
    } catch (error) {
      if (turn !== this.turn || this.signal.aborted || error.name === 'AbortError') return;
      fill(this.list, trouble(error));
    }
    this.main.removeAttribute('aria-busy');
  }

  /** What has come since the page was opened. */
  async refresh() {
    try {
      await this.box.open();
    } catch (error) {
      fill(this.list, trouble(error));
      return;
    }
    this.slider.max = this.box.newest;
    await this.show(this.box.newest);
  }

  async load(version) {
    const entry = await this.box.entry(version);
    const list = await this.box.list(version);
    const change = await this.box.change(version);
    const from = Math.max(0, list.ids.length - this.shown);
    const ids = list.ids.slice(from);
    const [cards, removed] = [await this.box.cards(ids), await this.box.cards(change.removed)];
    return { entry, list, change, from, ids, cards, removed };
  }

  draw(state) {
    const { newest } = this.box;
    this.drawStrip();
    this.sayVersion(state.entry);
    this.sayFacts(state.list);
    this.back.disabled = this.version <= 1;
    this.forth.disabled = this.version >= newest;
    this.main.classList.toggle('in-the-past', this.version < newest);
    this.contextLink.href = link({ ...this.here, view: 'context',
      query: this.version === newest ? {} : { version: this.version } });
    fill(this.list, this.earlier(state), this.items(state), this.end(state));
  }

  earlier({ list, from }) {
    if (from === 0 && list.from === 0) return null;
    if (from === 0) return el('p', { class: 'faint' },
      `${count(list.from, 'earlier card')} of this long box are not shown.`);
    return el('button', {
      type: 'button', class: 'wide', onclick: () => {
        this.shown += SHOWN_AT_FIRST * 2;
        this.show(this.version);
      },
    }, `Show earlier cards (${(from + list.from).toLocaleString('en')} more)`);
  }

  items({ list, change, from, ids, cards, removed }) {
    const pairs = pairing(cards.filter(Boolean));
    const items = [];
    let turn = null;
    ids.forEach((id, at) => {
      const place = list.from + from + at;
      if (place === Math.max(change.at, list.from + from)) items.push(this.gone(change, removed));
      const how = change.isNew(place) ? 'added' : null;
      const card = cards[at];
      const said = card?.metadata?.agent_turn_id;
      if (typeof said === 'string' && said !== turn) {
        items.push(el('div', { class: 'turn' }, el('span', {}, foreign(said))));
        turn = said;
      }
      items.push(card
        ? cardItem(card, { project: this.here.project, pairs, change: how, position: place + 1,
          open: this.openLink(id), actions: this.actions(place) })
        : missingItem(id, { change: how, position: place + 1 }));
    });
    if (change.at >= list.from + list.ids.length) items.push(this.gone(change, removed));
    return items;
  }

  /** What the version before had in this place. */
  gone(change, removed) {
    if (change.removed.length === 0) return null;
    return el('details', { class: 'gone' },
      el('summary', {}, `${count(change.removed.length, 'card')} of the version before went away`),
      change.removed.map((id, at) => (removed[at]
        ? cardItem(removed[at], { project: this.here.project, open: this.openLink(id) })
        : missingItem(id))));
  }

  end({ list }) {
    if (list.length > 0) return null;
    return notice('An empty box', this.version < this.box.newest
      ? 'At this version nothing had been put into it.' : 'Nothing has been put into it so far.');
  }

  openLink(card) {
    const query = { card };
    if (this.version !== this.box.newest) query.version = this.version;
    return link({ ...this.here, query });
  }

  actions(place) {
    const by = this.box.putThereBy(place, this.version);
    const prefix = this.box.onlyGrewSince(this.version);
    return [
      by !== null && by > 1 ? el('button', {
        type: 'button', class: 'quiet', title: 'the box as it was when this card was made',
        onclick: () => this.show(by - 1),
      }, 'What was seen before this') : null,
      prefix ? el('button', {
        type: 'button', class: 'quiet', title: 'a new box that ends with this card',
        onclick: () => this.fork({ at_length: place + 1 }, `the first ${count(place + 1, 'card')}`),
      }, 'Fork up to here') : null,
    ];
  }

  scrollToCard(id) {
    if (!id) return;
    const found = [...this.list.children].find((one) => one.dataset.card === id);
    found?.scrollIntoView({ block: 'center' });
  }

  // --- forking ---

  fork(body, what) {
    askToFork({
      title: 'Fork this box',
      text: ['A new box in the project ', foreign(this.here.project), ` begins with ${what} of the box `,
        foreign(this.here.id), '. Cards are shared, not copied, and this box stays as it is.'],
    }, async () => {
      const { data } = await this.api.fork(this.here.id, body);
      return { project: this.here.project, view: 'box', id: data.box_id };
    });
  }
}
