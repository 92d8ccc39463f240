import type { LightMyRequestResponse } from 'fastify';
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { authorize } from './flow.ts';
import { type Service, startApp } from './start-app.ts';

type Headers = Readonly<Record<string, string>>;

/** The headers that a page of the service sends with each request. */
const ownPage = (service: Service): Headers => ({
  origin: service.settings.http.publicBaseUrl,
  'sec-fetch-site': 'same-origin',
  'user-agent': 'Mozilla/5.0 (Person)',
});

/** The id and the ticket in a link to the consent page, as the page's script reads them. */
export function linkParts(consentUrl: string) {
  const url = new URL(consentUrl);
  const id = url.searchParams.get('req') ?? '';
  return { id, ticket: new URLSearchParams(url.hash.slice(1)).get('ticket') ?? '' };
}

/** A person's browser. It keeps cookies, and the CSRF token of each request that it has opened. */
export const personOn = (service: Service) => browserOn(service, new Map(), new Map());

interface Browser {
  readonly cookies: Map<string, string>;
  readonly call: (method: 'GET' | 'POST', path: string, sent?: Sent) => Promise<LightMyRequestResponse>;
  /** The same browser, whose requests reach another process of the service. */
  readonly on: (other: Service) => Browser;
  readonly open: (consentUrl: string, hint?: string, headers?: Headers) => Promise<LightMyRequestResponse>;
  readonly see: (id: string) => Promise<LightMyRequestResponse>;
  readonly approve: (id: string, body?: object) => Promise<LightMyRequestResponse>;
  readonly deny: (id: string, body?: object) => Promise<LightMyRequestResponse>;
}

interface Sent {
  readonly body?: object | string;
  readonly headers?: Headers;
}

function browserOn(service: Service, cookies: Map<string, string>, csrfTokens: Map<string, string>): Browser {
  /** Calls like the page. `headers` replace the page's own, and an empty header is not sent. */
  async function call(
    method: 'GET' | 'POST',
    path: string,
    { body, headers = {} }: Sent = {},
  ): Promise<LightMyRequestResponse> {
    const id = path.split('/')[3] ?? '';
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = {
      ...ownPage(service),
      ...(cookie && { cookie }),
      ...(method === 'POST' && { 'x-csrf-token': csrfTokens.get(id) ?? '' }),
      ...headers,
    };
    const entries = Object.entries(sent).filter(([, value]) => value !== '');
    const answer = await service.app.inject({
      method,
      url: path,
      headers: Object.fromEntries(entries),
      ...(body !== undefined && { body }),
    });
    for (const { name, value } of answer.cookies) cookies.set(name, value);
    const { csrfToken } = answer.statusCode === 200 && answer.body !== '' ? answer.json() : {};
    if (csrfToken) csrfTokens.set(id, csrfToken);
    return answer;
  }

  /** Follows a link, with the hint that the developer's app has appended. */
  function open(consentUrl: string, hint?: string, headers?: Headers) {
    const { id, ticket } = linkParts(consentUrl);
    const body = { ticket, ...(hint !== undefined && { hint }) };
    return call('POST', `/v1/consent/${id}/session`, { body, ...(headers && { headers }) });
  }

  return {
    cookies,
    call,
    on: (other: Service) => browserOn(other, cookies, csrfTokens),
    open,
    see: (id: string) => call('GET', `/v1/consent/${id}`),
    approve: (id: string, body?: object) => call('POST', `/v1/consent/${id}/approve`, body ? { body } : {}),
    deny: (id: string, body?: object) => call('POST', `/v1/consent/${id}/deny`, body ? { body } : {}),
  };
}

/** A key with which a developer vouches for the people of its app. */
export async function newVoucher(alg: 'ES256' | 'RS256' = 'ES256', kid?: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const { kty, crv, x, y, n, e } = await crypto.subtle.exportKey('jwk', publicKey);
  const members = Object.entries({ kty, crv, x, y, n, e, kid }).filter(([, value]) => value !== undefined);
  const hint = (claims: JWTPayload, header: object = {}) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg, typ: 'consent-hint+jwt', ...(kid && { kid }), ...header })
      .sign(privateKey);
  /** Signs any header and claims, even as text that a library would not write. */
  const signed = async (header: object | string, claims: object | string) => {
    const texts = [typeof header === 'string' ? header : { alg, ...header }, claims];
    const parts = texts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
    const text = parts.map((part) => Buffer.from(part).toString('base64url')).join('.');
    const how = alg === 'ES256' ? { name: 'ECDSA', hash: 'SHA-256' } : { name: 'RSASSA-PKCS1-v1_5' };
    const signature = await crypto.subtle.sign(how, privateKey, Buffer.from(text));
    return `${text}.${Buffer.from(signature).toString('base64url')}`;
  };
  return { jwk: Object.fromEntries(members), hint, signed };
}

/** The claims of a good hint. @param asked the answer of POST /v1/authorize */
export function hintClaims(
  service: Service,
  developerId: string,
  asked: { id: string; principalId: string },
) {
  const iat = Math.floor(service.clock().getTime() / 1000);
  const { issuer } = service.settings.tokens;
  return { iss: developerId, aud: issuer, sub: asked.principalId, areq: asked.id, iat, exp: iat + 300 };
}

/** A live account whose app vouches for its people, and an agent of it. @param agent members of its record */
export async function startAsking(on?: Service, agent: object = {}) {
  const service = on ?? (await startApp());
  const acme = await service.asDeveloper({ mode: 'live' });
  const voucher = await newVoucher();
  const vouch = () => acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
  await vouch();
  const made = (await acme('POST', '/v1/agents', { name: 'Travel booker', ...agent })).json();
  const agentId = String(made.agentId);
  const person = personOn(service);

  /** Opens the page of a new request, proved by a hint. */
  async function open(request: object = {}) {
    const asked = await authorize(acme, agentId, request);
    const hint = await voucher.hint(hintClaims(service, acme.developerId, asked));
    const { request: shown } = (await person.open(asked.consentUrl, hint)).json();
    return { id: String(asked.id), shown, link: String(asked.consentUrl) };
  }

  /** Consents on the page, and exchanges the code. @param how the part that the person approves, and the exchange */
  async function consent(request: object = {}, { approved = {}, exchanged = {} }: Consenting = {}) {
    const { id } = await open(request);
    const { code } = (await person.approve(id, approved)).json();
    service.advance(1);
    const { agentId: asker = agentId } = Object(request);
    return (await acme('POST', '/v1/token', { code, agentId: asker, ...exchanged })).json();
  }

  return { service, acme, agentId, person, vouch, open, consent };
}

interface Consenting {
  readonly approved?: object;
  readonly exchanged?: object;
}

interface Shown {
  readonly diff: {
    readonly items: readonly { readonly dimension: string; readonly change: string; readonly key?: string }[];
  };
}

/** The differences that a person is shown, in words: `scope new mail:read`. */
export const changesIn = ({ diff }: Shown) =>
  diff.items
    .filter(({ change }) => change !== 'same')
    .map(({ dimension, change, key }) => [dimension, change, key].filter(Boolean).join(' '));
