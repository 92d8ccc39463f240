import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { EventsListItem } from './api/types.gen.ts';
import { BehestError } from './errors.ts';

/** An event as a webhook gets it. */
export type BehestEvent = EventsListItem;

const TOLERANCE = 300; // seconds, either way
const LEAST_BYTES = 24; // Standard Webhooks: a secret has 24 to 64

/** A delivery that is not taken. Answer it with status 400. */
export class BehestWebhookError extends BehestError {
  override readonly name: string = 'BehestWebhookError';
  readonly reason: 'missing_header' | 'stale' | 'bad_signature' | 'malformed' | 'repeated';

  constructor(reason: BehestWebhookError['reason']) {
    super('WEBHOOK_REFUSED', `The delivery was refused: ${reason}.`);
    this.reason = reason;
  }
}

/** The raw body of a delivery. A parsed and rewritten body has other bytes, so that its signature does not fit. */
export type RawBody = string | Uint8Array;
/** Headers as `fetch`, Node or a framework has them. */
export type DeliveryHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ConstructOptions {
  readonly toleranceSeconds?: number;
}
export interface ConstructOnceOptions extends ConstructOptions {
  /** Says whether an event of this id was dealt with before. */
  readonly seen: (eventId: string) => boolean | Promise<boolean>;
}

/**
 * Checks a delivery, and reads its event. Several secrets cover the rotation of one.
 *
 * @param payload the received bytes, unparsed
 * @throws BehestWebhookError for a delivery that the service did not send, or not now; BehestError for a parsed body, and
 * for a secret that is empty or too short
 *
 * @example
 * ```ts
 * app.post('/webhooks', express.raw({ type: () => true }), (request, response) => {
 *   const event = constructEvent(request.body, request.headers, secret);
 *   if (event.type === 'grant.revoked') forget(event.data.grantId);
 *   response.sendStatus(204);
 * });
 * ```
 */
export function constructEvent(
  payload: RawBody,
  headers: DeliveryHeaders,
  secret: string | readonly string[],
  options?: ConstructOptions,
): BehestEvent;
export function constructEvent(
  payload: RawBody,
  headers: DeliveryHeaders,
  secret: string | readonly string[],
  options: ConstructOnceOptions,
): Promise<BehestEvent>;
export function constructEvent(
  payload: RawBody,
  headers: DeliveryHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE, seen }: ConstructOptions & Pick<Partial<ConstructOnceOptions>, 'seen'> = {},
): BehestEvent | Promise<BehestEvent> {
  const body = bytesOf(payload);
  const secrets = checkedSecrets(secret);
  const read = (name: string) => headerOf(headers, name);
  const standard = read('webhook-signature');
  const [signature, timestamp] =
    standard === undefined
      ? [read('x-service-signature-v2'), read('x-service-timestamp')]
      : [standard, read('webhook-timestamp')];
  const id = read('webhook-id');
  if (!signature || !timestamp || (standard !== undefined && !id))
    throw new BehestWebhookError('missing_header');
  if (!isFresh(timestamp, toleranceSeconds)) throw new BehestWebhookError('stale');
  const isGenuine = secrets.some((each) =>
    standard === undefined
      ? isEqual(signature, signatureV2(each, timestamp, body))
      : signature
          .split(' ')
          .some((one) => isEqual(one, standardSignature(each, `${id}.${timestamp}.`, body))),
  );
  if (!isGenuine) throw new BehestWebhookError('bad_signature');
  const event = eventIn(body);
  if (!seen) return event;
  return Promise.resolve(seen(event.id)).then((isKnown) => {
    if (isKnown) throw new BehestWebhookError('repeated');
    return event;
  });
}

/** Checks `X-Service-Signature-V2` with `X-Service-Timestamp`. @returns false for everything that is not both genuine and new */
export function verifyWebhook({
  payload,
  signature,
  timestamp,
  secret,
  toleranceSeconds = TOLERANCE,
}: {
  readonly payload: RawBody;
  readonly signature: string;
  readonly timestamp: string | number;
  readonly secret: string;
  readonly toleranceSeconds?: number;
}): boolean {
  const body = bytesOf(payload);
  const at = String(timestamp);
  checkedSecrets(secret);
  return isFresh(at, toleranceSeconds) && isEqual(signature, signatureV2(secret, at, body));
}

/**
 * Checks `X-Service-Signature`, which covers the body alone. It is the same on every attempt, so it proves origin and not
 * freshness: somebody who once saw a delivery can send it again. `constructEvent` checks both.
 */
export function verifyWebhookSignature(payload: RawBody, signature: string, secret: string): boolean {
  checkedSecrets(secret);
  return isEqual(signature, `sha256=${bytesToHex(hmac(sha256, utf8ToBytes(secret), bytesOf(payload)))}`);
}

function signatureV2(secret: string, timestamp: string, body: Uint8Array): string {
  const message = concatBytes(utf8ToBytes(`${timestamp}.`), body);
  return `sha256=${bytesToHex(hmac(sha256, utf8ToBytes(secret), message))}`;
}

/** @see https://www.standardwebhooks.com, whose key is the decoded secret */
function standardSignature(secret: string, prefix: string, body: Uint8Array): string {
  const signed = hmac(sha256, keyIn(secret), concatBytes(utf8ToBytes(prefix), body));
  return `v1,${btoa(String.fromCharCode(...signed))}`;
}

/**
 * An empty secret, as of a variable that is not set, is one that everybody can sign with.
 *
 * @throws BehestError for no secret, and for a text that is none
 */
function checkedSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length === 0) throw noSecret();
  for (const each of secrets) keyIn(each);
  return secrets;
}

/** @throws BehestError for a text that is no secret of a webhook */
function keyIn(secret: string): Uint8Array {
  try {
    const key = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (character) => character.charCodeAt(0));
    if (key.length >= LEAST_BYTES) return key;
  } catch {
    // The error below says so.
  }
  throw noSecret();
}

const noSecret = () =>
  new BehestError('CONFIGURATION', 'secret has to be the one that the webhook was made with: whsec_….');

function isFresh(timestamp: string, toleranceSeconds: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Date.now() / 1_000 - Number(timestamp)) <= toleranceSeconds;
}

/** Compares in a time that does not depend on where two texts of one length differ. */
function isEqual(given: unknown, expected: string): boolean {
  if (typeof given !== 'string' || given.length !== expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at += 1)
    difference |= given.charCodeAt(at) ^ expected.charCodeAt(at);
  return difference === 0;
}

/** @throws BehestError for a parsed body */
function bytesOf(payload: RawBody): Uint8Array {
  if (typeof payload === 'string') return utf8ToBytes(payload);
  if (payload instanceof Uint8Array) return payload;
  throw new BehestError(
    'INVALID_ARGUMENT',
    'payload has to be the raw body, as text or bytes: parse it afterwards.',
  );
}

function headerOf(headers: DeliveryHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.[0];
}

/** @throws BehestWebhookError for bytes that hold no event */
function eventIn(body: Uint8Array): BehestEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    const { id, type } = Object(event);
    if (typeof id === 'string' && typeof type === 'string') return event as BehestEvent; // the service signed it
  } catch {
    // The error below says so.
  }
  throw new BehestWebhookError('malformed');
}
