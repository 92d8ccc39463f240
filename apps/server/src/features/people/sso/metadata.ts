import { notFound } from '../../../platform/errors.ts';
import type { SsoDeps } from './deps.ts';
import { samlMetadata } from './saml.ts';
import { findConnectionAcrossTenants } from './sso.repo.ts';

/** @throws NOT_FOUND for anything but a SAML connection */
export async function metadataOf({ db }: Pick<SsoDeps, 'db'>, id: string): Promise<string> {
  const row = await findConnectionAcrossTenants(db, id);
  if (row?.protocol !== 'saml') throw notFound();
  return samlMetadata(row);
}
