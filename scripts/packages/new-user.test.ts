import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { installTarballs, packTarballs } from './build.ts';

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
