import { type CallCounter, costOf, countersOf, meteringOf } from '@behest/protocol/enforcement/counters';
import { readIssuedEntries } from '@behest/protocol/enforcement/entries';
import { type CapsMeter, MeterError } from '@behest/protocol/enforcement/meter';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError, notFound, unavailable } from '../../../platform/errors.ts';
import { findGrant, type GrantRow } from '../../grants/grants/grants.queries.ts';
import type { FindManifest } from '../../grants/manifests/index.ts';
import { currentManifests } from '../../grants/manifests/manifests.queries.ts';
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
