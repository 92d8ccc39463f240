import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SDK = join(import.meta.dirname, '../../packages/sdk');
const entries: [string, string][] = Object.entries(
  JSON.parse(readFileSync(join(SDK, 'package.json'), 'utf8')).exports,
);

test('each entry exports the names that programs import, and no others', async () => {
  const names = entries.map(async ([entry, file]): Promise<[string, string[]]> => {
    const exported: object = await import(join(SDK, file));
    return [entry, Object.keys(exported).toSorted()];
  });

  await expect(
    `${JSON.stringify(Object.fromEntries(await Promise.all(names)), undefined, 2)}\n`,
  ).toMatchFileSnapshot('exported-names.json');
});
