import { purposeLabel, scopeInWords } from '@behest/protocol/words';
import type { ShownRow } from './consent.repo.ts';
import type { ShownRequest, Verification } from './consent.schema.ts';

type ConsentMode = 'developer' | 'email' | 'sso' | 'passkey';

interface Proving {
  readonly mode: 'live' | 'sandbox';
  readonly consentMode: ConsentMode;
  readonly hasConsentKeys: boolean;
  /** `undefined`: none was sent. */
  readonly hint: 'good' | 'bad' | undefined;
  readonly proofIsRequired: boolean;
}

/**
 * How the person is known. A proof that the developer configured is always demanded; where there is none to
 * demand, the sandbox needs none, and elsewhere whoever holds the link decides, which is said wherever it matters.
 */
export function verificationOf({
  mode,
  consentMode,
  hasConsentKeys,
  hint,
  proofIsRequired,
}: Proving): Verification {
  if (consentMode !== 'developer') return { mode: consentMode, satisfied: false, methods: [consentMode] };
  if (mode === 'sandbox') return { mode: 'sandbox', satisfied: hint !== 'bad', methods: [] };
  if (hasConsentKeys || proofIsRequired) {
    return { mode: 'developer', satisfied: hint === 'good', methods: ['hint'] };
  }
  return { mode: 'link', satisfied: hint !== 'bad', methods: [] };
}

export function shownRequest(row: ShownRow, csrfToken: string, verification: Verification): ShownRequest {
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

/** Of an app's own address, which has no host, the scheme says whose it is. */
function hostOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return host || protocol.slice(0, -1);
}
