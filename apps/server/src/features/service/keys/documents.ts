import { createHash } from 'node:crypto';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { serviceDidDocument } from './did.rules.ts';
import type { ServiceDidDocument } from './did.schema.ts';
import type { DidDeps } from './did.ts';
import { keepDocumentTime, listDocumentTimes } from './documents.repo.ts';

export interface ServiceDidDeps extends DidDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** @see https://www.w3.org/TR/did-resolution/#did-document-metadata */
export interface DocumentTimes {
  readonly created: Date;
  readonly updated: Date;
}

/** Notes the document with which the service starts, where the settings hold the keys. */
export async function noteDocument(deps: ServiceDidDeps): Promise<void> {
  const { keyRing, didHost, publicBaseUrl } = deps;
  await timesOf(deps, serviceDidDocument(didHost, publicBaseUrl, keyRing.identity()));
}

/**
 * When the service first had a document under its DID, and when it first had this one. The settings tell no times of
 * their keys. A document changes without a start when a key begins to sign, so it is looked for at each resolution.
 */
export async function timesOf(
  { db, clock }: ServiceDidDeps,
  document: ServiceDidDocument,
): Promise<DocumentTimes> {
  const { id: did } = document;
  const sha256 = createHash('sha256').update(JSON.stringify(document)).digest('base64url');
  let known = await listDocumentTimes(db, did);
  if (!known.some((one) => one.sha256 === sha256)) {
    await keepDocumentTime(db, { did, sha256, firstMadeAt: clock() });
    known = await listDocumentTimes(db, did);
  }
  const times = known.map(({ firstMadeAt }) => firstMadeAt.getTime());
  const updated = known.find((one) => one.sha256 === sha256)?.firstMadeAt ?? clock();
  return { created: new Date(Math.min(updated.getTime(), ...times)), updated };
}
