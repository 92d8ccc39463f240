import { areEqual, consistencyRanges } from '@behest/protocol/merkle';
import { proofOf, rootOf, tilesByKey, tilesFor } from '@behest/protocol/merkle-tiles';
import {
  type NoteKey,
  readNote,
  readSignatures,
  readVkey,
  signatureLine,
  verifySignature,
  WITNESS_KEY,
  writeAddCheckpoint,
} from '@behest/protocol/signed-note';
import { commaList } from '../../../config/readers.ts';
import type { Reader } from '../../../config/setting.ts';
import type { Tenant } from '../../../platform/caller.ts';
import { inTransaction, isDatabaseAway } from '../../../platform/db/db.ts';
import type { Egress, EgressAnswer } from '../../../platform/egress/egress.ts';
import { type Integrator, type LogDeps, record, stateOfNote } from './integrate.ts';
import { findLog, findTiles, type LogRow } from './transparency.repo.ts';
import { sha256, verifyEd25519 } from './transparency.rules.ts';
import {
  claimWitness,
  listUnwitnessedAcrossTenants,
  type WitnessState,
  writeWitness,
} from './witness.repo.ts';

/** Somebody else who confirms that the logs only grow. */
export interface Witness {
  readonly key: NoteKey;
  readonly url: string;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

const entries = commaList(
  'a comma-separated list of `<vkey> <URL>` with keys of type 4, one entry a name, and addresses with https (http on loopback)',
  (entry) => {
    const [vkey = '', text = '', ...more] = entry.split(/\s+/);
    const key = readVkey(vkey, sha256);
    const url = URL.parse(text);
    const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname));
    const isOne = key?.type === WITNESS_KEY && isSafe && more.length === 0 && !url.search && !url.hash;
    return isOne ? { key, url: url.href.replace(/\/$/, '') } : undefined;
  },
);

/** For `TRANSPARENCY_WITNESSES`. */
export const witnessList: Reader<Witness[]> = {
  accepts: entries.accepts,
  read(text, context) {
    const witnesses = entries.read(text, context);
    const names = new Set(witnesses?.map(({ key }) => key.name));
    return names.size === witnesses?.length ? witnesses : undefined;
  },
};

export interface SubmitDeps extends Pick<LogDeps, 'db' | 'clock' | 'keyRing'> {
  readonly egress: Pick<Egress, 'ask'>;
  readonly integrator: Pick<Integrator, 'halt'>;
  readonly logger: { error(facts: object, message: string): void };
  readonly everySeconds: number;
}

const LOGS = 100; // in one statement
const DAY = 86_400; // seconds
const SHORTEST_PAUSE = 60; // seconds, after a failure
const LONGEST_PAUSE = 3_600;

/** Sends the newest note of each log of a live account to a witness that has not confirmed it. */
export async function submitNotes(deps: SubmitDeps, witness: Witness, signal: AbortSignal): Promise<void> {
  let after: string | undefined = '';
  while (after !== undefined && !signal.aborted) {
    const logs = await listUnwitnessedAcrossTenants(
      deps.db,
      { witness: witness.key.name, at: deps.clock() },
      after,
      LOGS,
    );
    for (const { developerId } of logs) {
      if (signal.aborted) return;
      try {
        await submitNote(deps, { developerId }, witness);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        deps.logger.error(
          { err: error, developerId, witness: witness.key.name },
          'a note could not be sent to a witness',
        );
      }
    }
    after = logs.length < LOGS ? undefined : logs.at(-1)?.developerId;
  }
}

async function submitNote(deps: SubmitDeps, tenant: Tenant, witness: Witness): Promise<void> {
  const { db, clock, everySeconds } = deps;
  const { log } = await findLog(db, tenant);
  if (!log?.note || log.noteSize === null || log.halted) return;
  const at = clock();
  // Of two processes one claims the turn. It is also the next one's time if this process ends in between.
  const state = await claimWitness(db, tenant, {
    gen: log.gen,
    witness: witness.key.name,
    at,
    nextAt: later(at, everySeconds),
  });
  if (!state || state.size === log.noteSize) return;
  const size = state.size < log.noteSize ? state.size : 0; // the witness says what it has
  const outcome = await submit(deps, tenant, { witness, log, size, mayRetry: true });
  const isContradicted = 'error' in outcome && outcome.error === CONTRADICTED;
  if (isContradicted && (await isProved(deps, tenant, { witness, log }))) {
    await deps.integrator.halt(tenant, log, 'witness');
    return;
  }
  await inTransaction(db, async (tx) => {
    const said = next(state, outcome, { at, everySeconds });
    await writeWitness(tx, tenant, { gen: log.gen, witness: witness.key.name, ...said });
    if (!isContradicted || state.error === CONTRADICTED) return;
    const data = { origin: log.origin, witness: witness.key.name, size: log.noteSize ?? 0 };
    await record(tx, tenant, { type: 'transparency.contradicted', data }, at);
  });
  if (isContradicted)
    deps.logger.error(
      { ...tenant, origin: log.origin, witness: witness.key.name },
      'a witness contradicts a log',
    );
}

/**
 * Whether a witness that refuses a note has another one that the log itself has signed and that its tree contradicts, as after
 * the restore of an old backup. Whatever else a witness says stops nothing: it may be wrong, or lie.
 */
async function isProved(
  deps: SubmitDeps,
  tenant: Tenant,
  { witness, log }: Pick<Submission, 'witness' | 'log'>,
): Promise<boolean> {
  const url = `${witness.url}/${sha256(Buffer.from(log.origin)).toString('hex')}/checkpoint`;
  const answer = await deps.egress.ask({ url, method: 'GET', headers: {} });
  if (answer.status !== 200) return false;
  const said = stateOfNote(deps, { ...log, note: answer.body.toString('utf8') });
  const { log: now } = await findLog(deps.db, tenant);
  if (!said || now?.gen !== log.gen) return false;
  if (said.size > now.size) return true;
  const whole = { start: 0, end: said.size };
  const tiles = tilesByKey(await findTiles(deps.db, tenant, log.gen, tilesFor([whole])));
  return !areEqual(rootOf(whole, tiles, sha256), said.root);
}

/** What came of a submission. */
type Outcome =
  | { readonly size: number; readonly line: string; readonly cosignedAt: Date }
  | { readonly size: number; readonly error: string };

/** The witness says that it knows another history. */
const CONTRADICTED = 'contradicted';

interface Submission {
  readonly witness: Witness;
  readonly log: LogRow;
  /** What the witness confirmed last. */
  readonly size: number;
  readonly mayRetry: boolean;
}

/** @see https://c2sp.org/tlog-witness */
async function submit(deps: SubmitDeps, tenant: Tenant, submission: Submission): Promise<Outcome> {
  const { db, egress } = deps;
  const { witness, log, size, mayRetry } = submission;
  const { note, noteSize } = log;
  if (note === null || noteSize === null || size > noteSize) return { size, error: 'no_note' };
  const ranges = consistencyRanges(size, noteSize);
  const tiles = tilesByKey(await findTiles(db, tenant, log.gen, tilesFor(ranges)));
  const answer = await egress.ask({
    url: `${witness.url}/add-checkpoint`,
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: writeAddCheckpoint({ oldSize: size, proof: proofOf(ranges, tiles, sha256), note }),
  });
  if (answer.failure !== undefined) return { size, error: answer.failure };
  if (answer.status === 200) return cosignatureIn(answer.body.toString('utf8'), submission);
  if (answer.status === 422) return { size, error: CONTRADICTED };
  if (answer.status === 403 || answer.status === 404) return { size, error: 'not_followed' };
  const known = answer.status === 409 ? sizeIn(answer) : undefined;
  if (known === undefined) return { size, error: `status_${answer.status}` };
  // The log may have grown since its note was read, so it is its size of now that counts.
  const { log: now } = await findLog(db, tenant);
  if (known === size || !now || known > now.size) return { size, error: CONTRADICTED };
  if (known > noteSize || !mayRetry) return { size: known, error: 'behind' };
  return submit(deps, tenant, { ...submission, size: known, mayRetry: false });
}

/** The size that a witness names as the last that it confirmed. */
function sizeIn({
  headers,
  body,
}: Extract<EgressAnswer, { readonly failure?: undefined }>): number | undefined {
  if (!headers['content-type']?.startsWith('text/x.tlog.size')) return undefined;
  const text = body.toString('latin1');
  const size = Number(text);
  return Number.isSafeInteger(size) && size >= 0 && text === `${size}\n` ? size : undefined;
}

function cosignatureIn(text: string, { witness: { key }, log, size }: Submission): Outcome {
  const note = readNote(log.note ?? '');
  const signature = readSignatures(text)?.find(({ name, keyId }) => name === key.name && keyId === key.keyId);
  const verified = note && signature && verifySignature(note.text, signature, { key, verify: verifyEd25519 });
  if (!signature || verified?.time === undefined || log.noteSize === null)
    return { size, error: 'bad_cosignature' };
  return { size: log.noteSize, line: signatureLine(signature), cosignedAt: new Date(verified.time * 1000) };
}

/** What is kept of a witness after a submission. */
function next(
  { size, failures }: WitnessState,
  outcome: Outcome,
  { at, everySeconds }: { readonly at: Date; readonly everySeconds: number },
) {
  if ('line' in outcome) return { ...outcome, error: null, failures: 0, nextAt: later(at, everySeconds) };
  const doubled = Math.min(SHORTEST_PAUSE * 2 ** Math.min(failures, 10), LONGEST_PAUSE);
  const pause = outcome.error === 'not_followed' ? DAY : doubled;
  const former = outcome.size === size ? {} : { line: null, cosignedAt: null }; // they are of another size
  return { ...former, ...outcome, failures: failures + 1, nextAt: later(at, pause) };
}

const later = (at: Date, seconds: number) => new Date(at.getTime() + seconds * 1000);
