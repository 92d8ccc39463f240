import { type MeterTimes, meterOf } from '@behest/meter/postgres-meter';
import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { capsFunctions, deleteCaseCounters } from './caps.repo.ts';

/** The meter in the service's own database. The epoch is for databases that are restored without the rest. */
export function postgresCapsMeter(db: Executor, times: MeterTimes): CapsMeter {
  return meterOf(capsFunctions(db), times);
}

/** Forgets what the calls of a case took from caps by case. @returns how many counters there were */
export const closeCaseCounters = (tx: Tx, tenant: Tenant, caseId: string): Promise<number> =>
  deleteCaseCounters(tx, tenant, `,"per_case",${JSON.stringify(caseId)}]`);
