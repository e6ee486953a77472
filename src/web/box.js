// box.js: one box: its cards as a conversation, and a timeline over its versions and those of the
// boxes that it was forked from. One sees what the agent saw at each turn, and forks there.
import { copyButton, count, el, fill, notice, sentence, shortId, untrusted } from './dom.js';
import { agentTurnOf, boxText, cardItem, missingItem, pairing, plainText, roleOf } from './card.js';
import { ChangedCards } from './changed.js';
import { commandOf } from './curl.js';
import { ask } from './dialog.js';
import { History } from './history.js';
import { pageKeys } from './keys.js';
import { Message, messageCard } from './message.js';
import { link, place, pushAddress, replaceAddress, setTitle } from './place.js';
import { askToForkBox, nextStep } from './retry.js';
import { Timeline } from './timeline.js';
import { when } from './time.js';
import { trouble } from './trouble.js';

const SHOWN_AT_FIRST = 60; // cards

/** Shows the box at `here`. */
export async function showBox(main, api, here, signal) {
  const history = new History(api, here.id);
  fill(main, el('p', { class: 'faint' }, 'Loading …'));
  try {
    await history.open();
    await new BoxPage(main, api, here, history, signal).start();
  } catch (error) {
    if (error.name === 'AbortError' || signal.aborted) return;
    fill(main, trouble(error, ['No such box', 'There is none with this id in this project.', here.id]));
  }
}

class BoxPage {
  constructor(main, api, here, history, signal) {
    Object.assign(this, { main, api, here, history, signal });
    this.shown = SHOWN_AT_FIRST;
    this.move = 0; // counts moves of the slider: only the last one is drawn
    this.changedCards = new ChangedCards(api, signal);
  }

  async start() {
    this.title = el('span', {}, shortId(this.here.id));
    this.facts = el('div', { class: 'facts' });
    this.list = el('div', { class: 'cards' });
    this.commands = el('details', { class: 'commands' });
    this.timeline = new Timeline(this.history, {
      show: (position, isJump) => this.show(position, isJump), refresh: () => this.refresh(), buttons: this.makeButtons(),
    });
    fill(this.main, el('header', { class: 'box-head' },
      el('h1', {}, el('span', { class: 'faint' }, 'Box '), this.title), this.facts, nextStep(this.here)),
    this.timeline.node, this.commands, this.list);
    pageKeys({
      ArrowLeft: ['one version back', () => this.timeline.step(-1)],
      ArrowRight: ['one version on', () => this.timeline.step(1)],
      f: ['fork this version', () => this.forkHere()], a: ['append a message', () => this.append()],
    });
    this.box = await this.history.own.box();
    const { of = this.here.id, version } = this.here.query;
    if (of !== this.here.id) await this.history.trace();
    await this.show(this.history.position(of, Number(version ?? 0)) || this.history.length);
    if (version !== undefined) this.scrollToNew();
    this.scrollToCard(this.here.query.at);
    this.name();
    if (of === this.here.id) await this.addParents();
  }

  /** Adds the parents' versions to the timeline after the first drawing. */
  async addParents() {
    try {
      await this.history.trace();
    } catch {
      return; // the box itself is shown
    }
    if (this.signal.aborted || (this.history.parts.length === 1 && this.history.lost === null)) return;
    const { versions, version } = this.current;
    this.position = this.history.position(versions.id, version);
    this.timeline.draw(this.position);
    this.sayFacts();
  }

  makeButtons() {
    this.forkButton = el('button', {
      type: 'button', class: 'main', 'data-do': 'fork', onclick: () => this.forkHere(),
      title: 'a new box from this version, also with a message after it',
    }, 'Fork here');
    this.appendButton = el('button', { type: 'button', 'data-do': 'append', onclick: () => this.append() }, 'Append a message');
    this.contextLink = el('a', { class: 'button', 'data-do': 'context' }, 'What a model gets');
    return [this.contextLink, this.appendButton, this.forkButton];
  }

  // --- a version ---

  get isNow() {
    return this.position === this.history.length;
  }

  /** Shows a version. Back leads from a version that was jumped to, to the one before. */
  async show(position, isJump = false) {
    const move = ++this.move;
    this.position = position;
    this.current = this.history.at(position);
    this.timeline.setPosition(position); // at once: drawing waits for the cards
    this.main.setAttribute('aria-busy', 'true');
    try {
      const state = await this.load(this.current);
      if (move !== this.move || this.signal.aborted) return;
      this.draw(state);
      if (move > 1) this.scrollToNew();
      const { card } = place().query; // which may stand beside it
      const keepAddress = isJump ? pushAddress : replaceAddress;
      keepAddress({ ...this.here, query: { card, ...this.versionQuery() } });
    } catch (error) {
      if (move !== this.move || this.signal.aborted || error.name === 'AbortError') return;
      fill(this.list, trouble(error));
    }
    this.main.removeAttribute('aria-busy');
  }

  /** Shows the changes since the page was opened. */
  async refresh() {
    try {
      await this.history.open();
      this.box = await this.history.own.box();
    } catch (error) {
      fill(this.list, trouble(error));
      return;
    }
    await this.show(this.history.length);
  }

  versionQuery() {
    const { versions, version } = this.current;
    if (this.isNow) return {};
    return versions === this.history.own ? { version } : { of: versions.id, version };
  }

  async load({ versions, version }) {
    const entry = await versions.entry(version);
    const list = await versions.list(version);
    const change = await versions.change(version);
    const from = Math.max(0, list.ids.length - this.shown);
    const ids = list.ids.slice(from);
    const [cards, removed] = [await versions.cards(ids), await versions.cards(change.removed)];
    return { entry, list, change, from, ids, cards, removed };
  }

  draw(state) {
    const { versions, version } = this.current;
    this.timeline.draw(this.position, state.cards.findLast((one) => one !== null));
    this.main.classList.toggle('in-the-past', !this.isNow);
    this.contextLink.href = link({ project: this.here.project, view: 'context', id: versions.id,
      query: version === versions.newest ? {} : { version } });
    this.appendButton.hidden = !this.isNow || this.box.sealed === true;
    this.length = state.list.length;
    this.sayFacts();
    this.sayTask(state.cards);
    this.drawCommands();
    fill(this.list, state.change.isUnknown ? el('p', { class: 'faint', 'data-fact': 'unknown-change' },
      'This list is too long to be compared with that of the version before: which cards changed is unknown.') : null,
    this.earlier(state), this.items(state), this.end(state));
    this.changedCards.watch(this.list, state.cards, state.entry?.at);
  }

  // --- what it is ---

  async name() {
    try {
      const said = sentence(await boxText(this.api, this.here.id));
      if (!said || this.signal.aborted) return;
      fill(this.title, untrusted(said));
      setTitle(said);
    } catch {
      // Its id stands there.
    }
  }

  sayFacts() {
    const { box, history } = this;
    const parents = box.parent_ids ?? [];
    const at = (id) => el('a', { href: link({ project: this.here.project, view: 'box', id }) }, shortId(id));
    fill(this.facts, untrusted(this.here.id, { class: 'id' }), ' ', copyButton(this.here.id, 'Copy id'), ' ',
      count(this.length, 'card'), box.created_at ? [', made ', when(box.created_at)] : null,
      parents.length > 0 ? [', from ', parents.map((parent, n) => [n > 0 ? ', ' : '', at(parent)])] : null,
      history.lost ? ' (whose history is not there any more)' : null,
      box.sealed ? [' ', el('span', { class: 'badge', 'data-fact': 'sealed' }, 'sealed: it can never change')] : null,
      this.task ? [' ', this.task] : null);
  }

  /** Adds a link to the task of the box, with a badge if the task is a router. */
  async sayTask(cards) {
    const id = cards.findLast((one) => typeof one?.metadata?.task_id === 'string')?.metadata.task_id;
    if (id === undefined || this.task) return;
    this.task = el('span', {}, 'of the task ', el('a', { href: link({ project: this.here.project, view: 'task', id }) }, shortId(id)));
    this.sayFacts();
    try {
      const { data: { task } } = await this.api.task(id);
      if (task?.router) this.task.append(' ', el('span', { class: 'badge', 'data-fact': 'router' }, 'router'));
    } catch {
      // The task may be gone. Its cards are here.
    }
  }

  // --- its cards ---

  earlier({ list, from }) {
    if (from === 0 && list.from === 0) return null;
    if (from === 0) return el('p', { class: 'faint' },
      `${count(list.from, 'earlier card')} of this long box are not shown.`);
    return el('button', {
      type: 'button', class: 'wide', onclick: () => {
        this.shown += SHOWN_AT_FIRST * 2;
        this.show(this.position);
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
      const named = agentTurnOf(card);
      if (named !== null && named !== turn) {
        items.push(el('div', { class: 'turn', title: 'the turn that the cards name in agent_turn_id' }, el('span', {}, untrusted(named))));
        turn = named;
      }
      items.push(card
        ? cardItem(card, { project: this.here.project, pairs, change: how, position: place + 1,
          open: this.openLink(id), actions: this.actions(place, card) })
        : missingItem(id, { change: how, position: place + 1 }));
    });
    if (change.at >= list.from + list.ids.length) items.push(this.gone(change, removed));
    return items;
  }

  /** The cards that the version before had here. */
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
    return notice('An empty box', this.isNow
      ? 'Nothing has been put into it so far.' : 'At this version nothing had been put into it.');
  }

  openLink(card) {
    return link({ ...this.here, query: { card, ...this.versionQuery() } });
  }

  actions(place, card) {
    const { versions, version } = this.current;
    const by = versions.addedAtVersion(place, version);
    return [
      by !== null && by > 1 ? el('button', {
        type: 'button', class: 'quiet', title: 'the box as it was when this card was made',
        onclick: () => this.show(this.history.position(versions.id, by - 1), true),
      }, 'What was seen before this') : null,
      versions.onlyGrewSince(version) ? this.forkButtonOf(place, card) : null,
    ];
  }

  /** With a user's message, a retry: another message may replace it. */
  forkButtonOf(place, card) {
    const isRetry = roleOf(card) === 'user';
    const upTo = (length) => ({ body: { at_length: length }, what: length === 1 ? 'the first card' : `the first ${count(length, 'card')}` });
    const replaced = { ...upTo(place), text: plainText(card), isFirst: place === 0 };
    return el('button', {
      type: 'button', class: 'quiet', 'data-do': isRetry ? 'retry' : 'fork-card',
      title: isRetry ? 'a new box up to this message, also with another message instead' : 'a new box that ends with this card',
      onclick: () => this.fork({ ...upTo(place + 1), isRetry, replaced: isRetry ? replaced : null }),
    }, isRetry ? 'Retry' : 'Fork here');
  }

  /** Shows what the version has added. */
  scrollToNew() {
    this.list.querySelector('.added')?.scrollIntoView({ block: 'nearest' });
  }

  scrollToCard(id) {
    if (!id) return;
    const found = [...this.list.children].find((one) => one.dataset.card === id);
    found?.scrollIntoView({ block: 'center' });
  }

  // --- what one can do ---

  forkHere() {
    const { version } = this.current;
    this.fork({ body: { at_version: version }, what: `version ${version}` });
  }

  /** `fork` as askToForkBox has it. */
  fork(fork) {
    askToForkBox(this.api, this.here, this.current.versions.id, fork);
  }

  append() {
    if (this.appendButton.hidden) return;
    const message = new Message('Text', false);
    let version = this.history.own.newest;
    ask({
      title: 'Append a message', yes: 'Append', fields: message.fields,
      text: 'It becomes a card at the end of this box.',
    }, async () => {
      try {
        await message.append(this.api, this.here.id, version);
      } catch (error) {
        const { currentVersion } = error;
        if (currentVersion === undefined || currentVersion === version) throw error;
        const words = `The box has changed from version ${version} to ${currentVersion} meanwhile. ` +
          'The message was not appended, and the new cards are shown behind this dialog. Append it to the new version?';
        version = currentVersion;
        await this.refresh();
        throw new Error(words, { cause: error });
      }
      await this.refresh();
      return null;
    });
  }

  drawCommands() {
    const { versions, version } = this.current;
    const at = version === versions.newest ? {} : { at_version: version };
    const box = (...rest) => ['boxes', versions.id, ...rest];
    const id = `message-of-${versions.id}-${version}`;
    const post = (path, body) => commandOf(this.api.address(path), body);
    const lines = [
      ['This version', commandOf(this.api.address(box(), at))],
      ['Its last cards', commandOf(this.api.address(box('cards'), at))],
      ['What a model gets', commandOf(this.api.address(box('context'), at))],
      this.appendButton.hidden ? null : ['Append a message', `${post(['cards'], messageCard(id, 'user', 'Go on.'))} &&\n${
        post(box('append'), { card_ids: [id], expected_version: version })}`],
      ['Fork this version', post(box('fork'), { at_version: version })],
    ];
    fill(this.commands, el('summary', {}, 'Copy as curl'), lines.filter(Boolean).map(([words, text]) =>
      el('div', { class: 'command' }, el('div', {}, words, ' ', copyButton(text)), el('pre', {}, untrusted(text)))));
  }
}
