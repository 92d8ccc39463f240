import { expect, test } from 'vitest';
import {
  good,
  JWT_BEARER,
  startAsserting,
  startAssertingProvider,
  told,
  trustAt,
  trustingDeveloper,
} from '../../../../test/app/asserting.ts';
import { newResource } from '../../../../test/app/oauth.ts';
import { sendForm } from '../../../../test/app/published.ts';
import { besideProvider } from '../../../../test/app/signing-on.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

const TOOLS = 'urn:service:tools:v1';
const entry = (connector: string, ...tools: string[]) => ({ type: TOOLS, connector, tools });

test('a change of a rule ends the grants that are wider, and leaves those that groups have narrowed', async () => {
  const { service, provider } = await startAsserting();
  const both = [entry('crm', 'find', 'send'), entry('pay', 'look', 'book')];
  const own = await trustingDeveloper(service, provider, {
    connection: { groupAttribute: 'groups', groupMappings: { desk: ['calendar:*', 'tool:crm:write'] } },
    rule: {
      scopes: ['calendar:*', 'tool:crm:write', 'tool:pay:write'],
      defaultScopes: ['calendar:read'],
      authorizationDetails: both,
    },
  });
  const { 'urn:service:grant': grant } = await own.token({ groups: ['desk'] });
  const after = async (change: object) => {
    await good(own.acme, 'PATCH', own.rulePath, change);
    const { status, revokedReason } = (await own.acme('GET', `/v1/grants/${grant.grant_id}`)).json();
    return [status, revokedReason];
  };
  const STAYS = ['active', undefined];

  expect(await after({ tokenTtlSeconds: 600 })).toEqual(STAYS);
  expect(await after({ authorizationDetails: [entry('pay', 'look'), entry('crm', 'find', 'send')] })).toEqual(
    STAYS,
  );
  expect(await after({ authorizationDetails: [entry('crm', 'find', 'send', 'list')] })).toEqual(STAYS);
  expect(await after({ scopes: ['calendar:*', 'tool:crm:write'] })).toEqual(STAYS);
  const capped = { ...entry('crm', 'find', 'send'), caps: { send: { per_day: 1 } } };
  expect(await after({ authorizationDetails: [capped] })).toEqual(['revoked', 'idp_rule']);
});

test('fewer resources and fewer tools end the grants that have more', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, {
    rule: { scopes: ['calendar:*', 'tool:crm:write'], defaultScopes: ['calendar:read', 'tool:crm:write'] },
  });
  const [kept, dropped] = ['http://localhost/kept', 'http://localhost/dropped'];
  for (const resource of [kept, dropped]) await newResource(own.acme, resource);
  const grantOf = async (claims: object) => (await own.token(claims))['urn:service:grant'].grant_id;
  const grants = [await grantOf({ resource: kept }), await grantOf({ resource: dropped }), await grantOf({})];
  const statuses = () =>
    Promise.all(grants.map(async (id) => (await own.acme('GET', `/v1/grants/${id}`)).json().status));

  await good(own.acme, 'PATCH', own.rulePath, { resources: [kept, dropped] });
  expect(await statuses()).toEqual(['active', 'active', 'active']);
  await good(own.acme, 'PATCH', own.rulePath, { resources: [kept] });
  expect(await statuses()).toEqual(['active', 'revoked', 'active']);
  await good(own.acme, 'PATCH', own.rulePath, { authorizationDetails: [entry('crm', 'find')] });
  expect(await statuses()).toEqual(['revoked', 'revoked', 'revoked']);
});

test('a resource that says nothing of scopes narrows nothing', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  const resource = 'http://localhost/silent';
  await newResource(own.acme, resource);

  const token = await own.token({ scope: 'calendar:read calendar:write mail:read', resource });

  expect(token.scope).toBe('calendar:read calendar:write');
});

test('M15: what one process has taken is refused at another, though they share no store', async () => {
  const options = { ...besideProvider(), store: 'memory' } as const;
  const [here, there] = [await startApp(options), await startApp(options)];
  const provider = await startAssertingProvider(here);
  const acme = await here.asDeveloper({ mode: 'sandbox' });
  const base = 'https://auth.test';
  const { client } = await trustAt(acme, here, provider, { base });
  const { clientId, clientSecret = '' } = client;
  const show = async (at: Service, assertion: string) => {
    const form = { grant_type: JWT_BEARER, client_id: clientId, client_secret: clientSecret, assertion };
    const { statusCode, body } = await sendForm(at, 'token', form);
    return told(new Response(body, { status: statusCode }));
  };
  const [first, second] = [await provider.assert(base, clientId), await provider.assert(base, clientId)];

  const together = await Promise.all([here, there, here, there].map((at) => show(at, first)));
  expect(together.filter((each) => each === '200')).toHaveLength(1);
  expect(await show(here, second)).toBe('200');
  expect(await show(there, second)).toBe('invalid_grant replayed');
});

test('an assertion is remembered for two minutes after its end, and forgotten then', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider); // assertions end after 300 s
  await own.token({ jti: 'first' });
  const isKept = async (jti: string) => {
    await own.token({ jti });
    const rows = await service.db
      .selectFrom('assertionUses')
      .select('jti')
      .where('developerId', '=', own.acme.developerId)
      .execute();
    return rows.some((row) => row.jti === 'first');
  };

  service.advance(300 + 120);
  expect(await isKept('second')).toBe(true);
  service.advance(1);
  expect(await isKept('third')).toBe(false);
});
