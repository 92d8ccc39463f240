import { actionHash, actionOf } from '@behest/protocol/enforcement/action';
import type { Call } from '@behest/protocol/enforcement/call';
import { createEnforcer } from '@behest/protocol/enforcement/enforcer';
import type { Enforcer } from '@behest/protocol/enforcement/engine';
import { bindingOf } from '@behest/protocol/enforcement/manifest-checks';
import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import type { DecisionStore, RuledCall, StandingRules } from '@behest/protocol/enforcement/ports';
import { isScope } from '@behest/protocol/scopes';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { decideCall, type PolicyExplanation } from '../../grants/policies/index.ts';
import type { EnforceableRow } from './enforcement.repo.ts';
import type { ListToolsRequest, ListToolsResult } from './enforcement.schema.ts';
import { type CallFacts, type FactDeps, findFacts } from './facts.ts';
import { METER_TIMEOUT_MS } from './meter.ts';

interface EnforcerParts {
  readonly meter?: CapsMeter;
  readonly policies?: StandingRules | undefined;
  readonly decisions?: DecisionStore | undefined;
  readonly logger?: Logger | undefined;
}

/** The engine for one question, with the facts that were found for it. It asks nothing else but the meter. */
export function enforcerFor(
  { token, status, manifest }: CallFacts,
  { meter, policies, decisions, logger }: EnforcerParts = {},
): Enforcer {
  return createEnforcer({
    tokens: { verify: () => token },
    revocation: { check: () => status },
    manifests: { get: () => manifest },
    ...(meter && { meter, meterTimeoutMs: METER_TIMEOUT_MS }),
    ...(policies && { policies }),
    ...(decisions && { decisions }),
    onError: (err) => logger?.error({ err }, 'a call was denied because its check failed unexpectedly'),
  });
}

/** @returns undefined where the arguments have no canonical form */
export async function actionHashOf(call: Call, { manifest }: CallFacts): Promise<string | undefined> {
  const { connector, tool, caseId, caseVersion = null } = call;
  const declared = manifest?.tools.get(tool);
  const action = actionOf({
    connector,
    tool,
    arguments: call.arguments ?? {},
    caseId: typeof caseId === 'string' ? caseId : null,
    caseVersion,
    binding: manifest && declared && (await bindingOf(manifest, declared)),
  });
  return action && actionHash(action);
}

export interface PolicyDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** The developer's policies as the engine asks them about one call, and why they denied it. */
export function policiesOn(
  deps: PolicyDeps,
  caller: Caller,
  row: EnforceableRow,
): (StandingRules & { readonly denied: () => PolicyExplanation | undefined }) | undefined {
  if (row.policiesVersion === '0') return undefined; // no developer's policy was ever written
  let denied: PolicyExplanation | undefined;
  return {
    denied: () => denied,
    async check(call) {
      const { agentId, agentDid, principalId, purpose, policiesVersion: version } = row;
      const asked = { operation: 'enforce', agentId, agentDid, principalId, purpose, grant: row } as const;
      const question = { ...asked, scopes: scopesOf(call), call };
      const { effect, explanation } = await decideCall(deps, caller, version, question);
      denied = effect === 'deny' && explanation ? explanation : undefined;
      return denied;
    },
  };
}

/**
 * The scopes that a call uses. The resource of a scope names a tool or the thing acted on, and a call uses both. Without a
 * thing, or with one that no scope can name, every denial for the connector stops the call, whatever its resource.
 */
function scopesOf({ connector, tool, permission, resource }: RuledCall): string[] {
  const whole = `tool:${connector}:${permission}`;
  if (resource === undefined) return [whole];
  const named = [`${whole}:${resource}`, `${whole}:${tool}`];
  return named.every((scope) => isScope(scope) && !scope.endsWith('*')) ? named : [whole];
}

/** Selects the offered tools that some call with the token could use. A list is no call, so nothing is recorded. */
export async function listTools(
  deps: FactDeps,
  caller: Caller,
  offer: ListToolsRequest,
): Promise<ListToolsResult> {
  const facts = await findFacts(deps, caller, offer);
  const { tools, hidden } = await enforcerFor(facts).listTools({ ...offer, pinOf: ({ pin }) => pin });
  return {
    tools: tools.map(({ name }) => name),
    hidden: hidden.map(({ tool, reason_code, sub_reason }) => ({
      tool,
      reasonCode: reason_code,
      subReason: sub_reason,
    })),
  };
}
