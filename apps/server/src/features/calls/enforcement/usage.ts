import { type CallCounter, costOf, countersOf, meteringOf } from '@behest/protocol/enforcement/counters';
import { readIssuedEntries } from '@behest/protocol/enforcement/entries';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import type { Caller } from '../../../platform/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import { findGrant, type GrantRow } from '../../grants/grants/grants.queries.ts';
import type { FindManifest } from '../../grants/manifests/index.ts';
import { currentManifests } from '../../grants/manifests/manifests.queries.ts';
import type { ToolUsage, UsageQuery } from './enforcement.schema.ts';
import { answerOf, type FollowDeps } from './follow.ts';

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
