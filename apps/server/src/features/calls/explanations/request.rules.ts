import { readScope, uncovered } from '@behest/protocol/scopes';
import { overlaps } from '../../grants/policies/index.ts';
import type { AuditEntry } from '../../record/audit/index.ts';
import type { Change, DecidingRule, ExplainedCheck, Explanation } from './explanations.schema.ts';

/** What an entry says of a refused request. A member that an erasure took is undefined. */
interface Refusal {
  readonly operation?: string;
  readonly scopes?: readonly string[];
  readonly policyId?: string | null;
  readonly backend?: string;
  readonly reason?: string;
  readonly explanation?: {
    readonly name: string;
    readonly conditions: { field: string; condition: string; met: string }[];
  } | null;
}

/** What would decide about the request now. Undefined is what is not there any more, or what nothing names. */
export interface NowOfRequest {
  readonly policy: { readonly effect: string; readonly updatedAt: Date } | undefined;
  readonly grantScopes: readonly string[] | undefined;
  readonly agentScopes: readonly string[] | undefined;
}

const BY_SCOPES = 'authorization.scope_refused';

/** The entries about requests of consent and delegations that were refused. */
export const isRefusedRequest = ({ action }: AuditEntry): boolean =>
  [BY_SCOPES, 'authorization.blocked', 'policy.denied'].includes(action);

/** The policy that an entry names. */
export const policyOf = ({ metadata }: AuditEntry): string | undefined =>
  readRefusal(metadata).policyId ?? undefined;

// The service wrote the entry: nobody else may write one of these actions.
const readRefusal = (metadata: object): Refusal => metadata;

type Explained = Pick<Explanation, 'request' | 'denial' | 'checks' | 'rule' | 'changes'>;

/** Explains why a request was refused: by a policy, or because it reached beyond its agent or the grant above. */
export function explainRefusal(entry: AuditEntry, now: NowOfRequest): Explained {
  const refusal = readRefusal(entry.metadata);
  const refused = refusedOf(entry, refusal);
  const asked = { entry, refusal, refused, now };
  return entry.action === BY_SCOPES ? byScopes(asked) : byPolicy(asked);
}

interface Asked {
  readonly entry: AuditEntry;
  readonly refusal: Refusal;
  readonly refused: string[];
  readonly now: NowOfRequest;
}

/** A refusal of scopes records those alone. A policy names the first scope that met its condition. */
function refusedOf({ action }: AuditEntry, { scopes = [], explanation }: Refusal): string[] {
  if (action === BY_SCOPES) return [...scopes];
  const stopped = (explanation?.conditions ?? []).filter(({ field }) => field === 'scopes');
  return scopes.filter((scope) =>
    stopped.some(({ condition }) => overlaps(readScope(condition), readScope(scope))),
  );
}

function byPolicy(asked: Asked): Explained {
  const { entry, refusal, refused, now } = asked;
  const { scopes = [], policyId = null, backend, explanation, reason = '' } = refusal;
  const allowed = scopes.filter((scope) => !refused.includes(scope));
  return {
    request: {
      ...aboutRequest(entry, refusal),
      scopes: [...scopes],
      refusedScopes: refused,
      allowedScopes: null,
    },
    denial: denialOf('policy_denied', reason || 'A policy denies this request.', 'policies'),
    checks: [
      failed('policies', {
        policyName: explanation?.name,
        backend: backend === 'builtin' ? undefined : backend,
        effect: policyId === null ? undefined : { now: now.policy?.effect ?? null },
        changedAt: now.policy && { now: now.policy.updatedAt.toISOString() },
      }),
    ],
    rule: rule('policy', policyId, explanation?.name ?? reason, null, explanation?.conditions),
    changes: changesOfPolicy(asked, allowed),
  };
}

function changesOfPolicy({ entry, refusal, refused, now }: Asked, allowed: readonly string[]): Change[] {
  const { policyId = null, backend = 'builtin', explanation } = refusal;
  if (policyId !== null && now.policy?.effect !== 'deny')
    return [change('agent', 'Ask again: what denied the request has changed since.', 'call')];
  const timed = (explanation?.conditions ?? []).filter(({ field }) =>
    ['timeOfDay', 'daysOfWeek'].includes(field),
  );
  return [
    ...(refused.length > 0 && allowed.length > 0 ? [without(entry, refusal, refused, allowed)] : []),
    ...timed.map(({ condition }) => change('agent', `Ask at another time than \`${condition}\`.`, 'call')),
    policyId === null
      ? change('operator', `Change the rules of the decision point (\`${backend}\`).`, 'service')
      : change('developer', 'Change the conditions of the policy, or delete it.', 'policy', policyId),
  ];
}

/** The scope that a delegation exceeds is that of the grant above, or else that of the other agent. */
function byScopes({ entry, refusal, refused, now }: Asked): Explained {
  const isDelegation = refusal.operation === 'delegate';
  const isBeyondGrant = isDelegation && uncovered(now.grantScopes ?? [], refused).length > 0;
  const ceiling = isBeyondGrant ? now.grantScopes : isDelegation ? undefined : now.agentScopes;
  const words = refused.map((scope) => `\`${scope}\``).join(', ');
  const reason = isBeyondGrant
    ? 'The delegation asks for more than its grant has.'
    : isDelegation
      ? 'The delegation asks for more than the other agent may have.'
      : 'The request asks for more than its agent may ask for.';
  const agentId = isDelegation ? null : entry.agentId;
  const more = isBeyondGrant
    ? askPerson(entry, `The person consents to ${words} for the agent above.`, [
        ...(now.grantScopes ?? []),
        ...refused,
      ])
    : change('developer', `Add ${words} to the scopes of the agent.`, 'agent', agentId, 'scopes');
  const isOver = !isDelegation && ceiling !== undefined && uncovered(ceiling, refused).length === 0;
  return {
    request: {
      ...aboutRequest(entry, refusal),
      scopes: refused,
      refusedScopes: refused,
      allowedScopes: ceiling === undefined ? null : [...ceiling],
    },
    denial: denialOf('scope_exceeded', reason, 'scopes'),
    checks: [failed('scopes', { refused, allowed: ceiling && { now: [...ceiling] } })],
    rule: isBeyondGrant
      ? rule('grant', entry.grantId, 'A delegation has only scopes of its grant.', 'scopes')
      : rule('agent', agentId, 'An agent has only its own scopes.', 'scopes'),
    changes: isOver
      ? [change('agent', 'Ask again: the agent may have these scopes now.', 'call')]
      : [change('agent', `${isDelegation ? 'Delegate' : 'Ask'} without ${words}.`, 'call'), more],
  };
}

const aboutRequest = ({ purpose }: AuditEntry, { operation }: Refusal) => ({
  operation: operation ?? null,
  purpose,
});

const denialOf = (reasonCode: string, reason: string, check: 'policies' | 'scopes') => ({
  reasonCode,
  subReason: null,
  reason,
  check,
});

type Value = ExplainedCheck['facts'][number]['value'];

/** @param facts those under `now` are read now */
function failed(
  check: 'policies' | 'scopes',
  facts: Readonly<Record<string, Value | { readonly now: Value } | undefined>>,
): ExplainedCheck {
  return {
    check,
    outcome: 'failed',
    facts: Object.entries(facts).flatMap(([name, value]) => {
      if (value === undefined) return [];
      const isNow = typeof value === 'object' && value !== null && 'now' in value;
      return [
        isNow
          ? { name, value: value.now as Value, from: 'now' as const }
          : { name, value, from: 'entry' as const },
      ];
    }),
    notRecorded: [],
  };
}

const rule = (
  kind: DecidingRule['kind'],
  id: string | null,
  text: string,
  place: string | null,
  conditions: DecidingRule['conditions'] = [],
): DecidingRule => ({ kind, id, place, text, conditions });

const change = (
  by: Change['by'],
  text: string,
  kind: Change['target']['kind'],
  id: string | null = null,
  place: string | null = null,
): Change => ({ by, text, target: { kind, id, place } });

/** The same request without what was refused. A delegation is asked for with a token, so it has no body here. */
function without(
  entry: AuditEntry,
  { operation }: Refusal,
  refused: readonly string[],
  allowed: readonly string[],
): Change {
  const words = refused.map((scope) => `\`${scope}\``).join(', ');
  if (operation !== 'authorize' && operation !== 'consent')
    return change('agent', `Ask for a part of the grant without ${words}.`, 'call');
  const asked = change('agent', `Ask without ${words}.`, 'call');
  return { ...asked, ...bodyOf(entry, allowed) };
}

const askPerson = (entry: AuditEntry, text: string, scopes: readonly string[]): Change => ({
  ...change('person', text, 'consent', entry.grantId),
  ...bodyOf(entry, scopes),
});

function bodyOf(
  { agentId, principalId, purpose }: AuditEntry,
  scopes: readonly string[],
): Pick<Change, 'consent'> {
  if (agentId === null || principalId === null) return {};
  return {
    consent: { agentId, principalId, scopes: [...new Set(scopes)], ...(purpose !== null && { purpose }) },
  };
}
