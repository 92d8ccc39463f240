import { didOfHost } from '@behest/protocol/did';
import { distinctScopes, isScope } from '@behest/protocol/scopes';
import { malformedScopes } from '../../../platform/errors.ts';
import type { DidDocument } from './agents.schema.ts';

export const agentDid = (host: string, agentId: string): string => `${didOfHost(host)}:agents:${agentId}`;

/** @throws INVALID_SCOPE naming every malformed scope. */
export function acceptAgentScopes(scopes: readonly string[]): string[] {
  const wrong = scopes.filter((scope) => !isScope(scope));
  if (wrong.length > 0) throw malformedScopes(wrong);
  return distinctScopes(scopes);
}

/** The public facts of an agent: its key and its service endpoint, but not its name or its scopes. */
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
