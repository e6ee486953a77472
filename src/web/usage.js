// usage.js: the tokens that models used: of an answer, of a session, and of a project by day. Knows no server.
import { count, el, untrusted } from './dom.js';
import { write } from './json.js';

const DAYS = 30;
const DAY_MS = 86_400_000;

/** A number of the server, which may have more digits than JavaScript keeps. */
function number(value) {
  const found = value === undefined || value === null ? NaN : Number(write(value));
  return Number.isFinite(found) ? found : 0;
}

const total = (usage) => number(usage?.input_tokens) + number(usage?.output_tokens);
const costOf = ({ cost }) => (cost === undefined ? null : `cost ${number(cost).toLocaleString('en', { maximumSignificantDigits: 6 })}`);

/** The numbers in words: tokens in and out, and the cost. */
function words(usage) {
  const cached = number(usage.cached_input_tokens);
  return [`${number(usage.input_tokens).toLocaleString('en')} in${cached > 0 ? `, of these ${cached.toLocaleString('en')} cached` : ''}`,
    `${number(usage.output_tokens).toLocaleString('en')} out`, costOf(usage)].filter(Boolean).join(', ');
}

/** The tokens and the cost, with all numbers on demand; null if there are none. */
export function tokens(usage) {
  if (!usage || (total(usage) === 0 && usage.cost === undefined)) return null;
  return el('span', { class: 'usage', title: words(usage) }, [count(total(usage), 'token'), costOf(usage)].filter(Boolean).join(', '));
}

/** The model and the tokens of an answer. */
export function answerFacts({ model, usage }) {
  return model || usage ? el('span', { class: 'faint answer' }, model ? [untrusted(model, { class: 'model' }), ' '] : null, tokens(usage)) : null;
}

const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10);

/** The first day of the chart. */
export const firstDay = () => dayOf(Date.now() - (DAYS - 1) * DAY_MS);

/** The tokens of each of the last days as bars. `report` is that of the project from firstDay() on. Null if there are none. */
export function usageChart({ total: sum, items }) {
  if (total(sum) === 0) return null;
  const of = new Map(items.map((one) => [one.day, one]));
  const last = Date.now();
  const days = Array.from({ length: DAYS }, (_, at) => dayOf(last - (DAYS - 1 - at) * DAY_MS));
  const most = Math.max(...days.map((day) => total(of.get(day))), 1);
  return el('section', { class: 'chart', 'data-part': 'usage' }, el('h2', {}, 'Tokens by day'),
    el('p', { class: 'faint' }, tokens(sum), ` in the last ${DAYS} days`),
    el('ol', { class: 'days', 'aria-label': 'tokens by day' }, days.map((day) => {
      const usage = of.get(day);
      const text = `${day}: ${usage ? words(usage) : 'none'}`;
      const bar = el('li', { 'data-day': day, title: text, 'aria-label': text });
      bar.style.setProperty('--part', total(usage) / most);
      return bar;
    })));
}
