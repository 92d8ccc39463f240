import { expect, test } from 'vitest';
import { actionsOf, sharedSandbox } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { startApp } from '../../../../test/app/start-app.ts';

const ada = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'ada@acme.test',
  externalId: '00u1',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [{ value: 'ada@acme.test', type: 'work', primary: true }],
  active: true,
};

const start = sharedSandbox();

test('a person is provisioned with a token, found, and recorded', async () => {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);

  const made = await idp('POST', '/Users', ada);
  const { id } = made.json();

  expect(made.statusCode).toBe(201);
  expect(made.headers['content-type']).toBe('application/scim+json; charset=utf-8');
  expect(made.headers.location).toBe(`https://auth.test/scim/v2/Users/${id}`);
  expect(made.headers.etag).toBe('W/"1"');
  expect(made.json()).toEqual({
    ...ada,
    id: expect.stringMatching(/^scimuser_/),
    meta: {
      resourceType: 'User',
      created: '2026-01-01T00:00:00.000Z',
      lastModified: '2026-01-01T00:00:00.000Z',
      location: `https://auth.test/scim/v2/Users/${id}`,
      version: 'W/"1"',
    },
  });
  expect((await idp('GET', `/Users/${id}`)).json()).toEqual(made.json());
  expect((await idp('GET', '/Users?filter=userName eq "ADA@acme.test"')).json()).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: 1,
    startIndex: 1,
    itemsPerPage: 1,
    Resources: [made.json()],
  });
  expect(await actionsOf(acme)).toEqual(['developer.created', 'scim.token.created', 'scim.user.created']);
});

test('a second person of the same name, in any case, is a conflict in the shape of SCIM', async () => {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  const { id } = (await idp('POST', '/Users', ada)).json();

  const refused = await idp('POST', '/Users', { userName: 'ADA@ACME.test' });

  expect(refused.statusCode).toBe(409);
  expect(refused.headers['content-type']).toBe('application/scim+json; charset=utf-8');
  expect(refused.json()).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: '409',
    scimType: 'uniqueness',
    detail: `The user \`${id}\` has this \`userName\`, \`externalId\` or principal id.`,
  });
});

test('a token has its own limit, and a search for a name takes no place of heavy reads', async () => {
  const service = await startApp({ env: { RATE_LIMIT_SCIM: '9' } });
  const acme = await service.asDeveloper();
  const [one, other] = [await provisionerOf(service, acme), await provisionerOf(service, acme)];
  const byName = `/Users?filter=${encodeURIComponent('userName eq "ada"')}`;

  const lookUps = await Promise.all(Array.from({ length: 8 }, () => one('GET', byName)));

  expect(lookUps.map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(200));
  expect((await one('GET', byName)).statusCode).toBe(200);
  expect((await one('GET', byName)).statusCode).toBe(429);
  expect((await other('GET', byName)).statusCode).toBe(200);
});

test('a group is another version when the name of a member changes, and when a member leaves', async () => {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  const { id } = (await idp('POST', '/Users', { userName: 'ada@acme.test' })).json();
  const made = await idp('POST', '/Groups', { displayName: 'Admirals', members: [{ value: id }] });
  const other = await idp('POST', '/Groups', { displayName: 'Others' });
  const change = (value: object) => idp('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value }] });
  const look = (group: typeof made, tag: string) =>
    idp('GET', `/Groups/${group.json().id}`, undefined, { 'if-none-match': tag });

  await change({ title: 'Countess' });
  expect((await look(made, 'W/"1"')).statusCode).toBe(304); // the control
  service.advance(1);
  await change({ displayName: 'Ada Lovelace' });
  const renamed = await look(made, 'W/"1"');
  expect(renamed.headers.etag).toBe('W/"2"');
  expect(renamed.json()).toMatchObject({
    members: [{ value: id, display: 'Ada Lovelace' }],
    meta: { lastModified: service.clock().toISOString() },
  });
  await change({ userName: 'countess@acme.test' }); // behind the name for display
  expect((await look(made, 'W/"2"')).statusCode).toBe(304);
  await change({ displayName: '' });
  expect((await look(made, 'W/"2"')).json().members).toMatchObject([{ display: 'countess@acme.test' }]);
  await idp('DELETE', `/Users/${id}`);
  expect((await look(made, 'W/"3"')).headers.etag).toBe('W/"4"');
  expect((await look(other, 'W/"1"')).statusCode).toBe(304);
});

test('medium 7: a plan includes so many people and groups, and room is made by a deletion', async () => {
  const env = { PLAN_FREE_SCIM_PEOPLE: '2', PLAN_FREE_SCIM_GROUPS: '1' };
  const { asDeveloper, ...service } = await startApp({ env });
  const acme = await asDeveloper();
  const idp = await provisionerOf({ asDeveloper, ...service }, acme);
  const [{ id }] = [
    (await idp('POST', '/Users', ada)).json(),
    await idp('POST', '/Users', { userName: 'bob' }),
  ];
  const { id: groupId } = (await idp('POST', '/Groups', { displayName: 'Crew' })).json();

  const full = await idp('POST', '/Users', { userName: 'eve' });
  expect([full.json().status, full.json().detail]).toEqual([
    '402',
    'The free plan includes 2 SCIM people, and all are used.',
  ]);
  expect((await idp('POST', '/Groups', { displayName: 'Others' })).statusCode).toBe(402);
  expect((await idp('GET', '/Users')).json().totalResults).toBe(2);
  await idp('DELETE', `/Users/${id}`);
  await idp('DELETE', `/Groups/${groupId}`);
  expect((await idp('POST', '/Users', { userName: 'eve' })).statusCode).toBe(201);
  expect((await idp('POST', '/Users', { userName: 'mallory' })).statusCode).toBe(402);
  expect((await idp('POST', '/Groups', { displayName: 'Others' })).statusCode).toBe(201);
});
