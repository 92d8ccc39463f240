import { type ToolLevel, toolLevels } from '@behest/protocol/tool-scopes';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';
import { VERSION } from '../version.ts';
import type { Definition } from './definitions.ts';
import { type Connection, connectToCommand, type Message } from './mcp-command.ts';

/** A tool with the permission that it seems to need. */
export interface Guess {
  readonly name: string;
  readonly permission: ToolLevel;
  readonly because: string;
  readonly isUnsure: boolean;
}

/** The hints of a server about its tool, besides the name. */
interface Hints {
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
  /** The HTTP method behind the tool. */
  readonly method?: string | undefined;
}

const VERBS: Readonly<Record<'read' | 'write' | 'delete', readonly string[]>> = {
  read: 'check count describe download fetch find get inspect list lookup preview query read retrieve search show status view watch'.split(
    ' ',
  ),
  write:
    'add append approve assign book cancel close comment copy create edit enable insert invite issue label make merge move open pay post publish put rename reply save schedule send set share start submit subscribe sync transfer update upload upsert write'.split(
      ' ',
    ),
  delete:
    'archive clear delete destroy disable drop erase purge remove reset revoke terminate trash truncate uninstall unlink wipe'.split(
      ' ',
    ),
};

/** Guesses the permission of a tool. A name that fits several verbs gets the higher permission, and nothing is `admin`. */
export function guessOf(name: string, { readOnly, destructive, method }: Hints = {}): Guess {
  const sure = (permission: ToolLevel, because: string): Guess => ({
    name,
    permission,
    because,
    isUnsure: false,
  });
  const byName = levelOfName(name);
  if (method !== undefined) {
    if (method === 'GET' || method === 'HEAD') return sure('read', `it is a ${method}`);
    return method === 'DELETE' ? sure('delete', 'it is a DELETE') : sure('write', `it is a ${method}`);
  }
  if (destructive === true) return sure('delete', 'the server says that it destroys');
  if (readOnly === true) {
    // A hint is a claim of the server: a name that says more is believed rather.
    if (byName && byName.level !== 'read')
      return {
        ...sure(byName.level, `the server says read-only, and "${byName.verb}" says more`),
        isUnsure: true,
      };
    return sure('read', 'the server says that it only reads');
  }
  if (byName) return sure(byName.level, `its name has "${byName.verb}"`);
  return { name, permission: 'delete', because: 'its name says nothing', isUnsure: true };
}

function levelOfName(name: string): { level: ToolLevel; verb: string } | undefined {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  for (const level of toolLevels.toReversed()) {
    if (level === 'admin') continue;
    const verb = VERBS[level].find((each) => words.includes(each));
    if (verb !== undefined) return { level, verb };
  }
  return undefined;
}

const PROTOCOL = '2025-06-18';
const [MAX_PAGES, MAX_TOOLS] = [50, 1_000]; // more is an error, and not a part of the list

interface ServerTool {
  readonly name: string;
  readonly hints: Hints;
  /** The tool as the server offers it. */
  readonly definition: Definition;
}

interface ServerTools {
  readonly name: string;
  readonly tools: readonly ServerTool[];
}

/**
 * Asks an MCP server for its tools.
 *
 * @param source its address, or the command that starts it
 * @throws CliError when there is no list
 */
export async function toolsOfServer(context: Context, source: string): Promise<ServerTools> {
  const connection = isAddress(source) ? connectTo(context, source) : connectToCommand(context, source);
  const ask = async (method: string, params: object, id?: number): Promise<Message> => {
    const answer = await connection.ask({ jsonrpc: '2.0', method, params, ...(id !== undefined && { id }) });
    if (id === undefined) return {};
    if (isRecord(answer?.result)) return answer.result;
    throw noTools(`${source} answered without a result.`);
  };
  try {
    const hello = await ask(
      'initialize',
      { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'behest', version: VERSION } },
      1,
    );
    await ask('notifications/initialized', {});
    const tools: unknown[] = [];
    let cursor: unknown;
    for (let id = 2; id === 2 || typeof cursor === 'string'; id += 1) {
      if (id > MAX_PAGES + 1 || tools.length > MAX_TOOLS) throw noTools(`${source} has too many tools.`);
      const page = await ask('tools/list', typeof cursor === 'string' ? { cursor } : {}, id);
      tools.push(...[page.tools ?? []].flat());
      cursor = page.nextCursor;
    }
    return {
      name: String(Object(hello.serverInfo).name ?? 'mcp').replaceAll(/[^A-Za-z0-9_.-]/g, '_'),
      tools: tools.map(toolOf),
    };
  } finally {
    await connection.close();
  }
}

export const isAddress = (source: string) => /^https?:/.test(source);

/** @see https://modelcontextprotocol.io/specification/2025-06-18/basic/transports */
function connectTo(context: Context, address: string): Connection {
  let session: string | undefined;
  return {
    async ask(message) {
      const answer = await context.exchange.fetchWith(undefined)(address, {
        ...{
          method: 'POST',
          redirect: 'error' as const,
          signal: AbortSignal.timeout(context.globals.timeout ?? 30_000),
        },
        headers: {
          ...{
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            'mcp-protocol-version': PROTOCOL,
          },
          ...(session !== undefined && { 'mcp-session-id': session }),
        },
        body: JSON.stringify(message),
      });
      session = answer.headers.get('mcp-session-id') ?? session;
      return message.id === undefined
        ? undefined
        : answerIn(address, answer, await answer.text(), message.id);
    },
    close: async () => {},
  };
}

function toolOf(tool: unknown): ServerTool {
  const { name, annotations } = Object(tool);
  const { readOnlyHint, destructiveHint } = Object(annotations);
  const hints = { readOnly: readOnlyHint, destructive: destructiveHint };
  return { name: String(name), hints, definition: isRecord(tool) ? tool : {} };
}

/** The answer to a call, which the server may send as JSON or as the one event of a stream. */
function answerIn(address: string, { status, headers }: Response, text: string, id: unknown): Message {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const parts = isStream
    ? text
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5))
    : [text];
  for (const part of parts) {
    const message: unknown = parsed(part);
    if (isRecord(message) && message.id === id && isRecord(message.result)) return message;
  }
  throw noTools(`${address} answered ${status}, and no list of tools.`);
}

const noTools = (message: string) =>
  new CliError('NO_TOOLS', message, { exitCode: EXIT.unavailable, next: 'behest manifest infer --help' });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller says that there is no answer
  }
}
