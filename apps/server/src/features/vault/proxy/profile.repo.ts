import type { Insertable, Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { VaultProxyProfiles } from '../../../platform/db/types.gen.ts';

export type ProfileRow = Selectable<VaultProxyProfiles>;

const SHOWN = ['service', 'version', 'profile', 'createdAt', 'updatedAt'] as const;
export type ShownProfile = Pick<ProfileRow, (typeof SHOWN)[number]>;

/** A profile as far as a call needs it. */
export type CallableRow = Pick<ProfileRow, 'version' | 'profile'>;

const profileOf = lookUp<CallableRow, [developerId: string, service: string]>(
  'find_proxy_profile',
  'select version, profile from vault_proxy_profiles where developer_id = $1 and service = $2',
);

export async function findCallableProfile(
  db: Executor,
  { developerId }: Tenant,
  service: string,
): Promise<CallableRow | undefined> {
  return (await profileOf(db, developerId, service))[0];
}

export function findProfileRow(
  db: Executor,
  { developerId }: Tenant,
  service: string,
): Promise<ShownProfile | undefined> {
  return db
    .selectFrom('vaultProxyProfiles')
    .select(SHOWN)
    .where('developerId', '=', developerId)
    .where('service', '=', service)
    .executeTakeFirst();
}

/** Inserts a profile, or replaces the one of the service with a new version. The later of two at once wins. */
export function upsertProfile(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<VaultProxyProfiles>, 'developerId' | 'version'>,
): Promise<ShownProfile> {
  const { profile, proxyOnly, updatedAt } = row;
  return tx
    .insertInto('vaultProxyProfiles')
    .values({ ...row, developerId, version: 1 })
    .onConflict((conflict) =>
      conflict.columns(['developerId', 'service']).doUpdateSet((eb) => ({
        profile,
        proxyOnly,
        updatedAt,
        version: eb('vaultProxyProfiles.version', '+', 1),
      })),
    )
    .returning(SHOWN)
    .executeTakeFirstOrThrow();
}

export function listProfileRows(
  db: Executor,
  { developerId }: Tenant,
  { cursor, limit }: { readonly cursor?: string; readonly limit: number },
) {
  const all = db.selectFrom('vaultProxyProfiles').select(SHOWN).where('developerId', '=', developerId);
  const page = cursor ? all.where('service', '>', cursor) : all;
  return readPage(db, page.orderBy('service'), limit);
}

/** @returns whether there was one */
export async function deleteProfileRow(tx: Tx, { developerId }: Tenant, service: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('vaultProxyProfiles')
    .where('developerId', '=', developerId)
    .where('service', '=', service)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
