import { onTestFinished } from 'vitest';
import { relayTo } from './relay.ts';

/** The end of each answer of Postgres outside a transaction (`ReadyForQuery`, idle): what was asked is committed. */
const COMMITTED = Buffer.from('Z\0\0\0\x05I', 'latin1');

/** Another address of a Postgres, which can lose an answer after the commit: the connection ends in its place. */
export async function losingPostgres(databaseUrl: string) {
  const url = new URL(databaseUrl);
  const port = Number(url.port);
  let isLost: ((asked: Buffer) => boolean) | undefined;
  const relay = await relayTo(
    () => port,
    (near, far) => {
      let isLosing = false;
      let end = Buffer.alloc(0);
      near.on('data', (asked) => {
        if (isLost?.(asked)) {
          isLost = undefined;
          isLosing = true;
        }
        far.write(asked);
      });
      far.on('data', (answer) => {
        if (!isLosing) near.write(answer);
        end = Buffer.concat([end, answer]).subarray(-COMMITTED.length);
        if (isLosing && end.equals(COMMITTED)) near.destroy();
      });
    },
  );
  onTestFinished(() => relay.close());
  url.port = String(relay.port);
  return {
    url: url.href,
    /** Loses the answer to the next bytes that pass the test, once. */
    loseAnswerTo(test: (asked: Buffer) => boolean) {
      isLost = test;
    },
    /** Whether those bytes have come. */
    hasLost: () => isLost === undefined,
  };
}
