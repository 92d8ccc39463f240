import { createServer, type IncomingMessage, type Server } from 'node:http';
import { areEqual, emptyRoot, verifyConsistency } from '@behest/protocol/merkle';
import {
  cosignatureBytes,
  cosignatureMessage,
  type NoteKey,
  readAddCheckpoint,
  readCheckpointText,
  readNote,
  signatureLine,
  verifyNote,
} from '@behest/protocol/signed-note';
import { type KeptNotes, nameOfOrigin } from './kept-notes.ts';
import { sha256, verifyEd25519 } from './log-client.ts';
import { Alarm } from './look.ts';

/** Who confirms, and for which logs. */
export interface Witness {
  readonly key: NoteKey;
  readonly sign: (message: Uint8Array) => Uint8Array;
  readonly notes: KeptNotes;
  /** The keys of a log that it follows. @returns undefined for any other log */
  readonly keysOf: (origin: string) => readonly NoteKey[] | undefined;
  /** Hears of a log that has signed two histories. */
  readonly onAlarm: (alarm: Alarm, origin: string) => void;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

const BODY_BYTES = 72 * 1024;
const PLAIN = 'text/plain; charset=utf-8';

/**
 * Confirms a checkpoint that continues the one it confirmed last. What it confirms is on the disk before it is signed, and
 * each log has its turns, so it never signs a tree that is smaller than one it has signed.
 *
 * @see https://c2sp.org/tlog-witness
 */
async function confirm(body: string, witness: Witness): Promise<Answer> {
  const submission = readAddCheckpoint(body);
  const note = submission && readNote(submission.note);
  const head = note && readCheckpointText(note.text);
  if (!head) return { status: 400, body: 'This is no submission of a checkpoint.\n' };
  const { origin, size, root } = head;
  const keys = witness.keysOf(origin);
  if (!keys) return { status: 404, body: 'This witness does not follow that log.\n' };
  if (!verifyNote(note, keys, verifyEd25519).ok)
    return { status: 403, body: 'The log has not signed this.\n' };
  const { oldSize, proof } = submission;
  if (oldSize > size) return { status: 400, body: 'The old size is above the new one.\n' };

  return witness.notes.inTurn(origin, async () => {
    const kept = witness.notes.find(origin);
    const keptSize = kept?.head.size ?? 0;
    const conflict = { status: 409, type: 'text/x.tlog.size', body: `${keptSize}\n` };
    if (kept && size === keptSize && !areEqual(root, kept.head.root)) {
      const reason = `Two trees of ${size} leaves have different roots.`;
      witness.onAlarm(new Alarm('fork', reason, [kept.note, submission.note]), origin);
      return conflict;
    }
    if (oldSize !== keptSize) return conflict;
    const oldRoot = kept?.head.root ?? emptyRoot(sha256);
    // Whoever reads the note can send it with a wrong proof, so this says nothing about the log.
    if (!verifyConsistency({ oldSize, oldRoot, size, root, proof }, sha256))
      return { status: 422, body: 'The proof does not lead from the old tree to the new one.\n' };
    witness.notes.keep({ head, note: submission.note });
    const time = Math.floor(Date.now() / 1000);
    const signature = witness.sign(cosignatureMessage(time, note.text));
    return { status: 200, body: signatureLine({ ...witness.key, bytes: cosignatureBytes(time, signature) }) };
  });
}

/** Serves `POST /add-checkpoint`, and `GET /<name of the log>/checkpoint` for watchers that compare. */
export function serveWitness(witness: Witness, origins: readonly string[]): Server {
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const { pathname } = new URL(request.url ?? '/', 'http://witness.invalid');
    if (request.method === 'POST' && pathname === '/add-checkpoint') {
      const body = await readBody(request);
      return body === undefined ? { status: 413, body: 'This is too long.\n' } : confirm(body, witness);
    }
    const origin = origins.find((each) => pathname === `/${nameOfOrigin(each)}/checkpoint`);
    const kept = request.method === 'GET' && origin !== undefined ? witness.notes.find(origin) : undefined;
    return kept ? { status: 200, body: kept.note } : { status: 404, body: 'There is nothing here.\n' };
  };
  return createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    answer(request)
      .catch(() => ({ status: 500, body: 'The witness could not answer.\n', type: PLAIN }))
      .then(({ status, body, type = PLAIN }: Answer) => {
        response.writeHead(status, { 'content-type': type }).end(body);
      });
  });
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length <= BODY_BYTES) parts.push(part); // the rest is read too, so that the sender reads the answer
  }
  return length > BODY_BYTES ? undefined : Buffer.concat(parts).toString('utf8');
}
