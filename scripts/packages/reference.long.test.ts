import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeReference } from './reference.ts';

const ROOT = join(import.meta.dirname, '../..');

test('the reference has the methods with their comments, and no comment names a thing that is not there', async () => {
  const out = mkdtempSync(join(tmpdir(), 'reference-'));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));

  await writeReference(ROOT, out);

  const page = readFileSync(join(out, 'index/interfaces/AgentsApi.md'), 'utf8');
  expect(page).toContain('Register an agent.');
  expect(page).toContain('`POST /v1/agents`');
}, 240_000); // the compiler takes long on a busy machine
