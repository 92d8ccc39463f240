import { type MeterTimes, meterOf } from '@behest/meter/postgres-meter';
import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import type { Executor } from '../../../platform/db/db.ts';
import { capsFunctions } from './caps.repo.ts';

/** The meter in the service's own database. The epoch is for databases that are restored without the rest. */
export function postgresCapsMeter(db: Executor, times: MeterTimes): CapsMeter {
  return meterOf(capsFunctions(db), times);
}
