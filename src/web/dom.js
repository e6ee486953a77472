// dom.js: how everything on the pages is made. Texts become text nodes and nothing else: contents
// come from language models and tools, and may be anybody's. Knows no card and no server.

/** An element; `props` are attributes, `on...` functions are listeners; null children are left out. */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  add(made, ...children);
  return made;
}

export function add(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function fill(parent, ...children) {
  parent.replaceChildren();
  add(parent, ...children);
}

// Characters that change how a text looks without being seen: control characters, directions, zero widths,
// halves of surrogate pairs, and the tags that can hide a message.
const UNSEEN = new RegExp('[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e' +
  '\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]' +
  '|[\\u{d800}-\\u{dfff}]|[\\u{e0000}-\\u{e007f}]', 'gu');

/** A text as nodes, with what is unseen made visible and harmless. */
export function visible(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    const code = 'U+' + found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    nodes.push(text.slice(from, found.index),
      el('span', { class: 'unseen', title: 'an invisible character' }, code));
    from = found.index + found[0].length;
  }
  nodes.push(text.slice(from));
  return nodes;
}

/** Untrusted text in a line. It can't turn the direction of the text around it. */
export function untrusted(text, props = {}) {
  const nodes = visible(String(text));
  // Each child that is added to a bdi costs the browser a look at all others, to find its direction.
  return el('bdi', props, nodes.length > 1 ? el('span', {}, nodes) : nodes);
}

const FOLD_CHARACTERS = 1400;
const FOLD_LINES = 18;

/** The beginning of a text, without half of the character at its end. */
const beginning = (text, most) => (text.length > most ? text.slice(0, most).replace(/[\ud800-\udbff]$/, '') : text);

/** Untrusted text as a block, folded if it is long; `draw` makes nodes of a text. */
export function block(text, props = {}, draw = visible) {
  const lines = text.split('\n');
  const whole = el('div', props);
  if (text.length <= FOLD_CHARACTERS * 1.3 && lines.length <= FOLD_LINES * 1.3) {
    add(whole, draw(text));
    return whole;
  }
  const start = beginning(lines.slice(0, FOLD_LINES).join('\n'), FOLD_CHARACTERS);
  const more = `Show all: ${count(text.length, 'character')}, ${count(lines.length, 'line')}`;
  const button = el('button', { type: 'button', class: 'fold', 'aria-expanded': 'false' }, more);
  button.addEventListener('click', () => {
    const open = button.getAttribute('aria-expanded') !== 'true';
    button.setAttribute('aria-expanded', String(open));
    button.textContent = open ? 'Show less' : more;
    fill(whole, draw(open ? text : start + ' …'));
  });
  add(whole, draw(start + ' …'));
  return el('div', {}, whole, button);
}

/** The beginning of a text, in one line. */
export function oneLine(text, most) {
  const all = text.replace(/\s+/g, ' ').trim();
  return all.length > most ? `${beginning(all, most)} …` : all;
}

/** The first sentence of a text, in one line of at most `most` characters. */
export function sentence(text, most = 120) {
  const all = oneLine(beginning(String(text ?? ''), 4 * most), 4 * most);
  const [first] = /^.{12,}?(?:[.!?…](?=\s|$)|[。！？])/u.exec(all) ?? [all];
  return oneLine(first, most);
}

const ID_SHOWN = 13; // characters

/** An id in short. Ids that were made together differ at their end. */
export function shortId(id, props = {}) {
  const all = [...id]; // characters, and not halves of them
  const text = all.length > ID_SHOWN ? `${all.slice(0, 4).join('')}…${all.slice(-8).join('')}` : id;
  return untrusted(text, { class: 'id', title: id, ...props });
}

/** The name of a thing: its name or its first sentence, else its id in short. */
function nameNode(text, id) {
  const said = sentence(text);
  return said ? untrusted(said, { title: id }) : shortId(id);
}

/** A link to a thing by what it is called. `props` are further attributes. */
export function namedLink(href, text, id, props = {}) {
  return el('a', { href, ...props }, nameNode(text, id));
}

export function count(number, word, plural = word + 's') {
  return `${number.toLocaleString('en')} ${number === 1 ? word : plural}`;
}

/** [digits, word] of a number that may be cut off at a limit: digits then end with "+". */
export function cappedCount(number, isCapped, word, plural = word + 's') {
  return [`${number.toLocaleString('en')}${isCapped ? '+' : ''}`, number === 1 && !isCapped ? word : plural];
}

/** The text of a page or a list that has nothing to show. */
export function notice(title, text, ...more) {
  return el('div', { class: 'notice' }, el('h2', {}, title), text ? el('p', {}, text) : null, more);
}

/** A button that copies a text. `text` may be a function that makes the text when the button is pressed. */
export function copyButton(text, label = 'Copy') {
  const button = el('button', { type: 'button', class: 'quiet', 'aria-live': 'polite', 'data-do': 'copy' }, label);
  const say = (words, width, padding) => {
    button.textContent = words;
    Object.assign(button.style, { width, paddingInline: padding });
  };
  button.addEventListener('click', async () => {
    const width = `${button.offsetWidth}px`; // is kept, so that nothing beside the button moves
    try {
      await navigator.clipboard.writeText(typeof text === 'function' ? text() : text);
      say('Copied', width, 0);
    } catch {
      say('Refused', width, 0);
      button.title = 'the browser allows no copying here';
    }
    setTimeout(() => say(label, '', ''), 1500);
  });
  return button;
}
