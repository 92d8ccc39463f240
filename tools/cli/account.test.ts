import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { describe, expect, test } from 'vitest';
import { TEMPLATES } from '../../packages/cli/src/commands/init.ts';
import { newMachine } from './program.ts';
import { useService } from './signed-in.ts';

const ROOT = join(import.meta.dirname, '../..');
const service = useService();

/** A machine with an account of its own. */
async function newAccount() {
  const { apiKey } = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url });
  return { ...newMachine({ BEHEST_URL: service.url, BEHEST_API_KEY: apiKey }), apiKey };
}

const FILE = `agents:
  - {name: Travel, scopes: [tool:calendar:read, calendar:read]}
manifests: [calendar.yaml]
policies:
  - {name: No deletes, effect: deny, connector: calendar, tools: [delete_event]}
webhooks:
  - {url: 'https://app.example.com/hook', events: [grant.created]}
`;
const MANIFEST =
  'connector: calendar\ntools:\n  list_events: {permission: read}\n  delete_event: {permission: delete}\n';

describe('apply', () => {
  test('plans, makes, finds no drift, changes, and prunes what the file no longer names', async () => {
    const { run, folder } = await newAccount();
    const write = (text: string) => writeFileSync(join(folder, 'behest.yaml'), text);
    writeFileSync(join(folder, 'calendar.yaml'), MANIFEST);
    write(FILE);
    const apply = (...more: string[]) => run(['apply', '-f', 'behest.yaml', ...more]);

    const plan = await apply('--dry-run');
    expect(plan).toEqual({
      code: 0,
      out: '+ create agents Travel\n+ create manifests calendar\n+ create webhooks https://app.example.com/hook\n+ create policies No deletes\n',
      err: '4 to do, 0 as the file says\n',
    });
    expect((await run(['agents', 'list', '--json'])).out).toBe('[]\n');
    expect((await apply()).code).toBe(2);
    const made = await apply('--yes');
    expect(made).toMatchObject({
      code: 0,
      err: expect.stringMatching(/secret of https:\/\/app\.example\.com\/hook: whsec_\S+ \(shown once\)/),
    });
    expect(await apply('--check')).toEqual({ code: 0, out: '', err: '0 to do, 4 as the file says\n' });

    write(
      FILE.replace('[tool:calendar:read, calendar:read]', '[calendar:read]').replace(
        / {2}- \{name: No[^\n]*\n/,
        '  []\n',
      ),
    );
    const drift = await apply('--check', '--prune');
    expect(drift).toMatchObject({
      code: 1,
      out: '~ change agents Travel: scopes\n- delete policies No deletes\n',
    });
    expect((await apply('--yes', '--prune')).code).toBe(0);
    expect((await apply('--check', '--prune')).code).toBe(0);
    expect(JSON.parse((await run(['agents', 'list', '--json'])).out)[0].scopes).toEqual(['calendar:read']);
  });

  test.each([
    ['agents: {}', '`agents` of behest.yaml has to be a list'],
    ['grants: []', 'behest.yaml has grants. It may have: agents, manifests, webhooks, policies.'],
    ['agents: [{scopes: []}]', 'has to have a text `name`'],
    ['agents: [{name: a}, {name: a}]', 'has "a" twice'],
  ])('refuses %s', async (text, message) => {
    const { run, folder } = newMachine({ BEHEST_API_KEY: 'bh_test_1' });
    writeFileSync(join(folder, 'behest.yaml'), text);

    expect(await run(['apply', '-f', 'behest.yaml'])).toMatchObject({
      code: 2,
      err: expect.stringContaining(message),
    });
  });
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
    writeFileSync(join(folder, 'calls.json'), '[{}]');
    expect((await run(['replay', 'm.yaml', '--calls', 'calls.json'])).code).toBe(2);
  });
});

describe('init', () => {
  test.each(TEMPLATES.filter((each) => each !== 'manifest-only'))(
    'writes an example of %s whose test succeeds',
    async (template) => {
      const { run, folder, apiKey } = await newAccount();

      const { code, out, err } = await run(['init', 'app', '--template', template]);

      expect(code).toBe(0);
      expect(err).toBe('next: cd app && npm install · npm test\n');
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
