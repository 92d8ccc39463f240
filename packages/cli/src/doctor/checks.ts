import { isLegacyKeyId, isThumbprintKeyId } from '@behest/protocol/key-id';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../errors.ts';
import { VERSION } from '../version.ts';

const STRANGER = 'https://stranger.invalid'; // RFC 6761, section 6.4: nobody has this name

/** Compares this program with the service, whose description names its version. */
async function versionCheck(ask: Ask): Promise<Check> {
  const { body } = await ask('/openapi.json').catch(() => ({ body: undefined }));
  const { version } = Object(isRecord(body) ? body.info : undefined);
  if (typeof version !== 'string')
    return { id: 'version', result: 'skip', detail: 'the service names no version', fix: '' };
  const isSame = version === VERSION;
  return {
    id: 'version',
    result: isSame ? 'ok' : 'warn',
    detail: isSame ? `${VERSION}, here and there` : `the service is ${version}, and this is ${VERSION}`,
    fix: isSame ? '' : `npm install --save-dev @behest/cli@${version}`,
  };
}

/** Asks as the browser of a page that the service does not know. @see https://fetch.spec.whatwg.org/#http-cors-protocol */
async function corsCheck(ask: Ask): Promise<Check> {
  const headers = { origin: STRANGER, 'access-control-request-method': 'GET' };
  const { headers: answered } = await ask('/v1/agents', { method: 'OPTIONS', headers });
  const allowed = answered.get('access-control-allow-origin');
  const isOpen = allowed === '*' || allowed === STRANGER;
  const hasCredentials = answered.get('access-control-allow-credentials') === 'true';
  if (!isOpen) return { id: 'cors', result: 'ok', detail: 'pages of other origins may not call', fix: '' };
  return {
    id: 'cors',
    result: hasCredentials ? 'fail' : 'warn',
    detail: `pages of every origin may call${hasCredentials ? ', with the cookies of their visitors' : ''}`,
    fix: 'set CORS_ALLOWED_ORIGINS of the service, and look at the proxy before it',
  };
}

const LEAST_BITS = 2048;
const KNOWN = ['ES256', 'RS256', 'EdDSA'];

/** Looks at the published keys, and at the name that the issuer gives itself. */
async function keyChecks(base: string, ask: Ask): Promise<Check[]> {
  const keys = await ask('/.well-known/jwks.json');
  const metadata = await ask('/.well-known/oauth-authorization-server');
  const issuer = isRecord(metadata.body) ? metadata.body.issuer : undefined;
  const isSame = issuer === base;
  return [
    keySetCheck(keys),
    {
      id: 'issuer',
      result: isSame ? 'ok' : 'fail',
      detail: isSame ? base : `tokens name ${issuer ?? 'no issuer'}, and you use ${base}`,
      fix: isSame
        ? ''
        : `behest config set --url ${issuer ?? '<url>'}, or set PUBLIC_BASE_URL of the service`,
    },
  ];
}

function keySetCheck({ body, cache }: PublicAnswer): Check {
  const list: unknown = isRecord(body) ? body.keys : undefined;
  const keys = Array.isArray(list) ? list.filter(isRecord) : [];
  const bad = keys.flatMap((key) => faultOf(key) ?? []);
  if (keys.length === 0 || bad.length > 0)
    return {
      id: 'keys',
      result: 'fail',
      detail: bad.join('; ') || 'no keys',
      fix: 'look at RSA_PRIVATE_KEY of the service',
    };
  const unnamed = keys.map(({ kid }) => String(kid)).filter((kid) => !isKeyId(kid));
  if (unnamed.length > 0)
    return {
      id: 'keys',
      result: 'warn',
      detail: `${unnamed.join(', ')}: not the name of a key by its thumbprint`,
      fix: 'look at what stands between here and the service: it may answer other keys',
    };
  const algorithms = [...new Set(keys.map(({ alg }) => alg))].join(', ');
  const isKept = /max-age=\d/.test(cache ?? '');
  return {
    id: 'keys',
    result: isKept ? 'ok' : 'warn',
    detail: `${countOf(keys)}: ${algorithms}${isKept ? '' : '; no max-age'}`,
    fix: isKept ? '' : 'a proxy may remove cache-control',
  };
}

/** One key may stand under several ids: the legacy key has one for each month. */
function countOf(keys: readonly Readonly<Record<string, unknown>>[]): string {
  const distinct = new Set(keys.map(({ n, x }) => n ?? x)).size;
  const counted = `${distinct} ${distinct === 1 ? 'key' : 'keys'}`;
  return distinct === keys.length ? counted : `${counted} in ${keys.length} entries (ids of months)`;
}

/** The form of `service-es256-<thumbprint>`, or the older one that names a month. */
const isKeyId = (kid: string) => isThumbprintKeyId(kid) || isLegacyKeyId(kid);

function faultOf({ alg, kid, kty, n }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof kid !== 'string' || kid === '') return 'a key has no kid';
  if (!KNOWN.includes(String(alg))) return `${kid} has the algorithm ${alg}`;
  const bits = typeof n === 'string' ? Math.floor((n.length * 3) / 4) * 8 : LEAST_BITS;
  return kty === 'RSA' && bits < LEAST_BITS ? `${kid} has ${bits} bits` : undefined;
}

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

/** A line of the doctor. */
export interface Check {
  readonly id: string;
  readonly result: 'ok' | 'warn' | 'fail' | 'skip';
  readonly detail: string;
  readonly fix: string;
}

/** The answer of a public route. */
interface PublicAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
  readonly date: string | null;
  readonly cache: string | null;
}

/** Asks a public route, by its path. */
type Ask = (path: string, init?: RequestInit) => Promise<PublicAnswer>;
