// fork.js: asks whether to fork, does so, and goes to what was made.
import { add, el, fill } from './dom.js';
import { go } from './place.js';

/** `words`: of the dialog's head and of what it asks; `fork` makes it and says the place of it. Who
 * has closed the dialog meanwhile, or left the page, stays where they are. */
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
      const made = await fork();
      if (dialog.open) go(made);
      dialog.close();
    } catch (error) {
      yes.disabled = false;
      fill(result, error.message, error.hint ? `: ${error.hint}` : null);
    }
  });
  add(document.body, dialog);
  dialog.showModal();
}
