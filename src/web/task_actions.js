// task_actions.js: what one can do with a task: send it a message, cancel it, and retry a turn in a session.
import { el, sentence } from './dom.js';
import { ask } from './dialog.js';
import { askToRetryInSession } from './retry.js';

/** Asks for a text, and does something with it. */
function askFor({ label, rows = 5, ...words }, run) {
  const field = el('textarea', { rows: String(rows), required: true, maxlength: '1000000' });
  ask({ ...words, fields: el('label', { class: 'field' }, label, field) }, () => run(field.value));
}

/** Throws an error if the output of an ability reports that it failed. */
async function requireSuccess(answer) {
  const { data } = await answer;
  if (!data.success) throw new Error(data.error ?? 'it did not work');
}

export function sendButton(api, task, then) {
  return el('button', { type: 'button', 'data-do': 'send', onclick: () => askFor({
    title: 'Send a message', label: 'Message', yes: 'Send',
    text: 'The task gets it as a message of the user, and a worker answers it.',
  }, async (message) => {
    await requireSuccess(api.sendToTask(task.id, message));
    then();
  }) }, 'Send a message');
}

export function cancelButton(api, task, then) {
  return el('button', { type: 'button', 'data-do': 'cancel', onclick: () => askFor({
    title: 'Cancel this task', label: 'Reason', yes: 'Cancel the task', rows: 2,
    text: 'Its unfinished calls fail, its worker stops, and it can\'t be resumed.',
  }, async (reason) => {
    await requireSuccess(api.cancelTask(task.id, reason));
    then();
  }) }, 'Cancel');
}

// --- a retry of a turn, in a session ---

/** The messages that the model got at a turn, made of the steps before it: for turns whose box is not known. */
function messagesBefore(story, answer) {
  const messages = [];
  for (const item of story.items.slice(0, answer.number)) {
    if (item.kind === 'message') {
      messages.push({ role: item.role, content: item.text, tool_calls: [] });
      continue;
    }
    let caller = messages.findLast(({ role }) => role !== 'tool');
    if (caller?.role !== 'assistant') messages.push(caller = { role: 'assistant', content: '', tool_calls: [] });
    caller.tool_calls.push({ id: item.id, function: { name: item.name, arguments: item.parameters } });
    messages.push({ role: 'tool', tool_call_id: item.id, content: item.details ?? '' });
  }
  return messages.filter(({ role, content, tool_calls: calls }) => role === 'tool' || content !== '' || calls.length > 0);
}

/** Where the context of a turn is read: {box, query}, or null if that is not known. */
export function contextAddress(task, { version, contextVersion }) {
  if (!task.boxId || version === undefined) return null;
  return task.contextBoxId && contextVersion !== undefined
    ? { box: task.contextBoxId, query: { version: contextVersion, then: `${task.boxId}@${version}` } }
    : { box: task.boxId, query: { version } };
}

/** Returns the messages that the model got at the turn of an answer, in OpenAI's format. */
async function messagesOf(api, story, answer) {
  const from = contextAddress(story.task, answer.turn);
  return from === null ? messagesBefore(story, answer) : (await api.boxContext(from.box, {
    at_version: from.query.version, then: from.query.then, format: 'openai',
  })).data.messages;
}

export function retryButton(api, here, story, answer) {
  const { number } = answer.turn;
  return el('button', {
    type: 'button', class: 'quiet', 'data-do': 'retry', title: 'a new session with what the model got at this turn',
    onclick: () => askToRetryInSession(api, here, {
      title: `Retry turn ${number} in a session`, load: () => messagesOf(api, story, answer),
      name: `Retry of turn ${number}: ${sentence(story.goal ?? story.task.systemPrompt, 100)}`,
    }),
  }, 'Retry');
}
