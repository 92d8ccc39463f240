import { createHash, createPublicKey, type JsonWebKey, randomBytes } from 'node:crypto';
import { isScope } from '@behest/protocol/scopes';
import { AppError, badField } from '../../../platform/errors.ts';
import type { DeveloperChange } from './developers.schema.ts';

/** Settings of an account that its enforcement depends on. */
export interface Enforcement {
  readonly capsMode: string;
  readonly manifestPinning: string;
  readonly policyAutoApproval: boolean;
  readonly enforceAgentScopes: boolean;
  readonly fourEyesAssurance: string;
  readonly requireTwoForLoosening: boolean;
}

const STRICTNESS: Readonly<Record<string, number>> = { off: 0, warn: 1, enforce: 2, dual: 0, sso: 1 };
const strictness = (value: string | boolean) =>
  typeof value === 'string' ? (STRICTNESS[value] ?? 0) : +value;

/** The settings that enforce less than before, with what they were and are. */
export function weakenedSettings(before: Enforcement, after: Enforcement) {
  const names = ['capsMode', 'manifestPinning', 'enforceAgentScopes', 'fourEyesAssurance'] as const;
  const weaker = [
    ...[...names, 'requireTwoForLoosening' as const].filter(
      (name) => strictness(after[name]) < strictness(before[name]),
    ),
    ...(after.policyAutoApproval && !before.policyAutoApproval ? (['policyAutoApproval'] as const) : []),
  ];
  return Object.fromEntries(weaker.map((name) => [name, { from: before[name], to: after[name] }]));
}

/** @throws BAD_REQUEST or INVALID_REDIRECT_URI for a setting of the right shape that cannot be used. */
export function mustBeKeepableSettings({
  consentKeys,
  redirectUris,
  scopeDescriptions,
  connectLoginUrl,
}: DeveloperChange): void {
  for (const [at, jwk] of (consentKeys ?? []).entries()) {
    if (!isUsableKey(jwk))
      throw badField(`consentKeys.${at}`, 'format', 'A consent key is not a usable public key.');
  }
  const wrong = (redirectUris ?? []).findIndex((uri) => !isRedirectUri(uri));
  if (wrong >= 0) {
    throw new AppError(
      'INVALID_REDIRECT_URI',
      'Register absolute https URLs, loopback addresses or app addresses.',
      {
        fields: [{ path: `redirectUris.${wrong}`, problem: 'format' }],
      },
    );
  }
  if (connectLoginUrl && !(isRedirectUri(connectLoginUrl) && /^https?:/i.test(connectLoginUrl))) {
    throw badField('connectLoginUrl', 'format', 'Send an absolute https URL, or null.');
  }
  const unknown = Object.keys(scopeDescriptions ?? {}).find((scope) => !isScope(scope));
  if (unknown !== undefined) throw badField(`scopeDescriptions.${unknown}`, 'format');
}

/** The keys of a JSON column, whose contents the compiler does not know. */
export const keysIn = (column: unknown): object[] => (Array.isArray(column) ? column.map(Object) : []);

export const thumbprintsOf = (column: unknown): string[] => keysIn(column).map(thumbprintOf);

/** A hash that identifies a key. @see RFC 7638 */
export function thumbprintOf(jwk: object): string {
  const members = ['crv', 'e', 'kty', 'n', 'x', 'y'];
  const hashed = Object.entries(jwk).filter(([name]) => members.includes(name));
  const sorted = Object.fromEntries(hashed.sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url');
}

const SHORTEST_RSA = 2048; // bits
const LEAST_EXPONENT = 65_537n; // with 1, every message is its own signature

/** Whether a public key of the right shape is a real key of sufficient strength. */
export function isUsableKey(jwk: JsonWebKey): boolean {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' });
    const { modulusLength = SHORTEST_RSA, publicExponent = LEAST_EXPONENT } = asymmetricKeyDetails ?? {};
    return modulusLength >= SHORTEST_RSA && publicExponent >= LEAST_EXPONENT;
  } catch {
    return false;
  }
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Scheme, host, port and path of a web address. The host is a name or an address in its plain form. */
const WEB = /^(https?):\/\/([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?(?=[/?]|$)([^?]*)/i;
/** An app's own address. Its scheme has a dot, so that no two apps choose the same one (RFC 8252 §7.1). */
const APP = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:(\/[^?]*)/;
const NOT_IN_A_URI = /[^!-~]|[\\#"<>]/; // also white space, control characters and everything beyond ASCII
const CLIMBS = /(^|\/|%2f|%5c)(\.|%2e){2}($|\/|%2f|%5c|;)/i;

/**
 * Whether a browser may be sent to this URI with a code: `https`, `http` on the same machine, or an app's own
 * scheme. Other code compares URIs byte for byte (RFC 9700 §4.1). Parsers are lenient in different ways, so
 * this function accepts only texts that all parsers read alike.
 */
export function isRedirectUri(text: string): boolean {
  if (NOT_IN_A_URI.test(text) || !URL.canParse(text)) return false;
  const { hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  const [, scheme, host = '', path = ''] = WEB.exec(text) ?? [];
  if (scheme === 'https' || scheme === 'http') {
    // The parser turns `http://2130706433` into 127.0.0.1, but a person reads another host.
    const isPlain = host.toLowerCase() === hostname && !CLIMBS.test(path);
    return isPlain && (scheme === 'https' || LOOPBACK.has(hostname));
  }
  const ownPath = APP.exec(text)?.[1];
  return ownPath !== undefined && !CLIMBS.test(ownPath);
}

type Mode = 'live' | 'sandbox';
type Status = 'active' | 'expiring' | 'expired' | 'revoked';

export const MAX_KEYS = 20;

/** The part of a key that lists show: enough to tell two keys apart, too little to guess the rest. */
export const prefixOf = (apiKey: string): string => apiKey.slice(0, 12);

export const generateKey = (mode: Mode): string =>
  `bh_${mode === 'live' ? 'live' : 'test'}_${randomBytes(32).toString('base64url')}`;

interface DescribableKey {
  readonly id: string;
  readonly name: string;
  readonly role: 'runtime' | 'full';
  readonly agentIds: readonly string[] | null;
}

/** A key as its acts describe it. */
export const describeKey = ({ id: keyId, name, role, agentIds }: DescribableKey) => ({
  keyId,
  name,
  role,
  ...(agentIds && { agentIds }),
});

interface KeyTimes {
  readonly expiresAt: Date | null;
  readonly replacedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** `expiring`: replaced by a rotation, and valid until the overlap ends. */
export function keyStatus({ expiresAt, replacedAt, revokedAt }: KeyTimes, now: Date): Status {
  if (revokedAt) return 'revoked';
  if (expiresAt && expiresAt <= now) return 'expired';
  return replacedAt ? 'expiring' : 'active';
}
