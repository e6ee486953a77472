// curl.js: commands for a terminal that do what the page does. Knows no page.
import { token } from './api.js';

/** A text as one word of the shell, whatever is in it. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The command for a request. The token is not part of it: the shell reads it from its environment. */
export function commandOf(url, body) {
  const words = ['curl -sS --fail-with-body'];
  if (token.get()) words.push('-H "Authorization: Bearer $CARDBOX_TOKEN"');
  if (body !== undefined)
    words.push("-H 'Content-Type: application/json' --data-binary", quoted(JSON.stringify(body)));
  return [...words, quoted(url)].join(' ');
}
