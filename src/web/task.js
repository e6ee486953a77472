// task.js: the tasks of a project, and one of them as the story that it is: messages and calls, turn by turn,
// when they were made, and their cost. While it runs, the page follows it.
import { add, copyButton, count, el, fill, namedLink, notice, sentence, untrusted, visible } from './dom.js';
import { pageKeys } from './keys.js';
import { paged } from './lists.js';
import { go, link, replaceAddress, setTitle } from './place.js';
import { taskRow } from './rows.js';
import { cancelButton, sendButton } from './task_actions.js';
import { statusNodes, statusOf } from './task_status.js';
import { callItem, liveItem, messageItem, spent, turnHead } from './task_steps.js';
import { Story, sums } from './task_story.js';
import { duration, whenMs } from './time.js';
import { trouble } from './trouble.js';
import { turnForm } from './turns.js';
import { drawWaterfall } from './waterfall.js';

const PAGE = 50; // tasks
const STEPS = 200; // messages and calls that are shown at once
const HALF = STEPS / 2; // pages begin at multiples of it
const EVENTS_AT_ONCE = 20_000; // events that are loaded without being asked
const BYTES_AT_ONCE = 32 << 20; // texts of these events
const DRAW_MS = 150; // between two drawings while events come
const LOOK_MS = 3000; // between two looks at the status
// The filters in words of people and of the ledger.
const FILTERS = [['All', {}], ['In progress', { state: 'running' }], ['Waiting', { state: 'waiting' }],
  ['Success', { status: 'success' }], ['Failed', { state: 'failed' }], ['Cancelled', { status: 'cancelled' }]];

const at = (here, id, query) => link({ project: here.project, view: 'task', id, query });
const goalOf = (task) => task.goal || task.systemPrompt;

// --- the list ---

function choices(here) {
  const { status = '', state = '' } = here.query;
  const isHere = ([, filter]) => (filter.status ?? '') === status && (filter.state ?? '') === state;
  const to = (query) => go({ ...here, query });
  const form = el('form', { class: 'controls' }, FILTERS.map(([words, filter]) => el('button', {
    type: 'button', class: 'chip', 'aria-pressed': String(isHere([words, filter])), 'data-filter': words, onclick: () => to(filter),
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
  const list = el('div', { class: 'rows' });
  fill(main, el('header', { class: 'box-head' }, el('h1', {}, 'Tasks'), choices(here)), list);
  await paged(list, async (from = 0) => {
    const { status, state } = here.query;
    const { data } = await api.tasks({ completionStatus: status || undefined, state: state || undefined }, PAGE, from);
    const to = from + data.tasks.length;
    return { items: data.tasks, next: data.tasks.length > 0 && to < data.total ? to : null };
  }, (one) => taskRow(one, here), () => notice('No tasks', Object.keys(here.query).length > 0
    ? 'None in this project is in such a state.' : 'Nobody has given an agent work in this project so far.'));
}

// --- the page ---

class TaskPage {
  constructor(main, api, here, task) {
    Object.assign(this, { main, api, here, task, story: new Story(task), subtasks: [], drawn: new Map(), pageStart: 0 });
    // The address names a step: `wanted`. Once the step is loaded, it is the `target`: its page is drawn, and it gets
    // the focus. Then `wanted` is empty, and `current` is the number of the turn from which the arrow keys step.
    this.wanted = { turn: Number(here.query.turn), id: here.query.at };
    this.follows = task.completionStatus === undefined && !this.wanted.turn && !this.wanted.id;
    this.title = el('span', {});
    this.status = el('span', { role: 'status' });
    this.spent = el('span', {});
    this.subtaskList = el('div', {});
    this.bars = el('div', { class: 'bars' });
    this.controls = el('div', { class: 'controls' });
    this.list = el('div', { class: 'cards' });
    this.live = el('div', {});
    this.pagers = [el('div', { class: 'controls pager' }), el('div', { class: 'controls pager' })];
    this.end = el('div', {});
    this.drawFrame();
    this.drawStatus();
    pageKeys({ ArrowRight: ['next turn', () => this.step(1)], ArrowLeft: ['previous turn', () => this.step(-1)] });
  }

  drawFrame() {
    const { task, here } = this;
    const box = (id, words) => (id ? [el('a', { href: link({ project: here.project, view: 'box', id }) }, words), ' · '] : null);
    fill(this.title, untrusted(sentence(goalOf(task))));
    if (task.parentTaskId)
      this.parent = el('a', { href: at(here, task.parentTaskId) }, untrusted(task.parentTaskId, { class: 'id' }));
    fill(this.main, el('header', { class: 'box-head' },
      el('h1', {}, el('span', { class: 'faint' }, 'Task '), this.title),
      el('p', { class: 'facts' }, this.status),
      el('p', { class: 'facts' }, this.spent),
      el('p', { class: 'facts' }, 'made ', whenMs(task.createdAt), ' · ', task.router
        ? [el('span', { class: 'badge' }, 'router'), 'waits for the next message after an answer · '] : null,
      box(task.boxId, 'its box'), box(task.contextBoxId, 'its context box'),
      untrusted(here.id, { class: 'id' }), copyButton(here.id, 'Copy id')),
      this.parent ? el('p', { class: 'facts', 'data-parent': true }, 'A subtask of ', this.parent) : null,
      this.subtaskList, this.controls),
    el('details', { class: 'waterfall', open: true }, el('summary', {}, 'Waterfall: when each turn and call took place'), this.bars),
    this.pagers[0], this.list, this.live, this.pagers[1], this.end);
  }

  drawStatus() {
    const { task, story } = this;
    const known = { subtasks: this.subtasks.some((one) => one.completionStatus === undefined),
      calls: story.openCalls().map((call) => call.name) };
    const { ended } = story;
    const now = ended ? { ...task, completionStatus: ended.completionStatus, cancelReason: ended.reason ?? task.cancelReason } : task;
    const end = task.completionStatus !== undefined ? task.updatedAt : ended?.timestamp;
    fill(this.status, statusNodes(now, known), end === undefined ? null
      : `, after ${duration(Math.max(0, end - task.createdAt))}`);
    const isOpenTask = now.completionStatus === undefined;
    if (this.hadControls !== isOpenTask) {
      fill(this.controls, isOpenTask ? [sendButton(this.api, task, () => this.look()), cancelButton(this.api, task, () => this.look())] : null);
      this.hadControls = isOpenTask;
    }
  }

  /** Looks at the status, and at the subtasks. */
  async look() {
    const [{ data: { task } }, { data: { tasks, total } }] = await Promise.all([this.api.task(this.here.id),
      this.api.tasks({ parentTaskId: this.here.id }, PAGE, 0)]);
    if (task) this.task = this.story.task = task;
    this.subtasks = tasks;
    fill(this.subtaskList, tasks.length === 0 ? null : el('div', { class: 'facts', 'data-subtasks': true }, el('p', {}, 'Its subtasks:'),
      tasks.map((one) => taskRow(one, this.here)), total > tasks.length ? `and ${total - tasks.length} more` : null));
    this.drawStatus();
    this.drawBars();
  }

  /** While the task is unfinished, its status may change without an event. */
  async keepLooking() {
    while (this.main.contains(this.list) && this.story.ended === null) {
      if (!document.hidden) await this.look();
      await new Promise((resolve) => { setTimeout(resolve, LOOK_MS); });
    }
  }

  async nameParent() {
    const { data: { task } } = await this.api.task(this.task.parentTaskId);
    if (!task) return;
    const { data } = await this.api.tasks({ fromTime: task.createdAt, toTime: task.createdAt }, PAGE, 0);
    const found = data.tasks.find(({ id }) => id === task.id);
    this.parent.replaceWith(namedLink(at(this.here, task.id), goalOf(found ?? task), task.id));
  }

  // --- steps ---

  /** Draws soon: events come in crowds. */
  soon() {
    if (this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.main.contains(this.list)) this.draw();
    }, this.story.items.length < STEPS ? 0 : DRAW_MS);
  }

  draw() {
    const { story } = this;
    if (story.goal !== null && !this.named) {
      this.named = true;
      fill(this.title, untrusted(sentence(story.goal)));
      setTitle(sentence(story.goal));
    }
    const wanted = story.find(this.wanted);
    this.target = wanted ?? this.target;
    if (this.target) this.pageStart = this.pageStartOf(this.target);
    else if (this.follows) this.pageStart = this.lastPageStart();
    const isFilled = this.drawSteps();
    this.drawLive();
    this.drawPagers();
    this.drawBars();
    this.drawSpent();
    this.drawStatus();
    if (wanted || (isFilled && this.target && document.activeElement === document.body)) this.goTo(this.target);
  }

  pageStartOf(one) {
    return Math.min(Math.floor(one.number / HALF) * HALF, this.lastPageStart());
  }

  lastPageStart() {
    return Math.max(0, Math.floor(this.story.items.length / HALF) * HALF - HALF);
  }

  /** Draws the steps of the page that are new or have changed. Returns whether it drew all of them. */
  drawSteps() {
    const page = this.story.items.slice(this.pageStart, this.pageStart + STEPS);
    const wantedPage = `${this.pageStart} ${this.story.order}`;
    const isFilled = this.drawnPage !== wantedPage;
    if (isFilled) {
      this.drawn.clear();
      fill(this.list);
      this.drawnPage = wantedPage;
    }
    for (const one of page) {
      const before = this.drawn.get(one);
      if (before?.changes === one.changes) continue;
      const node = one.kind === 'call' ? callItem(one, this.here) : messageItem(one, this.here);
      if (one.turn && !before) this.list.append(turnHead(one, this.story, this.api, this.here));
      if (before) before.node.replaceWith(node);
      else if (one.kind === 'call' || one.text.trim() !== '') this.list.append(node); // a turn of calls alone has no text
      this.drawn.set(one, { node, changes: one.changes });
    }
    return isFilled;
  }

  drawLive() {
    const { live, items } = this.story;
    const isLast = this.pageStart + STEPS >= items.length;
    const [before] = this.live.children;
    if (!live || !isLast) fill(this.live);
    else if (before?.dataset.message === live.id && this.said?.length <= live.text.length)
      add(before.querySelector('.text'), visible(live.text.slice(this.said.length)));
    else fill(this.live, liveItem(live));
    this.said = live?.text;
  }

  drawPagers() {
    const total = this.story.items.length;
    const to = (from) => {
      this.follows = from + STEPS >= total && this.story.ended === null;
      this.pageStart = from;
      this.wanted = {};
      this.target = undefined;
      this.draw();
      this.list.firstElementChild?.scrollIntoView({ block: 'center' });
    };
    const last = this.lastPageStart();
    const state = `${total} ${this.pageStart}`;
    if (total <= STEPS || this.pagerState === state) return;
    this.pagerState = state;
    const button = (words, from, on) => el('button', { type: 'button', disabled: !on, onclick: () => to(from) }, words);
    for (const pager of this.pagers) {
      if (pager.contains(document.activeElement)) document.activeElement.blur();
      const form = turnForm({ last: this.story.answers.length, whom: 'model' }, (turn) => this.choose(turn));
      const [first, end, all] = [this.pageStart + 1, Math.min(total, this.pageStart + STEPS), total].map((one) => one.toLocaleString('en'));
      fill(pager, button('First', 0, this.pageStart > 0), button('Earlier', Math.max(0, this.pageStart - STEPS), this.pageStart > 0),
        el('span', { class: 'faint' }, `steps ${first} to ${end} of ${all}`),
        button('Later', Math.min(last, this.pageStart + STEPS), this.pageStart < last), button('Last', last, this.pageStart < last), form);
    }
  }

  drawSpent() {
    const { answers, callCount, failed } = this.story;
    const sum = sums(answers);
    fill(this.spent, count(answers.length, 'turn of the model', 'turns of the model'), ', ', count(callCount, 'call'),
      failed > 0 ? [' (', el('span', { class: 'failure' }, `${failed} failed`), ')'] : null,
      sum.models.size > 0 || sum.tokens !== undefined || sum.input !== undefined ? [' · ', spent(sum, sum.models)] : null);
  }

  // --- the waterfall ---

  drawBars() {
    const rows = this.story.items.slice(this.pageStart, this.pageStart + STEPS).flatMap((one) => this.rowsOf(one));
    this.bars.closest('details').hidden = rows.length === 0;
    if (rows.length > 0) drawWaterfall(this.bars, rows);
  }

  rowsOf(one) {
    if (one.turn) return [{ name: `Turn ${one.turn.number}`, kind: 'model', from: this.story.beginOf(one, this.subtasks), to: one.at,
      title: 'from the step before to the answer of the model', open: () => this.choose(one.turn.number) }];
    if (one.kind !== 'call') return [];
    const call = { name: one.name, kind: 'call', from: one.at, to: one.to, level: 1, bad: one.status === 'failed',
      title: one.status, open: () => this.focusOn(this.drawn.get(one)?.node) };
    const part = this.subtasks.find(({ id }) => id === one.subtask);
    return part ? [call, this.rowOfSubtask(part)] : [call];
  }

  rowOfSubtask(part) {
    const { words, kind } = statusOf(part);
    return { name: sentence(goalOf(part), 60), kind: 'subtask', from: part.createdAt, level: 2, bad: kind === 'bad',
      title: `subtask, ${words}`, to: part.completionStatus === undefined ? null : Math.max(part.createdAt, part.updatedAt),
      open: () => go({ project: this.here.project, view: 'task', id: part.id }) };
  }

  // --- going to a turn ---

  /** Shows a turn, and names it in the address. */
  choose(number) {
    const answer = this.story.answers[number - 1];
    if (!answer) return;
    this.here = { ...this.here, query: { ...this.here.query, turn: number } };
    replaceAddress(this.here);
    this.wanted = { turn: number };
    this.follows = false;
    this.draw();
  }

  goTo(one) {
    this.current = one.turn?.number ?? this.current;
    this.wanted = {};
    this.focusOn((one.turn && this.list.querySelector(`[data-turn="${one.turn.number}"]`)) ?? this.drawn.get(one)?.node);
  }

  step(by) {
    const inSight = [...this.list.querySelectorAll('[data-turn]')].find((one) => one.getBoundingClientRect().top > 0);
    const from = this.current ?? Number(inSight?.dataset.turn ?? 1) - (by > 0 ? 1 : 0);
    this.choose(Math.min(this.story.answers.length, Math.max(1, from + by)));
  }

  focusOn(node) {
    if (!node) return;
    node.tabIndex = -1;
    node.focus({ preventScroll: true });
    node.scrollIntoView({ block: 'start' });
  }

  // --- events ---

  /** Waits until the reader loads more of a task with very many events. */
  async pause() {
    await new Promise((resolve) => {
      fill(this.end, el('button', { type: 'button', class: 'wide', 'data-do': 'load', onclick: resolve },
        `${count(this.story.items.length, 'step')} are loaded. Load more`));
    });
    fill(this.end);
  }

  async follow() {
    let events = 0;
    let bytes = 0;
    for await (const { event, data } of this.api.follow(this.here.id)) {
      if (event === 'broken')
        fill(this.status, el('span', { class: 'badge bad' }, 'the server does not answer; trying again'));
      else if (event === 'again') this.drawStatus();
      else this.story.add(event, data);
      if (event !== 'broken') this.soon();
      if (++events < EVENTS_AT_ONCE && this.story.bytes - bytes < BYTES_AT_ONCE) continue;
      await this.pause();
      [events, bytes] = [0, this.story.bytes];
    }
    this.draw();
    fill(this.end, el('p', { class: 'faint', 'data-end': true }, `The task is over: ${count(this.story.items.length, 'step')}.`));
  }
}

/** Shows one task. Its events are followed as long as the page shows it. */
export async function showTask(main, api, here) {
  const fail = (error) => {
    if (error.name !== 'AbortError') add(main, trouble(error));
  };
  try {
    const { data: { task } } = await api.task(here.id);
    if (!task) {
      fill(main, notice('No such task', 'There is none with this id in this project.',
        el('p', {}, untrusted(here.id, { class: 'id' }))));
      return;
    }
    const page = new TaskPage(main, api, here, task);
    const side = [task.completionStatus === undefined ? page.keepLooking() : page.look(),
      task.parentTaskId ? page.nameParent() : null];
    Promise.all(side).catch(fail);
    await page.follow();
  } catch (error) {
    fail(error);
  }
}
