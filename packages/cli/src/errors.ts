/** Exit codes, on which scripts may rely. */
export const EXIT = {
  done: 0,
  no: 1,
  usage: 2,
  unauthenticated: 3,
  refused: 4,
  notFound: 5,
  conflict: 6,
  limited: 7,
  unavailable: 8,
  invalid: 9,
  interrupted: 130,
  terminated: 143,
} as const;

interface More {
  readonly exitCode?: number;
  /** The command that helps on. */
  readonly next?: string | undefined;
}

/** An error that the person can do something about. Its message holds no secret. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: string;
  readonly exitCode: number;
  readonly next: string | undefined;

  constructor(code: string, message: string, { exitCode = EXIT.usage, next }: More = {}) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.next = next;
  }
}

export const wrongUsage = (message: string, next?: string) => new CliError('USAGE', message, { next });

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly requestId?: string;
  readonly exitCode: number;
  readonly next?: string | undefined;
}

const byStatus: Readonly<Record<number, number>> = {
  401: EXIT.unauthenticated,
  402: EXIT.refused,
  403: EXIT.refused,
  404: EXIT.notFound,
  409: EXIT.conflict,
  429: EXIT.limited,
};

/**
 * Says what went wrong, and what to do next.
 *
 * @param command the words of the command, such as `agents get`
 */
export function failureOf(error: unknown, command: string): Failure {
  if (error instanceof CliError) {
    const { code, message, exitCode } = error;
    const next = error.next ?? (exitCode === EXIT.usage ? `behest ${command} --help` : undefined);
    return { code, message, exitCode, next: next?.replace('behest  ', 'behest ') };
  }
  const { name, message, code, statusCode, requestId, reason, cause } = Object(error);
  const said = typeof message === 'string' && message ? message : String(error);
  if (typeof statusCode === 'number')
    return refusalOf(statusCode, { code, message: said, requestId }, command);
  if (name === 'BehestTokenError') return { code: String(reason), message: said, exitCode: EXIT.no };
  if (name === 'BehestDeniedError') return { code: 'DENIED', message: said, exitCode: EXIT.no };
  if (code === 'NETWORK' || name === 'BehestTimeoutError')
    return { code: 'NETWORK', message: said, exitCode: EXIT.unavailable, next: 'behest doctor' };
  if (code === 'CONFIGURATION' || code === 'INVALID_ARGUMENT')
    return { code, message: said, exitCode: EXIT.usage, next: `behest ${command} --help` };
  if (name === 'AbortError')
    return { code: 'INTERRUPTED', message: 'Interrupted.', exitCode: EXIT.interrupted };
  if (name === 'ManifestValidationError') return { code: String(code), message: said, exitCode: EXIT.no };
  const more = cause instanceof Error ? ` (${cause.message})` : '';
  return { code: 'FAILED', message: `${said}${more}`, exitCode: EXIT.unavailable, next: 'behest doctor' };
}

function refusalOf(
  status: number,
  said: { code: string; message: string; requestId?: string },
  command: string,
): Failure {
  const exitCode = byStatus[status] ?? (status >= 500 ? EXIT.unavailable : EXIT.invalid);
  const { requestId, ...rest } = said;
  return { ...rest, ...(requestId && { requestId }), exitCode, next: nextAfter(exitCode, command) };
}

function nextAfter(exitCode: number, command: string): string {
  const [resource = ''] = command.split(' ');
  if (exitCode === EXIT.unauthenticated) return 'behest config set --key -';
  if (exitCode === EXIT.refused) return 'behest me';
  if (exitCode === EXIT.notFound) return `behest ${resource} --help`;
  if (exitCode === EXIT.limited || exitCode === EXIT.unavailable) return 'behest doctor';
  return `behest ${command} --help`;
}
