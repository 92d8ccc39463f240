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
