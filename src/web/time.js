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

/** The same for a time of the ledger, in milliseconds; null for a number that is no time. */
export const whenMs = (ms) => (Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? when(new Date(ms).toISOString()) : null);
