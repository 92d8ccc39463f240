import { once } from 'node:events';
import { type DestinationStream, pino } from 'pino';

export type Logger = pino.Logger;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/**
 * One JSON line per record. The request log lists the members of a request that it shows; headers and bodies
 * never are among them.
 * @see docs/operations.md, Logs
 * @param spanIds the ids of the span that a line is written in, when traces are made
 */
export function createLogger(
  level: LogLevel,
  output: DestinationStream,
  spanIds?: () => object | undefined,
): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorFacts },
    ...(spanIds && { mixin: () => spanIds() ?? {} }),
  };
  return pino(options, output);
}

/**
 * An error's kind, text and stack, without the members that libraries add to it, such as a query's values.
 */
function errorFacts(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? String(error.code) : undefined;
  return { name, code, message, stack, ...(cause instanceof Error && { cause: cause.message }) };
}

/** A request that was answered. */
export interface RequestLine {
  readonly reqId: string;
  readonly method: string;
  /** The pattern, `/v1/agents/:id`, or `unknown`. */
  readonly route: string;
  readonly status: number;
  /** In milliseconds. */
  readonly responseTime: number;
}

/**
 * Writes the line of each request. Most lines of a service are these, and their members are known, so the text is put
 * together without the steps that pino takes for a line of any form. Lines with the ids of a span go through pino.
 */
export function requestLines(logger: Logger): (line: RequestLine) => void {
  if (Reflect.get(logger, pino.symbols.mixinSym) !== undefined) {
    return ({ reqId, method, route, status, responseTime }) =>
      logger.info({ reqId, method, route, status, responseTime }, 'request');
  }
  const { info } = logger.levels.values;
  // pino keeps its stream there, and has no type for it.
  const output = Reflect.get(logger, pino.symbols.streamSym) as DestinationStream & { lastLevel?: number };
  const quoted = quotedTexts();
  const timeNow = timeTexts();
  return ({ reqId, method, route, status, responseTime }) => {
    if (!logger.isLevelEnabled('info')) return;
    if (info !== undefined) output.lastLevel = info;
    const id = PLAIN.test(reqId) ? `"${reqId}"` : JSON.stringify(reqId);
    output.write(
      `{"level":"info","time":"${timeNow()}","reqId":${id},"method":${quoted(method)},"route":${quoted(route)},"status":${status},"responseTime":${responseTime},"msg":"request"}\n`,
    );
  };
}

/** Most ids of requests. JSON has them as they are. */
const PLAIN = /^[\w.-]{1,64}$/;

const MOST_TEXTS = 2000; // methods and patterns of routes; more than there are

function quotedTexts(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = JSON.stringify(text);
    if (known.size < MOST_TEXTS) known.set(text, made);
    return made;
  };
}

/** The time now in ISO 8601. The part before the milliseconds is made once a second. */
function timeTexts(): () => string {
  let second = Number.NaN;
  let before = '';
  return () => {
    const now = Date.now();
    const thisSecond = Math.floor(now / 1000);
    if (thisSecond !== second) {
      second = thisSecond;
      before = new Date(thisSecond * 1000).toISOString().slice(0, -4);
    }
    return `${before}${String(now % 1000).padStart(3, '0')}Z`;
  };
}

/** The log of a request, which is made at its first line: most requests write none beside that of their answer. */
export class RequestLog {
  readonly #parent: Logger;
  readonly #bindings: pino.Bindings;
  readonly #options: pino.ChildLoggerOptions;
  #made: Logger | undefined;

  constructor(parent: Logger, bindings: pino.Bindings, options: pino.ChildLoggerOptions) {
    this.#parent = parent;
    this.#bindings = bindings;
    this.#options = options;
  }

  get #own(): Logger {
    this.#made ??= this.#parent.child(this.#bindings, this.#options);
    return this.#made;
  }

  get level(): string {
    return this.#own.level;
  }

  child(bindings: pino.Bindings, options?: pino.ChildLoggerOptions): Logger {
    return this.#own.child(bindings, options);
  }

  fatal(...line: LineParts): void {
    this.#own.fatal(...line);
  }

  error(...line: LineParts): void {
    this.#own.error(...line);
  }

  warn(...line: LineParts): void {
    this.#own.warn(...line);
  }

  info(...line: LineParts): void {
    this.#own.info(...line);
  }

  debug(...line: LineParts): void {
    this.#own.debug(...line);
  }

  trace(...line: LineParts): void {
    this.#own.trace(...line);
  }

  silent(): void {}
}

type LineParts = [parts: unknown, text?: string];

const MAX_WAITING = 8 * 1024 * 1024; // bytes; a line of a request has about 200
const ENOUGH = 16_000; // bytes that are written at once, as many as fit into one write, which wakes another thread
const LONGEST_WAIT = 100; // milliseconds

/** pino's numbers for its levels; `error` is the first that an operator has to see even if the process is killed. */
const ERROR = 50;

export interface LogOutput {
  write(line: string): void;
  /** Resolves when every line is written, or cannot be. No line is written afterwards. */
  close(): Promise<void>;
}

interface LogOutputOptions {
  /** A file, or the descriptor of an open one, in place of stdout. */
  readonly dest?: string | number;
  readonly mostWaiting?: number;
  /** Called with the number of lines that had no room, when there is room again. */
  readonly onLost: (lines: number) => void;
}

/**
 * Writes lines off the thread that answers requests, and in their order. Lines wait for each other for a tenth of a
 * second; an error takes them along at once. A slow or absent reader, or a full disk, costs lines and no answers.
 * An exit that does not wait writes the waiting lines.
 */
export function openLogOutput(options: LogOutputOptions): LogOutput {
  const { dest = 1, mostWaiting = MAX_WAITING, onLost } = options;
  const destination = pino.destination({ dest, sync: false, minLength: ENOUGH, maxLength: mostWaiting });
  let lost = 0;
  let isBroken = false;
  destination.on('drop', () => {
    lost += 1;
  });
  destination.on('error', () => {
    isBroken = true; // the next line tries it again
  });
  destination.on('drain', () => {
    isBroken = false;
    if (lost === 0) return;
    const lines = lost;
    lost = 0;
    onLost(lines);
  });

  let isOpen = true;
  let flushing: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(flushing);
    flushing = undefined;
    destination.flush();
  };
  const output = {
    [Symbol.for('pino.metadata')]: true, // asks pino to set `lastLevel` before each line
    lastLevel: 0,
    write(line: string) {
      if (!isOpen) return;
      destination.write(line);
      if (output.lastLevel >= ERROR) return flush();
      flushing ??= setTimeout(flush, LONGEST_WAIT).unref();
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      clearTimeout(flushing);
      if (isBroken) return destination.destroy();
      const closed = once(destination, 'close').catch(() => destination.destroy());
      destination.end();
      await closed;
    },
  };
  return output;
}
