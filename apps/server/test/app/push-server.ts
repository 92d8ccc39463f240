import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

interface Pushed {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The keys that a browser keeps for a subscription. */
export interface BrowserKeys {
  readonly privateKey: Buffer;
  readonly auth: Buffer;
}

/** Decrypts a message by the steps of RFC 8291, section 3.4, and RFC 8188, section 2. @throws when it is not for these keys */
export function decryptPush(message: Buffer, { privateKey, auth }: BrowserKeys): string {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(privateKey);
  const salt = message.subarray(0, 16);
  const sender = message.subarray(21, 21 + message.readUInt8(20));
  const record = message.subarray(21 + sender.length);
  const derive = (secret: Buffer, by: Buffer, info: Buffer | string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, by, info, bytes));
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), sender]);
  const secret = derive(pair.computeSecret(sender), auth, info, 32);
  const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derive(secret, salt, 'Content-Encoding: nonce\0', 12);
  const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  return padded.subarray(0, padded.lastIndexOf(2)).toString(); // only the last record ends so
}

/** The claims of the token by which a message says who sends it. @throws when the named key has not signed it (RFC 8292) */
export function readVapid(authorization = ''): { readonly key: string; readonly claims: unknown } {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization) ?? [];
  const [header = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const signed = Buffer.from(`${header}.${claims}`);
  const by = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  if (!verify('sha256', signed, by, Buffer.from(signature, 'base64url'))) throw new Error('another key');
  return { key, claims: JSON.parse(Buffer.from(claims, 'base64url').toString()) };
}

/** A push server on this machine, which answers 201 until a test changes that. */
export async function startPushServer() {
  const pushed: Pushed[] = [];
  let answer: { readonly status: number; readonly headers?: Readonly<Record<string, string>> } = {
    status: 201,
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    pushed.push({ path: String(request.url), headers: Object(request.headers), body: Buffer.concat(parts) });
    response.writeHead(answer.status, answer.headers).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = Object(server.address());

  /** A browser that has subscribed here. */
  function browser(host = '127.0.0.1') {
    const pair = createECDH('prime256v1');
    const p256dh = pair.generateKeys('base64url');
    const auth = randomBytes(16);
    const path = `/push/${randomBytes(16).toString('base64url')}`;
    const keys = { privateKey: pair.getPrivateKey(), auth };
    const requests = () => pushed.filter((each) => each.path === path);
    return {
      subscription: {
        endpoint: `http://${host}:${port}${path}`,
        expirationTime: null,
        keys: { p256dh, auth: auth.toString('base64url') },
      },
      requests,
      messages: () => requests().map(({ body }) => JSON.parse(decryptPush(body, keys))),
    };
  }
  return { browser, pushed, answerWith: (status: number, headers = {}) => (answer = { status, headers }) };
}
