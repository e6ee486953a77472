// timeline.js: the slider over the versions of a box and of its parents, with a mark for each version
// around the present one, and the turns as a list. Knows the history, and of the page only
// {show, refresh, buttons}.
import { agentTurnOf, cardText, roleOf } from './card.js';
import { count, el, fill, sentence, shortId, untrusted } from './dom.js';
import { when } from './time.js';

const MARKS = 120; // versions that have a mark: those around the present one
const WORDS = { append: 'appended', create: 'created with', fork: 'forked with', replace: 'replaced by', seal: 'sealed with' };

/** The role and the text of a card. */
function saidBy(card) {
  return `${roleOf(card) || card.type}: ${sentence(cardText(card), 90) || card.card_id}`;
}

export class Timeline {
  /** `page`: {show(position, isJump), refresh(), buttons}. */
  constructor(history, page) {
    Object.assign(this, { history, page, position: 0, drawn: 0 });
    this.slider = el('input', {
      type: 'range', min: 1, step: 1, class: 'slider', 'aria-label': 'version of the box',
      oninput: () => page.show(Number(this.slider.value)),
    });
    this.back = el('button', { type: 'button', onclick: () => this.step(-1), title: 'one version back', 'aria-label': 'one version back' }, '◀');
    this.forth = el('button', { type: 'button', onclick: () => this.step(1), title: 'one version on', 'aria-label': 'one version on' }, '▶');
    this.now = el('button', { type: 'button', onclick: () => page.refresh(), title: 'the box as it is at this moment' }, 'Now');
    this.turns = el('select', {
      'aria-label': 'go to a turn or a version', title: 'turns as the cards name them in agent_turn_id, and versions',
      onchange: () => page.show(Number(this.turns.value), true),
    });
    this.said = el('p', { class: 'said', 'aria-live': 'polite' });
    this.newestSaid = el('p', { class: 'said newest' });
    this.strip = el('div', { class: 'strip', 'aria-hidden': 'true' });
    this.node = el('section', { class: 'timeline', 'aria-label': 'history' },
      el('div', { class: 'controls' }, this.back, this.slider, this.forth, this.now),
      this.strip, this.said, this.newestSaid,
      el('div', { class: 'controls' }, this.turns, el('span', { class: 'space' }), page.buttons));
  }

  step(by) {
    const to = this.position + by;
    if (to >= 1 && to <= this.history.length) this.page.show(to);
  }

  setPosition(position) {
    this.position = position;
    this.slider.max = this.history.length;
    this.slider.value = position;
  }

  /** Draws all for a version whose log is loaded. `newest` is the last card of its list. */
  draw(position, newest = this.newest) {
    this.setPosition(position);
    this.newest = newest;
    this.back.disabled = position <= 1;
    this.forth.disabled = position >= this.history.length;
    this.drawStrip();
    this.say();
    this.label();
  }

  say() {
    const { versions, version } = this.history.at(this.position);
    const { own } = this.history;
    const entry = versions.loadedEntry(version);
    const isNow = this.position === this.history.length;
    const card = versions.newestCard(version) ?? this.newest ?? null;
    const turn = agentTurnOf(card);
    const parents = this.history.length - own.newest;
    fill(this.said, el('strong', {}, `Version ${version} of ${versions.newest}`), isNow ? ' (now)' : null,
      versions === own ? null : [' ', el('span', { class: 'badge', 'data-fact': 'parent' }, 'of the parent ', shortId(versions.id))],
      entry ? [`: ${WORDS[entry.op] ?? entry.op} ${count(entry.op === 'seal' ? entry.length : entry.added, 'card')}, `, when(entry.at)]
        : ': the log no longer says how it came about',
      versions === own && parents > 0 ? `, after ${count(parents, 'version')} of its parents` : null);
    fill(this.newestSaid, card ? [turn === null ? null : [el('strong', { 'data-fact': 'turn' }, untrusted(turn)), ' · '],
      untrusted(saidBy(card))] : null);
  }

  // --- the marks and the turns ---

  /** The positions that have marks: [from, to]. */
  range() {
    const from = Math.max(1, Math.min(this.position - MARKS / 2, this.history.length - MARKS + 1));
    return [from, Math.min(this.history.length, from + MARKS - 1)];
  }

  /** The versions that have marks, with the agent turn of each; `begins`: the first version of a turn. */
  versionsInRange() {
    const [from, to] = this.range();
    const all = [];
    let last = null;
    for (let position = from; position <= to; position++) {
      const { versions, version } = this.history.at(position);
      const card = versions.newestCard(version);
      const turn = agentTurnOf(card);
      all.push({ position, versions, version, entry: versions.loadedEntry(version), card, turn, begins: turn !== null && turn !== last });
      last = turn ?? last;
    }
    return all;
  }

  drawStrip() {
    const [from, to] = this.range();
    if (from === to) return fill(this.strip);
    return fill(this.strip, this.versionsInRange().map(({ position, versions, version, entry, card, turn, begins }) => el('span', {
      class: `mark ${entry?.op ?? ''}${position === this.position ? ' current' : ''}` +
        `${position > this.position ? ' later' : ''}${versions === this.history.own ? '' : ' parent'}${begins ? ' begins' : ''}`,
      title: `version ${version}${versions === this.history.own ? '' : ' of the parent'}: ${entry?.op ?? ''}` +
        `${turn === null ? '' : `, ${turn}`}${card ? `, ${saidBy(card)}` : ''}`,
      onclick: () => this.page.show(position, true),
    })));
  }

  /** Loads the cards of the marks, and names the versions by them. */
  async label() {
    const drawn = ++this.drawn;
    const [from, to] = this.range();
    try {
      for (const part of this.history.parts) {
        const [first, last] = [Math.max(1, from - part.before), Math.min(part.last, to - part.before)];
        if (first <= last) await part.versions.loadNewestCards(first, last);
      }
    } catch {
      return; // the versions have numbers
    }
    if (drawn !== this.drawn) return;
    this.drawStrip();
    this.say();
    this.drawTurns();
  }

  drawTurns() {
    const options = this.versionsInRange().map(({ position, versions, version, card, turn, begins }) => {
      if (turn !== null && !begins && position !== this.position) return null;
      return el('option', { value: position, selected: position === this.position },
        `${turn === null ? '' : `${turn} · `}v${version}${versions === this.history.own ? '' : ' of the parent'}` +
        `${card ? ` · ${saidBy(card)}` : ''}`);
    });
    fill(this.turns, options);
  }
}
