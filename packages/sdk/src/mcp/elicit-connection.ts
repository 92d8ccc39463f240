import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';

/** A connect session, as `POST /v1/vault/connect-sessions` answers it. */
export interface ConnectSession {
  readonly id: string;
  readonly connectUrl: string;
  readonly service: string;
  readonly principalId: string;
}

interface Sealed {
  /** 32 bytes, the same at every instance of the server. */
  readonly key: Uint8Array;
  /** The call that waits for the account. */
  readonly call: ToolCall;
  /** The present time. */
  readonly now?: Date;
}

export interface ElicitationOptions extends Sealed {
  /** The revision of MCP that the client named. */
  readonly revision: string;
  /** The reason that the client shows to the person. */
  readonly message?: string;
}

export interface UrlRequest {
  readonly mode: 'url';
  readonly url: string;
  readonly message: string;
}

/** How a server asks, in the words of the client's revision. */
export type ElicitedConnection =
  | {
      /** From 2026-07-28 on, the result of the call. The client repeats the call with `requestState` in its parameters. */
      readonly result: {
        readonly resultType: 'input_required';
        readonly inputRequests: Readonly<
          Record<string, { readonly method: 'elicitation/create'; readonly params: UrlRequest }>
        >;
        readonly requestState: string;
      };
      readonly error?: undefined;
    }
  | {
      readonly result?: undefined;
      /** Before 2026-07-28, the error of the call: `new UrlElicitationRequiredError(error.data.elicitations)` of the SDK. */
      readonly error: {
        readonly code: -32042;
        readonly message: string;
        readonly data: { readonly elicitations: readonly [UrlRequest & { readonly elicitationId: string }] };
      };
      /** To be sent when the account is connected, which the event or the session tells. */
      readonly completed: {
        readonly method: 'notifications/elicitation/complete';
        readonly params: { readonly elicitationId: string };
      };
    };

const FIRST_STATELESS = '2026-07-28';
const LASTS_MS = 600_000;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Asks the client to send its person to the page where they connect an account (MCP, elicitation in URL mode). The link
 * names no person: the page asks for a proof, whoever opens it.
 *
 * @example
 * ```ts
 * const asked = elicitConnection(session, { revision, key, call });
 * if (asked.result) return asked.result;
 * throw new UrlElicitationRequiredError([...asked.error.data.elicitations]);
 * ```
 */
export function elicitConnection(
  { id, connectUrl, service, principalId }: ConnectSession,
  { revision, key, call, now = new Date(), message }: ElicitationOptions,
): ElicitedConnection {
  const request = {
    mode: 'url',
    url: connectUrl,
    message: message ?? `Connect your account at ${service} to go on.`,
  } as const;
  if (revision >= FIRST_STATELESS) {
    const endsAt = now.getTime() + LASTS_MS;
    const requestState = seal(key, { principalId, id, digest: digestOf(call), endsAt });
    const inputRequests = { [id]: { method: 'elicitation/create', params: request } } as const;
    return { result: { resultType: 'input_required', inputRequests, requestState } };
  }
  const elicitations = [{ ...request, elicitationId: id }] as const;
  return {
    error: { code: -32042, message: request.message, data: { elicitations } },
    completed: { method: 'notifications/elicitation/complete', params: { elicitationId: id } },
  };
}

/**
 * Reads the state that a client sends back with a repeated call.
 * @returns the id of the connect session, or undefined for a state of another principal, call or server, and after ten
 * minutes
 */
export function connectSessionIn(
  requestState: unknown,
  { key, call, principalId, now = new Date() }: Sealed & { readonly principalId: string },
): string | undefined {
  const state = typeof requestState === 'string' ? open(key, requestState) : undefined;
  if (state === undefined || now.getTime() >= state.endsAt) return undefined;
  const isOwn = state.principalId === principalId && state.digest === digestOf(call);
  return isOwn ? state.id : undefined;
}

interface State {
  readonly principalId: string;
  readonly id: string;
  readonly digest: string;
  readonly endsAt: number;
}

const digestOf = ({ name, arguments: args }: ToolCall): string =>
  createHash('sha256')
    .update(canonicalJson({ name, arguments: args }))
    .digest('base64url');

function seal(key: Uint8Array, state: State): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(state)), cipher.final()]);
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url');
}

function open(key: Uint8Array, text: string): State | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  }).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return JSON.parse(Buffer.concat([opened, decipher.final()]).toString());
  } catch {
    return undefined; // another key sealed it, or somebody changed it
  }
}

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
