import { careForDue } from '../../src/features/calls/decisions/care.ts';
import { type Authenticator, authenticator, type Fault } from './authenticator.ts';
import { authorize, grantTo, registerAgent } from './flow.ts';
import { personOn } from './person.ts';
import type { Developer, Method, Service } from './start-app.ts';

interface Sent {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The browser of an approver, with its cookies. */
export function approverBrowser(service: Service) {
  const cookies = new Map<string, string>();
  let csrf = '';
  async function call(method: Method, url: string, { body, headers = {} }: Sent = {}) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await service.app.inject({
      method,
      url,
      headers: {
        origin: service.settings.http.publicBaseUrl,
        'sec-fetch-site': 'same-origin',
        ...(cookie && { cookie }),
        ...(method !== 'GET' && { 'x-csrf-token': csrf }),
        ...headers,
      },
      ...(body && { body }),
    });
    for (const { name, value } of answer.cookies) {
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    if (answer.statusCode < 300 && answer.body.includes('"csrfToken"')) {
      const shown = answer.json();
      csrf = shown.csrfToken ?? shown.session?.csrfToken ?? csrf;
    }
    return answer;
  }
  /** The headers with which the page sends a request now. */
  const headers = () => ({
    origin: service.settings.http.publicBaseUrl,
    'sec-fetch-site': 'same-origin',
    cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
    'x-csrf-token': csrf,
  });
  return { call, cookies, headers };
}
type Browser = ReturnType<typeof approverBrowser>;

/** Enrols with the link of an invitation. */
export async function enrolWith(browser: Browser, device: Authenticator, link: string) {
  const invite = link.split('#invite=')[1] ?? '';
  const options = (await browser.call('POST', '/v1/approver/enrol/options', { body: { invite } })).json();
  const response = device.create(options.publicKey ?? { challenge: 'AAAA' });
  const body = { invite, challengeId: options.challengeId ?? 'wac_none', response };
  const answer = await browser.call('POST', '/v1/approver/enrol/verify', { body });
  return { answer, handle: String(options.publicKey?.user?.id ?? '') };
}

interface ApprovalOptions {
  readonly displayName?: string;
  readonly groups?: readonly string[];
  readonly connectors?: readonly string[];
}

/** Signs the browser in at an identity provider, before its person enrols. */
type SignOn = (browser: Browser) => Promise<unknown>;

/** A person who has enrolled as an approver, with a passkey and a browser of their own. */
export async function enrolApprover(
  service: Service,
  acme: Developer,
  email: string,
  wish: ApprovalOptions = {},
  signOn?: SignOn,
) {
  const { FIDO_ORIGIN: origins = [service.settings.http.publicBaseUrl] } = Object(
    service.settings.ofFeatures,
  );
  const { origin, hostname: rpId } = new URL(origins[0]);
  const device = authenticator({ origin, rpId });
  const browser = approverBrowser(service);
  const made = await acme('POST', '/v1/approvers', { email, displayName: email.split('@')[0], ...wish });
  if (made.statusCode !== 201) throw new Error(`approver: ${made.body}`);
  const { approverId, link } = made.json();
  const mailed =
    link ?? service.mails.sent().find(({ to, text }) => to === email && text.includes('#invite='))?.text;
  const url = /https?:\S+#invite=\S+/.exec(String(mailed))?.[0] ?? '';
  await signOn?.(browser);
  const { answer, handle } = await enrolWith(browser, device, url);
  if (answer.statusCode !== 201) throw new Error(`enrol: ${answer.body}`);

  async function signIn(fault: Fault = {}) {
    const { challengeId, publicKey } = (
      await browser.call('POST', '/v1/approver/session/options', { body: {} })
    ).json();
    const response = device.get(publicKey, { userHandle: handle, ...fault });
    return browser.call('POST', '/v1/approver/session/verify', { body: { challengeId, response } });
  }

  /** Asks for the options and answers them. `change` alters what is sent. */
  async function approve(
    decisionId: string,
    { fault = {}, change = {} }: { fault?: Fault; change?: object } = {},
  ) {
    const at = `/v1/approver/decisions/${decisionId}`;
    const shown = await browser.call('GET', at);
    if (shown.statusCode !== 200) return shown;
    const asked = await browser.call('POST', `${at}/options`, { body: {} });
    if (asked.statusCode !== 200) return asked;
    const { challengeId, publicKey } = asked.json();
    const assertion = { challengeId, response: device.get(publicKey, fault) };
    const body = { actionHash: shown.json().actionHash, assertion, ...change };
    return browser.call('POST', `${at}/approve`, { body });
  }

  const deny = (decisionId: string, body: object = {}) =>
    browser.call('POST', `/v1/approver/decisions/${decisionId}/deny`, { body });

  return { approverId: String(approverId), device, browser, signIn, approve, deny, handle };
}

export type ApprovingPerson = Awaited<ReturnType<typeof enrolApprover>>;

/** The approval that a person has signed and their browser not yet sent. */
export async function signedApproval({ browser, device }: ApprovingPerson, decisionId: string) {
  const at = `/v1/approver/decisions/${decisionId}`;
  const { actionHash } = (await browser.call('GET', at)).json();
  const { challengeId, publicKey } = (await browser.call('POST', `${at}/options`, { body: {} })).json();
  const body = { actionHash, assertion: { challengeId, response: device.get(publicKey) } };
  return { url: `${at}/approve`, body, headers: browser.headers() };
}

const tools = {
  pay: { permission: 'write', requires_decision: true, caps: { per_day: 100 } },
  wire: { permission: 'write', requires_decision: true, four_eyes_on: ['release'] },
  list: 'read',
};

/** Lets two people of a sandbox account decide without vouchers and from one device. */
export const relaxFourEyes = (acme: Developer) => acme('PATCH', '/v1/me', { relaxFourEyes: true });

/** A developer whose agent may pay, once people have decided. */
export async function payer(acme: Developer, grant: object = {}) {
  await relaxFourEyes(acme);
  await acme('PUT', '/v1/manifests/acme_bank', manifest);
  return callsOf(acme, await grantTo(acme, { ...scopes, ...grant }));
}

/** The same in a live account, where a person has approved the grant. */
export async function livePayer(service: Service, acme: Developer) {
  await acme('PUT', '/v1/manifests/acme_bank', manifest);
  await acme('PATCH', '/v1/me', { consentMode: 'link' });
  const { agentId } = await registerAgent(acme);
  const asked = await authorize(acme, agentId, scopes);
  const person = personOn(service);
  await person.open(asked.consentUrl);
  await person.approve(asked.authRequestId, {});
  const { code } = (await acme('POST', `/v1/authorize/${asked.authRequestId}/code`)).json();
  return callsOf(acme, (await acme('POST', '/v1/token', { code, agentId })).json());
}

const manifest = { $schema: 'x', connector: 'acme_bank', tools };
const scopes = { scopes: ['tool:acme_bank:write'] };

function callsOf(acme: Developer, granted: { readonly grantToken: string; readonly grantId: string }) {
  const call = (change: object = {}) => ({
    ...{ grantToken: granted.grantToken, connector: 'acme_bank', tool: 'pay' },
    ...{ arguments: { to: 'ACME Ltd', amount: '120.50' } },
    ...change,
  });
  const ask = (change: object = {}) => acme('POST', '/v1/decisions', call(change));
  const enforce = async (change: object = {}) => (await acme('POST', '/v1/enforce', call(change))).json();
  const grantsOf = async (id: string): Promise<string[]> => {
    const answer = await acme('POST', `/v1/decisions/${id}/grants`, { grantToken: granted.grantToken });
    if (answer.statusCode !== 200) throw new Error(`grants: ${answer.body}`);
    return answer.json().decisionGrants;
  };
  return { ...granted, call, ask, enforce, grantsOf };
}

/** A request, and the approvals that these people have signed. */
export const askedPeople =
  (names: readonly string[], change: object = {}) =>
  async (acme: Developer, service: Service) => {
    const agent = await payer(acme);
    const people: ApprovingPerson[] = [];
    for (const name of names) people.push(await enrolApprover(service, acme, `${name}@example.org`));
    const { decisionId } = (await agent.ask(change)).json();
    const approvals = await Promise.all(people.map((person) => signedApproval(person, decisionId)));
    return { agent, people, approvals, decisionId: String(decisionId) };
  };
export type AskedPeople = Awaited<ReturnType<ReturnType<typeof askedPeople>>>;

/** The arguments of a call that two people decide about. */
export const release = { tool: 'wire', arguments: { decision: 'release', to: 'ACME Ltd', amount: '9000' } };

/** Cares for what is due by the clock of an instance that is some hours ahead. */
const caresAhead =
  (hours: number) =>
  async ({ service }: { readonly service: Service }): Promise<undefined> => {
    const later = new Date(service.clock().getTime() + hours * 3_600_000);
    const onFailure = (error: unknown) => {
      throw error;
    };
    await careForDue({ db: service.db, clock: () => later, publicBaseUrl: 'https://auth.test', onFailure });
  };

/** Records what is over. */
export const expires = caresAhead(5);

/** Reminds of what has half of its time left. */
export const reminds = caresAhead(3);
