import { test } from 'vitest';
import { grantTo } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

async function withCredential(acme: Developer) {
  const { grantId } = await grantTo(acme);
  const { id } = (await acme('POST', '/v1/credentials', { grantId, format: 'vc-jwt' })).json();
  return { grantId, credentialId: String(id) };
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
test('two issuances of a credential', () =>
  race({ prepare: withCredential, one: issue, other: issue, answers: ['201, 201'] }));
test('two revocations of a credential', () =>
  race({ prepare: withCredential, one: revokeOne, answers: ['200, 200'] }));
test('P4 the revocation of a credential, and that of its grant', () =>
  race({ prepare: withCredential, one: revokeOne, other: revokeGrant, answers: ['200, 204'] }));
