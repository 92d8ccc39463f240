import { describe, test } from 'vitest';
import { approverBrowser, enrolApprover, payer, signedApproval } from '../app/approving.ts';
import { authenticator } from '../app/authenticator.ts';
import { instants, type Side, whatItSays } from '../app/instants.ts';
import type { Developer, Method, Service } from '../app/start-app.ts';

const { atTheEnd } = instants();
const [MINUTE, HOUR] = [60, 3600];

/** A call about which Ada decides. */
async function asked(acme: Developer, service: Service) {
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const { decisionId } = (await agent.ask()).json();
  return { agent, ada, decisionId: String(decisionId), approval: await signedApproval(ada, decisionId) };
}
type Asked = Awaited<ReturnType<typeof asked>>;

/** The same, once she has approved it. */
async function approved(acme: Developer, service: Service) {
  const held = await asked(acme, service);
  await held.ada.approve(held.decisionId);
  return { ...held, decisionGrants: await held.agent.grantsOf(held.decisionId) };
}

const approves = ({ service }: Side, { approval }: Asked) =>
  service.app.inject({ method: 'POST', ...approval }).then(whatItSays);
const byAda = (method: Method, pathOf: (held: Asked) => string) => (_: Side, held: Asked) =>
  held.ada.browser.call(method, pathOf(held), method === 'GET' ? {} : { body: {} }).then(whatItSays);

describe('R10: a request for a decision', () => {
  const request = {
    column: 'decisions.expiresAt',
    prepare: asked,
    before: '200',
    ended: '410 GONE',
  } as const;
  const wayOf = (way: string) => (held: Asked) => `/v1/approver/decisions/${held.decisionId}/${way}`;

  test('is approved until it ends', () => atTheEnd({ ...request, act: approves }));
  test('ends while it is approved', () =>
    atTheEnd({ ...request, act: approves, after: 'Select passkey_challenges' }));
  test('asks for a passkey until it ends', () =>
    atTheEnd({ ...request, act: byAda('POST', wayOf('options')) }));
  test('is denied until it ends', () => atTheEnd({ ...request, act: byAda('POST', wayOf('deny')) }));
  test('is taken back until it ends', () =>
    atTheEnd({
      ...request,
      act: ({ acme }, { decisionId }) =>
        acme('POST', `/v1/decisions/${decisionId}/cancel`, {}).then(whatItSays),
    }));
  test('shows its decision grants until it ends', () =>
    atTheEnd({
      ...request,
      prepare: approved,
      act: ({ acme }, { decisionId, agent: { grantToken } }) =>
        acme('POST', `/v1/decisions/${decisionId}/grants`, { grantToken }).then(whatItSays),
    }));
  test('lets the call pass until it ends', () =>
    atTheEnd({
      ...request,
      prepare: approved,
      async act(_, { agent, decisionGrants }) {
        const { allowed, sub_reason } = await agent.enforce({ decisionGrants });
        return allowed ? 'allowed' : String(sub_reason);
      },
      before: 'allowed',
      ended: 'expired',
    }));
  test('answers the same question until it ends', () =>
    atTheEnd({ ...request, act: (_, { agent }) => agent.ask().then(whatItSays), ended: '201' }));
});

describe('W3: a link to enrol', () => {
  const link = {
    column: 'approvers.inviteExpiresAt',
    async prepare(acme: Developer, service: Service) {
      const browser = approverBrowser(service);
      const body = { email: 'ada@example.org', displayName: 'Ada' };
      const { link: url } = (await acme('POST', '/v1/approvers', body)).json();
      const invite = String(url).split('#invite=')[1];
      const options = { body: { invite } };
      const begun = (await browser.call('POST', '/v1/approver/enrol/options', options)).json();
      const response = authenticator().create(begun.publicKey);
      return { browser, options, verify: { body: { invite, challengeId: begun.challengeId, response } } };
    },
  };
  const enrols = {
    ...link,
    act: (_: Side, { browser, verify }: Awaited<ReturnType<typeof link.prepare>>) =>
      browser.call('POST', '/v1/approver/enrol/verify', verify).then(whatItSays),
    before: '201',
  };

  test('opens until it ends', () =>
    atTheEnd({
      ...link,
      act: (_, { browser, options }) =>
        browser.call('POST', '/v1/approver/enrol/options', options).then(whatItSays),
      before: '200',
      ended: '404 NOT_FOUND',
    }));
  test('enrols until it ends', () => atTheEnd({ ...enrols, ended: '404 NOT_FOUND' }));
  test('enrols until its challenge ends', () =>
    atTheEnd({ ...enrols, column: 'passkeyChallenges.expiresAt', ended: '400 CHALLENGE_INVALID' }));
});

describe('W3: an approver', () => {
  const sees = byAda('GET', () => '/v1/approver/session');
  const session = { prepare: asked, act: sees, before: '200', ended: '401 UNAUTHORIZED' } as const;
  const decides = { prepare: asked, act: approves, before: '200' } as const;
  /** With an absence that has begun, and lasts until tomorrow. */
  async function away(acme: Developer, service: Service) {
    const held = await asked(acme, service);
    const from = service.clock();
    const body = { from: from.toISOString(), until: new Date(from.getTime() + 86_400_000).toISOString() };
    await held.ada.browser.call('PUT', '/v1/approver/absence', { body });
    return held;
  }

  test('is signed in for eight hours', () => atTheEnd({ ...session, column: 'approverSessions.expiresAt' }));
  test('is signed in for fifteen minutes of silence', () =>
    atTheEnd({ ...session, column: 'approverSessions.lastSeenAt', agoSeconds: 15 * MINUTE }));
  test('decides within an hour of the passkey', () =>
    atTheEnd({
      ...decides,
      column: 'approverSessions.assertedAt',
      agoSeconds: HOUR,
      ended: '403 FORBIDDEN',
    }));
  test('adds a passkey within five minutes of another', () =>
    atTheEnd({
      ...session,
      act: byAda('POST', () => '/v1/approver/passkeys/options'),
      column: 'approverSessions.assertedAt',
      agoSeconds: 5 * MINUTE,
      ended: '403 FORBIDDEN',
    }));
  test('signs a call until its challenge ends', () =>
    atTheEnd({ ...decides, column: 'passkeyChallenges.expiresAt', ended: '400 CHALLENGE_INVALID' }));
  test('decides from the end of the first day on', () =>
    atTheEnd({ ...decides, column: 'approvers.activeFrom', before: '403 FORBIDDEN', ended: '200' }));
  test('decides until an absence begins', () =>
    atTheEnd({ ...decides, prepare: away, column: 'approvers.absentFrom', ended: '409 CONFLICT' }));
  test('decides again when an absence ends', () =>
    atTheEnd({
      ...{ ...decides, prepare: away, column: 'approvers.absentUntil' },
      ...{ before: '409 CONFLICT', ended: '200' },
    }));
});
