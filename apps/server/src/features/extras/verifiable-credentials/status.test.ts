import { gunzipSync, inflateSync } from 'node:zlib';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { grantTo, sharedSandbox } from '../../../../test/app/flow.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';

const join = sharedSandbox();
const LIST_BYTES = 16_384;

/** The vector of one bit for each status. @see draft-ietf-oauth-status-list, section 4.1 */
const TOKEN_LIST_VECTOR = {
  lst: 'eNrbuRgAAhcBXQ',
  statuses: [1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1],
};
/** A list of 131,072 entries, none of which is set. @see Bitstring Status List v1.0, example of a status list credential */
const BITSTRING_VECTOR = 'uH4sIAAAAAAAAA-3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA';

async function listOf(acme: Developer) {
  const { grantId } = await grantTo(acme);
  const made = await acme('POST', '/v1/credentials', { grantId, format: 'vc-jwt' });
  expect(made.statusCode, made.body).toBe(201);
  const { id, statusListId } = made.json();
  return { id: String(id), listId: String(statusListId) };
}

const unpackedBitstring = (encodedList: string) => {
  expect(encodedList[0]).toBe('u');
  return gunzipSync(Buffer.from(encodedList.slice(1), 'base64url'));
};
const unpackedTokenList = (lst: string) => inflateSync(Buffer.from(lst, 'base64url'));

async function publishedBits({ app }: Service, listId: string) {
  const { credentialSubject } = (await app.inject(`/v1/credentials/status/${listId}`)).json();
  const { status_list } = decodeJwt<{ status_list: { lst: string } }>(
    (await app.inject(`/v1/status-lists/${listId}`)).body,
  );
  return {
    bitstring: unpackedBitstring(credentialSubject.encodedList),
    tokenList: unpackedTokenList(status_list.lst),
  };
}

/** Sets bits as the database counts them, without a credential for each. */
async function setBits(
  { db }: Service,
  { developerId }: Developer,
  listId: string,
  indexes: readonly number[],
) {
  const row = db
    .selectFrom('statusLists')
    .select(['bits', 'flips'])
    .where('developerId', '=', developerId)
    .where('id', '=', listId);
  const { bits, flips } = await row.executeTakeFirstOrThrow();
  for (const index of indexes) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
  await db
    .updateTable('statusLists')
    .set({ bits, flips: flips + 1 })
    .where('developerId', '=', developerId)
    .where('id', '=', listId)
    .execute();
}

describe('the bits of a status list', () => {
  test('stand where the vector of the Token Status List has them, and in the other list the other way round', async () => {
    const { acme, service } = await join();
    const { listId } = await listOf(acme);
    const { statuses, lst } = TOKEN_LIST_VECTOR;

    await setBits(
      service,
      acme,
      listId,
      statuses.flatMap((status, index) => (status === 1 ? [index] : [])),
    );

    const { bitstring, tokenList } = await publishedBits(service, listId);
    const vector = unpackedTokenList(lst);
    expect(vector.toString('hex')).toBe('b9a3');
    expect(tokenList).toEqual(Buffer.concat([vector, Buffer.alloc(LIST_BYTES - 2)]));
    const read = [...bitstring.subarray(0, 2)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    expect(read).toBe(statuses.join(''));
  });

  test('are none for a new list, as in the example of the Bitstring Status List', async () => {
    const { acme, service } = await join();

    const { bitstring, tokenList } = await publishedBits(service, (await listOf(acme)).listId);

    expect(bitstring).toEqual(unpackedBitstring(BITSTRING_VECTOR));
    expect(tokenList).toEqual(bitstring);
  });

  test('begin and end where the service counts, in both lists', async () => {
    const { acme, service } = await join();
    const { listId } = await listOf(acme);

    await setBits(service, acme, listId, [0, 9, 131_071]);

    const { bitstring, tokenList } = await publishedBits(service, listId);
    expect([bitstring.subarray(0, 2).toString('hex'), bitstring.at(-1)]).toEqual(['8040', 1]);
    expect([tokenList.subarray(0, 2).toString('hex'), tokenList.at(-1)]).toEqual(['0102', 128]);
    expect(unpackedTokenList('eNpjZAIAAAYABA').toString('hex')).toBe('0102');
  });
});

const FORMS: [string, (listId: string) => { url: string; headers?: Record<string, string> }][] = [
  ['a Bitstring Status List', (listId) => ({ url: `/v1/credentials/status/${listId}` })],
  [
    'a Bitstring Status List as a JWT',
    (listId) => ({
      url: `/v1/credentials/status/${listId}`,
      headers: { accept: 'application/vc+jwt' },
    }),
  ],
  ['a list of the profile of 2021', (listId) => ({ url: `/v1/credentials/status/${listId}?profile=2021` })],
  ['a Token Status List', (listId) => ({ url: `/v1/status-lists/${listId}` })],
];

describe.each(FORMS)('%s', (_, form) => {
  test('is not sent again to a reader that has it, until a bit is set', async () => {
    const { acme, service } = await join();
    const { id, listId } = await listOf(acme);
    const { url, headers = {} } = form(listId);
    const ask = (more: Record<string, string> = {}) =>
      service.app.inject({ url, headers: { ...headers, ...more } });

    const first = await ask();
    const etag = String(first.headers.etag);
    const again = await ask({ 'if-none-match': etag });

    expect(etag).toMatch(/^"[\w-]{43}"$/);
    expect([again.statusCode, again.body]).toEqual([304, '']);
    expect(again.headers).toMatchObject({ etag, 'cache-control': 'public, max-age=300' });
    expect((await ask({ 'if-none-match': '"other"' })).statusCode).toBe(200);
    await acme('POST', `/v1/credentials/${id}/revoke`, {});
    const after = await ask({ 'if-none-match': etag });
    expect(after.statusCode).toBe(200);
    expect(after.headers.etag).not.toBe(etag);
    expect(after.body).not.toBe(first.body);
  });
});

test('each form of a list has an ETag of its own', async () => {
  const { acme, service } = await join();
  const { listId } = await listOf(acme);

  const answers = await Promise.all(FORMS.map(([, form]) => service.app.inject(form(listId))));

  expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(FORMS.length);
});
