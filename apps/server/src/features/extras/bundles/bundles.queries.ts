import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Bundle } from './bundles.schema.ts';

/** The digest and the size of the active bundle of a format, if there is one. */
export const findActiveDigest = (db: Executor, { developerId }: Tenant, format: Bundle['format']) =>
  db
    .selectFrom('policyBundles')
    .select(({ fn }) => ['sha256', fn<number>('octet_length', ['content']).as('bytes')])
    .where('developerId', '=', developerId)
    .where('format', '=', format)
    .where('active', '=', true)
    .executeTakeFirst();

/** The content that has a digest. It stays readable when another bundle was activated meanwhile. */
export const findContentOf = (
  db: Executor,
  { developerId }: Tenant,
  { format, sha256 }: Pick<Bundle, 'format' | 'sha256'>,
) =>
  db
    .selectFrom('policyBundles')
    .select('content')
    .where('developerId', '=', developerId)
    .where('format', '=', format)
    .where('sha256', '=', sha256)
    .limit(1)
    .executeTakeFirst();
