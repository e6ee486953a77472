// task_story.js: what happened in a task, made of its events: messages, calls, and the turns of the
// model. Knows no page.
import { isObject } from './content.js';
import { write } from './json.js';

const LOOK_BACK = 64; // steps
const OPEN = new Set(['pending', 'in_progress']);

export const isOpen = (call) => OPEN.has(call.status);

const number = (value) => {
  const found = value === undefined || value === null ? NaN : Number(write(value));
  return Number.isFinite(found) ? found : undefined;
};

/** The known facts of the turn of an answer. */
function turnOf(metadata) {
  const known = isObject(metadata) ? metadata : {};
  const usage = isObject(known.usage) ? known.usage : {};
  return {
    model: typeof known.model === 'string' ? known.model : undefined,
    version: number(known.box_version), contextVersion: number(known.context_box_version),
    input: number(usage.prompt_tokens), output: number(usage.completion_tokens),
    tokens: number(usage.total_tokens), cost: number(usage.cost),
  };
}

/** The task that a call has made, or undefined. */
function spawned({ name, details }) {
  if (name !== 'task:spawn') return undefined;
  try {
    const { taskId } = JSON.parse(details);
    return typeof taskId === 'string' ? taskId : undefined;
  } catch {
    return undefined;
  }
}

/** Adds up what is known of answers: {input, output, tokens, cost, models}; undefined what is known of none. */
export function sums(answers) {
  const sum = { models: new Set() };
  for (const { turn } of answers) {
    for (const name of ['input', 'output', 'tokens', 'cost'])
      if (turn[name] !== undefined) sum[name] = (sum[name] ?? 0) + turn[name];
    if (turn.model) sum.models.add(turn.model);
  }
  return sum;
}

export class Story {
  items = []; // messages and calls, in order: {kind, changes, from, to, ...}
  answers = []; // the messages of the model: turn 1, turn 2, ...
  goal = null;
  live = null; // {id, text} of the message that is being said
  ended = null; // the event task_complete
  failed = 0; // calls
  bytes = 0; // roughly, of all texts
  #calls = new Map();
  #known = new Set(); // ids of messages
  order = 0; // grows when a step is put between others

  constructor(task) {
    this.task = task;
  }

  /** Adds an event of the task's stream. */
  add(event, data) {
    this[`on_${event}`]?.(data);
  }

  on_start({ messageId }) {
    this.live = { id: messageId, text: '' };
  }

  on_content({ content }) {
    if (this.live) this.live.text += String(content);
  }

  on_message_complete({ id, role, content, timestamp, callId, metadata }) {
    const text = String(content);
    if (role === 'assistant') this.live = null; // it is this one, or broke off before it
    if (callId || this.#known.has(id)) return; // the item of a call shows its messages
    this.#known.add(id);
    this.bytes += text.length;
    if (role === 'user') this.goal ??= text;
    const item = { kind: 'message', id, role, text, at: timestamp, changes: 0, number: this.items.length };
    this.items.push(item);
    if (role !== 'assistant') return;
    item.turn = { number: this.answers.length + 1, ...turnOf(metadata) };
    this.answers.push(item);
  }

  on_call(data) {
    let call = this.#calls.get(data.callId);
    if (!call) {
      const created = number(data.createdAt) ?? 0;
      call = { kind: 'call', id: data.callId, name: data.abilityName ?? 'unknown ability',
        at: created < this.task.createdAt ? data.timestamp : created, to: null, parameters: data.parameters, details: null, changes: 0 };
      this.#calls.set(data.callId, call);
      this.#place(call);
    }
    call.changes++;
    call.status = data.status;
    this.bytes += String(data.parameters).length + String(data.details).length;
    if (isOpen(call)) return;
    if (data.status === 'failed') this.failed++;
    call.details = typeof data.details === 'string' && data.details !== '{}' ? data.details : null;
    call.to = Math.max(call.at, number(data.updatedAt) ?? data.timestamp);
    call.subtask = spawned(call);
  }

  /** Puts a call where its time is: an import has all messages of a part before the calls. */
  #place(call) {
    let at = this.items.length;
    while (at > 0 && this.items[at - 1].at > call.at) at--;
    if (at < this.items.length) this.order++;
    this.items.splice(at, 0, call);
    for (; at < this.items.length; at++) this.items[at].number = at;
  }

  /** The time at which the work on an answer began: when the last of the steps before it, or of these subtasks, had
   * ended. */
  beginOf({ number: index, at }, subtasks) {
    const steps = this.items.slice(Math.max(0, index - LOOK_BACK), index).map((one) => one.to ?? one.at);
    const ends = subtasks.filter((one) => one.completionStatus !== undefined).map((one) => one.updatedAt);
    return Math.max(this.task.createdAt, ...[...steps, ...ends].filter((time) => time <= at));
  }

  on_task_complete(data) {
    this.live = null;
    this.ended = data;
  }

  /** The step that is meant by the number of a turn or by an id, or undefined. */
  find({ turn, id }) {
    if (turn) return this.answers[turn - 1];
    return id ? this.items.find((one) => one.id === id) : undefined;
  }

  get callCount() {
    return this.#calls.size;
  }

  openCalls() {
    return [...this.#calls.values()].filter(isOpen);
  }
}
