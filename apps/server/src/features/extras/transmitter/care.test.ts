import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { grantTo } from '../../../../test/app/flow.ts';
import { startPolling } from '../../../../test/app/receiving.ts';

test('the care of streams reaches each stream, however many there are', async () => {
  const { acme, service, receiver, streamId, advance } = await startPolling();
  const { grantId } = await grantTo(acme);
  await acme('DELETE', `/v1/grants/${grantId}`);
  // Polled streams would be paused first. A hundred more come before this one in the order of ids.
  await service.db.updateTable('ssfStreams').set({ method: 'push' }).execute();
  await sql`insert into ssf_streams select (jsonb_populate_record(s, jsonb_build_object('id', 'ssfs_0' || n))).*
    from ssf_streams s, generate_series(101, 200) n where s.id = ${streamId}`.execute(service.db);
  const statuses = async () => {
    const { deliveries } = (await acme('GET', `/v1/ssf/receivers/${receiver.receiverId}/deliveries`)).json();
    return deliveries.map(({ status }: { status: string }) => status);
  };
  expect(await statuses()).toEqual(['pending']);

  advance(604_801);
  await service.runJob('care of signal streams');

  expect(await statuses()).toEqual(['failed']);
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
