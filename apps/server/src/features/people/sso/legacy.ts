import type { Caller } from '../../../platform/caller.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { addConnection, changeConnection, deleteConnection } from './connections.ts';
import type { SsoDeps } from './deps.ts';
import { membersOf } from './secrets.ts';
import { type ConnectionRow, findConnection, findDefault } from './sso.repo.ts';
import type { LegacySsoConfig, LegacySsoConfigInput } from './sso.schema.ts';

const NAME = 'default';

/** Writes the single configuration of older clients: the connection `default`. */
export async function putConfig(
  deps: SsoDeps,
  caller: Caller,
  input: LegacySsoConfigInput,
): Promise<LegacySsoConfig> {
  const { redirectUri, ...members } = input;
  const settings = { ...members, redirectUris: [redirectUri] };
  const before = await findDefault(deps.db, caller.tenant);
  const { id } = before
    ? await changeConnection(deps, caller, before.id, { ...settings, status: 'active' })
    : await addConnection(deps, caller, { name: NAME, protocol: 'oidc', ...settings }, { isDefault: true });
  const row = await findConnection(deps.db, caller.tenant, id);
  if (!row) throw new AppError('CONFLICT', 'The configuration was deleted meanwhile.');
  return toConfig(row);
}

/** @throws NOT_FOUND */
export const getConfig = async (deps: SsoDeps, caller: Caller): Promise<LegacySsoConfig> =>
  toConfig(await defaultOf(deps, caller));

/** @throws NOT_FOUND, CONFLICT */
export async function deleteConfig(deps: SsoDeps, caller: Caller): Promise<void> {
  const { id } = await defaultOf(deps, caller);
  await deleteConnection(deps, caller, id);
}

async function defaultOf({ db }: SsoDeps, { tenant }: Caller): Promise<ConnectionRow> {
  const row = await findDefault(db, tenant);
  if (!row) throw notFound();
  return row;
}

function toConfig(row: ConnectionRow): LegacySsoConfig {
  const { issuerUrl = '', clientId = '', redirectUris } = membersOf(row);
  return {
    issuerUrl,
    clientId,
    redirectUri: redirectUris[0] ?? '',
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
