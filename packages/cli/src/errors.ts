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
  /** The rest of the service's answer, such as the members that are wrong. */
  readonly details?: Readonly<Record<string, unknown>>;
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
 * Says what went wrong, and what to do next. Only an interrupted command has nothing to do next.
 *
 * @param command the words of the command, such as `agents get`
 */
export function failureOf(error: unknown, command: string): Failure {
  const failure = knownFailure(error, command);
  if (failure.next !== undefined || failure.code === 'INTERRUPTED') return failure;
  return { ...failure, next: `behest ${command} --help`.replace('behest  ', 'behest ') };
}

function knownFailure(error: unknown, command: string): Failure {
  if (error instanceof CliError) {
    const { code, message, exitCode, next } = error;
    return { code, message, exitCode, next };
  }
  const { name, message, code, statusCode, requestId, details, reason, cause } = Object(error);
  const said = typeof message === 'string' && message ? message : String(error);
  if (typeof statusCode === 'number')
    return refusalOf(statusCode, { code, message: said, requestId, details: Object(details) }, command);
  if (name === 'BehestTokenError') return { code: String(reason), message: said, exitCode: EXIT.no };
  if (name === 'BehestDeniedError') return { code: 'DENIED', message: said, exitCode: EXIT.no };
  if (code === 'NETWORK' || name === 'BehestTimeoutError')
    return { code: 'NETWORK', message: said, exitCode: EXIT.unavailable, next: 'behest doctor' };
  if (code === 'CONFIGURATION' || code === 'INVALID_ARGUMENT')
    return { code, message: said, exitCode: EXIT.usage };
  if (name === 'AbortError')
    return { code: 'INTERRUPTED', message: 'Interrupted.', exitCode: EXIT.interrupted };
  if (name === 'ManifestValidationError')
    return { code: String(code), message: said, exitCode: EXIT.no, next: 'behest manifest check' };
  const more = cause instanceof Error ? ` (${cause.message})` : '';
  return { code: 'FAILED', message: `${said}${more}`, exitCode: EXIT.unavailable, next: 'behest doctor' };
}

type Said = Pick<Failure, 'code' | 'message' | 'requestId' | 'details'>;

function refusalOf(status: number, { requestId, details = {}, ...said }: Said, command: string): Failure {
  const exitCode = byStatus[status] ?? (status >= 500 ? EXIT.unavailable : EXIT.invalid);
  const more = { ...(requestId && { requestId }), ...(Object.keys(details).length > 0 && { details }) };
  return { ...said, ...more, exitCode, next: nextAfter(said.code, exitCode, command) };
}

/** Commands that show why the service refused, by the code of its error. */
const LOOK: Readonly<Record<string, string>> = {
  PLAN_LIMIT_EXCEEDED: 'behest billing status',
  POLICY_DENIED: 'behest policies list',
  RATE_LIMITED: 'behest usage current',
  UNSUPPORTED_MEDIA_TYPE: 'behest doctor',
};

function nextAfter(code: string, exitCode: number, command: string): string {
  const look = LOOK[code];
  if (look !== undefined) return look;
  const [resource = ''] = command.split(' ');
  if (exitCode === EXIT.unauthenticated) return 'behest config set --key -';
  if (exitCode === EXIT.refused) return 'behest me';
  if (exitCode === EXIT.notFound) return `behest ${resource} --help`;
  if (exitCode === EXIT.limited || exitCode === EXIT.unavailable) return 'behest doctor';
  return `behest ${command} --help`;
}
