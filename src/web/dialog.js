// dialog.js: dialogs that ask for a confirmation, do the action, and go to what it made.
import { add, el, fill } from './dom.js';
import { go } from './place.js';

/** `words`: {title, text, yes: the words of the button, fields: nodes to fill in}. `act` does the
 * action and returns the address of the page to go to; null: the page stays. If the dialog was closed
 * meanwhile, the page stays too. If `act` fails, the dialog stays open and keeps its fields. */
export function ask(words, act) {
  const result = el('p', { class: 'failure', role: 'alert' });
  const yes = el('button', { class: 'main', 'data-do': 'confirm' }, words.yes);
  const form = el('form', { method: 'dialog' }, el('h2', {}, words.title), el('p', {}, words.text), words.fields, result,
    el('div', { class: 'controls' }, el('span', { class: 'space' }),
      el('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'), yes));
  const dialog = el('dialog', { onclose: () => dialog.remove() }, form);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (yes.disabled) return;
    yes.disabled = true;
    fill(result);
    try {
      const made = await act();
      if (dialog.open && made) go(made);
      dialog.close();
    } catch (error) {
      yes.disabled = false;
      fill(result, error.message, error.hint ? `: ${error.hint}` : null);
    }
  });
  add(document.body, dialog);
  dialog.showModal();
}
