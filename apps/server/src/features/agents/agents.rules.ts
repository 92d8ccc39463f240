import { createPublicKey } from 'node:crypto';
import { distinctScopes, isScope, scopesFit } from '@behest/protocol/scopes';
import { AppError, badField } from '../../platform/errors.ts';
import type { AgentJwk, DidDocument } from './agents.schema.ts';

/**
 * @param host as in a URL, with its port if it has one: `localhost:3001`.
 * @see https://w3c-ccg.github.io/did-method-web/ for why the colon of a port is escaped.
 */
export const hostDid = (host: string): string => `did:web:${host.replace(':', '%3A')}`;

export const agentDid = (host: string, agentId: string): string => `${hostDid(host)}:agents:${agentId}`;

/** @throws INVALID_SCOPE naming every one that is outside the grammar. */
export function acceptScopes(scopes: readonly string[]): string[] {
  const wrong = scopes.filter((scope) => !isScope(scope));
  if (wrong.length > 0) {
    throw new AppError('INVALID_SCOPE', 'Not every scope is one.', { scopes: wrong.slice(0, 20) });
  }
  const distinct = distinctScopes(scopes);
  if (!scopesFit(distinct)) throw badField('scopes', 'too_long');
  return distinct;
}

/** @throws BAD_REQUEST when the members have the right shape and are no key. */
export function mustBeKey(jwk: AgentJwk | null | undefined): void {
  if (!jwk) return;
  try {
    const { modulusLength = 2048 } = createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails ?? {};
    if (modulusLength < 2048) throw new Error('too short');
  } catch {
    throw badField('publicKeyJwk', 'format', 'The public key is not one that can be used.');
  }
}

/** What anybody may know of an agent: its keys and where it is answered for, not its name or its scopes. */
export function didDocument(did: string, jwk: object | null, baseUrl: string): DidDocument {
  const controller = did.slice(0, did.indexOf(':agents:'));
  const method = `${did}#key-1`;
  const methods = jwk
    ? [{ id: method, type: 'JsonWebKey2020' as const, controller: did, publicKeyJwk: jwk }]
    : [];
  const references = methods.map(({ id }) => id);
  const endpoint = { type: 'AgentAuthorizationService', serviceEndpoint: `${baseUrl}/v1` };
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id: did,
    controller,
    verificationMethod: methods,
    authentication: references,
    assertionMethod: references,
    service: [{ id: `${did}#authorization`, ...endpoint }],
  };
}
