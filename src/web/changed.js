// changed.js: marks the cards of an old version that were changed later. Asks for the revisions of the cards
// that come into view only. Knows no box.
import { el } from './dom.js';
import { when } from './time.js';

export class ChangedCards {
  #api;
  #known = new Map(); // card id -> when it was last changed; null: never
  #observer = null;

  constructor(api, signal) {
    this.#api = api;
    signal.addEventListener('abort', () => this.#observer?.disconnect());
  }

  /** Watches the cards in `list`. They are marked if they were changed after the time `at`. */
  watch(list, cards, at) {
    this.#observer?.disconnect();
    if (at === undefined) return;
    const open = new Set(cards.filter((one) => one && !one.sealed).map((one) => one.card_id));
    this.#observer = new IntersectionObserver((seen, observer) => {
      for (const { target, isIntersecting } of seen) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        this.#mark(target, at);
      }
    });
    for (const one of list.querySelectorAll(':scope > .card')) if (open.has(one.dataset.card)) this.#observer.observe(one);
  }

  async #mark(item, at) {
    const id = item.dataset.card;
    try {
      if (!this.#known.has(id)) {
        const { data } = await this.#api.revisions(id, 1);
        this.#known.set(id, data.revisions[0]?.replaced_at ?? null);
      }
    } catch {
      return; // it is shown as it is now
    }
    const changed = this.#known.get(id);
    if (changed === null || Date.parse(changed) <= Date.parse(at) || item.querySelector('[data-fact=changed]')) return;
    item.querySelector('header').append(el('span', {
      class: 'badge bad', 'data-fact': 'changed', title: 'It said something else at this version: see its earlier revisions.',
    }, 'changed later, ', when(changed)));
  }
}
