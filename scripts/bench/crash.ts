import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { crash } from '../../test/crash/run-crash.ts';
import { startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { writeSection } from './results.ts';

const USAGE = `npm run bench -- crash [options]
  --rounds <count>  how often the server is killed (200)
  --write           writes the outcome into scripts/bench/RESULTS.md
`;
const WHAT = `The server is killed with SIGKILL at random moments while six clients grant, revoke, evaluate, append, debit and refund,
and a receiver takes every event and, by push and by poll, the signal of every revocation; then what is there is held against
what was acknowledged. Made by \`npm run bench -- crash --write\`.`;

/**
 * `npm run bench -- crash`: kills the server under load many times, and checks that nothing acknowledged is missing.
 */
const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const rounds = Number(flags.rounds);
  const stores = await startStores();
  await sweepThrowAways('crash');
  const folder = makeThrowAway('crash');
  try {
    const startedAt = performance.now();
    const outcome = await crash({ ...stores, rounds, folder, say });
    const rows = [
      ['Kills', String(rounds)],
      ['Duration', `${Math.round((performance.now() - startedAt) / 1000)} s`],
      ['Grants acknowledged, and found', outcome.grants.toLocaleString('en')],
      ['Revocations acknowledged, and found', outcome.revoked.toLocaleString('en')],
      ['Entries acknowledged, and found in a whole chain', outcome.entries.toLocaleString('en')],
      [
        'Debits and refunds acknowledged, and found in a whole ledger',
        outcome.movements.toLocaleString('en'),
      ],
      ['Permits of batches acknowledged, and found with their units', outcome.permits.toLocaleString('en')],
      [
        'Entries, debits and batches sent again after a kill, each there once',
        outcome.repeated.toLocaleString('en'),
      ],
      ['Events written, each delivered at least once', outcome.events.toLocaleString('en')],
      ['Times that one was sent', outcome.sendings.toLocaleString('en')],
      ['Signals of revocations pushed, each at least once', outcome.signals.pushed.toLocaleString('en')],
      ['Signals of revocations polled, each at least once', outcome.signals.polled.toLocaleString('en')],
      ['Promises broken', String(outcome.broken.length)],
    ];
    for (const [name, figure] of rows) say(`${name}: ${figure}`);
    for (const line of outcome.broken.slice(0, 100)) say(line);
    if (flags.write) writeSection('Killed under load', WHAT, rows);
    if (outcome.broken.length > 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await stores.stop();
  }
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await main();
