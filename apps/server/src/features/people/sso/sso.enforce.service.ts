import { uncovered } from '@behest/protocol/scopes';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { enforcedFor } from './sso.queries.ts';

interface EnforceDeps {
  readonly db: Executor;
  readonly publicBaseUrl: string;
}

interface Acting {
  readonly tenant: Tenant;
  readonly principalId: string;
  readonly now: Date;
  /** The scopes that the principal would approve. */
  readonly scopes?: readonly string[];
}

/**
 * Demands a live session of single sign-on from a principal for whom it is enforced.
 * @throws SSO_REQUIRED, SSO_SCOPE_DENIED
 */
export async function mustBeSignedOn(deps: EnforceDeps, acting: Acting): Promise<void> {
  const { tenant, principalId, now, scopes = [] } = acting;
  const enforced = await enforcedFor(deps.db, tenant, principalId, now);
  if (!enforced) return;
  const { connectionId, loginPath, mappedScopes, limitsScopes } = enforced;
  if (mappedScopes === undefined) {
    throw new AppError('SSO_REQUIRED', 'This person has to sign in at their identity provider first.', {
      connectionId,
      loginUrl: `${deps.publicBaseUrl}${loginPath}`,
    });
  }
  const denied = limitsScopes ? uncovered(mappedScopes, scopes) : [];
  if (denied.length > 0) {
    throw new AppError('SSO_SCOPE_DENIED', 'The groups of this person do not allow these scopes.', {
      scopes: denied,
    });
  }
}
