import { afterAll, describe, expect, test } from 'vitest';
import { deleteForgotten } from '../../src/features/accounts/domains/manage.ts';
import { checkDomains } from '../../src/features/accounts/domains/verify.ts';
import { endGraces } from '../../src/features/extras/billing/receive.ts';
import { expireDueRequests } from '../../src/features/grants/authorization/expire.ts';
import { announceExpiredGrants } from '../../src/features/grants/grants/expire.ts';
import { deleteOldDeliveries } from '../../src/features/record/webhooks/deliver.ts';
import { claimSharesAcrossTenants } from '../../src/features/record/webhooks/deliveries.repo.ts';
import { txtReader } from '../../src/platform/egress/dns.ts';
import { expiryOfAnswers } from '../../src/platform/http/idempotency/answers.ts';
import { ownDomain } from '../app/asserting.ts';
import { authenticator } from '../app/authenticator.ts';
import { askToConnect, browserOf } from '../app/connecting.ts';
import { registerWebhook } from '../app/deliveries.ts';
import { tokenIn } from '../app/every-caller.ts';
import {
  authorize,
  entriesOf,
  grantTo,
  openSession,
  partsOf,
  refusalOf,
  registerAgent,
  startSandbox,
} from '../app/flow.ts';
import { instants, type Side, whatItSays } from '../app/instants.ts';
import { startNameServer } from '../app/name-server.ts';
import { onThisMachine, proxied, through } from '../app/proxy.ts';
import { NEW_AGENT, send } from '../app/repeating.ts';
import { addSaml, beginSaml, postSaml, responseOf, signed } from '../app/saml-provider.ts';
import type { Developer, Service } from '../app/start-app.ts';
import { standInForStripe, subscribe } from '../app/stripe.ts';
import * as vault from '../app/vault.ts';

const [stripe, dns] = [await standInForStripe(), await startNameServer()];
afterAll(() => {
  stripe.close();
  return dns.close();
});
const { atTheEnd } = instants({
  env: { PLAN_FREE_ACTIVE_GRANTS: '2', DNS_RESOLVERS: dns.address, ...onThisMachine, ...stripe.env },
});

async function withCode(acme: Developer) {
  const { agentId } = await registerAgent(acme);
  const { code } = await authorize(acme, agentId);
  return { agentId, code: String(code) };
}
const exchange = ({ acme }: Side, body: Awaited<ReturnType<typeof withCode>>) =>
  acme('POST', '/v1/token', body).then(whatItSays);

/** A code, when other grants have all places of the plan. */
async function withFullPlan(acme: Developer) {
  const last = await withCode(acme);
  for (const body of [await withCode(acme), await withCode(acme)]) await acme('POST', '/v1/token', body);
  return last;
}

describe('a code', () => {
  const code = { column: 'authRequests.codeExpiresAt', prepare: withCode, act: exchange } as const;
  const ended = '400 INVALID_GRANT code_expired';

  test('ends', () => atTheEnd({ ...code, before: '201', ended }));
  test('ends while it is redeemed', () =>
    atTheEnd({ ...code, after: 'find_redeemable', before: '201', ended }));
  test('is withdrawn with its agent until it has ended', () =>
    atTheEnd({
      ...code,
      async act({ acme }, { agentId }) {
        await acme('DELETE', `/v1/agents/${agentId}`);
        return `${(await entriesOf(acme, 'authorization.cancelled')).length} withdrawn`;
      },
      before: '1 withdrawn',
      ended: '0 withdrawn',
    }));
});

test('a SCIM token ends', () =>
  atTheEnd({
    column: 'scimTokens.expiresAt',
    async prepare(acme) {
      const body = { label: 'Okta', expiresAt: '2027-01-01T00:00:00Z' };
      return (await acme('POST', '/v1/scim/tokens', body)).json();
    },
    act: async ({ service }, { token }) =>
      String((await service.calling(String(token))('GET', '/scim/v2/Users')).statusCode),
    before: '200',
    ended: '401',
  }));

describe('a request', () => {
  const request = {
    column: 'authRequests.expiresAt',
    async prepare(acme: Developer) {
      const { agentId } = await registerAgent(acme);
      const { id } = await authorize(acme, agentId, { autoApprove: false });
      return { agentId, id: String(id) };
    },
    act: ({ acme }: Side, { id }: { id: string }) =>
      acme('POST', `/v1/authorize/${id}/approve`, {}).then(whatItSays),
    before: '200',
    ended: '404 NOT_FOUND',
  } as const;

  test('ends', () => atTheEnd(request));
  test('ends while it is decided', () => atTheEnd({ ...request, after: 'Select auth_requests' }));
  test('is withdrawn with its agent until it has ended', () =>
    atTheEnd({
      ...request,
      async act({ acme }, { agentId }) {
        await acme('DELETE', `/v1/agents/${agentId}`);
        return `${(await entriesOf(acme, 'authorization.cancelled')).length} withdrawn`;
      },
      before: '1 withdrawn',
      ended: '0 withdrawn',
    }));
  const record = {
    ...request,
    async act({ service, acme }: Side) {
      await expireDueRequests(service);
      return `${(await entriesOf(acme, 'authorization.expired')).length} recorded`;
    },
    before: '0 recorded',
    ended: '1 recorded',
  };
  test('is recorded as expired', () => atTheEnd(record));
});

describe('a grant', () => {
  const grant = { column: 'grants.expiresAt', prepare: (acme: Developer) => grantTo(acme) } as const;
  type Held = Awaited<ReturnType<typeof grant.prepare>>;

  const refreshed = {
    ...grant,
    act: ({ acme }: Side, { refreshToken, agentId }: Held) =>
      acme('POST', '/v1/token/refresh', { refreshToken, agentId }).then(whatItSays),
    before: '201',
  };
  test('is refreshed until it ends', () =>
    atTheEnd({ ...refreshed, ended: '400 INVALID_GRANT grant_expired' }));
  test('ends while it is refreshed', () =>
    atTheEnd({ ...refreshed, after: 'find_refreshable', ended: '400 INVALID_GRANT grant_revoked' }));
  test('is refreshed until its refresh token ends', () =>
    atTheEnd({
      ...refreshed,
      column: 'refreshTokens.expiresAt',
      ended: '400 INVALID_GRANT refresh_expired',
    }));

  const delegated = {
    ...grant,
    act: ({ acme }: Side, { grantToken, agentId }: Held) =>
      acme('POST', '/v1/grants/delegate', {
        parentGrantToken: grantToken,
        subAgentId: agentId,
        scopes: ['calendar:read'],
      }).then(whatItSays),
    before: '201',
    ended: '400 INVALID_GRANT parent_expired',
  };
  test('is delegated until it ends', () => atTheEnd(delegated));
  test('ends while it is delegated', () => atTheEnd({ ...delegated, after: 'find_delegable' }));

  test('keeps the time of its last use for a minute', () =>
    atTheEnd({
      ...grant,
      column: 'grants.lastUsedAt',
      agoSeconds: 60,
      async act({ service: { db, clock }, acme }, { grantToken, grantId }) {
        await acme('POST', '/v1/tokens/verify', { token: grantToken });
        const { lastUsedAt } = await db
          .selectFrom('grants')
          .select('lastUsedAt')
          .where('developerId', '=', acme.developerId)
          .where('id', '=', grantId)
          .executeTakeFirstOrThrow();
        return lastUsedAt?.getTime() === clock().getTime() ? 'written' : 'kept';
      },
      before: 'kept',
      ended: 'written',
    }));

  test('verifies until it ends', () =>
    atTheEnd({
      ...grant,
      act: async ({ acme }, { grantToken }) =>
        (await acme('POST', '/v1/tokens/verify', { token: grantToken })).json().reason ?? 'valid',
      before: 'valid',
      ended: 'grant_inactive',
    }));
  test('lets calls of tools happen until it ends', () =>
    atTheEnd({
      ...grant,
      async prepare(acme) {
        const manifest = { $schema: 'x', connector: 'mail', version: '1', tools: { list: 'read' } };
        await acme('PUT', '/v1/manifests/mail', manifest);
        return grantTo(acme, { scopes: ['tool:mail:read'] });
      },
      async act({ acme }, { grantToken }) {
        const call = { grantToken, connector: 'mail', tool: 'list', arguments: {} };
        const { allowed, reasonCode } = (await acme('POST', '/v1/enforce', call)).json();
        return allowed ? 'allowed' : String(reasonCode);
      },
      before: 'allowed',
      ended: 'token_invalid',
    }));
  test('is shown as active until it ends', () =>
    atTheEnd({
      ...grant,
      act: async ({ acme }, { grantId }) => (await acme('GET', `/v1/grants/${grantId}`)).json().status,
      before: 'active',
      ended: 'expired',
    }));
  test.each(['active', 'expired'])('is listed by status: %s', (status) =>
    atTheEnd({
      ...grant,
      act: async ({ acme }) =>
        `${(await acme('GET', `/v1/grants?status=${status}`)).json().grants.length} listed`,
      before: status === 'active' ? '1 listed' : '0 listed',
      ended: status === 'active' ? '0 listed' : '1 listed',
    }),
  );
  test('takes a place of the plan until it ends', () =>
    atTheEnd({
      ...grant,
      prepare: withFullPlan,
      act: exchange,
      before: '402 PLAN_LIMIT_EXCEEDED',
      ended: '201',
    }));
  test('lets its person have a session until it ends', () =>
    atTheEnd({
      ...grant,
      act: ({ acme }) => openSession(acme).then(whatItSays),
      before: '201',
      ended: '404 NOT_FOUND',
    }));
  test('is announced as expired', () =>
    atTheEnd({
      ...grant,
      async act({ service, acme }) {
        await announceExpiredGrants(service);
        const rows = await service.db
          .selectFrom('outboxEvents')
          .select('type')
          .where('developerId', '=', acme.developerId)
          .where('type', '=', 'grant.expired')
          .execute();
        return `${rows.length} announced`;
      },
      before: '0 announced',
      ended: '1 announced',
    }));
  test('gives its place back when it is revoked before its end, as an exact count leaves it out afterwards', () =>
    atTheEnd({
      ...grant,
      async act({ service, acme }, { grantId }) {
        await acme('DELETE', `/v1/grants/${grantId}`);
        const { used } = await service.db
          .selectFrom('quotaCounters')
          .select('used')
          .where('developerId', '=', acme.developerId)
          .where('resource', '=', 'active_grants')
          .executeTakeFirstOrThrow();
        return `${used} used`;
      },
      before: '0 used',
      ended: '1 used',
    }));
});

describe('the grace after a first use', () => {
  test.each([
    ['a code', 'grants.issuedAt', (side: Side, { code, agentId }: Used) => exchange(side, { code, agentId })],
    [
      'a refresh token',
      'refreshTokens.spentAt',
      ({ acme }: Side, { refreshToken, agentId }: Used) =>
        acme('POST', '/v1/token/refresh', { refreshToken, agentId }).then(whatItSays),
    ],
  ] as const)('includes its last instant, for %s', (_what, column, again) =>
    atTheEnd({
      column,
      agoSeconds: 30.001, // longer than the grace, by an instant
      prepare: usedBoth,
      async act(side, held) {
        await again(side, held);
        const [{ status } = { status: '' }] = await entriesOf(side.acme, 'token.reuse_detected');
        return status;
      },
      before: 'blocked',
      ended: 'success',
    }),
  );
  type Used = Awaited<ReturnType<typeof usedBoth>>;
});

/** A code and a refresh token that were used once. */
async function usedBoth(acme: Developer) {
  const { agentId, code } = await withCode(acme);
  const { refreshToken } = (await acme('POST', '/v1/token', { agentId, code })).json();
  await acme('POST', '/v1/token/refresh', { agentId, refreshToken });
  return { agentId, code, refreshToken: String(refreshToken) };
}

describe('an API key', () => {
  const key = {
    column: 'apiKeys.expiresAt',
    async prepare(acme: Developer, service: Service) {
      const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'short', expiresIn: '1h' })).json();
      return { call: service.calling(apiKey), row: String(keyId) };
    },
    ended: '401 UNAUTHORIZED',
  } as const;
  type Held = Awaited<ReturnType<typeof key.prepare>>;

  test('ends', () =>
    atTheEnd({ ...key, act: (_, { call }: Held) => call('GET', '/v1/me').then(whatItSays), before: '200' }));
  test('ends while it is rotated', () =>
    atTheEnd({
      ...key,
      after: 'use_key',
      act: (_, { call }: Held) => call('POST', '/v1/keys/rotate', { graceSeconds: 60 }).then(whatItSays),
      before: '200',
    }));
});

describe('a person’s session', () => {
  const session = {
    column: 'principalSessions.expiresAt',
    async prepare(acme: Developer, service: Service) {
      const { grantId } = await grantTo(acme);
      return { grantId, call: service.calling((await openSession(acme)).json().sessionToken) };
    },
    ended: '401 UNAUTHORIZED',
  } as const;

  test.each([
    ['GET', '/v1/principal/grants', '200'],
    ['GET', '/v1/principal/audit', '200'],
    ['DELETE', '/v1/principal/grants', '200'],
    ['DELETE', '/v1/principal/session', '204'],
  ] as const)('ends: %s %s', (method, path, before) =>
    atTheEnd({ ...session, act: (_, { call }) => call(method, path).then(whatItSays), before }),
  );
  test('is swept by the next one when it has ended', () =>
    atTheEnd({
      ...session,
      async act({ service, acme }) {
        await openSession(acme);
        const rows = await service.db
          .selectFrom('principalSessions')
          .select('id')
          .where('developerId', '=', acme.developerId)
          .execute();
        return `${rows.length} kept`;
      },
      before: '2 kept',
      ended: '1 kept',
    }));
});

describe('a challenge of a passkey', () => {
  const challenge = {
    column: 'passkeyChallenges.expiresAt',
    async prepare(acme: Developer) {
      const wish = { principalId: 'user_42' };
      const { challengeId, publicKey } = (await acme('POST', '/v1/webauthn/register/options', wish)).json();
      return { challengeId, response: authenticator().create(publicKey) };
    },
    act: ({ acme }: Side, body: object) =>
      acme('POST', '/v1/webauthn/register/verify', body).then(whatItSays),
    before: '201',
    ended: '400 CHALLENGE_INVALID',
  } as const;

  test('W1 ends', () => atTheEnd(challenge));
});

describe('a mailed link', () => {
  const link = {
    column: 'emailVerifications.expiresAt',
    async prepare(acme: Developer, { mails }: Service) {
      await acme('POST', '/v1/signup/verify', { email: `${acme.developerId.toLowerCase()}@acme.test` });
      return tokenIn(mails);
    },
    act: ({ service: { app } }: Side, token: string) =>
      app.inject({ method: 'POST', url: `/v1/signup/verify/${token}` }).then(whatItSays),
    before: '200',
    ended: '400 TOKEN_EXPIRED',
  } as const;

  test('ends', () => atTheEnd(link));
  test('ends while it is used', () => atTheEnd({ ...link, after: 'Select email_verification_index' }));
  test('is shown until it ends', () =>
    atTheEnd({
      ...link,
      act: ({ service: { app } }, token) =>
        app
          .inject({ url: `/v1/signup/verify/${token}`, headers: { accept: 'application/json' } })
          .then(whatItSays),
    }));
});

test('a chain is signed again a minute after its last checkpoint', () =>
  atTheEnd({
    column: 'auditCheckpoints.signedAt',
    agoSeconds: 60,
    async prepare(acme) {
      await acme('GET', '/v1/audit/head');
      await registerAgent(acme);
    },
    async act({ service, acme }) {
      await acme('GET', '/v1/audit/head');
      return rowsOf(service, acme, 'auditCheckpoints');
    },
    before: '1 rows',
    ended: '2 rows',
  }));

async function rowsOf(
  { db }: Service,
  { developerId }: Developer,
  table: 'auditCheckpoints' | 'idempotentAnswers' | 'webhookDeliveries',
) {
  const { rows } = await db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<string>().as('rows'))
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
  return `${rows} rows`;
}

test('an answer is deleted when it ends', () =>
  atTheEnd({
    column: 'idempotentAnswers.expiresAt',
    prepare: (acme, service) => send(service, { apiKey: acme.apiKey, body: NEW_AGENT }),
    async act({ service, acme }) {
      await expiryOfAnswers(service).run(AbortSignal.timeout(60_000));
      return rowsOf(service, acme, 'idempotentAnswers');
    },
    before: '1 rows',
    ended: '0 rows',
  }));

test('an answer is repeated until it ends', () =>
  atTheEnd({
    column: 'idempotentAnswers.expiresAt',
    prepare: (acme, service) => send(service, { apiKey: acme.apiKey, body: NEW_AGENT }),
    async act({ service, acme }) {
      const { headers } = await send(service, { apiKey: acme.apiKey, body: NEW_AGENT });
      return headers['idempotency-replayed'] ? 'repeated' : 'done again';
    },
    before: 'repeated',
    ended: 'done again',
  }));

describe('a webhook', () => {
  const HOOK = 'https://hooks.example.org/in';
  const prepare = async (acme: Developer) => {
    const { webhookId } = await registerWebhook(acme, HOOK, ['agent.created']);
    await acme('POST', `/v1/webhooks/${webhookId}/rotate-secret`, {});
    await registerAgent(acme);
    return { webhookId };
  };
  const claimed = async ({ service: { db, clock }, acme: { developerId } }: Side) => {
    const share = { developerId, after: '', places: 5 };
    return `${(await claimSharesAcrossTenants(db, clock(), false, [share])).length + (await claimSharesAcrossTenants(db, clock(), true, [share])).length} leased`;
  };

  test('shows its former secret’s end until then', () =>
    atTheEnd({
      column: 'webhookEndpoints.previousSecretExpiresAt',
      prepare,
      act: async ({ acme }, { webhookId }) =>
        (await acme('GET', `/v1/webhooks/${webhookId}`)).json().previousSecretExpiresAt ? 'shown' : 'gone',
      before: 'shown',
      ended: 'gone',
    }));
  test('has its deliveries for 30 days, the last instant included', () =>
    atTheEnd({
      column: 'webhookDeliveries.createdAt',
      agoSeconds: 30 * 86_400 + 0.001,
      prepare,
      async act({ service, acme }) {
        await deleteOldDeliveries(service, AbortSignal.timeout(60_000));
        return rowsOf(service, acme, 'webhookDeliveries');
      },
      before: '1 rows',
      ended: '0 rows',
    }));
  test('gets a delivery when it is due', () =>
    atTheEnd({
      column: 'webhookDeliveries.nextAttemptAt',
      prepare,
      act: claimed,
      before: '0 leased',
      ended: '1 leased',
    }));
  test('gets a delivery again when its lease ends', () =>
    atTheEnd({
      column: 'webhookDeliveries.leasedUntil',
      async prepare(acme, { db }) {
        const held = await prepare(acme);
        // An endpoint that has answered may have several leases, so their number does not hide the time of this one.
        await db
          .updateTable('webhookEndpoints')
          .set({ lastDeliveryAt: new Date(0) })
          .where('developerId', '=', acme.developerId)
          .execute();
        return held;
      },
      act: claimed,
      before: '0 leased',
      ended: '1 leased',
    }));
});

describe('a budget', () => {
  const budget = {
    column: 'grants.expiresAt',
    async prepare(acme: Developer) {
      const { grantId } = await grantTo(acme);
      await acme('POST', '/v1/budget/allocate', { grantId, initialBudget: '10' });
      return { grantId, unfunded: (await grantTo(acme)).grantId };
    },
  } as const;
  type Funded = Awaited<ReturnType<typeof budget.prepare>>;
  const debited = {
    ...budget,
    act: ({ acme }: Side, { grantId }: Funded) =>
      acme('POST', '/v1/budget/debit', { grantId, amount: '1' }).then(whatItSays),
    before: '200',
    ended: '409 GRANT_INACTIVE',
  };

  test('is debited until its grant ends', () => atTheEnd(debited));
  test('ends with its grant while it is debited', () => atTheEnd({ ...debited, after: 'budget_chain' }));
  test('is made until the grant ends', () =>
    atTheEnd({
      ...debited,
      act: ({ acme }, { unfunded }) =>
        acme('POST', '/v1/budget/allocate', { grantId: unfunded, initialBudget: '1' }).then(whatItSays),
      before: '201',
    }));
  test('is shown as active until its grant ends', () =>
    atTheEnd({
      ...budget,
      act: async ({ acme }, { grantId }) =>
        (await acme('GET', `/v1/budget/balance/${grantId}`)).json().status,
      before: 'active',
      ended: 'closed',
    }));
});

describe('a credential', () => {
  const credential = {
    async prepare(acme: Developer) {
      await vault.storeCredential(acme, {
        tokenExpiresAt: '2030-01-01T00:00:00Z',
        refreshToken: 'upstream-refresh-1',
        refresh: { tokenEndpoint: 'http://127.0.0.1:1/token', clientId: 'behest' }, // nobody answers
      });
      return grantTo(acme, { scopes: ['github:read'] });
    },
    act: ({ service }: Side, { grantToken }: { grantToken: string }) =>
      vault.exchange(service, grantToken).then(whatItSays),
    before: '200',
  } as const;

  test('is exchanged until the grant ends', () =>
    atTheEnd({ ...credential, column: 'grants.expiresAt', ended: '401 UNAUTHORIZED' }));
  test('is not exchanged when the grant ends meanwhile', () =>
    atTheEnd({
      ...credential,
      column: 'grants.expiresAt',
      after: 'find_exchangeable',
      ended: '401 UNAUTHORIZED',
    }));
  test('is given until it ends when its upstream does not answer', () =>
    atTheEnd({
      ...credential,
      column: 'vaultCredentials.tokenExpiresAt',
      ended: '502 UPSTREAM_ERROR refresh_failed',
    }));
});

describe('a link to connect an account', () => {
  const link = {
    column: 'connectSessions.expiresAt',
    async prepare(acme: Developer) {
      await acme('POST', '/v1/vault/providers', {
        service: 'files',
        name: 'Files',
        kind: 'oauth2',
        authorizationEndpoint: 'https://files.test/authorize',
        tokenEndpoint: 'https://files.test/token',
        clientId: 'behest',
        clientSecret: 'secret of the client',
      });
      return askToConnect(acme);
    },
    before: '200',
    ended: '410 GONE',
  } as const;

  test('ends', () =>
    atTheEnd({ ...link, act: ({ service }, session) => browserOf(service).open(session).then(whatItSays) }));
  test('ends while the page is open', () =>
    atTheEnd({
      ...link,
      async prepare(acme, service) {
        const session = await link.prepare(acme);
        const browser = browserOf(service);
        await browser.open(session);
        return { id: session.id, browser };
      },
      act: ({ service }, { id, browser }) => browser.at(service).start(id).then(whatItSays),
    }));
  test('is cancelled until it has ended', () =>
    atTheEnd({
      ...link,
      act: ({ acme }, { id }) => acme('DELETE', `/v1/vault/connect-sessions/${id}`).then(whatItSays),
      before: '204',
    }));
});

describe('a call through the vault proxy', () => {
  const call = {
    prepare: (acme: Developer) => proxied(acme),
    act: ({ service }: Side, { grantToken }: { grantToken: string }) =>
      through(service, grantToken, '/repos/a').then(whatItSays),
    before: '200',
    ended: '401 UNAUTHORIZED',
  } as const;

  test('is sent until the grant ends', () => atTheEnd({ ...call, column: 'grants.expiresAt' }));
  test('is sent until the token ends, which says so itself', async () => {
    const { acme, service, advance, clock } = await startSandbox({ env: onThisMachine });
    const { grantToken, receiver } = await proxied(acme);
    const left = Number(partsOf(grantToken).payload.exp) * 1000 - clock().getTime();

    advance((left - 1) / 1000);
    expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(200);
    advance(0.001);
    expect(refusalOf(await through(service, grantToken, '/repos/a'))).toBe('401 UNAUTHORIZED');
    expect(receiver.received).toHaveLength(1);
  });
  test.each(['use_grant_token', 'find_proxy_profile', 'find_exchangeable'])(
    'is not sent when its grant ends after %s',
    (after) => atTheEnd({ ...call, column: 'grants.expiresAt', after }),
  );
});

describe('a plan', () => {
  const grace = {
    column: 'subscriptions.graceEndsAt',
    async prepare(acme: Developer, service: Service) {
      const { tell } = await subscribe(service, acme, { stripe });
      await tell('customer.subscription.created');
      await tell('invoice.payment_failed', { status: 'past_due' });
      return { tell };
    },
  } as const;
  const planOf = async (acme: Developer) =>
    (await acme('GET', '/v1/billing/subscription')).json().effectivePlan;

  test('stays until its grace ends', () =>
    atTheEnd({
      ...grace,
      async act({ service, acme }) {
        await endGraces({ ...service, publishChange: async () => {} });
        return planOf(acme);
      },
      before: 'pro',
      ended: 'free',
    }));
  test('is not prolonged by another failed payment at the end of its grace', () =>
    atTheEnd({
      ...grace,
      async act({ acme }, { tell }) {
        await tell('invoice.payment_failed');
        return planOf(acme);
      },
      before: 'pro',
      ended: 'free',
    }));
});

describe('a domain', () => {
  const HOUR = 3600;
  const readTxt = txtReader([dns.address]);
  let made = 0;
  const verify = async (acme: Developer) => {
    made += 1;
    const domain = `acme-${made}.test`;
    const added = (await acme('POST', '/v1/domains', { domain })).json();
    const record = `_behest-challenge.${domain}`;
    dns.records.set(record, [added.verificationToken]);
    await acme('POST', `/v1/domains/${added.id}/verify`, {});
    return { id: String(added.id), record };
  };
  const checked = async ({ service, acme }: Side, { id }: { id: string }) => {
    await checkDomains({ ...service, readTxt });
    const { status, lastCheckedAt } = (await acme('GET', `/v1/domains/${id}`)).json();
    return { status, isChecked: lastCheckedAt === service.clock().toISOString() };
  };

  test('is looked at again a day after the last time', () =>
    atTheEnd({
      column: 'customDomains.lastCheckedAt',
      agoSeconds: 24 * HOUR,
      prepare: verify,
      act: async (side, held) => String((await checked(side, held)).isChecked),
      before: 'false',
      ended: 'true',
    }));
  test('lapses when its record was missing for 72 hours', () =>
    atTheEnd({
      column: 'customDomains.missingSince',
      agoSeconds: 72 * HOUR,
      async prepare(acme, { db, clock }) {
        const held = await verify(acme);
        dns.records.delete(held.record);
        const yesterday = new Date(clock().getTime() - 24 * HOUR * 1000);
        await db
          .updateTable('customDomains')
          .set({ lastCheckedAt: yesterday })
          .where('developerId', '=', acme.developerId)
          .execute();
        return held;
      },
      act: async (side, held) => (await checked(side, held)).status,
      before: 'verified',
      ended: 'lapsed',
    }));
  test('is kept for 30 days without a proof', () =>
    atTheEnd({
      column: 'customDomains.createdAt',
      agoSeconds: 30 * 24 * HOUR,
      prepare: async (acme) => (await acme('POST', '/v1/domains', { domain: 'acme.test' })).json(),
      async act({ service, acme }, { id }) {
        await deleteForgotten(service);
        return whatItSays(await acme('GET', `/v1/domains/${id}`));
      },
      before: '200',
      ended: '404 NOT_FOUND',
    }));
});

describe('a session of single sign-on', () => {
  const session = {
    column: 'ssoSessions.expiresAt',
    async prepare(acme: Developer, service: Service) {
      await ownDomain(service, acme, 'acme.test');
      await addSaml(acme, { jitProvisioning: true, domains: ['acme.test'] });
      const { relayState, requestId } = await beginSaml(service, acme.developerId);
      await postSaml(service, signed(responseOf(service.clock(), { inResponseTo: requestId })), relayState);
      await grantTo(acme, { principalId: 'ada@acme.test' });
      await acme('POST', '/v1/sso/enforce', { enforce: true });
    },
  } as const;

  test('ends', () =>
    atTheEnd({
      ...session,
      act: async ({ acme }) => `${(await acme('GET', '/v1/sso/sessions')).json().sessions.length} live`,
      before: '1 live',
      ended: '0 live',
    }));
  test('ends for the pages of its principal', () =>
    atTheEnd({
      ...session,
      act: ({ acme }) => openSession(acme, 'ada@acme.test').then(whatItSays),
      before: '201',
      ended: '403 SSO_REQUIRED',
    }));
});
