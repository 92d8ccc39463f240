import { expect, test } from 'vitest';
import { admitting, MAX_WAITING } from './outlet.ts';

/** An outlet that takes everything at once. */
function newOutlet() {
  const sent: string[] = [];
  let isCutOff = false;
  return {
    sent,
    isCutOff: () => isCutOff,
    event: ({ id }: { readonly id: string }) => void sent.push(id),
    gap() {},
    keepalive() {},
    taken: async () => {},
    isClosed: () => isCutOff,
    onceClosed() {},
    end() {},
    cutOff() {
      isCutOff = true;
    },
  };
}

const eventOf = (id: string, bytes: number) => ({ id, type: 'grant.created', envelope: 'x'.repeat(bytes) });
const admitAll = async () => 'sent' as const;
const noTrouble = (error: unknown) => {
  throw error;
};
const LARGE = MAX_WAITING / 2 + 1;

test('an outlet that asks about each event sends more than 1 MiB in all, as long as less waits', async () => {
  const outlet = newOutlet();
  const asking = admitting(outlet, admitAll, noTrouble);

  for (const id of ['one', 'two', 'three']) {
    asking.event(eventOf(id, LARGE));
    await asking.taken();
  }

  expect([outlet.sent, outlet.isCutOff()]).toEqual([['one', 'two', 'three'], false]);
});

test('I15: a consumer is cut off when more than 1 MiB waits to be asked about', () => {
  const outlet = newOutlet();
  const asking = admitting(outlet, admitAll, noTrouble);

  asking.event(eventOf('one', LARGE));
  expect(outlet.isCutOff()).toBe(false);
  asking.event(eventOf('two', LARGE));

  expect(outlet.isCutOff()).toBe(true);
});
