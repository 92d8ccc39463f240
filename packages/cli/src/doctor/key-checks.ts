import { isLegacyKeyId, isThumbprintKeyId } from '@behest/protocol/key-id';
import { isRecord } from '../config/user-file.ts';
import type { Ask, Check, PublicAnswer } from './check.ts';

const LEAST_BITS = 2048;
const KNOWN = ['ES256', 'RS256', 'EdDSA'];

/** Looks at the published keys, and at the name that the issuer gives itself. */
export async function keyChecks(base: string, ask: Ask): Promise<Check[]> {
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
