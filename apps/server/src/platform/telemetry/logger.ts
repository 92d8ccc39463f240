import { type DestinationStream, pino } from 'pino';

export type Logger = pino.Logger;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/**
 * One JSON line a record. What of a request is logged is listed where it is logged; headers and bodies
 * never are. @see specification, Runtime configuration and operation
 * @param spanIds where traces are made, of the span that a line is written in.
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

/** Of an error its kind, its text and where; not the members that libraries hang on it, such as a query's values. */
function errorFacts(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? String(error.code) : undefined;
  return { name, code, message, stack, ...(cause instanceof Error && { cause: cause.message }) };
}
