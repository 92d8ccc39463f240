import type { Caller, Mode, Plan, Tenant } from '../../../platform/caller.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import type { MasterKeys } from '../../../platform/envelope.ts';
import type { CodeDeps } from '../../grants/consent/index.ts';
import type { PasskeyDeps } from '../../people/passkeys/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import type { CredentialDeps } from '../credentials/index.ts';
import type { SessionRow } from './connections.repo.ts';
import { statusAt } from './connections.rules.ts';
import type { ConnectSession } from './connections.schema.ts';

export interface ConnectDeps extends CodeDeps, CredentialDeps, PasskeyDeps {
  readonly keyRing: KeyRing;
  readonly vault: MasterKeys;
  readonly connected: Egress;
  readonly publicBaseUrl: string;
  /** The `iss` of tokens: the audience of hints. */
  readonly issuer: string;
}

export function toSession(row: SessionRow, now: Date): ConnectSession {
  const { id, providerId, service, principalId, agentId, scopes, reason, credentialId } = row;
  return {
    id,
    connectSessionId: id,
    providerId,
    service,
    principalId,
    agentId,
    scopes,
    status: statusAt(row, now),
    reason,
    credentialId,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    decidedAt: row.decidedAt?.toISOString() ?? null,
  };
}

interface Person {
  readonly tenant: Tenant;
  readonly mode: Mode;
  readonly plan: Plan;
  readonly requestId: string;
  readonly browser?: Caller['browser'];
}

/** The principal as caller. */
export const personIn = ({ tenant, mode, plan, requestId, browser }: Person): Caller => ({
  tenant,
  agentIds: null,
  actor: 'principal',
  role: 'runtime',
  mode,
  plan,
  requestId,
  ...(browser && { browser }),
});
