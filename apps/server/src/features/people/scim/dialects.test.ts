import { describe, expect, test } from 'vitest';
import { entriesOf, sharedSandbox } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';

const start = sharedSandbox();

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const PRINCIPAL = 'urn:behest:params:scim:schemas:extension:principal:2.0:User';
const CREW = 'urn:ietf:params:scim:schemas:extension:crew:2.0:User';

/** The person of these tests, as far as a change may leave her. */
const ada = {
  userName: 'ada@acme.test',
  externalId: '00u1',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [
    { value: 'ada@acme.test', type: 'work', primary: true },
    { value: 'ada@home.test', type: 'home' },
  ],
  phoneNumbers: [{ value: '1', type: 'mobile' }],
};

async function startProvisioned() {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  const boss = String((await idp('POST', '/Users', { userName: 'boss' })).json().id);
  const manager = { value: boss, displayName: 'The boss' };
  const person = { ...ada, [ENTERPRISE]: { department: 'Engines', manager } };
  const id = String((await idp('POST', '/Users', person)).json().id);
  const patch = (...Operations: object[]) => idp('PATCH', `/Users/${id}`, { Operations });
  const found = async (filter: string, kind = 'Users') => {
    const answer = await idp('GET', `/${kind}?filter=${encodeURIComponent(filter)}`);
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json().Resources.map((each: { id: string }) => each.id);
  };
  return { service, acme, idp, id, boss, patch, found };
}

/** What the service does not keep, in each operation and each spelling in which directories send it. */
const notKept: readonly (readonly [what: string, operation: object])[] = [
  ['roles by a filter', { op: 'Add', path: 'roles[primary eq "True"].value', value: 'Editor' }],
  ['a part of an address', { op: 'Add', path: 'addresses[type eq "work"].formatted', value: 'Main Street' }],
  ['all roles', { op: 'replace', path: 'roles', value: [{ value: 'Editor' }] }],
  ['the removal of roles', { op: 'Remove', path: 'roles[value eq "Editor"]' }],
  ['the removal of what nobody knows', { op: 'remove', path: 'shoeSize' }],
  ['an extension', { op: 'add', path: CREW, value: { rank: 'Admiral' } }],
  ['an attribute of an extension', { op: 'Replace', path: `${CREW}:rank`, value: 'Admiral' }],
  ['an attribute of the enterprise that is none', { op: 'add', path: `${ENTERPRISE}:floor`, value: 3 }],
  ['an unknown part of a name', { op: 'replace', path: 'name.nickname', value: 'x' }],
  ['an unknown part of an address', { op: 'replace', path: 'emails[type eq "work"].verified', value: true }],
  ['a password', { op: 'replace', path: 'password', value: 'secret' }],
  ['`schemas`', { op: 'add', path: 'schemas', value: [CREW] }],
  ['`groups`', { op: 'add', path: 'groups', value: [{ value: 'x' }] }],
  ['`meta`', { op: 'replace', path: 'meta.created', value: 'x' }],
  [
    'members of a value',
    { op: 'replace', value: { roles: [{ value: 'x' }], schemas: [CREW], groups: [], 'a b': 1 } },
  ],
  ['an extension in a value', { op: 'add', value: { [CREW]: { rank: 'x' }, [`${CREW}:rank`]: 'x' } }],
  ['a whole enterprise with more', { op: 'add', value: { [ENTERPRISE]: { floor: 3, 'a b': 4 } } }],
];

describe('s02: what is not kept stops no change', () => {
  test.each(notKept)('%s', async (_, operation) => {
    const { idp, id, patch } = await startProvisioned();
    const before = (await idp('GET', `/Users/${id}`)).json();

    const changed = await patch(operation, { op: 'Replace', path: 'title', value: 'Countess' });

    expect(changed.statusCode, changed.body).toBe(200);
    expect(changed.json()).toEqual({
      ...before,
      title: 'Countess',
      meta: { ...before.meta, version: 'W/"2"', lastModified: expect.any(String) },
    });
  });

  test('s02: a change of nothing else makes no version and no entry', async () => {
    const { acme, patch } = await startProvisioned();

    const changed = await patch(...notKept.map(([, operation]) => operation));

    expect(changed.headers.etag).toBe('W/"1"');
    expect(await entriesOf(acme, 'scim.user.updated')).toEqual([]);
  });

  test('s07: whole people and groups are taken with schemas and extensions that nobody knows', async () => {
    const { idp, id, boss } = await startProvisioned();
    const microsoft = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group';
    const more = {
      [CREW]: { rank: 'x' },
      roles: 'x',
      x509Certificates: [{}],
      meta: { resourceType: 'User' },
    };

    const group = await idp('POST', '/Groups', {
      schemas: [GROUP, microsoft],
      displayName: 'Crew',
      [microsoft]: {},
    });
    const user = await idp('POST', '/Users', { schemas: [USER, CREW], userName: 'new', ...more });
    const put = await idp('PUT', `/Users/${id}`, {
      schemas: ['urn:scim:schemas:core:1.0'],
      userName: 'ada',
      ...more,
    });
    const patch = await idp('PATCH', `/Groups/${group.json().id}`, {
      schemas: [GROUP],
      Operations: [
        { op: 'add', path: 'members', value: [{ value: boss, type: 'User', note: 'x' }] },
        { op: 'replace', value: { description: 'x', externalId: 'g-1' } },
      ],
    });

    expect([group, user, put, patch].map(({ statusCode }) => statusCode)).toEqual([201, 201, 200, 200]);
    expect(put.json()).toEqual({
      schemas: [USER],
      id,
      userName: 'ada',
      active: true,
      emails: [],
      meta: expect.any(Object),
    });
    expect(patch.json()).toMatchObject({ externalId: 'g-1', members: [{ value: boss }] });
  });

  test('K2: `null` is no values, for a group as for a person', async () => {
    const { idp, id, boss, patch } = await startProvisioned();
    const group = await idp('POST', '/Groups', { displayName: 'Crew', members: [{ value: boss }] });
    const path = `/Groups/${group.json().id}`;
    const change = async (op: string) =>
      (await idp('PATCH', path, { Operations: [{ op, path: 'members', value: null }] })).json().members;

    expect(await change('add')).toMatchObject([{ value: boss }]);
    expect(await change('replace')).toEqual([]);
    const cleared = await patch({ op: 'replace', path: 'emails', value: null });
    expect([cleared.statusCode, cleared.json().emails]).toEqual([200, []]);
    expect((await idp('GET', `/Users/${id}`)).json().emails).toEqual([]);
  });

  test('s02: many operations stand each by itself, those that cannot be read too', async () => {
    const { idp, id } = await startProvisioned();
    const Operations = [
      { method: 'POST', path: '/Devices', bulkId: 'd', data: {} },
      {
        method: 'patch',
        path: `Users/${id}/`,
        data: { Operations: notKept.map(([, operation]) => operation) },
      },
      {
        method: 'POST',
        path: '/Users/',
        bulkId: 'u',
        data: { schemas: [USER, CREW], userName: 'new', [CREW]: {} },
      },
    ];

    const done = await idp('POST', '/Bulk', { schemas: ['urn:x'], Operations });

    expect(done.json().Operations.map(({ status }: { status: string }) => status)).toEqual([
      '400',
      '200',
      '201',
    ]);
  });

  test('s02: a client may ask for attributes that are not kept, and by them', async () => {
    const { idp, id } = await startProvisioned();
    const path = `/Users/${id}`;

    expect((await idp('GET', `${path}?attributes=roles,title,${CREW}:rank,userName`)).json()).toEqual({
      schemas: expect.any(Array),
      id,
      userName: ada.userName,
    });
    expect((await idp('GET', `${path}?excludedAttributes=roles,${CREW}`)).json()).toMatchObject(ada);
    expect((await idp('GET', '/Users?sortBy=roles&count=&startIndex=&foo=bar')).json().totalResults).toBe(2);
  });
});

describe('s03: a value that the path describes', () => {
  test.each([
    [
      'emails[type eq "other"].value',
      'x@y.test',
      { emails: [...ada.emails, { type: 'other', value: 'x@y.test' }] },
    ],
    [
      'Emails[Type EQ "other" and primary eq "False"].Value',
      'x',
      { emails: [...ada.emails, { type: 'other', primary: false, value: 'x' }] },
    ],
    [
      'phoneNumbers[type eq "work"].value',
      '2',
      { phoneNumbers: [...ada.phoneNumbers, { type: 'work', value: '2' }] },
    ],
    ['phoneNumbers[type eq "mobile"].value', '2', { phoneNumbers: [{ type: 'mobile', value: '2' }] }],
    [
      'phoneNumbers[type eq "fax"]',
      { value: '3' },
      { phoneNumbers: [...ada.phoneNumbers, { type: 'fax', value: '3' }] },
    ],
    ['phoneNumbers[type eq "fax"].display', '3', { phoneNumbers: ada.phoneNumbers }],
    ['phoneNumbers[type eq "fax"].value', '', { phoneNumbers: ada.phoneNumbers }],
    [`${USER}:emails[type eq "home"].value`, 'x', { emails: [ada.emails[0], { type: 'home', value: 'x' }] }],
    ['manager', 'x', { [ENTERPRISE]: { department: 'Engines', manager: { value: 'x' } } }],
    [
      'manager[value eq "x"].displayName',
      'X',
      { [ENTERPRISE]: { department: 'Engines', manager: { value: 'x', displayName: 'X' } } },
    ],
    [
      `${ENTERPRISE}:Manager.value`,
      'x',
      { [ENTERPRISE]: { department: 'Engines', manager: { value: 'x', displayName: 'The boss' } } },
    ],
    ['manager', '', { [ENTERPRISE]: { department: 'Engines' } }],
    [
      'name',
      { givenName: null, middleName: 'King' },
      { name: { familyName: 'Lovelace', middleName: 'King' } },
    ],
    [PRINCIPAL, { principalIds: ['user_1'] }, { [PRINCIPAL]: { principalIds: ['user_1'] } }],
    [`${PRINCIPAL}:principalIds[value eq "user_1"]`, 'user_2', { [PRINCIPAL]: { principalIds: ['user_2'] } }],
  ])('%s is made by a replacement with %j', async (path, value, after) => {
    const { patch } = await startProvisioned();

    const changed = await patch({ op: 'Replace', path, value });

    expect(changed.statusCode, changed.body).toBe(200);
    const shown = changed.json();
    expect(Object.fromEntries(Object.keys(after).map((name) => [name, shown[name]]))).toEqual(after);
  });

  test.each([
    ['emails[type eq "work"].value', undefined, { emails: [ada.emails[1]] }],
    ['emails[type eq "work"]', undefined, { emails: [ada.emails[1]] }],
    ['EMAILS[type eq "WORK"].value', 'ada@acme.test', { emails: [ada.emails[1]] }],
    ['emails[type eq "fax"].value', undefined, { emails: ada.emails }],
    ['emails[type eq "home"].type', undefined, { emails: [ada.emails[0], { value: 'ada@home.test' }] }],
    ['emails', [{ value: 'ADA@home.test' }], { emails: [ada.emails[0]] }],
    ['emails', 'ada@home.test', { emails: [ada.emails[0]] }],
    ['emails.value', 'ada@home.test', { emails: [ada.emails[0]] }],
    ['emails', null, { emails: [] }],
    ['phoneNumbers[type eq "mobile"].value', undefined, { phoneNumbers: undefined }],
    [
      'manager[value eq "nobody"]',
      undefined,
      { [ENTERPRISE]: expect.objectContaining({ manager: expect.anything() }) },
    ],
    ['manager', undefined, { [ENTERPRISE]: { department: 'Engines' } }],
    [
      'manager.displayName',
      undefined,
      { [ENTERPRISE]: { department: 'Engines', manager: { value: expect.any(String) } } },
    ],
    [`${ENTERPRISE}:manager`, undefined, { [ENTERPRISE]: { department: 'Engines' } }],
    [ENTERPRISE, undefined, { [ENTERPRISE]: undefined }],
  ])('%s goes by a removal of %j', async (path, value, after) => {
    const { patch } = await startProvisioned();

    const changed = await patch({ op: 'Remove', path, value });

    expect(changed.statusCode, changed.body).toBe(200);
    const shown = changed.json();
    expect(Object.fromEntries(Object.keys(after).map((name) => [name, shown[name]]))).toEqual(after);
  });

  test('s21: a manager goes by the value that the path names', async () => {
    const { patch, boss } = await startProvisioned();

    const changed = await patch({ op: 'Remove', path: `manager[value eq "${boss}"]` });

    expect(changed.json()[ENTERPRISE]).toEqual({ department: 'Engines' });
  });

  test('s03: members come and go by each spelling of their ids', async () => {
    const { idp, id, boss } = await startProvisioned();
    const { id: groupId } = (await idp('POST', '/Groups', { displayName: 'Crew' })).json();
    const after = async (operation: object) => {
      const changed = await idp('PATCH', `/Groups/${groupId}`, { Operations: [operation] });
      expect(changed.statusCode, changed.body).toBe(200);
      return changed.json().members.map(({ value }: { value: string }) => value);
    };

    expect(await after({ op: 'Add', path: 'members', value: [{ $ref: null, value: id }] })).toEqual([id]);
    expect(await after({ op: 'add', path: 'Members', value: [boss, boss] })).toEqual([boss, id].sort());
    expect(await after({ op: 'remove', path: `members[value eq "${id}"].value` })).toEqual([boss]);
    expect(await after({ op: 'add', path: `members[value eq "${id}"]`, value: {} })).toEqual(
      [boss, id].sort(),
    );
    expect(await after({ op: 'remove', path: `${GROUP}:members`, value: [{ value: boss }] })).toEqual([id]);
    expect(await after({ op: 'replace', value: { members: [{ value: boss }] } })).toEqual([boss]);
    expect(await after({ op: 'remove', path: `members[value eq "${id}" or display sw "x"]` })).toEqual([
      boss,
    ]);
    expect(await after({ op: 'remove', path: 'members' })).toEqual([]);
  });

  test('nobody comes back by the removal of `active`', async () => {
    const { patch } = await startProvisioned();
    await patch({ op: 'replace', path: 'active', value: 'False' });

    expect((await patch({ op: 'remove', path: 'active' })).json().active).toBe(false);
    expect((await patch({ op: 'replace', path: 'active', value: null })).json().active).toBe(false);
    expect((await patch({ op: 'replace', value: { Active: 'True' } })).json().active).toBe(true);
  });
});

test('s05: people are found by a reference, with and without its URN', async () => {
  const { found, idp, id, boss } = await startProvisioned();
  const { id: groupId } = (
    await idp('POST', '/Groups', { displayName: 'Crew', members: [{ value: id }] })
  ).json();

  for (const name of ['manager', 'manager.value', `${ENTERPRISE}:manager`, `${ENTERPRISE}:MANAGER.value`]) {
    expect(await found(`id eq "${id}" and ${name} eq "${boss}"`)).toEqual([id]);
    expect(await found(`${name} eq "${id}"`)).toEqual([]);
    expect(await found(`${name} pr`)).toEqual([id]);
  }
  expect(await found(`manager[value eq "${boss}" and displayName sw "the"]`)).toEqual([id]);
  expect(await found(`phoneNumbers[type eq "mobile"].value eq "1" and department eq "engines"`)).toEqual([
    id,
  ]);
  for (const filter of [
    `members eq "${id}"`,
    `members[value eq "${id}"]`,
    `members[type eq "User"].value eq "${id}"`,
  ])
    expect(await found(filter, 'Groups')).toEqual([groupId]);
  expect(await found(`members eq "${boss}"`, 'Groups')).toEqual([]);
});

test('s08: a path may end with a slash, and a filter may be empty', async () => {
  const { idp, id } = await startProvisioned();
  const total = async (path: string) => (await idp('GET', path)).json().totalResults;

  for (const path of ['/Users/?filter=', '/Users?filter=', '/Users/?filter=%20', '/Users//?count=5']) {
    expect(await total(path)).toBe(2);
  }
  expect(await total(`/Users/?filter=${encodeURIComponent('userName eq "boss"')}`)).toBe(1);
  expect(await total('/Groups/')).toBe(0);
  expect((await idp('POST', '/Users/.search/', { filter: '' })).json().totalResults).toBe(2);
  expect((await idp('POST', '/.search/', { filter: '' })).json().totalResults).toBe(2);
  expect((await idp('GET', `/Users/${id}/?attributes=id`)).json()).toMatchObject({ id });
  const patch = { Operations: [{ op: 'add', path: 'title', value: 'x' }] };
  expect((await idp('PATCH', `/Users/${id}/`, patch)).json().title).toBe('x');
  expect((await idp('PUT', `/Users/${id}/`, { userName: 'ada' })).statusCode).toBe(200);
  expect((await idp('DELETE', `/Users/${id}/`)).statusCode).toBe(204);
  expect((await idp('POST', '/Users/', { userName: 'new' })).statusCode).toBe(201);
  for (const path of ['/ServiceProviderConfig/', '/ResourceTypes/', '/Schemas/', `/Schemas/${USER}/`]) {
    expect((await idp('GET', path)).statusCode).toBe(200);
  }
  expect((await idp('GET', '/Nothing/')).statusCode).toBe(404);
});

test('s22: a person who comes back is a conflict that names the id, and so is a group', async () => {
  const { idp, id, patch } = await startProvisioned();
  await patch({ op: 'replace', value: { active: false } });
  const group = (await idp('POST', '/Groups', { displayName: 'Crew', externalId: 'g1' })).json();

  const again = await idp('POST', '/Users', { userName: 'other', externalId: ada.externalId });
  const groups = await idp('POST', '/Groups', { displayName: 'Other', externalId: 'g1' });

  expect(again.json()).toMatchObject({
    status: '409',
    scimType: 'uniqueness',
    detail: expect.stringContaining(id),
  });
  expect(groups.json()).toMatchObject({ status: '409', detail: expect.stringContaining(group.id) });
  expect((await patch({ op: 'replace', value: { active: true } })).json()).toMatchObject({
    id,
    active: true,
  });
});

test('C3: a conflict names nobody of another developer', async () => {
  const { service, id } = await startProvisioned();
  const stranger = await provisionerOf(service, await service.asDeveloper());

  expect((await stranger('POST', '/Users', ada)).statusCode).toBe(201);
  expect((await stranger('POST', '/Users', ada)).body).not.toContain(id);
});
