import { describe, expect, test } from 'vitest';
import { listedTo } from '../../../../test/app/events.ts';
import { actionsOf, grantTo } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { follow } from '../../../../test/app/streams.ts';
import { announceExpiredGrants } from './expire.ts';
import { expiryOfGrants } from './grants.feature.ts';

async function withGrant() {
  const service = await startListening({ env: { PLAN_FREE_OPEN_REQUESTS: 'unlimited' } });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const grant = await grantTo(acme, {
    expiresIn: '1h',
    purpose: 'payments.payout',
    scopes: ['tool:stripe:write'],
  });
  const told = () => listedTo(acme, 'types=grant.expired');
  return { ...service, acme, grant, told };
}

describe('an expired grant', () => {
  test('is announced once, to streams and webhooks, and is no act', async () => {
    const { acme, grant, told, advance, url, db, clock } = await withGrant();
    const { apiKey } = acme;
    const hook = { url: 'https://hooks.test/', events: ['grant.*'] };
    const { id } = (await acme('POST', '/v1/webhooks', hook)).json();
    const stream = await follow({ url, apiKey, query: 'types=grant.expired' });
    const before = await actionsOf(acme);

    advance(3599);
    await announceExpiredGrants({ db, clock });
    expect(await told()).toEqual([]);
    advance(1);
    await Promise.all([announceExpiredGrants({ db, clock }), announceExpiredGrants({ db, clock })]);
    await announceExpiredGrants({ db, clock });

    const [event, ...more] = await told();
    expect(more).toEqual([]);
    expect(event).toMatchObject({ type: 'grant.expired', developerId: acme.developerId, sandbox: true });
    expect(event?.data).toEqual({
      grantId: grant.grantId,
      agentId: grant.agentId,
      principalId: 'user_42',
      purpose: 'payments.payout',
      expiresAt: clock().toISOString(),
    });
    expect(await stream.first(1)).toEqual([event?.id]);
    const { deliveries } = (await acme('GET', `/v1/webhooks/${id}/deliveries`)).json();
    expect(deliveries).toMatchObject([{ eventId: event?.id, eventType: 'grant.expired' }]);
    expect(await actionsOf(acme)).toEqual(before);
  });

  test('is not announced when it was revoked in time', async () => {
    const { acme, grant, told, advance, db, clock } = await withGrant();
    await acme('DELETE', `/v1/grants/${grant.grantId}`);
    advance(3600);

    await announceExpiredGrants({ db, clock });

    expect(await told()).toEqual([]);
  });

  test('can be revoked, and its tree with it', async () => {
    const { acme, grant, advance, db, clock } = await withGrant();
    advance(3600);
    await announceExpiredGrants({ db, clock });

    expect((await acme('DELETE', `/v1/grants/${grant.grantId}`)).statusCode).toBe(204);
    expect((await acme('GET', `/v1/grants/${grant.grantId}`)).json().status).toBe('revoked');
  });
});

test('the job goes on, batch by batch, until every expiry is announced', async () => {
  const { acme, told, advance, db, clock } = await withGrant();
  await Promise.all(Array.from({ length: 205 }, () => grantTo(acme, { expiresIn: '1h' })));
  advance(3600);

  await expiryOfGrants({ db, clock }).run(new AbortController().signal);

  expect(await told()).toHaveLength(206);
});
