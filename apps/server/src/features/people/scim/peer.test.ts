import SCIMMY from 'scimmy';
import { expect, test } from 'vitest';
import { sharedSandbox } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';

const { Messages, Schemas, Types } = SCIMMY;
const start = sharedSandbox();

/** A client that writes requests and reads answers by a library of another party, which throws at what it cannot read. */
async function startClient() {
  const { service, acme } = await start();
  const send = await provisionerOf(service, acme);
  const user = (body: object) => Object(new Schemas.User(body, 'out'));
  const group = (body: object) => Object(new Schemas.Group(body, 'out'));
  const add = async (body: object) => {
    const request = JSON.parse(JSON.stringify(new Schemas.User(body, 'in')));
    const answer = await send('POST', '/Users', request);
    expect(answer.statusCode, answer.body).toBe(201);
    return user(answer.json());
  };
  const search = async (path: string, members: object) => {
    const request = { schemas: [Messages.SearchRequest.id], ...members };
    const answer = await send(
      'POST',
      path,
      JSON.parse(JSON.stringify(new Messages.SearchRequest(Object(request)))),
    );
    const { Resources = [], ...list } = answer.json();
    new Messages.ListResponse({ ...list, Resources });
    return Resources.map((each: { userName: string }) => each.userName).sort();
  };
  return { send, user, group, add, search };
}

const work = (value: string) => ({ type: 'work', value });
const home = (value: string) => ({ type: 'home', value });
/** Each has a name, without which the other library cannot look for one. */
const people = [
  {
    ...{ userName: 'ada', displayName: 'Ada', title: 'Countess', name: { givenName: 'Ada' } },
    emails: [work('ada@a.test')],
  },
  {
    ...{ userName: 'bob', nickName: 'B', active: false, name: { givenName: 'Bob' } },
    emails: [home('bob@b.test')],
  },
  {
    ...{ userName: 'eve', name: { familyName: 'King', givenName: 'Eve' } },
    emails: [work('eve@a.test'), { ...home('eve@b.test'), primary: true }],
  },
];

test('a client of another library reads every schema, type and resource', async () => {
  const { send, user, group, add } = await startClient();
  const { id } = await add(people[2] ?? {});
  const made = await send('POST', '/Groups', { displayName: 'Staff', members: [{ value: id }] });

  expect(group(made.json())).toMatchObject({ displayName: 'Staff', members: [{ value: id, type: 'User' }] });
  expect(user((await send('GET', `/Users/${id}`)).json())).toMatchObject({
    groups: [{ value: made.json().id, display: 'Staff' }],
    emails: [{ value: 'eve@a.test' }, { value: 'eve@b.test', primary: true }],
  });
  new Schemas.ServiceProviderConfig((await send('GET', '/ServiceProviderConfig')).json(), 'out');
  for (const type of (await send('GET', '/ResourceTypes')).json().Resources) {
    new Schemas.ResourceType(type, 'out');
  }
});

test('each attribute that the service describes is that of the standard', async () => {
  const { send } = await startClient();
  const faults: unknown[] = [];
  const compare = (path: string, ours: Described, theirs: Described) => {
    for (const attribute of ours.attributes ?? ours.subAttributes ?? []) {
      const at = `${path}.${attribute.name}`;
      const known = (theirs.attributes ?? theirs.subAttributes ?? []).find(
        ({ name }) => name === attribute.name,
      );
      if (!known) faults.push(`${at} is unknown to the standard`);
      else {
        for (const trait of ['type', 'multiValued', 'mutability'] as const) {
          if (attribute[trait] !== known[trait]) faults.push([at, trait, attribute[trait], known[trait]]);
        }
        compare(at, attribute, known);
      }
    }
  };
  for (const { definition } of [Schemas.User, Schemas.Group, Schemas.EnterpriseUser]) {
    const ours = (await send('GET', `/Schemas/${definition.id}`)).json();
    compare(String(definition.name), ours, plain(definition.describe()));
  }
  expect(faults).toEqual([
    ['Group.members.$ref', 'mutability', 'readOnly', 'immutable'], // the service makes it
    ['Group.members.display', 'mutability', 'readOnly', 'immutable'], // the name of the user
    ['EnterpriseUser.manager.displayName', 'mutability', 'readWrite', 'readOnly'], // managers need not be users here
  ]);
});

interface Described {
  readonly name: string;
  readonly type?: string;
  readonly multiValued?: boolean;
  readonly mutability?: string;
  readonly attributes?: readonly Described[];
  readonly subAttributes?: readonly Described[];
}

test('a filter finds the people whom the other library finds by it', async () => {
  const { send, add, search } = await startClient();
  for (const person of people) await add(person);
  const { Resources } = (await send('GET', '/Users')).json();
  const filters = [
    ...['userName eq "ada"', 'userName ne "ada"', 'userName co "b"', 'userName sw "e"', 'userName ew "e"'],
    ...['title pr', 'not (title pr)', 'active eq true', 'active eq false', 'name.familyName eq "King"'],
    ...['userName gt "bob"', 'userName ge "bob"', 'userName lt "bob"', 'userName le "bob"'],
    ...[
      'title pr or nickName pr',
      'title pr and active eq true',
      'title pr or active eq true and nickName pr',
    ],
    ...['active eq false and not (nickName eq "C")', 'emails[type eq "work"]'],
    ...['emails[type eq "work" and value co "a.test"]', 'emails[type eq "home" and primary eq true]'],
    ...['meta.created gt "2020-01-01T00:00:00Z"', 'meta.created lt "2020-01-01T00:00:00Z"'],
  ];
  const found: Record<string, string[]> = {};
  const theirs: Record<string, string[]> = {};
  for (const filter of filters) {
    found[filter] = await search('/Users/.search', { filter });
    theirs[filter] = new Types.Filter(filter)
      .match(Resources)
      .map(({ userName }) => String(userName))
      .sort();
  }
  expect(found).toEqual(theirs);
  expect(Object.values(found).filter((names) => names.length % 3 > 0).length).toBeGreaterThan(17); // the control
});

test('a change leaves what the other library makes of it', async () => {
  const { send, user, add } = await startClient();
  const changes = [
    [{ op: 'replace', path: 'title', value: 'Baroness' }],
    [{ op: 'add', path: 'name', value: { givenName: 'Augusta' } }],
    [{ op: 'replace', path: 'name.familyName', value: 'Byron' }],
    [{ op: 'add', path: 'emails', value: [{ type: 'other', value: 'eve@c.test' }] }],
    [{ op: 'replace', path: 'emails[type eq "work"].value', value: 'eve@d.test' }],
    [{ op: 'remove', path: 'emails[type eq "home"]' }],
    [{ op: 'remove', path: 'name.givenName' }],
    [{ op: 'remove', path: 'displayName' }],
    [{ op: 'replace', value: { displayName: 'Eve King', active: false } }],
    [
      { op: 'add', path: 'nickName', value: 'Evie' },
      { op: 'replace', path: 'userName', value: 'evelyn' },
      { op: 'remove', path: 'nickName' },
    ],
  ];
  for (const [index, Operations] of changes.entries()) {
    const before = await add({ ...people[2], displayName: 'Eve', userName: `eve-${index}` });
    const message = { schemas: [Messages.PatchOp.id], Operations };
    const wanted = await Object(new Messages.PatchOp(Object(message))).apply(user(plain(before)));

    const answer = await send('PATCH', `/Users/${before.id}`, message);

    const { meta: _, ...made } = plain(user(answer.json()));
    const { meta: __, ...expected } = plain(wanted ?? before);
    expect({ Operations, ...made }).toEqual({ Operations, ...expected });
  }
});

const plain = (value: object) => JSON.parse(JSON.stringify(value));

/** The library throws the error that it reads. */
function readError(body: object): { readonly status?: unknown; readonly scimType?: unknown } {
  try {
    return new Messages.ErrorResponse(Object(body));
  } catch (error) {
    return Object(error);
  }
}

test('a bulk request of the other library comes true, and every refusal is one that it reads', async () => {
  const { send, search } = await startClient();
  const Operations = people.map((data, at) => ({ method: 'POST', path: '/Users', bulkId: `b${at}`, data }));
  const bulk = { schemas: [Messages.BulkRequest.id], Operations };
  new Messages.BulkRequest(Object(bulk));
  const answer = await send('POST', '/Bulk', bulk);
  new Messages.BulkResponse(answer.json());
  expect(answer.json().Operations.map(({ status }: { status: string }) => status)).toEqual([
    '201',
    '201',
    '201',
  ]);
  expect(await search('/Users/.search', {})).toEqual(['ada', 'bob', 'eve']);

  const refusals = [
    await send('GET', '/Users?filter=userName'),
    await send('GET', '/Users/scimuser_unknown'),
    await send('POST', '/Users', people[0]),
    await send('POST', '/Users', {}),
    await send('GET', '/Nothing'),
  ];
  const read = refusals.map((refusal) => readError(refusal.json()));
  expect(read.map(({ status, scimType }) => [status, scimType])).toEqual([
    ['400', 'invalidFilter'],
    ['404', undefined],
    ['409', 'uniqueness'],
    ['400', 'invalidValue'],
    ['404', undefined],
  ]);
});
