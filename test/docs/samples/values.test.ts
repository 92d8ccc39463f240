import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { samplesOf } from './blocks.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** The values that commands use, before a command sets them. */
function unsetIn(code: string, set: Set<string>): string[] {
  return code.split('\n').flatMap((line) => {
    const used = [...line.matchAll(/\$\{?([A-Z][A-Z_]+)(?![A-Z_]|:-)/g)].map(([, name = '']) => name);
    const unset = used.filter((name) => !set.has(name));
    for (const [, name = ''] of line.matchAll(/(?:^|[;\s])([A-Z][A-Z_]+)=/g)) set.add(name);
    return unset;
  });
}

const pages = globSync('docs/guides/*.md', { cwd: ROOT }).toSorted();
const samples = samplesOf(ROOT);

test.each(pages)('%s says where the values of its commands come from', (page) => {
  const prose = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const set = new Set<string>();
  const unset = samples
    .filter((sample) => sample.page === page && sample.language === 'sh')
    .flatMap(({ code }) => unsetIn(code, set));

  expect([...new Set(unset)].filter((name) => !new RegExp(`\\b${name}\\b`).test(prose))).toEqual([]);
});

test('a value that nothing sets would be found', () => {
  expect(unsetIn('A_KEY=1\ncurl "$A_KEY" "$OTHER"', new Set())).toEqual(['OTHER']);
});
