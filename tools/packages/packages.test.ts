import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPermissive } from './licences.ts';
import { installTarballs, packTarballs } from './tarballs.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The oldest Node on the path that the packages are for, or this one. */
function olderNode(): string {
  const programs = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const versionOf = (program: string) =>
    spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout;
  const found = [...new Set(programs)]
    .filter((program) => existsSync(program))
    .map((program) => ({ program, version: versionOf(program) }))
    .filter(({ version }) => version.localeCompare('20.19', 'en', { numeric: true }) >= 0)
    .sort((one, other) => one.version.localeCompare(other.version, 'en', { numeric: true }));
  return found[0]?.program ?? process.execPath;
}

let home: string;
let tarballs: ReadonlyMap<string, string>;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'packages-'));
  tarballs = await packTarballs(ROOT, home);
  installTarballs(ROOT, tarballs, home);
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
}, 240_000); // the compiler takes long on a busy machine
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The text of a file without its comments, whose examples import what the file does not. */
const codeOf = (file: string) => readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

const distributed = (name: string) => join(home, 'node_modules/@behest', name);
const version = (name: string): string =>
  JSON.parse(readFileSync(join(distributed(name), 'package.json'), 'utf8')).version;
const exportsOf = (name: string): Record<string, { types: string; default: string }> =>
  JSON.parse(readFileSync(join(distributed(name), 'package.json'), 'utf8')).exports;

/** Every file that an entry of the SDK loads, the protocol's included, and the names of all else that it imports. */
function reachedFrom(entry: string) {
  const [files, others] = [new Set<string>(), new Set<string>()];
  const visit = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    for (const [, from = ''] of codeOf(file).matchAll(
      /(?:^|[\s;}])(?:import|from)\s*\(?\s*["']([^"'\n]+)["']/g,
    )) {
      if (from.startsWith('.')) visit(join(dirname(file), from));
      else if (from.startsWith('@behest/protocol/'))
        visit(join(distributed('protocol'), 'dist', `${from.slice('@behest/protocol/'.length)}.js`));
      else others.add(from);
    }
  };
  visit(join(distributed('sdk'), exportsOf('sdk')[entry]?.default ?? ''));
  return { files: [...files], others: [...others] };
}

const PORTABLE = ['.', './verify', './enforce', './hono', './webhooks'];

test.each(PORTABLE)('%s and all that it loads run where there is no Node', (entry) => {
  const { files, others } = reachedFrom(entry);

  expect(files.length).toBeGreaterThan(2);
  expect(others.filter((name) => name.startsWith('node:') || builtinModules.includes(name))).toEqual([]);
  for (const file of files)
    expect(codeOf(file)).not.toMatch(/\bBuffer\b|\brequire\(|(?<!globalThis\.)\bprocess\.|__dirname/);
});

test('the client loads the parser of YAML with the first YAML file, and not before', () => {
  const manifest = (connector: string) =>
    `{"connector":"${connector}","tools":{"lookup":{"permission":"read"}}}`;
  for (const [folder, file] of [
    ['plain', 'crm.json'],
    ['mixed', 'mail.yaml'],
  ] as const) {
    mkdirSync(join(home, folder));
    writeFileSync(join(home, folder, file), manifest(folder));
  }
  writeFileSync(
    join(home, 'loaded.js'),
    `import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) });
    const parsers = () => [...loaded].filter((url) => /node_modules[/]yaml[/]|yaml-text/.test(url)).length;
    const { Behest } = await import('@behest/sdk');
    const counts = [loaded.size > 20, parsers()];
    const behest = new Behest({ apiKey: null, baseUrl: 'https://auth.example', developerId: 'dev_1' });
    await behest.loadManifestsFromDir('plain');
    counts.push(parsers());
    await behest.loadManifestsFromDir('mixed');
    console.log(...counts, parsers() > 1, ['plain', 'mixed'].every((name) => behest.manifest(name)));`,
  );

  const { stdout, stderr } = spawnSync(process.execPath, ['loaded.js'], { cwd: home, encoding: 'utf8' });

  expect({ stdout, stderr }).toEqual({ stdout: 'true 0 0 true true\n', stderr: '' });
});

test('each entry loads, and verifies a token, on an older Node', async () => {
  const entries = Object.keys(exportsOf('sdk')).filter((name) => name !== './langgraph'); // it needs LangGraph
  const names = entries.map((name) => name.replace(/^\./, '@behest/sdk'));
  writeFileSync(
    join(home, 'try.js'),
    `import { createVerifier, preloadJwks } from '@behest/sdk/verify';
    for (const name of ${JSON.stringify(names)}) await import(name);
    const { publicKey, privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
    const jwk = { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid: 'service-es256-a', alg: 'ES256', use: 'sig' };
    const jwksUri = 'https://auth.example/.well-known/jwks.json';
    preloadJwks({ keys: [jwk] }, jwksUri);
    const text = (value) => btoa(JSON.stringify(value)).replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_');
    const now = Math.floor(Date.now() / 1000);
    const signed = text({ alg: 'ES256', kid: jwk.kid, typ: 'at+jwt' }) + '.' +
      text({ iss: 'https://auth.example', sub: 'user_42', dev: 'dev_1', jti: 'tok_1', scp: ['a:b'], iat: now, exp: now + 60 });
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, new TextEncoder().encode(signed));
    const token = signed + '.' + btoa(String.fromCharCode(...new Uint8Array(signature))).replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_');
    const { principalId } = await createVerifier({ jwksUri, developerId: 'dev_1' }).verify(token);
    console.log(principalId, process.versions.node);`,
  );

  const { stdout, stderr } = spawnSync(olderNode(), ['try.js'], { cwd: home, encoding: 'utf8' });

  expect(stderr).not.toMatch(/Error/);
  expect(stdout).toMatch(/^user_42 (2\d)/);
});

test('the installed client calls the service, and repeats a call that was lost, on an older Node', () => {
  writeFileSync(
    join(home, 'call.js'),
    `import { Behest, BehestNotFoundError, generatePkce } from '@behest/sdk';
    const asked = [];
    const answers = [() => { throw new TypeError('fetch failed') }, () => Response.json({ agents: [{ id: 'ag_1' }], nextCursor: 'c' }),
      () => Response.json({ agents: [], nextCursor: null }), () => Response.json({ code: 'NOT_FOUND', message: 'No.' }, { status: 404 })];
    const fetch = async (url) => (asked.push(url), answers.shift()());
    const behest = new Behest({ apiKey: 'bh_test_1', baseUrl: 'https://auth.example', fetch });
    const ids = [];
    for await (const { id } of behest.agents.list()) ids.push(id);
    const missing = await behest.agents.get('a b').catch((error) => error instanceof BehestNotFoundError);
    console.log(ids.join(), asked.map((url) => url.slice(20)).join(' '), missing, generatePkce().codeVerifier.length);`,
  );

  const { stdout, stderr } = spawnSync(olderNode(), ['call.js'], { cwd: home, encoding: 'utf8' });

  expect({ stdout, stderr }).toEqual({
    stdout: 'ag_1 /v1/agents /v1/agents /v1/agents?cursor=c /v1/agents/a%20b true 43\n',
    stderr: '',
  });
});

test('each entry has its types, which name files that are there', () => {
  const faults: string[] = [];
  for (const file of globSync(join(home, 'node_modules/@behest/*/dist/**/*.d.ts'))) {
    for (const [, from = ''] of codeOf(file).matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
      const own = /^@behest\/(?!protocol\/)/.test(from);
      const isThere =
        !from.startsWith('.') || existsSync(join(dirname(file), from.replace(/[.]js$/, '.d.ts')));
      if (own || !isThere || from.endsWith('.ts')) faults.push(`${file} imports ${from}`);
    }
  }
  expect(faults).toEqual([]);
  for (const entry of Object.values(exportsOf('sdk'))) {
    expect(existsSync(join(distributed('sdk'), entry.types)), entry.types).toBe(true);
    expect(existsSync(join(distributed('sdk'), entry.default)), entry.default).toBe(true);
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
  const held = (name: string) => filesIn(distributed(name)).filter((file) => !isShared(file));
  const entries = Object.values(exportsOf('sdk')).map((entry) => entry.default.slice(2));
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
  const server = held('server').filter((file) => !/^dist\/|[.]sql$|\/page\//.test(file));
  expect(server.filter((file) => /[.](test|samples|planted)[.]|[.]ts$/.test(file))).toEqual([]);
  expect(held('server').filter((file) => file.endsWith('.sql')).length).toBeGreaterThan(100);
});

test('each package has a bill of materials of all that comes with it, under licences that permit its use', () => {
  for (const name of ['protocol', 'sdk', 'cli', 'server']) {
    const { dependencies } = JSON.parse(readFileSync(join(distributed(name), 'package.json'), 'utf8'));
    const bill = JSON.parse(readFileSync(join(distributed(name), 'sbom.cdx.json'), 'utf8'));
    const refs = bill.components.map((component: { purl: string }) => component.purl);
    const names = bill.components.map((component: { name: string }) => component.name);

    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
    expect(bill.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(bill.metadata.component).toMatchObject({ name: `@behest/${name}`, version: version(name) });
    expect(Object.keys(dependencies).filter((each) => !names.includes(each))).toEqual([]);
    expect(bill.dependencies.map(({ ref }: { ref: string }) => ref).sort()).toEqual(
      [bill.metadata.component.purl, ...refs].sort(),
    );
    for (const { dependsOn } of bill.dependencies) for (const ref of dependsOn) expect(refs).toContain(ref);
    for (const { name: part, licenses } of bill.components)
      expect(isPermissive(licenses[0].license?.id ?? licenses[0].expression), part).toBe(true);
  }
  const { components } = JSON.parse(readFileSync(join(distributed('sdk'), 'sbom.cdx.json'), 'utf8'));
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
    input: join(distributed('sdk'), exportsOf('sdk')[entry]?.default ?? ''),
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

test('the offline verification is small: less than 20 kB, the protocol included', async () => {
  const { code } = await bundled('./verify');

  expect(code.length).toBeGreaterThan(5_000);
  expect(code.length).toBeLessThan(20_000);
});

test.each([
  ['./verify', 25_000],
  ['./enforce', 60_000],
  ['./webhooks', 6_000],
] as const)('%s is at most %d bytes as it is sent', async (entry, most) => {
  const { code } = await bundled(entry);
  const bytes = gzipSync(code).length;

  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThanOrEqual(most);
});

test('the installed program runs on an older Node, and starts by loading little', () => {
  const program = join(distributed('cli'), 'dist/bin.js');
  const ask = (...argv: string[]) =>
    spawnSync(olderNode(), [program, ...argv], {
      cwd: home,
      encoding: 'utf8',
      env: { BEHEST_CONFIG: join(home, 'cli.json') },
    });

  expect(ask('--version')).toMatchObject({ stdout: `behest ${version('cli')}\n`, stderr: '', status: 0 });
  expect(ask('--help').stdout).toMatch(/^Start$[\s\S]*^Operate$/m);
  expect(ask('agents', 'register', '--name', 'x', '--dry-run')).toMatchObject({
    stdout: expect.stringContaining('-d'),
    status: 0,
  });
  expect(ask('manifest', 'show', 'github').stdout).toContain('connector: github\n');
  expect(ask('init', 'made', '--template', 'express').status).toBe(0);
  expect(existsSync(join(home, 'made/.env.example'))).toBe(true);
  expect(ask('agnets')).toMatchObject({
    status: 2,
    stderr: "error: Unknown command 'agnets'. Did you mean agents?\ntry: behest --help\n",
  });
  const loaded = readFileSync(program, 'utf8').match(/^import .* from "([^"]+)"/gm) ?? [];
  expect(loaded.filter((line) => /commander|yaml|@behest/.test(line))).toEqual([]);
});

test('publint finds no fault in the packages', async () => {
  for (const name of ['protocol', 'sdk', 'cli', 'server']) {
    const { messages, pkg } = await publint({ pkgDir: distributed(name), strict: true, pack: false });
    expect(messages.map((message) => formatMessage(message, Object(pkg)))).toEqual([]);
  }
});

test('the types of each entry are found by those who import it as a module', async () => {
  for (const [name, file] of tarballs) {
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
