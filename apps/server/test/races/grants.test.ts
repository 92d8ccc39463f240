import { test } from 'vitest';
import { announceExpiredGrants } from '../../src/features/grants/grants/expire.ts';
import { authorize, endNow, grantTo, openSession, pkce, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { send } from '../app/repeating.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

async function withCode(acme: Developer) {
  const { agentId } = await registerAgent(acme);
  const { code } = await authorize(acme, agentId);
  return { agentId, code: String(code) };
}

const withGrant = (acme: Developer) => grantTo(acme);

/** A person’s session, and a code for another grant of the same agent. */
async function withSession(acme: Developer) {
  const held = await grantTo(acme);
  const { code } = await authorize(acme, held.agentId);
  return { ...held, code: String(code), session: String((await openSession(acme)).json().sessionToken) };
}

type Coded = Awaited<ReturnType<typeof withCode>>;
type Granted = Awaited<ReturnType<typeof withGrant>>;
type InSession = Awaited<ReturnType<typeof withSession>>;

const exchange = ({ acme }: Side, { code, agentId }: Coded) => acme('POST', '/v1/token', { code, agentId });
const refresh = ({ acme }: Side, { refreshToken, agentId }: Granted) =>
  acme('POST', '/v1/token/refresh', { refreshToken, agentId });
const delegate = (
  { acme }: Pick<Side, 'acme'>,
  { grantToken, agentId }: Pick<Granted, 'grantToken' | 'agentId'>,
) =>
  acme('POST', '/v1/grants/delegate', {
    parentGrantToken: grantToken,
    subAgentId: agentId,
    scopes: ['calendar:read'],
  });
/** The same in a larger transaction, which is still open when a rival comes. */
const delegateWithKey = ({ service, acme }: Side, { grantToken, agentId }: Granted) =>
  send(service, {
    apiKey: acme.apiKey,
    url: '/v1/grants/delegate',
    body: { parentGrantToken: grantToken, subAgentId: agentId, scopes: ['calendar:read'] },
  });
const refreshWithKey = ({ service, acme }: Side, { refreshToken, agentId }: Granted) =>
  send(service, { apiKey: acme.apiKey, url: '/v1/token/refresh', body: { refreshToken, agentId } });
const verify = ({ acme }: Side, { grantToken }: Granted) =>
  acme('POST', '/v1/tokens/verify', { token: grantToken });
const revokeToken = ({ acme }: Side, { grantToken }: Granted) =>
  acme('POST', '/v1/tokens/revoke', { token: grantToken });
const revokeGrant = ({ acme }: Side, { grantId }: Granted) => acme('DELETE', `/v1/grants/${grantId}`);
const revokeAgent = ({ acme }: Side, { agentId }: Coded | Granted) => acme('DELETE', `/v1/agents/${agentId}`);
const suspendAgent = ({ acme }: Side, { agentId }: Coded | Granted) =>
  acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
const endAll = ({ service }: Side, { session }: Pick<InSession, 'session'>) =>
  service.calling(session)('DELETE', '/v1/principal/grants');
const endOwn = ({ service }: Side, { session, grantId }: InSession) =>
  service.calling(session)('DELETE', `/v1/principal/grants/${grantId}`);

const { asked: challenge } = pkce();

/** A delegated grant's token, and the id of the root grant. */
async function withChild(acme: Developer): Promise<Granted> {
  const root = await withGrant(acme);
  const child = (await delegate({ acme }, root)).json();
  return { ...root, grantToken: String(child.grantToken) };
}

const EXCHANGED = ['201, 400 INVALID_GRANT code_used', '400 INVALID_GRANT code_used, 201'];
const REFRESHED = ['201, 400 INVALID_GRANT refresh_reused', '400 INVALID_GRANT refresh_reused, 201'];
const UNLESS = (reason: string) => [`201, 204`, `400 INVALID_GRANT ${reason}, 204`];

test('O2 two exchanges of a code', () => race({ prepare: withCode, one: exchange, answers: EXCHANGED }));
test('R2 two uses of a refresh token', () => race({ prepare: withGrant, one: refresh, answers: REFRESHED }));
test('two revocations of a token', () =>
  race({
    prepare: withGrant,
    one: revokeToken,
    answers: ['204, 204'],
  }));
test('two revocations of a grant', () =>
  race({
    prepare: withGrant,
    one: revokeGrant,
    answers: ['204, 204'],
  }));
test('two ends of everything of a person', () =>
  race({
    prepare: withSession,
    one: endAll,
    answers: ['200, 200'],
  }));
test('two wrong verifiers for a code', () =>
  race({
    async prepare(acme) {
      const { agentId } = await registerAgent(acme);
      return { agentId, code: (await authorize(acme, agentId, challenge)).code };
    },
    one: ({ acme }, body) => acme('POST', '/v1/token', { ...body, codeVerifier: pkce().codeVerifier }),
    answers: ['400 INVALID_GRANT pkce_mismatch, 400 INVALID_GRANT pkce_mismatch'],
  }));

test('the right verifier for a code, and the wrong one that voids it', () =>
  race({
    async prepare(acme) {
      const { agentId } = await registerAgent(acme);
      const own = pkce();
      const { code } = await authorize(acme, agentId, own.asked);
      for (let wrong = 1; wrong < 5; wrong += 1)
        await acme('POST', '/v1/token', { agentId, code, codeVerifier: pkce().codeVerifier });
      return { agentId, code, codeVerifier: own.codeVerifier };
    },
    one: ({ acme }, body) => acme('POST', '/v1/token', body),
    other: ({ acme }, body) => acme('POST', '/v1/token', { ...body, codeVerifier: pkce().codeVerifier }),
    answers: [
      '201, 400 INVALID_GRANT pkce_mismatch',
      '400 INVALID_GRANT code_unknown, 400 INVALID_GRANT pkce_mismatch',
    ],
  }));

test('R4 a refresh and the revocation of its grant', () =>
  race({
    prepare: withGrant,
    one: refresh,
    other: revokeGrant,
    answers: UNLESS('grant_revoked'),
  }));
test('R4 a delegation and the revocation of its grant', () =>
  race({
    prepare: withGrant,
    one: delegate,
    other: revokeGrant,
    answers: UNLESS('parent_revoked'),
  }));
test('R4 a delegation from a delegated grant, and the revocation of the root', () =>
  race({
    prepare: withChild,
    one: delegate,
    other: revokeGrant,
    answers: UNLESS('parent_revoked'),
  }));
test('O16 a delegation and the end of the agent that gets it', () =>
  race({
    async prepare(acme) {
      const held = await grantTo(acme);
      return { ...held, helper: (await registerAgent(acme, 'Helper')).agentId };
    },
    one: ({ acme }, { grantToken, helper }) => delegate({ acme }, { grantToken, agentId: helper }),
    other: ({ acme }, { helper }) => acme('DELETE', `/v1/agents/${helper}`),
    answers: ['201, 204', '404 NOT_FOUND, 204'],
    orElse: ['409 AGENT_INACTIVE, 204'],
  }));
test('a delegation and the revocation of its token', () =>
  race({
    prepare: withGrant,
    one: delegate,
    other: revokeToken,
    answers: UNLESS('parent_revoked'),
  }));
test('a revocation of a token and one of its grant', () =>
  race({
    prepare: withGrant,
    one: revokeToken,
    other: revokeGrant,
    answers: ['204, 204'],
  }));
test('O16 an exchange and the end of its agent', () =>
  race({
    prepare: withCode,
    one: exchange,
    other: revokeAgent,
    answers: ['201, 204', '400 INVALID_GRANT not_approved, 204'],
    orElse: ['400 INVALID_GRANT agent_inactive, 204'],
  }));
test('R4 a refresh and the end of its agent', () =>
  race({
    prepare: withGrant,
    one: refresh,
    other: revokeAgent,
    answers: UNLESS('grant_revoked'),
    orElse: ['400 INVALID_GRANT agent_inactive, 204'],
  }));
test('O16 a delegation and the end of its agent', () =>
  race({
    prepare: withGrant,
    one: delegate,
    other: revokeAgent,
    answers: UNLESS('parent_revoked'),
    orElse: ['400 INVALID_GRANT agent_inactive, 204', '409 AGENT_INACTIVE, 204'],
  }));
test('an exchange and the suspension of its agent', () =>
  race({
    prepare: withCode,
    one: exchange,
    other: suspendAgent,
    answers: ['201, 200', '400 INVALID_GRANT agent_inactive, 200'],
  }));
test('a refresh and the suspension of its agent', () =>
  race({
    prepare: withGrant,
    one: refresh,
    other: suspendAgent,
    answers: ['201, 200', '400 INVALID_GRANT agent_inactive, 200'],
  }));
test('R11 an exchange and the end of everything of a person', () =>
  race({
    prepare: withSession,
    one: exchange,
    other: endAll,
    answers: ['201, 200', '400 INVALID_GRANT not_approved, 200'],
  }));
test('R11 an exchange and the end of another grant by the person', () =>
  race({
    prepare: withSession,
    one: exchange,
    other: endOwn,
    answers: ['201, 204', '400 INVALID_GRANT not_approved, 204'],
  }));
test('R4 a delegation and the end of everything of a person', () =>
  race({
    prepare: withSession,
    one: delegate,
    other: endAll,
    answers: ['201, 200', '400 INVALID_GRANT parent_revoked, 200'],
  }));
test('a verification and the revocation of its grant', () =>
  race({
    prepare: withGrant,
    one: verify,
    other: revokeGrant,
    answers: ['200, 204'],
  }));
test('a request and the end of its agent', () =>
  race({
    prepare: withGrant,
    one: ({ acme }, { agentId }) =>
      acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['email:send'] }),
    other: revokeAgent,
    answers: ['201, 204', '404 NOT_FOUND, 204'],
  }));

test('two processes that announce the expiry of a grant', () =>
  race({
    async prepare(acme, service) {
      const held = await grantTo(acme);
      await endNow(service, 'grants', acme);
      return held;
    },
    one: async ({ service }) => void (await announceExpiredGrants(service)),
    answers: ['done, done'],
  }));
test('the announcement of an expiry, and the revocation of the grant', () =>
  race({
    async prepare(acme, service) {
      const held = await grantTo(acme);
      await endNow(service, 'grants', acme);
      return held;
    },
    one: async ({ service }) => void (await announceExpiredGrants(service)),
    other: revokeGrant,
    answers: ['done, 204'],
  }));

test('R4 a refresh with an idempotency key, and the revocation of its grant', () =>
  race({
    prepare: withGrant,
    one: refreshWithKey,
    other: revokeGrant,
    answers: UNLESS('grant_revoked'),
  }));
test('R4 a delegation with an idempotency key, and the revocation of its grant', () =>
  race({
    prepare: withGrant,
    one: delegateWithKey,
    other: revokeGrant,
    answers: UNLESS('parent_revoked'),
  }));
test('a delegation with an idempotency key, and the revocation of its token', () =>
  race({
    prepare: withGrant,
    one: delegateWithKey,
    other: revokeToken,
    answers: UNLESS('parent_revoked'),
  }));
test('R4 a delegation with an idempotency key, and the end of everything of a person', () =>
  race({
    prepare: withSession,
    one: delegateWithKey,
    other: endAll,
    answers: ['201, 200', '400 INVALID_GRANT parent_revoked, 200'],
  }));

test('two uses of a refresh token that was used long before', () =>
  race({
    async prepare(acme, { db, clock }) {
      const held = await withGrant(acme);
      await acme('POST', '/v1/token/refresh', { refreshToken: held.refreshToken, agentId: held.agentId });
      await db
        .updateTable('refreshTokens')
        .set({ spentAt: new Date(clock().getTime() - 60_000) })
        .where('developerId', '=', acme.developerId)
        .where('spentAt', 'is not', null)
        .execute();
      return held;
    },
    one: ({ acme }, { refreshToken, agentId }) =>
      acme('POST', '/v1/token/refresh', { refreshToken, agentId }),
    answers: [
      '400 INVALID_GRANT refresh_reused, 400 INVALID_GRANT grant_revoked',
      '400 INVALID_GRANT grant_revoked, 400 INVALID_GRANT refresh_reused',
    ],
    orElse: ['400 INVALID_GRANT refresh_reused, 400 INVALID_GRANT refresh_reused'],
  }));
