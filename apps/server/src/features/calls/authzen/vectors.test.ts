import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { partsOf, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

interface Expected {
  readonly allowed: boolean;
  readonly reason_code?: string | null;
  readonly sub_reason?: string | null;
  readonly warnings?: readonly string[];
}

interface Case {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly manifest?: unknown;
  readonly claims: {
    readonly grnt?: string;
    readonly scp: string[];
    readonly authorization_details?: unknown;
  };
  readonly calls: readonly {
    readonly at_ms?: number;
    readonly call: Readonly<Record<string, unknown>>;
    readonly expect: Expected;
  }[];
}

const path = '../../../../../../packages/protocol/vectors/enforcement-vectors.json';
const vectors: { readonly manifests: Readonly<Record<string, unknown>>; readonly cases: readonly Case[] } =
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

const sandbox = sharedSandbox();

/** Nobody has a token like these: the service refuses the scopes or details that its person would consent to, or the manifest. */
const REFUSED = [
  ...[17, 23, 24, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 45, 48],
  ...[50, 52, 56, 57, 58, 64, 66, 94, 96],
].map((number) => `enf-${String(number).padStart(3, '0')}`);

/** Cases about a token that is shown, the meter's faults, decisions and moved clocks are not about a stored token. */
const OTHERS = ['token', 'config', 'decisions'];
const isAboutStored = (one: Case) =>
  one.kind === 'enforce' &&
  one.claims.grnt !== undefined &&
  !OTHERS.some((member) => member in one) &&
  !JSON.stringify(one.calls).includes('\\u0000') && // no body of the service has this character
  one.calls.every(
    ({ at_ms, call }) => at_ms === undefined && !('tool_pin' in call) && !('caps_mode' in call),
  );

/** A developer who has the manifests of a case, or nothing where the service takes no manifest like them. */
async function developerFor({ manifest = 'kyb' }: Case) {
  const { acme } = await sandbox();
  for (const one of [manifest].flat()) {
    const value = Object(typeof one === 'string' ? vectors.manifests[one] : one);
    const body = { $schema: 'x', version: '1', ...value };
    if ((await acme('PUT', `/v1/manifests/${value.connector}`, body)).statusCode >= 400) return undefined;
  }
  return acme;
}

/** The request that leads to the claims of a case. A person consents to one purpose, which all entries get. */
function requestOf({ claims: { scp: scopes, authorization_details: details } }: Case) {
  if (!Array.isArray(details))
    return { scopes, ...(details !== undefined && { authorizationDetails: details }) };
  const purposes = new Set(details.map((entry) => Object(entry).purpose));
  const [purpose] = purposes;
  if (purposes.size !== 1 || typeof purpose !== 'string') return { scopes, authorizationDetails: details };
  return { scopes, purpose, authorizationDetails: details.map(({ purpose: _, ...entry }) => entry) };
}

/** A token with the claims of a case, or nothing where the service issues none like it. */
async function tokenOf(one: Case) {
  const acme = await developerFor(one);
  if (!acme) return undefined;
  const { agentId } = await registerAgent(acme);
  const asked = await acme('POST', '/v1/authorize', { agentId, principalId: 'user_1', ...requestOf(one) });
  if (asked.statusCode !== 201) return undefined;
  const issued = await acme('POST', '/v1/token', { code: asked.json().code, agentId });
  return { acme, id: String(partsOf(issued.json().grantToken).payload.jti) };
}

/** The answers to the calls of a case, and what the case expects, in the same words. */
async function compare(one: Case, token: { readonly acme: Developer; readonly id: string }) {
  const answers: unknown[] = [];
  const expected: unknown[] = [];
  for (const { call, expect: wanted } of one.calls) {
    const { connector, tool, arguments: args, resource, reserve, call_id, ...context } = call;
    const body = {
      subject: { type: 'token', id: token.id },
      action: { name: tool, ...(args !== undefined && { properties: { arguments: args } }) },
      resource: {
        type: 'connector',
        id: connector,
        ...(resource !== undefined && { properties: { resource } }),
      },
      context: {
        ...context,
        ...(reserve === false && { check_only: true }),
        ...(call_id !== undefined && { call_id: `${one.id}.${call_id}` }),
      },
    };
    const { decision, context: told = {} } = (await token.acme('POST', '/access/v1/evaluation', body)).json();
    const { reason_code = null, sub_reason = null, warnings } = told;
    const { allowed, reason_code: code = null, sub_reason: sub = null, warnings: codes } = wanted;
    const areTold = codes && { warnings: warnings?.map((warning: { code: string }) => warning.code) ?? [] };
    answers.push({ decision, reason_code, sub_reason, ...areTold });
    expected.push({
      decision: allowed,
      reason_code: code,
      sub_reason: sub,
      ...(codes && { warnings: codes }),
    });
  }
  return { answers, expected };
}

test.each(vectors.cases.filter(isAboutStored).map((one) => [`${one.id} ${one.title}`, one] as const))(
  '%s',
  async (_, one) => {
    const token = await tokenOf(one);
    expect([one.id, token === undefined]).toEqual([one.id, REFUSED.includes(one.id)]);
    if (!token) return;

    const { answers, expected } = await compare(one, token);

    expect(answers).toEqual(expected);
  },
);

test('a vector whose scope has one letter less has another decision', async () => {
  const [plain] = vectors.cases.filter(({ id }) => id === 'enf-001');
  if (!plain) throw new Error('There is no such vector.');
  const scp = plain.claims.scp.map((scope) => scope.replace('acme_kyb', 'acme_ky'));
  const changed = { ...plain, claims: { ...plain.claims, scp } };
  const token = await tokenOf(changed);
  if (!token) throw new Error('The token was refused.');

  const { answers, expected } = await compare(changed, token);

  expect(answers).not.toEqual(expected);
});
