import { uncovered } from '@behest/protocol/scopes';
import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import type { OnConsentMode } from '../../accounts/developers/index.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { usersOfPrincipals } from '../scim/scim.queries.ts';
import type { SsoDeps } from './deps.ts';
import { usersOf } from './identities.repo.ts';
import type { SignOnState } from './sessions.queries.ts';
import type { Concerned } from './sso.hooks.ts';
import { domainOfPrincipal, mustHaveActiveConnection, type SignInAt } from './sso.queries.ts';
import { type ConnectionRow, lockActive, updateConnection } from './sso.repo.ts';

/** Consent by single sign-on needs a connection at which people sign in. @throws CONFLICT */
export const mustHaveConnectionForMode: OnConsentMode = async (tx, tenant, mode) => {
  if (mode === 'sso') await mustHaveActiveConnection(tx, tenant);
};

type EnforcingDeps = Pick<SsoDeps, 'db' | 'clock' | 'store' | 'onEnforced'>;

/** The refusal of a person who has to sign in first. @param at undefined where the service cannot tell the provider */
export const ssoRequired = (publicBaseUrl: string, at: SignInAt | undefined) =>
  new AppError(
    'SSO_REQUIRED',
    'This person has to sign in at their identity provider first.',
    at && { connectionId: at.connectionId, loginUrl: `${publicBaseUrl}${at.loginPath}` },
  );

/**
 * Refuses scopes that the person's groups do not allow.
 * @throws SSO_SCOPE_DENIED
 */
export function mustAllowScopes({ session }: SignOnState, scopes: readonly string[]): void {
  const denied = session?.limitsScopes ? uncovered(session.mappedScopes, scopes) : [];
  if (denied.length === 0) return;
  throw new AppError('SSO_SCOPE_DENIED', 'The groups of this person do not allow these scopes.', {
    scopes: denied,
  });
}

/** Sets the enforcement of every active connection. @throws CONFLICT when nobody has got through any yet */
export async function setEnforcement(
  deps: EnforcingDeps,
  caller: Caller,
  enforce: boolean,
): Promise<{ enforce: boolean; developerId: string }> {
  const { tenant } = caller;
  const at = deps.clock();
  await inTransaction(deps.db, async (tx) => {
    const rows = await lockActive(tx, tenant);
    if (enforce && !rows.some((row) => row.lastTestedAt !== null || row.lastLoginAt !== null)) {
      const message = 'No active connection has passed a test or a login yet. Test one first.';
      throw new AppError('CONFLICT', message, { field: 'enforce' });
    }
    const changing = rows.filter((row) => row.enforce !== enforce);
    for (const { id } of changing) await updateConnection(tx, tenant, id, { enforce, updatedAt: at });
    if (changing.length === 0) return;
    const ended = enforce ? await beginEnforcement(deps, tx, caller, changing, at) : [];
    await recordActs(tx, caller, [{ type: 'sso.enforcement_changed', data: { enforce } }, ...ended], at);
  });
  return { enforce, developerId: tenant.developerId };
}

/**
 * Ends the sessions that principals opened before these connections were enforced. Nobody had asked them to sign in.
 * @returns acts, which the caller records
 */
export async function beginEnforcement(
  { onEnforced, store }: Pick<EnforcingDeps, 'onEnforced' | 'store'>,
  tx: Tx,
  caller: Caller,
  connections: readonly Pick<ConnectionRow, 'id' | 'domains'>[],
  at: Date,
): Promise<Act[]> {
  const concerned = concernedBy(tx, caller.tenant, connections);
  const acts: Act[] = [];
  for (const listener of onEnforced) acts.push(...(await listener(tx, caller, { concerned, store, at })));
  return acts;
}

function concernedBy(
  db: Executor,
  tenant: Tenant,
  connections: readonly Pick<ConnectionRow, 'id' | 'domains'>[],
): Concerned {
  const isVerified = new Map<string, boolean>();
  const listed = new Set(connections.flatMap(({ domains }) => domains));
  return async (principalIds) => {
    if (principalIds.length === 0) return [];
    const ids = connections.map(({ id }) => id);
    const linked = new Set(await usersOf(db, tenant, ids));
    const users = await usersOfPrincipals(db, tenant, principalIds);
    const concerned: string[] = [];
    for (const principalId of principalIds) {
      const domain = domainOfPrincipal(principalId);
      if (listed.has(domain) && !isVerified.has(domain)) {
        isVerified.set(domain, await isVerifiedBy(db, tenant, domain));
      }
      if (isVerified.get(domain) || linked.has(users.get(principalId) ?? '')) concerned.push(principalId);
    }
    return concerned;
  };
}
