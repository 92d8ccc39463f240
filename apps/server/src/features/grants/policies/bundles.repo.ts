import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** The digest and the size of the active Cedar bundle, if there is one. */
export const findActiveDigest = (db: Executor, { developerId }: Tenant) =>
  db
    .selectFrom('policyBundles')
    .select(({ fn }) => ['sha256', fn<number>('octet_length', ['content']).as('bytes')])
    .where('developerId', '=', developerId)
    .where('format', '=', 'cedar')
    .where('active', '=', true)
    .executeTakeFirst();

/** The content that has a digest. It stays readable when another bundle was activated meanwhile. */
export const findContentOf = (db: Executor, { developerId }: Tenant, sha256: string) =>
  db
    .selectFrom('policyBundles')
    .select('content')
    .where('developerId', '=', developerId)
    .where('format', '=', 'cedar')
    .where('sha256', '=', sha256)
    .limit(1)
    .executeTakeFirst();
