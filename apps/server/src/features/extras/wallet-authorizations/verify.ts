import { findAgentStanding } from '../../accounts/agents/agents.queries.ts';
import { type Checked, credentialChecker, SENTENCES } from '../verifiable-credentials/index.ts';
import { findAuthorization } from './wallet-authorizations.repo.ts';
import { statusOf } from './wallet-authorizations.rules.ts';
import type { AuthorizationCode, VerifiedAuthorization } from './wallet-authorizations.schema.ts';
import type { WalletDeps } from './wallet-authorizations.ts';

const OWN_SENTENCES = { ...SENTENCES, consumed: 'The authorization was used.' } as const;

/** Says of an authorization whether it is genuine and can be used now. It always answers. */
export function authorizationVerifier(deps: WalletDeps) {
  const check = credentialChecker(deps, 'wallet-authorization');
  return async (authorization: string): Promise<VerifiedAuthorization> => {
    const { payload, code }: Checked = check(authorization, deps.issuer);
    if (!payload) return refusal(code ?? 'malformed');
    const { jti, dev, exp, account, max, payee, nonce } = Object(payload);
    const shown = {
      ...{ id: jti, account, maxAmount: max },
      ...(payee !== undefined && { payee }),
      ...(nonce !== undefined && { nonce }),
      expiresAt: new Date(exp * 1000).toISOString(),
    };
    if (code) return { ...refusal(code), ...shown };
    const reach = { tenant: { developerId: String(dev) }, agentIds: null };
    const row = await findAuthorization(deps.db, reach, String(jti));
    if (!row) return { ...refusal('status_unavailable'), ...shown };
    const status = statusOf(row, deps.clock());
    if (status !== 'active') return { ...refusal(status), ...shown };
    const standing = await findAgentStanding(deps.db, reach.tenant, row.agentId);
    return standing === 'active' ? { valid: true, ...shown } : { ...refusal('suspended'), ...shown };
  };
}

const refusal = (code: AuthorizationCode) => ({ valid: false, error: OWN_SENTENCES[code], code });
