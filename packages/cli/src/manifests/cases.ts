import { dirname, join } from 'node:path';
import { GRANT_CLAIM } from '@behest/protocol/claims';
import { readGrantClaims } from '@behest/protocol/claims-reading';
import type { TokenSource } from '@behest/protocol/enforcement/ports';
import { TOOLS_TYPE } from '@behest/protocol/tools-entry';
import { dataIn } from '../api/fields.ts';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { emptyMeter } from '../system/meter.ts';
import { manifestFiles, readManifest } from './files.ts';

type Case = Readonly<Record<string, unknown>>;

const KNOWN = [
  'name',
  'scopes',
  'connector',
  'tool',
  'arguments',
  'amount',
  'purpose',
  'details',
  'resource',
  'caseId',
  'expect',
];

/** Runs a table of calls through the engine that programs use, with counters that begin empty at each call. */
export async function runCases(context: Context, file: string): Promise<number> {
  const table = await dataIn(context, file);
  const cases: unknown = isRecord(table) ? table.cases : undefined;
  const named: unknown = isRecord(table) ? table.manifests : undefined;
  if (!Array.isArray(cases) || cases.length === 0 || !cases.every(isCase)) {
    throw wrongUsage(
      `${file} has to have \`cases\`, a list of objects with connector, tool, expect and no other members than ${KNOWN.join(', ')}.`,
      context.help,
    );
  }
  const beside = file === '-' ? '.' : dirname(file);
  const paths = [named ?? beside]
    .flat()
    .map((path) => join(beside === String(path) ? '.' : beside, String(path)));
  const manifests = await Promise.all(
    manifestFiles(context, paths).map((each) => readManifest(context, each)),
  );

  const { createEnforcer } = await import('@behest/sdk/enforce');
  const tokens = caseTokens();
  const byConnector = new Map(manifests.map((each) => [each.connector, each]));
  const rows = [];
  for (const each of cases) {
    const enforcer = createEnforcer({ tokens, manifests: byConnector, meter: await emptyMeter() });
    const { connector, tool, arguments: args = {}, amount, resource, caseId } = each;
    const result = await enforcer.enforce({
      ...{ grantToken: caseToken(each), connector: String(connector), tool: String(tool), arguments: args },
      ...(amount !== undefined && { amount }),
      ...(resource !== undefined && { resource: String(resource) }),
      ...(caseId !== undefined && { caseId }),
    });
    const got = result.allowed ? 'allow' : result.reason_code;
    const expected = String(each.expect);
    const isAsExpected = got === expected || `${got}/${result.sub_reason}` === expected;
    rows.push({
      case: String(each.name ?? `${connector}.${tool}`),
      result: isAsExpected ? 'ok' : 'fail',
      expected,
      got,
      reason: result.reason,
    });
  }
  await context.rows(rows, { columns: ['case', 'result', 'expected', 'got', 'reason'] });
  return rows.every(({ result }) => result === 'ok') ? EXIT.done : EXIT.no;
}

const isCase = (value: unknown): value is Case =>
  isRecord(value) &&
  Object.keys(value).every((name) => KNOWN.includes(name)) &&
  ['connector', 'tool', 'expect'].every((name) => typeof value[name] === 'string');

/** The claims of a grant token, as text: no key signs it, and only the source below takes it. */
export function caseToken({ scopes = [], connector, purpose, details }: Case): string {
  const given = [details ?? []].flat();
  const entries = given.length > 0 || purpose === undefined ? given : [{ type: TOOLS_TYPE, connector }];
  const named = entries.map((entry) =>
    purpose === undefined || !isRecord(entry) ? entry : { purpose, ...entry },
  );
  return JSON.stringify({
    ...{ iss: 'https://cases.invalid', sub: 'user_1', dev: 'dev_1', client_id: 'ag_1', jti: 'tok_1' },
    ...{ scp: [scopes].flat(), iat: 0, exp: 4_102_444_800 },
    ...(named.length > 0 && { authorization_details: named }),
    [GRANT_CLAIM]: {
      grant_id: 'grnt_1',
      agent_did: 'did:web:cases.invalid:agents:ag_1',
      developer_id: 'dev_1',
    },
  });
}

/** A source that takes the claims of cases as they are. */
export const caseTokens = (): TokenSource => ({
  verify(token) {
    const payload: Case = JSON.parse(token);
    const read = readGrantClaims(payload);
    if (!read.ok) return read;
    const times = { issuedAt: new Date(0), expiresAt: new Date(Number(payload.exp) * 1_000) };
    const claims = { ...read.claims, ...times, issuer: String(payload.iss) };
    return { ok: true, header: { alg: 'ES256', kid: 'case', typ: 'at+jwt' }, payload, claims };
  },
});
