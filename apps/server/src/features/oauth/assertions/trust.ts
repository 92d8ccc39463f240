import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField, notFound, oauthRefusal } from '../../../platform/errors.ts';
import { findAccount } from '../../accounts/developers/developers.queries.ts';
import { revokeGrantsWithin } from '../../grants/grants/index.ts';
import {
  type ConnectionRow,
  connectionsOfIssuer,
  findActiveOidc,
  hasVerifiedDomain,
  isSharedIssuer,
  membersOf,
} from '../../people/sso/index.ts';
import { hasConnection } from '../../people/sso/sso.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  deleteTrust,
  findRuleOfClient,
  findTrust,
  listAssertionGrantIds,
  putTrust,
  type RuleRow,
  type TrustRow,
} from './assertions.repo.ts';
import { ACKNOWLEDGED, type IdJagTrust, type NewIdJagTrust } from './assertions.schema.ts';
import { bad, type Claims } from './jwt.rules.ts';

interface Deps {
  readonly db: Executor;
  readonly clock: Clock;
}

/**
 * Lets the identity provider of a connection decide for its people, or stops it. Another `tenant` names another customer
 * of the provider, so the service ends all grants that the provider's assertions have made.
 * @throws NOT_FOUND, CONFLICT with the field that prevents it, BAD_REQUEST
 */
export function putIdJag(
  { db, clock }: Deps,
  caller: Caller,
  connectionId: string,
  input: NewIdJagTrust,
): Promise<IdJagTrust> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    if (!(await hasConnection(tx, caller.tenant, connectionId))) throw notFound();
    const before = await findTrust(tx, caller.tenant, connectionId);
    if (input.enabled) await mustBeFit(tx, caller, connectionId, input, before?.isEnabled === true);
    const row = await putTrust(tx, caller.tenant, {
      connectionId,
      isEnabled: input.enabled,
      tenant: input.tenant,
      longestSeconds: input.maxAssertionSeconds,
      createdAt: at,
      updatedAt: at,
    });
    const isOther = before !== undefined && before.tenant !== input.tenant;
    const ended = isOther ? await endStanding(tx, caller, connectionId, at) : [];
    const data = { connectionId, enabled: input.enabled };
    await recordActs(tx, caller, [{ type: 'sso.id_jag.updated', data }, ...ended], at);
    return toTrust(row);
  });
}

const conflict = (field: string, message: string) => new AppError('CONFLICT', message, { field });

async function mustBeFit(
  tx: Tx,
  { tenant }: Caller,
  connectionId: string,
  input: NewIdJagTrust,
  wasEnabled: boolean,
): Promise<void> {
  const connection = await findActiveOidc(tx, tenant, connectionId);
  if (!connection)
    throw conflict('status', 'Only an active connection of OpenID Connect can speak for people.');
  if (!(await hasVerifiedDomain(tx, tenant, connection))) {
    throw conflict('domains', 'Verify a domain of this connection first.');
  }
  if (needsTenant(connection) && input.tenant === null) {
    throw conflict('tenant', 'Many customers share this issuer; name the customer with `tenant`.');
  }
  if (wasEnabled || input.acknowledge === ACKNOWLEDGED) return;
  const { consentMode } = await findAccount(tx, tenant);
  if (consentMode === 'passkey') {
    throw conflict(
      'consentMode',
      `Your people sign with passkeys; send \`acknowledge\` to give that up here.`,
    );
  }
  throw badField('acknowledge', 'required', `Nobody will be asked. Send \`acknowledge\`: "${ACKNOWLEDGED}".`);
}

const needsTenant = (row: ConnectionRow) => isSharedIssuer(membersOf(row).issuerUrl ?? '');

/** @throws NOT_FOUND */
export async function getIdJag({ db }: Deps, { tenant }: Caller, connectionId: string): Promise<IdJagTrust> {
  const row = await findTrust(db, tenant, connectionId);
  if (!row) throw notFound();
  return toTrust(row);
}

/** Ends the trust, and every grant that was made by it. @throws NOT_FOUND */
export function deleteIdJag({ db, clock }: Deps, caller: Caller, connectionId: string): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    if (!(await deleteTrust(tx, caller.tenant, connectionId))) throw notFound();
    const ended = await endStanding(tx, caller, connectionId, at);
    const data = { connectionId, enabled: false };
    await recordActs(tx, caller, [{ type: 'sso.id_jag.updated', data }, ...ended], at);
  });
}

/**
 * Stops the trust in a connection whose issuer is another now, and ends every grant that was made by it. The administrator
 * enables it for the new issuer.
 * @returns acts, which the caller records
 */
export async function distrust(
  tx: Tx,
  caller: Caller,
  { connectionId, at }: { readonly connectionId: string; readonly at: Date },
): Promise<readonly Act[]> {
  const { tenant } = caller;
  const trust = await findTrust(tx, tenant, connectionId);
  if (!trust) return [];
  const { developerId: _, ...row } = trust;
  await putTrust(tx, tenant, { ...row, isEnabled: false, updatedAt: at });
  const ended = await endStanding(tx, caller, connectionId, at);
  const stopped: Act = { type: 'sso.id_jag.updated', data: { connectionId, enabled: false } };
  return trust.isEnabled ? [stopped, ...ended] : ended;
}

/** Ends every grant that was made through a connection. @returns acts, which the caller records */
async function endStanding(tx: Tx, caller: Caller, connectionId: string, at: Date): Promise<Act[]> {
  const ids = await listAssertionGrantIds(tx, caller.tenant, { connectionId });
  return revokeGrantsWithin(tx, caller, ids, { reason: 'idp_rule' }, at);
}

function toTrust(row: TrustRow): IdJagTrust {
  const { connectionId, isEnabled, tenant, longestSeconds, createdAt, updatedAt } = row;
  return {
    connectionId,
    enabled: isEnabled,
    tenant,
    maxAssertionSeconds: longestSeconds,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

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
