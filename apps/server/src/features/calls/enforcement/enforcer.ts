import { actionHash, actionOf } from '@behest/protocol/enforcement/action';
import type { Call } from '@behest/protocol/enforcement/call';
import { createEnforcer } from '@behest/protocol/enforcement/enforcer';
import type { Enforcer } from '@behest/protocol/enforcement/engine';
import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import type { DecisionStore, StandingRules } from '@behest/protocol/enforcement/ports';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { CallFacts } from './facts.ts';
import { METER_TIMEOUT_MS } from './meter.ts';

interface Asking {
  readonly meter?: CapsMeter;
  readonly policies?: StandingRules | undefined;
  readonly decisions?: DecisionStore | undefined;
  readonly logger?: Logger | undefined;
}

/** The engine for one question, with the facts that were found for it. It asks nothing else but the meter. */
export function enforcerFor(
  { token, status, manifest }: CallFacts,
  { meter, policies, decisions, logger }: Asking = {},
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
export async function actionHashOf(call: Call): Promise<string | undefined> {
  const { connector, tool, caseId, caseVersion = null } = call;
  const action = actionOf({
    connector,
    tool,
    arguments: call.arguments ?? {},
    caseId: typeof caseId === 'string' ? caseId : null,
    caseVersion,
  });
  return action && actionHash(action);
}
