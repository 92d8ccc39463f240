import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';

/** A message of JSON-RPC. */
export type Message = Readonly<Record<string, unknown>>;

/** A way to a server that runs. */
export interface Connection {
  /** Sends a message. @returns the answer to a request, and undefined for a notification */
  ask(message: Message): Promise<Message | undefined>;
  close(): Promise<void>;
}

const LONGEST_MS = 30_000; // for each answer; a server may be fetched first
const MAX_BYTES = 4 * 1_024 * 1_024;

/**
 * Starts an MCP server, and speaks with it over its standard input and output.
 *
 * @see https://modelcontextprotocol.io/specification/2025-06-18/basic/transports
 */
export function connectToCommand(context: Context, command: string): Connection {
  const child = spawn(command, {
    ...{ shell: true, cwd: context.io.folder, env: { ...context.io.env } },
    ...{ stdio: ['pipe', 'pipe', 'inherit'] as const, detached: process.platform !== 'win32' },
  });
  const waiting = new Map<unknown, (message: Message | undefined) => void>();
  const endAll = () => {
    for (const hear of waiting.values()) hear(undefined);
    waiting.clear();
  };
  child.once('error', endAll).once('close', endAll);
  child.stdin.on('error', endAll); // a server that has ended takes no more
  let bytes = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    bytes += Buffer.byteLength(line);
    if (bytes > MAX_BYTES) return end(child);
    const message = parsed(line);
    if (!isRecord(message)) return;
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });

  return {
    async ask(message) {
      if (child.exitCode !== null || child.signalCode !== null) throw noAnswer(command);
      if (message.id === undefined) {
        child.stdin.write(`${JSON.stringify(message)}\n`);
        return undefined;
      }
      const late = AbortSignal.timeout(context.globals.timeout ?? LONGEST_MS);
      const answer = await new Promise<Message | undefined>((hear) => {
        waiting.set(message.id, hear);
        late.addEventListener('abort', endAll, { once: true });
        child.stdin.write(`${JSON.stringify(message)}\n`);
      });
      if (answer === undefined) throw noAnswer(command);
      return answer;
    },
    async close() {
      child.stdin.end();
      end(child);
    },
  };
}

/** The shell has a group of its own, so that the server ends with it. */
function end({ pid, exitCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGTERM');
  } catch {
    return; // it ended in between
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // servers print other lines too, although MCP forbids it
  }
}

const noAnswer = (command: string) =>
  new CliError('NO_TOOLS', `${command}: the server ended, or did not answer.`, {
    exitCode: EXIT.unavailable,
    next: 'behest manifest pin --help',
  });
