import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { describe, expect, test } from 'vitest';
import { TEMPLATES } from '../../packages/cli/src/commands/init.ts';
import { VERSION } from '../../packages/cli/src/version.ts';
import { newMachine, useService } from './program.ts';

const ROOT = join(import.meta.dirname, '../..');
const service = useService();

/** A machine with an account of its own. */
async function newAccount() {
  const { apiKey } = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url });
  return { ...newMachine({ BEHEST_URL: service.url, BEHEST_API_KEY: apiKey }), apiKey };
}

const MANIFEST =
  'connector: calendar\ntools:\n  list_events: {permission: read}\n  delete_event: {permission: delete}\n';

test('the logo of an account is read from a file', async () => {
  const { run, folder } = await newAccount();
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4AWPgjsr4DwADDgHNwKIb1QAAAABJRU5ErkJggg==';
  writeFileSync(join(folder, 'logo.png'), Buffer.from(png, 'base64'));

  const set = ['me', 'branding', 'update', '--accent-color', '#7a1f5c', '--logo', 'logo.png', '--json'];
  const { code, out } = await run(set);
  const missing = await run(['me', 'branding', 'update', '--logo', 'none.png']);
  const removed = await run(['me', 'branding', 'remove', '--yes']);

  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    accentColor: '#7a1f5c',
    logoUrl: expect.stringContaining('/logos/'),
  });
  expect(missing.err).toContain('none.png cannot be read');
  expect(removed.code).toBe(0);
  expect(JSON.parse((await run(['me', 'branding', 'get', '--json'])).out)).toMatchObject({ logoUrl: null });
});

describe('replay', () => {
  test('runs a changed manifest over the calls that the service recorded', async () => {
    const { run, folder } = await newAccount();
    writeFileSync(join(folder, 'calendar.yaml'), MANIFEST);
    writeFileSync(join(folder, 'changed.yaml'), MANIFEST.replace('permission: read', 'permission: write'));
    await run(['manifests', 'put', 'calendar', '-f', 'calendar.yaml']);
    const agent = (
      await run(['agents', 'register', '--name', 'T', '--scopes', 'tool:calendar:read', '-o', 'id'])
    ).out.trim();
    const { out } = await run([
      'authorize',
      '--agent',
      agent,
      '--principal',
      'user_42',
      '--scopes',
      'tool:calendar:read',
      '--full',
      '--json',
    ]);
    const env = { TOKEN: JSON.parse(out).grantToken };
    for (const tool of ['list_events', 'delete_event'])
      await run(['enforce', 'test', '--env', 'TOKEN', '--connector', 'calendar', '--tool', tool], { env });

    const same = await run(['replay', 'calendar.yaml', '--fail-on-change']);
    const changed = await run(['replay', 'changed.yaml', '--fail-on-change', '--json']);

    expect(same).toEqual({
      code: 0,
      out: '',
      err: '(no results)\n2 calls, 0 would be answered differently, 0 cannot be known\n',
    });
    expect(changed.code).toBe(1);
    expect(JSON.parse(changed.out)).toMatchObject([
      { tool: 'list_events', before: 'allow', after: 'deny', agentId: agent },
    ]);
  });

  test('reads results of enforce() too, and says what cannot be known', async () => {
    const { run, folder } = newMachine();
    const call = {
      connector: 'calendar',
      tool: 'list_events',
      scopes: ['tool:calendar:read'],
      allowed: true,
    };
    writeFileSync(join(folder, 'calls.json'), JSON.stringify([call]));
    writeFileSync(
      join(folder, 'm.yaml'),
      MANIFEST.replace('permission: read', 'permission: read, caps: {per_day: 1}'),
    );

    const { out, err } = await run(['replay', 'm.yaml', '--calls', 'calls.json', '--all', '--json']);

    expect(JSON.parse(out)).toMatchObject([{ before: 'allow', after: 'unknown' }]);
    expect(err).toContain('1 cannot be known');
    for (const bad of [
      '[{}]',
      JSON.stringify({ calls: [call] }),
      JSON.stringify([{ ...call, scopes: [1] }]),
    ]) {
      writeFileSync(join(folder, 'calls.json'), bad);
      expect((await run(['replay', 'm.yaml', '--calls', 'calls.json'])).code, bad).toBe(2);
    }
  });

  test('reads neither a bomb nor two documents, and no manifest with a member that it does not know', async () => {
    const { run, folder } = newMachine();
    const bomb = Array.from(
      { length: 9 },
      (_, at) =>
        `a${at}: &a${at} [${Array(9)
          .fill(at === 0 ? 'x' : `*a${at - 1}`)
          .join(', ')}]`,
    );
    writeFileSync(join(folder, 'm.yaml'), MANIFEST);
    writeFileSync(join(folder, 'unknown.yaml'), `${MANIFEST}agents: []\n`);
    writeFileSync(join(folder, 'two.yaml'), `${MANIFEST}---\n${MANIFEST}`);
    writeFileSync(join(folder, 'bomb.yaml'), bomb.join('\n'));
    writeFileSync(join(folder, 'good.json'), '[]');
    const code = async (...argv: string[]) => (await run(['replay', ...argv])).code;

    expect(await code('m.yaml', '--calls', 'good.json')).toBe(0);
    expect(await code('m.yaml', '--calls', 'bomb.yaml')).toBe(2);
    expect(await code('m.yaml', '--calls', 'two.yaml')).toBe(2);
    for (const bad of ['unknown.yaml', 'two.yaml', 'bomb.yaml'])
      expect(await code(bad, '--calls', 'good.json'), bad).toBe(1);
  });
});

describe('init', () => {
  test.each(TEMPLATES.filter((each) => each !== 'manifest-only'))(
    'writes an example of %s whose test succeeds',
    async (template) => {
      const { run, folder, apiKey } = await newAccount();

      const { code, out, err } = await run(['init', 'app', '--template', template]);

      expect(code).toBe(0);
      expect(err).toBe(
        'next: cd app && npm install · npm test\nThe SDK is not on npm yet: run `npm run generate -- packages` in a checkout of Behest, and repeat with --packages <its dist folder>.\n',
      );
      expect(out).toContain('app/.env.example\n');
      expect(JSON.parse(readFileSync(join(folder, 'app/behest.json'), 'utf8'))).toEqual({
        url: service.url,
        manifests: ['manifests'],
      });
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'app/node_modules'));
      expect(
        await tested(join(folder, 'app'), { BEHEST_URL: service.url, BEHEST_API_KEY: apiKey }),
      ).toMatchObject({ status: 0 });
      expect((await run(['manifest', 'check', 'app/manifests', '--strict'])).code).toBe(0);
    },
  );

  test('writes manifests with cases that hold, overwrites nothing, and asks for the template', async () => {
    const { run, folder } = newMachine();

    expect((await run(['init'], { answers: ['manifest-only'] })).code).toBe(0);
    expect((await run(['manifest', 'test', 'manifests/calendar.cases.yaml'])).code).toBe(0);
    expect(statSync(join(folder, 'manifests')).isDirectory()).toBe(true);
    const again = await run(['init', '--template', 'manifest-only']);
    expect(again).toMatchObject({
      code: 2,
      err: expect.stringContaining('are there already: --force overwrites'),
    });
    expect((await run(['init', '--template', 'manifest-only', '--force'])).code).toBe(0);
    expect((await run(['init', 'other'])).code).toBe(2);
    expect(existsSync(join(folder, 'other'))).toBe(false);
    expect((await run(['init', 'other', '--yes'])).code).toBe(0);
    expect(existsSync(join(folder, 'other', 'server.js'))).toBe(true);
  });
});

test('init takes the packed packages of a checkout, and says where they are missing', async () => {
  const { run, folder } = newMachine();
  mkdirSync(join(folder, 'dist'));
  const init = ['init', 'app', '--template', 'express', '--packages', 'dist', '--force'];
  expect(await run(init)).toMatchObject({
    code: 2,
    err: expect.stringContaining('npm run generate -- packages'),
  });
  for (const name of ['protocol', 'sdk'])
    writeFileSync(join(folder, `dist/behest-${name}-${VERSION}.tgz`), '');

  expect((await run(init)).code).toBe(0);
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'app/package.json'), 'utf8'));
  expect(dependencies).toMatchObject({
    '@behest/protocol': `file:../dist/behest-protocol-${VERSION}.tgz`,
    '@behest/sdk': `file:../dist/behest-sdk-${VERSION}.tgz`,
  });
});

describe('dev', () => {
  test('knows whether it runs in a checkout, and is not for production', async () => {
    const { run } = newMachine();

    expect(await run(['dev'], { env: { NODE_ENV: 'production' } })).toMatchObject({ code: 2 });
    expect((await run(['dev', '--checkout', ROOT, '--port', 'x'])).code).toBe(2);
    expect(await run(['dev', '--no-console'])).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('The service has no console') },
    });
    expect(await run(['dev', '--time', '2026-11-23T00:00:00Z'])).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('cannot be set') },
    });
    expect(await run(['dev', '--checkout', tmpdir()])).toMatchObject({
      code: 2,
      err: expect.stringContaining('is no checkout of the service'),
    });
    const status = await run(['dev', 'status', '--checkout', ROOT, '--json']);
    expect(JSON.parse(status.out).running).toBe(status.code === 0);
  });

  test('has npm fetch the server once where it is not installed', async () => {
    const { run, folder } = newMachine();
    const npm = join(folder, 'npm');
    const server = '"$3/node_modules/@behest/server"';
    writeFileSync(
      npm,
      `#!/bin/sh\nmkdir -p ${server}/dist && echo '{}' > ${server}/package.json\necho "console.log('the port is taken'); process.exitCode = 1" > ${server}/dist/dev.js\n`,
      { mode: 0o755 },
    );
    const env = { PATH: `${folder}:/usr/bin:/bin` };

    const without = await run(['dev'], { env: { PATH: join(folder, 'nothing') } });
    const first = await run(['dev'], { env });
    const second = await run(['dev'], { env });

    expect(without).toMatchObject({ code: 8, err: expect.stringContaining('npm could not fetch it') });
    expect(without.err).toMatch(/\ntry: npm install --save-dev @behest\/server\n$/);
    expect(first.err).toMatch(/^Fetching @behest\/server .*\nerror: .*: the port is taken/);
    expect(first.code).toBe(8);
    expect(second.err).toMatch(/^error: .*: the port is taken/);
  });
});

/** Runs the test of an example, in a process of its own. */
async function tested(folder: string, env: Record<string, string>) {
  const child = spawn(process.execPath, ['--test'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, output };
}

describe('login', () => {
  const profileIn = (file: string) => JSON.parse(readFileSync(file, 'utf8')).profiles.default;

  test('keeps a key that the service takes, whoami says whose it is, and no key is shown whole', async () => {
    const { apiKey, developerId } = await Behest.signup(
      { name: 'Acme', mode: 'sandbox' },
      { baseUrl: service.url },
    );
    const { run, configFile } = newMachine();
    const url = ['--url', service.url];

    const typed = await run([...url, 'login', '--json'], { answers: [apiKey] });
    const sent = await run([...url, 'login', '--key', '-', '--json'], { input: `${apiKey}\n` });
    const whose = await run(['whoami', '--json']);

    const account = { name: 'Acme', developerId, mode: 'sandbox', url: service.url, profile: 'default' };
    expect(JSON.parse(typed.out)).toEqual({ ...account, key: expect.stringMatching(/^bh_test_…/) });
    expect(JSON.parse(sent.out)).toMatchObject(account);
    expect(JSON.parse(whose.out)).toMatchObject({ ...account, plan: 'free' });
    expect(profileIn(configFile)).toEqual({ baseUrl: service.url, apiKey, developerId });
    expect([typed, sent, whose].map(({ out, err }) => `${out}${err}`).join()).not.toContain(apiKey);
  });

  test('keeps nothing that the service refuses, and replaces another key only when told to', async () => {
    const { apiKey, run, configFile } = { ...(await newAccount()) };
    const url = ['--url', service.url];
    await run([...url, 'login', '--key', '-'], { input: apiKey });
    const other = (await newAccount()).apiKey;

    expect(await run([...url, 'login', '--key', '-'], { input: `${apiKey}x` })).toMatchObject({ code: 3 });
    expect((await run([...url, 'login'])).code).toBe(2);
    expect(await run([...url, 'login'], { answers: [other, 'no'] })).toMatchObject({
      code: 2,
      err: expect.stringContaining('NOT_CONFIRMED'),
    });
    expect(profileIn(configFile).apiKey).toBe(apiKey);
    expect((await run([...url, '--yes', 'login', '--key', '-'], { input: other })).code).toBe(0);
    expect(profileIn(configFile).apiKey).toBe(other);
  });
});
