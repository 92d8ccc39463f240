import { createECDH, createPrivateKey, ECDH, hkdfSync, type KeyObject } from 'node:crypto';
// @ts-expect-error The library has no types.
import ece from 'http_ece';
import { SignJWT } from 'jose';
import type { Egress } from '../../../platform/egress/egress.ts';
import { resultOf, type SendResult, USER_AGENT } from '../../../platform/outbound/attempts.ts';
import { sealedColumn } from '../../../platform/seal.ts';
import type { KeyRing } from '../../service/keys/index.ts';

export const SEAL_KEY_USE = 'behest/approver-push-seal/v1';
export const VAPID_KEY_USE = 'behest/approver-push-vapid/v1';

const CURVE = 'prime256v1';
/** The order of the group of P-256 (SP 800-186, section 3.2.1.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const WIDE_BYTES = 48; // so many that no remainder is likelier than another (FIPS 186-5, appendix A.2.1)

/** What a browser gives out when its person turns on notifications: the `endpoint` and the keys, in base64url. */
export interface PushAddress {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

export interface VapidKey {
  /** The point in base64url, which browsers and push servers take (RFC 8292, section 3.2). */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** Makes the same key of the same secret, so that every process signs alike and none stores it. */
function vapidKeyOf(secret: KeyObject): VapidKey {
  const wide = Buffer.from(hkdfSync('sha256', secret.export(), '', 'P-256', WIDE_BYTES)).toString('hex');
  const scalar = (BigInt(`0x${wide}`) % (ORDER - 1n)) + 1n;
  const d = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex');
  const pair = createECDH(CURVE);
  pair.setPrivateKey(d);
  const point = pair.getPublicKey();
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
  const jwk = { kty: 'EC', crv: 'P-256', x, y, d: d.toString('base64url') };
  return {
    publicKey: point.toString('base64url'),
    privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
  };
}

/** The keys of Web Push: those that sign, the current one first, and the seals of the addresses. */
export function webPush(keyRing: KeyRing) {
  const { current, previous } = keyRing.derive(VAPID_KEY_USE);
  const own = vapidKeyOf(current);
  const keys = new Map([own, ...previous.map(vapidKeyOf)].map((key) => [key.publicKey, key]));
  const seals = sealedColumn<PushAddress>(
    {
      table: 'approver_subscriptions',
      labels: { keyId: 'behest-approver-push-kid', place: 'behest-approver-push-v1' },
      toText: JSON.stringify,
      fromText: (text) => JSON.parse(text),
      warning: (count) =>
        `${count} browsers of approvers open under no configured key: turn notifications on there again`,
    },
    keyRing.derive(SEAL_KEY_USE),
  );
  return { publicKey: own.publicKey, keys, seals };
}
export type WebPush = ReturnType<typeof webPush>;

/** Whether a browser's key is a point of the curve. */
export function isPoint(p256dh: string): boolean {
  try {
    return ECDH.convertKey(p256dh, CURVE, 'base64url', 'hex', 'uncompressed').length === 130;
  } catch {
    return false;
  }
}

/** So long a push server keeps a message for a browser that is off. */
const TTL_SECONDS = 4 * 3600;
/** A push server may refuse a token of more than a day (RFC 8292, section 2). */
const TOKEN_SECONDS = 12 * 3600;

interface Push {
  readonly to: PushAddress;
  readonly key: VapidKey;
  readonly text: string;
  /** Replaces an undelivered message of the same topic (RFC 8030, section 5.4): 32 characters at most. */
  readonly topic: string;
  /** Whom the operator of the push server may ask. */
  readonly publicBaseUrl: string;
  readonly at: Date;
}

/** Sends a text to a browser, encrypted for it alone. A push server answers 404 or 410 when the browser wants no more. */
export async function sendPush(
  egress: Pick<Egress, 'send'>,
  { to, key, text, topic, publicBaseUrl, at }: Push,
): Promise<SendResult> {
  const seconds = Math.floor(at.getTime() / 1000);
  const claims = publicBaseUrl.startsWith('https:') ? { sub: publicBaseUrl } : {};
  const token = await new SignJWT(claims)
    .setProtectedHeader({ typ: 'JWT', alg: 'ES256' })
    .setAudience(new URL(to.endpoint).origin)
    .setExpirationTime(seconds + TOKEN_SECONDS)
    .sign(key.privateKey);
  const headers = {
    ...{ authorization: `vapid t=${token}, k=${key.publicKey}`, 'user-agent': USER_AGENT },
    ...{ 'content-type': 'application/octet-stream', 'content-encoding': 'aes128gcm' },
    ...{ ttl: `${TTL_SECONDS}`, urgency: 'high', topic },
  };
  const outcome = await egress.send({ url: to.endpoint, method: 'POST', headers, body: encrypted(to, text) });
  const { status, failure } = outcome;
  if (failure !== undefined) return { result: 'failed' };
  return { result: status === 404 ? 'gone' : resultOf(status), retryAfter: outcome.retryAfter };
}

const newSender = () => {
  const sender = createECDH(CURVE);
  sender.generateKeys();
  return sender;
};

/** @param sender a key pair for this message alone @param salt 16 bytes by chance, where it is left out @see RFC 8291 */
export const encrypted = (
  { p256dh, auth }: Omit<PushAddress, 'endpoint'>,
  text: string,
  { sender = newSender(), salt }: { readonly sender?: ECDH; readonly salt?: string } = {},
): Buffer => {
  const keys = { version: 'aes128gcm', privateKey: sender, dh: p256dh, authSecret: auth, salt };
  return ece.encrypt(Buffer.from(text), keys);
};
