import {
  request as call,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';

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
}

const TOKEN = /^Bearer ([\w-]+\.([\w-]+)\.[\w-]+)$/i;
/** A client that reads these asks for another token. */
const ENDED = new Set(['token_invalid', 'grant_revoked']);
const DEADLINE_MS = 5000;

/** A gateway that asks the service about each request, and sends on those that are permitted. */
export function apiGateway(gateway: Gateway): Server {
  return createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://gateway');
    const tool = gateway.tools[`${request.method} ${pathname}`];
    if (tool === undefined) return refuse(response, 404, 'no_such_route');
    const [, token, claims = ''] = TOKEN.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) return refuse(response, 401, 'token_missing');
    const jti = idIn(claims);
    if (jti === undefined) return refuse(response, 401, 'token_invalid');
    const answer = await evaluate(gateway, { token, jti, tool }).catch(() => undefined);
    if (answer === undefined) return refuse(response, 503, 'service_unavailable');
    const { decision, context = {} } = answer;
    if (decision !== true) {
      return refuse(response, ENDED.has(context.reason_code) ? 401 : 403, context.reason_code);
    }
    if (context.cnf) return refuse(response, 401, 'proof_missing'); // a token that is bound to a key needs its proof
    sendOn(Object.assign(new URL(gateway.upstream), { pathname, search }), request, response);
  });
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
  const { authorization: _, host: __, connection: ___, ...headers } = request.headers;
  const onward = call(to, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.once('error', () =>
    response.headersSent ? response.destroy() : refuse(response, 502, 'no_answer'),
  );
  request.pipe(onward);
}
