// elsewhere.js: the link from a text to where else in the project the same was said.
import { el } from './dom.js';
import { link } from './place.js';

const WORDS = 6; // that are looked for: enough words to find the text again
const LOOKED_AT = 400; // characters of the text
const LONGEST = 40; // characters of a word
const LONGEST_CJK = 4; // characters of a text that has no spaces between words
const WORD = /[\p{L}\p{N}]+(?:[-_.'][\p{L}\p{N}]+)*/gu;
const CJK = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/u;

/** The first words of a text, as a search for them; '' if it has none. */
function queryOf(text) {
  const words = text.slice(0, LOOKED_AT).match(WORD) ?? [];
  return words.map((word) => (CJK.test(word) ? [...word].slice(0, LONGEST_CJK).join('') : word))
    .filter((word) => word.length <= LONGEST).slice(0, WORDS).join(' ');
}

/** The link. With the id of a card, it also leads to the boxes of the card. Null if the text has no words and there is
 * no card. */
export function elsewhere(text, project, card) {
  const q = queryOf(text);
  return q || card ? el('a', {
    class: 'quiet', href: link({ project, view: 'search', query: { q, of: card } }), 'data-do': 'elsewhere',
    title: `where else in this project the first words of it are${card ? ', and which boxes hold the card' : ''}`,
  }, 'Where else') : null;
}
