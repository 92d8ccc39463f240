import { describe, expect, test } from 'vitest';
import { sharedSandbox } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { startApp } from '../../../../test/app/start-app.ts';

const start = sharedSandbox();

async function startProvisioned() {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  const user = {
    userName: 'ada@acme.test',
    displayName: 'Ada 100%',
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    emails: [
      { value: 'ada@acme.test', type: 'work', primary: true },
      { value: 'ada@home.test', type: 'home' },
    ],
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Engines', costCenter: '7' },
  };
  const { id } = (await idp('POST', '/Users', user)).json();
  return { service, acme, idp, userId: String(id) };
}

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
const errorOf = (answer: { json(): { status: string; scimType?: string; schemas: string[] } }) => {
  const { status, scimType, schemas } = answer.json();
  expect(schemas).toEqual([ERROR]);
  return [status, scimType].filter(Boolean).join(' ');
};
const search = (filter: string) => `/Users?filter=${encodeURIComponent(filter)}`;

describe('C1: a filter', () => {
  test.each([
    ['with SQL after it', `userName eq "x"; drop table scim_users`],
    ['with a quote of SQL', `userName eq 'x' or '1'='1'`],
    ['that is unbalanced', '(userName eq "x"'],
    ['of ten thousand characters', `userName eq "${'x'.repeat(10_000)}"`],
    ['of two hundred levels', `${'('.repeat(200)}userName pr${')'.repeat(200)}`],
    ['of fifty-one terms', Array.from({ length: 51 }, () => 'userName pr').join(' or ')],
    ['by a name that is none', '__proto__ pr'],
    ['by an address that is made when it is shown', 'meta.location pr'],
    ['by a group of values of a name', 'userName[value eq "x"]'],
    ['by a name with parts', 'name eq "x"'],
    ['that orders booleans', 'active gt true'],
    ['by a time that is none', 'meta.created gt "yesterday"'],
  ])('%s is refused', async (_, filter) => {
    const { idp } = await startProvisioned();

    expect(errorOf(await idp('GET', search(filter)))).toBe('400 invalidFilter');
  });

  test.each([
    ['userName co "%"', 0],
    ['displayName co "%"', 1],
    ['displayName sw "ada" and not (userName eq "x")', 1],
    [`userName eq "' or 1=1 --"`, 0],
    ['emails[type eq "WORK" and value co "@acme"]', 1],
    ['emails.value eq "ADA@home.test"', 1],
    ['emails[type eq "home" and value eq "ada@acme.test"]', 0],
    ['USERNAME eq "ada@acme.test" AND ACTIVE EQ True', 1],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "ada"', 1],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "engines"', 1],
    ['externalId pr', 0],
    ['title eq null', 1],
    ['name.familyName gt "lovelacd" and name.familyName le "lovelace"', 1],
    ['meta.created ge "2026-01-01T00:00:00Z" and meta.created lt "2026-01-01T01:00:01+01:00"', 1],
    ['id ne "x"', 1],
    ['groups pr or name[givenName eq "x"]', 0],
    ['name[givenName eq "ADA" and familyName sw "love"]', 1],
    ['emails[type eq "work"].value eq "ADA@acme.test"', 1],
    ['emails[type eq "home"].value eq "ada@acme.test"', 0],
    ['developerId eq "x"', 0],
    ['password pr', 0],
    ['constructor pr or roles[primary eq "True"].value eq "x"', 0],
    ['urn:ietf:params:scim:schemas:extension:crew:2.0:User:rank ne "x"', 1],
    ['userName.value eq "x" or emails.verified eq true', 0],
    ['costCenter eq 7', 1],
    ['title[ne', undefined],
  ])('%s finds %s', async (filter, found) => {
    const { idp } = await startProvisioned();

    const answer = await idp('GET', search(filter));

    if (found === undefined) expect(errorOf(answer)).toBe('400 invalidFilter');
    else expect(answer.json().totalResults, answer.body).toBe(found);
  });
});

describe('C2: a change', () => {
  test.each([
    ['of `id`', { op: 'replace', path: 'id', value: 'x' }, 'mutability'],
    ['of `id` without a path', { op: 'replace', value: { id: 'x', title: 'Countess' } }, 'mutability'],
    ['of a name that is none', { op: 'add', path: '__proto__', value: { admin: true } }, 'invalidPath'],
    ['with a broken path', { op: 'add', path: 'emails[type eq', value: 'x' }, 'invalidPath'],
    ['with a broken path of nobody', { op: 'add', path: 'roles[primary eq "x"', value: 'x' }, 'invalidPath'],
    ['with values of a name', { op: 'remove', path: 'title[value eq "x"]' }, 'invalidPath'],
    ['that removes nothing by name', { op: 'remove' }, 'noTarget'],
    ['that removes the name', { op: 'remove', path: 'userName' }, 'mutability'],
    ['to no name', { op: 'replace', path: 'userName', value: '' }, 'invalidValue'],
    ['to a wrong type', { op: 'replace', path: 'active', value: 'perhaps' }, 'invalidValue'],
    ['by no known operation', { op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
  ])('%s is refused, with all that came with it', async (_, operation, scimType) => {
    const { idp, userId } = await startProvisioned();
    const before = (await idp('GET', `/Users/${userId}`)).json();

    const first = { op: 'replace', path: 'title', value: 'Countess' };
    const refused = await idp('PATCH', `/Users/${userId}`, { Operations: [first, operation] });

    expect(errorOf(refused)).toBe(`400 ${scimType}`);
    expect((await idp('GET', `/Users/${userId}`)).json()).toEqual(before);
    const changed = await idp('PATCH', `/Users/${userId}`, { Operations: [first] });
    expect(changed.json()).toMatchObject({ title: 'Countess', meta: { version: 'W/"2"' } });
  });

  test('with a thousand operations is refused', async () => {
    const { idp, userId } = await startProvisioned();
    const each = { op: 'replace', path: 'title', value: 'x' };
    const Operations = Array.from({ length: 1000 }, () => each);

    expect(errorOf(await idp('PATCH', `/Users/${userId}`, { Operations }))).toBe('400 invalidValue');
  });
});

describe('C3: a token', () => {
  test('reaches nothing of another developer, by any route', async () => {
    const { service, idp, userId } = await startProvisioned();
    const { id: groupId } = (await idp('POST', '/Groups', { displayName: 'Engines' })).json();
    const stranger = await provisionerOf(service, await service.asDeveloper());
    const change = { Operations: [{ op: 'replace', path: 'displayName', value: 'mine' }] };
    const asOf = async () => [
      (await idp('GET', `/Users/${userId}`)).body,
      (await idp('GET', `/Groups/${groupId}`)).body,
    ];
    const before = await asOf();

    for (const path of [`/Users/${userId}`, `/Groups/${groupId}`, '/Users/x', '/Groups/%20']) {
      const body = { userName: 'mine', displayName: 'mine' };
      expect(errorOf(await stranger('GET', path))).toBe('404');
      expect(errorOf(await stranger('PUT', path, body))).toBe('404');
      expect(errorOf(await stranger('PATCH', path, change))).toBe('404');
      expect(errorOf(await stranger('DELETE', path))).toBe('404');
    }
    const group = { displayName: 'Thieves', members: [{ value: userId }] };
    expect(errorOf(await stranger('POST', '/Groups', group))).toBe('400 invalidValue');
    for (const path of ['/Users', '/Groups', search('userName pr'), '/Users?cursor=']) {
      expect((await stranger('GET', path)).json()).toMatchObject({ totalResults: 0, Resources: [] });
    }
    expect(await asOf()).toEqual(before);
    expect((await stranger('POST', '/Users', { userName: 'ada@acme.test' })).statusCode).toBe(201);
  });

  test('is refused once it is deleted, on the next request', async () => {
    const { acme, idp } = await startProvisioned();

    expect((await acme('DELETE', `/v1/scim/tokens/${idp.tokenId}`)).statusCode).toBe(204);

    const refused = await idp('GET', '/Users');
    expect(errorOf(refused)).toBe('401');
    expect(refused.headers['www-authenticate']).toContain('Bearer');
    expect((await acme('GET', '/v1/scim/tokens')).json().tokens).toEqual([]);
  });

  test('T8: is none for the API, and an API key none for SCIM', async () => {
    const { service, acme, idp } = await startProvisioned();

    expect((await service.calling(idp.token)('GET', '/v1/me')).statusCode).toBe(401);
    const answer = await service.calling(acme.apiKey)('GET', '/scim/v2/Users');
    expect(errorOf(answer)).toBe('401');
  });
});

describe('C5: a page', () => {
  test('has bounds, and its numbers say what it holds', async () => {
    const { idp } = await startProvisioned();
    for (const n of [2, 3]) await idp('POST', '/Users', { userName: `user${n}` });
    const page = async (query: string) => {
      const { totalResults, startIndex, itemsPerPage, Resources } = (
        await idp('GET', `/Users?${query}`)
      ).json();
      expect(Resources.length).toBe(itemsPerPage);
      return { totalResults, startIndex, itemsPerPage };
    };

    expect(await page('count=1000000')).toEqual({ totalResults: 3, startIndex: 1, itemsPerPage: 3 });
    expect(await page('startIndex=-5&count=2')).toEqual({ totalResults: 3, startIndex: 1, itemsPerPage: 2 });
    expect(await page('startIndex=3&count=2')).toEqual({ totalResults: 3, startIndex: 3, itemsPerPage: 1 });
    expect(await page('count=0')).toEqual({ totalResults: 3, startIndex: 1, itemsPerPage: 0 });
    expect(await page('count=-1')).toEqual({ totalResults: 3, startIndex: 1, itemsPerPage: 0 });
    expect(errorOf(await idp('GET', '/Users?count=many'))).toBe('400 invalidValue');
  });

  test('C5: a name in another case is the same name, also for a change', async () => {
    const { idp } = await startProvisioned();
    const { id } = (await idp('POST', '/Users', { userName: 'grace' })).json();

    expect(errorOf(await idp('POST', '/Users', { userName: 'ADA@acme.TEST' }))).toBe('409 uniqueness');
    expect(errorOf(await idp('PUT', `/Users/${id}`, { userName: 'Ada@acme.test' }))).toBe('409 uniqueness');
  });

  test.each([
    'sortBy=userName',
    'sortBy=displayName&sortOrder=descending',
    'sortBy=meta.created',
    'sortOrder=ascending',
  ])('goes on from its cursor by %s, and each person comes once', async (order) => {
    const { idp } = await startProvisioned();
    for (const n of [3, 1, 2]) {
      await idp('POST', '/Users', { userName: `user${n}`, ...(n > 1 && { displayName: `U${n % 2}` }) });
    }
    const whole = (await idp('GET', `/Users?${order}&count=200`)).json().Resources;

    const seen: object[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const answer: { totalResults: number; Resources: object[]; nextCursor?: string } = (
        await idp('GET', `/Users?${order}&count=2&cursor=${cursor}`)
      ).json();
      expect(answer.totalResults).toBe(4);
      seen.push(...answer.Resources);
      cursor = answer.nextCursor;
    }

    expect(seen).toEqual(whole);
    expect(errorOf(await idp('GET', '/Users?cursor=x'))).toBe('400 invalidCursor');
  });
});

test('a version saves a read and stops a write that came too late', async () => {
  const { idp, userId } = await startProvisioned();
  const path = `/Users/${userId}`;
  const change = { Operations: [{ op: 'replace', path: 'title', value: 'Countess' }] };

  expect((await idp('GET', path, undefined, { 'if-none-match': 'W/"1"' })).statusCode).toBe(304);
  expect((await idp('PATCH', path, change, { 'if-match': 'W/"1"' })).headers.etag).toBe('W/"2"');
  expect((await idp('GET', path, undefined, { 'if-none-match': 'W/"1"' })).statusCode).toBe(200);
  for (const method of ['PATCH', 'PUT', 'DELETE'] as const) {
    const body = method === 'PATCH' ? change : { userName: 'x' };
    const late = await idp(method, path, method === 'DELETE' ? undefined : body, { 'if-match': 'W/"1"' });
    expect(errorOf(late)).toBe('412');
  }
  expect((await idp('PATCH', path, change)).json().meta.version).toBe('W/"2"'); // changes nothing
  expect((await idp('DELETE', path, undefined, { 'if-match': 'W/"2"' })).statusCode).toBe(204);
});

test('a client sees the attributes that it asks for', async () => {
  const { idp, userId } = await startProvisioned();
  const seen = async (query: string) => (await idp('GET', `/Users/${userId}?${query}`)).json();
  const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
  const always = { schemas: expect.any(Array), id: userId };

  expect(await seen('attributes=userName,name.givenName,emails.value')).toEqual({
    ...always,
    userName: 'ada@acme.test',
    name: { givenName: 'Ada' },
    emails: [{ value: 'ada@acme.test' }, { value: 'ada@home.test' }],
  });
  expect(await seen(`attributes=${enterprise}:department`)).toEqual({
    ...always,
    [enterprise]: { department: 'Engines' },
  });
  const rest = await seen('excludedAttributes=id,emails,name.familyName,meta');
  expect(rest).toMatchObject({ ...always, name: { givenName: 'Ada' } });
  expect(rest).not.toHaveProperty('emails');
  expect(rest).not.toHaveProperty('name.familyName');
  expect(rest).not.toHaveProperty('meta');
  expect(errorOf(await idp('GET', `/Users/${userId}?attributes=id&excludedAttributes=name`))).toBe(
    '400 invalidValue',
  );
});

test('every refusal has the shape of SCIM', async () => {
  const { service, idp } = await startProvisioned();
  const send = (headers: Record<string, string>, payload: string) =>
    service.app.inject({
      method: 'POST',
      url: '/scim/v2/Users',
      headers: { authorization: `Bearer ${idp.token}`, ...headers },
      payload,
    });

  expect(errorOf(await idp('GET', '/Nothing'))).toBe('404');
  expect(errorOf(await idp('PUT', '/Users'))).toBe('405');
  expect(errorOf(await idp('GET', '/Me'))).toBe('501');
  expect(errorOf(await idp('GET', '/Users/%zz'))).toBe('404');
  expect(errorOf(await service.app.inject('/scim/v2/Users'))).toBe('401');
  expect(errorOf(await send({ 'content-type': 'text/plain' }, 'x'))).toBe('415');
  expect(errorOf(await send({ 'content-type': 'application/json' }, '{'))).toBe('400 invalidSyntax');
  expect(errorOf(await send({ 'content-type': 'application/json' }, '[]'))).toBe('400 invalidSyntax');
  const large = JSON.stringify({ userName: 'x', title: 'x'.repeat(1_048_576) });
  expect(errorOf(await send({ 'content-type': 'application/json' }, large))).toBe('413');
  const wrong = { schemas: [7], userName: 'x' };
  expect(errorOf(await idp('POST', '/Users', wrong))).toBe('400 invalidSyntax');
  expect(errorOf(await idp('POST', '/Users', { displayName: 'x' }))).toBe('400 invalidValue');
  const answer = await service.app.inject('/scim/v2/ResourceTypes?filter=x');
  expect(errorOf(answer)).toBe('403');
  expect(answer.headers['x-request-id']).toBeTruthy();
});

test('a token may be used until the instant of its end, and there are ten at most', async () => {
  const { asDeveloper, app, advance } = await startApp();
  const acme = await asDeveloper();
  const body = { label: 'short', expiresAt: '2026-01-01T00:01:00.000Z' };
  const { token } = (await acme('POST', '/v1/scim/tokens', body)).json();
  for (let n = 2; n <= 10; n += 1) await acme('POST', '/v1/scim/tokens', { label: `${n}` });
  const list = async () =>
    (await app.inject({ url: '/scim/v2/Users', headers: { authorization: `Bearer ${token}` } })).statusCode;

  expect((await acme('POST', '/v1/scim/tokens', { label: 'one more' })).statusCode).toBe(409);
  advance(59.999);
  expect(await list()).toBe(200);
  advance(0.001);
  expect(await list()).toBe(401);
  expect((await acme('POST', '/v1/scim/tokens', { label: 'one more' })).statusCode).toBe(201);
});

async function directory() {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  const displays = ['Ann', 'Bob', 'Cyd'];
  for (const displayName of displays) await idp('POST', '/Users', { userName: displayName, displayName });
  for (const displayName of ['Ann', 'Staff']) await idp('POST', '/Groups', { displayName });
  return async (body: object) => {
    const answer = await idp('POST', '/.search', body);
    const { totalResults, startIndex, itemsPerPage, Resources = [], scimType } = answer.json();
    const kinds = Resources.map(({ meta }: { meta: { resourceType: string } }) => meta.resourceType);
    return { status: answer.statusCode, totalResults, startIndex, itemsPerPage, kinds, scimType };
  };
}

test('a search over all kinds has people and then groups, page by page, as one list', async () => {
  const search = await directory();

  expect(await search({})).toMatchObject({
    status: 200,
    totalResults: 5,
    kinds: ['User', 'User', 'User', 'Group', 'Group'],
  });
  for (const [startIndex, kinds] of [
    [1, ['User', 'User']],
    [3, ['User', 'Group']],
    [5, ['Group']],
    [6, []],
  ] as const) {
    expect(await search({ startIndex, count: 2 })).toMatchObject({
      totalResults: 5,
      startIndex,
      itemsPerPage: kinds.length,
      kinds,
    });
  }
  expect(await search({ COUNT: 0 })).toMatchObject({ totalResults: 5, kinds: [] });
});

test('a filter over all kinds passes over kinds without its attribute', async () => {
  const search = await directory();

  expect(await search({ filter: 'displayName eq "ann"' })).toMatchObject({ kinds: ['User', 'Group'] });
  expect(await search({ filter: 'userName eq "bob"' })).toMatchObject({ totalResults: 1, kinds: ['User'] });
  expect(await search({ filter: 'members pr' })).toMatchObject({ totalResults: 0, kinds: [] });
  expect(await search({ filter: 'nobody eq "x"' })).toMatchObject({ totalResults: 0, kinds: [] });
  expect(await search({ filter: 'displayName eq' })).toMatchObject({
    status: 400,
    scimType: 'invalidFilter',
  });
  expect(await search({ cursor: '' })).toMatchObject({ status: 400, scimType: 'invalidCursor' });
});
