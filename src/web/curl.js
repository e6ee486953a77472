// curl.js: commands for a terminal that do what the page does. Knows no page.

/** A text as one word of the shell, whatever is in it. */
export const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The command for a request. The token is not part of it: the shell takes it from its environment. */
export function commandOf(url, { body, headers = {}, hasToken = false } = {}) {
  const words = ['curl -sS --fail-with-body'];
  if (hasToken) words.push('-H "Authorization: Bearer $CARDBOX_TOKEN"');
  for (const [name, value] of Object.entries(headers)) words.push('-H', quoted(`${name}: ${value}`));
  if (body !== undefined)
    words.push("-H 'Content-Type: application/json' --data-binary", quoted(JSON.stringify(body)));
  return [...words, quoted(url)].join(' ');
}
