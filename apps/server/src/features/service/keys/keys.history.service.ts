import type { Executor } from '../../../platform/db/db.ts';
import { serviceDidDocument } from './keys.did.rules.ts';
import type { ServiceDidDocument } from './keys.did.schema.ts';
import type { DidDeps } from './keys.did.service.ts';
import { listKeyRows, listRemovedRows } from './keys.repo.ts';
import type { SigningAlg } from './keys.rules.ts';
import { lifeOf } from './keys.store.service.ts';

export interface ServiceDidDeps extends DidDeps {
  readonly db: Executor;
}

/** The life of a signing key, for anybody who asks which key may have signed at a time. */
export interface PublicKeyLife {
  readonly kid: string;
  readonly alg: SigningAlg;
  readonly publishedAt: Date;
  readonly activatedAt: Date | null;
  readonly retiredAt: Date | null;
}

/** Removed keys that the history tells of. */
const MOST_REMOVED = 100;

/** The DID of the service, resolved. The history is there when the database holds the keys. */
export async function serviceDid({ db, keyRing, didHost, publicBaseUrl }: ServiceDidDeps): Promise<{
  readonly document: ServiceDidDocument;
  readonly history: readonly PublicKeyLife[] | undefined;
}> {
  const document = serviceDidDocument(didHost, publicBaseUrl, keyRing.identity());
  if (!keyRing.stored) return { document, history: undefined };
  const rows = [...(await listKeyRows(db)), ...(await listRemovedRows(db, MOST_REMOVED))];
  const history = rows
    .map((row) => ({ ...lifeOf(row), activatedAt: row.activatedAt }))
    .map(({ kid, alg, publishedAt, activatedAt, retiredAt }) => ({
      kid,
      alg,
      publishedAt,
      activatedAt,
      retiredAt,
    }))
    .sort((a, b) => a.publishedAt.getTime() - b.publishedAt.getTime());
  return { document, history };
}
