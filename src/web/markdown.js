// markdown.js: what language models write, as elements: headings, lists, quotes, tables, code, links. A text
// becomes text nodes and the elements that are named here, never HTML. Nothing is loaded. The time is linear in
// the length of the text.
import { add, block, el, visible } from './dom.js';

const DEEPEST = 8; // lists and quotes in each other, and marks in a line; what is deeper stays text
const LONGEST = 200_000; // characters; a longer text is shown as it is

// --- marks in a line ---

// All that may change how a line is read. A mark that has no partner is text.
const SPECIAL = new RegExp('\\\\[!-/:-@[-`{-~]|`+|\\*+|_+|~~|!?\\[|\\]|' +
  '\\bhttps?://[^\\s<>`*"\'|\\[\\]\\\\\\u0080-\\u{10ffff}]+', 'gu');
// The target of a link, with one level of parentheses in it.
const TARGET = /\]\(((?:[!-'*-;=?-~]|\([!-'*-;=?-~]{0,200}\)){1,2000})\)/y;
const ALLOWED = /^(?:https?:\/\/|mailto:)./i;
const ELEMENTS = { '*': 'em', '**': 'strong', _: 'em', __: 'strong', '~~': 'del' };

const isSpace = (character) => character === undefined || /\s/u.test(character);
const isWord = (character) => character !== undefined && /[\p{L}\p{N}]/u.test(character);

/** Finds the ends of code in a line: after a run of backquotes, the next run of the same length. */
class CodeEnds {
  constructor(text) {
    this.runs = new Map(); // length -> where such runs begin, the last one first
    for (const { 0: run, index } of text.matchAll(/`+/g)) {
      if (!this.runs.has(run.length)) this.runs.set(run.length, []);
      this.runs.get(run.length).push(index);
    }
    for (const all of this.runs.values()) all.reverse();
  }

  after(length, from) {
    const all = this.runs.get(length) ?? []; // an escaped one may be a part of a run
    while (all.length > 0 && all.at(-1) < from) all.pop();
    return all.at(-1) ?? -1;
  }
}

/** The marks that are open: the last one can close, and those above it are then text. */
class OpenMarks {
  #stack = [];
  #places = new Map(); // kind -> indexes in the stack

  push(mark) {
    if (!this.#places.has(mark.kind)) this.#places.set(mark.kind, []);
    this.#places.get(mark.kind).push(this.#stack.length);
    this.#stack.push(mark);
  }

  /** Where the last one of a kind is; -1: none is open. */
  place(kind) {
    return this.#places.get(kind)?.at(-1) ?? -1;
  }

  close(kind, end) {
    const place = this.place(kind);
    for (const { kind: one } of this.#stack.slice(place)) this.#places.get(one)?.pop();
    const mark = this.#stack[place];
    this.#stack.length = place;
    Object.assign(mark, { end });
    end.begin = mark;
  }

  /** The last one of a kind is text. */
  forget(kind) {
    this.#stack[this.#places.get(kind).pop()].kind = null;
  }
}

/** Reads the parts of a line: texts, elements, and marks {kind, text, end or begin}. */
class LineReader {
  constructor(text) {
    Object.assign(this, { text, pieces: [], open: new OpenMarks(), codeEnds: null });
  }

  read() {
    const special = new RegExp(SPECIAL);
    let from = 0;
    for (let found = special.exec(this.text); found; found = special.exec(this.text)) {
      this.#say(this.text.slice(from, found.index));
      from = this.#take(found[0], found.index);
      special.lastIndex = from;
    }
    this.#say(this.text.slice(from));
    return this.pieces;
  }

  #say(text) {
    if (text !== '') this.pieces.push(text);
  }

  /** Reads what is special; returns where it ends. */
  #take(said, at) {
    const end = at + said.length;
    if (said[0] === '\\') this.#say(said[1]);
    else if (said[0] === '`') return this.#code(said, end);
    else if (said === ']') return this.#endLink(at);
    else if (said.endsWith('[')) this.#begin('[', said, { from: end, isImage: said[0] === '!' });
    else if (said[0] === 'h') return this.#address(said, at);
    else this.#emphasis(said, at);
    return end;
  }

  #begin(kind, text, more = {}) {
    const mark = { kind, text, ...more };
    this.pieces.push(mark);
    this.open.push(mark);
  }

  #end(kind, text, more = {}) {
    const mark = { kind, text, ...more };
    this.pieces.push(mark);
    this.open.close(kind, mark);
  }

  #code(run, from) {
    this.codeEnds ??= new CodeEnds(this.text);
    const end = this.codeEnds.after(run.length, from);
    if (end < 0) {
      this.#say(run);
      return from;
    }
    const code = this.text.slice(from, end);
    const inner = code.startsWith(' ') && code.endsWith(' ') && !isBlank(code) ? code.slice(1, -1) : code;
    this.pieces.push(el('code', {}, visible(inner)));
    return end + run.length;
  }

  #endLink(at) {
    const place = this.open.place('[');
    TARGET.lastIndex = at;
    const [all, target] = (place >= 0 && TARGET.exec(this.text)) || [']'];
    if (target === undefined || !ALLOWED.test(target)) {
      this.#say(']');
      if (place >= 0) this.open.forget('[');
      return at + 1;
    }
    this.#end('[', all, { target, at });
    while (this.open.place('[') >= 0) this.open.forget('['); // a link holds no other link
    return at + all.length;
  }

  /** An address in the text, without the punctuation that ends its sentence. */
  #address(said, at) {
    const isEnd = said.includes('(') ? /[.,:;!?_~]/ : /[.,:;!?_~)]/;
    let length = said.length;
    while (isEnd.test(said[length - 1])) length--;
    const address = said.slice(0, length);
    if (this.open.place('[') >= 0 || !ALLOWED.test(address)) this.#say(address);
    else this.pieces.push(anchor(address, [visible(address)]));
    return at + length;
  }

  #emphasis(run, at) {
    const end = at + run.length;
    const [before, after] = [this.text[at - 1], this.text[end]];
    const canEnd = !isSpace(before) && !(run[0] === '_' && isWord(after));
    const canBegin = !isSpace(after) && !(run[0] === '_' && isWord(before));
    let kinds = run.length === 3 ? [run.slice(0, 2), run[0]] : [run];
    if (run.length > 3) return this.#say(run);
    const isOpen = kinds.every((kind) => this.open.place(kind) >= 0);
    if (canEnd && isOpen) {
      kinds = kinds.sort((one, other) => this.open.place(other) - this.open.place(one));
      return kinds.forEach((kind) => (this.open.place(kind) >= 0 ? this.#end(kind, kind) : this.#say(kind)));
    }
    return kinds.forEach((kind) => (canBegin ? this.#begin(kind, kind) : this.#say(kind)));
  }
}

/** A link. Where it leads can be seen; nothing of this page is sent along. */
function anchor(target, said) {
  return el('a', { href: target, target: '_blank', rel: 'noopener noreferrer nofollow', title: target }, said);
}

function elementOf({ kind, end, isImage }) {
  if (kind !== '[') return el(ELEMENTS[kind]);
  return anchor(end.target, isImage ? [el('span', { class: 'faint' }, 'image: ')] : []);
}

/** The nodes of a line or of several. */
function inline(text) {
  const root = document.createDocumentFragment();
  const open = [{ node: root }];
  for (const piece of new LineReader(text).read()) {
    const { node } = open.at(-1);
    const isMark = typeof piece === 'object' && Object.hasOwn(piece, 'kind');
    if (isMark && piece.end && open.length <= DEEPEST) {
      open.push({ node: elementOf(piece), mark: piece });
      node.append(open.at(-1).node);
    } else if (isMark && piece.begin && open.at(-1).mark === piece.begin) {
      open.pop();
      if (piece.kind === '[' && text.slice(piece.begin.from, piece.at) !== piece.target)
        open.at(-1).node.append(' ', el('span', { class: 'target' }, visible(piece.target)));
    } else {
      add(node, isMark ? visible(piece.text) : typeof piece === 'string' ? visible(piece) : piece);
    }
  }
  return root;
}

// --- blocks of lines ---

// In both, only one length of the marks and of the spaces is tried: otherwise a line could need the square of it.
const FENCE = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*)$/s;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+|$)/;
const CODE = /^(?: {4}|\t)/;

const isBlank = (line) => line.trim() === '';
const isNumbered = (item) => item[2].length > 1;

/** The columns of white space at the beginning; a tab counts as four. */
const widthOf = (space) => space.replaceAll('\t', '    ').length;

/** Removes up to a number of columns of white space at the beginning of a line. */
function outdented(line, columns) {
  let at = 0;
  for (let left = columns; left > 0 && (line[at] === ' ' || line[at] === '\t'); at++)
    left -= line[at] === '\t' ? 4 : 1;
  return line.slice(at);
}

function isRule(line) {
  const marks = line.replace(/[ \t]/g, '');
  return marks.length >= 3 && /^(?:-+|\*+|_+)$/.test(marks) && !CODE.test(line);
}

function cellsOf(line) {
  const inner = line.trim().replace(/^\|/, '');
  const cells = (inner.endsWith('|') && !inner.endsWith('\\|') ? inner.slice(0, -1) : inner).split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** Two lines begin a table: names of columns, and dashes below them. */
function isTable(lines, at) {
  if (!lines[at].includes('|') || !/^[ \t|:-]+$/.test(lines[at + 1] ?? '')) return false;
  const dashes = cellsOf(lines[at + 1]);
  return dashes.every((cell) => /^:?-+:?$/.test(cell)) && dashes.length === cellsOf(lines[at]).length;
}

/** Does something begin here that ends a paragraph? */
function isBeginning(lines, at, depth) {
  const line = lines[at];
  if (isBlank(line) || FENCE.test(line) || HEADING.test(line) || isRule(line) || isTable(lines, at)) return true;
  if (depth >= DEEPEST) return false;
  const item = ITEM.exec(line);
  return QUOTE.test(line) || (item !== null && item[3] !== '' && (!isNumbered(item) || parseInt(item[2], 10) === 1));
}

// Each reads a block that begins at a line: [its element, the line after it]. Null: no such block begins there.

function fence(lines, at) {
  const [, marks, words] = FENCE.exec(lines[at]) ?? [];
  if (!marks) return null;
  const isEnd = (line) => FENCE.exec(line)?.[1].startsWith(marks) && isBlank(FENCE.exec(line)[2]);
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end])) end++;
  const indent = widthOf(/^ */.exec(lines[at])[0]);
  const code = lines.slice(at + 1, end).map((line) => outdented(line, indent)).join('\n');
  return [el('div', { class: 'code' }, words.trim() ? el('p', { class: 'language' }, visible(words.trim())) : null,
    el('pre', {}, el('code', {}, visible(code)))), end + 1];
}

function heading(lines, at) {
  const [, marks, words] = HEADING.exec(lines[at]) ?? [];
  return marks ? [el(`h${Math.min(6, marks.length + 2)}`, {}, inline(words)), at + 1] : null;
}

function rule(lines, at) {
  return isRule(lines[at]) ? [el('hr'), at + 1] : null;
}

function quote(lines, at, depth) {
  if (depth >= DEEPEST || !QUOTE.test(lines[at])) return null;
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end++;
  return [el('blockquote', {}, blocks(lines.slice(at, end).map((line) => line.replace(QUOTE, '')), depth + 1)), end];
}

/** The lines of an item without its mark, and the line after it. */
function itemLines(lines, at, item, depth) {
  const indent = widthOf(item[1]);
  const space = widthOf(item[3]);
  const width = indent + item[2].length + (space > 4 ? 1 : space);
  const own = [lines[at].slice(item[1].length + item[2].length).replace(/^[ \t]/, '')];
  if (space <= 4) own[0] = own[0].trimStart();
  let end = at + 1;
  for (let next = end; next < lines.length; next++) {
    const line = lines[next];
    if (isBlank(line)) continue;
    const isInside = widthOf(/^[ \t]*/.exec(line)[0]) >= indent + 2;
    if (!isInside && (next > end || isBeginning(lines, next, depth) || ITEM.test(line))) break;
    while (end < next) own.push(lines[end++]);
    own.push(outdented(line, width));
    end++;
  }
  return [own, end];
}

function list(lines, at, depth) {
  const first = ITEM.exec(lines[at]);
  if (depth >= DEEPEST || !first) return null;
  const items = [];
  let end = at;
  for (let item = first; item && isNumbered(item) === isNumbered(first);) {
    const [own, after] = itemLines(lines, end, item, depth);
    items.push(el('li', { value: isNumbered(item) ? parseInt(item[2], 10) : null }, blocks(own, depth + 1)));
    end = after;
    let next = end;
    while (next < lines.length && isBlank(lines[next])) next++;
    item = next < lines.length && !isRule(lines[next]) ? ITEM.exec(lines[next]) : null;
    if (item) end = next;
  }
  return [el(isNumbered(first) ? 'ol' : 'ul', {}, items), end];
}

function table(lines, at) {
  if (!isTable(lines, at)) return null;
  const names = cellsOf(lines[at]);
  const row = (cells, tag) => el('tr', {}, cells.map((cell) => el(tag, {}, inline(cell))));
  let end = at + 2;
  const rows = [];
  for (; end < lines.length && lines[end].includes('|'); end++) {
    const cells = cellsOf(lines[end]);
    rows.push([...cells.slice(0, names.length - 1), cells.slice(names.length - 1).join(' | ')].slice(0, cells.length));
  }
  return [el('div', { class: 'scroll' }, el('table', {}, el('thead', {}, row(names, 'th')),
    el('tbody', {}, rows.map((cells) => row(cells, 'td'))))), end];
}

function code(lines, at) {
  if (!CODE.test(lines[at])) return null;
  let end = at;
  while (end < lines.length && CODE.test(lines[end])) end++;
  return [el('pre', {}, el('code', {}, visible(lines.slice(at, end).map((line) => outdented(line, 4)).join('\n')))), end];
}

function paragraph(lines, at, depth) {
  let end = at + 1;
  while (end < lines.length && !isBeginning(lines, end, depth)) end++;
  return [el('p', {}, inline(lines.slice(at, end).join('\n'))), end];
}

const KINDS = [fence, heading, rule, quote, list, table, code, paragraph];

function blocks(lines, depth) {
  const made = [];
  for (let at = 0; at < lines.length;) {
    if (isBlank(lines[at])) {
      at++;
      continue;
    }
    let found = null;
    for (let kind = 0; found === null; kind++) found = KINDS[kind](lines, at, depth);
    made.push(found[0]);
    at = found[1];
  }
  return made;
}

/** The elements of a text in Markdown. */
export function markdown(text) {
  return blocks(text.replaceAll('\r\n', '\n').split('\n'), 0);
}

// --- as it is shown ---

/** A text as Markdown, folded if it is long, with a button that shows it as it was written. */
export function prose(text) {
  const plain = () => block(text, { class: 'text' });
  if (text.length > LONGEST) return plain();
  const drawn = block(text, { class: 'text markdown' }, markdown);
  const body = el('div', {}, drawn);
  if (!body.querySelector('.markdown > :not(p), .markdown > p > :not(.unseen), .fold')) return body;
  const button = el('button', {
    type: 'button', class: 'quiet as-text', 'aria-pressed': 'false', 'data-do': 'as-text', title: 'exactly as it was written',
    onclick: () => {
      const isText = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(isText));
      body.replaceChildren(isText ? plain() : drawn);
    },
  }, 'As text');
  return el('div', { class: 'prose' }, body, button);
}
