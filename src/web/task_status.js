// task_status.js: what a task is doing, or how it ended, in words. Knows no page.
import { untrusted } from './dom.js';

const GOOD = new Set(['success', 'completed']);

/** {words, kind, reason} of a task as the API has it: `kind` is good, bad, warn or ''. `known` is what the
 * caller knows beyond it: `subtasks`: whether some are unfinished, `calls`: names of unfinished calls. */
export function statusOf(task, { subtasks = null, calls = [] } = {}) {
  const { completionStatus: ended, state, wakeAt } = task;
  if (ended !== undefined) {
    const [, word, reason] = /^(failed): ?(.*)$/s.exec(ended) ?? [null, ended, task.cancelReason];
    return { words: word, kind: GOOD.has(word) ? 'good' : 'bad', reason };
  }
  if (state === 'running' && wakeAt < Date.now())
    return { words: 'waiting for a worker', kind: 'warn', reason: `${task.leaseOwner ?? 'its worker'} has lost its lease` };
  if (state === 'running')
    return { words: calls.length > 0 ? 'waiting for a call' : 'in progress', kind: '', reason: calls.join(', ') };
  if (wakeAt !== undefined) return { words: 'waiting for a worker', kind: 'warn' };
  if (task.router || subtasks === false) return { words: 'waiting for a message', kind: 'warn' };
  return { words: subtasks ? 'waiting for a subtask' : 'waiting for a subtask or a message', kind: 'warn' };
}

/** The status as nodes: a badge, then the reason if there is one. */
export function statusNodes(task, known) {
  const { words, kind, reason } = statusOf(task, known);
  return [untrusted(words, { class: `badge ${kind}`, 'data-status': words }),
    reason ? [' ', untrusted(reason, { class: kind === 'bad' ? 'failure' : null })] : null];
}
