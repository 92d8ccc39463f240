import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One command of the walk. */
export interface Step {
  readonly what: string;
  readonly command: string;
  readonly seconds: number;
  readonly status: number | null;
  /** Standard output and standard error. */
  readonly said: string;
}

export interface Walk {
  /** A folder that gets the home of the user, and the folder of their project. */
  readonly home: string;
  readonly tarballs: ReadonlyMap<string, string>;
  /** Installs the tarballs in a folder in place of npm. */
  readonly install?: (folder: string) => void;
}

const ASK = ['--principal', 'user_42', '--scopes', 'tool:calendar:read', '--full', '--json'];
const TRY = ['enforce', 'test', '--env', 'TOKEN', '--connector', 'calendar', '--tool'];

/** Does what somebody does who has read the README: a service, a grant, a call that is allowed, and one that is denied. */
export async function walkAsNewUser({ home, tarballs, install }: Walk): Promise<readonly Step[]> {
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
