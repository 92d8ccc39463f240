import { auditLine } from '@behest/protocol/audit-line';
import { useEffect, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';

const say = sayer('audit');

export type Entry = Schemas['AuditEntry'];
type Verdict = 'good' | 'changed' | 'unlinked' | 'erased';

/** Who did it, as entries of the service say. */
export const actorOf = ({ metadata }: Entry): string => {
  const { actor } = metadata as { readonly actor?: unknown }; // developers write what they like
  return typeof actor === 'string' ? actor : '';
};

/**
 * Computes the hash of each entry from its members, as the service has done, and looks whether an entry names the one before it
 * where the page has both. Of an erased entry only the links are left.
 */
async function checkEntries(entries: readonly Entry[]): Promise<ReadonlyMap<string, Verdict>> {
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  const verdicts = entries.map(async (entry) => {
    const before = bySeq.get(entry.seq - 1);
    const isLinked = before === undefined || before.hash === entry.prevHash;
    const isWhole = entry.erased === true || (await hashOf(entry)) === entry.hash;
    const verdict = !isWhole ? 'changed' : !isLinked ? 'unlinked' : entry.erased ? 'erased' : 'good';
    return [entry.entryId, verdict] as const;
  });
  return new Map(await Promise.all(verdicts));
}

async function hashOf(entry: Entry): Promise<string> {
  const line = new TextEncoder().encode(auditLine(entry));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', line));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const NONE: ReadonlyMap<string, Verdict> = new Map();

/** The verdicts of this browser about entries, by their ids. @param entries the same array while they are the same */
export function useChecked(entries: readonly Entry[] | undefined): ReadonlyMap<string, Verdict> {
  const [checked, keep] = useState({ entries, verdicts: NONE });
  useEffect(() => {
    let isCurrent = true;
    if (entries) void checkEntries(entries).then((verdicts) => isCurrent && keep({ entries, verdicts }));
    return () => {
      isCurrent = false;
    };
  }, [entries]);
  return checked.entries === entries ? checked.verdicts : NONE;
}

const TONES = { good: 'good', changed: 'bad', unlinked: 'bad', erased: 'plain' } as const;

export const CheckMark = ({ verdict }: { readonly verdict: Verdict | undefined }) =>
  verdict && <span className={`status status-${TONES[verdict]}`}>{say(verdict)}</span>;
