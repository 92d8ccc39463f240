import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { Behest } from '@behest/sdk';
import { createVerifier } from '@behest/sdk/verify';
import type { Report, Setup, Token } from './run-revocations.ts';

/** Some verifiers in a process of their own: they call without end, and their connections break at random. */

const { baseUrl, apiKey, developerId, names, isCut, pauseMs }: Setup = JSON.parse(process.argv[2] ?? '');
let tokens: readonly Token[] = [];
let isOver = false;
/** On one machine, the processes share this clock. In microseconds. */
const now = () => Number(process.hrtime.bigint() / 1000n);
const chance = (share: number) => isCut && Math.random() < share;

const waiting = new Set(names);
/** Says once that every verifier of the process has a lease. */
function begun(name: string) {
  if (waiting.delete(name) && waiting.size === 0) process.send?.({ isReady: true });
}

function startVerifier(name: string) {
  const streams = new Set<AbortController>();
  const report: Report = { name, calls: 0, asked: 0, overtaken: 0, cuts: 0, accepted: {}, confirmed: [] };

  async function send(url: string, init: RequestInit): Promise<Response> {
    if (url.includes('/v1/events/stream')) {
      const cut = new AbortController();
      streams.add(cut);
      const signal = AbortSignal.any([cut.signal, ...(init.signal ? [init.signal] : [])]);
      return fetch(url, { ...init, signal });
    }
    if (chance(0.03)) throw new TypeError('fetch failed'); // before the service has heard of it
    const [, verifierId] = /\/v1\/verifiers\/([^/]+)\/lease/.exec(url) ?? [];
    const { position } = JSON.parse(String(init.body ?? '{}'));
    if (verifierId !== undefined && position !== undefined) {
      const { seq } = JSON.parse(Buffer.from(position.split('.')[1], 'base64url').toString());
      report.confirmed.push({ verifierId, seq, at: now() });
    }
    const isQuestion = url.endsWith('/v1/tokens/verify');
    if (isQuestion) report.asked += 1;
    const answer = await fetch(url, init);
    // The answer is old when it arrives, and that to a question so old that a confirmation has often overtaken it.
    const before = report.confirmed.length;
    if (chance(isQuestion ? 0.5 : 0.1)) await delay(Math.random() * (isQuestion ? 500 : 40));
    if (isQuestion && report.confirmed.length > before) report.overtaken += 1;
    if (verifierId !== undefined && answer.ok) begun(name);
    if (chance(0.02)) throw new TypeError('fetch failed'); // after the service has answered
    return answer;
  }

  const behest = new Behest({
    ...{ apiKey, baseUrl, developerId, allowSandbox: true },
    ...{ revocation: 'confirmed', verifierName: name, fetch: send },
  });
  const verifier = createVerifier({
    ...{ jwksUri: `${baseUrl}/.well-known/jwks.json`, developerId, allowSandbox: true },
    revocation: behest.revocations(),
  });

  async function call(): Promise<void> {
    const token = tokens[Math.floor(Math.random() * tokens.length)];
    if (!token) return;
    const isGood = await verifier.detailed(token.grantToken).then(
      ({ ok }) => ok,
      () => false, // nobody could be asked
    );
    report.calls += 1;
    if (isGood) report.accepted[token.grantId] = now();
  }
  async function callWithoutEnd(): Promise<void> {
    while (!isOver) {
      for (let each = 0; each < 50; each += 1) await call();
      await (pauseMs > 0 ? delay(pauseMs) : setImmediate());
    }
  }
  async function cutAtRandom(): Promise<void> {
    while (isCut && !isOver) {
      await delay(200 + Math.random() * 6_000);
      report.cuts += streams.size;
      for (const each of streams) each.abort();
      streams.clear();
    }
  }
  const ended = Promise.all([callWithoutEnd(), cutAtRandom()]);
  return {
    async stop(): Promise<Report> {
      await ended;
      behest.close();
      return report;
    },
  };
}

const verifiers = names.map(startVerifier);
process.on('message', async (message: { tokens?: readonly Token[]; stop?: true }) => {
  if (message.tokens) tokens = message.tokens;
  if (!message.stop) return;
  isOver = true;
  process.send?.(await Promise.all(verifiers.map(({ stop }) => stop())));
  process.disconnect();
});
