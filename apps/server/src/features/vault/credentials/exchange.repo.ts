import type { GrantHolder, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hotCall, type Records } from '../../../platform/db/hot-writes.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import { sharedAgents } from '../../accounts/agents/agents.queries.ts';
import type { CredentialRow } from './credentials.repo.ts';

export type ExchangeableRow = Pick<
  CredentialRow,
  | 'id'
  | 'credentialType'
  | 'tokenExpiresAt'
  | 'metadata'
  | 'keyId'
  | 'dataKey'
  | 'accessToken'
  | 'refreshStatus'
  | 'refreshAfter'
  | 'version'
  | 'proxy'
  | 'updatedAt'
  | 'providerId'
  | 'connection'
  | 'connectionStatus'
  | 'connectionReason'
> & {
  /** Whether the service's profile leaves the credential to the proxy now. */
  readonly isProxyOnly: boolean;
};

const exchangeable = lookUp<ExchangeableRow, [developerId: string, principalId: string, service: string]>(
  'find_exchangeable',
  `select c.id, c.credential_type as "credentialType", c.token_expires_at as "tokenExpiresAt", c.metadata,
     c.key_id as "keyId", c.data_key as "dataKey", c.access_token as "accessToken", c.refresh_status as "refreshStatus",
     c.refresh_after as "refreshAfter",
     c.version, c.proxy, c.updated_at as "updatedAt", coalesce(p.proxy_only, false) as "isProxyOnly",
     c.provider_id as "providerId", c.connection, c.connection_status as "connectionStatus",
     c.connection_reason as "connectionReason"
   from vault_credentials c
   left join vault_proxy_profiles p on p.developer_id = $1 and p.service = c.service
   where c.developer_id = $1 and c.principal_id = $2 and c.service = $3
     and c.disconnecting_at is null`,
);

export async function findExchangeable(
  db: Executor,
  { developerId }: Tenant,
  principalId: string,
  service: string,
): Promise<ExchangeableRow | undefined> {
  return (await exchangeable(db, developerId, principalId, service))[0];
}

interface ExchangeWrite {
  readonly holder: Pick<GrantHolder, 'agentId' | 'grantId' | 'tokenId'>;
  readonly row: Pick<ExchangeableRow, 'id' | 'version'>;
  /** The data key under the current vault key, when a former one seals it. */
  readonly sealedAgain: Pick<CredentialRow, 'dataKey' | 'keyId'> | undefined;
  readonly records: Records;
}

export type ExchangeRefusal = 'token_ended' | 'changed' | null;

/** A hot write. @returns the reason when nothing was written, else null */
export function writeExchange(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { holder, row, sealedAgain, records }: ExchangeWrite,
): Promise<ExchangeRefusal> {
  const { agentId, grantId, tokenId } = holder;
  const values = { tokenId, credentialId: row.id, version: row.version, ...sealedAgain };
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: hotCall('write_vault_exchange', values),
    locks: [[sharedAgents, [agentId]]],
    turn: `grant ${grantId}`,
  });
}
