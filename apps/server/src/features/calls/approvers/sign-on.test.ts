import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import {
  type ApprovingPerson,
  approverBrowser,
  enrolApprover,
  enrolWith,
  livePayer,
  release,
} from '../../../../test/app/approving.ts';
import { authenticator } from '../../../../test/app/authenticator.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { addOidc, besideProvider } from '../../../../test/app/signing-on.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const DAY = 86_400;

/** As after `POST /v1/domains/:id/verify`. A domain is that of one account. */
async function ownDomain(service: Service, { developerId }: Developer) {
  await service.db.deleteFrom('verifiedDomains').where('domain', '=', 'upstream.test').execute();
  const [domain, id] = ['upstream.test', `dom_${developerId}`];
  const at = { createdAt: service.clock(), verifiedAt: service.clock() };
  await service.db
    .insertInto('customDomains')
    .values({ developerId, id, domain, token: 't', status: 'verified', ...at })
    .execute();
  await service.db.insertInto('verifiedDomains').values({ developerId, domain, domainId: id }).execute();
}

type Browser = ReturnType<typeof approverBrowser>;

/** A live account with an identity provider, at which people sign in. */
async function customer() {
  const service = await startApp(besideProvider()); // a provider looks at the real time, so no test shares a clock
  const provider = await startAccountsServer();
  const acme = await service.asDeveloper();
  await verifyAddress(service, acme);
  const org = acme.developerId;
  const members = { jitProvisioning: true, domains: ['upstream.test'] };
  const connection = await addOidc(acme, provider, members);
  const signInAs = (account: string) => async (browser: Browser) => {
    provider.behaviour.account = account;
    const query = new URLSearchParams({ org, connection: connection.id, mode: 'redirect' });
    const sent = await browser.call('GET', `/sso/login?${query}`);
    const back = await provider.visit(String(sent.headers.location));
    return browser.call('GET', back.pathname + back.search);
  };
  const enrol = (name: string, sign?: (browser: Browser) => Promise<unknown>) =>
    enrolApprover(service, acme, `${name}@upstream.test`, {}, sign);
  const recordOf = async ({ approverId }: ApprovingPerson) =>
    (await acme('GET', '/v1/approvers'))
      .json()
      .approvers.find((one: { approverId: string }) => one.approverId === approverId);
  return { service, provider, acme, org, connection, signInAs, enrol, recordOf };
}

test('31 H4: no provider vouches by an address that it calls unverified itself', async () => {
  const { service, provider, acme, enrol, signInAs, recordOf } = await customer();
  await ownDomain(service, acme);
  provider.behaviour.claims = { email_verified: 'false' };
  expect(await recordOf(await enrol('eve', signInAs('eve')))).toMatchObject({ assurance: 'single' });
  provider.behaviour.claims = {};
  expect(await recordOf(await enrol('dan', signInAs('dan')))).toMatchObject({ assurance: 'sso' });
});

test('R10: the provider of a verified domain vouches for a person who has signed in there, and for nobody else', async () => {
  const { service, acme, enrol, signInAs, recordOf } = await customer();
  const unverified = await enrol('cleo', signInAs('cleo'));
  expect(await recordOf(unverified)).toMatchObject({ assurance: 'single' });

  await ownDomain(service, acme);
  const [ada, other, without] = [
    await enrol('ada', signInAs('ada')),
    await enrol('bob', signInAs('mallory')),
    await enrol('dan'),
  ];

  expect(await recordOf(ada)).toMatchObject({
    ...{ assurance: 'sso', sub: expect.stringMatching(/^sso:[\w-]{22}:ada$/) },
    status: 'pending_confirmation', // a provider is no substitute for the approver who confirms
  });
  expect(await recordOf(other)).toMatchObject({ assurance: 'single', sub: `approver:${other.approverId}` });
  expect(await recordOf(without)).toMatchObject({ assurance: 'single' });
});

test('the link of an invitation says where the organisation can vouch, until it does', async () => {
  const { service, acme, signInAs, org, connection } = await customer();
  await ownDomain(service, acme);
  await acme('POST', '/v1/approvers', { email: 'ada@upstream.test', displayName: 'Ada' });
  const mail = service.mails.sent().find(({ text }) => text.includes(`#invite=${org}`))?.text ?? '';
  const invite = /#invite=(\S+)/.exec(mail)?.[1];
  const browser = approverBrowser(service);
  const asked = () => browser.call('POST', '/v1/approver/enrol/options', { body: { invite } });

  const before = (await asked()).json();
  await signInAs('ada')(browser);

  expect(before.signInAt).toBe(`https://auth.test/sso/login?org=${org}&connection=${connection.id}`);
  expect((await asked()).json().signInAt).toBe(null);
});

type SignIn = (browser: Browser) => Promise<unknown>;

/** Enrols principals whom the directory tells of. */
async function principalsOf(service: Service, acme: Developer) {
  const directory = await provisionerOf(service, acme);
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  return async (name: string, sign: SignIn, email = `${name}@upstream.test`) => {
    await directory('POST', '/Users', {
      ...{ schemas, userName: `${name}@upstream.test`, externalId: name },
      emails: [{ value: email, primary: true }],
    });
    const made = await acme('POST', '/v1/approvers', { principalId: name });
    expect(made.json()).toMatchObject({ kind: 'principal', link: null });
    const browser = approverBrowser(service);
    await sign(browser);
    const mail = service.mails.sent().find(({ to, text }) => to === email && text.includes('#invite='));
    const link = /https?:\S+#invite=\S+/.exec(mail?.text ?? '')?.[0] ?? '';
    return (await enrolWith(browser, authenticator(), link)).answer.json().approver;
  };
}

test('W3: a provider vouches for the principal who has signed in there, and for no other one', async () => {
  const { service, acme, signInAs } = await customer();
  await ownDomain(service, acme);
  const enrolPrincipal = await principalsOf(service, acme);

  expect(await enrolPrincipal('bob', signInAs('mallory'))).toMatchObject({ status: 'pending_confirmation' });
  expect(await enrolPrincipal('ada', signInAs('ada'))).toMatchObject({
    ...{ status: 'active', assurance: 'single', sub: 'principal:ada' },
    activeFrom: new Date(service.clock().getTime() + DAY * 1000).toISOString(),
  });
});

test('W3: a provider vouches for no principal to whom the directory gave the address of somebody else', async () => {
  const { service, acme, signInAs } = await customer();
  await ownDomain(service, acme);
  await signInAs('ada')(approverBrowser(service)); // the directory knows her from now on
  const enrolPrincipal = await principalsOf(service, acme);

  const cleo = await enrolPrincipal('cleo', signInAs('ada'), 'ada@upstream.test');

  expect(cleo).toMatchObject({ status: 'pending_confirmation', sub: 'principal:cleo' });
});

/** Two people for whom the provider vouches and one whose address a mail has proved, all confirmed, a day later. */
async function team() {
  const started = await customer();
  const { service, acme, enrol, signInAs } = started;
  await ownDomain(service, acme);
  const ada = await enrol('ada', signInAs('ada'));
  const others = [await enrol('bob', signInAs('bob')), await enrol('cleo')];
  service.advance(DAY);
  await ada.signIn();
  for (const person of others) await person.signIn();
  for (const { approverId } of others) {
    await ada.browser.call('POST', `/v1/approver/colleagues/${approverId}/confirm`, { body: {} });
  }
  const [bob, cleo] = others;
  if (!bob || !cleo) throw new Error('two people');
  const agent = await livePayer(service, acme);
  const decided = async (people: readonly ApprovingPerson[], n: number) => {
    const asked = (await agent.ask({ ...release, arguments: { ...release.arguments, n } })).json();
    const answers = [];
    for (const person of people) answers.push((await person.approve(asked.decisionId)).json());
    return answers.map(({ status, details }) => status ?? details?.check ?? details?.sub_reason);
  };
  return { ...started, ada, bob, cleo, agent, decided };
}

test('R10: an account may demand that a provider vouches for both people', async () => {
  const { acme, ada, bob, cleo, decided } = await team();
  expect(await decided([ada, cleo], 1)).toEqual(['pending', 'approved']);

  await acme('PATCH', '/v1/me', { fourEyesAssurance: 'sso' });

  expect(await decided([ada, cleo], 2)).toEqual(['pending', 'assurance']);
  expect(await decided([ada, bob], 3)).toEqual(['pending', 'approved']);
});

test('a request that too few people with enough assurance can approve is refused', async () => {
  const { acme, bob, agent } = await team();
  await acme('PATCH', '/v1/me', { fourEyesAssurance: 'sso' });
  await acme('DELETE', `/v1/approvers/${bob.approverId}`);

  const refused = await agent.ask(release);

  expect([refused.statusCode, refused.json().details]).toEqual([409, { sub_reason: 'no_quorum' }]);
});

test('a deputy has at least the assurance of the absent person', async () => {
  const { service, ada, bob, cleo } = await team();
  const [from, until] = [0, 3600].map((later) => new Date(service.clock().getTime() + later * 1000));
  const away = (by: ApprovingPerson, deputy: ApprovingPerson) =>
    by.browser.call('PUT', '/v1/approver/absence', {
      body: { from, until, deputyApproverId: deputy.approverId },
    });

  expect((await away(ada, cleo)).statusCode).toBe(400);
  expect((await away(ada, bob)).statusCode).toBe(200);
  expect((await away(cleo, bob)).statusCode).toBe(200);
});

test('R10: a person whom the directory deactivates approves no more, and the last one loses the voucher alone', async () => {
  const { service, acme, ada, bob, cleo, recordOf, decided } = await team();
  const directory = await provisionerOf(service, acme);
  const deactivate = async (name: string) => {
    const { Resources } = (await directory('GET', '/Users')).json();
    const user = Resources.find(({ userName }: { userName: string }) => userName.startsWith(name));
    await directory('PATCH', `/Users/${user.id}`, {
      Operations: [{ op: 'replace', path: 'active', value: false }],
    });
  };

  await deactivate('bob');
  expect(await recordOf(bob)).toBeUndefined();
  expect((await bob.signIn()).statusCode).toBe(401);
  expect(await decided([ada, cleo], 9)).toEqual(['pending', 'approved']); // the control
  await acme('DELETE', `/v1/approvers/${cleo.approverId}`);
  await deactivate('ada');

  expect(await recordOf(ada)).toMatchObject({ status: 'active', assurance: 'single' });
  expect((await ada.browser.call('GET', '/v1/approver/me')).statusCode).toBe(401);
});

test('R10: only a sandbox account relaxes four eyes, and does so by a switch', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const sandbox = await service.asDeveloper({ mode: 'sandbox' });

  const live = await acme('PATCH', '/v1/me', { relaxFourEyes: true });
  const before = (await sandbox('GET', '/v1/me')).json();
  const relaxed = await sandbox('PATCH', '/v1/me', { relaxFourEyes: true });

  expect([live.statusCode, live.json().details.fields]).toEqual([
    400,
    [{ path: 'relaxFourEyes', problem: 'not_allowed' }],
  ]);
  expect(before).toMatchObject({ relaxFourEyes: false, fourEyesAssurance: 'dual' });
  expect(relaxed.json()).toMatchObject({ relaxFourEyes: true, updated: true });
});
