// written.ts: the classes of the session document, typed in as they are. They read and write files, and know no server.
// The tests compare their results with those of the HTTP API. Each change of the document's code has a comment.

import * as fs from 'node:fs';
import * as path from 'node:path';
import * as readline from 'node:readline';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import type {
  AssistantEntry, Context, ContextMessage, SessionEntry, ToolCall, ToolEntry, ToolResultEntry, UserEntry,
} from './types';

// The document uses these three names without defining them.
export const SESSION_DIR = fs.mkdtempSync(path.join(tmpdir(), 'cardbox-documents-'));
const generateId = (): string => randomUUID();
export function loadSession(sessionPath: string): SessionEntry[] {
  const entries: SessionEntry[] = [];
  const lines = fs.readFileSync(sessionPath, 'utf-8').split('\n');
  for (const line of lines) {
    if (line.trim()) {
      const entry = JSON.parse(line);
      entries.push(entry);
    }
  }
  return entries;
}

export class SessionWriter {
  private filePath: string;
  writeStream: fs.WriteStream; // Not private: the tests wait for its end.

  constructor(sessionId: string) {
    this.filePath = path.join(SESSION_DIR, `${sessionId}.jsonl`);
    this.writeStream = fs.createWriteStream(this.filePath, { flags: 'a' });
  }

  append(entry: SessionEntry): void {
    const line = JSON.stringify(entry) + '\n';
    this.writeStream.write(line);
  }

  appendUser(content: string, parentId?: string): string {
    const entry: UserEntry = {
      id: generateId(),
      parentId,
      type: 'user',
      content,
      timestamp: Date.now()
    };
    this.append(entry);
    return entry.id;
  }

  appendAssistant(
    content: string,
    parentId: string,
    toolCalls?: ToolCall[]
  ): string {
    const entry: AssistantEntry = {
      id: generateId(),
      parentId,
      type: 'assistant',
      content,
      toolCalls,
      timestamp: Date.now()
    };
    this.append(entry);
    return entry.id;
  }

  appendTool(
    name: string,
    params: any,
    toolCallId: string,
    parentId: string
  ): string {
    const entry: ToolEntry = {
      id: generateId(),
      parentId,
      type: 'tool',
      name,
      params,
      toolCallId,
      timestamp: Date.now()
    };
    this.append(entry);
    return entry.id;
  }

  appendToolResult(
    toolCallId: string,
    output: string,
    details: any,
    success: boolean,
    parentId: string
  ): string {
    const entry: ToolResultEntry = {
      id: generateId(),
      parentId,
      type: 'tool_result',
      toolCallId,
      output,
      details,
      success,
      timestamp: Date.now()
    };
    this.append(entry);
    return entry.id;
  }

  close(): void {
    this.writeStream.end();
  }
}

// The document gives this second SessionWriter only the members that differ.
export class BatchedSessionWriter extends SessionWriter {
  private buffer: SessionEntry[] = [];
  private bufferSize = 10;

  append(entry: SessionEntry): void {
    this.buffer.push(entry);

    if (this.buffer.length >= this.bufferSize) {
      this.flush();
    }
  }

  flush(): void {
    if (this.buffer.length === 0) return;

    const lines = this.buffer.map(e => JSON.stringify(e) + '\n').join('');
    this.writeStream.write(lines);
    this.buffer = [];
  }

  close(): void {
    this.flush();
    this.writeStream.end();
  }
}

export class SessionBranch {
  private entries: Map<string, SessionEntry>;
  private children: Map<string, string[]>;

  constructor(entries: SessionEntry[]) {
    this.entries = new Map();
    this.children = new Map();

    for (const entry of entries) {
      this.entries.set(entry.id, entry);

      if (entry.parentId) {
        if (!this.children.has(entry.parentId)) {
          this.children.set(entry.parentId, []);
        }
        this.children.get(entry.parentId)!.push(entry.id);
      }
    }
  }

  getChildren(entryId: string): SessionEntry[] {
    const childIds = this.children.get(entryId) || [];
    return childIds.map(id => this.entries.get(id)!);
  }

  getPath(entryId: string): SessionEntry[] {
    const path: SessionEntry[] = [];
    let currentId: string | undefined = entryId;

    while (currentId) {
      const entry: SessionEntry | undefined = this.entries.get(currentId); // The type is ours: TypeScript asks for it.
      if (!entry) break;

      path.unshift(entry);
      currentId = entry.parentId;
    }

    return path;
  }

  getBranchPoints(): SessionEntry[] {
    const branchPoints: SessionEntry[] = [];

    for (const [parentId, childIds] of this.children.entries()) {
      if (childIds.length > 1) {
        const entry = this.entries.get(parentId);
        if (entry) {
          branchPoints.push(entry);
        }
      }
    }

    return branchPoints;
  }

  getLeaves(): SessionEntry[] {
    const leaves: SessionEntry[] = [];

    for (const entry of this.entries.values()) {
      const childIds = this.children.get(entry.id) || [];
      if (childIds.length === 0) {
        leaves.push(entry);
      }
    }

    return leaves;
  }

  createBranch(fromEntryId: string, newEntry: SessionEntry): void {
    newEntry.parentId = fromEntryId;
    this.entries.set(newEntry.id, newEntry);

    if (!this.children.has(fromEntryId)) {
      this.children.set(fromEntryId, []);
    }
    this.children.get(fromEntryId)!.push(newEntry.id);
  }
}

export function buildContext(
  sessionPath: string,
  branchLeafId?: string
): Context {
  const entries = loadSession(sessionPath);
  const branch = new SessionBranch(entries);

  const leafId = branchLeafId || branch.getLeaves()[0].id;

  // Renamed: the document calls this one `path` too, so that its path.basename() below fails.
  const entriesOfPath = branch.getPath(leafId);

  const messages: ContextMessage[] = [];

  for (const entry of entriesOfPath) {
    if (entry.type === 'user') {
      messages.push({
        role: 'user',
        content: entry.content
      });
    } else if (entry.type === 'assistant') {
      messages.push({
        role: 'assistant',
        content: entry.content,
        toolCalls: entry.toolCalls
      });
    } else if (entry.type === 'tool_result') {
      messages.push({
        role: 'tool',
        content: entry.output,
        toolCallId: entry.toolCallId
      });
    }
  }

  return {
    messages,
    metadata: {
      sessionId: path.basename(sessionPath, '.jsonl'),
      provider: 'anthropic',
      model: 'claude-opus-4',
      startTime: entriesOfPath[0].timestamp
    }
  };
}

export class SessionIndex {
  private index: Map<string, number>;

  constructor(sessionPath: string) {
    this.index = new Map();
    this.buildIndex(sessionPath);
  }

  private buildIndex(sessionPath: string): void {
    const lines = fs.readFileSync(sessionPath, 'utf-8').split('\n');
    lines.forEach((line, index) => {
      if (line.trim()) {
        const entry = JSON.parse(line);
        this.index.set(entry.id, index);
      }
    });
  }

  getLineNumber(entryId: string): number | undefined {
    return this.index.get(entryId);
  }
}

// The document opens a file here. The parameter is the opened stream, so that the stream can be an answer of the server.
export async function* streamSession(stream: NodeJS.ReadableStream): AsyncGenerator<SessionEntry> {
  const rl = readline.createInterface({ input: stream });

  for await (const line of rl) {
    if (line.trim()) {
      yield JSON.parse(line);
    }
  }
}
