// shim.ts: the calls of the documents as requests of the HTTP API. The shim renames and awaits, and decides nothing.

import * as path from 'node:path';
import { Readable } from 'node:stream';
import type { Context, SessionEntry, ToolCall } from './types';

let project = '';
export const useProject = (name: string): void => void (project = name);

async function ask(method: string, place: string, body?: string, type = 'application/json'): Promise<Response> {
  const url = `${process.env.CARDBOX_URL}/projects/${project}${place}`;
  const answer = await fetch(url, { method, body, headers: { 'Content-Type': type } });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}
const read = async (place: string): Promise<any> => (await ask('GET', place)).json();
const session = (file: string): string => `/sessions/${path.basename(file, '.jsonl')}`;
const entriesOf = (nodes: { entry: SessionEntry }[]): SessionEntry[] => nodes.map(node => node.entry);
const appendTo = async (file: string, ...entries: object[]): Promise<string> =>
  ((await (await ask('POST', `${session(file)}/entries`, JSON.stringify({ entries }))).json()) as any).entries[0].entry_id;

export const bus = {
  invoke: (ability: string) => async (input: string): Promise<string> => (await ask('POST', `/abilities/${ability}`, input)).text(),
};

export class SessionWriter {
  private opened: Promise<unknown>;
  constructor(private sessionId: string) {
    this.opened = ask('PUT', session(sessionId), '{"dialect":"plain"}');
  }
  append = (...entries: object[]): Promise<string> => this.opened.then(() => appendTo(this.sessionId, ...entries));
  appendUser = (content: string, parentId?: string): Promise<string> => this.append({ parentId, type: 'user', content });
  appendAssistant = (content: string, parentId: string, toolCalls?: ToolCall[]): Promise<string> =>
    this.append({ parentId, type: 'assistant', content, toolCalls });
  appendTool = (name: string, params: any, toolCallId: string, parentId: string): Promise<string> =>
    this.append({ parentId, type: 'tool', name, params, toolCallId });
  appendToolResult = (toolCallId: string, output: string, details: any, success: boolean, parentId: string): Promise<string> =>
    this.append({ parentId, type: 'tool_result', toolCallId, output, details, success });
}

export class SessionBranch {
  constructor(private file: string) {}
  private read = (place: string): Promise<any> => read(`${session(this.file)}${place}?lines=100000`);
  getChildren = async (entryId: string): Promise<SessionEntry[]> => entriesOf((await this.read(`/entries/${entryId}/children`)).entries);
  getPath = async (entryId: string): Promise<SessionEntry[]> => entriesOf((await this.read(`/entries/${entryId}/path`)).path);
  getBranchPoints = async (): Promise<SessionEntry[]> => entriesOf((await this.read('/branch-points')).entries);
  getLeaves = async (): Promise<SessionEntry[]> => entriesOf((await this.read('/leaves')).entries);
  createBranch = (parentId: string, newEntry: SessionEntry): Promise<string> => appendTo(this.file, { ...newEntry, parentId });
}

export const getLineNumber = async (file: string, entryId: string): Promise<number> => (await read(`${session(file)}/entries/${entryId}`)).line;
export const buildContext = (file: string, leaf?: string): Promise<Context> =>
  read(`${session(file)}/context?format=messages${leaf ? `&branchLeafId=${leaf}` : ''}`);
export const createReadStream = async (file: string): Promise<Readable> =>
  Readable.fromWeb((await ask('GET', `${session(file)}/export`)).body as any);
export const importFile = (file: string, lines: string): Promise<Response> =>
  ask('POST', `${session(file)}/import`, lines, 'application/x-ndjson');
