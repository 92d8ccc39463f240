import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hexOfBytes } from '@behest/protocol/bytes';
import {
  type NoteKey,
  readCheckpointText,
  readNote,
  readVkey,
  type TreeHead,
  vkeyOf,
} from '@behest/protocol/signed-note';
import { CliError } from '../errors.ts';
import { sha256 } from './log-client.ts';

/** A checkpoint that was verified, and the note that says so. */
export interface KeptNote {
  readonly head: TreeHead;
  readonly note: string;
}

/** The newest verified note of each log, in files that an attacker of the service cannot reach. */
export interface KeptNotes {
  find(origin: string): KeptNote | undefined;
  /** Keeps a note, unless the kept one is larger. */
  keep(kept: KeptNote): void;
  /** The keys that the log had when it was first looked at. */
  keysOf(origin: string): NoteKey[];
  keepKeys(origin: string, keys: readonly NoteKey[]): void;
  /** Writes what proves an alarm. @returns the path */
  keepEvidence(name: string, evidence: object): string;
  /** Runs works on one log one after another, so that none decides on a note that another replaces. */
  inTurn<T>(origin: string, work: () => Promise<T>): Promise<T>;
}

/** The name of a log in paths. */
export const nameOfOrigin = (origin: string): string => hexOfBytes(sha256(Buffer.from(origin)));

export function keptNotes(folder: string): KeptNotes {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const turns = new Map<string, Promise<unknown>>();
  const fileOf = (origin: string, kind: 'note' | 'vkeys') => join(folder, `${nameOfOrigin(origin)}.${kind}`);

  const find = (origin: string): KeptNote | undefined => {
    const file = fileOf(origin, 'note');
    if (!existsSync(file)) return undefined;
    const note = readFileSync(file, 'utf8');
    const head = readCheckpointText(readNote(note)?.text ?? '');
    if (head?.origin === origin) return { head, note };
    // To go on without it would be to forget the past that it proves.
    throw new CliError('BAD_STATE', `${file} is not a note of ${origin}.`, {
      next: 'restore the file from a copy',
    });
  };

  return {
    find,
    keep({ head, note }) {
      const before = find(head.origin);
      if (!before || before.head.size <= head.size) writeWhole(fileOf(head.origin, 'note'), note);
    },
    keysOf(origin) {
      const file = fileOf(origin, 'vkeys');
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
      return lines.flatMap((line) => readVkey(line, sha256) ?? []);
    },
    keepKeys: (origin, keys) =>
      writeWhole(fileOf(origin, 'vkeys'), keys.map((key) => `${vkeyOf(key)}\n`).join('')),
    keepEvidence(name, evidence) {
      const file = join(folder, name);
      writeWhole(file, `${JSON.stringify(evidence, undefined, 2)}\n`);
      return file;
    },
    inTurn(origin, work) {
      const turn = (turns.get(origin) ?? Promise.resolve()).then(work, work);
      turns.set(origin, turn);
      return turn;
    },
  };
}

/** Writes a file whole, or not at all. */
function writeWhole(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  renameSync(draft, file);
}
