// time.js: when something was, for people: how long ago, and to the second on demand.
import { el } from './dom.js';

// Each unit with its seconds and the age below which it is used: the rule of the command line, too.
const DAY = 86400;
const UNITS = [[1, 60, 's'], [60, 3600, 'min'], [3600, 2 * DAY, 'h'], [DAY, 60 * DAY, 'd'],
  [30 * DAY, 2 * 365 * DAY, 'mo'], [365 * DAY, Infinity, 'y']];

export function age(then, now = Date.now()) {
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  const [size, , unit] = UNITS.find(([, below]) => seconds < below);
  return `${Math.floor(seconds / size)} ${unit} ago`;
}

/** How long something took. */
export function duration(ms) {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor(ms / 1000) % 60} s`;
  return minutes < 2880 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.floor(minutes / 1440)} d ${Math.floor(minutes / 60) % 24} h`;
}

/** A number of milliseconds as a time of the API; null for a number that is no time. */
const timeOf = (ms) => (Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : null);

/** The time of day with its seconds: as it was written, or in UTC for a number of milliseconds. */
export function clock(time) {
  return /T(\d\d:\d\d:\d\d)/.exec(timeOf(time) ?? String(time))?.[1] ?? '';
}

/** The same time with its date. */
export const exactly = (time) => (timeOf(time) ?? String(time)).replace('T', ' ').replace(/\.000Z$|Z$/, ' UTC');

/** A time of the API as an element; what is no time is shown as it is. */
export function when(text) {
  const then = Date.parse(text);
  if (Number.isNaN(then)) return el('span', {}, String(text));
  return el('time', { datetime: timeOf(then), title: exactly(then) }, age(then));
}

/** The same for a time of the ledger, in milliseconds; null for a number that is no time. */
export const whenMs = (ms) => (timeOf(ms) === null ? null : when(timeOf(ms)));

// --- ages grow ---

const GROW_MS = 5000;

function growAges() {
  for (const one of document.querySelectorAll('time')) {
    const text = age(Date.parse(one.dateTime));
    if (one.textContent !== text && !one.closest('[aria-live], [role=status]')) one.textContent = text; // those are read out
  }
}

setInterval(() => { if (!document.hidden) growAges(); }, GROW_MS);
