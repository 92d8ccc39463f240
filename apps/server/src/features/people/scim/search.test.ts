import { expect, test } from 'vitest';
import { sharedSandbox } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';

const start = sharedSandbox();

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
