import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { grantTo } from '../../apps/server/test/app/flow.ts';
import { checkArchive, checkPack } from '../../docs/guides/examples/check-pack.ts';
import { blocksOf, listening } from './steps.ts';

test('an audit, step by step, is counted, exported and proved on another machine', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  await grantTo(acme);

  const steps = blocksOf('docs/guides/show-an-auditor-what-happened.md', 'sh').join('\n');
  const told = await shell(`cd "$FOLDER"\n${steps}`, { KEY: acme.apiKey, FOLDER: folder });

  expect(told.trim().split(/\r?\n/)).toEqual([
    '{"total":1,"active":1,"revoked":0,"expired":0}',
    'id,grantId,agentId,agentDid',
    'end',
    'whole',
    '1.6.0',
    'ocsf',
    'Entity Management: Create',
    'end',
    'Case 7',
    'erasure',
    '[true,5]',
  ]);
  const pack = readFileSync(join(folder, 'pack.json'));
  const jwks = JSON.parse(readFileSync(join(folder, 'jwks.json'), 'utf8'));
  expect(checkPack(pack, jwks)).toMatchObject({ isGenuine: true, problem: null, chain: { valid: true } });
  const archive = readFileSync(join(folder, 'evidence.zip'));
  expect(checkArchive(archive, jwks)).toMatchObject({ isGenuine: true, chain: { valid: true } });
  expect(checkArchive(archive.subarray(1), jwks)).toMatchObject({ isGenuine: false, problem: 'malformed' });
  expect(checkPack(pack.subarray(1), jwks)).toMatchObject({ isGenuine: false, problem: 'malformed' });
});
