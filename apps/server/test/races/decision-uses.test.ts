import { test, vi } from 'vitest';
import { enrolApprover, expires, payer } from '../app/approving.ts';
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
  return { agent, ada, decisionId, use };
}
type Approved = Awaited<ReturnType<typeof approved>>;

const sends = ({ acme }: Side, { use }: Approved) => acme('POST', '/v1/decisions/consume', use);
const cancels = ({ acme }: Side, { decisionId }: Approved) =>
  acme('POST', `/v1/decisions/${decisionId}/cancel`, {});
const revokesGrant = ({ acme }: Side, { agent }: Approved) => acme('DELETE', `/v1/grants/${agent.grantId}`);

const stops = ({ acme }: Side) => acme('POST', '/v1/me/stop', {});

const denies = ({ service }: Side, { ada, decisionId }: Pick<Approved, 'ada' | 'decisionId'>) => {
  const url = `/v1/approver/decisions/${decisionId}/deny`;
  return service.app.inject({ method: 'POST', url, headers: ada.browser.headers(), body: {} });
};

test('R10 a use of a decision, and its end', () =>
  race({ prepare: approved, one: sends, other: cancels, answers: ['200, 200', '409 CONFLICT, 200'] }));
test('R10 a use of a decision, and the revocation of its grant', () =>
  race({ prepare: approved, one: sends, other: revokesGrant, answers: ['200, 204', '409 CONFLICT, 204'] }));
test('R10 a use of a decision, and a stop of the account', () =>
  race({ prepare: approved, one: sends, other: stops, answers: ['200, 200', '409 CONFLICT, 200'] }));
test('R10 a use of a decision, and its denial', () =>
  race({ prepare: approved, one: sends, other: denies, answers: ['200, 200', '409 CONFLICT, 200'] }));
test('R10 a use of a decision, and its expiry by the clock of another instance', () =>
  race({ prepare: approved, one: sends, other: expires, answers: ['200, done', '410 GONE, done'] }));
/** An agent, and a person who may decide. */
async function asking(acme: Developer, service: Service) {
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  return { ada, agent: await payer(acme) };
}
type Asking = Awaited<ReturnType<typeof asking>>;
const asks = ({ acme }: Side, { agent }: Pick<Asking, 'agent'>) =>
  acme('POST', '/v1/decisions', agent.call());

test('R10 one call that is asked about twice', () =>
  race({ prepare: asking, one: asks, answers: ['201, 200', '200, 201'] }));
test('R10 one call that is asked about twice under its id', () =>
  race({
    prepare: asking,
    one: ({ acme }, { agent }) => acme('POST', '/v1/decisions', agent.call({ callId: 'call-0001' })),
    answers: ['201, 200', '200, 201'],
  }));
test('R10 a call that is asked about again, and its denial', () =>
  race({
    async prepare(acme: Developer, service: Service) {
      const { ada, agent } = await asking(acme, service);
      const { decisionId } = (await agent.ask()).json();
      return { ada, agent, decisionId: String(decisionId) };
    },
    one: asks,
    other: denies,
    answers: ['200, 200'],
  }));
