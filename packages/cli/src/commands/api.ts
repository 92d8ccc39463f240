import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataIn } from '../api/fields.ts';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, textOf, textsOf } from '../program/spec.ts';

const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 10_000]; // milliseconds

interface Repeats {
  /** The most attempts after the first. */
  readonly retries: number;
  /** True where the service notices a request that it gets twice, or where twice is as good as once. */
  readonly isSafe: boolean;
  readonly signal: AbortSignal;
}

/** Sends a request, and sends it again where nothing can happen twice. @throws the error of the last attempt */
async function repeated(
  send: () => Promise<Response>,
  { retries, isSafe, signal }: Repeats,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt > retries;
    const answer = await send().catch((error: unknown) => {
      if (isLast || !isSafe || signal.aborted) throw error;
      return undefined;
    });
    if (answer && (isLast || !isWorthRepeating(answer.status, isSafe))) return answer;
    await answer?.body?.cancel();
    await sleep(pauseBefore(attempt, answer), undefined, { signal });
  }
}

/** After 429 the service has done nothing. */
const isWorthRepeating = (status: number, isSafe: boolean) =>
  status === 429 || (isSafe && [502, 503, 504].includes(status));

function pauseBefore(attempt: number, answer: Response | undefined): number {
  const asked = Number(answer?.headers.get('retry-after') ?? Number.NaN); // seconds
  const own = Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1));
  return asked >= 0 ? Math.min(asked * 1_000, LONGEST_PAUSE) : own;
}

const TIMEOUT = 30_000; // milliseconds
const RETRIES = 3; // as the SDK

export const API: readonly CommandSpec[] = [
  {
    name: 'api',
    summary: 'Call any route with the key of the profile',
    args: [
      { name: 'method', about: 'GET, POST, PUT, PATCH or DELETE' },
      { name: 'path', about: 'such as /v1/agents' },
    ],
    examples: ['behest api GET /v1/agents --paginate', 'behest api POST /v1/agents -f name=Travel'],
    options: [
      {
        flags: '-f, --field <key=value>',
        about: 'a member of the body, or of the query of a GET',
        isMany: true,
      },
      { flags: '--input <file>', about: 'the body: a file of JSON or YAML, or - for standard input' },
      { flags: '--paginate', about: 'get every page, and print the rows' },
    ],
    run: callRoute,
  },
];

async function callRoute(context: Context, given: Given): Promise<void> {
  const [method = '', path = ''] = given.args;
  const verb = method.toUpperCase();
  const isFit = /^(GET|HEAD|POST|PUT|PATCH|DELETE)$/.test(verb) && /^\/(?!\/)/.test(path);
  if (!isFit) throw wrongUsage('Give a method and a path that begins with one slash.', context.help);
  const fields = Object.fromEntries(textsOf(given, 'field').map((text) => fieldIn(context, text)));
  const input = textOf(given, 'input');
  const isQuery = verb === 'GET' || verb === 'HEAD';
  if (isQuery && input !== undefined) throw wrongUsage(`${verb} takes no body.`, context.help);
  const read = input === undefined ? {} : await dataIn(context, input);
  const hasBody = !isQuery && (input !== undefined || Object.keys(fields).length > 0);
  const body = hasBody ? (isRecord(read) ? { ...read, ...fields } : read) : undefined;
  const ask = (query: object) =>
    send(context, verb, withQuery(path, { ...(isQuery && fields), ...query }), body);
  if (!isSet(given, 'paginate')) return printAnswer(context, await ask({}));
  const rows: unknown[] = [];
  for (let cursor: unknown = ''; typeof cursor === 'string'; ) {
    const page = await ask(cursor === '' ? {} : { cursor });
    const list = isRecord(page) ? Object.values(page).find(Array.isArray) : undefined;
    if (!isRecord(page) || !list) throw wrongUsage(`${path} does not answer pages.`, context.help);
    rows.push(...list);
    cursor = page.nextCursor;
  }
  await context.rows(rows);
}

function printAnswer(context: Context, answer: unknown): Promise<void> | void {
  if (answer === undefined) return context.note('done');
  if (typeof answer === 'string') return context.io.out(answer);
  const { output } = context.globals;
  // A route may answer anything, and a table suits few answers.
  return output === 'table' ? context.line(JSON.stringify(answer, undefined, 2)) : context.one(answer);
}

function withQuery(path: string, members: object): string {
  const [place = '', before = ''] = path.split('?');
  const query = new URLSearchParams(before);
  for (const [name, value] of Object.entries(members)) query.set(name, String(value));
  return query.size > 0 ? `${place}?${query}` : place;
}

function fieldIn(context: Context, text: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw wrongUsage(`-f takes key=value, and was given "${text}".`, context.help);
}

/** @throws an error with the status of a refusal */
async function send(context: Context, method: string, path: string, body: unknown): Promise<unknown> {
  const { url, apiKey } = await context.settings();
  const { timeout = TIMEOUT, retries = RETRIES, isDry } = context.globals;
  const init = {
    ...{ method, redirect: 'manual' as const },
    headers: {
      accept: 'application/json',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  const answer = await repeated(
    () =>
      context.exchange.fetchWith(apiKey)(`${url.replace(/\/$/, '')}${path}`, {
        ...init,
        signal: AbortSignal.timeout(timeout),
      }),
    { retries: isDry ? 0 : retries, isSafe: method !== 'PATCH', signal: context.io.signal },
  );
  const text = await answer.text();
  const isJson = /[/+]json\b/.test(answer.headers.get('content-type') ?? '');
  const value: unknown = isJson && text ? JSON.parse(text) : text || undefined;
  if (answer.ok) return value;
  const {
    code = `HTTP_${answer.status}`,
    message = `The service answered ${answer.status}.`,
    requestId,
    details,
  } = Object(value);
  throw Object.assign(new Error(String(message)), { statusCode: answer.status, code, requestId, details });
}
