import { expect, test } from 'vitest';
import {
  approverBrowser,
  enrolApprover,
  enrolWith,
  livePayer,
  signedApproval,
} from '../../../../test/app/approving.ts';
import { type Authenticator, authenticator } from '../../../../test/app/authenticator.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { actionsOf, entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { ADMIN_API_KEY, type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const DAY = 86_400;
const ADDRESS = 'u42@example.org';

/** A live account with a principal in its directory, as the holder of a key can write it. */
async function customer({ isVerified = true } = {}) {
  const service = await startApp();
  const acme = await service.asDeveloper();
  if (isVerified) await verifyAddress(service, acme);
  const directory = await provisionerOf(service, acme);
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  const emails = [{ value: ADDRESS, primary: true }];
  await directory('POST', '/Users', { schemas, userName: 'user_42', emails });
  return { service, acme };
}

/** Newest first. */
const linksTo = ({ mails }: Service, to: string) =>
  mails
    .sent()
    .filter((mail) => mail.to === to)
    .flatMap(({ text }) => /https?:\S+#(?:invite|confirm)=\S+/.exec(text)?.[0] ?? []);

/** Enrols the principal with the mailed link, and hands out the link that comes after it. */
async function enrolPrincipal(service: Service, acme: Developer) {
  const made = await acme('POST', '/v1/approvers', { principalId: 'user_42' });
  expect(made.json()).toMatchObject({ kind: 'principal', status: 'invited', link: null });
  const browser = approverBrowser(service);
  const device = authenticator();
  const [link = ''] = linksTo(service, ADDRESS);
  const { answer, handle } = await enrolWith(browser, device, link);
  expect(answer.json().approver).toMatchObject({ status: 'pending_confirmation' });
  const { approverId } = made.json();
  const [next = ''] = linksTo(service, ADDRESS);
  const confirmation = next.split('#confirm=')[1];
  const confirm = (value = confirmation) =>
    browser.call('POST', '/v1/approver/confirm', { body: { confirmation: value } });
  const decides = () => signIn({ browser, device, handle });
  return { approverId: String(approverId), browser, confirmation, confirm, decides };
}

interface Signing {
  readonly browser: ReturnType<typeof approverBrowser>;
  readonly device: Authenticator;
  readonly handle: string;
}

async function signIn({ browser, device, handle: userHandle }: Signing) {
  const options = await browser.call('POST', '/v1/approver/session/options', { body: {} });
  const { challengeId, publicKey } = options.json();
  const body = { challengeId, response: device.get(publicKey, { userHandle }) };
  return browser.call('POST', '/v1/approver/session/verify', { body });
}

test('W3: an API key alone makes no principal of a live account an approver: the person confirms it by mail', async () => {
  const { service, acme } = await customer();
  const { approverId, confirm, decides } = await enrolPrincipal(service, acme);
  service.advance(2 * DAY);
  const agent = await livePayer(service, acme);
  const asks = async () => {
    const { status, details } = (await agent.ask()).json();
    return status ?? details?.sub_reason;
  };
  const turned = await acme('PATCH', `/v1/approvers/${approverId}`, { status: 'active' });
  expect([turned.statusCode, await asks()]).toEqual([409, 'no_quorum']);

  expect((await decides()).statusCode).toBe(200);
  expect((await confirm('x'.repeat(43))).statusCode).toBe(404);
  expect((await confirm()).json()).toMatchObject({ status: 'active', confirmedBy: `approver:${approverId}` });
  expect((await confirm()).statusCode).toBe(404);
  expect(await asks()).toBe('pending');
  expect(await actionsOf(acme)).toContain('approver.confirmed');
});

test('W3: the link of a live principal is shown to no key, and without mail nobody is invited', async () => {
  const { acme } = await customer({ isVerified: false });
  const refused = await acme('POST', '/v1/approvers', { principalId: 'user_42' });
  expect([refused.statusCode, refused.json().details]).toEqual([409, { sub_reason: 'mail_needed' }]);
  expect((await acme('GET', '/v1/approvers')).json().approvers).toEqual([]);

  const other = await acme('POST', '/v1/approvers', { email: ADDRESS, displayName: 'A person' });
  expect([other.statusCode, other.json().link === null]).toEqual([201, false]); // the control
});

test('W3: where an account has an approver, the approver confirms a principal, and a mailbox alone does not', async () => {
  const { service, acme } = await customer();
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  service.advance(DAY);
  await ada.signIn();
  const { approverId, confirm } = await enrolPrincipal(service, acme);

  expect(linksTo(service, ADDRESS)).toHaveLength(1); // the invitation, and no confirmation
  expect((await confirm('x'.repeat(43))).statusCode).toBe(404);

  const waiting = (await ada.browser.call('GET', '/v1/approver/colleagues')).json().colleagues;
  expect(waiting).toMatchObject([{ approverId, email: ADDRESS }]);
  const path = `/v1/approver/colleagues/${approverId}/confirm`;
  expect((await ada.browser.call('POST', path, { body: {} })).json()).toMatchObject({
    ...{ status: 'active', kind: 'principal', assurance: 'single' },
    sub: 'principal:user_42',
  });
});

test('W3: the confirmation of a principal is good for 72 hours, in their own session, while no approver can confirm', async () => {
  const { service, acme } = await customer();
  const { confirm, confirmation, decides } = await enrolPrincipal(service, acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const foreign = { body: { confirmation: String(confirmation) } };
  expect((await ada.browser.call('POST', '/v1/approver/confirm', foreign)).statusCode).toBe(404);

  service.advance(3 * DAY - 0.001);
  await decides();
  const late = await confirm();
  expect([late.statusCode, late.json().details]).toEqual([403, { sub_reason: 'approver_needed' }]);
  service.advance(0.001);
  await decides();
  expect((await confirm()).statusCode).toBe(404);
});

/** A live account with one approver, who may decide. */
async function withAda() {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const email = await verifyAddress(service, acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  service.advance(DAY);
  await ada.signIn();
  return { service, acme, email, ada };
}

const recover = (service: Service, { developerId }: Pick<Developer, 'developerId'>, approverId: string) =>
  service.calling(ADMIN_API_KEY)('POST', `/v1/admin/developers/${developerId}/approver-recovery`, {
    approverId,
  });

/** The link in the newest mail to an address. */
const linkTo = ({ mails }: Service, address: string) =>
  /https?:\S+#invite=\S+/.exec(
    mails.sent().find(({ to, text }) => to === address && text.includes('It replaces all that you have.'))
      ?.text ?? '',
  )?.[0] ?? '';

const optionsOf = (service: Service, link: string) =>
  approverBrowser(service).call('POST', '/v1/approver/enrol/options', {
    body: { invite: link.split('#invite=')[1] ?? '' },
  });

test('W3: the last approver who lost every passkey enrols once more, a day after the operator allowed it', async () => {
  const { service, acme, email, ada } = await withAda();
  const answer = await recover(service, acme, ada.approverId);
  const opensAt = new Date(service.clock().getTime() + DAY * 1000).toISOString();
  expect([answer.statusCode, answer.json()]).toMatchObject([
    201,
    { approverId: ada.approverId, link: null, opensAt },
  ]);
  const toAccount = service.mails.sent().find(({ to, text }) => to === email && text.includes(opensAt));
  expect([toAccount?.subject, toAccount?.text.includes('#invite=')]).toEqual([
    'An approver is about to get a new passkey',
    false,
  ]);
  const link = linkTo(service, 'ada@example.org');

  service.advance(DAY - 0.001);
  expect(refusalOf(await optionsOf(service, link))).toBe('404 NOT_FOUND');
  service.advance(0.001);
  const [browser, device] = [approverBrowser(service), authenticator()];
  const enrolled = await enrolWith(browser, device, link);
  expect(enrolled.answer.json().approver).toMatchObject({
    approverId: ada.approverId,
    status: 'active',
    assurance: 'single',
    recoveryFrom: null,
  });

  expect((await ada.browser.call('GET', '/v1/approver/session')).statusCode).toBe(401);
  expect((await ada.signIn()).statusCode).toBe(401); // the lost passkey
  const { decisionId } = (await (await livePayer(service, acme)).ask()).json();
  const approval = await signedApproval({ ...ada, browser, device }, decisionId);
  const approved = await service.app.inject({ method: 'POST', ...approval });
  expect(approved.json().status).toBe('approved');
  expect(refusalOf(await optionsOf(service, link))).toBe('404 NOT_FOUND'); // once

  const [requested] = await entriesOf(acme, 'approver.recovery_requested');
  expect(requested?.metadata).toMatchObject({ approverId: ada.approverId, actor: 'admin' });
  const { entries } = (await service.calling(ADMIN_API_KEY)('GET', '/v1/admin/entries')).json();
  expect(entries.at(-1)).toMatchObject({
    action: 'approver.recovery_requested',
    metadata: { approverId: ada.approverId, developerId: acme.developerId, actor: 'admin' },
  });
});

test('W3: an active approver withdraws a link of the operator; a waiting approver and a developer may not', async () => {
  const { service, acme, ada } = await withAda();
  const bob = await enrolApprover(service, acme, 'bob@example.org'); // waits for a confirmation
  await recover(service, acme, ada.approverId);
  const link = linkTo(service, 'ada@example.org');
  const at = `/v1/approver/recoveries/${ada.approverId}`;
  const seen = async () => (await ada.browser.call('GET', '/v1/approver/colleagues')).json().recoveries;
  expect(await seen()).toMatchObject([{ approverId: ada.approverId, displayName: 'ada' }]);

  expect((await bob.browser.call('DELETE', at)).statusCode).toBe(403);
  expect((await acme('DELETE', at)).statusCode).toBe(403);
  expect((await ada.browser.call('DELETE', at)).statusCode).toBe(204);
  expect((await ada.browser.call('DELETE', at)).statusCode).toBe(404);

  expect(await seen()).toEqual([]);
  service.advance(DAY);
  expect(refusalOf(await optionsOf(service, link))).toBe('404 NOT_FOUND');
  expect((await ada.signIn()).statusCode).toBe(200);
  const [cancelled] = await entriesOf(acme, 'approver.recovery_cancelled');
  expect(cancelled?.metadata).toMatchObject({ approverId: ada.approverId, cancelledBy: ada.approverId });
});

test('the operator lets in an active person of the account, by the newest link, for three days', async () => {
  const { service, acme, ada } = await withAda();
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const stranger = await service.asDeveloper();
  expect(refusalOf(await recover(service, acme, bob.approverId))).toBe('409 CONFLICT');
  expect(refusalOf(await recover(service, stranger, ada.approverId))).toBe('404 NOT_FOUND');
  expect(refusalOf(await recover(service, { developerId: 'dev_nobody' }, ada.approverId))).toBe(
    '404 NOT_FOUND',
  );

  await recover(service, acme, ada.approverId);
  const first = linkTo(service, 'ada@example.org');
  service.advance(60);
  await recover(service, acme, ada.approverId);
  const second = linkTo(service, 'ada@example.org');

  service.advance(DAY);
  expect(refusalOf(await optionsOf(service, first))).toBe('404 NOT_FOUND');
  expect((await optionsOf(service, second)).statusCode).toBe(200);
  service.advance(3 * DAY - 0.001);
  expect((await optionsOf(service, second)).statusCode).toBe(200);
  service.advance(0.001);
  expect(refusalOf(await optionsOf(service, second))).toBe('404 NOT_FOUND');
});

test('where the service mails nothing, the operator gets the link', async () => {
  const service = await startApp({ mail: 'none' });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const ada = await enrolApprover(service, acme, 'ada@example.org');

  const { link } = (await recover(service, acme, ada.approverId)).json();

  expect(refusalOf(await optionsOf(service, link))).toBe('404 NOT_FOUND');
  service.advance(DAY);
  const { answer } = await enrolWith(approverBrowser(service), authenticator(), link);
  expect(answer.json().approver).toMatchObject({ approverId: ada.approverId, emailVerified: false });
});
