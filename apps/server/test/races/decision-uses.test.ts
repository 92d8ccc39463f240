import { test, vi } from 'vitest';
import { enrolApprover, payer } from '../app/approving.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer, Service } from '../app/start-app.ts';

const { race } = interleaving();
vi.setConfig({ testTimeout: 120_000 }); // each run enrols people of its own

/** A call that one person has approved, and the step that uses it. */
async function approved(acme: Developer, service: Service) {
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const { decisionId } = (await agent.ask()).json();
  await ada.approve(decisionId);
  const { connector, tool, arguments: args, grantToken } = agent.call();
  const about = { case_id: null, case_version: null, decision: null };
  const action = { v: 1, connector, tool, arguments: args, ...about };
  const decisionGrants = await agent.grantsOf(decisionId);
  const use = { decisionGrants, action, caseVersion: null, callId: 'call-0001', grantToken, phase: 'send' };
  return { agent, decisionId, use };
}
type Approved = Awaited<ReturnType<typeof approved>>;

const sends = ({ acme }: Side, { use }: Approved) => acme('POST', '/v1/decisions/consume', use);
const cancels = ({ acme }: Side, { decisionId }: Approved) =>
  acme('POST', `/v1/decisions/${decisionId}/cancel`, {});
const revokesGrant = ({ acme }: Side, { agent }: Approved) => acme('DELETE', `/v1/grants/${agent.grantId}`);

test('R10 a use of a decision, and its end', () =>
  race({ prepare: approved, one: sends, other: cancels, answers: ['200, 200', '409 CONFLICT, 200'] }));
test('R10 a use of a decision, and the revocation of its grant', () =>
  race({ prepare: approved, one: sends, other: revokesGrant, answers: ['200, 204', '409 CONFLICT, 204'] }));
