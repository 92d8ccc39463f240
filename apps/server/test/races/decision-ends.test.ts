import { test, vi } from 'vitest';
import { type AskedPeople, askedPeople, expires, reminds } from '../app/approving.ts';
import { interleaving, type Side } from '../app/interleaving.ts';

const { race } = interleaving();
vi.setConfig({ testTimeout: 120_000 }); // each run enrols people of its own

const about = { caseId: 'case-1', caseVersion: '1' };
const asked = askedPeople(['ada'], about);
const approves = ({ service }: Side, { approvals: [approval] }: AskedPeople) =>
  service.app.inject({ method: 'POST', ...approval });
const cancels = ({ acme }: Side, { decisionId }: AskedPeople) =>
  acme('POST', `/v1/decisions/${decisionId}/cancel`, {});
const movesCase = ({ acme }: Side) => acme('PUT', '/v1/decisions/cases/case-1', { caseVersion: '2' });
const revokesGrant = ({ acme }: Side, { agent }: AskedPeople) =>
  acme('DELETE', `/v1/grants/${agent.grantId}`);

test('R10 an approval, and its expiry by the clock of another instance', () =>
  race({ prepare: asked, one: approves, other: expires, answers: ['200, done', '410 GONE, done'] }));
test('R10 an approval, and the end of its request', () =>
  race({ prepare: asked, one: approves, other: cancels, answers: ['200, 200', '409 CONFLICT, 200'] }));
test('R10 an approval, and another version of its case', () =>
  race({ prepare: asked, one: approves, other: movesCase, answers: ['200, 200', '409 CONFLICT, 200'] }));
test('R10 an approval, and the revocation of the grant', () =>
  race({ prepare: asked, one: approves, other: revokesGrant, answers: ['200, 204', '409 CONFLICT, 204'] }));
test('a reminder by two instances', () => race({ prepare: asked, one: reminds, answers: ['done, done'] }));
