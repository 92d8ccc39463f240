import { test } from 'vitest';
import { grantTo } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

const limit = (amount: number) => ({ maxTransactionAmount: { amount, currency: 'USD' } });
const scopes = ['payments:mpp:data', 'wallet:authorize'];

async function withAuthorization(acme: Developer) {
  const { agentId, grantId } = await grantTo(acme, { scopes });
  const account = 'eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb';
  const asked = { grantId, account, maxAmount: { amount: '5.00', asset: 'USDC' } };
  const { id } = (await acme('POST', '/v1/wallet/authorizations', asked)).json();
  return { agentId, grantId, authorizationId: String(id) };
}
type Authorized = Awaited<ReturnType<typeof withAuthorization>>;

const stop = ({ acme }: Side) => acme('POST', '/v1/me/stop', {});
const suspend = ({ acme }: Side, { agentId }: { readonly agentId: string }) =>
  acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });

const onAuthorization =
  (what: 'consume' | 'revoke') =>
  ({ acme }: Side, { authorizationId }: Authorized) =>
    acme('POST', `/v1/wallet/authorizations/${authorizationId}/${what}`, {});
const revokeGrant = ({ acme }: Side, { grantId }: Pick<Authorized, 'grantId'>) =>
  acme('DELETE', `/v1/grants/${grantId}`);

test('P4 two uses of a wallet authorization', () =>
  race({
    prepare: withAuthorization,
    one: onAuthorization('consume'),
    answers: ['200, 409 ALREADY_CONSUMED', '409 ALREADY_CONSUMED, 200'],
  }));
test('P4 a use of a wallet authorization, and its revocation', () =>
  race({
    prepare: withAuthorization,
    one: onAuthorization('consume'),
    other: onAuthorization('revoke'),
    answers: ['200, 200', '410 GONE, 200'],
  }));
test('P4 a use of a wallet authorization, and the revocation of its grant', () =>
  race({
    prepare: withAuthorization,
    one: onAuthorization('consume'),
    other: revokeGrant,
    answers: ['200, 204', '410 GONE, 204'],
  }));
test('P4 a use of a wallet authorization, and a stop', () =>
  race({
    prepare: withAuthorization,
    one: onAuthorization('consume'),
    other: stop,
    answers: ['200, 200', '409 AGENT_INACTIVE, 200'],
  }));
test('P4 a use of a wallet authorization, and the suspension of its agent', () =>
  race({
    prepare: withAuthorization,
    one: onAuthorization('consume'),
    other: suspend,
    answers: ['200, 200', '409 AGENT_INACTIVE, 200'],
  }));

async function withPassport(acme: Developer) {
  const { agentId, grantId } = await grantTo(acme, { scopes });
  const body = { agentId, grantId, allowedMPPCategories: ['data'], ...limit(5) };
  const { passportId } = (await acme('POST', '/v1/passport/issue', body)).json();
  return { agentId, grantId, body, passportId: String(passportId) };
}
type Held = Awaited<ReturnType<typeof withPassport>>;

const issue = ({ acme }: Side, { body }: Held) => acme('POST', '/v1/passport/issue', body);
const issueBelow = ({ acme }: Side, { body, passportId }: Held) =>
  acme('POST', '/v1/passport/issue', { ...body, ...limit(1), parentPassportId: passportId });
const revoke = ({ acme }: Side, { passportId }: Held) =>
  acme('POST', `/v1/passport/${encodeURIComponent(passportId)}/revoke`, {});

test('P4 an issuance of a passport, and the revocation of its grant', () =>
  race({
    prepare: withPassport,
    one: issue,
    other: revokeGrant,
    answers: ['201, 204', '400 INVALID_GRANT grant_revoked, 204'],
  }));
test('P4 an issuance of a passport, and a stop', () =>
  race({ prepare: withPassport, one: issue, other: stop, answers: ['201, 200', '400 INVALID_AGENT, 200'] }));
test('P4 an issuance of a passport, and the suspension of its agent', () =>
  race({
    prepare: withPassport,
    one: issue,
    other: suspend,
    answers: ['201, 200', '400 INVALID_AGENT, 200'],
  }));
test('P4 an issuance of a passport below another one, and the revocation of that', () =>
  race({
    prepare: withPassport,
    one: issueBelow,
    other: revoke,
    answers: ['201, 200', '400 PARENT_EXCEEDED parent, 200'],
  }));
test('P4 two revocations of a passport', () =>
  race({ prepare: withPassport, one: revoke, answers: ['200, 200'] }));
