import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { censusOf } from '../../../../test/app/census.ts';
import { failingStatements } from '../../../../test/app/failing-statements.ts';
import { authorize, entriesOf, openSession } from '../../../../test/app/flow.ts';
import { provisionerOf, threeLevels } from '../../../../test/app/scim.ts';
import { addOidc, besideProvider, signOn } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';

/** Ada, who is in a group and has all that a person can leave behind. */
async function startLeaving() {
  const { dbAs, failEach } = failingStatements();
  const provider = await startAccountsServer();
  const service = await startApp({ ...besideProvider(), dbAs });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await addOidc(acme, provider, { scimManaged: true });
  const idp = await provisionerOf(service, acme);
  const { id } = (await idp('POST', '/Users', { userName: 'ada', externalId: '00u1' })).json();
  const group = await idp('POST', '/Groups', { displayName: 'Admirals', members: [{ value: id }] });
  await idp('PATCH', `/Users/${id}`, { Operations: [{ op: 'add', path: 'externalId', value: 'ada' }] });

  const { root, tokens } = await threeLevels(acme, 'ada');
  await authorize(acme, root.agentId, { principalId: 'ada', autoApprove: false });
  await authorize(acme, root.agentId, { principalId: '00u1' });
  await openSession(acme, 'ada');
  await signOn(service, provider, { org: acme.developerId });
  const credential = { principalId: 'ada', service: 'github', credentialType: 'oauth2', accessToken: 'x' };
  await acme('POST', '/v1/vault/credentials', credential);

  const held = () => censusOf(service.db, acme.developerId);
  /** Sends a request of the provider until no statement of it fails, as a provider does. */
  async function insist(...request: Parameters<typeof idp>) {
    const before = await held();
    return failEach(
      () => idp(...request),
      async (answer, statement) => {
        expect({ statement, status: answer.statusCode }).toEqual({ statement, status: 500 });
        expect(answer.json().schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error']);
        expect(await held()).toEqual(before);
      },
    );
  }
  const isValid = async (token: string) =>
    (await acme('POST', '/v1/tokens/verify', { token })).json().valid === true;
  const valid = async () => (await Promise.all(tokens.map(isValid))).filter(Boolean).length;
  return { acme, idp, userId: String(id), groupId: String(group.json().id), insist, valid };
}

test.each(['PATCH', 'PUT', 'DELETE'] as const)(
  'C4: a person leaves by %s whole, or not at all, whichever statement fails',
  async (method) => {
    const { acme, userId, insist, valid } = await startLeaving();
    const bodies = {
      PATCH: { Operations: [{ op: 'replace', path: 'active', value: false }] },
      PUT: { userName: 'ada', externalId: 'ada', active: false },
      DELETE: undefined,
    };
    expect(await valid()).toBe(3); // the control

    const { answer, failures } = await insist(method, `/Users/${userId}`, bodies[method]);

    expect(answer.statusCode).toBe(method === 'DELETE' ? 204 : 200);
    expect(failures).toBeGreaterThan(20);
    expect(await valid()).toBe(0);
    expect((await acme('GET', '/v1/sso/sessions')).json().sessions).toEqual([]);
    expect(await entriesOf(acme, 'principal.offboarded')).toHaveLength(1);
    const credentials = (await acme('GET', '/v1/vault/credentials?principalId=ada')).json().credentials;
    expect(credentials).toHaveLength(method === 'DELETE' ? 0 : 1);
  },
);

test.each(['one member', 'the group'])(
  'C2: %s goes from the directory whole, or not at all, whichever statement fails',
  async (leaving) => {
    const { idp, userId, groupId, insist, valid } = await startLeaving();
    const path = `/Groups/${groupId}`;
    const removal = { Operations: [{ op: 'remove', path: `members[value eq "${userId}"]` }] };

    const { answer, failures } = await (leaving === 'the group'
      ? insist('DELETE', path)
      : insist('PATCH', path, removal));

    expect(answer.statusCode).toBe(leaving === 'the group' ? 204 : 200);
    expect(failures).toBeGreaterThan(4);
    const { groups = [] } = (await idp('GET', `/Users/${userId}`)).json();
    expect(groups).toEqual([]);
    expect(await valid()).toBe(3); // a group gives no grants, and takes none
  },
);
