// task.js: the tasks of a project, and one of them as the story that it is: what was said and called,
// in order, and while it runs what is being said now.
import { add, block, copyButton, count, el, fill, foreign, line, notice, shown } from './dom.js';
import { jsonOrText } from './content.js';
import { paged } from './lists.js';
import { go, link } from './place.js';
import { duration, when } from './time.js';
import { trouble } from './trouble.js';

const PAGE = 50;
const SHOWN = 160; // characters of what a task is told to be
const ROLES = new Set(['system', 'user', 'assistant']);
// What is asked for, in words of people and of the ledger.
const FILTERS = [['All', {}], ['Running', { state: 'running' }], ['Waiting', { state: 'waiting' }],
  ['Success', { status: 'success' }], ['Failed', { state: 'failed' }], ['Cancelled', { status: 'cancelled' }]];
const GOOD = new Set(['success', 'completed']);
const OPEN = new Set(['in progress', 'pending', 'in_progress']);

const at = (here, id) => link({ project: here.project, view: 'task', id });
const moment = (ms) => (Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? when(new Date(ms).toISOString()) : '');

/** A status as a badge; a task that has none is in progress. */
function badge(status) {
  const said = status ?? 'in progress';
  return foreign(said, {
    class: `badge${GOOD.has(said) ? ' good' : OPEN.has(said) ? '' : ' bad'}`, 'data-status': said,
  });
}

const told = (task) => task.goal ?? task.systemPrompt;

/** What a task is told to be, in a line. */
const lineOf = (text) => line(text, SHOWN) || '(no goal)';

// --- the list ---

function choices(here) {
  const { status = '', state = '' } = here.query;
  const isHere = ([, filter]) => (filter.status ?? '') === status && (filter.state ?? '') === state;
  const to = (query) => go({ ...here, query });
  const form = el('form', { class: 'controls' }, FILTERS.map(([words, filter]) => el('button', {
    type: 'button', 'aria-pressed': String(isHere([words, filter])), 'data-filter': words, onclick: () => to(filter),
  }, words)), el('input', {
    name: 'status', 'aria-label': 'another status', placeholder: 'another status', autocomplete: 'off',
    spellcheck: 'false', value: FILTERS.some(isHere) ? '' : status,
  }));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    to({ status: form.elements.status.value });
  });
  return form;
}

/** The tasks of a project, newest first. */
export async function listTasks(main, api, here) {
  const list = el('div', { class: 'cards' });
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, 'Tasks'), choices(here)), list);
  await paged(list, async (from = 0) => {
    const { status, state } = here.query;
    const { data } = await api.tasks({ completionStatus: status || undefined, state: state || undefined }, PAGE, from);
    const to = from + data.tasks.length;
    return { items: data.tasks, next: data.tasks.length > 0 && to < data.total ? to : null };
  }, (one) => {
    return el('a', { class: 'box-link', 'data-task': one.id, href: at(here, one.id) }, foreign(lineOf(told(one))),
      el('div', { class: 'faint' }, badge(one.completionStatus), ' ', foreign(one.id, { class: 'id' }), ', ',
        moment(one.updatedAt)));
  }, () => notice('No tasks', Object.keys(here.query).length > 0
    ? 'None in this project is in such a state.' : 'Nobody has given an agent work in this project so far.'));
}

// --- the story ---

function item(kind, head, body, props) {
  return el('article', { class: `card role-${kind}`, ...props },
    el('header', {}, head), el('div', { class: 'content' }, body));
}

function messageItem({ id, role, content, timestamp }) {
  return item(ROLES.has(role) ? role : 'other', [el('span', { class: 'role' }, foreign(role)),
    el('span', { class: 'space' }), moment(timestamp)], block(String(content), { class: 'text' }),
  { 'data-message': id });
}

/** The task that a call has made, or undefined. */
function spawned({ abilityName, details }) {
  if (abilityName !== 'task:spawn') return undefined;
  try {
    const { taskId } = JSON.parse(details);
    return typeof taskId === 'string' ? taskId : undefined;
  } catch {
    return undefined;
  }
}

function callItem({ callId, abilityName, status, parameters, details, timestamp }, took, subtask) {
  return item('tool', [el('span', { class: 'role' }, 'call'),
    el('span', { class: 'tool' }, foreign(abilityName ?? 'of something that is gone')), badge(status),
    took ? el('span', {}, took) : null,
    subtask ? el('a', { href: subtask, 'data-do': 'subtask' }, 'its task') : null,
    el('span', { class: 'space' }), moment(timestamp)],
  [parameters === null ? null : jsonOrText(parameters),
    typeof details !== 'string' || details === '{}' ? null : jsonOrText(details, 'Result')], { 'data-call': callId });
}

/** A message while it is said. */
function liveItem(id) {
  return item('assistant', [el('span', { class: 'role' }, 'assistant'),
    el('span', { class: 'badge' }, 'is saying')], el('div', { class: 'text', dir: 'auto' }),
  { 'data-message': id, 'data-live': true });
}

const EVENTS = new Set(['start', 'content', 'message_complete', 'call', 'task_complete', 'broken', 'again']);

/** What each event does to the story, whose parts are nodes. */
class Story {
  constructor(list, head, here) {
    Object.assign(this, { list, head, here, calls: new Map(), live: null, goal: null });
    this.title = el('span', {});
  }

  /** What it is about: its first message of a user, as in the list. */
  begin(task) {
    this.task = task;
    fill(this.head, badge(task.completionStatus));
    fill(this.title, foreign(lineOf(task.systemPrompt)));
  }

  start({ messageId }) {
    this.live?.remove();
    this.live = liveItem(messageId);
    this.list.append(this.live);
  }

  content({ content }) {
    if (this.live) add(this.live.querySelector('.text'), shown(String(content)));
  }

  message_complete(message) {
    if (message.role === 'assistant') {
      this.live?.remove(); // it is this one, or broke off before it
      this.live = null;
    }
    const content = String(message.content);
    if (message.role === 'user' && this.goal === null) {
      this.goal = content;
      fill(this.title, foreign(lineOf(content)));
    }
    // Of a call its own item says it better; a turn of calls alone says nothing.
    if (!message.callId && content.trim() !== '') this.list.append(messageItem(message));
  }

  call(call) {
    const { item: before, began } = this.calls.get(call.callId) ?? { item: null, began: call.timestamp };
    const subtask = spawned(call);
    const made = callItem(call, before && !OPEN.has(call.status) ? duration(call.timestamp - began) : null,
      subtask ? at(this.here, subtask) : null);
    if (before) before.replaceWith(made);
    else this.list.append(made);
    this.calls.set(call.callId, { item: made, began });
  }

  task_complete({ completionStatus, reason, timestamp }) {
    this.live?.remove();
    this.live = null;
    fill(this.head, badge(completionStatus), reason ? [': ', foreign(reason)] : null,
      `, after ${duration(Math.max(0, timestamp - this.task.createdAt))}`);
  }

  broken() {
    fill(this.head, el('span', { class: 'badge bad' }, 'the server does not answer; trying again'));
  }

  again() {
    fill(this.head, badge());
  }
}

/** The tasks that it has given to others. */
async function subtasks(api, here) {
  const { data: { tasks, total } } = await api.tasks({ parentTaskId: here.id }, PAGE, 0);
  return tasks.length === 0 ? null : el('p', { class: 'facts', 'data-subtasks': true }, 'Its subtasks: ',
    tasks.map((one, number) => [number > 0 ? ', ' : '', el('a', { href: at(here, one.id) }, foreign(lineOf(told(one))))]),
    total > tasks.length ? ` and ${total - tasks.length} more` : null);
}

/** Shows one task. Its events are followed as long as the page shows it. */
export async function showTask(main, api, here) {
  const head = el('span', { role: 'status' });
  const list = el('div', { class: 'cards' });
  const story = new Story(list, head, here);
  try {
    const { data: { task } } = await api.task(here.id);
    if (!task) {
      fill(main, notice('No such task', 'There is none with this id in this project.',
        el('p', {}, foreign(here.id, { class: 'id' }))));
      return;
    }
    story.begin(task);
    fill(main, el('header', { class: 'box-head' }, el('h1', {}, el('span', { class: 'faint' }, 'Task '), story.title),
      el('p', { class: 'facts' }, foreign(here.id, { class: 'id' }), copyButton(here.id, 'Copy id')),
      el('p', { class: 'facts' }, head, ', made ', moment(task.createdAt), task.parentTaskId
        ? [', for ', el('a', { href: at(here, task.parentTaskId) }, foreign(task.parentTaskId, { class: 'id' }))] : null),
      await subtasks(api, here)), list);
    for await (const { event, data } of api.follow(here.id))
      if (EVENTS.has(event)) story[event](data);
    add(main, el('p', { class: 'faint', 'data-end': true }, `The task is over: ${count(list.children.length, 'step')}.`));
  } catch (error) {
    if (error.name === 'AbortError') return;
    add(main, trouble(error));
  }
}
