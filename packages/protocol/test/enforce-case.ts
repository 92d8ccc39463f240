import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { readGrantClaims } from '../src/claims-reading.ts';
import { actionHash, actionOf } from '../src/enforcement/action.ts';
import type { Call } from '../src/enforcement/call.ts';
import { createEnforcer } from '../src/enforcement/enforcer.ts';
import type { EnforcerSetup } from '../src/enforcement/engine.ts';
import { bindingOf } from '../src/enforcement/manifest-checks.ts';
import { MeterError } from '../src/enforcement/meter.ts';
import type { GrantStatus, TokenSource } from '../src/enforcement/ports.ts';
import { manifestFromObject } from '../src/manifest/load.ts';
import type { Manifest } from '../src/manifest/manifest.ts';
import { type PlainDecision, PlainDecisions } from './plain-decisions.ts';
import { PlainMeter } from './plain-meter.ts';

/** One case of the shared vectors. Its other members depend on the kind. */
export interface VectorCase {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly [member: string]: unknown;
}

/** A file of shared vectors. Other implementations pass the same file. */
interface Vectors {
  readonly format: string;
  readonly epoch_ms: number;
  readonly issuer: string;
  readonly manifests: Readonly<Record<string, unknown>>;
  readonly cases: readonly VectorCase[];
}

const formats = {
  enforcement: 'behest.enforcement-vectors/1',
  argument: 'behest.argument-vectors/1',
};

/** @throws Error when the file is of another format */
export function vectorsOf(name: keyof typeof formats): Vectors {
  const text = readFileSync(new URL(`../vectors/${name}-vectors.json`, import.meta.url), 'utf8');
  const vectors: Vectors = JSON.parse(text);
  if (vectors.format !== formats[name]) throw new Error(`The vectors have the format ${vectors.format}.`);
  return vectors;
}

/** A kind of case: the members that it may have, and its run, which throws when the case fails. */
export interface Kind {
  readonly members: readonly string[];
  readonly run: (vector: VectorCase, vectors: Vectors) => void | Promise<void>;
}

/** Runs one case. @throws Error for a kind or member that is not known: a case must not be skipped */
export async function runCase(kinds: Readonly<Record<string, Kind>>, vector: VectorCase, vectors: Vectors) {
  const kind = Object.hasOwn(kinds, vector.kind) ? kinds[vector.kind] : undefined;
  if (!kind) throw new Error(`The kind ${vector.kind} of ${vector.id} is not known.`);
  mustKnow(vector, ['id', 'title', 'kind', 'expect', ...kind.members]);
  await kind.run(vector, vectors);
}

/** @throws Error when the object has a member that is not in the list */
function mustKnow(value: object, members: readonly string[]): void {
  const unknown = Object.keys(value).find((name) => !members.includes(name));
  if (unknown !== undefined) throw new Error(`The member ${unknown} is not known.`);
}

type Fields = Readonly<Record<string, unknown>>;

export const enforceMembers = ['manifest', 'claims', 'token', 'config', 'decisions', 'calls'];

/** The members of a call in a case, and their names in the engine. */
const callMembers: Readonly<Record<string, keyof Call>> = {
  connector: 'connector',
  tool: 'tool',
  arguments: 'arguments',
  resource: 'resource',
  amount: 'amount',
  case_id: 'caseId',
  case_version: 'caseVersion',
  cost_components: 'costComponents',
  call_id: 'callId',
  decision_grants: 'decisionGrants',
  caps_mode: 'capsMode',
  reserve: 'reserve',
  tool_pin: 'toolPin',
};
const expectMembers = [
  'allowed',
  'reason_code',
  'sub_reason',
  'details',
  'would_deny',
  'warnings',
  'usage',
  'purpose',
];

/** Runs the calls of a case in order, on one meter and one issuer of decisions. */
export async function runEnforce(vector: VectorCase, vectors: Vectors): Promise<void> {
  let now = vectors.epoch_ms;
  const meter = new PlainMeter(() => now);
  const calls = listOf(vector.calls);
  const decisions = await decisionsOf(vector, vectors, () => now);
  const enforcer = createEnforcer({ ...setupOf(vector, vectors, meter), decisions });
  for (const entry of calls) {
    mustKnow(entry, ['at_ms', 'call', 'expect']);
    now = vectors.epoch_ms + Number(entry.at_ms ?? 0);
    const call = callOf(objectOf(entry.call));
    const result = await enforcer.enforce(call);
    const expected = objectOf(entry.expect);
    mustKnow(expected, expectMembers);
    const { would_deny = [], warnings, usage = {}, details = {}, ...rest } = expected;
    expect(result).toMatchObject(rest);
    expect(result.details).toMatchObject(details ?? {});
    expect((result.would_deny ?? []).map((denial) => [denial.reason_code, denial.sub_reason])).toEqual(
      would_deny,
    );
    if (warnings) expect(result.warnings.map(({ code }) => code)).toEqual(warnings);
    for (const [key, units] of Object.entries(objectOf(usage)))
      expect([key, meter.usedOf(key)]).toEqual([key, units]);
  }
}

/** The engine of a case. */
export function setupOf(
  { manifest = 'kyb', claims, token, config = {} }: VectorCase,
  vectors: Vectors,
  meter: PlainMeter,
) {
  const { caps_mode: capsMode, data_region: dataRegion, meter: state = 'ok', ...others } = objectOf(config);
  mustKnow(others, []);
  const loaded = [manifest].flat().flatMap((one) => {
    const value = typeof one === 'string' ? vectors.manifests[one] : one;
    return loadable(value);
  });
  const status: GrantStatus = token === 'revoked' ? 'revoked' : 'active';
  const setup: EnforcerSetup = {
    tokens: tokensOf(objectOf(claims), token === 'revoked' ? undefined : token),
    manifests: new Map(loaded.map((one) => [one.connector, one])),
    revocation: { check: () => status },
    ...(state !== 'none' && { meter: state === 'down' ? downMeter(meter) : meter }),
    ...(typeof dataRegion === 'string' && { dataRegion }),
    ...((capsMode === 'warn' || capsMode === 'enforce') && { capsMode }),
  };
  return setup;
}

/** A manifest that does not load is not there. */
function loadable(value: unknown): Manifest[] {
  try {
    return [manifestFromObject(value)];
  } catch {
    return [];
  }
}

const refusals = { expired: 'expired', signature: 'bad_signature' } as const;

function tokensOf(claims: Fields, fault: unknown): TokenSource {
  const cause = Object.entries(refusals).find(([name]) => name === fault)?.[1];
  if (fault !== undefined && !cause) throw new Error(`The token fault ${fault} is not known.`);
  const payload = { jti: 'tok_1', ...claims };
  const read = readGrantClaims(payload);
  return {
    verify() {
      if (cause) return { ok: false, reason: cause };
      if (!read.ok) return read;
      const facts = { ...read.claims, issuer: 'https://auth.example', expiresAt: new Date(8e15) };
      return { ok: true, header: { alg: 'ES256' }, payload, claims: facts };
    },
  };
}

function downMeter(meter: PlainMeter) {
  const down = async () => {
    throw new MeterError('unreachable');
  };
  return {
    reserve: down,
    sent: down,
    refundUnsent: down,
    usage: down,
    health: down,
    prune: () => meter.prune(),
  };
}

async function decisionsOf(
  { decisions = {}, calls, manifest }: VectorCase,
  { epoch_ms, issuer }: Vectors,
  now: () => number,
) {
  const first = callOf(objectOf(listOf(calls)[0]?.call));
  const { connector, tool, arguments: args, caseId, caseVersion = null } = first;
  const parts = {
    connector,
    tool,
    arguments: args,
    caseId: typeof caseId === 'string' ? caseId : null,
    caseVersion,
    binding: await bindingIn(manifest, tool),
  };
  const action = actionOf(parts);
  const hash = action && (await actionHash(action));
  const grants = Object.entries(objectOf(decisions)).map(([handle, grant]): [string, PlainDecision] => {
    const { claims, ...rest } = objectOf(grant);
    mustKnow(rest, ['signature', 'typ']);
    const { iat, exp, action_hash, ...others } = objectOf(claims);
    const seconds = epoch_ms / 1_000;
    const times = { iat: seconds + Number(iat), exp: seconds + Number(exp) };
    return [
      handle,
      {
        ...rest,
        claims: { ...others, ...times, action_hash: action_hash === '$action' ? hash : action_hash },
      },
    ];
  });
  return new PlainDecisions(new Map(grants), { issuer, now });
}

/** What the inline manifest of a case binds. */
async function bindingIn(manifest: unknown, tool: string) {
  if (typeof manifest !== 'object' || Array.isArray(manifest)) return undefined;
  const [loaded] = loadable(manifest);
  const declared = loaded?.tools.get(tool);
  return loaded && declared && bindingOf(loaded, declared);
}

function callOf(members: Fields): Call {
  const named = Object.entries(members).map(([name, value]) => {
    const known = Object.hasOwn(callMembers, name) ? callMembers[name] : undefined;
    if (!known) throw new Error(`The member ${name} of a call is not known.`);
    return [known, value];
  });
  return { grantToken: 'token', ...Object.fromEntries(named) };
}

function objectOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('No object.');
  return { ...value };
}

function listOf(value: unknown): Fields[] {
  if (!Array.isArray(value)) throw new Error('No list.');
  return value.map(objectOf);
}
