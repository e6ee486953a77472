// json.js: JSON that is shown without a loss: numbers keep their digits, and a text is laid out as it was
// sent, with members that are there twice. Knows no card.
import { add, el, visible } from './dom.js';

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/g;

// A number that JavaScript would change travels as an object with this key, which nobody can guess.
const EXACT = 'number-' + Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');

/** As JSON.parse, but for numbers that it would round. */
export function parse(text) {
  return JSON.parse(text.replace(TOKEN, (token) => {
    const isNumber = token[0] === '-' || (token[0] >= '0' && token[0] <= '9');
    return isNumber && String(Number(token)) !== token ? `{"${EXACT}":"${token}"}` : token;
  }));
}

/** The digits of a number, or null if the value is none. */
function numberText(value) {
  if (typeof value === 'number') return String(value);
  return value !== null && typeof value === 'object' && typeof value[EXACT] === 'string'
    ? value[EXACT] : null;
}

/** The text of a value, as compact JSON. */
export function write(value) {
  const number = numberText(value);
  if (number !== null) return number;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  return `{${Object.keys(value).map((key) => `${JSON.stringify(key)}:${write(value[key])}`).join(',')}}`;
}

const SHORT = 72; // characters: what fits is not broken into lines

/** JSON text laid out with indents and colours. */
export function pretty(text) {
  const tokens = text.match(TOKEN) ?? [];
  const out = el('pre', { class: 'json' });
  let pending = '';
  const say = (piece, kind) => {
    if (!kind) {
      pending += piece;
      return;
    }
    add(out, pending, el('span', { class: kind }, visible(piece)));
    pending = '';
  };
  lay(tokens, say);
  add(out, pending);
  return out;
}

function lay(tokens, say) {
  const closers = matchClosers(tokens);
  let flat = -1; // up to this token all stays in one line
  let depth = 0;
  const line = () => say('\n' + '  '.repeat(depth));
  tokens.forEach((token, at) => {
    if (token === '{' || token === '[') {
      say(token);
      if (at > flat && isShort(tokens, at, closers[at])) flat = closers[at];
      if (at > flat) depth++, line();
    } else if (token === '}' || token === ']') {
      if (at > flat) depth--, line();
      say(token);
    } else if (token === ',') {
      say(at < flat ? ', ' : ',');
      if (at > flat) line();
    } else if (token === ':') {
      say(': ');
    } else {
      say(token, kindOf(token, tokens[at + 1] === ':'));
    }
  });
}

function matchClosers(tokens) {
  const open = [];
  const closers = [];
  tokens.forEach((token, at) => {
    if (token === '{' || token === '[') open.push(at);
    if ((token === '}' || token === ']') && open.length > 0) closers[open.pop()] = at;
  });
  return closers;
}

function isShort(tokens, from, to) {
  let length = 0;
  for (let at = from; at <= to && length <= SHORT; at++) length += tokens[at].length + 1;
  return length <= SHORT;
}

function kindOf(token, isKey) {
  if (token[0] === '"') return isKey ? 'json-key' : 'json-string';
  return /^[tfn]/.test(token) ? 'json-word' : 'json-number';
}
