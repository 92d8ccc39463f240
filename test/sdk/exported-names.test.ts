import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SDK = join(import.meta.dirname, '../../packages/sdk');
const entries: [string, string][] = Object.entries(
  JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8')).exports,
);

test('each entry exports the names that programs import, and no others', async () => {
  const lines = entries.map(async ([entry, file]) => {
    const exported: object = await import(join(SDK, file));
    return Object.keys(exported).map((name) => `${entry} ${name}\n`);
  });

  const names = (await Promise.all(lines)).flat().toSorted();
  await expect(names.join('')).toMatchFileSnapshot('exported-names.txt');
});
