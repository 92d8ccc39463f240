import { type CallCounter, costOf, countersOf, meteringOf } from '@behest/protocol/enforcement/counters';
import { readIssuedEntries } from '@behest/protocol/enforcement/entries';
import { type CapsMeter, MeterError } from '@behest/protocol/enforcement/meter';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import { type ActSubject, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError, notFound, unavailable } from '../../../platform/errors.ts';
import { findGrant, type GrantRow } from '../../grants/grants/grants.queries.ts';
import type { FindManifest } from '../../grants/manifests/index.ts';
import { currentManifests } from '../../grants/manifests/manifests.queries.ts';
import { prepareEntry } from '../../record/audit/index.ts';
import { listCallers } from './enforcement.repo.ts';
import type { ToolUsage, UsageQuery } from './enforcement.schema.ts';
import { meterOfAgent } from './meter.ts';

export interface UsageDeps extends FollowDeps {
  readonly findLoaded: FindManifest;
}

/** Reads what a grant has used of each cap that its calls of a tool count against. @throws NOT_FOUND */
export async function toolUsage(deps: UsageDeps, caller: Caller, query: UsageQuery): Promise<ToolUsage> {
  const { grantId, connector, tool } = query;
  const { db, findLoaded, meter } = deps;
  const { tenant } = caller;
  const grant = await findGrant(db, caller, grantId);
  if (!grant) throw notFound();
  const current = await currentManifests(db, tenant)
    .where('current.connector', '=', connector)
    .executeTakeFirst();
  const manifest = current && (await findLoaded({ ...tenant, db, ...current }));
  const counters = manifest ? countersFor(grant, manifest, query) : [];
  const usage =
    counters.length === 0
      ? []
      : await answerOf(deps, () =>
          meter.usage(
            tenant.developerId,
            counters.map(({ counter }) => counter),
          ),
        );
  return {
    grantId,
    connector,
    tool,
    counters: counters.map(({ scope, kind, window, limit }, place) => {
      const { used = 0, retryAtMs = null } = usage[place] ?? {};
      const retryAt = retryAtMs === null ? null : new Date(retryAtMs).toISOString();
      return { scope, kind, window, limit, used, remaining: Math.max(0, limit - used), retryAt };
    }),
  };
}

function countersFor(
  grant: GrantRow,
  manifest: Manifest,
  { connector, tool, caseId }: UsageQuery,
): CallCounter[] {
  const declared = manifest.tools.get(tool);
  const entries = readIssuedEntries(grant.authorizationDetails ?? undefined);
  if (!declared || !entries.ok) return [];
  const asked = { token: tokenOf(grant, entries), connector, tool, manifest, declared, resource: undefined };
  const counted = { ...asked, entry: entries.tools.get(connector) };
  const counters = countersOf(counted, meteringOf(counted), costOf(counted, undefined) ?? 0, caseId);
  return caseId === undefined ? counters.filter(({ window }) => window !== 'per_case') : counters;
}

/** As much of a token as the counters of its grant are made of. */
const tokenOf = (grant: GrantRow, entries: ReturnType<typeof readIssuedEntries>) => ({
  claims: {
    ...{ issuer: '', developerId: grant.developerId, principalId: grant.principalId, tokenId: '' },
    ...{ grantId: grant.id, delegatedBy: grant.delegatedBy, delegationDepth: grant.delegationDepth },
    ...{ scopes: grant.scopes, expiresAt: grant.expiresAt, sandbox: false },
  },
  ...{ entries, scopes: [], unreadable: [], warnings: [], manifests: {}, enforcesManifests: false },
});

interface FollowDeps {
  readonly db: Executor;
  readonly meter: CapsMeter;
  /** The store in which the meter counts. */
  readonly counts: 'db' | 'redis';
}

/** The call has left the process, so its units stay charged. @throws NOT_FOUND, CONFLICT after a refund */
export async function noteSent(deps: FollowDeps, caller: Caller, callId: string): Promise<void> {
  const { developerId } = caller.tenant;
  for (const { agentId } of await callersOf(deps, caller, callId)) {
    await answerOf(deps, () => meterOfAgent(deps.meter, agentId).sent(developerId, callId)).catch(
      (error: unknown) => {
        throw error instanceof AppError ? error : final();
      },
    );
  }
}

/** The call never left the process, so its units are free again. @throws NOT_FOUND, CONFLICT once it was sent */
export async function refundCall(
  deps: FollowDeps & RefundDeps,
  caller: Caller,
  callId: string,
): Promise<void> {
  for (const { agentId, grantId } of await callersOf(deps, caller, callId)) {
    const grant = await findGrant(deps.db, caller, grantId);
    const about = grant ? concerning({ ...grant, grantId }) : { agentId, grantId };
    if (!(await answerOf(deps, () => giveBack(deps, caller, { callId, agentId, about })))) throw final();
  }
}

async function callersOf({ db }: FollowDeps, caller: Caller, callId: string) {
  const callers = await listCallers(db, caller, callId);
  if (callers.length === 0) throw notFound();
  return callers;
}

interface RefundDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly meter: CapsMeter;
}

/** A call that was allowed, and whose entry says what it took from caps. */
export interface ChargedCall {
  readonly callId: string;
  readonly agentId: string;
  readonly about: ActSubject;
}

/** Frees the units of a call that was never sent, and says so in the log. @returns false once they are final */
export async function giveBack(
  { db, clock, meter }: RefundDeps,
  caller: Caller,
  { callId, agentId, about }: ChargedCall,
): Promise<boolean> {
  const { tenant } = caller;
  const isFree = await meterOfAgent(meter, agentId).refundUnsent(tenant.developerId, callId);
  const at = clock();
  if (isFree) {
    const entry = { action: 'tool.refunded', about, data: { callId } } as const;
    await prepareEntry(caller, entry, at).writeUnlessRefused(db, { tenant, at });
  }
  return isFree;
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
