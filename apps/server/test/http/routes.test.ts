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
import { actionsOf, partsOf, signedBy } from '../app/flow.ts';
import { type Developer, type Service, startApp } from '../app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});

const routesThat = (hold: (route: RouteOptions) => boolean) => service.routes.filter(hold);
const operationsThat = (hold: (route: RouteOptions) => boolean) => routesThat(hold).map(operationOf).sort();
/** Their `refreshToken` and `clientId` are those of an upstream or an identity provider. */
const isOfUpstream = ({ url }: RouteOptions) =>
  ['/v1/vault/credentials', '/v1/vault/providers', '/v1/sso/connections', '/v1/sso/config'].includes(url);
/** Such a session begins at an identity provider; the tests of single sign-on ask for those of another developer. */
const beginsElsewhere = ({ url }: RouteOptions) =>
  url === '/v1/sso/sessions/:id' || url === '/v1/sso/id-jag/stops/:id';
/** A change waits only in a live account with two owners; its tests ask for that of another developer. */
const waitsForTwo = ({ url }: RouteOptions) => url.startsWith('/v1/changes/:');
/** A person's id has no owner. The tests of proved addresses and of offboarding ask for the person of another developer. */
const namesPerson = ({ url }: RouteOptions) => /^\/v1\/(principal-addresses|principals)\/:/.test(url);
/** A policy names agents as a condition, which need not exist, and a rule of anomalies has an id of the developer's choice. */
const namesCondition = ({ url }: RouteOptions) =>
  ['/v1/policies', '/v1/policies/evaluate', '/v1/anomaly/rules'].includes(url);
/** RFC 7644 §3.3: attributes that the service does not know are ignored. */
const isOfScim = ({ config }: RouteOptions) => config?.access === 'scim';
/** AuthZEN names records in `subject`, `resource` and `context`. */
const isOfAuthZen = ({ url }: RouteOptions) => url.startsWith('/access/v1/');
const isOfDevelopers = ({ config }: RouteOptions) => config?.access === 'developer';
const takesBody = ({ method }: Pick<RouteOptions, 'method'>) =>
  ['POST', 'PATCH', 'PUT'].includes(String(method));
const propertiesOf = ({ schema }: RouteOptions): string[] =>
  Object.keys(Object(schema?.body).properties ?? {});

/** Whether a field names a record with an owner. A principal has no owner: developers name principals. */
const namesRecord = (field: string) =>
  (/Id$/.test(field) && field !== 'principalId') ||
  /^(jti|token|code|refreshToken|parentGrantToken|grantToken)$/.test(field);

/** An answer, without the members that differ each time. */
function comparable({ statusCode, body }: { statusCode: number; body: string }) {
  return { statusCode, body: body.replace(/"requestId":"[^"]*"/, '') };
}

/** Everything that a developer can see of its records. */
async function sightOf(developer: Developer, its: Possessions) {
  const answers = await Promise.all(shownAt(its).map((url) => developer('GET', url)));
  return { shown: answers.map(comparable), acts: await actionsOf(developer) };
}

describe('T3: the record of another developer', () => {
  test('is tried through every route that takes an id', () => {
    const asking = operationsThat(
      (route) =>
        isOfDevelopers(route) &&
        !isOfUpstream(route) &&
        !beginsElsewhere(route) &&
        !waitsForTwo(route) &&
        !namesPerson(route) &&
        !namesCondition(route) &&
        (/:(\w+I|i)d/.test(route.url) || propertiesOf(route).some(namesRecord) || isOfAuthZen(route)),
    );

    expect(Object.keys(ways).sort()).toEqual(asking);
  });

  test.each(Object.keys(ways))('is to %s like an unknown record, and stays as it is', async (operation) => {
    const [owner, stranger] = [
      await service.asDeveloper({ mode: 'sandbox' }),
      await service.asDeveloper({ mode: 'sandbox' }),
    ];
    const its = await possessionsOf(owner);
    const before = await sightOf(owner, its);
    const { payload } = partsOf(String(its.grantToken));
    const grantToken = await signedBy(service, { ...payload, jti: nobodys.tokenId });
    const ask = async (developer: Developer, about: Possessions) => {
      const { method, url, body } = requestTo(operation, about);
      return comparable(await developer(method, url, body));
    };

    const [foreign, unknown] = [await ask(stranger, its), await ask(stranger, { ...nobodys, grantToken })];

    expect(foreign).toEqual(unknown);
    expect(foreign.body).not.toContain(its.agentId);
    const refused = /(?:(?:tokens|grants)\/(?:verify|introspect)|enforce(?:\/tools)?)$|\/access\/v1\//.test(
      operation,
    )
      ? 200
      : /\/token|delegate|webauthn\/register|passport\/issue|identities$/.test(operation)
        ? [400, 404]
        : 404;
    expect([refused].flat()).toContain(foreign.statusCode);
    expect(await sightOf(owner, its)).toEqual(before);
    const own = await ask(owner, its);
    // Its owner finds it. Nobody is linked at the connection of the samples, and its agent is not revoked.
    if (!operation.endsWith('/identities') && !operation.endsWith('/offboarding')) {
      expect(own).not.toEqual(unknown);
    }
  });

  test.each(['agentId', 'grantId', 'principalId'])('T4: is not listed by the filter %s', async (filter) => {
    const [owner, stranger] = [
      await service.asDeveloper({ mode: 'sandbox' }),
      await service.asDeveloper({ mode: 'sandbox' }),
    ];
    const its = await possessionsOf(owner);
    const value = { agentId: its.agentId, grantId: its.grantId, principalId: 'user_42' }[filter];
    const listed = async (developer: Developer) => {
      const { entries } = (await developer('GET', `/v1/audit/entries?${filter}=${value}`)).json();
      // A grant is found by its id, and no list of grants has that filter.
      const asked = filter === 'grantId' ? '' : `?${filter}=${value}`;
      const { grants } = (await developer('GET', `/v1/grants${asked}`)).json();
      return { entries: entries.length, grants: grants.length };
    };

    const some = expect.toSatisfy(Boolean);
    expect(await listed(owner)).toEqual({ entries: some, grants: some });
    expect((await listed(stranger)).entries).toBe(0);
    expect((await listed(stranger)).grants).toBe(0);
  });

  test('T4: is a mere position as a cursor, and the page shows the caller’s own records', async () => {
    const owner = await service.asDeveloper({ mode: 'sandbox' });
    const its = await possessionsOf(owner);
    const stranger = await service.asDeveloper({ mode: 'sandbox' });
    await possessionsOf(stranger);
    const own = {
      agents: (await stranger('GET', '/v1/agents')).json().agents,
      grants: (await stranger('GET', '/v1/grants')).json().grants,
    };

    const { agents } = (await stranger('GET', `/v1/agents?cursor=${its.agentId}`)).json();
    const { grants } = (await stranger('GET', `/v1/grants?cursor=${its.grantId}`)).json();

    for (const agent of agents) expect(own.agents).toContainEqual(agent);
    for (const grant of grants) expect(own.grants).toContainEqual(grant);
  });
});

describe('T3: a person’s page', () => {
  test.each(['GET /v1/consent/:id', 'POST /v1/consent/:id/approve', 'POST /v1/consent/:id/deny'])(
    'answers %s the same for a request that exists and for an unknown one',
    async (operation) => {
      const owner = await service.asDeveloper({ mode: 'sandbox' });
      const authRequestId = String((await possessionsOf(owner)).authRequestId);
      const [method, url = ''] = operation.split(' ');
      const ask = async (id: string) =>
        comparable(await service.app.inject({ method: method as 'GET', url: url.replace(':id', id) }));

      expect(await ask(authRequestId)).toEqual(await ask(String(nobodys.authRequestId)));
      expect((await ask(authRequestId)).statusCode).toBe(401);
    },
  );
});

describe('T1, T8: every route that asks for an API key', () => {
  const everyOne = (headers: Record<string, string>) =>
    Promise.all(
      routesThat(isOfDevelopers).map(async (route) => {
        const { method, url } = requestTo(operationOf(route), nobodys);
        const sent = takesBody(route)
          ? { payload: '{', headers: { ...headers, 'content-type': 'x' } }
          : { headers };
        const { statusCode } = await service.app.inject({ method, url, ...sent });
        return `${operationOf(route)} ${statusCode}`;
      }),
    );
  const allAre = (status: number) =>
    operationsThat(isOfDevelopers).map((operation) => `${operation} ${status}`);

  test('refuses a caller without a key, before it looks at anything else', async () => {
    expect((await everyOne({})).sort()).toEqual(allAre(401));
  });

  test.each(['grantToken', 'refreshToken', 'code', 'sessionToken'] as const)(
    'takes no %s for a key',
    async (kind) => {
      const owner = await service.asDeveloper({ mode: 'sandbox' });
      const its = await possessionsOf(owner);

      expect((await everyOne({ authorization: `Bearer ${its[kind]}` })).sort()).toEqual(allAre(401));
    },
  );
});

describe('T1, J17: every route that asks for a session token', () => {
  const isOfPrincipals = ({ config }: RouteOptions) => config?.access === 'session';
  const everyOne = async (headers: Record<string, string>) => {
    const statuses = new Map<string, number>();
    const endsLast = (route: RouteOptions) => (operationOf(route) === 'DELETE /v1/principal/session' ? 1 : 0);
    for (const route of routesThat(isOfPrincipals).sort((a, b) => endsLast(a) - endsLast(b))) {
      const { method, url } = requestTo(operationOf(route), nobodys);
      const { statusCode } = await service.app.inject({ method, url, headers });
      statuses.set(operationOf(route), statusCode);
    }
    return statuses;
  };
  const allAre = (status: number) =>
    new Map(routesThat(isOfPrincipals).map((route) => [operationOf(route), status]));

  test.each(['apiKey', 'grantToken', 'refreshToken', 'code', 'cookie', 'basic'])(
    'takes no %s for a session token, and takes its own',
    async (kind) => {
      const owner = await service.asDeveloper({ mode: 'sandbox' });
      const its = await possessionsOf(owner);
      const before = await sightOf(owner, its);
      const { sessionToken } = its;
      const credentials: Readonly<Record<string, Record<string, string>>> = {
        apiKey: { authorization: `Bearer ${owner.apiKey}` },
        grantToken: { authorization: `Bearer ${its.grantToken}` },
        refreshToken: { authorization: `Bearer ${its.refreshToken}` },
        code: { authorization: `Bearer ${its.code}` },
        cookie: { cookie: `session=${sessionToken}; bh_consent_x=${sessionToken}` },
        basic: { authorization: `Basic ${sessionToken}` },
      };

      expect(await everyOne(credentials[kind] ?? {})).toEqual(allAre(401));
      expect(await sightOf(owner, its)).toEqual(before);
      const own = await everyOne({ authorization: `Bearer ${sessionToken}` });
      expect([...own.values()]).not.toContain(401);
    },
  );
});

describe('T10: a `runtime` key', () => {
  test('is refused on exactly these routes, whatever it asks for', async () => {
    const owner = await service.asDeveloper();
    const runtime = await owner.asRuntime();
    const before = await actionsOf(owner);
    const refusedOf = async (developer: ReturnType<Service['calling']>) => {
      const refused = [];
      for (const operation of operationsThat(isOfDevelopers)) {
        const { method, url } = requestTo(operation, nobodys);
        if (operation === 'POST /v1/keys/rotate') continue; // ends the key itself; see below
        const answer = await developer(method, url, takesBody({ method }) ? {} : undefined);
        if (answer.statusCode === 403 && answer.json().code === 'FORBIDDEN') refused.push(operation);
      }
      return refused;
    };

    expect(await refusedOf(runtime)).toEqual(needFullKey);
    expect(await actionsOf(owner)).toEqual(before);
    expect(await refusedOf(owner)).toEqual([]);
    expect(operationsThat(({ config }) => config?.role === 'full')).toEqual(needFullKey);
  });

  test('does not become a `full` key by rotation', async () => {
    const owner = await service.asDeveloper();
    const runtime = await owner.asRuntime();

    const asked = await runtime('POST', '/v1/keys/rotate', { role: 'full' });
    const rotated = await runtime('POST', '/v1/keys/rotate', {});

    expect(asked.json().details.fields).toEqual([{ path: 'role', problem: 'unknown' }]);
    const successor = service.calling(rotated.json().apiKey);
    expect((await successor('GET', '/v1/keys')).statusCode).toBe(403);
    expect((await successor('GET', '/v1/me')).statusCode).toBe(200);
  });
});

describe('T5: a field that a route does not know', () => {
  const owned = ['id', 'developerId', 'did', 'status', 'plan', 'mode', 'createdAt', 'isAdmin', 'hash', 'seq'];
  // Members of AuthZEN; members that an identity provider adds; RFC 7591, section 2; RFC 7662, section 2.1; the events of the payment provider; and a manifest, whose
  // loader answers INVALID_MANIFEST
  const ignoring = [
    'PATCH /ssf/streams',
    'POST /access/v1/evaluation',
    'POST /access/v1/evaluations',
    'POST /connect/callback/:id',
    'POST /oauth/authorize',
    'POST /oauth/bc-authorize',
    'POST /oauth/device_authorization',
    'POST /oauth/introspect',
    'POST /oauth/par',
    'POST /oauth/register',
    'POST /oauth/revoke',
    'POST /oauth/token',
    'POST /ssf/poll/:id',
    'POST /ssf/status',
    'POST /ssf/streams',
    'POST /ssf/verification',
    'POST /sso/callback',
    'POST /sso/callback/ldap',
    'POST /sso/callback/oidc',
    'POST /sso/callback/saml',
    'POST /v1/billing/webhook',
    'POST /v1/policies/sync/webhook',
    'POST /v1/tokens/introspect',
    'PUT /oauth/register/:clientId',
    'PUT /ssf/streams',
    'PUT /v1/manifests/:connector',
  ];

  test('is refused by the shape of every route but those of OAuth, SCIM and SSF', () => {
    const open = operationsThat(
      (route) =>
        takesBody(route) &&
        !isOfScim(route) &&
        !route.config?.streamsBody &&
        Object(route.schema?.body).additionalProperties !== false,
    );

    expect(open).toEqual(ignoring);
  });

  test('is named in the refusal, whether the service has such a field or not', async () => {
    const owner = await service.asDeveloper({ mode: 'sandbox' });
    const its = await possessionsOf(owner);
    const before = await sightOf(owner, its);

    // Other tests send unknown fields to the pages, and with a grant token, whose use shows.
    const others = [
      'consent',
      'connect',
      'approver',
      'console',
      'grant',
      'session',
      'scim',
      'ssf',
      'operator',
    ];
    const isOther = ({ config }: RouteOptions) => config?.takesSet || others.includes(String(config?.access));
    const known = routesThat((route) => takesBody(route) && !isOther(route));
    for (const route of known) {
      const operation = operationOf(route);
      if (ignoring.includes(operation) || route.config?.fromOwnPages) continue;
      const { method, url, body } = requestTo(operation, its);
      const foreign = owned.filter((name) => !propertiesOf(route).includes(name));

      const refused = await owner(method, url, {
        ...body,
        ...Object.fromEntries(foreign.map((name) => [name, 'x'])),
      });

      expect([operation, refused.statusCode]).toEqual([operation, 400]);
      expect(refused.json().details.fields, operation).toEqual(
        expect.arrayContaining(foreign.map((path) => ({ path, problem: 'unknown' }))),
      );
    }
    expect(await sightOf(owner, its)).toEqual(before);
  });
});

test('every route has an id of its own, and a summary', () => {
  const ids = service.routes.map(({ schema }) => schema?.operationId);

  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(30);
});
