import { expect, test } from 'vitest';
import { capsLineage, type IssuedEntry, storedEntries, toolsEntries } from './caps-lineage.ts';

const tools = { type: 'urn:service:tools:v1', connector: 'gmail' } as const;
const lineage = { type: 'urn:service:caps-lineage:v1', connector: 'gmail' } as const;
const caps = (count: number) => ({ send: { per_day: count } });

test('the caps of the parent come after those above it', () => {
  const above = [{ grant: 'grnt_root', caps: caps(9) }];
  const entries: IssuedEntry[] = [
    { ...tools, caps: caps(5) },
    { ...lineage, ancestors: above },
  ];

  expect(capsLineage([tools], { grantId: 'grnt_parent', entries })).toEqual([
    { ...lineage, ancestors: [...above, { grant: 'grnt_parent', caps: caps(5) }] },
  ]);
});

test('a parent without caps adds nothing, and keeps what is above it', () => {
  const ancestors = [{ grant: 'grnt_root', caps: caps(9) }];

  const inherited = capsLineage([tools], { grantId: 'grnt_2', entries: [tools, { ...lineage, ancestors }] });

  expect(inherited).toEqual([{ ...lineage, ancestors }]);
  expect(capsLineage([tools], { grantId: 'grnt_2', entries: [tools] })).toEqual([]);
});

test('a connector that no scope reaches is not counted', () => {
  const entries = [{ ...tools, caps: caps(5) }];

  expect(capsLineage([], { grantId: 'grnt_1', entries })).toEqual([]);
  expect(capsLineage([{ ...tools, connector: 'crm' }], { grantId: 'grnt_1', entries })).toEqual([]);
});

test('developers are shown what was asked for', () => {
  const stored: unknown = [tools, { ...lineage, ancestors: [] }];

  expect(storedEntries(stored)).toEqual(stored);
  expect(toolsEntries(storedEntries(stored))).toEqual([tools]);
  expect(storedEntries(null)).toEqual([]);
});
