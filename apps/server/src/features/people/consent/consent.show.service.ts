import { purposeLabel, scopeInWords } from '@behest/protocol/words';
import { budgetOf } from '../../access/authorization/index.ts';
import type { ShownRow } from './consent.repo.ts';
import type { ShownRequest, Verification } from './consent.schema.ts';

/** The request as the page shows it. */
export function shownRequest(row: ShownRow, csrfToken: string, verification: Verification): ShownRequest {
  const budget = budgetOf(row);
  const { purpose, audience, redirectUri, authorizationDetails } = row;
  const own: Record<string, string> = Object(row.scopeDescriptions);
  return {
    id: row.id,
    status: 'pending',
    developerName: row.developerName,
    agentId: row.agentId,
    agentName: row.agentName,
    agentDid: row.agentDid,
    agentDescription: row.agentDescription,
    principalId: row.principalId,
    scopes: row.scopes,
    scopeDescriptions: row.scopes.map((scope) => scopeInWords(scope, own)),
    ...(purpose !== null && { purpose, purposeLabel: purposeLabel(purpose) }),
    ...(Array.isArray(authorizationDetails) && { authorizationDetails }),
    ...(budget && { budget }),
    grantExpiresIn: row.expiresIn,
    ...(audience !== null && { audience }),
    ...(redirectUri !== null && { redirectHost: hostOf(redirectUri) }),
    expiresAt: row.expiresAt.toISOString(),
    sandbox: row.developerMode === 'sandbox',
    fidoRequired: row.consentMode === 'passkey',
    csrfToken,
    verification,
  };
}

/** The scheme of an app's own address says whose it is. The text in place of its host says nothing. */
function hostOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1);
}
