import { expect, test } from 'vitest';
import { grantTo } from '../../../../test/app/flow.ts';
import { newReceiver, newStream, startPolling } from '../../../../test/app/receiving.ts';

test('the care of streams reaches each stream, however many there are', async () => {
  const { acme, service, advance } = await startPolling();
  const other = await service.asDeveloper({ mode: 'sandbox' });
  for (let made = 0; made < 20; made += 1) {
    const receiver = await newReceiver(service, made < 10 ? acme : other);
    for (let stream = 0; stream < 5; stream += 1) await newStream(receiver);
  }
  for (const developer of [acme, other]) {
    const { grantId } = await grantTo(developer);
    await developer('DELETE', `/v1/grants/${grantId}`);
  }
  const statuses = async () => {
    const rows = await service.db
      .selectFrom('webhookDeliveries')
      .select('status')
      .where('developerId', 'in', [acme.developerId, other.developerId])
      .where('eventType', '=', 'grant.revoked')
      .execute();
    return Object.fromEntries(
      [...Map.groupBy(rows, ({ status }) => status)].map(([status, of]) => [status, of.length]),
    );
  };
  expect(await statuses()).toEqual({ pending: 101 });

  // A stream that nobody polls would be paused first.
  await service.db.updateTable('ssfStreams').set({ method: 'push' }).execute();
  advance(604_801);
  await service.runJob('care of signal streams');

  expect(await statuses()).toEqual({ failed: 101 });
});

test.each([
  [59, 'paused'],
  [60, 'enabled'],
])(
  'a poll %i seconds after the one that was noted: a week after that one the stream is %s',
  async (seconds, status) => {
    const { advance, service, receiver, streamId } = await startPolling({ receiver: { staticToken: true } });
    const call = service.calling(receiver.accessToken);

    advance(seconds);
    await call('POST', `/ssf/poll/${streamId}`, { maxEvents: 0 });
    advance(604_800 - seconds);
    await service.runJob('care of signal streams');

    expect((await call('GET', `/ssf/status?stream_id=${streamId}`)).json().status).toBe(status);
  },
);
