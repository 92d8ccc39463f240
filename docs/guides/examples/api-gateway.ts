import {
  request as call,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream';
import type { PresentedProof, Verifier } from '@behest/sdk/verify';

export interface Gateway {
  /** The address of the service. */
  readonly service: string;
  /** The credential of the API, from its registration as a resource. */
  readonly credential: string;
  /** The address of the API behind the gateway. */
  readonly upstream: string;
  readonly connector: string;
  /** The tool of each route, as in `{ 'GET /contacts': 'list_contacts' }`. Other routes are closed. */
  readonly tools: Readonly<Record<string, string>>;
  /** Whether a request proves the key to which its token is bound. Default: such tokens are refused. */
  readonly isProved?: (shown: Shown) => Promise<boolean>;
}

export interface Shown {
  readonly token: string;
  /** The value of the `DPoP` header. */
  readonly proof: string | undefined;
  readonly method: string;
  readonly pathname: string;
}

type Seen = NonNullable<PresentedProof['seen']>;

const TOKEN = /^(?:Bearer|DPoP) ([\w-]+\.([\w-]+)\.[\w-]+)$/i;
/** A client that reads these asks for another token. */
const ENDED = new Set(['token_invalid', 'grant_revoked']);
/** For the service, and for each pause of the API. */
const DEADLINE_MS = 5000;
const OF_A_CONNECTION = [
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
];
/** A client cannot name these away: the API would read a body without its frame as a second request. */
const FRAMES = new Set(['content-length', 'transfer-encoding']);

/** A gateway that asks the service about each request, and sends on those that are permitted. */
export function apiGateway(gateway: Gateway): Server {
  return createServer((request, response) => {
    // An error that nobody catches would end the process, and with it the gateway of everybody.
    answer(gateway, request, response).catch(() => response.destroy());
  });
}

async function answer(gateway: Gateway, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = URL.parse(request.url ?? '', 'http://gateway'); // a client may send any text as the address
  if (asked === null) return refuse(response, 400, 'malformed_request');
  const { pathname, search } = asked;
  const tool = gateway.tools[`${request.method} ${pathname}`];
  if (tool === undefined) return refuse(response, 404, 'no_such_route');
  const [, token, claims = ''] = TOKEN.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) return refuse(response, 401, 'token_missing');
  const jti = idIn(claims);
  if (jti === undefined) return refuse(response, 401, 'token_invalid');
  const verdict = await evaluate(gateway, { token, jti, tool }).catch(() => undefined);
  if (verdict === undefined) return refuse(response, 503, 'service_unavailable');
  const { decision, context = {} } = verdict;
  if (decision !== true) {
    return refuse(response, ENDED.has(context.reason_code) ? 401 : 403, context.reason_code);
  }
  if (context.cnf) {
    const { method = '', headers } = request;
    const shown = { token, proof: [headers.dpop].flat()[0], method, pathname };
    const isProved = await gateway.isProved?.(shown).catch(() => false);
    if (!isProved) return refuse(response, 401, 'proof_missing'); // or a stolen token would serve
  }
  sendOn(Object.assign(new URL(gateway.upstream), { pathname, search }), request, response);
}

/** Looks at proofs of possession for an API at this origin (RFC 9449). */
export function proofsAt(origin: string, verifier: Verifier, seen: Seen) {
  return async ({ token, pathname, ...request }: Shown): Promise<boolean> =>
    (await verifier.detailed(token, { ...request, url: `${origin}${pathname}`, seen })).ok;
}

/** The id that a token says it has. It only names the token, which the service verifies. */
function idIn(claims: string): string | undefined {
  try {
    const { jti } = Object(JSON.parse(Buffer.from(claims, 'base64url').toString()));
    return typeof jti === 'string' ? jti : undefined;
  } catch {
    return undefined;
  }
}

interface Asked {
  readonly token: string;
  readonly jti: string;
  readonly tool: string;
}

async function evaluate({ service, credential, connector }: Gateway, { token, jti, tool }: Asked) {
  const answer = await fetch(`${service}/access/v1/evaluation`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      subject: { type: 'token', id: jti, properties: { token } },
      action: { name: tool },
      resource: { type: 'connector', id: connector },
    }),
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  if (!answer.ok) throw new Error(`The service answered ${answer.status}.`);
  return Object(await answer.json());
}

function refuse(response: ServerResponse, status: number, reason: unknown): void {
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ reason }));
}

/** The API gets the request without the token, which is no business of it. */
function sendOn(to: URL, request: IncomingMessage, response: ServerResponse): void {
  const { authorization: _, host: __, ...headers } = endToEnd(request.headers);
  const options = { method: request.method, headers, timeout: DEADLINE_MS };
  const onward = call(to, options, (answered) => {
    response.writeHead(answered.statusCode ?? 502, endToEnd(answered.headers));
    pipeline(answered, response, () => {}); // it has ended both by then
  });
  onward.once('timeout', () => onward.destroy(new Error('The API is silent.')));
  onward.on('error', () => (response.headersSent ? response.destroy() : refuse(response, 502, 'no_answer')));
  response.once('close', () => onward.destroy());
  request.pipe(onward);
}

/** The headers without those that belong to one connection alone (RFC 9110 §7.6.1). */
function endToEnd({ connection = '', ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = connection.split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...OF_A_CONNECTION, ...named.filter((name) => !FRAMES.has(name))]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}
