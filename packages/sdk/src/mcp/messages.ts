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
  readonly authInfo?: { readonly token?: unknown };
}

/** A transport of the official SDK, as far as the middleware uses it. */
export interface Transport {
  start(): Promise<void>;
  close(): Promise<void>;
  // The types of the official SDK differ from revision to revision; the middleware reads what it needs itself.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  send(message: any, options?: any): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/** A tool as the server defines it. */
export interface ToolDefinition {
  readonly name: string;
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
