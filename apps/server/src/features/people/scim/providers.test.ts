import { describe, expect, test } from 'vitest';
import { sharedSandbox } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';

const start = sharedSandbox();

async function startProvisioned() {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  const make = async (userName: string) =>
    String((await idp('POST', '/Users', { userName, externalId: `x-${userName}` })).json().id);
  return { idp, ada: await make('ada@acme.test'), grace: await make('grace@acme.test') };
}

const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** @see https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20/ */
describe('Okta', () => {
  test('asks for a user by name, with a page, before it creates one', async () => {
    const { idp } = await startProvisioned();

    const none = await idp('GET', '/Users?filter=userName%20eq%20%22x%40acme.test%22&startIndex=1&count=100');

    expect(none.statusCode).toBe(200);
    expect(none.json()).toMatchObject({ totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] });
  });

  test('sends groups and a password along with a new user, which nobody keeps', async () => {
    const { idp } = await startProvisioned();
    const body = {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'new@acme.test',
      name: { givenName: 'New', familyName: 'Person' },
      emails: [{ primary: true, value: 'new@acme.test', type: 'work' }],
      displayName: 'New Person',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    };

    const made = await idp('POST', '/Users', body);

    expect(made.statusCode).toBe(201);
    expect(made.body).not.toContain('1mz050nq');
  });

  test('deactivates by a change without a path', async () => {
    const { idp, ada } = await startProvisioned();
    const body = { schemas: [PATCH], Operations: [{ op: 'replace', value: { active: false } }] };

    expect((await idp('PATCH', `/Users/${ada}`, body)).json().active).toBe(false);
  });

  test('repeats the id of a group whose name changes', async () => {
    const { idp, ada } = await startProvisioned();
    const group = { displayName: 'Test SCIMv2', members: [{ value: ada, display: 'ada@acme.test' }] };
    const { id } = (await idp('POST', '/Groups', group)).json();
    const body = {
      schemas: [PATCH],
      Operations: [{ op: 'replace', value: { id, displayName: 'Test SCIMv20' } }],
    };

    const changed = await idp('PATCH', `/Groups/${id}`, body);

    expect(changed.json()).toMatchObject({ displayName: 'Test SCIMv20', members: [{ value: ada }] });
  });

  test('adds and removes members in one change', async () => {
    const { idp, ada, grace } = await startProvisioned();
    const { id } = (
      await idp('POST', '/Groups', { displayName: 'Admirals', members: [{ value: ada }] })
    ).json();
    const Operations = [
      { op: 'remove', path: `members[value eq "${ada}"]` },
      { op: 'add', path: 'members', value: [{ value: grace, display: 'grace@acme.test' }] },
    ];

    const changed = await idp('PATCH', `/Groups/${id}`, { schemas: [PATCH], Operations });

    expect(changed.json().members).toEqual([expect.objectContaining({ value: grace, type: 'User' })]);
    expect((await idp('GET', `/Users/${grace}`)).json().groups).toMatchObject([
      { value: id, display: 'Admirals' },
    ]);
    expect((await idp('GET', `/Groups?filter=members.value eq "${grace}"`)).json().totalResults).toBe(1);
  });
});

/** @see https://learn.microsoft.com/en-us/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups */
describe('Entra ID', () => {
  test('writes operations with a capital, and booleans as text', async () => {
    const { idp, ada } = await startProvisioned();
    const body = { schemas: [PATCH], Operations: [{ op: 'Replace', path: 'active', value: 'False' }] };

    expect((await idp('PATCH', `/Users/${ada}`, body)).json().active).toBe(false);
  });

  test('adds an address by a filter that no address passes yet', async () => {
    const { idp, ada } = await startProvisioned();
    const path = 'emails[type eq "work"].value';
    const body = { schemas: [PATCH], Operations: [{ op: 'Add', path, value: 'ada@work.test' }] };

    const changed = await idp('PATCH', `/Users/${ada}`, body);

    expect(changed.json().emails).toEqual([{ type: 'work', value: 'ada@work.test' }]);
    const again = { schemas: [PATCH], Operations: [{ op: 'Replace', path, value: 'king@work.test' }] };
    expect((await idp('PATCH', `/Users/${ada}`, again)).json().emails).toEqual([
      { type: 'work', value: 'king@work.test' },
    ]);
  });

  test('names parts and extensions in the value of a change without a path', async () => {
    const { idp, ada } = await startProvisioned();
    const value = { 'name.givenName': 'Ada', [`${ENTERPRISE}:department`]: 'Engines', displayName: 'Ada' };
    const body = { schemas: [PATCH], Operations: [{ op: 'replace', value }] };

    expect((await idp('PATCH', `/Users/${ada}`, body)).json()).toMatchObject({
      name: { givenName: 'Ada' },
      displayName: 'Ada',
      [ENTERPRISE]: { department: 'Engines' },
    });
  });

  test('sends the id of a manager as a text', async () => {
    const { idp, ada, grace } = await startProvisioned();
    const body = {
      schemas: [PATCH],
      Operations: [{ op: 'Add', path: `${ENTERPRISE}:manager`, value: grace }],
    };

    expect((await idp('PATCH', `/Users/${ada}`, body)).json()[ENTERPRISE]).toEqual({
      manager: { value: grace },
    });
  });

  test('removes a member by a value, and asks for groups without their members', async () => {
    const { idp, ada, grace } = await startProvisioned();
    const members = [{ value: ada }, { value: grace }];
    const { id } = (await idp('POST', '/Groups', { displayName: 'Admirals', members })).json();
    const Operations = [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: ada }] }];

    const changed = await idp('PATCH', `/Groups/${id}?attributes=members.value`, {
      schemas: [PATCH],
      Operations,
    });

    expect(changed.json().members).toEqual([{ value: grace }]);
    const shown = (await idp('GET', `/Groups/${id}?excludedAttributes=members`)).json();
    expect(shown).not.toHaveProperty('members');
    const filter = encodeURIComponent('displayName eq "Admirals"');
    expect(
      (await idp('GET', `/Groups?excludedAttributes=members&filter=${filter}`)).json().totalResults,
    ).toBe(1);
  });

  test('clears an attribute by a removal, and asks for a user by its own id', async () => {
    const { idp, ada } = await startProvisioned();
    await idp('PATCH', `/Users/${ada}`, { Operations: [{ op: 'Add', path: 'title', value: 'Countess' }] });
    const body = { schemas: [PATCH], Operations: [{ op: 'Remove', path: 'title' }] };

    expect((await idp('PATCH', `/Users/${ada}`, body)).json()).not.toHaveProperty('title');
    const filter = encodeURIComponent('externalId eq "x-ada@acme.test"');
    expect((await idp('GET', `/Users?filter=${filter}`)).json().Resources).toMatchObject([{ id: ada }]);
  });
});

test('many operations in one request come true one by one, and name each other', async () => {
  const { idp, ada } = await startProvisioned();
  const Operations = [
    { method: 'POST', path: '/Users', bulkId: 'u', data: { userName: 'new@acme.test' } },
    { method: 'POST', path: '/Users', bulkId: 'again', data: { userName: 'ADA@acme.test' } },
    {
      method: 'POST',
      path: '/Groups',
      bulkId: 'g',
      data: { displayName: 'All', members: [{ value: 'bulkId:u' }] },
    },
    {
      method: 'PATCH',
      path: `/Users/${ada}`,
      data: { Operations: [{ op: 'add', path: 'title', value: 'x' }] },
    },
    { method: 'DELETE', path: '/Users/bulkId:u' },
    { method: 'DELETE', path: '/Users/bulkId:nothing' },
  ];
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'];

  const done = await idp('POST', '/Bulk', { schemas, Operations });

  const results: { status: string; bulkId?: string; response?: { scimType?: string } }[] =
    done.json().Operations;
  expect(
    results.map(({ status, response }) => [status, response?.scimType].filter(Boolean).join(' ')),
  ).toEqual(['201', '409 uniqueness', '201', '200', '204', '400 invalidValue']);
  const stopped = await idp('POST', '/Bulk', { schemas, failOnErrors: 1, Operations: Operations.slice(1) });
  expect(stopped.json().Operations).toHaveLength(1);
  const many = Array.from({ length: 1001 }, () => Operations[3]);
  expect((await idp('POST', '/Bulk', { schemas, Operations: many })).statusCode).toBe(413);
});

test('the service says what it has, and what its resources are made of', async () => {
  const { service } = await start();
  const get = async (path: string) => (await service.app.inject(`/scim/v2${path}`)).json();

  expect(await get('/ServiceProviderConfig')).toMatchObject({
    patch: { supported: true },
    bulk: { supported: true, maxOperations: 1000, maxPayloadSize: 1_048_576 },
    filter: { supported: true, maxResults: 200 },
    sort: { supported: true },
    etag: { supported: true },
    pagination: { cursor: true, index: true },
  });
  const types = (await get('/ResourceTypes')).Resources;
  expect(types.map(({ name, endpoint }: Record<string, string>) => `${name} ${endpoint}`)).toEqual([
    'User /Users',
    'Group /Groups',
  ]);
  const schemas = (await get('/Schemas')).Resources;
  const named = types.flatMap(
    ({ schema, schemaExtensions }: { schema: string; schemaExtensions: { schema: string }[] }) => [
      schema,
      ...schemaExtensions.map((extension) => extension.schema),
    ],
  );
  expect(schemas.map(({ id }: { id: string }) => id).sort()).toEqual(named.sort());
  for (const { id } of schemas) expect(await get(`/Schemas/${id}`)).toMatchObject({ id });
  expect(await get('/ResourceTypes/User')).toMatchObject({ id: 'User' });
});

/** The person of RFC 7643, section 8.2, as far as the service keeps the members, and one who is unlike her. */
const people = [
  {
    userName: 'bjensen@example.com',
    name: { familyName: 'Jensen', givenName: 'Barbara' },
    displayName: 'Babs Jensen',
    title: 'Tour Guide',
    userType: 'Employee',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Tour Operations' },
    emails: [
      { value: 'bjensen@example.com', type: 'work', primary: true },
      { value: 'babs@jensen.org', type: 'home' },
    ],
  },
  { userName: 'jomalley', name: { familyName: "O'Malley" }, userType: 'Contractor' },
];

const BOTH = ['bjensen@example.com', 'jomalley'];
const [BABS, OTHER] = [BOTH.slice(0, 1), BOTH.slice(1)];
const refused = '400 invalidFilter';

/** Each example of a filter in RFC 7644, section 3.4.2.2, Figure 2, in its order, and whom it finds. */
const examples: readonly (readonly [filter: string, found: readonly string[] | string])[] = [
  ['userName eq "bjensen"', []],
  ['name.familyName co "O\'Malley"', OTHER],
  ['userName sw "J"', OTHER],
  ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"', OTHER],
  ['title pr', BABS],
  ['meta.lastModified gt "2011-05-13T04:42:34Z"', BOTH],
  ['meta.lastModified ge "2011-05-13T04:42:34Z"', BOTH],
  ['meta.lastModified lt "2011-05-13T04:42:34Z"', []],
  ['meta.lastModified le "2011-05-13T04:42:34Z"', []],
  ['title pr and userType eq "Employee"', BABS],
  ['title pr or userType eq "Intern"', BABS],
  ['schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"', BABS],
  ['userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")', BABS],
  ['userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")', OTHER],
  ['userType eq "Employee" and (emails.type eq "work")', BABS],
  ['userType eq "Employee" and emails[type eq "work" and value co "@example.com"]', BABS],
  // The service keeps no `ims`, so nobody has one.
  ['emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]', BABS],
];

/** Filters that readers of other services took and should not have, or refused and should not have. */
const others: readonly (readonly [filter: string, found: readonly string[] | string])[] = [
  ['userName eq', refused], // scimmy 1.3 takes it
  ['userName eq "JOMALLEY"', OTHER], // scimmy 1.3 finds nobody
  ['userName EQ "jomalley"', OTHER], // RFC 7644: operators have no case
  ['title eq null', OTHER],
  ['schemas eq "urn:ietf:params:scim:schemas:core:2.0:User" and userName sw "J"', OTHER],
  ['schemas sw "urn:ietf:params:scim:schemas:core:2.0:Group"', []],
  ['userName eq "jomalley" and', refused],
  ['emails[type eq "work"', refused],
  ['not title pr', refused], // the grammar wants a group after `not`
];

test('C1: each filter of RFC 7644, and some on which readers differ, finds whom the standard says', async () => {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  for (const person of people) {
    expect((await idp('POST', '/Users', person)).statusCode).toBe(201);
    service.advance(1);
  }
  for (const [filter, found] of [...examples, ...others]) {
    const answer = await idp('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    const { Resources, status, scimType } = answer.json();
    const names = Resources?.map(({ userName }: { userName: string }) => userName);
    expect({ filter, found: names ?? `${status} ${scimType}` }).toEqual({ filter, found });
  }
});

test.each([
  ['schemas eq "urn:ietf:params:scim:schemas:core:2.0:Group"', 1],
  ['schemas co "User"', 0],
])('groups are found by `schemas`: %s', async (filter, total) => {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  await idp('POST', '/Groups', { displayName: 'Engines' });

  expect((await idp('GET', `/Groups?filter=${encodeURIComponent(filter)}`)).json().totalResults).toBe(total);
});
