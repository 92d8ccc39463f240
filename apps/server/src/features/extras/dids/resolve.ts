import { didOfHost } from '@behest/protocol/did';
import { JsonError, parseJson } from '@behest/protocol/json';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../platform/clock.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { resolveAgentDid } from '../../accounts/agents/index.ts';
import {
  type PublicKeyLife,
  readMultikey,
  type ServiceDidDeps,
  serviceDid,
} from '../../service/keys/index.ts';
import type { DidResolution } from './dids.schema.ts';

export interface DidDeps extends ServiceDidDeps {
  /** Fetches documents of other hosts. Undefined when the operator does not let the service do so. */
  readonly fetchDocument: ((did: string) => Promise<object>) | undefined;
}

/** Without a path, a query or a fragment, which make a DID URL. @see https://www.w3.org/TR/did-core/#did-syntax */
const READABLE = /^did:[a-z0-9]+:[A-Za-z0-9._:%-]{1,200}$/;

/**
 * Resolves DIDs of this service, of its agents, of keys, and with the operator's permission of other hosts.
 * @throws NOT_FOUND, UNSUPPORTED_DID, UPSTREAM_ERROR
 */
export async function resolveDid(deps: DidDeps, did: string): Promise<DidResolution> {
  const own = didOfHost(deps.didHost);
  if (!READABLE.test(did)) throw unsupported();
  if (did === own) return resolveService(deps);
  if (did.startsWith('did:web:')) {
    // An agent keeps the host that it was registered under, so the whole DID decides.
    const agent = did.includes(':agents:') ? await resolveAgentDid(deps, did) : undefined;
    if (agent) {
      return resolution(agent.document, {
        created: agent.createdAt.toISOString(),
        updated: agent.updatedAt.toISOString(),
      });
    }
    if (did.startsWith(`${own}:`)) throw notFound();
    if (deps.fetchDocument) return resolution(await deps.fetchDocument(did));
  }
  const multikey = /^did:key:(.+)$/.exec(did)?.[1];
  const key = multikey === undefined ? undefined : readMultikey(multikey);
  if (multikey === undefined || !key) throw unsupported();
  return resolution(keyDidDocument(multikey, key.kind === 'X25519'));
}

const unsupported = () =>
  new AppError('UNSUPPORTED_DID', 'The service does not resolve this DID. Use a resolver of its method.');

async function resolveService(deps: DidDeps): Promise<DidResolution> {
  const { document, history, created, updated } = await serviceDid(deps);
  return resolution(document, {
    created: created.toISOString(),
    updated: updated.toISOString(),
    ...(history && { keyHistory: history.map(toLife) }),
  });
}

const resolution = (
  didDocument: object | null,
  metadata: Omit<DidResolution['didDocumentMetadata'], 'deactivated'> = {},
): DidResolution => ({
  didDocument,
  didResolutionMetadata: { contentType: 'application/did+json' },
  didDocumentMetadata: { ...metadata, deactivated: didDocument === null },
});

const toLife = ({ kid, alg, publishedAt, activatedAt, retiredAt }: PublicKeyLife) => ({
  kid,
  alg,
  publishedAt: publishedAt.toISOString(),
  activatedAt: activatedAt?.toISOString() ?? null,
  retiredAt: retiredAt?.toISOString() ?? null,
});

/**
 * The document of a `did:key`, which follows from the DID alone.
 * @param isForAgreement whether the key agrees on others, and signs nothing
 * @see https://w3c-ccg.github.io/did-key-spec/
 */
function keyDidDocument(multikey: string, isForAgreement: boolean): object {
  const did = `did:key:${multikey}`;
  const id = `${did}#${multikey}`;
  const method = { id, type: 'Multikey', controller: did, publicKeyMultibase: multikey };
  const uses = isForAgreement ? { keyAgreement: [id] } : { authentication: [id], assertionMethod: [id] };
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: [method],
    ...uses,
  };
}

/**
 * The address of a `did:web` document. A DID with a port has none: the caller names the host, and must not probe others'
 * ports through the service.
 * @see https://w3c-ccg.github.io/did-method-web/#read-resolve
 */
export function webDidUrl(did: string): string | undefined {
  const [host = '', ...path] = did.slice('did:web:'.length).split(':');
  const isName = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/.test(host);
  if (!isName || path.some((part) => !/^[A-Za-z0-9._-]+$/.test(part) || /^\.+$/.test(part))) return undefined;
  return path.length === 0
    ? `https://${host}/.well-known/did.json`
    : `https://${host}/${path.join('/')}/did.json`;
}

const MAX_KEPT = 500; // documents of at most 64 KiB
const KEPT = 300_000; // milliseconds, as the service asks resolvers to keep its own document

/** Fetches documents of `did:web`, and keeps them for a while, so that callers cannot have one host asked often. */
export function documentFetcher({ egress, clock }: { readonly egress: Egress; readonly clock: Clock }) {
  const kept = new LRUCache<string, { document: object; until: number }>({ max: MAX_KEPT });
  return async (did: string): Promise<object> => {
    const url = webDidUrl(did);
    if (!url) throw unsupported();
    const now = clock().getTime();
    const known = kept.get(did);
    if (known && now < known.until) return known.document;
    const answer = await egress.ask({
      url,
      method: 'GET',
      headers: { accept: 'application/did+json, application/json' },
    });
    const document = answer.status === 200 ? documentIn(answer.body, did) : undefined;
    if (!document) {
      throw new AppError(
        'UPSTREAM_ERROR',
        'The host of this DID has no such document, or cannot be reached.',
      );
    }
    kept.set(did, { document, until: now + KEPT });
    return document;
  };
}

/** A document is that of the DID that it names, and of no other. */
function documentIn(body: Buffer, did: string): object | undefined {
  try {
    const document = Object(parseJson(body));
    return document.id === did ? document : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
