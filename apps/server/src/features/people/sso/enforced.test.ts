import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import { authorize, entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { askDevice, enter, newClient, newDevice, post } from '../../../../test/app/oauth.ts';
import { hintClaims, newVoucher, personOn } from '../../../../test/app/person.ts';
import { besideClients, followLink, newServer, publishClient } from '../../../../test/app/published.ts';
import { addOidc, besideProvider, provision, signOn } from '../../../../test/app/signing-on.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  const env = { ...besideClients, RESOURCES_ALLOW_UNVERIFIED: 'true' };
  service = await startListening({ ...besideProvider(env), isShared: true });
});
afterAll(() => service.stop());

type Person = ReturnType<typeof personOn>;

/** An account whose single sign-on is enforced for Ada, who has signed in as a program and not in a browser. */
async function startEnforced(mode: 'live' | 'sandbox' = 'live') {
  const provider = await startAccountsServer();
  const acme = await service.asDeveloper({ mode });
  const connection = await addOidc(acme, provider, { scimManaged: true }, service.url);
  await provision(service, acme);
  const org = acme.developerId;
  await signOn(service, provider, { org });
  const enforce = () => acme('POST', '/v1/sso/enforce', { enforce: true });
  /** Signs a browser in. */
  async function signIn(call: Person['call']) {
    const query = new URLSearchParams({ org, connection: connection.id, mode: 'redirect' });
    const sent = await call('GET', `/sso/login?${query}`);
    const back = await provider.visit(String(sent.headers.location));
    return call('GET', back.pathname + back.search);
  }
  return { provider, acme, connection, enforce, signIn };
}

/** Approves by the link, first without and then with the sign-on. @returns both answers */
async function approveTwice(
  { signIn }: Pick<Awaited<ReturnType<typeof startEnforced>>, 'signIn'>,
  link: string,
) {
  const person = personOn(service);
  const { id, verification } = (await person.open(link)).json();
  const without = outcomeOf(await person.approve(id));
  await signIn(person.call);
  return { verification, answers: [without, outcomeOf(await person.approve(id))] };
}

const outcomeOf = (answer: Awaited<ReturnType<Person['approve']>>) =>
  answer.statusCode === 200 ? '200' : refusalOf(answer);

const linkFor = async (acme: Developer, id: string) =>
  String((await acme('POST', `/v1/authorize/${id}/link`, {})).json().consentUrl);

const BOTH = ['403 SSO_REQUIRED', '200'];

describe('M12: an enforced sign-on is asked for', () => {
  test('by each link of a request, the first and a fresh one', async () => {
    const started = await startEnforced();
    await started.enforce();
    const { agentId } = await registerAgent(started.acme);
    const [first, second] = [
      await authorize(started.acme, agentId, { principalId: 'ada' }),
      await authorize(started.acme, agentId, { principalId: 'ada' }),
    ];

    expect((await approveTwice(started, String(first.consentUrl))).answers).toEqual(BOTH);
    const fresh = await linkFor(started.acme, String(second.id));
    expect((await approveTwice(started, fresh)).answers).toEqual(BOTH);
    const others = await authorize(started.acme, agentId, { principalId: 'user_42' });
    const { answers } = await approveTwice(started, String(others.consentUrl));
    expect(answers[0]).toBe('200'); // the control
  });

  test.each([
    ['of a domain', 201],
    ['of everybody, by the consent mode', 403],
  ])('by the page of the own permissions, when a passkey opens it: %s', async (demanded, others) => {
    const { acme, enforce, signIn } = await startEnforced();
    const [ada, control] = [authenticator(), authenticator()];
    const fault = { origin: service.url, rpId: new URL(service.url).hostname }; // as this service is reached
    async function enrol(device: typeof ada, principalId: string): Promise<string> {
      await registerPasskey(acme, device, { principalId, fault });
      return (await acme('POST', '/v1/webauthn/register/options', { principalId })).json().publicKey.user.id;
    }
    const handles = [await enrol(ada, 'ada'), await enrol(control, 'user_42')];
    if (demanded === 'of a domain') await enforce();
    else await acme('PATCH', '/v1/me', { consentMode: 'sso' });
    const at = '/v1/principal/sign-in/passkey';
    async function show(person: Person, device: typeof ada, userHandle = '') {
      const { challengeId, publicKey } = (await person.call('POST', at, { body: {} })).json();
      const body = { challengeId, response: device.get(publicKey, { ...fault, userHandle }) };
      return person.call('POST', `${at}/verify`, { body });
    }
    const person = personOn(service);

    const without = await show(person, ada, handles[0]);
    await signIn(person.call);
    const after = await show(person, ada, handles[0]);
    const elsewhere = await show(personOn(service), ada, handles[0]); // the sign-on is of another browser

    expect([without, elsewhere].map(refusalOf)).toEqual(Array(2).fill('403 SSO_REQUIRED'));
    expect(after.statusCode).toBe(201);
    expect((await show(personOn(service), control, handles[1])).statusCode).toBe(others);
  });

  test('where a device is the client, after its code was entered', async () => {
    const started = await startEnforced('sandbox');
    await started.enforce();
    const device = await newDevice(service, started.acme);
    const shown = await askDevice(device, { login_hint: 'ada' });
    const answer = await enter(service, shown.user_code);
    const { redirectTo } = Object(await answer.json());

    const { verification, answers } = await approveTwice(started, String(redirectTo));
    expect(verification).toMatchObject({ satisfied: false });
    expect(answers).toEqual(BOTH);
  });

  test('where a client asks by backchannel', async () => {
    const started = await startEnforced();
    await started.enforce();
    const { clientId, clientSecret } = await newClient(started.acme);
    const form = { scope: 'calendar:read', login_hint: 'ada' };
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const asked = await post(`${service.url}/oauth/bc-authorize`, form, { authorization: basic });
    expect(asked.status).toBe(200);
    const [requested] = await entriesOf(started.acme, 'authorization.requested');
    const { authRequestId } = Object(requested?.metadata);

    const { answers } = await approveTwice(started, await linkFor(started.acme, authRequestId));
    expect(answers).toEqual(BOTH);
  });

  test('where the application names the person to an OAuth client’s request', async () => {
    const started = await startEnforced();
    const { acme, signIn, enforce } = started;
    const voucher = await newVoucher();
    await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
    const { resource } = await newServer(acme, { loginUrl: 'https://app.test/login' });
    await enforce();
    async function arrive(principalId: string) {
      const { clientId } = await publishClient();
      const { back } = await followLink(service, clientId, { resource });
      const id = back?.searchParams.get('areq') ?? '';
      const requestUri =
        new URL(back?.searchParams.get('return') ?? '').searchParams.get('request_uri') ?? '';
      const hint = await voucher.hint(hintClaims(service, acme.developerId, { id, principalId }));
      const person = personOn(service);
      const body = { clientId, requestUri, hint };
      const { redirectTo } = (await person.call('POST', '/v1/oauth/arrivals', { body })).json();
      const { verification } = (await person.open(redirectTo, hint)).json();
      return { id, person, verification };
    }

    const [{ id, person, verification }, other] = [await arrive('ada'), await arrive('user_42')];
    expect(verification).toMatchObject({ mode: 'developer', satisfied: false, methods: ['sso'] });
    expect(outcomeOf(await person.approve(id))).toBe('403 SSO_REQUIRED');
    expect(outcomeOf(await other.person.approve(other.id))).toBe('200'); // the control
    await signIn(person.call);
    expect(outcomeOf(await person.approve(id))).toBe('200');
  });
});
