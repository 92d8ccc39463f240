import type { Executor } from '../../../platform/db/db.ts';
import type { MasterKeys } from '../../../platform/envelope.ts';
import { listKeyRows } from './keys.repo.ts';
import { openPrivateKey } from './seal.ts';

/** A signing key of the database, as an operator looks at it. */
interface SeenKey {
  readonly kid: string;
  readonly alg: string;
  readonly state: string;
  readonly activatedAt: Date | null;
  /** Whether a vault key of this process opens its private half. */
  readonly opens: boolean;
}

/** The keys that are not removed. Changes nothing. */
export async function lookAtKeys(db: Executor, vault: MasterKeys): Promise<SeenKey[]> {
  const rows = await listKeyRows(db);
  return rows.map((row) => {
    const { kid, alg, state, activatedAt } = row;
    return { kid, alg, state, activatedAt, opens: openPrivateKey(vault, row) !== undefined };
  });
}
