import { systemCaller, type Tenant } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import {
  currentKey,
  newEnvelope,
  openEnvelope,
  type Portion,
  type Rotation,
  rotationOf,
} from '../../../platform/envelope.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { recordEntry } from '../../record/audit/index.ts';
import type { SsoDeps } from './deps.ts';
import {
  type ConnectionRow,
  listConnectionsUnderAcrossTenants,
  nextConnectionKeyAcrossTenants,
  replaceConnectionKey,
} from './sso.repo.ts';
import { type SsoMembers, secretGoesTo } from './sso.rules.ts';
import type { SsoConnectionChange } from './sso.schema.ts';

/** While instances restart with a new key, those with the old one may seal under it once more. */
const EVERY_SECONDS = 60;

export const connectionRotation = (rotation: Rotation): Job => ({
  name: 'connection rotation',
  everySeconds: EVERY_SECONDS,
  run: (signal) => rotateConnectionKeys(rotation, signal),
});

export const { rows: sealedConnections, rotate: rotateConnectionKeys } = rotationOf<ConnectionRow>({
  warning: 'secrets of connections open under no configured key, and have to be sent again',
  nextKeyId: nextConnectionKeyAcrossTenants,
  listUnder: listConnectionsUnderAcrossTenants,
  seal: sealConnections,
});

/** Each connection has its own entry, which names it. */
async function sealConnections(
  { db, clock, vault, warn }: Rotation,
  { developerId, rows, fromKeyId, current }: Portion<ConnectionRow>,
): Promise<void> {
  const tenant = { developerId };
  for (const row of rows) {
    const owner = [developerId, row.id, secretGoesTo(membersOf(row))] as const;
    const envelope = row.dataKey === null ? undefined : openEnvelope(vault, row.dataKey, owner);
    if (!envelope) {
      warn(`the secret of ${row.id} does not open under the vault key ${fromKeyId}`);
      continue;
    }
    const { dataKey, keyId } = envelope.under(current);
    await inTransaction(db, async (tx) => {
      if (!(await replaceConnectionKey(tx, tenant, row, { dataKey, keyId }))) return;
      const data = { connectionId: row.id, fromKeyId, toKeyId: current.id };
      const caller = systemCaller(tenant, { mode: 'live', plan: 'free' }, 'connection rotation');
      await recordEntry(tx, caller, { action: 'sso.connection_key.rotated', data }, clock());
    });
  }
}

/** The stored members. */
export const membersOf = ({ settings }: Pick<ConnectionRow, 'settings'>): SsoMembers => Object(settings); // stored by this service

/** The clientSecret or bind password. It is required where the protocol has one. */
export const secretIn = ({ clientSecret, ldapBindPassword }: SsoConnectionChange) =>
  clientSecret ?? ldapBindPassword;

/** The member that holds the secret of each protocol. */
export const SECRET_NAMES = { oidc: 'clientSecret', ldap: 'ldapBindPassword', saml: undefined } as const;

interface Sealing {
  readonly id: string;
  readonly members: SsoMembers;
  readonly secret: string | undefined;
}

/** @throws NOT_CONFIGURED */
export function sealed(
  { vault }: Pick<SsoDeps, 'vault'>,
  { developerId }: Tenant,
  { id, members, secret }: Sealing,
) {
  if (secret === undefined) return {};
  const envelope = newEnvelope(currentKey(vault), [developerId, id, secretGoesTo(members)]);
  const { dataKey, keyId } = envelope;
  return { dataKey, keyId, secret: envelope.seal('secret', secret) };
}

/** Opens the client secret or bind password. @throws an error when the row or its key is another */
export function openSecret({ vault }: Pick<SsoDeps, 'vault'>, row: ConnectionRow): string {
  const { developerId, id, dataKey, secret } = row;
  const envelope = openEnvelope(vault, dataKey ?? '', [developerId, id, secretGoesTo(membersOf(row))]);
  const opened = secret === null ? undefined : envelope?.open('secret', secret);
  if (opened === undefined) throw new Error(`The secret of connection ${id} does not open.`);
  return opened;
}
