// waterfall.js: when each turn and call of a task was made: a row for each, with a bar on one axis of
// time. A subtask stands below the call that made it.
import { el, fill, untrusted } from './dom.js';
import { duration } from './time.js';

const TICKS = 5; // at most
const STEPS_S = [0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 43200, 86400];

/** Rows: {name, kind, from, to, level, bad, title, open}; `to` null: it still runs. Times are milliseconds.
 * `open` is what a click does. Draws into `into`, and keeps the row that has the focus. */
export function drawWaterfall(into, rows) {
  const now = Date.now();
  const from = Math.min(...rows.map((one) => one.from));
  const to = Math.max(from + 1, ...rows.map((one) => one.to ?? now));
  const tick = tickOf(to - from);
  const hadFocus = into.contains(document.activeElement);
  const at = Math.max(0, [...into.querySelectorAll('button')].indexOf(into.querySelector('[tabindex="0"]')));
  const list = el('ol', { 'aria-label': 'turns and calls' }, rows.map((one) => el('li', {}, barRow(one, from, to, now))));
  const buttons = [...list.querySelectorAll('button')];
  const chosen = buttons[Math.min(at, buttons.length - 1)];
  if (chosen) chosen.tabIndex = 0;
  list.addEventListener('keydown', (event) => moveFocus(event, buttons));
  const kept = into.scrollTop;
  fill(into, el('div', { class: 'bar-axis', 'aria-hidden': 'true' }, axis(to - from, tick)), list);
  into.style.setProperty('--tick', `${100 * tick / (to - from)}%`);
  into.scrollTop = kept;
  if (hadFocus) chosen?.focus({ preventScroll: true });
}

/** Milliseconds between two marks of the axis. */
function tickOf(span) {
  const seconds = span / 1000 / TICKS;
  return 1000 * (STEPS_S.find((step) => step >= seconds) ?? Math.ceil(seconds / 86400) * 86400);
}

function tickLabel(ms) {
  const [size, unit] = ms < 60_000 ? [1000, 's'] : ms < 3_600_000 ? [60_000, 'min'] : ms < 86_400_000 ? [3_600_000, 'h'] : [86_400_000, 'd'];
  return `${Number((ms / size).toFixed(3))} ${unit}`;
}

function axis(span, tick) {
  return Array.from({ length: Math.floor(span / tick) + 1 }, (_, number) => {
    const mark = el('span', {}, number === 0 ? '0' : tickLabel(number * tick));
    mark.style.left = `${100 * number * tick / span}%`;
    return mark;
  });
}

function barRow({ name, kind, from, to, level = 0, bad, title, open }, start, end, now) {
  const until = to ?? now;
  const bar = el('span', { class: `bar is-${kind}${bad ? ' bad' : ''}${to === null ? ' runs' : ''}` });
  const left = 100 * (from - start) / (end - start);
  bar.style.left = `${left}%`;
  bar.style.width = `${Math.max(0, 100 * (until - from) / (end - start))}%`;
  const took = `${to === null ? 'runs for ' : ''}${duration(Math.max(0, until - from))}`;
  const row = el('button', { type: 'button', class: 'bar-row', tabindex: '-1', title, onclick: open, 'data-bar': kind },
    el('span', { class: 'bar-name' }, untrusted(name)), el('span', { class: 'bar-track' }, bar),
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
