import { describe, expect, test } from 'vitest';
import { actionsOf, authorize, entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { expiryOfRequests } from './authorization.feature.ts';
import { expireDueRequests } from './expire.ts';

async function twoOpen() {
  const service = await startApp();
  const developer = await service.asDeveloper({ mode: 'sandbox' });
  const { agentId, did } = await registerAgent(developer);
  const pending = await authorize(developer, agentId, {
    autoApprove: false,
    purpose: 'payments.payout',
    scopes: ['tool:stripe:write'],
  });
  const approved = await authorize(developer, agentId);
  const statusOf = async (id: string) => (await developer('GET', `/v1/authorize/${id}`)).json().status;
  return { ...service, developer, agentId, did, pending, approved, statusOf };
}

describe('a request that nobody decided, or whose code nobody exchanged, in time', () => {
  test('is recorded as expired once, in the chain and as an event', async () => {
    const { db, clock, advance, developer, agentId, did, pending, approved, statusOf } = await twoOpen();

    await expireDueRequests({ db, clock });
    const before = [await statusOf(pending.id), await statusOf(approved.id)];
    advance(601);
    await expireDueRequests({ db, clock });
    const afterCode = [await statusOf(pending.id), await statusOf(approved.id)];
    advance(3600);
    await Promise.all([expireDueRequests({ db, clock }), expireDueRequests({ db, clock })]);

    expect(before).toEqual(['pending', 'approved']);
    expect(afterCode).toEqual(['pending', 'expired']);
    expect(await statusOf(pending.id)).toBe('expired');
    const entries = await entriesOf(developer, 'authorization.expired');
    expect(entries).toHaveLength(2);
    expect(entries[1]).toMatchObject({
      agentId,
      agentDid: did,
      principalId: 'user_42',
      purpose: 'payments.payout',
      metadata: { authRequestId: pending.id, actor: 'system' },
    });
    const events = await db
      .selectFrom('outboxEvents')
      .select('envelope')
      .where('type', '=', 'authorization.expired')
      .where('developerId', '=', developer.developerId)
      .execute();
    expect(events.map(({ envelope }) => JSON.parse(envelope).sandbox)).toEqual([true, true]);
  });

  test('is refused in the same way before and after it is recorded as expired', async () => {
    const { db, clock, advance, developer, agentId, approved } = await twoOpen();
    advance(601);
    const exchange = () => developer('POST', '/v1/token', { code: approved.code, agentId });

    const early = await exchange();
    await expireDueRequests({ db, clock });
    const late = await exchange();

    expect(refusalOf(early)).toBe('400 INVALID_GRANT code_expired');
    expect(refusalOf(late)).toBe('400 INVALID_GRANT code_expired');
    expect(refusalOf(await developer('DELETE', `/v1/authorize/${approved.id}`))).toBe('410 GONE');
  });

  test('is not recorded as expired when it was consumed or denied in time', async () => {
    const { db, clock, advance, developer, agentId, pending, approved } = await twoOpen();
    await developer('POST', '/v1/token', { code: approved.code, agentId });
    await developer('POST', `/v1/authorize/${pending.id}/deny`);
    advance(86_400);

    await expireDueRequests({ db, clock });

    expect(await actionsOf(developer)).not.toContain('authorization.expired');
  });
});

test('the job goes on, batch by batch, until no request is due', async () => {
  const { db, clock, advance, developer, agentId } = await twoOpen();
  const many = Array.from({ length: 7 }, () => authorize(developer, agentId, { autoApprove: false }));
  await Promise.all(many);
  advance(3601);

  await expiryOfRequests({ db, clock, batch: 3 }).run(new AbortController().signal);

  expect(await entriesOf(developer, 'authorization.expired')).toHaveLength(9);
});
