// elsewhere.js: the link from a message to where else in the project the same was said, and the words that are then
// searched. They come from what is stored: a text that is shown may be shortened, escaped or decorated.
import { el } from './dom.js';
import { isObject } from './content.js';
import { write } from './json.js';
import { link } from './place.js';

const WORDS = 10; // that are looked for: enough words to find the text again
const FEW = 3; // fewer words than these say little: then the words of all strings are looked for
const LOOKED_AT = 1000; // characters of a string
const LONGEST = 60; // characters of a word
const LONGEST_CJK = 8; // characters of a text that has no spaces between words
const SEARCHABLE = 50000; // characters: what comes after them may be missing in the index
const DEEPEST = 32;

// The members of a card, an entry or a message of a model that have its own words.
const OWN = ['content', 'text', 'command', 'summary', 'output', 'result', 'data', 'errorMessage', 'tool_calls', 'toolCalls'];
// Members whose values are labels, ids or made by a program, wherever they are.
const LABELS = new Set(['__type__', 'type', 'role', 'id', 'status', 'after_execution', 'content_type', 'mimeType', 'media_type',
  'checksum', 'etag', 'signature', 'thinkingSignature', 'textSignature', 'thoughtSignature', 'tool_call_id', 'toolCallId', 'tool_use_id', 'call_id', 'parentId', 'timestamp']);
// Names of members that the search leaves out, or that many texts have.
const UNNAMED = new Set([...OWN, 'arguments', 'function', 'input', 'message', 'name', 'params', 'thinking']);
// The name of a tool is looked for only together with other words.
const NAMES = new Set(['name', 'tool_name', 'toolName']);

// All that the search may join to one run: parts of it may not be terms of the index.
const RUN = /[\p{L}\p{N}\p{M}_\-.:/\\@'\u00ad\u200c\u200d\u2010\u2011\u2019]+/gu;
const EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}\p{M}]+$/gu;
const CJK = new RegExp(`(?:(?=[\\p{L}\\p{N}])[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Bopo}\\p{sc=Yiii}\\p{sc=Tang}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}]){1,${LONGEST_CJK}}`, 'u');
// A repetition with a count in the pattern would be an error in browsers if it matches millions of characters.
const DATA = /^(?:data:[^,]{0,250},)?[A-Za-z0-9+/=_-]+$/;
const DATA_LEAST = 257; // characters
const isData = (text) => text.length >= DATA_LEAST && DATA.test(text);
const SENTENCE = /^.*?(?:[.!?…](?=\s)|[。！？]|\n)/su;

// A number that JavaScript would change is an object of json.js.
const isNumber = (value) => typeof value === 'number' || (isObject(value) && Object.keys(value).length === 1 && /^-?\d/.test(write(value)));

/** The object or array that the JSON in `arguments` is, else the string. */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : text;
  } catch {
    return text;
  }
}

/** Appends the texts of a value to `found.strings` in their order, as {text, isName}, and its numbers with their names
 * to `found.numbers`. */
function collect(value, found, name = '', depth = 0) {
  if (LABELS.has(name) || value === undefined || depth > DEEPEST || found.size > SEARCHABLE) return;
  if (typeof value === 'string') {
    const inner = name === 'arguments' ? parsed(value) : value;
    if (typeof inner !== 'string') return collect(inner, found, '', depth + 1);
    found.size += value.length;
    if (/\p{L}/u.test(value) && !isData(value)) found.strings.push({ text: value, isName: NAMES.has(name) });
  } else if (Array.isArray(value)) {
    for (const one of value) collect(one, found, '', depth + 1);
  } else if (isNumber(value)) {
    found.numbers.push(UNNAMED.has(name) ? '' : name, write(value));
  } else if (isObject(value)) {
    for (const [key, one] of Object.entries(value)) collect(one, found, key, depth + 1);
  }
}

/** The words of a text that the search surely finds in it. */
function wordsOf(text) {
  const cut = text.length > LOOKED_AT ? text.slice(0, LOOKED_AT).replace(/\S*$/, '') : text;
  return (cut.match(RUN) ?? []).map((run) => CJK.exec(run)?.[0] ?? run.replace(EDGES, ''))
    .filter((run) => run !== '' && run.length <= LONGEST && !run.includes('\\'));
}

/** The words of the first sentence; of more, if it has few. */
function firstWords(text) {
  const words = wordsOf(SENTENCE.exec(text.trimStart())?.[0] ?? text);
  return words.length < FEW ? wordsOf(text) : words;
}

/** The first words of the own text of a card, an entry or a message of a model, as a search for them. '': it has none. */
export function queryOf(thing) {
  const said = isObject(thing.message) ? thing.message : thing;
  const found = { strings: [], numbers: [], size: 0 };
  for (const name of OWN) collect(said[name], found, name);
  const texts = found.strings.filter(({ isName }) => !isName).map(({ text }) => firstWords(text));
  const isCjk = (words) => words.some((word) => CJK.test(word));
  const words = texts.find((one) => one.length >= FEW || isCjk(one)) ??
    (texts.flat().length > 0 ? found.strings.map(({ text }) => text) : found.numbers).flatMap(firstWords);
  return [...new Set(words)].slice(0, WORDS).join(' ');
}

/** The link to where else the words of a card are; with a `session`, those of its entry. */
export const elsewhere = (project, of, session) => el('a', {
  class: 'quiet', href: link({ project, view: 'search', query: { of, in: session } }), 'data-do': 'elsewhere',
  title: `where else in this project the first words of it are${session ? '' : ', and which boxes hold the card'}`,
}, 'Where else');
