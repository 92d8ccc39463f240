import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hotCall } from '../../../platform/db/hot-writes.ts';
import type { Records } from '../../../platform/db/records.ts';
import { lookUp } from '../../../platform/db/statement.ts';
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
  | 'version'
  | 'providerId'
  | 'connection'
  | 'connectionStatus'
  | 'connectionReason'
>;

const exchangeable = lookUp<ExchangeableRow, [developerId: string, principalId: string, service: string]>(
  'find_exchangeable',
  `select id, credential_type as "credentialType", token_expires_at as "tokenExpiresAt", metadata, key_id as "keyId",
     data_key as "dataKey", access_token as "accessToken", refresh_status as "refreshStatus", version,
     provider_id as "providerId", connection, connection_status as "connectionStatus",
     connection_reason as "connectionReason"
   from vault_credentials
   where developer_id = $1 and principal_id = $2 and service = $3 and disconnecting_at is null`,
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
  readonly tokenId: string;
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
  { tokenId, row, sealedAgain, records }: ExchangeWrite,
): Promise<ExchangeRefusal> {
  const values = { tokenId, credentialId: row.id, version: row.version, ...sealedAgain };
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: hotCall('write_vault_exchange', values),
    turn: `vault ${row.id}`,
  });
}
