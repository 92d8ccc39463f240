import { systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { newSecret } from '../../../platform/ids.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { PollDeps } from './poll.ts';
import { signalSeals } from './seals.ts';
import {
  listDueAcrossTenants,
  markSilent,
  noteVerification,
  type SourceRow,
  takeDue,
} from './signals.repo.ts';
import { wordOf } from './signals.rules.ts';
import { asked, headersFor, streamOf, unusable } from './stream.ts';

const AT_ONCE = 10;
const HOUR_MS = 3_600_000;
const ASKED_EVERY_MS = 24 * HOUR_MS;
const SILENT_AFTER_MS = 48 * HOUR_MS;

/** Asks each stream for a verification daily, and tells of those that send none. One failure stops no other stream. */
export async function checkStreams(deps: PollDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const at = deps.clock();
    const due = await listDueAcrossTenants(deps.db, 'checkDueAt', at, AT_ONCE);
    await Promise.all(
      due.map(async (named) => {
        const row = await takeDue(deps.db, 'checkDueAt', named, {
          at,
          until: new Date(at.getTime() + HOUR_MS),
        });
        if (row) await checkStream(deps, row, at).catch(deps.onFailure);
      }),
    );
    if (due.length < AT_ONCE) return;
  }
}

async function checkStream(deps: PollDeps, row: SourceRow, at: Date): Promise<void> {
  await tellOfSilence(deps, row, at);
  const { verificationAskedAt: last } = row;
  if (last === null || at.getTime() - last.getTime() >= ASKED_EVERY_MS)
    await askForVerification(deps, row, at);
}

function tellOfSilence({ db }: PollDeps, row: SourceRow, at: Date): Promise<void> {
  const { developerId, connectionId, verifiedAt } = row;
  const since = new Date(at.getTime() - SILENT_AFTER_MS);
  return inTransaction(db, async (tx) => {
    const parts = await findCallerParts(tx, row);
    if (!parts || !(await markSilent(tx, row, { at, since }))) return;
    const data = { connectionId, lastHeardAt: verifiedAt?.toISOString() ?? null };
    const caller = systemCaller({ developerId }, parts, 'verification of streams');
    await recordActs(tx, caller, [{ type: 'signal.stream_silent', data }], at);
  });
}

/** The state is stored first, because the transmitter may answer before its response to the request. */
async function askForVerification(deps: PollDeps, row: SourceRow, at: Date): Promise<void> {
  const state = newSecret();
  const wasKept = await noteVerification(deps.db, row, { verificationState: state, verificationAskedAt: at });
  if (!wasKept) return;
  const error = await requestVerification(deps, row, state).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  const word = error && wordOf(error.error);
  const change = { lastError: word, ...(error && { verificationAskedAt: null }) };
  await noteVerification(deps.db, row, change);
  if (word === 'internal') throw error?.error;
}

/** @throws DISCOVERY_FAILED @see OpenID Shared Signals Framework 1.0, section 8.1.4.2 */
async function requestVerification(deps: PollDeps, row: SourceRow, state: string): Promise<void> {
  const auth = signalSeals(deps.keyRing).open(row);
  const stream = streamOf(row);
  if (!auth || !stream?.verificationEndpoint) throw unusable('auth', 'not_open');
  const { status } = await asked(deps.upstream, 'verification', {
    ...{ url: stream.verificationEndpoint, method: 'POST' },
    headers: await headersFor(deps, auth),
    body: JSON.stringify({ stream_id: stream.id, state }),
  });
  if (status !== 204 && status !== 200) throw unusable('verification', `http_${status}`);
}
