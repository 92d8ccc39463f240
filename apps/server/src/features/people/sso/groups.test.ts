import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { authorize, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { addOidc, besideProvider, signOn } from '../../../../test/app/signing-on.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const mapping = {
  groupAttribute: 'groups',
  groupMappings: { Editors: ['email:send'], Readers: ['calendar:read'] },
  defaultScopes: ['files:read'],
};

/** Two people of one directory, whose provider also signs them in, in no group yet. */
async function startDirectory(service: Service, acme: Developer) {
  const provider = await startAccountsServer();
  const connection = await addOidc(acme, provider, { scimManaged: true, ...mapping });
  const idp = await provisionerOf(service, acme);
  const { id: ada } = (await idp('POST', '/Users', { userName: 'ada', externalId: 'ada' })).json();
  const { id: grace } = (await idp('POST', '/Users', { userName: 'grace', externalId: 'grace' })).json();
  const group = async (displayName: string, ...ids: string[]) => {
    const members = ids.map((value) => ({ value }));
    return String((await idp('POST', '/Groups', { displayName, members })).json().id);
  };
  const patch = (groupId: string, op: string, path: string, value?: unknown) =>
    idp('PATCH', `/Groups/${groupId}`, { Operations: [{ op, path, value }] });
  const logIn = (account = 'ada') => {
    provider.behaviour.account = account;
    return signOn(service, provider, { org: acme.developerId, connection: connection.id });
  };
  const held = async () => (await acme('GET', '/v1/sso/sessions')).json().sessions;
  return { provider, connection, idp, ada: String(ada), grace: String(grace), group, patch, logIn, held };
}

test('a group of the directory counts at the connection that maps it, and at no other of the same person', async () => {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { ada, group, logIn, held, connection } = await startDirectory(service, acme);
  const elsewhere = await startAccountsServer();
  const members = {
    scimManaged: true,
    groupMappings: { Pilots: ['planes:fly'] },
    defaultScopes: ['files:read'],
  };
  const other = await addOidc(acme, elsewhere, { name: 'Second', ...members });
  await group('Editors', ada);
  await group('Pilots', ada);
  await signOn(service, elsewhere, { org: acme.developerId, connection: other.id });
  service.advance(1);
  await logIn();

  expect(await held()).toMatchObject([
    { connectionId: connection.id, groups: ['Editors'], mappedScopes: ['email:send'] },
    { connectionId: other.id, groups: ['Pilots'], mappedScopes: ['planes:fly'] },
  ]);
});

test('a session has the scopes of the groups that its provider names and of those that SCIM tells of', async () => {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { provider, ada, grace, group, patch, logIn, held } = await startDirectory(service, acme);
  const editors = await group('Editors', ada);
  const readers = await group('readers', grace); // another name than the one that is mapped
  await group('Staff', ada, grace); // no scopes

  expect(await logIn()).toMatchObject({ groups: ['Editors'], mappedScopes: ['email:send'] });
  service.advance(1);
  expect(await logIn('grace')).toMatchObject({ groups: [], mappedScopes: ['files:read'] });
  service.advance(1);
  provider.behaviour.groups = ['Readers', 'Else'];
  const both = await logIn();
  expect(both).toMatchObject({
    groups: ['Readers', 'Else', 'Editors'],
    mappedScopes: ['calendar:read', 'email:send'],
  });

  await patch(readers, 'replace', 'displayName', 'Readers');
  await patch(editors, 'remove', `members[value eq "${ada}"]`);
  expect(await held()).toMatchObject([
    { groups: ['Readers', 'Else'], mappedScopes: ['calendar:read'] },
    { groups: ['Readers'], mappedScopes: ['calendar:read'] },
    { groups: [], mappedScopes: ['files:read'] },
  ]);
});

test('M10: groups and people of another developer bring no scopes', async () => {
  const service = await startApp(besideProvider());
  const [acme, mallory] = [await service.asDeveloper(), await service.asDeveloper()];
  const own = await startDirectory(service, acme);
  const foreign = await startDirectory(service, mallory);
  await foreign.group('Editors', foreign.ada);
  const reached = await foreign.idp('POST', '/Groups', {
    displayName: 'Readers',
    members: [{ value: own.ada }],
  });

  expect(refusalOf(reached)).toBe('400');
  expect(await own.logIn()).toMatchObject({ groups: [], mappedScopes: ['files:read'] });
  expect(await foreign.logIn()).toMatchObject({ mappedScopes: ['email:send'] }); // the control
});

test.each(['the membership', 'the name', 'the group', 'the mapping'])(
  'M10: an approval has no scope of a group once %s is gone, in a session from before',
  async (gone) => {
    const service = await startApp(besideProvider());
    const acme = await service.asDeveloper();
    const { provider, connection, idp, ada, group, patch } = await startDirectory(service, acme);
    await acme('PATCH', '/v1/me', { consentMode: 'sso' });
    const editors = await group('Editors', ada);
    const { agentId } = await registerAgent(acme);
    const person = personOn(service);
    const ask = async () => {
      const asked = await authorize(acme, agentId, { principalId: 'ada', scopes: ['email:send'] });
      await person.open(String(asked.consentUrl));
      return String(asked.id);
    };
    const [first, second] = [await ask(), await ask()];
    const begun = await person.call('GET', `/v1/consent/${first}/sso`);
    const login = new URL(String(begun.json().redirectTo));
    const sent = await person.call('GET', login.pathname + login.search);
    const back = await provider.visit(String(sent.headers.location));
    await person.call('GET', back.pathname + back.search);
    expect((await person.approve(first)).statusCode).toBe(200); // the control

    if (gone === 'the membership') await patch(editors, 'remove', 'members', [{ value: ada }]);
    if (gone === 'the name') await patch(editors, 'replace', 'displayName', 'Others');
    if (gone === 'the group') await idp('DELETE', `/Groups/${editors}`);
    if (gone === 'the mapping') {
      const groupMappings = { Readers: ['calendar:read'] };
      await acme('PATCH', `/v1/sso/connections/${connection.id}`, { groupMappings });
    }

    expect((await person.approve(second)).json()).toMatchObject({
      code: 'SSO_SCOPE_DENIED',
      details: { scopes: ['email:send'] },
    });
  },
);

test('31 H3: the groups of a connection map to a thousand different scopes and no more', async () => {
  const { asDeveloper } = await startApp(besideProvider());
  const acme = await asDeveloper({ mode: 'sandbox' });
  const provider = await startAccountsServer();
  const { id } = await addOidc(acme, provider, mapping);
  const mapped = (count: number) => {
    const groups = Array.from({ length: 400 }, (_, index): [string, string[]] => [
      `group ${index}`,
      ['mail:read'],
    ]);
    for (let index = 1; index < count; index += 1) groups[index % 400]?.[1].push(`r${index}:read`);
    return { groupMappings: Object.fromEntries(groups) };
  };

  const refused = await acme('PATCH', `/v1/sso/connections/${id}`, mapped(1001));
  expect(refused.statusCode).toBe(400);
  expect(refused.json().message).toContain('1000 different scopes at most, and these to 1001');
  expect((await acme('GET', `/v1/sso/connections/${id}`)).json().groupMappings).toEqual(
    mapping.groupMappings,
  );
  expect((await acme('PATCH', `/v1/sso/connections/${id}`, mapped(1000))).statusCode).toBe(200);
});
