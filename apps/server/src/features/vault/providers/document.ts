import { notFound } from '../../../platform/errors.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { openClient } from './client.ts';
import { findClientAcrossTenants } from './providers.repo.ts';
import type { ClientDocument } from './providers.schema.ts';
import { metadataDocument } from './registration.ts';
import { documentUrlOf, type ProviderDeps, redirectUriOf } from './show.ts';

/** @throws NOT_FOUND for a client that the upstream knows by other means */
export async function clientMetadata(deps: ProviderDeps, id: string): Promise<ClientDocument> {
  const row = await findClientAcrossTenants(deps.db, id);
  if (!row) throw notFound();
  const { developerId, authMethod } = row;
  const developerName = await findDeveloperName(deps.db, { developerId });
  const privateKey = openClient(deps.vault, row)?.privateKey;
  const documentUrl = documentUrlOf(deps, id);
  return metadataDocument({
    documentUrl,
    developerName,
    redirectUri: redirectUriOf(deps, id),
    authMethod,
    privateKey,
  });
}
