import { createHash } from 'node:crypto';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { type Finished, finished } from '../../../platform/finished.ts';
import { serviceDidDocument } from './did.rules.ts';
import { keepDocumentTime, listDocumentTimes, listKeyRows, listRemovedRows } from './keys.repo.ts';
import type { SigningAlg } from './keys.rules.ts';
import type { ServiceDidDocument } from './keys.schema.ts';
import type { KeyRing } from './keys.ts';
import { lifeOf } from './store.ts';

export interface DidDeps {
  readonly keyRing: KeyRing;
  /** The host as in a URL, with the port if there is a port. */
  readonly didHost: string;
  readonly publicBaseUrl: string;
}

/** The DID document, made again when the keys change. */
export function serviceDidDocuments({ keyRing, didHost, publicBaseUrl }: DidDeps): () => Finished {
  let made: { of: readonly unknown[]; document: Finished } | undefined;
  return () => {
    const identity = keyRing.identity();
    const of = [identity.keys, identity.signingKid];
    if (!made?.of.every((part, at) => part === of[at])) {
      const text = JSON.stringify(serviceDidDocument(didHost, publicBaseUrl, identity));
      made = { of, document: finished(text) };
    }
    return made.document;
  };
}

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
async function timesOf({ db, clock }: ServiceDidDeps, document: ServiceDidDocument): Promise<DocumentTimes> {
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

/** The life of a signing key, for anybody who asks which key may have signed at a time. */
export interface PublicKeyLife {
  readonly kid: string;
  readonly alg: SigningAlg;
  readonly publishedAt: Date;
  readonly activatedAt: Date | null;
  readonly retiredAt: Date | null;
}

/** Removed keys that the history tells of. */
const MAX_REMOVED = 100;

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
  const rows = [...(await listKeyRows(db)), ...(await listRemovedRows(db, MAX_REMOVED))];
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
