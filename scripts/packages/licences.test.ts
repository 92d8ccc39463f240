import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isPermissive, licencesIn } from './licences.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Tools whose licence is not in the list, with the reason why they may be used. The product has none of them. */
const TOOLS: Readonly<Record<string, string>> = {
  'axe-core': 'MPL-2.0, unchanged, in tests',
  limiter: 'names no licence to npm; its own text is MIT',
  pako: 'MIT AND Zlib, which asks for no more than MIT does',
  'xml-escape': 'names MIT in other words',
};
const isBundler = (name: string) => name.startsWith('lightningcss'); // MPL-2.0, unchanged, and only a tool

test('the product has packages under permissive licences alone', () => {
  const product = licencesIn(join(ROOT, 'package-lock.json')).filter(({ isOfProduct }) => isOfProduct);

  expect(product.length).toBeGreaterThan(100);
  expect(product.filter(({ license }) => !isPermissive(license))).toEqual([]);
});

test('the toolchain has packages under permissive licences, but for those that are named', () => {
  const tools = ['package-lock.json', 'scripts/site/package-lock.json'].flatMap((file) =>
    licencesIn(join(ROOT, file)),
  );
  const others = tools.filter(({ name, license }) => !isPermissive(license) && !isBundler(name));

  expect(tools.length).toBeGreaterThan(700);
  expect([...new Set(others.map(({ name }) => name))].sort()).toEqual(Object.keys(TOOLS));
});

test('an expression is permissive when one of its alternatives is', () => {
  expect(isPermissive('(AFL-2.1 OR BSD-3-Clause)')).toBe(true);
  expect(isPermissive('MIT AND GPL-3.0-only')).toBe(false);
  expect(isPermissive('GPL-3.0-only')).toBe(false);
  expect(isPermissive(undefined)).toBe(false);
});
