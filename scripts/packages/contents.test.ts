import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { codeOf, useInstalledPackages } from './installed.ts';

const ROOT = join(import.meta.dirname, '../..');

const packages = useInstalledPackages();

test('each entry has its types, which name files that are there', () => {
  const faults: string[] = [];
  for (const file of globSync(join(packages.home, 'node_modules/@behest/*/dist/**/*.d.ts'))) {
    for (const [, from = ''] of codeOf(file).matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
      const own = /^@behest\/(?!protocol\/)/.test(from);
      const isThere =
        !from.startsWith('.') || existsSync(join(dirname(file), from.replace(/[.]js$/, '.d.ts')));
      if (own || !isThere || from.endsWith('.ts')) faults.push(`${file} imports ${from}`);
    }
  }
  expect(faults).toEqual([]);
  for (const entry of Object.values(packages.exportsOf('sdk'))) {
    expect(existsSync(join(packages.folderOf('sdk'), entry.types)), entry.types).toBe(true);
    expect(existsSync(join(packages.folderOf('sdk'), entry.default)), entry.default).toBe(true);
  }
});

const filesIn = (folder: string, pattern = '**/*') =>
  globSync(pattern, { cwd: folder, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => relative(folder, join(file.parentPath, file.name)))
    .sort();

/** The sources of a package with the endings of what is made from them. */
const madeFrom = (folder: string, to: string, endings: readonly string[]) =>
  filesIn(join(ROOT, folder), '**/*.ts')
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => endings.map((ending) => join(to, file.replace(/[.]ts$/, ending))));

test('the tarballs hold exactly what is used', () => {
  const common = ['LICENSE', 'package.json', 'sbom.cdx.json'];
  const isShared = (file: string) => /^dist\/shared\/[\w-]+[.]js$/.test(file); // parts of several entries
  const held = (name: string) => filesIn(packages.folderOf(name)).filter((file) => !isShared(file));
  const entries = Object.values(packages.exportsOf('sdk')).map((entry) => entry.default.slice(2));
  const types = ['meter', 'sdk'].flatMap((name) =>
    madeFrom(`packages/${name}/src`, `dist/types/${name}/src`, ['.d.ts']),
  );
  const templates = filesIn(join(ROOT, 'packages/cli/templates')).map((file) => join('templates', file));

  expect(held('protocol')).toEqual(
    [...common, ...madeFrom('packages/protocol/src', 'dist', ['.d.ts', '.js'])].sort(),
  );
  expect(held('cli')).toEqual([...common, 'README.md', 'dist/bin.js', ...templates].sort());
  const sdk = held('sdk');
  expect(sdk.filter((file) => !file.startsWith('dist/types/'))).toEqual(
    [...common, 'README.md', ...entries].sort(),
  );
  expect(sdk.filter((file) => file.startsWith('dist/types/') && !types.includes(file))).toEqual([]);
  const server = held('server').filter((file) => !/^(console|dist)\/|[.]sql$|\/page\//.test(file));
  expect(server.filter((file) => /[.](test|samples|planted)[.]|[.]ts$/.test(file))).toEqual([]);
  expect(held('server').filter((file) => file.endsWith('.sql')).length).toBeGreaterThan(40);
  expect(held('server')).toEqual(expect.arrayContaining(['console/index.html', 'console/licenses.md']));
});

test('each package has a bill of materials of all that comes with it, under licences that permit its use', () => {
  for (const name of ['protocol', 'sdk', 'cli', 'server']) {
    const { dependencies } = JSON.parse(readFileSync(join(packages.folderOf(name), 'package.json'), 'utf8'));
    const bill = JSON.parse(readFileSync(join(packages.folderOf(name), 'sbom.cdx.json'), 'utf8'));
    const refs = bill.components.map((component: { purl: string }) => component.purl);
    const names = bill.components.map((component: { name: string }) => component.name);

    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
    expect(bill.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(bill.metadata.component).toMatchObject({
      name: `@behest/${name}`,
      version: packages.versionOf(name),
    });
    expect(Object.keys(dependencies).filter((each) => !names.includes(each))).toEqual([]);
    expect(bill.dependencies.map(({ ref }: { ref: string }) => ref).sort()).toEqual(
      [bill.metadata.component.purl, ...refs].sort(),
    );
    for (const { dependsOn } of bill.dependencies) for (const ref of dependsOn) expect(refs).toContain(ref);
    for (const { name: part, licenses } of bill.components)
      expect(isPermissive(licenses[0].license?.id ?? licenses[0].expression), part).toBe(true);
  }
  const { components } = JSON.parse(readFileSync(join(packages.folderOf('sdk'), 'sbom.cdx.json'), 'utf8'));
  expect(components).toContainEqual(
    expect.objectContaining({
      name: '@noble/hashes',
      properties: [{ name: 'behest:bundled', value: 'true' }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    }),
  );
});

/** An entry with all that it loads at the start, as a bundler makes it for a browser. */
async function bundled(entry: string) {
  const build = await rolldown({
    input: join(packages.folderOf('sdk'), packages.exportsOf('sdk')[entry]?.default ?? ''),
    platform: 'neutral',
    logLevel: 'silent',
    resolve: { mainFields: ['module', 'main'], conditionNames: ['import', 'default'] },
  });
  const { output } = await build.generate({ format: 'es', minify: true });
  await build.close();
  const loaded = new Set([output[0].fileName]);
  for (const name of loaded) {
    const file = output.find(({ fileName }) => fileName === name);
    for (const next of file?.type === 'chunk' ? file.imports : []) loaded.add(next);
  }
  const code = output.map((file) => (file.type === 'chunk' && loaded.has(file.fileName) ? file.code : ''));
  return { code: code.join(''), files: output.length };
}

test('the offline verification is small: less than 23 kB, the protocol included', async () => {
  const { code } = await bundled('./verify');

  expect(code.length).toBeGreaterThan(5_000);
  expect(code.length).toBeLessThan(23_000);
});

test.each([
  ['./verify', 25_000],
  ['./enforce', 64_500],
  ['./receipts', 40_000],
  ['./webhooks', 6_000],
] as const)('%s is at most %d bytes as it is sent', async (entry, most) => {
  const { code } = await bundled(entry);
  const bytes = gzipSync(code).length;

  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThanOrEqual(most);
});

test('publint finds no fault in the packages', async () => {
  for (const name of ['protocol', 'sdk', 'cli', 'server']) {
    const { messages, pkg } = await publint({ pkgDir: packages.folderOf(name), strict: true, pack: false });
    expect(messages.map((message) => formatMessage(message, Object(pkg)))).toEqual([]);
  }
});

test('the types of each entry are found by those who import it as a module', async () => {
  for (const [name, file] of packages.tarballs) {
    const analysis = await checkPackage(createPackageFromTarballData(readFileSync(file)));
    if (name === '@behest/cli' || name === '@behest/server') {
      expect(analysis.types).toBe(false); // it is a program, and nobody imports it
      continue;
    }
    if (!analysis.types) throw new Error(`${name} has no types`);
    const asModules = analysis.problems.filter(
      (problem) =>
        !('resolutionKind' in problem) || ['bundler', 'node16-esm'].includes(problem.resolutionKind),
    );
    expect(asModules).toEqual([]);
  }
});

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

  expect(product.length).toBeGreaterThan(40);
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

/** Licences, by their SPDX ids, that let a program be used, changed and sold without opening its own sources. */
const PERMISSIVE: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
]);

interface Locked {
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
}

/** A package of the toolchain or of the product, with the licence that it names. */
interface Licensed {
  readonly name: string;
  readonly license: string | undefined;
  /** True for a package that the service runs with, or that is installed with a published one. */
  readonly isOfProduct: boolean;
}

function licencesIn(lockFile: string): Licensed[] {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(readFileSync(lockFile, 'utf8'));
  return Object.entries(packages)
    .filter(([at, { link }]) => at.includes('node_modules/') && !link)
    .map(([at, { license, dev, devOptional, optional }]) => ({
      name: at.replace(/^.*node_modules\//, ''),
      license,
      isOfProduct: !(dev || devOptional || optional),
    }));
}

/** Whether one of the alternatives of an SPDX expression is permissive, with all that it joins. */
function isPermissive(license: string | undefined): boolean {
  const alternatives = license?.replace(/^\((.*)\)$/, '$1').split(' OR ') ?? [];
  return alternatives.some((each) => each.split(' AND ').every((id) => PERMISSIVE.has(id)));
}
