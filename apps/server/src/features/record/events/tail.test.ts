import { expect, test } from 'vitest';
import { waitUntil } from '../../../../../../scripts/machine/processes.ts';
import { emit } from '../../../../test/app/events.ts';
import { startSandbox } from '../../../../test/app/flow.ts';
import { tailOf } from './tail.ts';

/** A follower from the developer's next event on. `afterRead` runs when Postgres has answered a read. */
async function startFollowing(afterRead: (reads: number) => Promise<void> = async () => {}) {
  const { service, acme } = await startSandbox();
  const [last] = await emit(service, acme, ['agent.created']);
  const received: string[] = [];
  let reads = 0;
  const db = service.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      reads += 1;
      await afterRead(reads);
      return result;
    },
  });
  const tail = tailOf(db, (error) => received.push(String(error)));
  const follower = {
    tenant: { developerId: acme.developerId },
    agentIds: null,
    seq: 0n,
    onEvent: ({ id }: { id: string }) => void received.push(id),
  };
  const emitted = (count: number, more?: object) =>
    emit(service, acme, Array<string>(count).fill('agent.updated'), { ...more });
  return { tail, follower, received, last, emitted, reads: () => reads, developerId: acme.developerId };
}

test('a wake during a read is followed by another read', async () => {
  let late: string[] = [];
  const started = await startFollowing(async (reads) => {
    if (reads > 1) return;
    late = await started.emitted(1);
    started.tail.wake([started.developerId]);
  });

  started.tail.follow(started.follower);

  expect(await waitUntil(() => started.received.includes(late[0] ?? 'none'), { seconds: 5 })).toBe(true);
  expect(started.reads()).toBe(2);
});

test('large events come in several reads, all of them and in their order', async () => {
  const { tail, follower, received, emitted, reads } = await startFollowing();
  const ids = await emitted(40, { text: 'x'.repeat(20_000) });

  tail.follow(follower);

  expect(await waitUntil(() => received.includes(ids.at(-1) ?? ''), { seconds: 5 })).toBe(true);
  expect(received.slice(-ids.length)).toEqual(ids);
  expect(reads()).toBe(4); // each ends with the event that reaches 256 KiB
});
