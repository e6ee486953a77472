// fork.js: asks whether to fork, does so, and goes to what was made.
import { add, el, fill } from './dom.js';

/** `words`: of the dialog's head and of what it asks; `fork` makes it and goes there. */
export function askToFork(words, fork) {
  const result = el('p', { class: 'failure', role: 'alert' });
  const yes = el('button', { type: 'button', class: 'main', 'data-do': 'confirm' }, 'Fork');
  const dialog = el('dialog', { onclose: () => dialog.remove() },
    el('h2', {}, words.title), el('p', {}, words.text), result,
    el('div', { class: 'controls' }, el('span', { class: 'space' }),
      el('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'), yes));
  yes.addEventListener('click', async () => {
    yes.disabled = true;
    try {
      await fork();
      dialog.close();
    } catch (error) {
      yes.disabled = false;
      fill(result, error.message, error.hint ? `: ${error.hint}` : null);
    }
  });
  add(document.body, dialog);
  dialog.showModal();
}
