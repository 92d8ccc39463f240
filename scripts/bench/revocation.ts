import { parseArgs } from 'node:util';
import { type Outcome, revokeUnderLoad, type Token } from '../../test/revocation/run-revocations.ts';
import { writeSection } from './results.ts';
import { setScene } from './scene.ts';
import { signUp } from './tenants.ts';

const USAGE = `npm run bench -- revocation [options]
  --quiet <n>    revocations without broken connections, whose time counts; 200 unless said
  --cut <n>      revocations while connections break at random; 300 unless said
  --note <text>  what else the machine was doing, for the results
  --write        writes the outcome into scripts/bench/RESULTS.md
`;
const WHAT = `Ten verifiers of the SDK in three processes, against one process of the service on the same machine. Each grant is ended by
\`DELETE /v1/grants/:id?wait=confirmed\`, and the time is that of the whole answer. The aims are 15 ms for p50 and 50 ms for p99.
Then connections break at random, requests fail, and answers of the service come late, while the verifiers call without a pause.
*Accepted too late* is a call that was accepted after its verifier had sent the confirmation, or after the complete statement had
come. Made by \`npm run bench -- revocation --write\`.`;

const { values: flags } = parseArgs({
  options: {
    quiet: { type: 'string', default: '200' },
    cut: { type: 'string', default: '300' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const PROCESSES = [4, 3, 3];

async function main(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const { server } = await setScene(cleanUp);
  const baseUrl = `http://localhost:${server.port}`;
  const measure = async (count: number, isCut: boolean): Promise<Outcome> => {
    const { apiKey, developerId, grants } = await signUp(server.port, count);
    const revoke = async (grantId: string) => {
      const answer = await fetch(`${baseUrl}/v1/grants/${grantId}?wait=confirmed`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${apiKey}` },
      });
      if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
      return Object(await answer.json());
    };
    const setup = { baseUrl, apiKey, developerId, isCut, pauseMs: isCut ? 0 : 200 };
    const tokens: readonly Token[] = grants;
    return revokeUnderLoad({ ...setup, tokens, processes: PROCESSES, everyMs: isCut ? 50 : 100, revoke });
  };
  const quiet = await measure(Number(flags.quiet), false);
  const cut = await measure(Number(flags.cut), true);
  const [at50, at99] = [0.5, 0.99].map(
    (share) => quiet.milliseconds[Math.floor(quiet.milliseconds.length * share)],
  );
  const statesOf = ({ states }: Outcome) =>
    Object.entries(states)
      .map(([state, count]) => `${count.toLocaleString('en')} ${state}`)
      .join(', ');
  const rows = [
    ...(flags.note ? [['Meanwhile', flags.note]] : []),
    ['Confirmed by ten verifiers, p50', `${at50?.toFixed(1)} ms`],
    ['p99', `${at99?.toFixed(1)} ms`],
    ['Revocations', quiet.milliseconds.length.toLocaleString('en')],
    ['Calls of the verifiers meanwhile', quiet.calls.toLocaleString('en')],
    ['Verifiers in their statements', statesOf(quiet)],
    ['Revocations while connections break', cut.milliseconds.length.toLocaleString('en')],
    ['Verifiers in their statements', statesOf(cut)],
    ['Statements that were not complete after 10 s', String(cut.incomplete)],
    ['Longest wait', `${Math.round(cut.milliseconds.at(-1) ?? 0).toLocaleString('en')} ms`],
    ['Streams cut', cut.cuts.toLocaleString('en')],
    ['Calls of the verifiers', cut.calls.toLocaleString('en')],
    ['Of them, asked of the service', cut.asked.toLocaleString('en')],
    ['Accepted too late', String(quiet.broken.length + cut.broken.length)],
  ];
  for (const [name, figure] of rows) say(`${name}: ${figure}`);
  for (const line of [...quiet.broken, ...cut.broken].slice(0, 100)) say(line);
  if (flags.write) writeSection('Confirmed revocations', WHAT, rows);
  if (quiet.broken.length + cut.broken.length > 0) process.exitCode = 1;
}

if (flags.help) say(USAGE);
else await main();
