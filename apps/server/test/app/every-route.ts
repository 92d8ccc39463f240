import type { RouteOptions } from 'fastify';
import { authorize, grantTo, openSession, partsOf } from './flow.ts';
import type { Developer, Method } from './start-app.ts';

/** `GET /v1/agents/:id`: how the tables of the tests that walk all routes name a route. */
export const operationOf = ({ method, url }: RouteOptions): string => `${method} ${url}`;

/** What stays open when it succeeds, and can be asked for by HEAD, which does not. */
const LIVE = new Set(['GET /v1/events/stream']);

const webhook = { url: 'https://hooks.acme.test/behest', events: ['grant.*'] };

/** One record of each kind that a developer can have, with the secrets that were given out for them. */
export async function possessionsOf(developer: Developer) {
  const { agentId, did, grantId, grantToken, refreshToken } = await grantTo(developer);
  const { authRequestId } = await authorize(developer, agentId, { autoApprove: false });
  const { code } = await authorize(developer, agentId);
  const { keyId } = (await developer('POST', '/v1/keys', { name: 'spare', role: 'runtime' })).json();
  const { entries } = (await developer('GET', '/v1/audit/entries?limit=1')).json();
  const { sessionToken } = (await openSession(developer)).json();
  const tokenId = String(partsOf(grantToken).payload.jti);
  const entryId = String(entries[0].entryId);
  const { webhookId } = (await developer('POST', '/v1/webhooks', webhook)).json();
  const { deliveryId } = (await developer('POST', `/v1/webhooks/${webhookId}/test`, {})).json();
  const ids = { agentId, did, grantId, authRequestId, keyId, tokenId, entryId, webhookId, deliveryId };
  return { ...ids, grantToken, refreshToken, code, sessionToken: String(sessionToken) };
}
export type Possessions = Awaited<ReturnType<typeof possessionsOf>>;

/** As many records that nobody has. */
export const nobodys: Possessions = {
  agentId: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  did: 'did:web:auth.test:agents:ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  grantId: 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  grantToken: 'e30.e30.e30',
  refreshToken: `ref_${'x'.repeat(43)}`,
  sessionToken: 'e30.e30.e30',
  authRequestId: 'areq_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  code: 'x'.repeat(43),
  keyId: 'key_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  tokenId: 'tok_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  entryId: 'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  webhookId: 'wh_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  deliveryId: 'whd_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
};

interface Way {
  /** What the route's `:id` is an id of. */
  readonly id?: keyof Possessions;
  /** A good body, which names what is the developer's. */
  readonly body?: (its: Possessions) => Readonly<Record<string, unknown>>;
}

/** Every way by which a developer can ask about a record, or do something with it. */
export const ways: Readonly<Record<string, Way>> = {
  'GET /v1/agents/:id': { id: 'agentId' },
  'PATCH /v1/agents/:id': { id: 'agentId', body: () => ({ name: 'Taken over' }) },
  'DELETE /v1/agents/:id': { id: 'agentId' },
  'POST /v1/authorize': {
    body: ({ agentId }) => ({ agentId, principalId: 'user_42', scopes: ['calendar:read'] }),
  },
  'GET /v1/authorize/:id': { id: 'authRequestId' },
  'DELETE /v1/authorize/:id': { id: 'authRequestId' },
  'POST /v1/authorize/:id/approve': { id: 'authRequestId' },
  'POST /v1/authorize/:id/deny': { id: 'authRequestId' },
  'POST /v1/authorize/:id/code': { id: 'authRequestId' },
  'POST /v1/token': { body: ({ code, agentId }) => ({ code, agentId }) },
  'POST /v1/token/refresh': { body: ({ refreshToken, agentId }) => ({ refreshToken, agentId }) },
  'POST /v1/tokens/verify': { body: ({ grantToken }) => ({ token: grantToken }) },
  'POST /v1/tokens/introspect': { body: ({ grantToken }) => ({ token: grantToken }) },
  'POST /v1/tokens/revoke': { body: ({ tokenId }) => ({ jti: tokenId }) },
  'POST /v1/grants/verify': { body: ({ grantToken }) => ({ token: grantToken }) },
  'POST /v1/grants/delegate': {
    body: ({ grantToken, agentId }) => ({
      parentGrantToken: grantToken,
      subAgentId: agentId,
      scopes: ['calendar:read'],
    }),
  },
  'GET /v1/grants/:id': { id: 'grantId' },
  'GET /v1/grants/:id/tokens': { id: 'grantId' },
  'DELETE /v1/grants/:id': { id: 'grantId' },
  'GET /v1/audit/:id': { id: 'entryId' },
  'POST /v1/audit/log': {
    body: ({ agentId, did, grantId }) => ({
      agentId,
      agentDid: did,
      grantId,
      principalId: 'user_42',
      action: 'flight.booked',
    }),
  },
  'DELETE /v1/keys/:id': { id: 'keyId' },
  'GET /v1/webhooks/:id': { id: 'webhookId' },
  'PATCH /v1/webhooks/:id': { id: 'webhookId', body: () => ({ description: 'Taken over' }) },
  'DELETE /v1/webhooks/:id': { id: 'webhookId' },
  'POST /v1/webhooks/:id/rotate-secret': { id: 'webhookId' },
  'POST /v1/webhooks/:id/test': { id: 'webhookId' },
  'GET /v1/webhooks/:id/deliveries': { id: 'webhookId' },
  'POST /v1/webhooks/:id/deliveries/:deliveryId/redeliver': { id: 'webhookId' },
};

/** Good bodies of what names no record. */
export const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'POST /v1/signup': { name: 'Acme', email: 'a@acme.test' },
  'POST /v1/agents': { name: 'Travel booker', description: 'Books.', scopes: ['calendar:read'] },
  'POST /v1/webhooks': webhook,
  'POST /v1/keys': { name: 'backend', role: 'runtime', expiresIn: '1d' },
  'POST /v1/keys/rotate': { name: 'backend', graceSeconds: 300 },
  'POST /v1/principal-sessions': { principalId: 'user_42', expiresIn: '1h' },
  'PATCH /v1/me': { name: 'Acme', enforceAgentScopes: false },
};

/** The request by which `operation` is asked about one of `its` records. */
export function requestTo(operation: string, its: Possessions) {
  const [method, pattern] = operation.split(' ');
  const { id, body } = ways[operation] ?? {};
  const url = String(pattern)
    .replace(':deliveryId', its.deliveryId)
    .replace(':id', id ? its[id] : nobodys.agentId);
  const asked = LIVE.has(operation) ? 'HEAD' : method;
  return { method: asked as Method, url, body: body?.(its) ?? bodies[operation] };
}
