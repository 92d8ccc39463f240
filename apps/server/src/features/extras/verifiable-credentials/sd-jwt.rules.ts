import { createHash, randomBytes, randomInt } from 'node:crypto';
import { decodeBase64url } from '@behest/protocol/base64url';
import { parseJson } from '@behest/protocol/json';
import {
  epochSeconds,
  GRANT_CREDENTIAL,
  type Issuer,
  type Issuing,
  type Place,
  tokenListUrl,
} from './verifiable-credentials.rules.ts';
import type { SelectiveField } from './verifiable-credentials.schema.ts';

/** A holder may keep these back unless the developer says otherwise. */
export const BY_DEFAULT: readonly SelectiveField[] = [
  'principalId',
  'developerId',
  'scopes',
  'delegationDepth',
];

/** All that a statement has beside its agent. */
const STATEMENT: readonly SelectiveField[] = [...BY_DEFAULT, 'grantId'];

const MAX_DECOYS = 3;

export const digestOf = (disclosure: string) => createHash('sha256').update(disclosure).digest('base64url');

/** One claim that a holder may show (RFC 9901, section 4.2.1). @param salt 128 random bits, base64url */
export const disclosureOf = (salt: string, name: string, value: unknown) =>
  Buffer.from(JSON.stringify([salt, name, value])).toString('base64url');

const newSalt = () => randomBytes(16).toString('base64url');

const vctOf = ({ publicBaseUrl }: Pick<Issuer, 'publicBaseUrl'>) =>
  `https://${new URL(publicBaseUrl).host}/ns/agent-grant`;

/** The claims of the issuer's JWT, and the disclosures that go with it, in the order of the fields. */
export function sdJwtClaims(
  service: Issuer,
  { credentialId, statement, place, issuedAt, expiresAt }: Issuing,
  {
    fields,
    holderJwk,
  }: { readonly fields: readonly SelectiveField[]; readonly holderJwk?: object | undefined },
) {
  const { agentDid, ...claims } = statement;
  const disclosures = fields.map((field) => disclosureOf(newSalt(), field, claims[field]));
  const decoys = Array.from({ length: randomInt(MAX_DECOYS + 1) }, () => digestOf(newSalt()));
  const visible = Object.entries(claims).filter(([name]) => !fields.some((field) => field === name));
  const { issuer, publicBaseUrl } = service;
  return {
    disclosures,
    claims: {
      iss: issuer,
      sub: agentDid,
      jti: credentialId,
      iat: epochSeconds(issuedAt),
      exp: epochSeconds(expiresAt),
      vct: vctOf(service),
      type: GRANT_CREDENTIAL,
      ...Object.fromEntries(visible),
      _sd_alg: 'sha-256',
      _sd: [...disclosures.map(digestOf), ...decoys].sort(), // so that the position tells nothing
      status: {
        status_list: { idx: place.idx, uri: tokenListUrl({ publicBaseUrl, listId: place.listId }) },
      },
      ...(holderJwk && { cnf: { jwk: holderJwk } }),
    },
  };
}

/** An SD-JWT, taken apart at its tildes. */
export interface SdJwtParts {
  readonly issuerJwt: string;
  readonly disclosures: readonly string[];
  readonly keyBinding: string | undefined;
  /** Everything up to the last tilde, which the key binding signs. */
  readonly presented: string;
}

/** @returns undefined when the text is no SD-JWT (RFC 9901, section 4) */
export function sdJwtParts(text: string): SdJwtParts | undefined {
  const end = text.lastIndexOf('~');
  if (end < 0) return undefined;
  const [issuerJwt = '', ...disclosures] = text.slice(0, end).split('~');
  const keyBinding = text.slice(end + 1);
  // Without its last tilde, a text would have its last disclosure there.
  if (keyBinding !== '' && keyBinding.split('.').length !== 3) return undefined;
  return {
    issuerJwt,
    disclosures,
    keyBinding: keyBinding === '' ? undefined : keyBinding,
    presented: text.slice(0, end + 1),
  };
}

/** Names that mean something to the format or to JavaScript, and are no claims. */
const NO_CLAIMS = new Set(['_sd', '...', '__proto__', 'constructor', 'prototype']);

/**
 * The claims that the disclosures show (RFC 9901, section 7.1). The service discloses members of the top level alone.
 * @returns undefined when any disclosure is malformed, unknown, repeated, or names a claim that is there
 */
export function disclosedClaims(
  payload: Readonly<Record<string, unknown>>,
  disclosures: readonly string[],
): Map<string, unknown> | undefined {
  const { _sd: digests = [], _sd_alg: algorithm = 'sha-256' } = payload;
  if (algorithm !== 'sha-256' || !Array.isArray(digests)) return undefined;
  const waiting = new Set(digests);
  if (waiting.size !== digests.length) return undefined;
  const shown = new Map<string, unknown>();
  for (const disclosure of disclosures) {
    if (!waiting.delete(digestOf(disclosure))) return undefined;
    const claim = readDisclosure(disclosure);
    if (!claim || NO_CLAIMS.has(claim.name) || Object.hasOwn(payload, claim.name) || shown.has(claim.name)) {
      return undefined;
    }
    shown.set(claim.name, claim.value);
  }
  return shown;
}

/** The claims of the statement, which may be selectively disclosable, in the payload. */
export const statementClaims = (payload: Readonly<Record<string, unknown>>) =>
  STATEMENT.filter((name) => Object.hasOwn(payload, name)).map((name) => [name, payload[name]] as const);

function readDisclosure(disclosure: string): { name: string; value: unknown } | undefined {
  const parsed = valueIn(disclosure);
  if (!Array.isArray(parsed) || parsed.length !== 3) return undefined;
  const [salt, name, value] = parsed;
  return typeof salt === 'string' && typeof name === 'string' ? { name, value } : undefined;
}

function valueIn(disclosure: string): unknown {
  const bytes = decodeBase64url(disclosure);
  try {
    return bytes && parseJson(bytes);
  } catch {
    return undefined;
  }
}

/** The place in a status list that an issuer's JWT names. */
export function sdJwtPlace(
  { publicBaseUrl }: Issuer,
  { status }: Readonly<Record<string, unknown>>,
): Place | undefined {
  const { idx, uri } = Object(Object(status).status_list);
  const prefix = tokenListUrl({ publicBaseUrl, listId: '' });
  if (!Number.isInteger(idx) || idx < 0 || typeof uri !== 'string' || !uri.startsWith(prefix))
    return undefined;
  return { listId: uri.slice(prefix.length), idx };
}
