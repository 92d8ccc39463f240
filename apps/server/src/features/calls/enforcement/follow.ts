import { type CapsMeter, MeterError } from '@behest/protocol/enforcement/meter';
import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError, notFound, unavailable } from '../../../platform/errors.ts';
import { listCallers } from './enforcement.repo.ts';
import { meterOfAgent } from './meter.ts';

export interface FollowDeps {
  readonly db: Executor;
  readonly meter: CapsMeter;
  /** The store in which the meter counts. */
  readonly counts: 'db' | 'redis';
}

/** The call has left the process, so its units stay charged. @throws NOT_FOUND, CONFLICT after a refund */
export async function noteSent(deps: FollowDeps, caller: Caller, callId: string): Promise<void> {
  const { developerId } = caller.tenant;
  for (const agentId of await callersOf(deps, caller, callId)) {
    await answerOf(deps, () => meterOfAgent(deps.meter, agentId).sent(developerId, callId)).catch(
      (error: unknown) => {
        throw error instanceof AppError ? error : final();
      },
    );
  }
}

/** The call never left the process, so its units are free again. @throws NOT_FOUND, CONFLICT once it was sent */
export async function refundCall(deps: FollowDeps, caller: Caller, callId: string): Promise<void> {
  const { developerId } = caller.tenant;
  for (const agentId of await callersOf(deps, caller, callId)) {
    const isRefunded = await answerOf(deps, () =>
      meterOfAgent(deps.meter, agentId).refundUnsent(developerId, callId),
    );
    if (!isRefunded) throw final();
  }
}

async function callersOf({ db }: FollowDeps, caller: Caller, callId: string): Promise<string[]> {
  const agentIds = await listCallers(db, caller, callId);
  if (agentIds.length === 0) throw notFound();
  return agentIds;
}

const final = () =>
  new AppError('CONFLICT', 'The units of this call are final already.', { field: 'callId' });

/** @throws SERVICE_UNAVAILABLE when the meter gives no answer */
export async function answerOf<Answer>(
  { counts }: Pick<FollowDeps, 'counts'>,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof MeterError) throw unavailable(counts);
    throw error;
  }
}
