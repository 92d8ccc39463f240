import { expect, test } from 'vitest';
import { sharedSandbox } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';

const start = sharedSandbox();

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
