import { expect, test } from 'vitest';
import { engineSetup } from '../../test/engine-setup.ts';
import { manifestFromObject } from '../manifest/load.ts';
import type { EnforcerSetup, OfferedTool } from './engine.ts';
import { listTools } from './list-tools.ts';

const declared = engineSetup({ permission: 'read' });

/** The listed names, and for each hidden one its reason. */
async function listed(change: Partial<EnforcerSetup>, names: readonly string[] = ['t0']) {
  const tools: OfferedTool[] = names.map((name) => ({ name }));
  const answer = await listTools(
    { ...declared, ...change },
    { grantToken: 'token', connector: 'pay', tools },
  );
  const hidden = answer.hidden.map(
    ({ tool, reason_code: code, sub_reason: sub }) => `${tool} ${code}/${sub}`,
  );
  return [...answer.tools.map(({ name }) => name), ...hidden];
}

test('a declared tool that the token grants is listed', async () => {
  expect(await listed({})).toEqual(['t0']);
});

test.each<[string, Partial<EnforcerSetup>, string]>([
  ['expired', { tokens: { verify: () => ({ ok: false, reason: 'expired' }) } }, 'token_invalid/null'],
  ['revoked', { revocation: { check: () => 'revoked' } }, 'grant_revoked/revoked'],
  [
    'that nobody could check',
    { revocation: { check: () => Promise.reject() } },
    'grant_revoked/status_unavailable',
  ],
])('a token that is %s lists nothing', async (_, change, reason) => {
  expect(await listed(change, ['t0', 't1'])).toEqual([`t0 ${reason}`, `t1 ${reason}`]);
});

test('a tool that is offered twice is hidden if it is declared, and unknown if it is not', async () => {
  expect(await listed({}, ['t0', 't0', 'new', 'new'])).toEqual([
    't0 manifest_unknown_tool/tool_ambiguous',
    't0 manifest_unknown_tool/tool_ambiguous',
    'new manifest_unknown_tool/unknown_tool',
    'new manifest_unknown_tool/unknown_tool',
  ]);
});

test('a declared tool that is offered twice and not granted is ambiguous too', async () => {
  const claims = { scp: ['tool:other:read'] };

  expect(await listed(engineSetup({ permission: 'read' }, { claims }), ['t0', 't0'])).toEqual([
    't0 manifest_unknown_tool/tool_ambiguous',
    't0 manifest_unknown_tool/tool_ambiguous',
  ]);
});

test('a legacy manifest lists no tool whose name no list may hold', async () => {
  const legacy = manifestFromObject({ connector: 'pay', tools: { t0: 'read', 'a b': 'read' } });

  expect(await listed({ manifests: new Map([['pay', legacy]]) }, ['t0', 'a b'])).toEqual([
    't0',
    'a b manifest_unknown_tool/unknown_tool',
  ]);
});
