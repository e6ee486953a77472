// types.ts: the types of the ledger's and the sessions' document, typed in.

export type Task = {
  id: string;
  parentTaskId?: string;
  completionStatus?: string;
  systemPrompt: string;
  createdAt: number;
  updatedAt: number;
};

export type Call = {
  id: string;
  taskId: string;
  abilityName: string;
  parameters: string;
  status: CallStatus;
  details: string;
  createdAt: number;
  updatedAt: number;
  startMessageId: string;
  endMessageId?: string;
};

export type CallStatus = 'pending' | 'in_progress' | 'completed' | 'failed';

// The ledger's Message. The session document has another one, here ContextMessage.
export type Message = {
  id: string;
  taskId: string;
  role: MessageRole;
  content: string;
  timestamp: number;
};

export type MessageRole = 'system' | 'user' | 'assistant';

// Adapted: the session document passes whole entries where a SessionEntry is expected, which TypeScript refuses of the
// basic interface. So the basic interface is EntryBase here, and SessionEntry is one of its kinds.
interface EntryBase {
  id: string;
  parentId?: string;
  timestamp: number;
  type: EntryType;
}

export type EntryType = 'user' | 'assistant' | 'tool' | 'tool_result' | 'system' | 'metadata';

export interface UserEntry extends EntryBase {
  type: 'user';
  content: string;
  metadata?: {
    source?: string;
    userId?: string;
  };
}

export interface AssistantEntry extends EntryBase {
  type: 'assistant';
  content: string;
  toolCalls?: ToolCall[];
  thinking?: string;
}

export interface ToolCall {
  id: string;
  name: string;
  params: any;
}

export interface ToolEntry extends EntryBase {
  type: 'tool';
  name: string;
  params: any;
  toolCallId: string;
}

export interface ToolResultEntry extends EntryBase {
  type: 'tool_result';
  toolCallId: string;
  output: string;
  details?: any;
  success: boolean;
}

// The document gives these two types no members of their own.
export interface OtherEntry extends EntryBase {
  type: 'system' | 'metadata';
}

export type SessionEntry = UserEntry | AssistantEntry | ToolEntry | ToolResultEntry | OtherEntry;

export interface Context {
  messages: ContextMessage[];
  metadata?: {
    sessionId: string;
    provider: string;
    model: string;
    startTime: number;
  };
}

export interface ContextMessage {
  role: 'user' | 'assistant' | 'tool';
  content: string;
  toolCalls?: ToolCall[];
  toolCallId?: string;
}
