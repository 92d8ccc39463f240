import type { Manifest } from '@behest/protocol/manifest/manifest';
import { dataIn } from '../api/fields.ts';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { caseToken, caseTokens } from '../manifests/cases.ts';
import { readManifest } from '../manifests/files.ts';
import { type CommandSpec, type Given, isSet, textOf } from '../program/spec.ts';
import { emptyMeter } from '../system/meter.ts';

/** A call that was decided, as `enforce()` answers it. */
interface Recorded {
  readonly connector: string;
  readonly tool: string;
  readonly scopes: readonly string[];
  readonly allowed: boolean;
  readonly agentId?: string;
  readonly purpose?: string | null;
  readonly arguments?: unknown;
  readonly amount?: unknown;
  readonly resource?: string;
  readonly at?: string;
}

const isRecorded = (value: unknown): value is Recorded =>
  isRecord(value) &&
  typeof value.connector === 'string' &&
  typeof value.tool === 'string' &&
  typeof value.allowed === 'boolean' &&
  Array.isArray(value.scopes) &&
  value.scopes.every((scope) => typeof scope === 'string') &&
  TEXTS.every((name) => value[name] === undefined || value[name] === null || typeof value[name] === 'string');

/** Members that are texts where they are there. */
const TEXTS = ['agentId', 'purpose', 'resource', 'at'];

interface Times {
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** Finds the calls of a connector in the audit entries, with the scopes of their grants. */
async function recordedAtService(
  context: Context,
  connector: string,
  { since, until }: Times,
): Promise<Recorded[]> {
  const client = await context.client();
  const scopes = new Map<string, Promise<readonly string[]>>();
  const scopesOf = (grantId: string) => {
    const known = scopes.get(grantId) ?? client.grants.get(grantId).then((grant) => grant.scopes);
    scopes.set(grantId, known);
    return known;
  };
  const query = {
    action: 'tool.enforce',
    limit: 500,
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
  const calls: Recorded[] = [];
  for await (const { metadata, grantId, agentId, status, timestamp } of client.audit.list(query)) {
    const { connector: of, tool, amount, resource, purpose } = Object(metadata);
    if (of !== connector || typeof grantId !== 'string') continue; // a bad token names no grant, and no manifest changes that
    calls.push({
      ...{
        connector,
        tool: String(tool),
        allowed: status === 'success',
        at: timestamp,
        scopes: await scopesOf(grantId),
      },
      ...(typeof agentId === 'string' && { agentId }),
      ...(amount !== undefined && { amount }),
      ...(typeof resource === 'string' && { resource }),
      ...(typeof purpose === 'string' && { purpose }),
    });
  }
  return calls;
}

interface Replayed {
  readonly tool: string;
  readonly agentId: string;
  readonly before: 'allow' | 'deny';
  readonly after: 'allow' | 'deny' | 'unknown';
  readonly reason: string;
  readonly at: string;
}

/** Decides recorded calls again, with another manifest. */
async function replayed(manifest: Manifest, calls: readonly Recorded[]): Promise<Replayed[]> {
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

export const REPLAY: readonly CommandSpec[] = [
  {
    name: 'replay',
    summary: 'Run a changed manifest over recorded calls, and say which answers would change',
    notes:
      'Calls come from the audit entries of the service, or from a file of results of enforce(). Arguments are in no audit entry, and caps count at their own time, so a call that depends on those is "unknown".',
    args: [{ name: 'manifest', about: 'the changed manifest' }],
    examples: [
      'behest replay manifests/crm.yaml --since 2026-11-01T00:00:00Z',
      'behest replay manifests/crm.yaml --calls results.json --fail-on-change',
    ],
    options: [
      { flags: '--calls <file>', about: 'results of enforce(), as a list of JSON or YAML' },
      { flags: '--since <time>', about: 'calls from then on' },
      { flags: '--until <time>', about: 'calls before that' },
      { flags: '--all', about: 'print the calls that do not change too' },
      { flags: '--fail-on-change', about: 'end with 1 where an answer would change' },
    ],
    run: replay,
  },
];

async function replay(context: Context, given: Given): Promise<number> {
  const manifest = await readManifest(context, given.args[0] ?? '');
  const file = textOf(given, 'calls');
  const calls =
    file === undefined
      ? await recordedAtService(context, manifest.connector, timesOf(given))
      : await callsIn(context, file);
  const outcomes = await replayed(
    manifest,
    calls.filter(({ connector }) => connector === manifest.connector),
  );
  const changed = outcomes.filter(({ before, after }) => before !== after && after !== 'unknown');
  const unknown = outcomes.filter(({ after }) => after === 'unknown').length;
  const rows: readonly Replayed[] = isSet(given, 'all') ? outcomes : changed;
  await context.rows(rows, { columns: ['tool', 'agentId', 'before', 'after', 'reason', 'at'] });
  context.note(
    `${outcomes.length} calls, ${changed.length} would be answered differently, ${unknown} cannot be known`,
  );
  return isSet(given, 'failOnChange') && changed.length > 0 ? EXIT.no : EXIT.done;
}

const timesOf = (given: Given) => ({ since: textOf(given, 'since'), until: textOf(given, 'until') });

async function callsIn(context: Context, file: string): Promise<Recorded[]> {
  const value = await dataIn(context, file);
  if (Array.isArray(value) && value.every(isRecorded)) return value;
  throw wrongUsage(
    `${file} has to be a list of results of enforce(), with connector, tool, scopes and allowed.`,
    context.help,
  );
}
