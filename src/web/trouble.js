// trouble.js: the message about a failed request, and what one can do about it.
import { el, notice, untrusted } from './dom.js';

function askForToken() {
  document.getElementById('token-button').click();
}

const tokenButton = () => el('p', {}, el('button', { type: 'button', class: 'main', onclick: askForToken },
  'Give a token'));

/** Nodes for an error of the API. `missing` is the message for a 404: [title, text, id]. */
export function trouble(error, missing) {
  if (error.status === 401)
    return notice('This server asks for a token', 'Ask whoever runs it for one.', tokenButton());
  if (error.status === 403)
    return notice('The token is not good for this', error.message, tokenButton());
  if (error.status === 404 && missing) {
    const [title, text, id] = missing;
    return notice(title, text, el('p', {}, untrusted(id, { class: 'id' })));
  }
  return notice('This did not work', null, el('p', { role: 'alert' }, untrusted(error.message)),
    error.hint ? el('p', {}, untrusted(error.hint)) : null);
}
