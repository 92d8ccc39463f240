import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ADMIN_API_KEY } from '../../apps/server/test/app/start-app.ts';
import { newMachine, useAccount } from './program.ts';

const acme = useAccount();

describe('the configuration file', () => {
  test('keeps a key from standard input for its owner alone, and shows the end of it', async () => {
    const { run, configFile } = newMachine();

    const set = await run(['config', 'set', '--url', acme.url, '--key', '-'], { input: `${acme.apiKey}\n` });
    const shown = await run(['config', 'show', '--json']);
    const me = await run(['me', '--json']);

    expect(set).toEqual({ code: 0, out: '', err: 'Profile "default" is saved.\n' });
    expect(statSync(configFile).mode & 0o777).toBe(0o600);
    expect(statSync(join(configFile, '..')).mode & 0o777).toBe(0o700);
    expect(JSON.parse(shown.out)).toEqual({
      ...{ profile: 'default', url: acme.url, file: configFile },
      key: `bh_test_…${acme.apiKey.slice(-4)}`,
    });
    expect(JSON.parse(me.out)).toMatchObject({ name: 'Acme', mode: 'sandbox' });
  });

  test('draws a warning where other users can read it, and is narrowed by the next write', async () => {
    const { run, configFile } = newMachine();
    await run(['config', 'set', '--url', 'https://auth.example', '--key', 'bh_test_1']);
    chmodSync(configFile, 0o644);

    const warned = await run(['config', 'list']);
    await run(['config', 'set', '--url', 'https://other.example']);

    expect(warned.err).toContain(`warning: ${configFile} can be read by other users`);
    expect(statSync(configFile).mode & 0o777).toBe(0o600);
  });

  test('is named where it is no JSON, with the place of the fault, and is not taken for an absent one', async () => {
    const { run, configFile } = newMachine();
    mkdirSync(join(configFile, '..'));
    writeFileSync(configFile, '{\n  "profiles": {"default": {"apiKey": bh_live_secret}}\n}', { mode: 0o600 });

    const { code, err } = await run(['me']);

    expect(code).toBe(2);
    expect(err).toMatch(
      /config\.json cannot be read: it is no JSON, at line 2, column \d+\..*\ntry: behest config path\n$/,
    );
    expect(err).not.toContain('bh_live_secret');
  });

  test('has several profiles: one is used, listed and removed', async () => {
    const { run, configFile } = newMachine();
    await run(['config', 'set', '--url', 'https://one.example', '--key', 'bh_test_1']);
    await run(['--profile', 'two', 'config', 'set', '--url', 'https://two.example', '--key', 'bh_live_2']);
    await run(['config', 'use', 'two']);

    const { out } = await run(['config', 'list', '--json']);
    const unsure = await run(['config', 'unset']);
    const removed = await run(['config', 'unset', '--yes']);

    expect(
      JSON.parse(out).map(({ name, current, url }: Record<string, unknown>) => [name, current, url]),
    ).toEqual([
      ['default', false, 'https://one.example'],
      ['two', true, 'https://two.example'],
    ]);
    expect(unsure).toMatchObject({ code: 2, err: expect.stringContaining('repeat the command with --yes') });
    expect(removed.code).toBe(0);
    expect(Object.keys(JSON.parse(readFileSync(configFile, 'utf8')).profiles)).toEqual(['default']);
    expect(await run(['--profile', 'two', 'me'])).toMatchObject({ code: 3 });
  });

  test('is not for a project, which names an address and no key, and a kept key is not sent to an address of its choice', async () => {
    const { run, folder } = newMachine();
    await run(['config', 'set', '--url', acme.url, '--key', acme.apiKey]);
    const project = join(folder, 'behest.json');

    writeFileSync(project, JSON.stringify({ url: 'https://elsewhere.example' }));
    const elsewhere = await run(['me']);
    writeFileSync(project, JSON.stringify({ url: acme.url }));
    const same = await run(['me', '-o', 'id']);
    writeFileSync(project, JSON.stringify({ apiKey: acme.apiKey }));
    const withKey = await run(['me']);

    expect(elsewhere).toMatchObject({
      code: 3,
      err: expect.stringContaining('A key is not sent to an address that a project chose.'),
    });
    expect(same).toMatchObject({ code: 0, out: expect.stringMatching(/^dev_\w+\n$/) });
    expect(withKey).toMatchObject({ code: 2, err: expect.stringContaining('has an `apiKey`') });
    expect(withKey.err).not.toContain(acme.apiKey);
  });
});

test('the operator reads the signing keys with a key of their own, and an account key opens nothing there', async () => {
  const { run } = newMachine({ BEHEST_URL: acme.url, OPERATOR: ADMIN_API_KEY, ACCOUNT: acme.apiKey });
  const list = (name: string) => run(['signing-keys', 'list', '--admin-key-env', name, '--json']);

  expect(JSON.parse((await list('OPERATOR')).out)).toContainEqual(
    expect.objectContaining({ kid: expect.any(String), alg: 'RS256' }),
  );
  expect((await run(['signing-keys', 'list', '--admin-key-env', 'OPERATOR'])).out).toMatch(
    /^KID +ALG +STATE /,
  );
  expect((await list('ACCOUNT')).code).toBe(3);
  expect((await run(['signing-keys', 'list'])).code).toBe(2);
});

test('open finds the page of the API, says its address in a dry run, and refuses a page that is not there', async () => {
  const { run } = acme.signedIn();
  const opened: string[] = [];
  const around = { browse: (address: string) => opened.push(address) };

  expect(await run(['open', 'docs'], around)).toMatchObject({ code: 0, err: `${acme.url}/docs\n` });
  expect(await run(['open', 'health', '--dry-run'], around)).toMatchObject({ out: `${acme.url}/health\n` });
  expect(opened).toEqual([`${acme.url}/docs`]);
  const fetch = async () => new Response(null, { status: 404 });
  expect(await run(['open', 'docs'], { ...around, fetch })).toMatchObject({
    ...{ code: 5, err: expect.stringContaining('This service has no docs') },
  });
  expect((await run(['open', 'console'], around)).code).toBe(2);
  expect((await run(['open', 'docs'])).code).toBe(8);
});

test('console makes a link for this key, and opens it or prints it', async () => {
  const { run } = acme.signedIn();
  const opened: string[] = [];
  const around = { browse: (address: string) => opened.push(address) };
  const link = new RegExp(`^${acme.url}/console#link=[\\w-]{43}\n$`);

  expect(await run(['console'], around)).toMatchObject({ code: 0, err: expect.stringMatching(link) });
  expect(await run(['console', '--print'], around)).toMatchObject({ out: expect.stringMatching(link) });
  expect(opened).toEqual([expect.stringMatching(/#link=[\w-]{43}$/)]);
  expect((await run(['console', '--dry-run'], around)).out).toContain('/v1/console/session/links');
  expect((await run(['console', '--json'], around)).out).toContain('expiresAt');
});

test('sso enforce takes --enable or --disable, and one of them', async () => {
  const { run } = acme.signedIn();
  const sent: string[] = [];
  const around = {
    fetch: async (_: unknown, init?: RequestInit) => {
      sent.push(String(init?.body));
      return Response.json({ enforce: true });
    },
  };

  expect((await run(['sso', 'enforce', '--enable'], around)).code).toBe(0);
  expect((await run(['sso', 'enforce', '--disable'], around)).code).toBe(0);
  expect((await run(['sso', 'enforce'], around)).code).toBe(2);
  expect((await run(['sso', 'enforce', '--enable', '--disable'], around)).code).toBe(2);
  expect(sent).toEqual(['{"enforce":true}', '{"enforce":false}']);
});

describe('agents', () => {
  test('are registered and listed, in every form of output', async () => {
    const { run } = acme.signedIn();

    const made = await run([
      'agents',
      'register',
      '--name',
      'Travel agent',
      '--scopes',
      'calendar:read, email:send',
      '--json',
    ]);
    const agent = JSON.parse(made.out);
    const all = await run(['agents', 'list', '--json']);
    const table = await run(['agents', 'list', '--utc']);
    const ids = await run(['agents', 'list', '-o', 'id', '--limit', '1']);
    const yaml = await run(['agents', 'get', agent.agentId, '-o', 'yaml']);

    expect(agent).toMatchObject({
      name: 'Travel agent',
      scopes: ['calendar:read', 'email:send'],
      status: 'active',
    });
    expect(JSON.parse(all.out)).toEqual([agent]);
    const [header, row] = table.out.split('\n');
    expect(header).toMatch(/^AGENT ID +NAME +STATUS +SCOPES +CREATED AT$/);
    expect(row).toMatch(
      /^ag_\w+ {2}Travel agent {2}active {2}calendar:read,email:send {2}\d{4}-\d\d-\d\d \d\d:\d\d$/,
    );
    expect(ids.out).toBe(`${agent.agentId}\n`);
    expect(yaml.out).toContain('name: Travel agent\n');
    expect(await run(['agents', 'suspend', agent.agentId, '--json'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('"suspended"'),
    });
  });

  test('a list without rows says so beside the result', async () => {
    const { run } = acme.signedIn();

    expect(await run(['grants', 'list'])).toEqual({ code: 0, out: '', err: '(no results)\n' });
    expect(await run(['grants', 'list', '--json'])).toEqual({ code: 0, out: '[]\n', err: '' });
  });

  test('deleting asks at a terminal, and needs --yes without one', async () => {
    const { run } = acme.signedIn();
    const { out } = await run(['agents', 'register', '--name', 'Short', '-o', 'id']);
    const id = out.trim();

    expect((await run(['agents', 'delete', id])).code).toBe(2);
    const refused = await run(['agents', 'delete', id], { answers: ['n'] });
    expect(refused.err).toContain(`${id}? [y/N] `);
    expect(refused.code).toBe(2);
    expect(await run(['agents', 'delete', id], { answers: ['y'] })).toMatchObject({ code: 0, out: '' });
  });

  test('a dry run prints the request, and sends nothing', async () => {
    const { run } = acme.signedIn();

    const { out, code } = await run(['agents', 'register', '--name', "Ann's agent", '--dry-run'], {
      fetch: async () => Promise.reject(new Error('sent')),
    });

    expect(code).toBe(0);
    expect(out).toBe(
      [
        `curl -sS -X POST '${acme.url}/v1/agents' \\`,
        '  -H "authorization: Bearer $BEHEST_API_KEY" \\',
        "  -H 'content-type: application/json' \\",
        `  -d '{"name":"Ann'\\''s agent"}'\n`,
      ].join('\n'),
    );
  });
});

test('a credential is verified by its text', async () => {
  const { run } = acme.signedIn();
  const made = await run(['agents', 'register', '--name', 'Reader', '--scopes', 'calendar:read', '-o', 'id']);
  const ask = ['--agent', made.out.trim(), '--principal', 'user_42', '--scopes', 'calendar:read'];
  const { grantId } = JSON.parse((await run(['authorize', ...ask, '--full', '--json'])).out);
  const issued = await run(['credentials', 'issue', '--grant-id', grantId, '--format', 'vc-jwt', '--json']);
  const { credential } = JSON.parse(issued.out);

  const verified = await run(['credentials', 'verify', '--stdin', '--json'], { input: credential });

  expect(verified).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(verified.out)).toMatchObject({ valid: true });
});

describe('a dry run', () => {
  test('prints no secret of a form', async () => {
    const { run } = acme.signedIn();

    const { out } = await run(['oauth', 'introspect', '--stdin', '--dry-run'], { input: 'secret.of.form' });

    expect(out).toContain(`token='"$TOKEN"'`);
    expect(out).not.toContain('secret.of.form');
  });

  test('prints no secret of JSON, and everything else of it', async () => {
    const { run } = acme.signedIn();

    const { out } = await run([
      'tokens',
      'exchange',
      '--agent',
      'ag_1',
      '--code',
      'code-of-a-person',
      '--dry-run',
      '--json',
    ]);

    expect(out).toContain(`-d '{"code":"'"$CODE"'","agentId":"ag_1"}'`);
    expect(out).not.toContain('code-of-a-person');
  });

  test('ends for a stream', async () => {
    const { code, out } = await acme.signedIn().run(['events', 'stream', '--dry-run']);

    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('/v1/events/stream') });
  });

  test('is refused by commands that change this machine, which stays as it is', async () => {
    const { run, configFile } = newMachine();
    await run(['config', 'set', '--url', acme.url, '--key', 'bh_test_1']);
    const before = readFileSync(configFile, 'utf8');

    for (const words of ['config unset', 'config set --url https://b.example', 'dev --reset', 'init'])
      expect(await run([...words.split(' '), '--dry-run']), words).toMatchObject({
        ...{ code: 2, err: expect.stringContaining('has no dry run') },
      });
    expect(readFileSync(configFile, 'utf8')).toBe(before);
  });
});

test('a key of the environment is not sent to an address that a project chose', async () => {
  const { run, folder } = newMachine({ BEHEST_API_KEY: acme.apiKey });
  const sent: string[] = [];
  const around = {
    fetch: async (address: string | URL | Request) => {
      sent.push(String(address));
      return Response.json({});
    },
  };
  writeFileSync(join(folder, 'behest.json'), JSON.stringify({ url: 'https://elsewhere.example' }));

  const refused = await run(['me'], around);
  const chosen = await run(['me'], { env: { BEHEST_URL: acme.url } });

  expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('BEHEST_API_KEY') });
  expect(sent).toEqual([]);
  expect(chosen.code).toBe(0);
});

describe('a wrong command ends with its exit code, and says what to do next', () => {
  test.each([
    [['agnets', 'list'], 2, "error: Unknown command 'agnets'. Did you mean agents?\ntry: behest --help\n"],
    [['agents', 'lst'], 2, "error: Unknown command 'lst'. Did you mean list?\ntry: behest agents --help\n"],
    [['agents', 'register'], 2, 'error: --name is missing.\ntry: behest agents register --help\n'],
    [['agents', 'get'], 2, "error: Missing required argument 'id'.\ntry: behest agents get --help\n"],
    [
      ['agents', 'list', '--limit', 'x'],
      2,
      'error: --limit has to be a whole number above 0, and is "x".\ntry: behest agents list --help\n',
    ],
    [
      ['me', '--retries', '99'],
      2,
      'error: --retries has to be a number from 0 to 10, and is "99".\ntry: behest --help\n',
    ],
  ])('%j', async (argv, code, err) => {
    expect(await acme.signedIn().run(argv)).toEqual({ code, out: '', err });
  });

  test('no key is 3, a bad key is 3, an unknown id is 5, a bad value is 9, no service is 8', async () => {
    const { run } = newMachine({ BEHEST_URL: acme.url });
    const withKey = (key: string) => ({ env: { BEHEST_API_KEY: key } });

    expect(await run(['me'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('There is no API key.'),
    });
    const bad = await run(['me'], withKey('bh_test_wrongwrongwrong'));
    expect(bad).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^error: .*\ntry: behest config set --key -\n$/),
    });
    expect(bad.err).not.toContain('wrongwrong');
    expect((await run(['agents', 'get', 'ag_none'], withKey(acme.apiKey))).code).toBe(5);
    const refused = await run(
      ['agents', 'register', '--name', 'x'.repeat(500), '--json'],
      withKey(acme.apiKey),
    );
    expect(refused.code).toBe(9);
    expect(JSON.parse(refused.err)).toEqual({
      error: {
        code: expect.any(String),
        message: expect.any(String),
        requestId: expect.any(String),
        details: { fields: [{ path: 'name', problem: 'too_long' }] },
        exitCode: 9,
      },
    });
    const told = await run(['agents', 'register', '--name', 'x'.repeat(500)], withKey(acme.apiKey));
    expect(told.err).toMatch(/\n {2}name: too_long\ntry: behest agents register --help\n$/);
    const nobody = await run(['me', '--url', 'http://127.0.0.1:9', '--retries', '0'], withKey(acme.apiKey));
    expect(nobody).toMatchObject({ code: 8, err: expect.stringMatching(/try: behest doctor\n$/) });
  });

  test.each([
    [['agents', 'lst', '-o', 'json'], 'USAGE', 2],
    [['agents', 'lst', '--output=json'], 'USAGE', 2],
    [['-o', 'ndjson', 'agents', 'get', 'ag_none'], 'NOT_FOUND', 5],
    [['agents', 'get', 'ag_none', '--json'], 'NOT_FOUND', 5],
    [['decode', 'nonsense', '-ojson'], 'MALFORMED', 1],
  ])('the error of %j is an object on standard error, with its code', async (argv, code, exitCode) => {
    const { out, err } = await acme.signedIn().run(argv);

    expect(out).toBe('');
    expect(JSON.parse(err)).toMatchObject({ error: { code, exitCode, message: expect.any(String) } });
    expect((await acme.signedIn().run(argv.filter((word) => !/json|^-o$/.test(word)))).err).toMatch(
      /^error: /,
    );
  });

  test('an unreadable file is 2, and nothing shows what --debug hides', async () => {
    const { run } = acme.signedIn();

    expect(await run(['agents', 'register', '-f', 'nowhere.yaml'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('nowhere.yaml cannot be read'),
    });
    const { err } = await run(['me', '--debug']);
    expect(err).toContain(`> authorization: Bearer bh_test_…${acme.apiKey.slice(-4)}`);
    expect(err).toContain(`GET ${acme.url}/v1/me 200`);
    expect(err).not.toContain(acme.apiKey);
  });
});
