// sessions.ts: the example code of the sessions' document, typed in, run over the HTTP API. A comment names the lines of
// the document. `await` is added to calls of the shim. The classes of the document, which `written` has unchanged, must give
// the same results for the file that the server exports.

import { after, test } from 'node:test';
import * as assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { finished } from 'node:stream/promises';
import * as path from 'node:path';
import {
  SessionBranch, SessionWriter, buildContext, createReadStream, getLineNumber, importFile, useProject,
} from './shim';
import type { Context, ContextMessage, SessionEntry } from './types';
import * as written from './written';

// Lines 428-435, the sample of a session with two branches.
const SAMPLE = `{"id":"msg-1","type":"user","content":"创建文件"}
{"id":"msg-2","parentId":"msg-1","type":"assistant","content":"文件已创建"}
{"id":"msg-3","parentId":"msg-2","type":"user","content":"修改文件"}
{"id":"msg-4","parentId":"msg-3","type":"assistant","content":"文件已修改"}
{"id":"msg-5","parentId":"msg-2","type":"user","content":"改用 TypeScript"}
{"id":"msg-6","parentId":"msg-5","type":"assistant","content":"TypeScript 文件已创建"}
`;

// --- helpers of the tests ---

let projects = 0;
async function newProject(file?: string): Promise<void> {
  useProject(`sessions-${++projects}`);
  if (file) await importFile('session-123.jsonl', file);
}

async function exported(file: string): Promise<string> {
  let text = '';
  for await (const chunk of await createReadStream(file)) text += chunk;
  return text;
}

// Saves the export of a session where the document's classes read it.
async function download(file: string): Promise<string> {
  const name = path.join(written.SESSION_DIR, path.basename(file));
  fs.writeFileSync(name, await exported(file));
  return name;
}

const asJson = (value: unknown): any => JSON.parse(JSON.stringify(value)); // Without members that are undefined.
const ids = (entries: SessionEntry[]): string[] => entries.map(e => e.id);

function isContext(context: Context): void {
  const { sessionId, provider, model, startTime } = context.metadata!;
  assert.deepEqual([sessionId, provider, model, startTime].map(value => typeof value), ['string', 'string', 'string', 'number']);
  assert.deepEqual(Object.keys(context.metadata!).sort(), ['model', 'provider', 'sessionId', 'startTime']);
  for (const message of context.messages) {
    assert.ok(['user', 'assistant', 'tool'].includes(message.role), message.role);
    assert.equal(typeof message.content, 'string');
    for (const name of Object.keys(message)) assert.ok(['role', 'content', 'toolCalls', 'toolCallId'].includes(name), name);
  }
}

// Whether the server and the document's classes agree about a session, at each of its entries.
async function agree(file: string): Promise<void> {
  const name = await download(file);
  const entries = written.loadSession(name);
  const [ours, theirs] = [new SessionBranch(file), new written.SessionBranch(entries)];
  const index = new written.SessionIndex(name);
  for (const { id } of entries) {
    assert.deepEqual(await ours.getChildren(id), theirs.getChildren(id), id);
    assert.deepEqual(await ours.getPath(id), theirs.getPath(id), id);
    assert.equal(await getLineNumber(file, id), index.getLineNumber(id), id);
  }
  assert.deepEqual(ids(await ours.getLeaves()), ids(theirs.getLeaves()));
  assert.deepEqual(ids(await ours.getBranchPoints()), ids(theirs.getBranchPoints()));
}

// --- lines 370-402, and what lines 287-357 say about the entries ---

test('SessionWriter', async () => {
  await newProject();
  const before = Date.now();

  const writer = new SessionWriter('session-123');

  const userId = await writer.appendUser('创建 hello.ts');

  const assistantId = await writer.appendAssistant(
    '我来创建文件',
    userId,
    [{ id: 'call-1', name: 'write', params: { path: 'hello.ts' } }]
  );

  const toolId = await writer.appendTool(
    'write',
    { path: 'hello.ts', content: "console.log('hello')" },
    'call-1',
    assistantId
  );

  const resultId = await writer.appendToolResult(
    'call-1',
    'File written: hello.ts',
    { path: 'hello.ts', bytes: 23 },
    true,
    toolId
  );
  // No writer.close(): each append is a request, so nothing is buffered.

  const entries = written.loadSession(await download('session-123.jsonl'));
  assert.deepEqual(ids(entries), [userId, assistantId, toolId, resultId]);
  for (const { timestamp } of entries) {
    assert.equal(typeof timestamp, 'number');
    assert.ok(timestamp >= before && timestamp <= Date.now(), `${timestamp}`);
  }
  assert.deepEqual(entries.map(({ id, timestamp, ...entry }) => entry), [
    { type: 'user', content: '创建 hello.ts' },
    { parentId: userId, type: 'assistant', content: '我来创建文件', toolCalls: [{ id: 'call-1', name: 'write', params: { path: 'hello.ts' } }] },
    { parentId: assistantId, type: 'tool', name: 'write', params: { path: 'hello.ts', content: "console.log('hello')" }, toolCallId: 'call-1' },
    { parentId: toolId, type: 'tool_result', toolCallId: 'call-1', output: 'File written: hello.ts', details: { path: 'hello.ts', bytes: 23 }, success: true },
  ]);
  await agree('session-123.jsonl');
});

// --- lines 540-569 ---

test('SessionBranch', async () => {
  await newProject(SAMPLE);

  // Adapted: the server has the entries, so they are not loaded.
  const branch = new SessionBranch('session-123.jsonl');

  const branchPoints = await branch.getBranchPoints();
  assert.deepEqual(branchPoints.map(e => e.id), ['msg-2']);

  const children = await branch.getChildren('msg-2');
  assert.deepEqual(children.map(e => e.id), ['msg-3', 'msg-5']);

  const path = await branch.getPath('msg-4');
  assert.deepEqual(path.map(e => e.id), ['msg-1', 'msg-2', 'msg-3', 'msg-4']);

  await branch.createBranch('msg-2', {
    id: 'msg-7',
    type: 'user',
    content: '删除文件',
    timestamp: Date.now()
  });

  assert.deepEqual(ids(await branch.getChildren('msg-2')), ['msg-3', 'msg-5', 'msg-7']);
  assert.deepEqual(ids(await branch.getLeaves()), ['msg-4', 'msg-6', 'msg-7']);
  await agree('session-123.jsonl');
});

test('trees of any shape', async () => {
  let seed = 18;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  for (let tree = 0; tree < 6; tree++) {
    await newProject();
    const entries = Array.from({ length: 40 }, (_, n) => ({
      id: `e${n}`, type: 'user', content: `${n}`, timestamp: n, ...(n && random(8) ? { parentId: `e${random(n)}` } : {}),
    }));
    await importFile('session-123.jsonl', entries.map(entry => JSON.stringify(entry) + '\n').join(''));
    await agree('session-123.jsonl');
  }
});

// --- scenario 1, lines 676-696 ---

test('scenario 1: a new session', async () => {
  await newProject();
  const sessionId = 'session-new';
  const writer = new SessionWriter(sessionId);

  const userId = await writer.appendUser('创建 hello.ts');

  const assistantId = await writer.appendAssistant(
    '我来创建文件',
    userId,
    [{ id: 'call-1', name: 'write', params: { path: 'hello.ts' } }]
  );

  const toolId = await writer.appendTool('write', { path: 'hello.ts' }, 'call-1', assistantId);
  await writer.appendToolResult('call-1', 'File created', { bytes: 23 }, true, toolId);

  const context = await buildContext(`~/.pi/sessions/${sessionId}.jsonl`);
  isContext(context);
  const name = await download(`${sessionId}.jsonl`);
  assert.deepEqual(context.messages, asJson(written.buildContext(name).messages));
  assert.equal(context.metadata!.sessionId, sessionId);
  assert.equal(context.metadata!.startTime, written.loadSession(name)[0].timestamp);
});

// --- scenario 2, lines 702-713 ---

test('scenario 2: going on with a session', async () => {
  class Agent {
    constructor(public options: { provider: string; context: ContextMessage[] }) {}
  }
  const provider = 'anthropic';
  await newProject(SAMPLE);

  const context = await buildContext('~/.pi/sessions/session-123.jsonl');

  const agent = new Agent({
    provider,
    context: context.messages
  });

  // The default leaf is the last line. The document's code takes the first leaf, msg-4.
  const name = await download('session-123.jsonl');
  assert.deepEqual(agent.options.context, asJson(written.buildContext(name, 'msg-6').messages));

  // A new message is appended to the same session, behind the last line.
  await new SessionWriter('session-123').appendUser('谢谢', 'msg-6');
  const lines = (await exported('session-123.jsonl')).split('\n');
  assert.equal(lines.slice(0, 6).join('\n') + '\n', SAMPLE);
  assert.equal(JSON.parse(lines[6]).parentId, 'msg-6');
});

// --- scenario 3, lines 719-735 ---

test('scenario 3: a branch', async () => {
  await newProject(SAMPLE.split('\n').slice(0, 4).join('\n') + '\n');

  const writer = new SessionWriter('session-123');

  const branchUserId = await writer.appendUser('改用 TypeScript', 'msg-2');
  const branchAssistantId = await writer.appendAssistant(
    'TypeScript 文件已创建',
    branchUserId
  );

  const branch = new SessionBranch('session-123.jsonl');
  assert.deepEqual(ids(await branch.getLeaves()), ['msg-4', branchAssistantId]);
  assert.deepEqual(ids(await branch.getPath(branchAssistantId)), ['msg-1', 'msg-2', branchUserId, branchAssistantId]);
  await agree('session-123.jsonl');
});

// --- scenario 4, lines 742-748 ---

test('scenario 4: back in time', async () => {
  await newProject(SAMPLE);

  const context = await buildContext('session-123.jsonl', 'msg-2');

  assert.deepEqual(context.messages, [{ role: 'user', content: '创建文件' }, { role: 'assistant', content: '文件已创建' }]);
  for (const id of ids(written.loadSession(await download('session-123.jsonl')))) {
    const name = path.join(written.SESSION_DIR, 'session-123.jsonl');
    assert.deepEqual((await buildContext('session-123.jsonl', id)).messages, asJson(written.buildContext(name, id).messages), id);
  }
});

// --- lines 754-782 ---

test('batched writes', async () => {
  // The document's class. Adapted: what it writes to a file is one request with the entries.
  class BatchedSessionWriter {
    private buffer: SessionEntry[] = [];
    private bufferSize = 10;
    requests = 0;

    constructor(private writeStream: SessionWriter) {}

    async append(entry: SessionEntry): Promise<void> {
      this.buffer.push(entry);

      if (this.buffer.length >= this.bufferSize) {
        await this.flush();
      }
    }

    async flush(): Promise<void> {
      if (this.buffer.length === 0) return;

      await this.writeStream.append(...this.buffer);
      this.requests++;
      this.buffer = [];
    }

    async close(): Promise<void> {
      await this.flush();
    }
  }
  await newProject();
  const writer = new BatchedSessionWriter(new SessionWriter('session-123'));
  const entries = Array.from({ length: 25 }, (_, n): SessionEntry => ({
    id: `e${n}`, type: 'user', content: `${n}`, timestamp: n, ...(n ? { parentId: `e${n - 1}` } : {}),
  }));
  for (const entry of entries) await writer.append(entry);
  await writer.close();

  assert.equal(writer.requests, 3);
  assert.deepEqual(written.loadSession(await download('session-123.jsonl')), entries);
});

// --- lines 786-811 ---

test('line numbers of entries', async () => {
  // Empty lines count, as in the document's index.
  await newProject(SAMPLE.replaceAll('\n', '\n\n'));
  const index = new written.SessionIndex(await download('session-123.jsonl'));
  assert.equal(index.getLineNumber('msg-6'), 10);
  for (let n = 1; n <= 6; n++) assert.equal(await getLineNumber('session-123.jsonl', `msg-${n}`), index.getLineNumber(`msg-${n}`));
});

// --- lines 815-834 ---

test('streamed reading', async () => {
  await newProject(SAMPLE);

  const seen: string[] = [];
  for await (const entry of written.streamSession(await createReadStream('session-123.jsonl'))) {
    seen.push(entry.id);
  }
  assert.deepEqual(seen, ['msg-1', 'msg-2', 'msg-3', 'msg-4', 'msg-5', 'msg-6']);
});

// --- lines 22-25 ---

test('the first example is kept to the byte', async () => {
  const file = `{"id":"msg-1","type":"user","content":"创建 hello.ts"}
{"id":"msg-2","type":"assistant","content":"我来创建文件"}
{"id":"msg-3","type":"tool","name":"write","params":{"path":"hello.ts"}}
{"id":"msg-4","type":"tool_result","output":"File created"}
`;
  await newProject(file);
  assert.equal(await exported('session-123.jsonl'), file);
  await agree('session-123.jsonl');
});

// --- lines 271-364 and 757-781: files that the document's own writers made ---

for (const Writer of [written.SessionWriter, written.BatchedSessionWriter]) {
  test(`a file of the document's ${Writer.name}`, async () => {
    const writer = new Writer(Writer.name);
    const userId = writer.appendUser('创建 hello.ts');
    const assistantId = writer.appendAssistant('我来创建文件', userId, [{ id: 'call-1', name: 'write', params: {} }]);
    const toolId = writer.appendTool('write', {}, 'call-1', assistantId);
    const resultId = writer.appendToolResult('call-1', 'File written: hello.ts', { bytes: 23 }, true, toolId);
    writer.close();
    await finished(writer.writeStream);

    const name = path.join(written.SESSION_DIR, `${Writer.name}.jsonl`);
    const file = fs.readFileSync(name, 'utf-8');
    await newProject();
    await importFile(name, file);
    assert.equal(await exported(name), file);
    const context = await buildContext(name, resultId);
    isContext(context);
    assert.deepEqual(context.messages, asJson(written.buildContext(name).messages));

    // The server's writer goes on with the file, in the same form.
    await new SessionWriter(Writer.name).appendUser('谢谢', resultId);
    const last = written.loadSession(await download(name)).at(-1)!;
    assert.deepEqual([last.parentId, typeof last.timestamp], [resultId, 'number']);
    await agree(name);
  });
}

after(() => fs.rmSync(written.SESSION_DIR, { recursive: true }));
