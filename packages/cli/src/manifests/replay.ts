import type { Manifest } from '@behest/protocol/manifest/manifest';
import { emptyMeter } from '../system/meter.ts';
import { caseToken, caseTokens } from './case-tokens.ts';
import type { Recorded } from './recorded.ts';

export interface Replayed {
  readonly tool: string;
  readonly agentId: string;
  readonly before: 'allow' | 'deny';
  readonly after: 'allow' | 'deny' | 'unknown';
  readonly reason: string;
  readonly at: string;
}

/** Decides recorded calls again, with another manifest. */
export async function replayed(manifest: Manifest, calls: readonly Recorded[]): Promise<Replayed[]> {
  const { createEnforcer } = await import('@behest/sdk/enforce');
  const enforcer = createEnforcer({
    tokens: caseTokens(),
    manifests: new Map([[manifest.connector, manifest]]),
    meter: await emptyMeter(),
  });
  const outcomes: Replayed[] = [];
  for (const call of calls) {
    const { connector, tool, scopes, purpose, amount, resource } = call;
    const result = await enforcer.enforce({
      ...{ grantToken: caseToken({ scopes, connector, purpose: purpose ?? undefined }), connector, tool },
      ...{ arguments: call.arguments ?? {}, reserve: false },
      ...(amount !== undefined && { amount }),
      ...(resource !== undefined && { resource }),
    });
    const isUnknown = dependsOnMore(manifest, call, result.reason_code);
    outcomes.push({
      ...{ tool, agentId: call.agentId ?? '', before: call.allowed ? 'allow' : 'deny' },
      after: isUnknown ? 'unknown' : result.allowed ? 'allow' : 'deny',
      reason: isUnknown ? 'arguments, decisions or caps decide' : result.reason,
      at: call.at ?? '',
    });
  }
  return outcomes;
}

/** Codes of denials that come from the manifest and the scopes alone. Later checks cannot allow the call again. */
const FINAL = new Set([
  'manifest_unknown_tool',
  'permission_insufficient',
  'tool_not_granted',
  'purpose_not_allowed',
]);

function dependsOnMore(manifest: Manifest, call: Recorded, reasonCode: string | null): boolean {
  const tool = manifest.tools.get(call.tool);
  const hasRules = tool?.arguments !== undefined && call.arguments === undefined;
  if (reasonCode !== null && FINAL.has(reasonCode)) return hasRules && reasonCode === 'tool_not_granted';
  return (
    hasRules || tool?.requires_decision === true || tool?.caps !== undefined || tool?.cost_units !== undefined
  );
}
