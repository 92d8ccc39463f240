import { didOfHost } from '@behest/protocol/did';
import { AppError, notFound } from '../../../platform/errors.ts';
import { resolveAgentDid } from '../../accounts/agents/index.ts';
import {
  type PublicKeyLife,
  readMultikey,
  type ServiceDidDeps,
  serviceDid,
} from '../../service/keys/index.ts';
import { keyDidDocument } from './dids.rules.ts';
import type { Resolution } from './dids.schema.ts';

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
export async function resolveDid(deps: DidDeps, did: string): Promise<Resolution> {
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

export const unsupported = () =>
  new AppError('UNSUPPORTED_DID', 'The service does not resolve this DID. Use a resolver of its method.');

async function resolveService(deps: DidDeps): Promise<Resolution> {
  const { document, history, created, updated } = await serviceDid(deps);
  return resolution(document, {
    created: created.toISOString(),
    updated: updated.toISOString(),
    ...(history && { keyHistory: history.map(toLife) }),
  });
}

const resolution = (
  didDocument: object | null,
  metadata: Omit<Resolution['didDocumentMetadata'], 'deactivated'> = {},
): Resolution => ({
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
