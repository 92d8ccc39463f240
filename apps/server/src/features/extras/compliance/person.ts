import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { TellOfPerson } from '../../../platform/db/personal-records.ts';
import { openSnapshot } from '../../../platform/db/snapshot.ts';
import { findSeqRange } from '../../record/audit/audit.queries.ts';
import { type Export, type ExportDeps, entryPortions, exportedGrants, recordExport } from './export.ts';
import { mediaTypes, writerOf } from './forms.rules.ts';

export interface PersonDeps extends ExportDeps {
  readonly tellers: readonly TellOfPerson[];
}

/**
 * Everything that the service keeps about a person, for a request of theirs (GDPR, Article 15): as lines, each with the
 * `type` of its record.
 */
export async function exportPerson(deps: PersonDeps, caller: Caller, principalId: string): Promise<Export> {
  const now = deps.clock();
  const snapshot = await openSnapshot(deps.db);
  try {
    const portions = () => recordsOf(deps, caller, snapshot.db, principalId, now);
    let total = 0;
    for await (const records of portions()) total += records.length;
    const about = { kind: 'principal', span: {}, total, form: 'ndjson', principalId } as const;
    await recordExport(deps, caller, about, now);
    const writer = writerOf('ndjson', {
      member: 'records',
      columns: [],
      generatedAt: now.toISOString(),
      total,
    });
    const texts = async function* () {
      for await (const records of portions()) yield writer.write(records);
      yield writer.end();
    };
    return { type: mediaTypes.ndjson, texts: texts(), close: snapshot.end };
  } catch (error) {
    await snapshot.end();
    throw error;
  }
}

async function* recordsOf(
  deps: PersonDeps,
  caller: Caller,
  db: Executor,
  principalId: string,
  now: Date,
): AsyncGenerator<readonly object[]> {
  const { tenant } = caller;
  const typed = (type: string, records: readonly object[]) => records.map((record) => ({ type, ...record }));
  for (const tell of deps.tellers) yield* tell(db, tenant, principalId);
  for await (const grants of exportedGrants(db, caller, { principalId }, now)) yield typed('grant', grants);
  const range = await findSeqRange(db, tenant, {});
  for await (const entries of entryPortions(deps, db, tenant, { principalId }, range)) {
    yield typed('audit_entry', entries);
  }
}
