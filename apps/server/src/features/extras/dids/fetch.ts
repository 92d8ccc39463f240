import { JsonError, parseJson } from '@behest/protocol/json';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../platform/clock.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { AppError } from '../../../platform/errors.ts';
import { webDidUrl } from './dids.rules.ts';
import { unsupported } from './dids.ts';

const MOST_KEPT = 500; // documents of at most 64 KiB
const KEPT = 300_000; // milliseconds, as the service asks resolvers to keep its own document

/** Fetches documents of `did:web`, and keeps them for a while, so that callers cannot have one host asked often. */
export function documentFetcher({ egress, clock }: { readonly egress: Egress; readonly clock: Clock }) {
  const kept = new LRUCache<string, { document: object; until: number }>({ max: MOST_KEPT });
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
