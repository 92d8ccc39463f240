import { covers } from '@behest/protocol/scopes';
import fc from 'fast-check';
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
import { common, within } from './scopes.rules.ts';

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

const scope = fc.constantFrom(
  ...['*', 'calendar:*', 'calendar:read', 'calendar:write', 'mail:*', 'mail:read'],
  ...['tool:pay:write', 'tool:pay:read', 'tool:*:read', 'tool:*:admin', 'tool:pay:write:capped:500'],
  ...['tool:pay:write:capped:20', 'tool:pay:admin:invoice*', 'tool:pay:read:invoice.draft', 'tool:crm:read'],
  ...['tool:*:write:inv*:capped:100', 'tool:pay:write:invoice'],
);
const scopes = fc.uniqueArray(scope, { maxLength: 5 });
const limit = fc.option(scopes);

const isCovered = (list: readonly string[], one: string) => list.some((each) => covers(each, one));

test('a token has what every side allows, and nothing else', () => {
  fc.assert(
    fc.property(scopes, fc.array(limit, { maxLength: 4 }), (asked, limits) => {
      const made = within(asked, limits);
      for (const one of asked) {
        expect(made.includes(one)).toBe(limits.every((each) => each === null || isCovered(each, one)));
      }
      expect(made.every((one) => asked.includes(one))).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('the common part of two ceilings covers exactly what both cover', () => {
  fc.assert(
    fc.property(scopes, scopes, scope, (ours, theirs, one) => {
      const both = isCovered(ours, one) && isCovered(theirs, one);
      expect(isCovered(common(ours, theirs) ?? [], one)).toBe(both);
    }),
    { numRuns: 500 },
  );
});

const many = (count: number, name: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => name(index));

test('31 H3: a rule and groups with many scopes are met by looking each up, and tool scopes only so often', () => {
  const plain = many(50_000, (index) => `r${index}:read`);
  const rule = [...many(99, (index) => `r${index}:*`), 'r49999:*'];
  expect(common(rule, plain)).toEqual([...plain.slice(0, 99), 'r49999:read']);

  const levels = many(100, (index) => `tool:c${index}:write`);
  const resources = many(3, (index) => `tool:*:admin:r${index}`);
  expect(common(levels, resources)).toHaveLength(300);
  expect(common([...levels, 'tool:more:read'], resources)).toBeUndefined();
  const same = many(100, (index) => `tool:pay:read:a${index}`);
  expect(
    common(
      same,
      many(100, (index) => `tool:pay:read:b${index}`),
    ),
  ).toEqual([]);
  expect(
    common(
      same,
      many(101, (index) => `tool:pay:read:b${index}`),
    ),
  ).toBeUndefined();
});
