// message.js: a message that one writes oneself: its fields in a dialog, and how it becomes the last
// card of a box, once, however often one tries.
import { el } from './dom.js';
import { newId } from './id.js';

const ROLES = ['user', 'assistant', 'system'];

const newCardId = () => `message-${newId()}`;

/** The card of a message. */
export const messageCard = (id, role, text) =>
  ({ card_id: id, content: { __type__: 'TextContent', text }, metadata: { role, type: 'message' } });

export class Message {
  #sent = ''; // the role and the text of the card with this id
  #id = newCardId();
  #atFirst;

  /** `label` of the text; without `isOptional` it must not be empty. `text` is what the field holds at first. */
  constructor(label, isOptional, text = '') {
    this.role = el('select', { name: 'role' }, ROLES.map((one) => el('option', {}, one)));
    this.text = el('textarea', { name: 'text', rows: 5, required: !isOptional, autofocus: true, dir: 'auto' }, text);
    this.#atFirst = this.#words;
    this.fields = el('div', { class: 'message-fields' }, el('label', {}, 'Role', this.role),
      el('label', {}, label, this.text));
  }

  get isEmpty() {
    return this.text.value.trim() === '';
  }

  get isChanged() {
    return this.#words !== this.#atFirst;
  }

  get #words() {
    return JSON.stringify([this.role.value, this.text.value]);
  }

  /** Writes the card, then appends it to the box if the box is at `version`. A second attempt
   * with the same words adds nothing that the first one has added. Returns the id of the card. */
  async append(api, box, version) {
    const words = box + this.#words;
    if (this.#sent !== '' && this.#sent !== words) this.#id = newCardId();
    this.#sent = words;
    await api.addCard(messageCard(this.#id, this.role.value, this.text.value));
    await api.append(box, { card_ids: [this.#id], expected_version: version }, this.#id);
    return this.#id;
  }
}
