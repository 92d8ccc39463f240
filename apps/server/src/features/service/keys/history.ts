import { serviceDidDocument } from './did.rules.ts';
import type { ServiceDidDocument } from './did.schema.ts';
import { type DocumentTimes, type ServiceDidDeps, timesOf } from './documents.ts';
import { listKeyRows, listRemovedRows } from './keys.repo.ts';
import type { SigningAlg } from './keys.rules.ts';
import { lifeOf } from './store.ts';

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
export async function serviceDid(deps: ServiceDidDeps): Promise<
  DocumentTimes & {
    readonly document: ServiceDidDocument;
    readonly history: readonly PublicKeyLife[] | undefined;
  }
> {
  const { db, keyRing, didHost, publicBaseUrl } = deps;
  const document = serviceDidDocument(didHost, publicBaseUrl, keyRing.identity());
  if (!keyRing.stored) return { document, history: undefined, ...(await timesOf(deps, document)) };
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
  const turns = history.flatMap((key) => [key.publishedAt, key.activatedAt, key.retiredAt]);
  const times = turns.filter((time) => time !== null).map((time) => time.getTime());
  const [created, updated] = [new Date(Math.min(...times)), new Date(Math.max(...times))];
  return { document, history, created, updated };
}
