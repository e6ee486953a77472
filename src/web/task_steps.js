// task_steps.js: the steps of a task as one reads them: messages, calls with their arguments and results,
// and the head of a turn with what it took.
import { add, count, el, shortId, untrusted, visible } from './dom.js';
import { elsewhere, queryOf } from './elsewhere.js';
import { jsonOrText, roleClass } from './content.js';
import { prose } from './markdown.js';
import { link } from './place.js';
import { contextAddress, retryButton } from './task_actions.js';
import { isOpen } from './task_story.js';
import { duration, whenMs } from './time.js';

function item(role, head, body, props) {
  return el('article', { class: `card ${roleClass(role)}`, ...props },
    el('header', {}, head), el('div', { class: 'content' }, body));
}

export function messageItem({ id, role, text, at: time }, here) {
  const card = link({ ...here, query: { ...here.query, card: id } });
  const made = item(role, [el('span', { class: 'role' }, untrusted(role)),
    el('span', { class: 'space' }), whenMs(time)], prose(text), { 'data-message': id });
  add(made, el('footer', {}, el('a', { href: card, class: 'id' }, shortId(id)), el('span', { class: 'space' }),
    queryOf({ text }) ? elsewhere(here.project, id) : null));
  return made;
}

const labelled = (label, text) => [el('dt', {}, label), el('dd', {}, text ? jsonOrText(text, label) : el('span', { class: 'faint' }, 'none'))];

export function callItem(call, here) {
  const { id, name, status, parameters, details, at, to, subtask } = call;
  return item('tool', [el('span', { class: 'role' }, 'call'), el('span', { class: 'tool' }, untrusted(name)),
    untrusted(status, { class: `badge ${status === 'completed' ? 'good' : isOpen(call) ? '' : 'bad'}`, 'data-status': status }),
    to === null ? null : el('span', {}, duration(to - at)),
    subtask ? el('a', { href: link({ project: here.project, view: 'task', id: subtask }), 'data-do': 'subtask' }, 'its task') : null,
    el('span', { class: 'space' }), whenMs(at)],
  el('dl', { class: 'fields labelled' }, labelled('Arguments', parameters),
    isOpen(call) ? null : labelled(status === 'failed' ? 'Error' : 'Result', details)), { 'data-call': id });
}

/** A message that is still being written. */
export function liveItem({ id, text }) {
  return item('assistant', [el('span', { class: 'role' }, 'assistant'),
    el('span', { class: 'badge' }, 'is saying')], el('div', { class: 'text' }, visible(text)),
  { 'data-message': id, 'data-live': true });
}

const money = (cost) => el('span', {
  title: 'as the model\'s server reports it, which names no currency', 'data-fact': 'cost',
}, `cost ${Number(cost.toPrecision(3))}`);

/** Tokens, cost and model, if they are known. */
export function spent({ input, output, tokens, cost }, models) {
  const known = [input === undefined ? null : `${count(input, 'token')} in`, output === undefined ? null : `${output.toLocaleString('en')} out`];
  if (input === undefined && output === undefined && tokens !== undefined) known.push(count(tokens, 'token'));
  known.push(cost === undefined ? null : money(cost));
  const facts = known.filter(Boolean).map((one, n) => [n > 0 ? ', ' : '', one]);
  const names = [...models];
  return [facts, names.length > 0 ? [facts.length > 0 ? ' · ' : '', names.map((name, n) => [n > 0 ? ', ' : '', untrusted(name)])] : null];
}

export function turnHead(answer, story, api, here) {
  const { turn } = answer;
  const context = contextAddress(story.task, turn);
  return el('div', { class: 'turn-head', 'data-turn': turn.number, tabindex: '-1' }, el('h3', {}, `Turn ${turn.number}`),
    el('span', { class: 'faint' }, spent(turn, turn.model ? [turn.model] : [])), el('span', { class: 'space' }),
    context ? el('a', { 'data-do': 'context', href: link({ project: here.project, view: 'context', id: context.box, query: context.query }) },
      'What the model got') : null,
    retryButton(api, here, story, answer));
}
