import type { IncomingMessage, ServerResponse } from 'node:http';
import { pkceLink } from './oauth.ts';
import { startReceiver } from './receiving.ts';
import type { Developer, Service } from './start-app.ts';

/** Settings under which documents of clients may be at this machine. */
export const besideClients = { OAUTH_CIMD_ALLOW_PRIVATE_HOSTS: 'true' };

/** The address that a program on the person's machine listens at. */
export const LISTENING = 'http://127.0.0.1:49152/callback';

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A client that publishes its document on this machine. */
export async function publishClient(members: Readonly<Record<string, unknown>> = {}) {
  const receiver = await startReceiver();
  const clientId = `http://127.0.0.1:${receiver.port}/client.json`;
  const document: Record<string, unknown> = {
    client_id: clientId,
    client_name: 'Example Editor',
    redirect_uris: ['http://127.0.0.1/callback', 'https://editor.test/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    ...members,
  };
  let answer: Answer = {};
  const serve = (_request: IncomingMessage, response: ServerResponse) => {
    const { status = 200, headers = {}, body = JSON.stringify(document) } = answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
  receiver.answer(serve);
  return {
    clientId,
    document,
    receiver,
    /** Replaces parts of the answer. */
    answerWith(other: Answer) {
      answer = other;
    },
    fetches: () => receiver.received.length,
  };
}

let count = 0;

/** A registered server of a sandbox developer, with a URI of its own. */
export async function newServer(developer: Developer, members: object = {}) {
  count += 1;
  const resource = `http://localhost:8080/mcp/${process.pid}-${count}`;
  const answer = await developer('POST', '/v1/resources', { resource, name: 'Calendar server', ...members });
  if (answer.statusCode !== 201) throw new Error(`resource: ${answer.body}`);
  return { resource, id: String(answer.json().id), credential: String(answer.json().credential) };
}

/** Follows a link of a client, as a browser does. */
export async function followLink(service: Service, clientId: string, parameters: Record<string, string>) {
  const { link, verifier } = await pkceLink(clientId, { redirect_uri: LISTENING, ...parameters });
  const { pathname, search } = new URL(link);
  const answer = await service.app.inject({ url: pathname + search, headers: { accept: 'text/html' } });
  const { location } = answer.headers;
  return { answer, verifier, back: location === undefined ? undefined : new URL(location) };
}

interface From {
  readonly headers?: Readonly<Record<string, string>>;
  /** The address of the sender. */
  readonly remoteAddress?: string;
}

/** Sends a form to an endpoint. */
export function sendForm(
  service: Service,
  path: string,
  form: Record<string, string>,
  { headers, ...from }: From = {},
) {
  return service.app.inject({
    ...{ method: 'POST', url: `/oauth/${path}`, ...from },
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(form).toString(),
  });
}

/** A client of a new developer, and its tokens. */
export async function tokensOf(
  service: Service,
  clientId: string,
  resource: string,
  parameters: Record<string, string> = {},
) {
  const { back, verifier } = await followLink(service, clientId, { resource, ...parameters });
  return sendForm(service, 'token', {
    grant_type: 'authorization_code',
    client_id: clientId,
    code: back?.searchParams.get('code') ?? '',
    redirect_uri: parameters.redirect_uri ?? LISTENING,
    code_verifier: verifier,
    resource,
  });
}
