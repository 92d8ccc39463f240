import type { RouteOptions } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  needFullKey,
  nobodys,
  operationOf,
  type Possessions,
  possessionsOf,
  requestTo,
  shownAt,
  ways,
} from '../app/every-route.ts';
import { authorize, type Listed, pagesOf, partsOf, refusalOf, signedBy } from '../app/flow.ts';
import { type Call, type Developer, type Service, startApp } from '../app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});

/** The routes that treat bound keys in one way. */
const routesOf = (kind: string) =>
  service.routes
    .filter(({ config }: RouteOptions) => config?.boundKeys === kind)
    .map(operationOf)
    .sort();

/** These routes name no record in their requests, and show records of several agents. */
const LISTS = [
  'GET /v1/credentials',
  'GET /v1/decisions',
  'GET /v1/agents',
  'GET /v1/grants',
  'GET /v1/audit/entries',
  'GET /v1/authorize',
  'GET /v1/events',
  'GET /v1/budget/allocations',
  'GET /v1/wallet/authorizations',
];
/** A list whose answer is an array, without pages. */
const ARRAYS = ['GET /v1/passports'];
/** `bound-keys.test.ts` follows them with bound keys. */
const FOLLOWING = ['GET /v1/events/stream', 'GET /v1/events/ws'];
/** These ask by their queries. `enforcement.test.ts` and `search.test.ts` ask them with bound keys. */
const ASKING = ['GET /v1/enforce/usage', 'GET /v1/search'];
const FORBIDDEN = [
  'DELETE /v1/decisions/cases/:caseName',
  'DELETE /v1/vault/connect-sessions/:id',
  'DELETE /v1/vault/credentials/:id',
  'GET /v1/audit/head',
  'GET /v1/audit/verify',
  'GET /v1/budget/verify',
  'GET /v1/ssf/receivers',
  'GET /v1/ssf/receivers/:id',
  'GET /v1/ssf/receivers/:id/deliveries',
  'GET /v1/ssf/receivers/:id/streams',
  'GET /v1/transparency',
  'GET /v1/transparency/consistency',
  'GET /v1/transparency/inclusion',
  'GET /v1/usage',
  'GET /v1/usage/history',
  'GET /v1/vault/connect-sessions/:id',
  'GET /v1/vault/credentials',
  'GET /v1/vault/credentials/:id',
  'GET /v1/vault/provider-presets',
  'GET /v1/vault/providers',
  'GET /v1/vault/providers/:id',
  'GET /v1/vault/proxy-profiles',
  'GET /v1/vault/proxy-profiles/:service',
  'GET /v1/vault/proxy/calls',
  'POST /v1/vault/connect-sessions',
  'POST /v1/vault/credentials',
  'POST /v1/verifiers',
  'PUT /v1/decisions/cases/:caseName',
  'PUT /v1/verifiers/:id/lease',
];
const OPEN = [
  'GET /v1/manifests',
  'GET /v1/manifests/:connector',
  'GET /v1/me',
  'GET /v1/me/branding',
  'POST /v1/keys/rotate',
];
/** Every way to a record by a `runtime` key. */
const WAYS = Object.keys(ways).filter(
  (operation) => !needFullKey.includes(operation) && !FORBIDDEN.includes(operation),
);

interface TwoAgents {
  readonly owner: Developer;
  readonly bound: Call;
  readonly own: Possessions;
  readonly others: Possessions;
  /** The entry about the developer, which names no agent. */
  readonly entryId: string;
}

/** A developer with two agents that have one record of each kind, and a key that is bound to the first. */
async function twoAgents(): Promise<TwoAgents> {
  const owner = await service.asDeveloper({ mode: 'sandbox' });
  const [own, others] = [await possessionsOf(owner), await possessionsOf(owner)];
  const bound = await owner.asRuntime(String(own.agentId));
  // The code of a request goes to the key that made it.
  const body = {
    agentId: own.agentId,
    principalId: 'user_42',
    scopes: ['calendar:read'],
    autoApprove: false,
  };
  const { authRequestId } = (await bound('POST', '/v1/authorize', body)).json();
  const entryIdOf = async ({ agentId }: Possessions) =>
    (await owner('GET', `/v1/audit/entries?agentId=${agentId}&limit=1`)).json().entries[0].entryId;
  return {
    owner,
    bound,
    own: { ...own, authRequestId, entryId: await entryIdOf(own) },
    others: { ...others, entryId: await entryIdOf(others) },
    entryId: String(others.entryId),
  };
}

/** A grant more for the same agent, whose token nobody has used. */
async function grantOf(owner: Developer, { agentId = '' }: Possessions): Promise<Possessions> {
  const { code } = await authorize(owner, agentId);
  return (await owner('POST', '/v1/token', { code, agentId })).json();
}

const comparable = ({ statusCode, body }: { statusCode: number; body: string }) => ({
  statusCode,
  body: body.replace(/"requestId":"[^"]*"/, ''),
});

async function ask(call: Call, operation: string, about: Possessions) {
  const { method, url, body } = requestTo(operation, about);
  return comparable(await call(method, url, body));
}

/** Each question of a call leaves an entry, and a denial an event, also when it is about nobody's token. */
function withoutRulings(answer: ReturnType<typeof JSON.parse>) {
  if (Array.isArray(answer)) return answer;
  const { entries, events, ...rest } = answer;
  const isNone = (one: { action?: string; type?: string }) =>
    one.action !== 'tool.enforce' && one.type !== 'enforcement.denied';
  return { ...rest, entries: entries?.filter(isNone), events: events?.filter(isNone) };
}

async function sightOf(owner: Developer, its: Possessions) {
  const urls = [...shownAt(its), '/v1/audit/entries?limit=500', '/v1/events'];
  return Promise.all(urls.map(async (url) => withoutRulings((await owner('GET', url)).json())));
}

describe('T11: a key that is bound to an agent', () => {
  test('meets a declaration on every route that takes a `runtime` key, and is tried on each', () => {
    const ofRuntime = service.routes.filter(({ config }) => config?.role === 'runtime').map(operationOf);

    expect(routesOf('own agents')).toEqual([...WAYS, ...LISTS, ...ARRAYS, ...FOLLOWING, ...ASKING].sort());
    expect(routesOf('forbidden')).toEqual(FORBIDDEN);
    expect(routesOf('open')).toEqual(OPEN);
    expect([...routesOf('own agents'), ...FORBIDDEN, ...OPEN].sort()).toEqual(ofRuntime.sort());
  });

  test.each(WAYS)(
    'finds at %s another agent’s record like an unknown one, and its own agent’s',
    async (operation) => {
      const { owner, bound, own, others } = await twoAgents();
      const before = await sightOf(owner, others);
      const { payload } = partsOf(String(others.grantToken));
      const grantToken = await signedBy(service, { ...payload, jti: nobodys.tokenId });

      const [foreign, unknown] = [
        await ask(bound, operation, others),
        await ask(bound, operation, { ...nobodys, grantToken }),
      ];

      expect(foreign).toEqual(unknown);
      expect(await sightOf(owner, others)).toEqual(before);
      expect(await ask(bound, operation, own)).not.toEqual(unknown);
      expect(await ask(owner, operation, others)).not.toEqual(unknown); // the other agent has it still
    },
  );

  test.each(LISTS)('finds at %s its own agent’s records, and nothing else', async (operation) => {
    const { owner, bound, own, others } = await twoAgents();
    const { url } = requestTo(operation, nobodys);

    const [member = ''] = Object.keys((await owner('GET', url)).json());
    const allOf = async (call: Call) => (await pagesOf(call, `${url}?limit=100`, member)).flat();
    const [seen, all] = [await allOf(bound), await allOf(owner)];
    const ofAgent = (
      each: Partial<Listed> & { agentId?: string; agentDid?: string; data?: { agentId?: string } },
    ) => (each.agentId ?? each.data?.agentId ?? each.agentDid?.split(':').at(-1)) === own.agentId;

    expect(seen).toEqual(all.filter(ofAgent));
    expect(seen.length).toBeGreaterThan(0);
    expect(JSON.stringify(all)).toContain(others.agentId);
    for (const limit of [1, 2]) {
      expect((await pagesOf(bound, `${url}?limit=${limit}`, member)).flat()).toEqual(seen);
    }
  });

  test.each(ARRAYS)('finds at %s its own agent’s records alone', async (operation) => {
    const { owner, bound, own, others } = await twoAgents();
    const agentsIn = async (call: Call) => {
      const records: { agentId: string }[] = (await call('GET', requestTo(operation, nobodys).url)).json();
      return [...new Set(records.map(({ agentId }) => agentId))].sort();
    };

    expect(await agentsIn(bound)).toEqual([own.agentId]);
    expect(await agentsIn(owner)).toEqual([own.agentId, others.agentId].sort());
  });

  test.each(['agentId', 'grantId'])('lists nothing by the %s of another agent', async (filter) => {
    const { owner, bound, own, others } = await twoAgents();
    const countOf = async (call: Call, its: Possessions) => {
      const query = `${filter === 'grantId' ? 'rootGrantId' : filter}=${its[filter]}`;
      const { grants } = (await call('GET', `/v1/grants?${query}`)).json();
      const { entries } = (await call('GET', `/v1/audit/entries?${filter}=${its[filter]}`)).json();
      return [grants.length, entries.length];
    };

    const some = expect.toSatisfy((count) => count > 0);
    expect(await countOf(bound, others)).toEqual([0, 0]);
    expect(await countOf(bound, own)).toEqual(await countOf(owner, own));
    expect(await countOf(owner, others)).toEqual([some, some]);
  });

  test('finds no agent of another status, and its own one whatever its status', async () => {
    const { owner, bound, own, others } = await twoAgents();
    const listed = async (query: string) =>
      (await bound('GET', `/v1/agents?${query}`)).json().agents.map(({ id }: { id: string }) => id);
    const suspend = (its: Possessions) =>
      owner('PATCH', `/v1/agents/${its.agentId}`, { status: 'suspended' });

    await suspend(others);
    expect(await listed('status=suspended')).toEqual([]);
    expect(await listed('status=active')).toEqual([own.agentId]);
    await suspend(own);
    expect(await listed('status=suspended')).toEqual([own.agentId]);
    await owner('DELETE', `/v1/agents/${own.agentId}`);
    expect(await listed('')).toEqual([]);
    expect(await listed('status=revoked')).toEqual([own.agentId]);
  });

  test('finds no entry that names no agent', async () => {
    const { owner, bound, entryId } = await twoAgents();

    expect((await bound('GET', `/v1/audit/${entryId}`)).statusCode).toBe(404);
    expect((await owner('GET', `/v1/audit/${entryId}`)).json()).toMatchObject({ agentId: null });
  });

  test('delegates from its agent to any agent, whose grant it does not get', async () => {
    const { owner, bound, own, others } = await twoAgents();
    const part = { subAgentId: others.agentId, scopes: ['calendar:read'] };

    const made = await bound('POST', '/v1/grants/delegate', { ...part, parentGrantToken: own.grantToken });

    expect(made.statusCode).toBe(201);
    const { grantId, grantToken, refreshToken } = made.json();
    expect((await bound('GET', `/v1/grants/${grantId}`)).statusCode).toBe(404);
    expect((await bound('POST', '/v1/tokens/verify', { token: grantToken })).json()).toEqual({
      valid: false,
    });
    const refresh = { refreshToken, agentId: others.agentId };
    expect(refusalOf(await bound('POST', '/v1/token/refresh', refresh))).toBe(
      '400 INVALID_GRANT refresh_unknown',
    );
    expect((await owner('POST', '/v1/token/refresh', refresh)).statusCode).toBe(201);
  });

  test('ends with a grant of its agent the grants that other agents got from it', async () => {
    const { owner, bound, own, others } = await twoAgents();
    const part = { subAgentId: others.agentId, scopes: ['calendar:read'], parentGrantToken: own.grantToken };
    const { grantId } = (await bound('POST', '/v1/grants/delegate', part)).json();

    expect((await bound('DELETE', `/v1/grants/${own.grantId}`)).statusCode).toBe(204);

    const child = (await owner('GET', `/v1/grants/${grantId}`)).json();
    expect(child).toMatchObject({ agentId: others.agentId, status: 'revoked', revokedReason: 'parent' });
  });

  test('leaves no trace of the token of another agent that it verifies', async () => {
    const { owner, bound, ...two } = await twoAgents();
    const [own, others] = [await grantOf(owner, two.own), await grantOf(owner, two.others)];
    const usedAt = async ({ grantId }: Possessions) =>
      (await owner('GET', `/v1/grants/${grantId}`)).json().lastUsedAt;

    for (const { grantToken: token } of [own, others]) await bound('POST', '/v1/tokens/verify', { token });

    expect(await usedAt(others)).toBeNull();
    expect(await usedAt(own)).toBe(service.clock().toISOString());
  });

  test.each(FORBIDDEN)('is refused at %s, which concerns no one agent', async (operation) => {
    const { owner, bound } = await twoAgents();

    const refused = await ask(bound, operation, nobodys);

    expect(refused).toMatchObject({ statusCode: 403, body: expect.stringContaining('"FORBIDDEN"') });
    expect((await ask(await owner.asRuntime(), operation, nobodys)).statusCode).not.toBe(403);
  });

  test('reads the account, and rotates itself without getting further', async () => {
    const { owner, bound, own, others } = await twoAgents();

    expect((await bound('GET', '/v1/me')).json()).toEqual((await owner('GET', '/v1/me')).json());
    const wider = await bound('POST', '/v1/keys/rotate', { agentIds: [own.agentId, others.agentId] });
    const { apiKey } = (await bound('POST', '/v1/keys/rotate', {})).json();

    expect(wider.json().details.fields).toEqual([{ path: 'agentIds', problem: 'unknown' }]);
    const successor = service.calling(apiKey);
    expect((await successor('GET', `/v1/agents/${own.agentId}`)).statusCode).toBe(200);
    expect((await successor('GET', `/v1/agents/${others.agentId}`)).statusCode).toBe(404);
  });
});
