import { checkOf, checks } from '@behest/protocol/enforcement/checks';
import type { ReasonCode } from '@behest/protocol/enforcement/reasons';
import { denialKeys, sentenceFor } from '@behest/protocol/enforcement/sentences';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { findAgentScopes, findAgentStanding } from '../../accounts/agents/agents.queries.ts';
import { findGrant } from '../../grants/grants/grants.queries.ts';
import type { FindManifest } from '../../grants/manifests/index.ts';
import { currentManifests } from '../../grants/manifests/manifests.queries.ts';
import { findPolicyNow } from '../../grants/policies/policies.queries.ts';
import { type AuditEntry, getEntry } from '../../record/audit/index.ts';
import type { Catalogue } from '../../record/events/index.ts';
import { type Answer, answerOf, type Current } from './answer.rules.ts';
import { changesFor } from './changes.rules.ts';
import type { ExplainedCheck, Explanation } from './explanations.schema.ts';
import { factsOf, notRecorded } from './facts.rules.ts';
import { explainRefusal, isRefusedRequest, policyOf } from './request.rules.ts';
import { ruleOf } from './rule.rules.ts';

export interface ExplainDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  readonly findLoaded: FindManifest;
}

/**
 * Explains one recorded answer to a call, or one refused request of consent or of a delegation, by what its entry says and by
 * what is true now. @throws NOT_FOUND also for an entry about something else
 */
export async function explainEntry(deps: ExplainDeps, caller: Caller, entryId: string): Promise<Explanation> {
  const entry = await getEntry(deps, caller, entryId);
  const asOf = deps.clock();
  if (isRefusedRequest(entry)) return explainRequest(deps, caller, entry, asOf);
  if (entry.action !== 'tool.enforce') {
    throw new AppError(
      'NOT_FOUND',
      'This entry is about no call and no refused request. Only those have one.',
    );
  }
  const answer = answerOf(entry);
  const current = await readCurrent(deps, caller, answer, asOf);
  const { agentId, principalId, grantId, requestId } = entry;
  const { callId = null, connector = null, tool = null, resource = null, caseId = null } = answer.data;
  return {
    entryId,
    at: entry.timestamp,
    asOf: asOf.toISOString(),
    allowed: answer.isAllowed,
    call: {
      ...{ callId, connector, tool, resource, caseId },
      ...{ agentId, principalId, grantId, requestId },
      checkOnly: answer.data.checkOnly === true,
    },
    request: null,
    denial: denialOf(answer),
    checks: checksOf(answer, current),
    rule: answer.isAllowed ? null : ruleOf(answer, current),
    changes: answer.isAllowed ? [] : changesFor(answer, current),
  };
}

async function explainRequest(
  { db }: ExplainDeps,
  caller: Caller,
  entry: AuditEntry,
  asOf: Date,
): Promise<Explanation> {
  const { tenant } = caller;
  const { entryId, agentId, principalId, grantId, requestId } = entry;
  const policyId = policyOf(entry);
  const now = {
    policy: policyId === undefined ? undefined : await findPolicyNow(db, tenant, policyId),
    grantScopes: grantId === null ? undefined : (await findGrant(db, caller, grantId))?.scopes,
    agentScopes: agentId === null ? undefined : await findAgentScopes(db, tenant, agentId),
  };
  const none = { callId: null, connector: null, tool: null, resource: null, caseId: null };
  return {
    entryId,
    at: entry.timestamp,
    asOf: asOf.toISOString(),
    allowed: false,
    call: { ...none, agentId, principalId, grantId, requestId, checkOnly: false },
    ...explainRefusal(entry, now),
  };
}

/** What decides about such a call now. */
async function readCurrent(
  { db, findLoaded }: ExplainDeps,
  caller: Caller,
  { entry, data }: Answer,
  asOf: Date,
): Promise<Current> {
  const { tenant } = caller;
  const { agentId, grantId } = entry;
  const { connector, policyId } = data;
  const grant = grantId === null ? undefined : await findGrant(db, caller, grantId);
  const agentStatus = agentId === null ? undefined : await findAgentStanding(db, tenant, agentId);
  const policy = policyId === undefined ? undefined : await findPolicyNow(db, tenant, policyId);
  const stored =
    connector === undefined
      ? undefined
      : await currentManifests(db, tenant).where('current.connector', '=', connector).executeTakeFirst();
  const manifest = stored && (await findLoaded({ ...tenant, db, ...stored }));
  return { asOf, grant, agentStatus, policy, manifest };
}

function denialOf({ isAllowed, data, denialKey }: Answer): Explanation['denial'] {
  const { reasonCode, subReason = null } = data;
  const check = denialKey === undefined ? undefined : checkOf(denialKey);
  if (isAllowed || !isReason(reasonCode)) return null;
  const reason = sentenceFor(reasonCode, subReason) || 'The arguments do not keep a rule of the tool.';
  return { reasonCode, subReason, reason, check: check ?? null };
}

const isReason = (code: string | undefined): code is ReasonCode =>
  denialKeys.some((key) => key.split('/')[0] === code);

function checksOf(answer: Answer, current: Current): ExplainedCheck[] {
  const failed = answer.denialKey === undefined ? undefined : checkOf(answer.denialKey);
  const place = failed === undefined ? -1 : checks.indexOf(failed);
  return checks.map((check, at) => {
    const outcome = outcomeOf(answer, { at, place, warned: answer.warned.has(check) });
    return {
      check,
      outcome,
      facts: factsOf(check, outcome, answer, current),
      notRecorded: outcome === 'failed' ? notRecorded(answer) : [],
    };
  });
}

interface Placed {
  readonly at: number;
  /** That of the check that failed, or -1. */
  readonly place: number;
  readonly warned: boolean;
}

function outcomeOf({ isAllowed }: Answer, { at, place, warned }: Placed): ExplainedCheck['outcome'] {
  if (!isAllowed && place < 0) return 'unknown';
  if (!isAllowed && at === place) return 'failed';
  if (!isAllowed && at > place) return 'not_reached';
  return warned ? 'warned' : 'passed';
}
