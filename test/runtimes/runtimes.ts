import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestIssuer } from '@behest/sdk/testing';
import { rolldown } from 'rolldown';
import { packTarballs } from '../../scripts/packages/build.ts';

/** `.ci/runtimes` runs the packed SDK under Bun, under Deno and in a worker, which npm installs for this alone. */
const ROOT = join(import.meta.dirname, '../..');
const RUNTIMES = ['bun@1', 'deno@2', 'miniflare@4'];
const EXPECTED = 'user_42 bad_signature ag_1,ag_2 BehestNotFoundError 43';

const home = mkdtempSync(join(tmpdir(), 'behest-runtimes-'));
const service = await startService();
let failed = 0;
try {
  const tarballs = await packTarballs(ROOT, home);
  const own = ['@behest/protocol', '@behest/sdk'].map((name) => String(tarballs.get(name)));
  writeFileSync(join(home, 'package.json'), '{"private":true,"type":"module"}\n');
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...own, ...RUNTIMES]);
  cpSync(join(import.meta.dirname, 'program.mjs'), join(home, 'program.mjs'));
  writeFileSync(
    join(home, 'main.mjs'),
    "import { tryOut } from './program.mjs';\nconsole.log(await tryOut(JSON.parse(process.argv[2])));\n",
  );
  await writeWorker();
  const asked = JSON.stringify(service.asked);
  await check('Bun', programAt('node_modules/@oven/bun-*/bin/bun'), ['main.mjs', asked]);
  const allowed = ['--allow-net', '--allow-env', '--allow-read', '--node-modules-dir=manual'];
  await check('Deno', programAt('node_modules/@deno/*/deno'), ['run', ...allowed, 'main.mjs', asked]);
  await check('workerd', process.execPath, ['worker.mjs', asked]);
} finally {
  await service.stop();
  rmSync(home, { recursive: true, force: true });
}
process.stdout.write(`${3 - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

/** A worker is one file. Miniflare runs it in workerd. */
async function writeWorker(): Promise<void> {
  writeFileSync(
    join(home, 'entry.mjs'),
    `import { tryOut } from './program.mjs';
export default { fetch: async (request) => new Response(await tryOut(await request.json()).catch((error) => error.stack)) };\n`,
  );
  const build = await rolldown({
    ...{ cwd: home, input: 'entry.mjs', platform: 'neutral', logLevel: 'silent' },
    resolve: { mainFields: ['module', 'main'], conditionNames: ['workerd', 'import', 'default'] },
  });
  await build.write({ file: join(home, 'bundle.mjs'), format: 'es', codeSplitting: false });
  await build.close();
  writeFileSync(
    join(home, 'worker.mjs'),
    `import { Miniflare } from 'miniflare';
const worker = new Miniflare({ modules: true, scriptPath: 'bundle.mjs', compatibilityDate: '2026-01-01' });
const answer = await worker.dispatchFetch('http://worker.example/', { method: 'POST', body: process.argv[2] });
console.log(await answer.text());
await worker.dispose();\n`,
  );
}

function programAt(pattern: string): string {
  const [program] = globSync(pattern, { cwd: home });
  if (program === undefined) throw new Error(`npm installed nothing at ${pattern}.`);
  return join(home, program);
}

async function check(name: string, program: string, words: readonly string[]): Promise<void> {
  const said = (await run(program, words)).trim();
  const isGood = said === EXPECTED;
  if (!isGood) failed += 1;
  process.stdout.write(`${isGood ? 'ok    ' : 'FAILED'}  ${name}${isGood ? '' : `: ${said}`}\n`);
}

/** Waits without blocking, because this process serves what the program calls. @returns all that the program said */
async function run(program: string, words: readonly string[]): Promise<string> {
  const child = spawn(program, words, { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  await once(child, 'close');
  return said;
}

/** Serves the keys of an issuer and two pages of agents, to programs of other runtimes. */
async function startService() {
  const { issuer, developerId, jwks, signGrantToken, tampered } = await createTestIssuer();
  const answers: Readonly<Record<string, object>> = {
    '/.well-known/jwks.json': jwks,
    '/v1/agents': { agents: [{ id: 'ag_1' }], nextCursor: 'next' },
    '/v1/agents?cursor=next': { agents: [{ id: 'ag_2' }], nextCursor: null },
  };
  const server = createServer(({ url = '' }, response) => {
    const answer = answers[url];
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { code: 'NOT_FOUND', message: 'There is no such thing.' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  const [token, changed] = await Promise.all([signGrantToken({ sub: 'user_42' }), tampered()]);
  return {
    asked: { address: `http://127.0.0.1:${port}`, issuer, developerId, token, changed },
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
