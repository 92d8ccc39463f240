import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { onTestFinished } from 'vitest';
import { type SendingOptions, startWithWebhooks } from './deliveries.ts';
import { actionsOf } from './flow.ts';
import type { Developer, Service, TestOptions } from './start-app.ts';

export const ISSUER = 'https://auth.test';
export const CAEP = 'https://schemas.openid.net/secevent/caep/event-type';
export const RISC = 'https://schemas.openid.net/secevent/risc/event-type';
export const SSF = 'https://schemas.openid.net/secevent/ssf/event-type';
export const PUSH = 'urn:ietf:rfc:8935';

type SubjectId = Readonly<{
  format: string;
  id: string;
  user: object;
  session: Readonly<{ format: string; id: string }>;
  application: object;
}>;

/** The claims of a signal, as a receiver reads them. */
export interface Signal {
  readonly aud: string;
  readonly iat: number;
  readonly jti: string;
  readonly txn: string;
  readonly sub_id: SubjectId;
  readonly events: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly sandbox?: boolean;
}

/** Verifies signals as a receiver does, with the published keys alone. */
async function signalReader({ app }: Service, audience: string) {
  const keys = createLocalJWKSet((await app.inject('/.well-known/jwks.json')).json());
  return async (set: string): Promise<Signal> => {
    const { payload } = await jwtVerify<Signal>(set, keys, {
      issuer: ISSUER,
      audience,
      typ: 'secevent+jwt',
      algorithms: ['RS256'],
      currentDate: new Date('2026-01-01T00:00:00Z'),
    });
    return payload;
  };
}

/** A receiver of a developer, and a call with an access token of it. */
export async function newReceiver(service: Service, developer: Developer, body: object = {}) {
  const made = await developer('POST', '/v1/ssf/receivers', { name: 'SIEM', ...body });
  if (made.statusCode !== 201) throw new Error(`receiver: ${made.body}`);
  const { receiverId, clientSecret, audience, accessToken } = made.json();
  const client = { clientId: String(receiverId), clientSecret: String(clientSecret) };
  const token = await tokenOf(service, client);
  const call = service.calling(token);
  const read = await signalReader(service, audience);
  return {
    receiverId: String(receiverId),
    audience: String(audience),
    accessToken,
    token,
    call,
    read,
    ...client,
  };
}

interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Asks for a token with `client_credentials`. */
export function askForToken({ app }: Service, { clientId, clientSecret }: Client, form: object = {}) {
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  return app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: {
      authorization: `Basic ${basic}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
  });
}

async function tokenOf(service: Service, client: Client): Promise<string> {
  const answer = await askForToken(service, client);
  if (answer.statusCode !== 200) throw new Error(`token: ${answer.body}`);
  return answer.json().access_token;
}

type Receiver = Awaited<ReturnType<typeof newReceiver>>;

export async function newStream({ call }: Pick<Receiver, 'call'>, body: object = {}) {
  const made = await call('POST', '/ssf/streams', body);
  if (made.statusCode !== 201) throw new Error(`stream: ${made.body}`);
  return made.json();
}

export const pushTo = (url: string, header?: string) => ({
  delivery: {
    method: PUSH,
    endpoint_url: url,
    ...(header !== undefined && { authorization_header: header }),
  },
});

/** A service, a developer in the sandbox, and a receiver with a push stream to a server of this machine. */
export async function startPushing(
  options: TestOptions & { readonly receiver?: object } = {},
  sending: SendingOptions = {},
) {
  const started = await startWithWebhooks(options, sending);
  const receiver = await newReceiver(started.service, started.acme, options.receiver);
  const peer = await startReceiver();
  peer.answerStatus(202);
  const stream = await newStream(receiver, pushTo(peer.url, 'Bearer own-secret'));
  /** Sends what is due, and reads what arrived since. */
  const arrived = async (): Promise<Signal[]> => {
    const before = peer.received.length;
    await started.deliver();
    return Promise.all(peer.received.slice(before).map(({ body }) => receiver.read(body)));
  };
  return { ...started, receiver, peer, stream, streamId: String(stream.stream_id), arrived };
}

/** A service, a developer in the sandbox, and a receiver with a poll stream. */
export async function startPolling(options: TestOptions & { readonly receiver?: object } = {}) {
  const started = await startWithWebhooks(options);
  const receiver = await newReceiver(started.service, started.acme, options.receiver);
  const stream = await newStream(receiver);
  const streamId = String(stream.stream_id);
  const poll = async (body: object = {}) => {
    const answer = await receiver.call('POST', `/ssf/poll/${streamId}`, { returnImmediately: true, ...body });
    if (answer.statusCode !== 200) throw new Error(`poll: ${answer.body}`);
    const { sets, moreAvailable } = answer.json();
    const signals = await Promise.all(Object.values<string>(sets).map(receiver.read));
    return { jtis: Object.keys(sets), signals, sets, moreAvailable };
  };
  return { ...started, receiver, stream, streamId, poll };
}

/** The one event of a signal: its URI and its members. */
export function eventOf({ events }: Signal) {
  const all = Object.entries(events);
  if (all.length !== 1) throw new Error(`${all.length} events`);
  const [[uri = '', members = {}] = []] = all;
  return { uri, members };
}

export const ssfActions = async (developer: Developer) =>
  (await actionsOf(developer)).filter((action) => action.startsWith('ssf.'));

export interface Received {
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface ReceiverOptions {
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A developer's server on this machine. It answers 204 until a test changes that. */
export async function startReceiver({ tls }: ReceiverOptions = {}) {
  const received: Received[] = [];
  let answering: RequestListener = (_request, response) => void response.writeHead(204).end();
  const listener: RequestListener = async (request, response) => {
    const body = await textOf(request).catch(() => '');
    received.push({ path: request.url, headers: Object(request.headers), body });
    answering(request, response);
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = Object(server.address());
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port: Number(port),
    received,
    server,
    answer(listener: RequestListener) {
      answering = listener;
    },
    answerStatus(status: number, headers: Record<string, string> = {}) {
      answering = (_request, response) => void response.writeHead(status, headers).end();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
