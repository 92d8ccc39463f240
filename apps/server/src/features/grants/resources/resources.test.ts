import { describe, expect, test } from 'vitest';
import { authorize, grantTo, openSession, refusalOf, sharedSandbox } from '../../../../test/app/flow.ts';
import { changesIn, personOn, startAsking } from '../../../../test/app/person.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();

const CLOSE = {
  title: 'Close the month',
  description: 'Nobody can book into it afterwards.',
  titles: { de: { title: 'Monat abschließen' }, 'pt-BR': { description: 'Depois ninguém lança nele.' } },
};

/** Each has an address of its own, because no two accounts register one. */
const newAddress = () => `http://localhost/${crypto.randomUUID()}`;

async function addResource(developer: Developer, scopeWords: object, resource = newAddress()) {
  const answer = await developer('POST', '/v1/resources', { resource, name: 'Ledger', scopeWords });
  return { resource, id: String(answer.json().id), answer };
}

async function shownTo(developer: Developer, service: Service, request: object, language = 'en') {
  const agentId = String((await developer('POST', '/v1/agents', { name: 'Bookkeeper' })).json().agentId);
  const { id, consentUrl } = await authorize(developer, agentId, { autoApprove: false, ...request });
  const person = personOn(service);
  const opened = await person.open(consentUrl, undefined, { 'accept-language': language });
  return { id, person, agentId, shown: opened.json().request };
}

describe('the words of the scopes of a resource', () => {
  test('are stored and read with it, replaced as a whole, and empty without any', async () => {
    const { acme } = await sandbox();

    const { id, answer } = await addResource(acme, { 'ledger:close': CLOSE });
    const read = await acme('GET', `/v1/resources/${id}`);
    const other = await acme('PATCH', `/v1/resources/${id}`, { name: 'Books' });
    const replaced = await acme('PATCH', `/v1/resources/${id}`, { scopeWords: {} });
    const bare = await acme('POST', '/v1/resources', { resource: newAddress(), name: 'Bare' });

    expect(answer.statusCode).toBe(201);
    expect(read.json().scopeWords).toEqual({ 'ledger:close': CLOSE });
    expect(other.json()).toMatchObject({ name: 'Books', scopeWords: { 'ledger:close': CLOSE } });
    expect([replaced.json().scopeWords, bare.json().scopeWords]).toEqual([{}, {}]);
  });

  test.each<[string, object, string]>([
    ['a scope of another form', { 'no scope': CLOSE }, 'INVALID_SCOPE'],
    ['no title', { 'a:b': { description: 'x' } }, 'scopeWords.a:b.title'],
    ['an empty title', { 'a:b': { title: '' } }, 'scopeWords.a:b.title'],
    ['a title that is too long', { 'a:b': { title: 'x'.repeat(81) } }, 'scopeWords.a:b.title'],
    ['a title that turns the writing', { 'a:b': { title: 'x\u202ey' } }, 'scopeWords.a:b.title'],
    ['a title with a character without width', { 'a:b': { title: 'x\u200by' } }, 'scopeWords.a:b.title'],
    ['two lines', { 'a:b': { title: 'x', description: 'x\ny' } }, 'scopeWords.a:b.description'],
    [
      'a language that is none',
      { 'a:b': { title: 'x', titles: { german: { title: 'y' } } } },
      'scopeWords.a:b.titles.german',
    ],
    [
      'a hidden text in a language',
      { 'a:b': { title: 'x', titles: { de: { title: '\u2066' } } } },
      'scopeWords.a:b.titles.de.title',
    ],
    ['a member that is none', { 'a:b': { title: 'x', name: 'y' } }, 'scopeWords.a:b.name'],
    [
      'more than 32 KiB',
      Object.fromEntries(
        Array.from({ length: 100 }, (_, n) => [`a:${n}`, { title: 'x', description: 'ü'.repeat(300) }]),
      ),
      'scopeWords',
    ],
  ])('are refused with %s, and nothing changes', async (_, scopeWords, problem) => {
    const { acme } = await sandbox();
    const { id } = await addResource(acme, { 'ledger:close': CLOSE });

    const refused = await acme('PATCH', `/v1/resources/${id}`, { scopeWords });

    expect(refused.statusCode).toBe(400);
    const { code, details } = refused.json();
    expect([code, ...(details.fields ?? []).map(({ path }: { path: string }) => path)]).toContain(problem);
    expect((await acme('GET', `/v1/resources/${id}`)).json().scopeWords).toEqual({ 'ledger:close': CLOSE });
  });

  test('are shown on the consent page in the language of the reader, and only for scopes without words of the service', async () => {
    const { acme, service } = await sandbox();
    await acme('PATCH', '/v1/me', { scopeDescriptions: { 'own:word': 'As the account says' } });
    await addResource(acme, {
      'ledger:close': CLOSE,
      'mail:send': { title: 'Look at the clock' },
      '*': { title: 'Hardly anything' },
      'own:word': { title: 'As the resource says' },
    });
    const scopes = ['ledger:close', 'mail:send', '*', 'own:word', 'ledger:unsaid'];

    const german = (await shownTo(acme, service, { scopes }, 'de-CH,en;q=0.5')).shown;
    const english = (await shownTo(acme, service, { scopes })).shown;
    const brazilian = (await shownTo(acme, service, { scopes }, 'pt')).shown;

    expect(english.scopeDescriptions).toEqual([
      'Close the month (may spend, send, delete or publish)',
      'Send mail in your name',
      'Do everything except using tools',
      'As the account says',
      'ledger:unsaid',
    ]);
    expect(english.scopeExplanations).toEqual([CLOSE.description, null, null, null, null]);
    expect(german.scopeDescriptions[0]).toBe(
      'Monat abschließen (darf ausgeben, senden, löschen oder veröffentlichen)',
    );
    expect(german.scopeExplanations[0]).toBe(CLOSE.description);
    expect(brazilian.scopeExplanations[0]).toBe('Depois ninguém lança nele.');
    expect(english.scopes).toEqual(scopes);
  });

  test.each([
    ['ledger:view_totals', 'Innocent'],
    ['ledger:reconcile', 'Innocent'],
    ['ledger:drafts:send', 'Innocent (may spend, send, delete or publish)'],
    ['bank:payout', 'Innocent (may spend, send, delete or publish)'],
    ['files:purge_old', 'Innocent (may spend, send, delete or publish)'],
    ['files:own:*', 'Innocent (may do everything)'],
    ['files:all:read', 'Innocent (may do everything)'],
    ['root', 'Innocent (may do everything)'],
    ['site:settings:admin', 'Innocent (may do everything)'],
  ])('cannot hide how far %s reaches', async (scope, text) => {
    const { acme, service } = await sandbox();
    await addResource(acme, { [scope]: { title: 'Innocent' } });

    const { shown } = await shownTo(acme, service, { scopes: [scope] });

    expect(shown.scopeDescriptions).toEqual([text]);
  });

  test('are those of the resource that the request is for, and otherwise those on which all resources agree', async () => {
    const { acme, service } = await sandbox();
    const said = (title: string) => ({ 'ledger:tally': { title } });
    const { resource } = await addResource(acme, { ...said('Count'), 'ledger:weigh': { title: 'Weigh' } });
    await addResource(acme, { ...said('Add up'), 'ledger:weigh': { title: 'Weigh' } });
    const other = await service.asDeveloper({ mode: 'sandbox' });
    await addResource(other, { 'ledger:unsaid': { title: 'Of another account' } });
    const scopes = ['ledger:tally', 'ledger:weigh', 'ledger:unsaid'];
    const seen = async (more: object) =>
      (await shownTo(acme, service, { scopes, ...more })).shown.scopeDescriptions;

    expect(await seen({ audience: resource })).toEqual(['Count', 'Weigh', 'ledger:unsaid']);
    expect(await seen({})).toEqual(['ledger:tally', 'Weigh', 'ledger:unsaid']);
    expect(await seen({ audience: newAddress() })).toEqual(scopes);
  });

  test('are on the page of a person’s permissions', async () => {
    const { acme, service } = await sandbox();
    await addResource(acme, { 'ledger:close': CLOSE });
    await grantTo(acme, { scopes: ['ledger:close', 'calendar:read'] });
    const { sessionToken } = (await openSession(acme)).json();

    const { grants } = (
      await service.app.inject({
        url: '/v1/principal/grants',
        headers: { authorization: `Bearer ${sessionToken}` },
      })
    ).json();

    expect(grants[0]).toMatchObject({
      scopeDescriptions: ['Close the month (may spend, send, delete or publish)', 'Read your calendar'],
      scopeExplanations: [CLOSE.description, null],
    });
  });
});

describe('words that change', () => {
  test('between page and approval have to be looked at again, and others do not matter', async () => {
    const { acme, service } = await sandbox();
    const { id: resourceId } = await addResource(acme, { 'ledger:close': CLOSE });
    const { id, person, shown } = await shownTo(acme, service, { scopes: ['ledger:close'] });
    const put = (scopeWords: object) => acme('PATCH', `/v1/resources/${resourceId}`, { scopeWords });
    const approve = (scopeWordsSha256: string | null) => person.approve(id, { scopeWordsSha256 });

    await put({ 'ledger:close': { title: 'Open the month' }, 'ledger:weigh': { title: 'Weigh' } });
    const refused = await approve(shown.scopeWordsSha256);
    const without = await approve(null);
    await put({ 'ledger:close': CLOSE, 'ledger:weigh': { title: 'Measure' } });
    const approved = await approve(shown.scopeWordsSha256);

    expect([refusalOf(refused), refused.json().details]).toEqual(['409 CONFLICT', { field: 'scopeWords' }]);
    expect(refusalOf(without)).toBe('409 CONFLICT');
    expect(approved.statusCode).toBe(200);
  });

  test('are told to a person who agreed to others, and not to one who agreed to the same', async () => {
    const service = await startApp({ env: { RESOURCES_ALLOW_UNVERIFIED: 'true' } });
    const { acme, open, consent } = await startAsking(service);
    const { id } = await addResource(acme, { 'ledger:close': CLOSE, 'ledger:weigh': { title: 'Weigh' } });
    const scopes = ['ledger:close', 'ledger:weigh'];
    await consent({ scopes });

    const same = (await open({ scopes })).shown;
    const closed = { ...CLOSE, titles: { de: { title: 'Nichts' } } };
    await acme('PATCH', `/v1/resources/${id}`, {
      scopeWords: { 'ledger:close': closed, 'ledger:weigh': { title: 'Measure' } },
    });
    const other = (await open({ scopes })).shown;
    await acme('PATCH', `/v1/resources/${id}`, { scopeWords: {} });
    const none = (await open({ scopes })).shown;

    expect([changesIn(same), same.diff.verdict]).toEqual([[], 'same']);
    expect(changesIn(other)).toEqual(['words changed ledger:close', 'words changed ledger:weigh']);
    expect(other.diff.items[1]).toEqual({
      ...{ dimension: 'words', change: 'changed', key: 'ledger:weigh', before: 'Weigh', after: 'Measure' },
      text: 'The words for “ledger:weigh” have changed since you agreed.',
    });
    expect(none.diff.items[1]).toMatchObject({ before: 'Weigh', after: null });
  });
});
