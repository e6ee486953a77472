// time.js: when something was, for people: how long ago, and to the second on demand.
import { el } from './dom.js';

const STEPS = [[60, 's'], [60, 'min'], [24, 'h'], [365, 'd'], [Infinity, 'y']];

export function age(then, now = Date.now()) {
  let amount = Math.max(0, (now - then) / 1000);
  for (const [most, unit] of STEPS) {
    if (amount < most) return `${Math.floor(amount)} ${unit} ago`;
    amount /= most;
  }
  return '';
}

/** The time of day as it was written, with its seconds. */
export function clock(text) {
  return /T(\d\d:\d\d:\d\d)/.exec(String(text))?.[1] ?? '';
}

/** A time of the API as an element; what is no time is shown as it is. */
export function when(text) {
  const then = Date.parse(text);
  if (Number.isNaN(then)) return el('span', {}, String(text));
  const exact = new Date(then).toISOString().replace('T', ' ').replace(/\.000Z$|Z$/, ' UTC');
  return el('time', { datetime: new Date(then).toISOString(), title: exact }, age(then));
}
