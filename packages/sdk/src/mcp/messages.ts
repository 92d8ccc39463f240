/** A message of JSON-RPC, as far as the middleware reads it. */
export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

/** What a transport hands over with a message. */
export interface MessageExtra {
  readonly authInfo?: { readonly token?: unknown; readonly extra?: unknown };
}

/** A transport of the official SDK, as far as the middleware uses it. */
export interface Transport {
  start(): Promise<void>;
  close(): Promise<void>;
  send(message: unknown, options?: unknown): Promise<void>;
  onmessage?: Hearing['hears'] | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/**
 * The types of messages differ from revision to revision of the official SDK, and the middleware reads what it needs
 * itself. The compiler compares the parameters of a method in both directions, so `unknown` stands for each of them.
 */
interface Hearing {
  hears(message: unknown, extra?: unknown): void;
}

/** A tool as the server defines it. */
export interface ToolDefinition {
  readonly name: string;
  readonly inputSchema?: object;
}

/** The parameters of `tools/call`. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: unknown;
}

/** Reads a request for a tool. `arguments` that are absent are `{}` (the MCP specification, tools). */
export function toolCallOf({ method, params }: Message): ToolCall | undefined {
  if (method !== 'tools/call') return undefined;
  const { name, arguments: args = {} } = params ?? {};
  return { name: typeof name === 'string' ? name : '', arguments: args };
}

export const isRequest = ({ method, id }: Message) => method !== undefined && id !== undefined;
