// ledger.ts: the example code of the ledger's document, typed in, run over the HTTP API. A comment names the lines of the
// document, and each change of its code.

import { test } from 'node:test';
import * as assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { expect } from './expect';
import { bus, useProject } from './shim';
import type { Call, CallStatus, Message, MessageRole, Task } from './types';

// --- names that the document uses without defining them ---

type AgentBus = typeof bus;
type Database = string; // A project: each database of the document is one.
const generateId = (): string => randomUUID();
const emitted: object[] = [];
const emitToUser = (event: object): void => void emitted.push(event);

let projects = 0;
const initializeTestDB = async (): Promise<Database> => `ledger-${++projects}`;
const createLedger = (db: Database, _bus: AgentBus): void => useProject(db);

const invoke = async (bus: AgentBus, ability: string, input: object): Promise<any> =>
  JSON.parse(await bus.invoke(ability)(JSON.stringify(input)));

const createTask = (id: string, bus: AgentBus): Promise<{ success: boolean }> => {
  const task: Task = { id, systemPrompt: 'Test prompt', createdAt: Date.now(), updatedAt: Date.now() };
  return invoke(bus, 'ldg:task:save', { task });
};
const saveMessage = async (taskId: string, role: MessageRole, content: string, bus: AgentBus): Promise<string> => {
  const message: Message = { id: generateId(), taskId, role, content, timestamp: Date.now() };
  return (await invoke(bus, 'ldg:msg:save', { message })).messageId;
};
const createCall = async (id: string, taskId: string, bus: AgentBus): Promise<void> => {
  const [first] = await getMessages(taskId, bus);
  const call: Call = {
    id, taskId, abilityName: 'mem:retrieve', parameters: '{"q":"birds"}', status: 'pending', details: '{}',
    createdAt: Date.now(), updatedAt: Date.now(), startMessageId: first.id
  };
  await invoke(bus, 'ldg:call:save', { call });
};
const updateCall = async (id: string, status: CallStatus, bus: AgentBus): Promise<void> => {
  const call = (await getCalls('task-lifecycle', bus)).find(call => call.id === id)!;
  await updateCallStatus(call, status, '"found"', undefined, bus);
};
const getTask = async (taskId: string, bus: AgentBus): Promise<Task> => (await invoke(bus, 'ldg:task:get', { taskId })).task;
const getMessages = async (taskId: string, bus: AgentBus): Promise<Message[]> =>
  (await invoke(bus, 'ldg:msg:list', { taskId })).messages;
const getCalls = async (taskId: string, bus: AgentBus): Promise<Call[]> => (await invoke(bus, 'ldg:call:list', { taskId })).calls;
const completeTask = (taskId: string, bus: AgentBus): Promise<void> => updateTaskStatus(taskId, 'success', bus);

// Whether the members that the server gave are those of the document's types, with their types.
const TASK = { id: 'string', parentTaskId: 'string?', completionStatus: 'string?', systemPrompt: 'string', createdAt: 'number', updatedAt: 'number' };
const MESSAGE = { id: 'string', taskId: 'string', role: 'string', content: 'string', timestamp: 'number' };
const CALL = {
  id: 'string', taskId: 'string', abilityName: 'string', parameters: 'string', status: 'string', details: 'string',
  createdAt: 'number', updatedAt: 'number', startMessageId: 'string', endMessageId: 'string?'
};
function hasType(value: any, type: Record<string, string>): void {
  for (const [name, wanted] of Object.entries(type)) {
    if (value[name] !== undefined || !wanted.endsWith('?')) assert.equal(typeof value[name], wanted.replace('?', ''), name);
  }
}

// --- lines 657-695 ---

// Adapted: UPDATE of two columns is a read and a save.
const updateTaskStatus = async (
  taskId: string,
  completionStatus: string,
  bus: AgentBus
): Promise<void> => {
  const task = await getTask(taskId, bus);
  await invoke(bus, 'ldg:task:save', { task: { ...task, completionStatus, updatedAt: Date.now() } });
};

// Adapted: the whole call is given instead of its id. `endMessageId || null` is the document's.
const updateCallStatus = async (
  call: Call,
  status: CallStatus,
  details: string,
  endMessageId: string | undefined,
  bus: AgentBus
): Promise<void> => {
  await invoke(bus, 'ldg:call:save', {
    call: { ...call, status, details, endMessageId: endMessageId || null, updatedAt: Date.now() }
  });
};

// --- lines 697-755 ---

const getTaskMessages = async (
  taskId: string,
  bus: AgentBus
): Promise<Message[]> => {
  const { messages: rows } = await invoke(bus, 'ldg:msg:list', { taskId });

  return rows.map((row: Message) => ({
    id: row.id,
    taskId: row.taskId,
    role: row.role as MessageRole,
    content: row.content,
    timestamp: row.timestamp
  }));
};

const queryTasks = async (
  completionStatus: string,
  limit: number,
  offset: number,
  bus: AgentBus
): Promise<{ tasks: Task[]; total: number }> => invoke(bus, 'ldg:task:query', { completionStatus, limit, offset });

// --- lines 492-530 ---

const processStreamingMessage = async (
  taskId: string,
  stream: AsyncGenerator<string>,
  bus: AgentBus
): Promise<Message> => {
  let content = '';
  let lastChunkTime = Date.now();

  for await (const chunk of stream) {
    const data = JSON.parse(chunk);

    if (data.content) {
      content += data.content;
      emitToUser({ type: 'content', content: data.content });
    }

    lastChunkTime = Date.now();
  }

  const message: Message = {
    id: generateId(),
    taskId,
    role: 'assistant',
    content,
    timestamp: lastChunkTime
  };

  await bus.invoke('ldg:msg:save')(
    JSON.stringify({ message })
  );

  return message;
};

// --- lines 610-653 ---

// Adapted: over HTTP the statements of the transaction are requests, one after the other. In C, cardbox_save_ledger()
// writes a task with its messages in one transaction. `|| null` is the document's.
const saveTaskWithMessages = async (
  task: Task,
  messages: Message[],
  bus: AgentBus
): Promise<void> => {
  await invoke(bus, 'ldg:task:save', {
    task: {
      id: task.id,
      parentTaskId: task.parentTaskId || null,
      completionStatus: task.completionStatus || null,
      systemPrompt: task.systemPrompt,
      createdAt: task.createdAt,
      updatedAt: task.updatedAt
    }
  });

  for (const msg of messages) {
    await invoke(bus, 'ldg:msg:save', { message: msg });
  }
};

// --- lines 800-849, as written but for the line that is marked ---

test('ldg:task:save creates new task', async () => {
  const db = await initializeTestDB();
  const ledger = createLedger(db, bus);

  const task: Task = {
    id: 'task-test',
    parentTaskId: undefined,
    completionStatus: undefined,
    systemPrompt: 'Test prompt',
    createdAt: Date.now(),
    updatedAt: Date.now()
  };

  const result = await bus.invoke('ldg:task:save')(
    JSON.stringify({ task })
  );

  expect(JSON.parse(result).success).toBe(true);

  // Verify persisted
  const getResult = await bus.invoke('ldg:task:get')(
    JSON.stringify({ taskId: task.id })
  );

  expect(JSON.parse(getResult).task).toBeDefined();
  hasType(JSON.parse(getResult).task, TASK); // Added: a task of null would also be defined.
});

test('ldg:msg:save is immutable', async () => {
  const db = await initializeTestDB();
  const ledger = createLedger(db, bus);
  await createTask('task-test', bus); // Added: a message needs its task, by the document's own foreign key.

  const message: Message = {
    id: 'msg-test',
    taskId: 'task-test',
    role: 'user',
    content: 'Test message',
    timestamp: Date.now()
  };

  // Save once
  await bus.invoke('ldg:msg:save')(JSON.stringify({ message }));

  // Try to "update" (should insert new or fail)
  message.content = 'Modified content';

  await expect(
    bus.invoke('ldg:msg:save')(JSON.stringify({ message }))
  ).rejects.toThrow();
  assert.equal((await getMessages('task-test', bus))[0].content, 'Test message'); // Added.
});

// --- lines 852-887, as written ---

test('Full task lifecycle persistence', async () => {
  const db = await initializeTestDB();
  const ledger = createLedger(db, bus);

  // Create task
  const taskId = 'task-lifecycle';
  await createTask(taskId, bus);

  // Add messages
  await saveMessage(taskId, 'user', 'Hello', bus);
  await saveMessage(taskId, 'assistant', 'Hi there', bus);

  // Create call
  const callId = 'call-test';
  await createCall(callId, taskId, bus);

  // Update call status
  await updateCall(callId, 'completed', bus);

  // Complete task
  await completeTask(taskId, bus);

  // Verify all persisted
  const task = await getTask(taskId, bus);
  expect(task.completionStatus).toBe('success');

  const messages = await getMessages(taskId, bus);
  expect(messages.length).toBe(2);

  const calls = await getCalls(taskId, bus);
  expect(calls[0].status).toBe('completed');

  hasType(task, TASK); // Added, with the next two lines.
  messages.forEach(message => hasType(message, MESSAGE));
  calls.forEach(call => hasType(call, CALL));
});

// --- lines 345-354 ---

test('Query active tasks', async () => {
  createLedger(await initializeTestDB(), bus);
  await createTask('active', bus);
  await createTask('done', bus);
  await completeTask('done', bus);

  // Query active tasks
  const result = await bus.invoke('ldg:task:query')(JSON.stringify({
    completionStatus: 'null',
    limit: 10
  }));

  const { tasks, total } = JSON.parse(result);
  assert.deepEqual([tasks.map((task: Task) => task.id), total], [['active'], 1]);
  hasType(tasks[0], TASK);
});

// --- the functions above ---

test('processStreamingMessage saves the whole message once', async () => {
  createLedger(await initializeTestDB(), bus);
  await createTask('task-stream', bus);
  async function* stream(): AsyncGenerator<string> {
    for (const content of ['There ', '', 'are ', 'seven.']) {
      yield JSON.stringify({ content });
      assert.deepEqual(await getMessages('task-stream', bus), []);
    }
  }

  const message = await processStreamingMessage('task-stream', stream(), bus);

  assert.equal(message.content, 'There are seven.');
  assert.equal(emitted.length, 3);
  assert.deepEqual(await getTaskMessages('task-stream', bus), [message]);
});

test('saveTaskWithMessages', async () => {
  createLedger(await initializeTestDB(), bus);
  const now = Date.now();
  const task: Task = { id: 'task-2', systemPrompt: 'You count birds.', createdAt: now, updatedAt: now };
  const messages: Message[] = ['a', 'b'].map((id, n) => ({ id, taskId: 'task-2', role: 'user', content: id, timestamp: now + n }));

  await saveTaskWithMessages(task, messages, bus);

  const { id, parentTaskId, completionStatus, systemPrompt, createdAt, updatedAt } = await getTask('task-2', bus);
  assert.deepEqual({ id, systemPrompt, createdAt, updatedAt }, task);
  assert.deepEqual([parentTaskId, completionStatus], [undefined, undefined]);
  assert.deepEqual(await getTaskMessages('task-2', bus), messages);
});

test('queryTasks by status, newest first', async () => {
  createLedger(await initializeTestDB(), bus);
  for (const id of ['task-1', 'task-2', 'task-3']) {
    await createTask(id, bus);
    await new Promise(resolve => setTimeout(resolve, 2)); // Each has another createdAt.
  }
  await updateTaskStatus('task-2', 'success', bus);

  const ids = ({ tasks }: { tasks: Task[] }): string[] => tasks.map(task => task.id);
  assert.deepEqual(ids(await queryTasks('null', 10, 0, bus)), ['task-3', 'task-1']);
  assert.deepEqual(ids(await queryTasks('success', 10, 0, bus)), ['task-2']);
  const second = await queryTasks('null', 1, 1, bus);
  assert.deepEqual([ids(second), second.total], [['task-1'], 2]);
});
