import { notFound } from '../../../platform/errors.ts';
import type { SsoDeps } from './sso.deps.service.ts';
import { findConnectionAcrossTenants } from './sso.repo.ts';
import { samlMetadata } from './sso.saml.service.ts';

/** @throws NOT_FOUND for anything but a SAML connection */
export async function metadataOf({ db }: Pick<SsoDeps, 'db'>, id: string): Promise<string> {
  const row = await findConnectionAcrossTenants(db, id);
  if (row?.protocol !== 'saml') throw notFound();
  return samlMetadata(row);
}
