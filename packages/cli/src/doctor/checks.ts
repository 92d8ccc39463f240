import type { Context } from '../context.ts';
import { failureOf } from '../errors.ts';
import type { Ask, Check, PublicAnswer } from './check.ts';
import { keyChecks } from './key-checks.ts';
import { corsCheck, versionCheck } from './public-checks.ts';

const passed = (id: string, detail: string): Check => ({ id, result: 'ok', detail, fix: '' });
const failed = (id: string, detail: string, fix: string): Check => ({
  id,
  result: 'fail',
  detail,
  fix,
});
const warned = (id: string, detail: string, fix: string): Check => ({
  id,
  result: 'warn',
  detail,
  fix,
});
const skipped = (id: string, detail: string): Check => ({ id, result: 'skip', detail, fix: '' });

const [SKEW_WARNED, SKEW_FAILED] = [5, 60]; // seconds
const OURS = ['reach', 'version', 'health', 'clock', 'keys', 'issuer', 'cors', 'key', 'limits', 'stream'];

/** Makes every check, in order. Checks that need an answer are skipped where there is none. */
export async function checksOf(context: Context, withManifests: boolean): Promise<Check[]> {
  const { url, apiKey } = await context.settings();
  const base = url.replace(/\/$/, '');
  const secure = addressCheck(base);
  const ask: Ask = (path, init) => askFor(context, `${base}${path}`, init);
  const health = await ask('/health').catch((error: unknown) => {
    if (context.exchange.isDone()) throw error; // a dry run ends with its first request
    return failureOf(error, 'doctor').message;
  });
  if (typeof health === 'string') {
    const fix = /localhost|127\.0\.0\.1/.test(base) ? 'behest dev' : 'behest config set --url <url>';
    const rest = OURS.slice(1).map((id) => skipped(id, 'the service does not answer'));
    return [
      secure,
      failed('reach', `${base}: ${health}`, fix),
      ...rest,
      ...(await manifestChecks(context, withManifests)),
    ];
  }
  return [
    secure,
    passed('reach', `${base} answers`),
    await versionCheck(ask),
    health.status === 200
      ? passed('health', 'ok')
      : failed('health', JSON.stringify(health.body), 'look at the log of the service'),
    clockCheck(health.date),
    ...(await keyChecks(base, ask)),
    await corsCheck(ask),
    ...(await accountChecks(context, apiKey)),
    ...(await manifestChecks(context, withManifests)),
  ];
}

async function askFor(context: Context, address: string, init: RequestInit = {}): Promise<PublicAnswer> {
  const answer = await context.exchange.fetchWith(undefined)(address, {
    ...init,
    ...{ headers: { accept: 'application/json', ...Object(init.headers) }, redirect: 'manual' },
    signal: AbortSignal.timeout(context.globals.timeout ?? 10_000),
  });
  const body: unknown = await answer.json().catch(() => undefined);
  return {
    status: answer.status,
    headers: answer.headers,
    body,
    date: answer.headers.get('date'),
    cache: answer.headers.get('cache-control'),
  };
}

function addressCheck(base: string): Check {
  if (base.startsWith('https:')) return passed('address', base);
  const isLocal = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|$)/.test(base);
  return isLocal
    ? passed('address', `${base}, on this machine`)
    : failed('address', `${base} is not encrypted`, 'use https://');
}

function clockCheck(date: string | null): Check {
  if (date === null) return skipped('clock', 'the service names no time');
  const skew = Math.round(Math.abs(Date.now() - Date.parse(date)) / 1_000);
  if (skew <= SKEW_WARNED) return passed('clock', `${skew} s apart`);
  const fix = 'set the clock of this machine, for example with NTP';
  return skew <= SKEW_FAILED
    ? warned('clock', `${skew} s apart`, fix)
    : failed('clock', `${skew} s apart: tokens will be refused`, fix);
}

async function accountChecks(context: Context, apiKey: string | undefined): Promise<Check[]> {
  if (apiKey === undefined)
    return ['key', 'limits', 'stream'].map((id) => skipped(id, 'there is no API key'));
  try {
    const client = await context.client();
    const { developerId, mode, plan } = await client.me();
    const limit = client.lastRateLimit;
    return [
      passed('key', `${developerId}, ${mode}, plan ${plan}`),
      limit
        ? passed('limits', `${limit.remaining} of ${limit.limit} left`)
        : warned('limits', 'no rate headers', 'a proxy may remove them'),
      await streamCheck(context, apiKey),
    ];
  } catch (error) {
    const { message } = failureOf(error, 'doctor');
    return [
      failed('key', message, 'behest config set --key -'),
      ...['limits', 'stream'].map((id) => skipped(id, 'the key does not work')),
    ];
  }
}

async function streamCheck(context: Context, apiKey: string): Promise<Check> {
  const { url } = await context.settings();
  const ending = new AbortController();
  const late = setTimeout(() => ending.abort(), context.globals.timeout ?? 10_000);
  try {
    const answer = await context.exchange.fetchWith(apiKey)(`${url.replace(/\/$/, '')}/v1/events/stream`, {
      ...{
        headers: { accept: 'text/event-stream', authorization: `Bearer ${apiKey}` },
        redirect: 'manual',
        signal: ending.signal,
      },
    });
    return answer.ok
      ? passed('stream', 'events arrive')
      : warned('stream', `answered ${answer.status}`, 'a proxy may hold back streams');
  } catch {
    return warned('stream', 'no answer', 'a proxy may hold back streams');
  } finally {
    clearTimeout(late);
    ending.abort();
  }
}

/** The faults of each manifest of the project, where they are asked for. */
export async function manifestChecks(context: Context, isWanted: boolean): Promise<Check[]> {
  if (!isWanted) return [];
  const { problemsOf } = await import('../manifests/check.ts');
  const { manifestFiles } = await import('../manifests/files.ts');
  return Promise.all(
    manifestFiles(context, []).map(async (file) => {
      const problems = await problemsOf(context, file);
      const faults = problems.filter(({ severity }) => severity === 'error').length;
      return faults > 0
        ? failed(file, `${faults} faults`, `behest manifest check ${file}`)
        : passed(file, 'no fault');
    }),
  );
}
