const QUIET = new Set(['trace', 'debug', 'info']);
const ROUTINE = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'reqId', 'err']); // an error's stack fills a screen

/**
 * Makes a line of the server's log readable: `warn` and above in a short form, and a line that is not a log
 * line unchanged.
 * @param hasRequests shows answered requests too, as `GET /v1/agents/:id 200 3 ms`
 * @returns undefined for any other line below `warn`
 */
export function readableLine(line: string, hasRequests = false): string | undefined {
  const entry = parse(line);
  if (!entry) return line.trim() === '' ? undefined : line;
  const level = String(entry.level);
  if (QUIET.has(level)) return hasRequests ? requestLine(entry) : undefined;
  const more = Object.entries(entry)
    .filter(([name]) => !ROUTINE.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [`${level}:`, entry.msg ?? errorMessage(entry.err), ...more].filter(Boolean).join(' ');
}

/** Routes without the ids and queries of a request. The health check of every few seconds is left out. */
function requestLine({
  msg,
  method,
  route,
  status,
  responseTime,
}: Record<string, unknown>): string | undefined {
  if (msg !== 'request' || route === '/health') return undefined;
  return `${method} ${route} ${status} ${Math.round(Number(responseTime))} ms`;
}

function errorMessage(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null && 'level' in entry ? { ...entry } : undefined;
  } catch {
    return undefined;
  }
}
