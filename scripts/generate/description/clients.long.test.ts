import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { expect, onTestFinished, test } from 'vitest';

const FILE = join(import.meta.dirname, '../../../openapi.json');
const NOUNS = [
  'Agent',
  'AgentPage',
  'Grant',
  'AuditEntry',
  'Webhook',
  'Error',
  'InvalidGrantReason',
  'ReasonCode',
];

test('openapi-typescript makes a client whose types have the names of the product', async () => {
  const text = astToString(await openapiTypescript(new URL(`file://${FILE}`)));

  for (const noun of NOUNS) expect(text).toMatch(new RegExp(`^ {8}${noun}: `, 'm'));
  expect(text).toMatch(/"application\/json": components\["schemas"\]\["Agent"\];/);
  expect(text).toMatch(/^ {8}NotFound: \{/m);
  expect(text).toMatch(/^ {8}IdempotencyKey: /m);
  expect(text).toContain('"code_unknown" | "code_used"');
});

test('@hey-api/openapi-ts makes a client whose types have the names of the product', async () => {
  const out = mkdtempSync(join(tmpdir(), 'behest-client-'));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));

  await createClient({
    input: FILE,
    output: out,
    logs: { level: 'silent' },
    plugins: ['@hey-api/typescript'],
  });

  const files = globSync('**/types.gen.ts', { cwd: out });
  const text = files.map((file) => readFileSync(join(out, file), 'utf8')).join('\n');
  for (const noun of NOUNS) expect(text).toMatch(new RegExp(`^export type ${noun} = `, 'm'));
  expect(text).toMatch(/^export type AgentsGetResponses = \{[^}]+ 200: Agent;/m);
  expect(text).toMatch(/ 404: Error & \{\s+code\?: 'NOT_FOUND';/);
  expect(text).toContain("'code_unknown' | 'code_used'");
}, 180_000); // it writes and formats thirty thousand lines

test('two linters find no fault in the description', () => {
  const lint = spawnSync(process.execPath, [join(import.meta.dirname, 'lint.mjs')], { encoding: 'utf8' });

  expect(lint).toMatchObject({ stdout: '', stderr: '', status: 0 });
}, 180_000);
