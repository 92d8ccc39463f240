import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newDatabase } from '../../apps/server/test/app/start-app.ts';
import { makeThrowAway, sweepThrowAways } from '../../scripts/machine/folders.ts';
import { freePort } from '../../scripts/machine/ports.ts';
import { accountForPostgres } from '../../scripts/postgres/cluster.ts';
import { buildImage, commandOf, lastOf, textOf } from './image.ts';

const KIND = 'image';

describe('the image', () => {
  let home = '';
  let app = '';
  let node = '';
  // An account that may write everywhere, such as root, would prove nothing here.
  const account = accountForPostgres();

  beforeAll(async () => {
    await sweepThrowAways(KIND);
    home = makeThrowAway(KIND);
    app = join(buildImage(home), lastOf('WORKDIR')[0] ?? '');
    node = join(home, 'node');
    fs.copyFileSync(process.execPath, node);
    spawnSync('chmod', ['-R', 'a-w,a+rX', app, node]);
  }, 300_000); // it installs the packages
  afterAll(() => {
    spawnSync('chmod', ['-R', 'u+w', home]);
    fs.rmSync(home, { recursive: true, force: true });
  });

  test('holds the service and its dependencies, and nothing for development', () => {
    const files = fs.readdirSync(app, { recursive: true, encoding: 'utf8' });
    const ours = files.filter((file) => !file.includes('node_modules'));

    expect(ours.filter((file) => /test|[.]env|[.]pem$|[.]git/.test(file))).toEqual([]);
    expect(fs.readdirSync(join(app, 'apps'))).toEqual(['server']);
    for (const page of ['index.html', 'verify.html'])
      expect(fs.existsSync(join(app, 'apps/server/console', page))).toBe(true);
    expect(fs.readdirSync(join(app, 'packages'))).toEqual(['meter', 'protocol']);
    const development = Object.keys(JSON.parse(textOf('package.json')).devDependencies);
    const shared = Object.keys(JSON.parse(textOf('apps/server/package.json')).dependencies);
    const there = new Set(fs.readdirSync(join(app, 'node_modules')));
    expect(there.has('fastify')).toBe(true);
    expect(
      development.filter((name) => there.has(name) && !shared.includes(name) && name !== 'yaml'),
    ).toEqual([]);
  });

  test('starts for a user without write access, answers, passes its health check and ends', async () => {
    const port = String(await freePort());
    const env = {
      NODE_ENV: 'development', // the servers of the test run have no TLS
      PORT: port,
      HOST: '127.0.0.1',
      DATABASE_URL: await newDatabase(),
      REDIS_URL: inject('redisUrl'),
      AUTO_GENERATE_KEYS: 'true',
    };
    const [program, ...flags] = commandOf('CMD');
    const child = spawn(node, flags, { cwd: app, env, ...account, stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (line.includes('"msg":"ready"')) break;
    }
    child.stdout.resume();
    const check = () => {
      const [, ...checkFlags] = commandOf('HEALTHCHECK');
      const checking = spawn(node, checkFlags, { cwd: app, env, ...account, stdio: 'ignore' });
      return once(checking, 'exit').then(([code]) => code);
    };

    const health = await fetch(`http://127.0.0.1:${port}/health`);
    const whileItRuns = await check();
    child.kill(lastOf('STOPSIGNAL')[0] as 'SIGTERM'); // a test above expects SIGTERM
    const [code] = await exited;

    expect([program, said.at(-1)]).toEqual(['node', expect.stringContaining('ready')]);
    expect(await health.json()).toEqual({ status: 'ok' });
    expect([whileItRuns, code, await check()]).toEqual([0, 0, 1]);
  });
});
