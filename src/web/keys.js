// keys.js: shortcuts of the keyboard: those of every page, those of the page that is shown, and the
// help that lists them. A key in a field or with Ctrl, Alt or Meta is left to the browser.
import { el, fill } from './dom.js';

const everywhere = new Map(); // key -> {words, run}
let here = new Map(); // the same, of the page that is shown

const NAMES = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc' };
// The steps of j and k: rows of lists, cards, entries, and the buttons that load more of them.
const STEPS = 'main :is(.row, .card, .entry, button.wide)';
const OPENS = '.whole, a.opens'; // the link that such a row opens
const FOCUSED = '.whole, .says'; // a link that is its name gets the focus, so that Enter opens it

const made = (keys) => new Map(Object.entries(keys).map(([key, [words, run]]) => [key, { words, run }]));

/** Adds shortcuts for every page: {key: [what it does, function of the event]}. */
export function addKeys(keys) {
  for (const [key, one] of made(keys)) everywhere.set(key, one);
}

/** The shortcuts of the page that is shown, as in addKeys. They are gone when another page is shown. */
export function pageKeys(keys) {
  here = made(keys);
}

const isTyping = (target) => target instanceof Element &&
  target.closest('input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]') !== null;

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
  const one = here.get(event.key) ?? everywhere.get(event.key);
  // The slider and other controls have arrows of their own.
  if (!one || (event.key.startsWith('Arrow') && event.target.matches('input'))) return;
  event.preventDefault();
  one.run(event);
});

// --- next and previous ---

const current = () => document.activeElement?.closest(STEPS);

/** Moves the focus by a number of rows. If no row has the focus, the first visible row gets it. */
function step(by) {
  const all = [...document.querySelectorAll(STEPS)].filter((one) => one.offsetParent !== null);
  const at = all.indexOf(current());
  const seen = all.findIndex((one) => one.getBoundingClientRect().bottom > 80);
  const next = all[at < 0 ? Math.max(seen, 0) : Math.min(all.length - 1, Math.max(0, at + by))];
  if (!next) return;
  const target = next.matches('button') ? next : next.querySelector(FOCUSED) ?? next;
  if (target === next && !next.matches('button')) next.tabIndex = -1;
  target.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
}

function open() {
  const one = current();
  if (document.activeElement === one) one?.querySelector(OPENS)?.click();
  else document.activeElement?.click?.();
}

addKeys({
  j: ['next row, card or entry', () => step(1)],
  k: ['previous row, card or entry', () => step(-1)],
  o: ['open the one that has the focus', open],
});

// --- help ---

const listed = (keys) => [...keys].map(([key, { words }]) =>
  [el('dt', {}, el('kbd', {}, NAMES[key] ?? key)), el('dd', {}, words)]);

/** Shows all shortcuts in the dialog. */
export function showHelp(dialog) {
  fill(dialog.querySelector('.keys'), listed(here), listed(everywhere));
  dialog.showModal();
}
