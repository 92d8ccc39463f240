import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';
import { VERSION } from '../version.ts';
import type { Definition } from './definitions.ts';
import type { Hints } from './guess.ts';

const PROTOCOL = '2025-06-18';

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

/** Asks an MCP server for its tools. @see https://modelcontextprotocol.io/specification/2025-06-18/basic/transports */
export async function toolsOfServer(context: Context, address: string): Promise<ServerTools> {
  const session = { id: undefined as string | undefined };
  const ask = async (method: string, params: object, id?: number) => {
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
        ...(session.id !== undefined && { 'mcp-session-id': session.id }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', method, params, ...(id !== undefined && { id }) }),
    });
    session.id = answer.headers.get('mcp-session-id') ?? session.id;
    return id === undefined ? {} : resultIn(address, answer, await answer.text(), id);
  };
  const hello = await ask(
    'initialize',
    { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: 'behest', version: VERSION } },
    1,
  );
  await ask('notifications/initialized', {});
  const tools: unknown[] = [];
  let cursor: unknown;
  for (let id = 2; id === 2 || typeof cursor === 'string'; id += 1) {
    const page = await ask('tools/list', typeof cursor === 'string' ? { cursor } : {}, id);
    tools.push(...[page.tools ?? []].flat());
    cursor = page.nextCursor;
  }
  return {
    name: String(Object(hello.serverInfo).name ?? 'mcp').replaceAll(/[^A-Za-z0-9_.-]/g, '_'),
    tools: tools.map(toolOf),
  };
}

function toolOf(tool: unknown): ServerTool {
  const { name, annotations } = Object(tool);
  const { readOnlyHint, destructiveHint } = Object(annotations);
  const hints = { readOnly: readOnlyHint, destructive: destructiveHint };
  return { name: String(name), hints, definition: isRecord(tool) ? tool : {} };
}

/** The result of a call, which the server may send as JSON or as the one event of a stream. */
function resultIn(
  address: string,
  { status, headers }: Response,
  text: string,
  id: number,
): Readonly<Record<string, unknown>> {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const parts = isStream
    ? text
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5))
    : [text];
  for (const part of parts) {
    const message: unknown = parsed(part);
    if (isRecord(message) && message.id === id && isRecord(message.result)) return message.result;
  }
  throw new CliError('NO_TOOLS', `${address} answered ${status}, and no list of tools.`, {
    exitCode: EXIT.unavailable,
    next: 'behest manifest infer --help',
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller says that there is no answer
  }
}
