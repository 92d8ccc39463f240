import { sql } from 'kysely';
import { test } from 'vitest';
import { authorize, grantTo, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

async function withCredential(acme: Developer) {
  const { agentId, grantId } = await grantTo(acme);
  const { id } = (await acme('POST', '/v1/credentials', { grantId, format: 'vc-jwt' })).json();
  return { agentId, grantId, credentialId: String(id) };
}
type Held = Awaited<ReturnType<typeof withCredential>>;

const issue = ({ acme }: Side, { grantId }: Held) =>
  acme('POST', '/v1/credentials', { grantId, format: 'vc-jwt' });
const revokeOne = ({ acme }: Side, { credentialId }: Held) =>
  acme('POST', `/v1/credentials/${credentialId}/revoke`, {});
const revokeGrant = ({ acme }: Side, { grantId }: Held) => acme('DELETE', `/v1/grants/${grantId}`);

test('P4 an issuance of a credential, and the revocation of its grant', () =>
  race({
    prepare: withCredential,
    one: issue,
    other: revokeGrant,
    answers: ['201, 204', '409 GRANT_INACTIVE revoked, 204'],
  }));
const stop = ({ acme }: Side) => acme('POST', '/v1/me/stop', {});
const suspend = ({ acme }: Side, { agentId }: Held) =>
  acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
test('P4 an issuance of a credential, and a stop', () =>
  race({
    prepare: withCredential,
    one: issue,
    other: stop,
    answers: ['201, 200', '409 AGENT_INACTIVE, 200'],
  }));
test('P4 an issuance of a credential, and the suspension of its agent', () =>
  race({
    prepare: withCredential,
    one: issue,
    other: suspend,
    answers: ['201, 200', '409 AGENT_INACTIVE, 200'],
  }));
test('two issuances of a credential', () =>
  race({ prepare: withCredential, one: issue, other: issue, answers: ['201, 201'] }));
test('two revocations of a credential', () =>
  race({ prepare: withCredential, one: revokeOne, answers: ['200, 200'] }));
/** Two credentials of two grants, whose bits are in one list. */
async function withTwoCredentials(acme: Developer) {
  const [held, beside] = [await withCredential(acme), await withCredential(acme)];
  return { ...held, beside: beside.credentialId, grantBeside: beside.grantId };
}
/** Whose places are by chance, but not their number. */
const bitsOf = async ({ service, acme }: Side) =>
  (
    await sql`select bit_count(bits) as set, flips from status_lists
      where developer_id = ${acme.developerId}`.execute(service.db)
  ).rows;
test('the revocations of two credentials of one list', () =>
  race({
    prepare: withTwoCredentials,
    one: revokeOne,
    other: ({ acme }, { beside }) => acme('POST', `/v1/credentials/${beside}/revoke`, {}),
    answers: ['200, 200'],
    look: bitsOf,
  }));
test('the revocations of two grants whose credentials are of one list', () =>
  race({
    prepare: withTwoCredentials,
    one: revokeGrant,
    other: ({ acme }, { grantBeside }) => acme('DELETE', `/v1/grants/${grantBeside}`),
    answers: ['204, 204'],
    look: bitsOf,
  }));
test('P4 the revocation of a credential, and that of its grant', () =>
  race({ prepare: withCredential, one: revokeOne, other: revokeGrant, answers: ['200, 204'] }));

/** Two approved requests of a developer that has no list yet. */
async function withCodes(acme: Developer) {
  const { agentId } = await registerAgent(acme);
  const codes = [await authorize(acme, agentId), await authorize(acme, agentId)].map(({ code }) => code);
  return { agentId, codes };
}
type Approved = Awaited<ReturnType<typeof withCodes>>;

const exchange =
  (which: number) =>
  ({ acme }: Side, { agentId, codes }: Approved) =>
    acme('POST', '/v1/token', { code: codes[which], agentId, credentialFormat: 'vc-jwt' });
const revokeAgent = ({ acme }: Side, { agentId }: Approved) => acme('DELETE', `/v1/agents/${agentId}`);

test('two exchanges with credentials, which open a list', () =>
  race({ prepare: withCodes, one: exchange(0), other: exchange(1), answers: ['201, 201'] }));
test('P4 an exchange with a credential, and the revocation of its agent', () =>
  race({
    prepare: withCodes,
    one: exchange(0),
    other: revokeAgent,
    answers: ['201, 204', '400 INVALID_GRANT not_approved, 204'],
    orElse: ['400 INVALID_GRANT agent_inactive, 204'],
  }));

const withCodeAndCredential = async (acme: Developer) => ({
  ...(await withCredential(acme)),
  ...(await withCodes(acme)),
});
test('an exchange with a credential, and the revocation of a credential of its list', () =>
  race({ prepare: withCodeAndCredential, one: exchange(0), other: revokeOne, answers: ['201, 200'] }));
