import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { type ConnectionRow, connectionsOfIssuer, hasVerifiedDomain } from '../../people/sso/index.ts';
import { findRuleOfClient, findTrust, type RuleRow, type TrustRow } from './assertions.repo.ts';
import { bad, type Claims } from './jwt.rules.ts';

/** The client that shows an assertion, as the token endpoint has authenticated it. */
export interface AssertingClient {
  readonly clientId: string;
  readonly agentId: string;
  /** Whether it has neither a secret nor a key. */
  readonly isPublic: boolean;
}

/** The provider that is believed, and how far. */
export interface Trusted {
  readonly connection: ConnectionRow;
  readonly trust: TrustRow;
  readonly rule: RuleRow;
}

/**
 * Row 4: finds whom to believe. Nothing of the assertion is verified yet, and it only says where to look.
 * @throws invalid_grant, unauthorized_client
 */
export async function trustedFor(
  db: Executor,
  tenant: Tenant,
  client: AssertingClient,
  claims: Claims,
): Promise<Trusted> {
  const enabled = await enabledAt(db, tenant, claims.iss);
  const { tenant: customer = null } = claims.all;
  const chosen = enabled.find(({ trust }) => trust.tenant === customer) ?? enabled[0];
  // A domain that the developer no longer has stops the provider that speaks for it.
  if (!chosen || !(await hasVerifiedDomain(db, tenant, chosen.connection))) throw bad('issuer');
  const rule = await findRuleOfClient(db, tenant, chosen.connection.id, client.clientId);
  if (rule?.status !== 'active' || (client.isPublic && !rule.allowPublic)) {
    throw oauthRefusal('unauthorized_client', 'client');
  }
  return { ...chosen, rule };
}

async function enabledAt(db: Executor, tenant: Tenant, issuer: string) {
  const enabled = [];
  for (const connection of await connectionsOfIssuer(db, tenant, issuer)) {
    const trust = await findTrust(db, tenant, connection.id);
    if (trust?.isEnabled) enabled.push({ connection, trust });
  }
  return enabled;
}
