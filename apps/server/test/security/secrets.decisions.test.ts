import { expect, test } from 'vitest';
import { approverBrowser, enrolApprover, payer, release, signedApproval } from '../app/approving.ts';
import { seekingSecrets } from '../app/seeking-secrets.ts';
import type { Service } from '../app/start-app.ts';

const channelUrl = `https://hooks.slack.test/services/${'c'.repeat(10)}-of-the-channel-of-finance`;
const secretOf = (cookie = '') => cookie.slice(cookie.lastIndexOf('.') + 1);

/** Everything that the service says only once, from an invitation to the last use of a decision. */
async function wholeLife(service: Service) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await acme('POST', '/v1/decision-channels', { kind: 'slack', name: 'Finance', url: channelUrl });
  const unused = { email: 'cleo@example.org', displayName: 'Cleo' };
  const { link } = (await acme('POST', '/v1/approvers', unused)).json();
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const opened = (await bob.signIn()).json();
  const [session, device] = [...bob.browser.cookies.values()];

  const { decisionId } = (await agent.ask({ ...release, summary: 'Rent of May' })).json();
  await ada.approve(decisionId);
  const approval = await signedApproval(bob, decisionId);
  await service.app.inject({ method: 'POST', ...approval });
  const [first, second] = await agent.grantsOf(decisionId);
  await agent.enforce({ ...release, decisionGrants: [first, second] });
  await agent.enforce({ ...release, decisionGrants: [first, second] }); // a second time, which is refused
  await service.runJob('care of decisions');
  await service.runJob('notices of decisions');
  await approverBrowser(service).call('GET', '/v1/approver/session'); // without a session

  return {
    invitation: secretOf(String(link).split('#invite=')[1]),
    session: secretOf(session),
    device,
    csrfToken: opened.csrfToken,
    sentCsrfToken: approval.headers['x-csrf-token'],
    firstGrant: first,
    secondGrant: second,
    channelUrl,
    grantToken: agent.grantToken,
  };
}

test.each(['debug', 'info'] as const)(
  'R8, L1: no secret of approvers and their decisions is in the database, in Redis’ values or in the log at level %s',
  async (logLevel) => {
    const { kept, printed } = await seekingSecrets({ logLevel }, wholeLife);

    for (const there of ['ada@example.org', 'Rent of May', 'ACME Ltd']) {
      expect(kept.database).toContain(there);
      expect(kept.log).not.toContain(there);
    }
    expect(printed).toBeGreaterThan(15);
  },
);
