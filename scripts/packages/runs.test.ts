import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { installTarballs, packTarballs } from './build.ts';
import { codeOf, useInstalledPackages } from './installed.ts';

const packages = useInstalledPackages();

/** The oldest Node on the path that the packages are for, or this one. */
function olderNode(): string {
  const programs = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const versionOf = (program: string) =>
    spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout;
  const found = [...new Set(programs)]
    .filter((program) => existsSync(program))
    .map((program) => ({ program, version: versionOf(program) }))
    .filter(({ version }) => version.localeCompare('22.12', 'en', { numeric: true }) >= 0)
    .sort((one, other) => one.version.localeCompare(other.version, 'en', { numeric: true }));
  return found[0]?.program ?? process.execPath;
}

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
        visit(join(packages.folderOf('protocol'), 'dist', `${from.slice('@behest/protocol/'.length)}.js`));
      else others.add(from);
    }
  };
  visit(join(packages.folderOf('sdk'), packages.exportsOf('sdk')[entry]?.default ?? ''));
  return { files: [...files], others: [...others] };
}

const PORTABLE = ['.', './verify', './enforce', './hono', './receipts', './webhooks'];

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
    mkdirSync(join(packages.home, folder));
    writeFileSync(join(packages.home, folder, file), manifest(folder));
  }
  writeFileSync(
    join(packages.home, 'loaded.js'),
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

  const { stdout, stderr } = spawnSync(process.execPath, ['loaded.js'], {
    cwd: packages.home,
    encoding: 'utf8',
  });

  expect({ stdout, stderr }).toEqual({ stdout: 'true 0 0 true true\n', stderr: '' });
});

test('each entry loads, and verifies a token, on an older Node', async () => {
  const entries = Object.keys(packages.exportsOf('sdk')).filter((name) => name !== './langgraph'); // it needs LangGraph
  const names = entries.map((name) => name.replace(/^\./, '@behest/sdk'));
  writeFileSync(
    join(packages.home, 'try.js'),
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

  const { stdout, stderr } = spawnSync(olderNode(), ['try.js'], { cwd: packages.home, encoding: 'utf8' });

  expect(stderr).not.toMatch(/Error/);
  expect(stdout).toMatch(/^user_42 (2\d)/);
});

test('the installed client calls the service, and repeats a call that was lost, on an older Node', () => {
  writeFileSync(
    join(packages.home, 'call.js'),
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

  const { stdout, stderr } = spawnSync(olderNode(), ['call.js'], { cwd: packages.home, encoding: 'utf8' });

  expect({ stdout, stderr }).toEqual({
    stdout: 'ag_1 /v1/agents /v1/agents /v1/agents?cursor=c /v1/agents/a%20b true 43\n',
    stderr: '',
  });
});

test('the installed program runs on an older Node, and starts by loading little', () => {
  const program = join(packages.folderOf('cli'), 'dist/bin.js');
  const ask = (...argv: string[]) =>
    spawnSync(olderNode(), [program, ...argv], {
      cwd: packages.home,
      encoding: 'utf8',
      env: { BEHEST_CONFIG: join(packages.home, 'cli.json') },
    });

  expect(ask('--version')).toMatchObject({
    stdout: `behest ${packages.versionOf('cli')}\n`,
    stderr: '',
    status: 0,
  });
  expect(ask('--help').stdout).toMatch(/^Start$[\s\S]*^Operate$/m);
  expect(ask('agents', 'register', '--name', 'x', '--dry-run')).toMatchObject({
    stdout: expect.stringContaining('-d'),
    status: 0,
  });
  expect(ask('manifest', 'show', 'github').stdout).toContain('connector: github\n');
  expect(ask('init', 'made', '--template', 'express').status).toBe(0);
  expect(existsSync(join(packages.home, 'made/.env.example'))).toBe(true);
  expect(ask('agnets')).toMatchObject({
    status: 2,
    stderr: "error: Unknown command 'agnets'. Did you mean agents?\ntry: behest --help\n",
  });
  const loaded = readFileSync(program, 'utf8').match(/^import .* from "([^"]+)"/gm) ?? [];
  expect(loaded.filter((line) => /commander|yaml|@behest/.test(line))).toEqual([]);
});

const ROOT = join(import.meta.dirname, '../..');

test('from the packed packages alone, a new user gets a service, a grant, a call and a denial that says why', async () => {
  const home = mkdtempSync(join(tmpdir(), 'behest-new-user-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const tarballs = await packTarballs(ROOT, home);

  const steps = await walkAsNewUser({
    ...{ home, tarballs },
    install: (folder) => installTarballs(ROOT, tarballs, folder),
  });

  const said = (what: string) => {
    const { status, said } = steps.find((step) => step.what === what) ?? {};
    return `${status} ${said}`;
  };
  expect(said('help')).toMatch(/^0 behest: authorize software agents/);
  expect(said('a wrong command')).toBe(
    "2 error: Unknown command 'agnets'. Did you mean agents?\ntry: behest --help\n",
  );
  expect(said('a command without its argument')).toContain("Missing required argument 'id'");
  expect(said('no service yet')).toMatch(/^3 error: There is no API key.*\ntry: .*behest dev/);
  expect(said('a running service')).toMatch(
    /^0 .*saved to profile "dev"[\s\S]*It runs at http:\/\/localhost:\d+/,
  );
  expect(said('the first agent')).toMatch(/^0 ag_\w+\n$/);
  expect(said('the first grant')).toMatch(/^0 [\s\S]*"grantToken"/);
  expect(said('a manifest')).toMatch(/^0 manifests\/calendar.cases.yaml\n/);
  expect(said('a call without a manifest')).toMatch(/^1 [\s\S]*try: --manifest <path>/);
  expect(said('a call that is allowed')).toMatch(/^0 [\s\S]*allow/);
  expect(said('a call that is denied')).toMatch(/^1 [\s\S]*permission_insufficient/);
  expect(said('the end')).toMatch(/^0 Stopping/);
}, 240_000); // the compiler takes long on a busy machine

/** One command of the walk. */
interface Step {
  readonly what: string;
  readonly command: string;
  readonly seconds: number;
  readonly status: number | null;
  /** Standard output and standard error. */
  readonly said: string;
}

interface Walk {
  /** A folder that gets the home of the user, and the folder of their project. */
  readonly home: string;
  readonly tarballs: ReadonlyMap<string, string>;
  /** Installs the tarballs in a folder in place of npm. */
  readonly install?: (folder: string) => void;
}

const ASK = ['--principal', 'user_42', '--scopes', 'tool:calendar:read', '--full', '--json'];
const TRY = ['enforce', 'test', '--env', 'TOKEN', '--connector', 'calendar', '--tool'];

/** Does what somebody does who has read the README: a service, a grant, a call that is allowed, and one that is denied. */
async function walkAsNewUser({ home, tarballs, install }: Walk): Promise<readonly Step[]> {
  const folder = join(home, 'project');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n');
  const steps: Step[] = [];
  const run = (what: string, program: string, words: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    const began = performance.now();
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      ...more,
    };
    const { status, stdout, stderr } = spawnSync(program, words, { cwd: folder, env, encoding: 'utf8' });
    const seconds = (performance.now() - began) / 1_000;
    const command = [program.split('/').at(-1), ...words].join(' ');
    steps.push({ what, command, seconds, status, said: `${stdout}${stderr}` });
    return stdout;
  };
  const behest = (what: string, words: readonly string[], more?: NodeJS.ProcessEnv) =>
    run(what, join(folder, 'node_modules/.bin/behest'), words, more);

  if (install) install(folder);
  else run('installed', 'npm', ['install', '--no-audit', '--no-fund', ...tarballs.values()], process.env);
  behest('help', ['--help']);
  behest('a wrong command', ['agnets', 'list']);
  behest('a command without its argument', ['agents', 'get']);
  behest('no service yet', ['agents', 'list', '--retries', '0']);
  try {
    behest('a running service', ['dev', '--port', '0', '--detach']);
    const agent = behest('the first agent', ['agents', 'list', '-o', 'id']).trim();
    const granted = behest('the first grant', ['authorize', '--agent', agent, ...ASK]);
    const TOKEN = String(Object(granted ? JSON.parse(granted) : undefined).grantToken);
    behest('a manifest', ['init', '--template', 'manifest-only']);
    behest('a call without a manifest', [...TRY, 'list_events'], { TOKEN });
    behest('a call that is allowed', [...TRY, 'list_events', '--manifest', 'manifests'], { TOKEN });
    behest('a call that is denied', [...TRY, 'delete_event', '--manifest', 'manifests'], { TOKEN });
  } finally {
    behest('the end', ['dev', 'stop']);
  }
  return steps;
}
