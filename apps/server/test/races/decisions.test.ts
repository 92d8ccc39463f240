import { test, vi } from 'vitest';
import { enrolApprover, payer, release } from '../app/approving.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer, Service } from '../app/start-app.ts';

const { race } = interleaving();
vi.setConfig({ testTimeout: 120_000 }); // each run enrols people of its own
type Approver = Awaited<ReturnType<typeof enrolApprover>>;

/** The approval that a person has signed and their browser not yet sent. */
async function signed({ browser, device }: Approver, decisionId: string) {
  const at = `/v1/approver/decisions/${decisionId}`;
  const { actionHash } = (await browser.call('GET', at)).json();
  const { challengeId, publicKey } = (await browser.call('POST', `${at}/options`, { body: {} })).json();
  const body = { actionHash, assertion: { challengeId, response: device.get(publicKey) } };
  return { url: `${at}/approve`, body, headers: browser.headers() };
}

/** A request, and the approvals that these people have signed. */
const asked =
  (names: readonly string[], change: object = {}) =>
  async (acme: Developer, service: Service) => {
    const agent = await payer(acme);
    const people: Approver[] = [];
    for (const name of names) people.push(await enrolApprover(service, acme, `${name}@example.org`));
    const { decisionId } = (await agent.ask(change)).json();
    const approvals = await Promise.all(people.map((person) => signed(person, decisionId)));
    return { agent, people, approvals, decisionId: String(decisionId) };
  };
type Asked = Awaited<ReturnType<ReturnType<typeof asked>>>;

const approves =
  (which: number) =>
  ({ service }: Side, { approvals }: Asked) =>
    service.app.inject({ method: 'POST', ...approvals[which] });
const denies = ({ service }: Side, { people, decisionId }: Asked) =>
  service.app.inject({
    method: 'POST',
    url: `/v1/approver/decisions/${decisionId}/deny`,
    headers: people[0]?.browser.headers() ?? {},
    body: {},
  });
const removes = ({ acme }: Side, { people }: Asked) =>
  acme('DELETE', `/v1/approvers/${people[0]?.approverId}`);
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
test('R10 a denial, and the removal of its person', () =>
  race({
    prepare: byOne,
    one: denies,
    other: removes,
    answers: ['200, 204', '401 UNAUTHORIZED, 204'],
    orElse: ['403 FORBIDDEN, 204'],
  }));
