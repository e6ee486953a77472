// docs.js: /openapi.json for people: operations by tag, with their requests, answers and errors.
// Knows no operation by name.
import { add, el, fill, notice } from './dom.js';
import { pretty } from './json.js';
import { schemaTable, typeOf } from './schema.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const $ = (id) => document.getElementById(id);

/** Follows a $ref; what it does not find is an empty object. */
function resolver(root) {
  return function resolve(node) {
    for (let steps = 0; node && typeof node === 'object' && '$ref' in node && steps < 32; steps++) {
      node = node.$ref.replace(/^#\//, '').split('/').reduce((at, name) =>
        at?.[name.replace(/~1/g, '/').replace(/~0/g, '~')], root);
    }
    return node ?? {};
  };
}

function operations(root) {
  return Object.entries(root.paths).flatMap(([path, item]) => METHODS.filter((one) => item[one])
    .map((method) => ({ path, method, item, operation: item[method] })));
}

// --- text with a little markup: **bold**, `code`, paragraphs ---

function inline(text) {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((piece) => {
    if (piece.startsWith('**')) return el('strong', {}, piece.slice(2, -2));
    if (piece.startsWith('`')) return el('code', {}, piece.slice(1, -1));
    return piece;
  });
}

function prose(text) {
  return (text ?? '').trim().split(/\n\s*\n/).filter(Boolean)
    .map((paragraph) => el('p', {}, inline(paragraph.replace(/\s*\n\s*/g, ' '))));
}

/** A path that is broken only between its steps. */
function inSteps(path) {
  return path.split(/(?=\/)/).map((step) => [el('wbr'), el('span', { class: 'step' }, step)]);
}

// --- an operation ---

function parameters(all, resolve) {
  if (all.length === 0) return null;
  return [el('h4', {}, 'Parameters'), el('table', {}, el('tbody', {}, all.map((raw) => {
    const one = resolve(raw);
    return el('tr', {}, el('th', { scope: 'row' }, el('code', {}, one.name),
      one.required ? el('span', { class: 'must' }, ' required') : null),
    el('td', { class: 'faint' }, `${one.in}, `, typeOf(one.schema ?? {}, resolve)),
    el('td', {}, inline(one.description ?? ''), one.example === undefined ? null
      : [' Example: ', el('code', {}, String(one.example))]));
  })))];
}

function examples(media, resolve) {
  const all = media.examples ? Object.entries(media.examples).map(([name, raw]) => {
    const one = resolve(raw);
    return [one.summary ?? name, one.value];
  }) : [];
  if (media.example !== undefined) all.unshift(['Example', media.example]);
  return all.map(([title, value]) => el('details', {}, el('summary', {}, title),
    typeof value === 'string' ? el('pre', { class: 'json' }, value) : pretty(JSON.stringify(value))));
}

function body(content, resolve) {
  return Object.entries(content ?? {}).map(([type, media]) => el('div', { class: 'media' },
    el('p', { class: 'faint' }, el('code', {}, type), ': ', typeOf(media.schema ?? {}, resolve)),
    type.includes('json') ? schemaTable(media.schema ?? {}, resolve, inline) : null,
    examples(media, resolve)));
}

function response(status, raw, resolve) {
  const one = resolve(raw);
  const headers = Object.entries(one.headers ?? {});
  const good = /^[123]/.test(status);
  const part = el('details', { class: 'response', open: good },
    el('summary', {}, el('span', { class: good ? 'badge good' : 'badge bad' }, status), ' ',
      inline(one.description ?? '')),
    headers.length === 0 ? null : el('table', {}, el('tbody', {}, headers.map(([name, header]) =>
      el('tr', {}, el('th', { scope: 'row' }, el('code', {}, name)),
        el('td', {}, inline(resolve(header).description ?? '')))))),
    body(one.content, resolve));
  return part;
}

function article({ path, method, item, operation }, resolve) {
  const all = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
  const sent = operation.requestBody ? resolve(operation.requestBody) : null;
  return el('article', { id: operation.operationId, class: 'operation' },
    el('h3', {}, el('a', { href: `#${operation.operationId}` },
      el('span', { class: `method ${method}` }, method.toUpperCase()), ' ',
      el('code', {}, inSteps(path)))),
    el('p', { class: 'summary' }, operation.summary ?? ''), prose(operation.description),
    parameters(all, resolve),
    sent ? [el('h4', {}, 'Body', sent.required ? el('span', { class: 'must' }, ' required') : null),
      prose(sent.description), body(sent.content, resolve)] : null,
    el('h4', {}, 'Answers'),
    Object.entries(operation.responses ?? {}).map(([status, raw]) => response(status, raw, resolve)));
}

// --- the page ---

function draw(root) {
  const resolve = resolver(root);
  const all = operations(root);
  const tags = root.tags ?? [];
  const known = new Set(tags.map((tag) => tag.name));
  const rest = [...new Set(all.flatMap(({ operation }) => operation.tags ?? ['other']))]
    .filter((name) => !known.has(name)).map((name) => ({ name }));
  const main = $('main');
  const contents = $('contents');
  fill(contents);
  fill(main, el('section', { class: 'about' }, el('h1', {}, root.info.title, ' ',
    el('span', { class: 'faint' }, root.info.version)), prose(root.info.description)));
  add(main, el('div', { hidden: true, class: 'notice' }, el('h2', {}, 'Nothing found'),
    el('p', {}, 'No operation has all of these words.')));
  for (const tag of [...tags, ...rest]) {
    const its = all.filter(({ operation }) => (operation.tags ?? ['other']).includes(tag.name));
    if (its.length === 0) continue;
    add(contents, el('h2', { 'data-tag': tag.name }, tag.name), its.map(({ path, method, operation }) =>
      el('a', { href: `#${operation.operationId}`, 'data-of': operation.operationId },
        el('span', { class: `method ${method}` }, method.toUpperCase()), ' ', el('span', {}, inSteps(path)))));
    add(main, el('section', { 'data-tag': tag.name }, el('h2', {}, tag.name), prose(tag.description),
      its.map((one) => article(one, resolve))));
  }
}

// --- find ---

/** The words of a name or a text: those of appendToBox are append, to and box. The name of an ability is one word. */
const wordsOf = (text) => text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().split(/[^a-z0-9:]+/).filter(Boolean);

// How much a word counts in the id, the path and the summary of an operation
const WEIGHTS = [['id', 4], ['path', 4], ['summary', 3]];

/** For each operation: its nodes, its whole text, and the words of its names. */
function entriesOf() {
  return [...document.querySelectorAll('.operation')].map((node) => ({
    node, link: document.querySelector(`[data-of="${CSS.escape(node.id)}"]`), text: `${node.id} ${node.textContent}`.toLowerCase(),
    id: wordsOf(node.id), path: wordsOf(node.querySelector('h3 code').textContent),
    summary: wordsOf(node.querySelector('.summary').textContent),
  }));
}

/** How well the names of an operation have a word: as a whole word, at the beginning of a word, or not. */
function score(entry, word) {
  if (entry.id.join('') === word) return 20;
  return WEIGHTS.reduce((sum, [name, weight]) => sum + (entry[name].includes(word) ? weight
    : Number(entry[name].some((one) => one.startsWith(word)))), 0);
}

let entries = null;

/** Hides what does not have all the words. Marks the operation whose names have them best: Enter goes to it. */
function filter() {
  entries ??= entriesOf();
  const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  let [count, best] = [0, { value: -1 }];
  for (const one of entries) {
    one.node.hidden = one.link.hidden = !words.every((word) => one.text.includes(word));
    one.link.removeAttribute('aria-current');
    if (one.node.hidden) continue;
    count++;
    const value = words.reduce((sum, word) => sum + score(one, word), 0);
    if (value > best.value) best = { value, link: one.link };
  }
  if (words.length > 0) best.link?.setAttribute('aria-current', 'true');
  for (const section of document.querySelectorAll('main section[data-tag]')) {
    section.hidden = !section.querySelector('.operation:not([hidden])');
    document.querySelector(`#contents [data-tag="${CSS.escape(section.dataset.tag)}"]`).hidden =
      section.hidden;
  }
  document.querySelector('.about').hidden = words.length > 0;
  document.querySelector('main .notice').hidden = count > 0;
  $('found').textContent = words.length === 0 ? '' : `${count} found`;
}

/** Scrolls to the operation of the address. An operation gets its height when it comes into sight, so the next frames scroll again. */
function showTarget(times = 4) {
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
  if (times > 1) requestAnimationFrame(() => showTarget(times - 1));
}

function keys(event) {
  const typing = event.target === $('filter');
  if (event.key === '/' && !typing) {
    event.preventDefault();
    $('filter').focus();
  } else if (event.key === 'Escape' && typing) {
    $('filter').value = '';
    filter();
  } else if (event.key === 'Enter' && typing) {
    document.querySelector('#contents [aria-current]')?.click();
  }
}

try {
  const answer = await fetch('openapi.json', { credentials: 'omit' });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  draw(await answer.json());
  $('filter').addEventListener('input', filter);
  document.addEventListener('keydown', keys);
  addEventListener('hashchange', () => showTarget());
  if (location.hash) location.replace(location.hash); // the target is there now
  showTarget();
} catch (error) {
  fill($('main'), notice('The document could not be read', error.message));
}
