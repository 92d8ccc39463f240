import type { IncomingHttpHeaders } from 'node:http';
import { JsonError, parseJson } from '@behest/protocol/json';
import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import type { ChargeClient } from '../../../platform/charge.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import {
  type ClientKeys,
  clientInDocument,
  type DescribedClient,
  isDocumentUrl,
  keysIn,
} from './described.ts';
import { rates } from './oauth.rates.ts';

const MAX_KEPT = 1000; // documents of at most 5 KiB
const MIN_SECONDS = 300; // seconds
const MAX_SECONDS = 86_400; // seconds
const AFTER_FAILURE = 60; // seconds
const JSON_TYPE = /^application\/([\w.+-]+\+)?json\s*(;|$)/i;

/** Anybody names the address, so little is read and no long answer is waited for. */
export const DOCUMENT_BOUNDS = { timeoutMilliseconds: 5000, mostBytes: 5120 } as const;

export interface DocumentDeps {
  readonly egress: Egress;
  readonly clock: Clock;
  readonly chargeClient: ChargeClient;
  /** The hosts that may publish clients; null for any. */
  readonly allowedHosts: readonly string[] | null;
}

/** The documents that clients publish about themselves. */
export interface ClientDocuments {
  /** @param address the party that asks, which is counted @returns undefined for a client that cannot be used */
  find(clientId: string, address: string): Promise<DescribedClient | undefined>;
  keysOf(keys: ClientKeys, address: string): Promise<readonly JWK[]>;
}

interface CachedDocument<T> {
  readonly value: T | undefined;
  readonly until: number;
}

/** A document, and the way to read it. */
interface Reading<T> {
  readonly url: string;
  /** The party that asks. Anybody chooses what is fetched, so each fetch counts for it. */
  readonly address: string;
  readonly longest: number;
  /** @returns undefined for a document that cannot be used */
  readonly read: (document: unknown) => T | undefined;
}

/** Fetches documents when they are needed, and keeps them as long as their hosts say, within bounds. */
export function clientDocuments({
  egress,
  clock,
  chargeClient,
  allowedHosts,
}: DocumentDeps): ClientDocuments {
  const kept = { clients: keeper<DescribedClient>(), keys: keeper<readonly JWK[]>() };

  function keeper<T>() {
    const known = new LRUCache<string, CachedDocument<T>>({ max: MAX_KEPT });
    const underWay = new Map<string, Promise<CachedDocument<T>>>();
    return async (reading: Reading<T>): Promise<T | undefined> => {
      const { url, address } = reading;
      if (!isAllowed(url)) return undefined;
      const found = known.get(url);
      if (found && clock().getTime() < found.until) return found.value;
      await chargeClient(rates.oauthClientFetch, { client: address });
      const fetching = underWay.get(url) ?? fetched(reading).finally(() => underWay.delete(url));
      underWay.set(url, fetching);
      const fresh = await fetching;
      known.set(url, fresh);
      return fresh.value;
    };
  }

  async function fetched<T>({ url, longest, read }: Reading<T>): Promise<CachedDocument<T>> {
    const answer = await egress.ask({ url, method: 'GET', headers: { accept: 'application/json' } });
    const isFit = answer.status === 200 && JSON_TYPE.test(answer.headers['content-type'] ?? '');
    const value = isFit ? read(jsonIn(answer.body)) : undefined;
    const seconds =
      value === undefined || !isFit ? AFTER_FAILURE : Math.min(keepable(answer.headers, clock()), longest);
    return { value, until: clock().getTime() + seconds * 1000 };
  }

  const isAllowed = (url: string) => allowedHosts === null || allowedHosts.includes(new URL(url).host);

  return {
    async find(clientId, address) {
      if (!isDocumentUrl(clientId, egress.rules)) return undefined;
      const read = (document: unknown) => clientInDocument(document, clientId);
      return kept.clients({ url: clientId, address, longest: MAX_SECONDS, read });
    },
    async keysOf(keys, address) {
      if ('jwks' in keys) return keys.jwks;
      return (await kept.keys({ url: keys.uri, address, longest: MIN_SECONDS, read: jwksIn })) ?? [];
    },
  };
}

function jwksIn(document: unknown): readonly JWK[] | undefined {
  const keys = keysIn(document, undefined);
  return keys !== null && keys !== 'malformed' && 'jwks' in keys ? keys.jwks : undefined;
}

/** The seconds for which an answer may be kept, less those that caches on the way have kept it. @see RFC 9111 §4.2 */
function keepable(headers: IncomingHttpHeaders, now: Date): number {
  const left = freshSeconds(headers, now) - (/^\d{1,9}$/.test(headers.age ?? '') ? Number(headers.age) : 0);
  return Math.min(Math.max(left, MIN_SECONDS), MAX_SECONDS);
}

/** `Expires` counts only where `max-age` says nothing, and from the time that the host itself gives. */
function freshSeconds(headers: IncomingHttpHeaders, now: Date): number {
  const { 'cache-control': cacheControl = '', expires = '', date = '' } = headers;
  if (/(?:^|[ ,])no-(?:store|cache)\b/i.test(cacheControl)) return 0;
  const [, seconds] = /(?:^|[ ,])max-age=(\d{1,9})/i.exec(cacheControl) ?? [];
  if (seconds !== undefined) return Number(seconds);
  const [end, sent] = [Date.parse(expires), Date.parse(date)];
  if (Number.isNaN(end)) return 0;
  return (end - (Number.isNaN(sent) ? now.getTime() : sent)) / 1000;
}

function jsonIn(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
