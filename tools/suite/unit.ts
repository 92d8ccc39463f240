import { createHash } from 'node:crypto';

const ROUNDS = 5; // the first ones run before the compiler knows the code
const TURNS = 10_000;
const ROUNDS_OF_A_UNIT = 23;

/**
 * The unit of the budgets: the processor time of a fixed computation, in seconds of this machine. It is close to 1
 * on the machine on which the budgets were written, and 3 or more on slow ones.
 */
export function secondsOfUnit(): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    compute();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  });
  return Math.min(...rounds) * ROUNDS_OF_A_UNIT;
}

/** Text, objects and digests, as in the service itself. */
function compute(): void {
  let text = 'agent';
  for (let turn = 0; turn < TURNS; turn += 1) {
    const scopes = Array.from({ length: 20 }, (_, at) => `area${at}:act${turn % 7}`);
    const copy: typeof scopes = JSON.parse(JSON.stringify(scopes));
    const sorted = copy.filter((scope) => /^area\d+:act[0-5]$/.test(scope)).sort();
    text = createHash('sha256').update(sorted.join(' ')).update(text).digest('base64url');
  }
}
