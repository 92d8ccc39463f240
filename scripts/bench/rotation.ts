import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startStores } from '../../test/harness/servers.ts';
import { rotateUnderLoad } from '../../test/rotation/run-rotation.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { writeSection } from './results.ts';

const USAGE = `npm run bench -- rotation [options]
  --seconds <count>  how long it runs (300)
  --every <seconds>  the time from one rotation to the next (10)
  --write            writes the outcome into scripts/bench/RESULTS.md
`;
const WHAT = `Three instances with \`SIGNING_KEY_STORE=postgres\` and ES256 rotate their signing key while four clients get
tokens of 60 seconds from any of them. Each token is shown, new and again later, to programs that fetch the keys from each
instance and keep them as their library does by default, and to an instance. The activation delay is 40 seconds, and the
grace of retired keys 60, the least that the service takes. Made by \`npm run bench -- rotation --write\`.`;

/** `npm run bench -- rotation`: rotates the signing key under load, and checks that no good token is refused. */
const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    every: { type: 'string', default: '10' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const stores = await startStores();
  await sweepThrowAways('rotation');
  const folder = makeThrowAway('rotation');
  try {
    const [seconds, everySeconds] = [Number(flags.seconds), Number(flags.every)];
    const outcome = await rotateUnderLoad({ ...stores, folder, seconds, everySeconds, say });
    const rows = [
      ['Duration', `${seconds} s`],
      ['Rotations, one every', `${outcome.rotations}, ${everySeconds} s`],
      ['Keys that signed', String(outcome.signingKeys)],
      ['Tokens', outcome.tokens.toLocaleString('en')],
      ...Object.entries(outcome.accepted).map(([name, times]) => [
        `Good tokens accepted by ${name}`,
        times.toLocaleString('en'),
      ]),
      [
        'Good tokens refused, failed requests, and tokens of a key out of its time',
        String(outcome.faults.length),
      ],
    ];
    for (const [name, figure] of rows) say(`${name}: ${figure}`);
    for (const line of outcome.faults.slice(0, 100)) say(line);
    if (flags.write) writeSection('Signing keys rotated under load', WHAT, rows);
    if (outcome.faults.length > 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await stores.stop();
  }
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await main();
