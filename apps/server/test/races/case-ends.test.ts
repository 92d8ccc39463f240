import { test, vi } from 'vitest';
import { enrolApprover, payer } from '../app/approving.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer, Service } from '../app/start-app.ts';

const { race } = interleaving();
vi.setConfig({ testTimeout: 120_000 }); // each run enrols people of its own

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
