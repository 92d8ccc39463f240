import { describe, test, vi } from 'vitest';
import { type AskedPeople, askedPeople as asked, enrolApprover, payer, release } from '../app/approving.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer, Service } from '../app/start-app.ts';

const { race } = interleaving();
vi.setConfig({ testTimeout: 120_000 }); // each run enrols people of its own

const approves =
  (which: number) =>
  ({ service }: Side, { approvals }: AskedPeople) =>
    service.app.inject({ method: 'POST', ...approvals[which] });
const denies = ({ service }: Side, { people, decisionId }: AskedPeople) =>
  service.app.inject({
    method: 'POST',
    url: `/v1/approver/decisions/${decisionId}/deny`,
    headers: people[0]?.browser.headers() ?? {},
    body: {},
  });
const removes = ({ acme }: Side, { people }: AskedPeople) =>
  acme('DELETE', `/v1/approvers/${people[0]?.approverId}`);
const suspends = ({ acme }: Side, { people }: AskedPeople) =>
  acme('PATCH', `/v1/approvers/${people[0]?.approverId}`, { status: 'suspended' });
const byOne = asked(['ada']);

test('R10 an approval and a denial', () =>
  race({ prepare: byOne, one: approves(0), other: denies, answers: ['200, 200', '409 CONFLICT, 200'] }));
test('R10 one signed approval, sent twice', () =>
  race({
    prepare: byOne,
    one: approves(0),
    answers: ['200, 409 CONFLICT', '409 CONFLICT, 200'],
    orElse: ['200, 400 CHALLENGE_INVALID', '400 CHALLENGE_INVALID, 200'],
  }));
test('R10 the two approvals of four eyes', () =>
  race({
    prepare: asked(['ada', 'bob'], release),
    ...{ one: approves(0), other: approves(1), answers: ['200, 200'] },
  }));
test('R10 an approval, and the removal of its person', () =>
  race({
    prepare: byOne,
    one: approves(0),
    other: removes,
    answers: ['200, 204', '401 UNAUTHORIZED, 204'],
    orElse: ['403 FORBIDDEN, 204', '400 CHALLENGE_INVALID, 204', '400 WEBAUTHN_VERIFICATION_FAILED, 204'],
  }));
test('R10 an approval, and the suspension of its person', () =>
  race({
    prepare: byOne,
    one: approves(0),
    other: suspends,
    answers: ['200, 200', '401 UNAUTHORIZED, 200'],
    orElse: ['403 FORBIDDEN, 200'],
  }));
test('R10 a denial, and the removal of its person', () =>
  race({
    prepare: byOne,
    one: denies,
    other: removes,
    answers: ['200, 204', '401 UNAUTHORIZED, 204'],
    orElse: ['403 FORBIDDEN, 204'],
  }));

describe('cases', () => {
  const { race } = interleaving();

  /** A call about a case that one person has approved, and the step that uses it. */
  async function approvedInCase(acme: Developer, service: Service) {
    const agent = await payer(acme);
    const ada = await enrolApprover(service, acme, 'ada@example.org');
    await acme('PUT', '/v1/decisions/cases/case-1', { caseVersion: '1' });
    const { decisionId } = (await agent.ask({ caseId: 'case-1', caseVersion: '1' })).json();
    await ada.approve(decisionId);
    const { connector, tool, arguments: args, grantToken } = agent.call();
    const about = { case_id: 'case-1', case_version: '1', decision: null };
    const action = { v: 1, connector, tool, arguments: args, ...about };
    const decisionGrants = await agent.grantsOf(decisionId);
    return { decisionGrants, action, caseVersion: '1', callId: 'call-0001', grantToken, phase: 'send' };
  }
  type Use = Awaited<ReturnType<typeof approvedInCase>>;

  const closes = ({ acme }: Side) => acme('DELETE', '/v1/decisions/cases/case-1');
  const sends = ({ acme }: Side, use: Use) => acme('POST', '/v1/decisions/consume', use);

  test('R10 two closings of one case', () =>
    race({ prepare: approvedInCase, one: closes, answers: ['204, 404 NOT_FOUND', '404 NOT_FOUND, 204'] }));
  test('R10 a use of a decision, and the closing of its case', () =>
    race({ prepare: approvedInCase, one: sends, other: closes, answers: ['200, 204', '409 CONFLICT, 204'] }));
});
