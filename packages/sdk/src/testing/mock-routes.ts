import { decodeJwt } from 'jose';
import type { Agent, AuthorizeInput, Grant } from '../api/types.gen.ts';
import type { TestIssuer } from './test-issuer.ts';

/** A call that the service in memory has answered. */
export interface MockCall {
  /** The method, and the path with its parameters unfilled: `GET /v1/agents/{id}`. */
  readonly route: string;
  readonly body: object;
}

export interface MockState {
  readonly issuer: TestIssuer;
  readonly agents: Map<string, Agent>;
  readonly codes: Map<string, AuthorizeInput>;
  readonly grants: Map<string, Grant>;
}

type Answer = { readonly status: number; readonly value?: unknown };
type Route = (request: { readonly id: string; readonly body: object }) => Answer | Promise<Answer>;

const HOUR = 3_600_000;
const now = (later = 0) => new Date(Date.now() + later).toISOString();
const idOf = (prefix: string) =>
  `${prefix}_${crypto.randomUUID().replaceAll('-', '').slice(0, 26).toUpperCase()}`;
const found = (value: unknown): Answer =>
  value === undefined
    ? {
        status: 404,
        value: { code: 'NOT_FOUND', message: 'There is no such record.', requestId: 'req_test' },
      }
    : { status: 200, value };

/** The routes, each with a function that answers it. */
export function mockRoutes(state: MockState): readonly (readonly [string, Route])[] {
  const { issuer, agents, codes, grants } = state;
  const verdictOf = (token: unknown) => {
    const claims = typeof token === 'string' && token.includes('.') ? decodeJwt(token) : {};
    const grant = grants.get(String(Object(claims['urn:service:grant']).grant_id));
    return { claims, grant, isGood: grant?.status === 'active' && Number(claims.exp) * 1_000 > Date.now() };
  };
  const changeAgent = (id: string, change: object) => {
    const agent = agents.get(id);
    if (agent) agents.set(id, { ...agent, ...change, updatedAt: now() });
    return found(agents.get(id));
  };
  return [
    ['GET /v1/agents', () => found({ agents: [...agents.values()].reverse(), nextCursor: null })],
    [
      'POST /v1/agents',
      ({ body }) => {
        const agent = newAgent(issuer, body);
        agents.set(agent.id, agent);
        return { status: 201, value: agent };
      },
    ],
    ['GET /v1/agents/{id}', ({ id }) => found(agents.get(id))],
    ['PATCH /v1/agents/{id}', ({ id, body }) => changeAgent(id, body)],
    [
      'DELETE /v1/agents/{id}',
      ({ id }) =>
        changeAgent(id, { status: 'revoked' }).status === 200 ? { status: 204 } : found(undefined),
    ],
    [
      'POST /v1/authorize',
      ({ body }) => {
        const [id, code] = [idOf('areq'), idOf('code')];
        const wanted = body as AuthorizeInput; // a service in memory trusts its tests
        codes.set(code, wanted);
        const { agentId, principalId, scopes, expiresIn = '24h' } = wanted;
        const consentUrl = `${issuer.issuer}/consent?req=${id}`;
        const times = { createdAt: now(), decidedAt: now(), expiresAt: now(HOUR) };
        const request = { authRequestId: id, id, agentId, principalId, scopes, expiresIn, ...times };
        return { status: 201, value: { ...request, status: 'approved', consentUrl, code } };
      },
    ],
    [
      'POST /v1/token',
      async ({ body }) => {
        const wanted = codes.get(String(Object(body).code));
        if (!wanted) return found(undefined);
        codes.delete(String(Object(body).code));
        const grant = newGrant(issuer, agents.get(wanted.agentId), wanted);
        grants.set(grant.grantId, grant);
        return { status: 201, value: await tokensOf(issuer, grant) };
      },
    ],
    [
      'POST /v1/tokens/verify',
      ({ body }) => {
        const { isGood, grant, claims } = verdictOf(Object(body).token);
        if (!isGood || !grant) return found({ valid: false, reason: grant ? 'revoked' : 'not_found' });
        const { grantId, principalId, agentId, agentDid, developerId, scopes } = grant;
        const of = { grantId, principalId, agentId, agentDid, developerId, scopes };
        return found({ valid: true, ...of, tokenId: claims.jti, expiresAt: grant.expiresAt });
      },
    ],
    [
      'POST /v1/grants/verify',
      ({ body }) => {
        const { isGood, grant, claims } = verdictOf(Object(body).token);
        return found(
          isGood ? { active: true, claims } : { active: false, reason: grant ? 'revoked' : 'not_found' },
        );
      },
    ],
    ['GET /v1/grants', () => found({ grants: [...grants.values()].reverse(), nextCursor: null })],
    ['GET /v1/grants/{id}', ({ id }) => found(grants.get(id))],
    [
      'DELETE /v1/grants/{id}',
      ({ id }) => {
        const grant = grants.get(id);
        if (!grant) return found(undefined);
        grants.set(id, { ...grant, status: 'revoked', revokedAt: now(), revokedReason: 'requested' });
        return { status: 204 };
      },
    ],
  ];
}

function newAgent({ developerId, issuer }: TestIssuer, body: object): Agent {
  const id = idOf('ag');
  const { name, description = '', scopes = [] } = Object(body);
  const times = { createdAt: now(), updatedAt: now() };
  const did = `did:web:${new URL(issuer).hostname}:agents:${id}`;
  return {
    ...{ agentId: id, id, did, developerId, name: String(name), description: String(description), scopes },
    ...{ status: 'active', publicKeyJwk: null, origin: 'api', clientId: null, ...times },
  };
}

function newGrant({ developerId }: TestIssuer, agent: Agent | undefined, wanted: AuthorizeInput): Grant {
  const [id, { agentId, principalId, scopes }] = [idOf('grnt'), wanted];
  const times = { issuedAt: now(), expiresAt: now(24 * HOUR), lastUsedAt: null };
  return {
    ...{ grantId: id, id, rootGrantId: id, agentId, agentDid: agent?.did ?? '', principalId, developerId },
    ...{
      scopes: [...scopes],
      status: 'active',
      agentStatus: 'active',
      delegationDepth: 0,
      consentMethod: 'sandbox',
      ...times,
    },
  };
}

async function tokensOf(issuer: TestIssuer, grant: Grant) {
  const { grantId, agentId, agentDid, principalId, scopes, developerId } = grant;
  const claim = { grant_id: grantId, agent_did: agentDid, developer_id: developerId };
  const grantToken = await issuer.signGrantToken({
    ...{
      sub: principalId,
      client_id: agentId,
      scp: scopes,
      act: { sub: agentDid },
      'urn:service:grant': claim,
    },
  });
  const times = { expiresAt: now(HOUR), refreshExpiresAt: now(24 * HOUR), grantExpiresAt: grant.expiresAt };
  const refreshToken = `ref_${crypto.randomUUID()}`;
  return { grantToken, tokenType: 'Bearer', refreshToken, grantId, agentId, principalId, scopes, ...times };
}
