import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { objectIn } from '../../vault/providers/index.ts';
import { callerFor, type ReceiveDeps, setErrorOf, takeSet } from './receive.ts';
import { signalSeals } from './seals.ts';
import { findSource, listDueAcrossTenants, type SourceRow, settlePoll, takeDue } from './signals.repo.ts';
import { pauseAfter, wordOf } from './signals.rules.ts';
import { asked, forgetToken, headersFor, streamOf, unusable } from './stream.ts';

export interface PollDeps extends ReceiveDeps {
  readonly onFailure: (error: unknown) => void;
}

const AT_ONCE = 10;
const LEASE_MS = 120_000;
const MAX_SETS = 20;
const MAX_ROUNDS = 20;

/** Polls every stream that is due. One failure stops no other stream. */
export async function pollStreams(deps: PollDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const at = deps.clock();
    const due = await listDueAcrossTenants(deps.db, 'pollDueAt', at, AT_ONCE);
    await Promise.all(
      due.map(async (named) => {
        const until = new Date(at.getTime() + LEASE_MS);
        const row = await takeDue(deps.db, 'pollDueAt', named, { at, until });
        if (row) await pollUnderLease(deps, row, until, signal).catch(deps.onFailure);
      }),
    );
    if (due.length < AT_ONCE) return;
  }
}

async function pollUnderLease(
  deps: PollDeps,
  row: SourceRow,
  until: Date,
  signal: AbortSignal,
): Promise<void> {
  const failure = await pollStream(deps, row, signal).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const at = deps.clock();
  const failures = failure ? row.pollFailures + 1 : 0;
  await settlePoll(deps.db, row, until, {
    pollDueAt: new Date(at.getTime() + pauseAfter(failures)),
    pollFailures: failures,
    lastPolledAt: at,
    lastError: failure ? wordOf(failure.error) : null,
  });
  if (failure && wordOf(failure.error) === 'internal') throw failure.error;
}

interface Reply {
  readonly ack?: readonly string[];
  readonly setErrs?: Readonly<Record<string, { readonly err: string; readonly description: string }>>;
}

/** Takes what the transmitter has, and acknowledges each signal after the commit of its effect (RFC 8936). */
async function pollStream(deps: PollDeps, row: SourceRow, signal: AbortSignal): Promise<void> {
  let reply: Reply = {};
  for (let round = 1; ; round += 1) {
    const isLast = round === MAX_ROUNDS || signal.aborted;
    const sets = await setsOf(deps, row, { ...reply, maxEvents: isLast ? 0 : MAX_SETS });
    if (isLast || sets.length === 0) return;
    const taken = await takeSets(deps, row, sets);
    reply = taken.reply;
    if (taken.failure) {
      await setsOf(deps, row, { ...reply, maxEvents: 0 });
      throw taken.failure.error;
    }
  }
}

async function setsOf(
  deps: PollDeps,
  row: SourceRow,
  request: Reply & { readonly maxEvents: number },
): Promise<[jti: string, set: unknown][]> {
  const auth = signalSeals(deps.keyRing).open(row);
  const url = streamOf(row)?.pollEndpoint;
  if (!auth || !url) throw unusable('auth', 'not_open');
  const answer = await asked(deps.upstream, 'poll', {
    ...{ url, method: 'POST' },
    headers: await headersFor(deps, auth),
    body: JSON.stringify({ ...request, returnImmediately: true }),
  });
  if (answer.status === 401) forgetToken(deps, auth);
  if (answer.status !== 200) throw unusable('poll', `http_${answer.status}`);
  const { sets } = objectIn(answer.body) ?? {};
  if (typeof sets !== 'object' || sets === null) throw unusable('poll', 'no_sets');
  return Object.entries(sets).slice(0, request.maxEvents);
}

/** @returns the answer to the transmitter, and the reason why a signal has to come again */
async function takeSets(
  deps: PollDeps,
  row: SourceRow,
  sets: readonly [jti: string, set: unknown][],
): Promise<{ readonly reply: Reply; readonly failure?: { readonly error: unknown } }> {
  const source = await findSource(deps.db, row, row.connectionId); // a verification was asked for meanwhile
  const parts = source && (await findCallerParts(deps.db, source));
  if (!source || !parts) throw unusable('stream', 'deleted');
  const caller = callerFor(source, parts, 'polling of signals');
  const ack: string[] = [];
  const refused: [jti: string, { err: string; description: string }][] = [];
  let failure: { readonly error: unknown } | undefined;
  for (const [jti, set] of sets) {
    try {
      await takeSet(deps, caller, source, String(set));
      ack.push(jti);
    } catch (error) {
      const err = setErrorOf(error);
      if (err === undefined) failure = { error };
      else refused.push([jti, { err, description: Object(error).message }]);
    }
  }
  return { reply: { ack, setErrs: Object.fromEntries(refused) }, ...(failure && { failure }) };
}
