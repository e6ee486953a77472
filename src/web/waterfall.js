// waterfall.js: when each turn and call of a task took place: a row for each, with a bar on one axis of
// time. What runs at the same time stands at the same place of the axis; what a call made stands below it.
import { el, fill, foreign } from './dom.js';
import { duration } from './time.js';

const TICKS = 4;

/** Rows: {name, kind, from, to, level, bad, title, open}; `to` null: it still runs. Times are milliseconds.
 * `open` is what a click does. Draws into `into`, and keeps the row that has the focus. */
export function drawWaterfall(into, rows) {
  const now = Date.now();
  const from = Math.min(...rows.map((one) => one.from));
  const to = Math.max(from + 1, ...rows.map((one) => one.to ?? now));
  const hadFocus = into.contains(document.activeElement);
  const at = Math.max(0, [...into.querySelectorAll('button')].indexOf(into.querySelector('[tabindex="0"]')));
  const list = el('ol', { 'aria-label': 'turns and calls' }, rows.map((one) => el('li', {}, barRow(one, from, to, now))));
  const buttons = [...list.querySelectorAll('button')];
  const chosen = buttons[Math.min(at, buttons.length - 1)];
  if (chosen) chosen.tabIndex = 0;
  list.addEventListener('keydown', (event) => moveFocus(event, buttons));
  const kept = into.scrollTop;
  fill(into, el('div', { class: 'bar-axis', 'aria-hidden': 'true' }, axis(to - from)), list);
  into.scrollTop = kept;
  if (hadFocus) chosen?.focus({ preventScroll: true });
}

function axis(span) {
  return Array.from({ length: TICKS + 1 }, (_, tick) => {
    const mark = el('span', {}, tick === 0 ? '0' : duration(span * tick / TICKS));
    mark.style.left = `${100 * tick / TICKS}%`;
    return mark;
  });
}

function barRow({ name, kind, from, to, level = 0, bad, title, open }, start, end, now) {
  const until = to ?? now;
  const bar = el('span', { class: `bar ${kind}${bad ? ' bad' : ''}${to === null ? ' runs' : ''}` });
  const left = 100 * (from - start) / (end - start);
  bar.style.left = `${left}%`;
  bar.style.width = `${Math.max(0, 100 * (until - from) / (end - start))}%`;
  const took = `${to === null ? 'runs for ' : ''}${duration(Math.max(0, until - from))}`;
  const row = el('button', { type: 'button', class: 'bar-row', tabindex: '-1', title, onclick: open, 'data-bar': kind },
    el('span', { class: 'bar-name' }, foreign(name)), el('span', { class: 'bar-track' }, bar),
    el('span', { class: 'bar-time' }, took), bad ? el('span', { class: 'hidden' }, ', failed') : null);
  row.style.setProperty('--level', Math.min(level, 4));
  return row;
}

const STEPS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/** The arrows move between the rows; one of them is in the order of Tab. */
function moveFocus(event, buttons) {
  const step = STEPS[event.key];
  if (step === undefined) return;
  const at = Math.min(buttons.length - 1, Math.max(0, buttons.indexOf(event.target) + step));
  for (const one of buttons) one.tabIndex = -1;
  buttons[at].tabIndex = 0;
  buttons[at].focus();
  event.preventDefault();
  event.stopPropagation();
}
