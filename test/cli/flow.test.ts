import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Machine, newMachine, useAccount } from './program.ts';

const acme = useAccount();

/** An agent with a grant, made by the program itself. */
async function granted(run: Machine['run'], scopes = 'calendar:read') {
  const agentId = (
    await run(['agents', 'register', '--name', 'Travel', '--scopes', scopes, '-o', 'id'])
  ).out.trim();
  const { out, err, code } = await run([
    'authorize',
    '--agent',
    agentId,
    '--principal',
    'user_42',
    '--scopes',
    scopes,
    '--full',
    '--json',
  ]);
  expect({ err, code }).toEqual({ err: '', code: 0 });
  return { agentId, ...JSON.parse(out) };
}

describe('a grant', () => {
  test('is asked for and exchanged in one command, and verified offline for the account whose token it is', async () => {
    const { run } = acme.signedIn();
    const { grantToken, grantId, agentId } = await granted(run);
    const stdin = { input: grantToken };

    const good = await run(
      ['verify', '--stdin', '--allow-sandbox', '--scopes', 'calendar:read', '--json'],
      stdin,
    );
    const strict = await run(['verify', '--stdin', '--json'], stdin);
    const foreign = await run(
      ['verify', '--stdin', '--allow-sandbox', '--developer', 'dev_other', '--json'],
      stdin,
    );
    const lacking = await run(
      ['verify', '--stdin', '--allow-sandbox', '--scopes', 'email:send', '--json'],
      stdin,
    );

    expect(good.code).toBe(0);
    expect(JSON.parse(good.out)).toEqual({
      ...{ status: 'valid', grantId, principal: 'user_42', scopes: ['calendar:read'], mode: 'sandbox' },
      ...{ agentDid: expect.stringContaining(agentId), expiresAt: expect.stringMatching(/Z$/) },
      ...{
        algorithm: expect.stringMatching(/^(ES|RS)256$/),
        keyId: expect.any(String),
        revocation: 'not_checked',
      },
    });
    expect([strict, foreign, lacking].map(({ code, out }) => [code, JSON.parse(out).status])).toEqual([
      [1, 'sandbox_not_allowed'],
      [1, 'developer_mismatch'],
      [1, 'missing_scopes'],
    ]);
  });

  test('is not verified without a developer, and keys that cannot be had are 8', async () => {
    const { run } = newMachine({ BEHEST_URL: acme.url });

    const nobody = await run(['verify', '--stdin'], { input: 'a.b.c' });
    const away = await run(['verify', '--stdin', '--developer', 'dev_1', '--url', 'http://127.0.0.1:9'], {
      input: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImEifQ.e30.AA',
    });

    expect(nobody).toMatchObject({
      code: 2,
      err: expect.stringContaining('every account of one service signs with the same keys'),
    });
    expect(away.code).toBe(8);
  });

  test('is refused after its revocation where that is asked for', async () => {
    const { run } = acme.signedIn();
    const { grantToken, grantId } = await granted(run);
    const stdin = { input: grantToken };

    expect((await run(['grants', 'revoke', grantId, '--yes'])).code).toBe(0);

    expect((await run(['verify', '--stdin', '--allow-sandbox'], stdin)).code).toBe(0);
    const asked = await run(['verify', '--stdin', '--allow-sandbox', '--check-revocation', '--json'], stdin);
    expect(asked.code).toBe(1);
    expect(JSON.parse(asked.out)).toMatchObject({ status: 'revoked', revocation: 'revoked' });
    expect(JSON.parse((await run(['tokens', 'verify', '--stdin', '--json'], stdin)).out)).toMatchObject({
      valid: false,
    });
  });

  test('is revoked with a statement, which is checked offline', async () => {
    const { run, folder } = acme.signedIn();
    const { grantId } = await granted(run);

    const stated = await run(['grants', 'revoke', grantId, '--wait', 'confirmed', '--yes', '--json']);
    expect(stated).toMatchObject({ code: 0 });
    writeFileSync(join(folder, 'statement.json'), stated.out);
    const { statement } = JSON.parse(stated.out);
    const good = await run(['audit', 'check', 'statement.json', '--json']);
    const changed = await run(['audit', 'check', '-', '--json'], { input: `${statement}A` });
    const foreign = ['--issuer', 'https://other.example.com', '--json'];

    expect(good.code).toBe(0);
    expect(JSON.parse(good.out)).toMatchObject({ kind: 'revocation', ok: true, grantId, complete: true });
    expect(changed.code).toBe(1);
    expect((await run(['audit', 'check', 'statement.json', ...foreign])).out).toContain('issuer_mismatch');
  });

  test('ends with its agent, whose statement is checked against the entries', async () => {
    const { run, folder } = acme.signedIn();
    const { agentId } = await granted(run);
    expect((await run(['agents', 'delete', agentId, '--yes'])).code).toBe(0);
    const { out: entries } = await run(['audit', 'list', '--all', '--json']);
    writeFileSync(join(folder, 'ended.json'), (await run(['agents', 'offboarding', agentId, '--json'])).out);
    writeFileSync(join(folder, 'audit.json'), entries);
    writeFileSync(join(folder, 'other.json'), entries.replaceAll('"grant.revoked"', '"grant.expired"'));
    const check = async (...options: string[]) => {
      const { code, out } = await run(['audit', 'check', 'ended.json', ...options, '--json']);
      return { code, ...JSON.parse(out) };
    };

    const asked = await check();
    expect(asked).toMatchObject({ code: 0, kind: 'offboarding', ok: true, subjectId: agentId, grants: 1 });
    expect(await check('--file', 'audit.json')).toEqual(asked);
    expect(await check('--file', 'other.json')).toMatchObject({ code: 1, ok: false, fault: 'chain_broken' });
    expect(await check('--issuer', 'https://other.example.com')).toMatchObject({
      ...{ code: 1, kind: 'offboarding', reason: 'issuer_mismatch' },
    });
  });

  test('is delegated with the token from a file, and its tree is drawn', async () => {
    const { run, folder } = acme.signedIn();
    const { grantToken, grantId } = await granted(run);
    const helper = (
      await run(['agents', 'register', '--name', 'Helper', '--scopes', 'calendar:read', '-o', 'id'])
    ).out.trim();
    writeFileSync(join(folder, 'token.txt'), `${grantToken}\n`);

    const made = await run([
      'grants',
      'delegate',
      '--grant-token-file',
      'token.txt',
      '--agent-id',
      helper,
      '--scopes',
      'calendar:read',
      '--json',
    ]);
    const tree = await run(['grants', 'tree', grantId]);

    const { grantId: below } = JSON.parse(made.out);
    expect(
      tree.out.split('\n').map((line) => line.slice(0, 36).trim().split(' ').slice(0, 2).join(' ')),
    ).toEqual([expect.stringContaining(grantId), `└─ ${below}`, '']);
    const none = await run(['grants', 'delegate', '--agent-id', helper, '--scopes', 'calendar:read']);
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('--grant-token-file is missing') });
  });

  test('with PKCE is exchanged with the verifier that the program kept', async () => {
    const { run } = acme.signedIn();
    const agentId = (
      await run(['agents', 'register', '--name', 'Travel', '--scopes', 'calendar:read', '-o', 'id'])
    ).out.trim();
    const exchange = async (by: Machine['run']) => {
      const wanted = ['--agent', agentId, '--principal', 'user_42', '--scopes', 'calendar:read'];
      const asked = await run(['authorize', ...wanted, '--pkce', '--json']);
      expect(JSON.stringify(asked)).not.toContain('codeVerifier');
      return by(['tokens', 'exchange', '--agent', agentId, '--code', JSON.parse(asked.out).code, '--json']);
    };

    expect(JSON.parse((await exchange(run)).out)).toMatchObject({ grantToken: expect.any(String) });
    expect((await exchange(acme.signedIn().run)).code).not.toBe(0);
  });

  test('is waited for until the person has decided', async () => {
    const { run } = acme.signedIn();
    const agentId = (
      await run(['agents', 'register', '--name', 'Travel', '--scopes', 'calendar:read', '-o', 'id'])
    ).out.trim();
    const wanted = [
      'authorize',
      '--agent',
      agentId,
      '--principal',
      'user_42',
      '--scopes',
      'calendar:read',
      '--auto-approve',
      'false',
    ];
    const { authRequestId } = JSON.parse((await run([...wanted, '--json'])).out);

    await run(['authorizations', 'approve', authRequestId]);
    const { out } = await run(['authorizations', 'get', authRequestId, '--json']);

    expect(JSON.parse(out)).toMatchObject({ status: 'approved', authRequestId });
  });
});

describe('tokens as input', () => {
  test('come from exactly one place, and never from the command line unwarned', async () => {
    const { run } = acme.signedIn();

    expect((await run(['decode'])).err).toContain(
      'Give exactly one of: the token as an argument, --file, --stdin or --env.',
    );
    expect((await run(['decode', 'a.b.c', '--env', 'TOKEN'])).code).toBe(2);
    const warned = await run(['decode', 'e30.e30.AA'], { answers: [] });
    expect(warned).toMatchObject({
      code: 0,
      err: expect.stringContaining('visible in the list of processes'),
    });
    expect(
      (
        await run(['decode', '--env', 'TOKEN', '--json'], {
          env: { TOKEN: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.' },
        })
      ).out,
    ).toBe(`${JSON.stringify({ header: { alg: 'none' }, payload: { sub: 'x' } }, undefined, 2)}\n`);
    expect(await run(['decode', '--stdin'], { input: 'nonsense' })).toMatchObject({ code: 1 });
  });
});

describe('the demo', () => {
  test('plays the story, and leaves no active agent behind', async () => {
    const { run } = acme.signedIn();
    const before = JSON.parse((await run(['agents', 'list', '--json', '--status', 'active'])).out).length;

    const { code, out, err } = await run(['demo']);

    expect({ code, err }).toEqual({ code: 0, err: 'The agents are removed.\n' });
    expect(out.split('\n').map((line) => line.slice(4, 13).trim())).toEqual([
      ...[
        'register',
        'authorize',
        'exchange',
        'verify',
        'delegate',
        'enforce',
        'enforce',
        'revoke',
        'verify',
        'audit',
        '',
      ],
    ]);
    expect(JSON.parse((await run(['agents', 'list', '--json', '--status', 'active'])).out)).toHaveLength(
      before,
    );
  });

  test('refuses the key of a live account', async () => {
    const live = await Behest.signup({ name: 'Live' }, { baseUrl: acme.url });

    const { code, err } = await newMachine({ BEHEST_URL: acme.url, BEHEST_API_KEY: live.apiKey }).run([
      'demo',
    ]);

    expect(code).toBe(4);
    expect(err).toContain('try: behest signup --name Demo --mode sandbox');
  });
});

describe('the doctor', () => {
  test('finds a good service good', async () => {
    const { code, out } = await acme.signedIn().run(['doctor', '--json']);

    const checks: { id: string; result: string }[] = JSON.parse(out);
    expect(checks.filter(({ result }) => result === 'fail')).toEqual([]);
    expect(checks.map(({ id }) => id)).toEqual([
      'address',
      ...['reach', 'version', 'health', 'clock', 'keys', 'issuer', 'cors', 'key'],
      'limits',
      'stream',
    ]);
    expect(code).toBe(0);
  });

  test('finds another version, keys with strange names and pages of strangers that may call', async () => {
    const { run } = acme.signedIn();
    const doctor = async (change: (path: string, answer: Response) => Promise<Response> | Response) => {
      const { out } = await run(['doctor', '--json'], {
        fetch: async (address, init) => change(new URL(String(address)).pathname, await fetch(address, init)),
      });
      const checks: { id: string; result: string }[] = JSON.parse(out);
      return checks.filter(({ result }) => result !== 'ok').map(({ id, result }) => `${id}: ${result}`);
    };
    const cors = (headers: Record<string, string>) =>
      doctor((path, answer) => (path === '/v1/agents' ? new Response(null, { headers }) : answer));

    expect(await doctor((_, answer) => answer)).toEqual([]);
    expect(
      await doctor((path, answer) =>
        path === '/openapi.json' ? Response.json({ info: { version: '0.5.0' } }) : answer,
      ),
    ).toEqual(['version: warn']);
    expect(
      await doctor(async (path, answer) => {
        if (path !== '/.well-known/jwks.json') return answer;
        const { keys } = Object(await answer.json());
        return Response.json(
          { keys: [{ ...keys[0], kid: 'key-1' }] },
          { headers: { 'cache-control': 'max-age=60' } },
        );
      }),
    ).toEqual(['keys: warn']);
    expect(await cors({ 'access-control-allow-origin': '*' })).toEqual(['cors: warn']);
    expect(
      await cors({
        ...{ 'access-control-allow-origin': 'https://stranger.invalid' },
        ...{ 'access-control-allow-credentials': 'true' },
      }),
    ).toEqual(['cors: fail']);
  });

  test('finds that nothing answers, a wrong key and a wrong address, and says what to do', async () => {
    const { run } = newMachine();
    const failed = async (argv: readonly string[], env: Record<string, string>) => {
      const { code, out } = await run(['doctor', '--json', ...argv], { env });
      const checks: { id: string; result: string; fix: string }[] = JSON.parse(out);
      return [
        code,
        ...checks.filter(({ result }) => result === 'fail').map(({ id, fix }) => `${id}: ${fix}`),
      ];
    };

    expect(await failed(['--url', 'http://127.0.0.1:9'], {})).toEqual([1, 'reach: behest dev']);
    expect(await failed([], { BEHEST_URL: acme.url, BEHEST_API_KEY: 'bh_test_wrong' })).toEqual([
      1,
      'key: behest config set --key -',
    ]);
    const other = acme.url.replace('localhost', '127.0.0.1');
    expect(await failed([], { BEHEST_URL: other })).toEqual([
      1,
      expect.stringMatching(/^issuer: behest config set --url http:\/\/localhost/),
    ]);
  });
});

describe('enforce test', () => {
  const manifest = 'connector: calendar\ntools:\n  list_events: read\n  delete_event: delete\n';

  test('decides with manifests of this folder, and charges nothing', async () => {
    const { run, folder } = acme.signedIn();
    const { grantToken } = await granted(run, 'tool:calendar:read');
    writeFileSync(join(folder, 'calendar.yaml'), manifest);
    const decide = (tool: string) =>
      run(
        [
          'enforce',
          'test',
          '--stdin',
          '--connector',
          'calendar',
          '--tool',
          tool,
          '--manifest',
          'calendar.yaml',
          '--allow-sandbox',
          '--json',
        ],
        { input: grantToken },
      );

    const [allowed, denied] = [await decide('list_events'), await decide('delete_event')];

    expect(allowed.code).toBe(0);
    expect(JSON.parse(allowed.out)).toMatchObject({ allowed: true, permission: 'read' });
    expect(denied.code).toBe(1);
    expect(JSON.parse(denied.out)).toMatchObject({ allowed: false, reason_code: 'permission_insufficient' });
  });

  test('asks the service, whose registry decides, where no manifest is named', async () => {
    const { run, folder } = acme.signedIn();
    const { grantToken } = await granted(run, 'tool:calendar:read');
    writeFileSync(join(folder, 'calendar.yaml'), manifest);
    await run(['manifests', 'put', 'calendar', '-f', 'calendar.yaml']);

    const { code, out } = await run(
      ['enforce', 'test', '--stdin', '--connector', 'calendar', '--tool', 'delete_event'],
      { input: grantToken },
    );

    expect(code).toBe(1);
    expect(out).toMatch(/^FIELD +VALUE\nverdict +deny\n/);
  });
});

describe('the audit chain', () => {
  test('is recomputed from the service and from a file, and its first broken entry is named', async () => {
    const { run, folder } = acme.signedIn();
    await granted(run);
    const { out: entries } = await run(['audit', 'list', '--json']);
    const list: { seq: number; action: string; entryId: string }[] = JSON.parse(entries);
    const second = list.toSorted((one, other) => one.seq - other.seq)[1];
    writeFileSync(join(folder, 'audit.json'), entries);
    writeFileSync(
      join(folder, 'broken.json'),
      JSON.stringify(list.map((entry) => (entry.seq === 2 ? { ...entry, action: 'other' } : entry))),
    );
    writeFileSync(join(folder, 'nothing.json'), '{}');

    const online = await run(['audit', 'verify', '--json']);
    const offline = await run(['audit', 'verify', '--file', 'audit.json', '--json'], {
      fetch: async () => Promise.reject(new Error('asked')),
    });
    const broken = await run(['audit', 'verify', '--file', 'broken.json', '--json']);

    expect(JSON.parse(online.out)).toMatchObject({ valid: true, firstBrokenAt: null });
    expect(JSON.parse(offline.out)).toMatchObject({ valid: true, checkedEntries: list.length });
    expect(broken.code).toBe(1);
    expect(JSON.parse(broken.out)).toMatchObject({
      valid: false,
      problem: 'hash_mismatch',
      firstBrokenAt: second?.entryId,
    });
    expect((await run(['audit', 'verify', '--file', 'nothing.json'])).code).toBe(2);
  });
});

describe('webhooks', () => {
  test('listen brings events to a local address, with headers that webhooks verify takes', async () => {
    const { run, folder } = acme.signedIn();
    const got: { body: string; headers: string }[] = [];
    const receiver = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      got.push({ body, headers: JSON.stringify(request.headers) });
      response.end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void receiver.close());
    const forward = `http://127.0.0.1:${Object(receiver.address()).port}/hook`;
    const env = { HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };

    let isOpen = () => {};
    const opened = new Promise<void>((resolve) => {
      isOpen = resolve;
    });
    const listening = run(
      [
        'webhooks',
        'listen',
        '--forward',
        forward,
        '--types',
        'agent.created',
        '--secret-env',
        'HOOK_SECRET',
        '--count',
        '1',
      ],
      {
        env,
        fetch: async (url, init) => {
          const answer = await fetch(url, init);
          if (String(url).includes('/stream')) isOpen();
          return answer;
        },
      },
    );
    await opened;
    await run(['agents', 'register', '--name', 'Heard']);
    const { code, out } = await listening;

    expect(code).toBe(0);
    expect(out).toMatch(/ {2}agent\.created {2}\S+ {2}200\n$/);
    writeFileSync(join(folder, 'body.json'), got[0]?.body ?? '');
    writeFileSync(join(folder, 'headers.json'), got[0]?.headers ?? '');
    const check = [
      'webhooks',
      'verify',
      '--secret-env',
      'HOOK_SECRET',
      '--file',
      'body.json',
      '--headers',
      'headers.json',
      '--json',
    ];
    expect(JSON.parse((await run(check, { env })).out)).toMatchObject({ valid: true, type: 'agent.created' });
    writeFileSync(join(folder, 'body.json'), `${got[0]?.body} `);
    expect(await run(check, { env })).toMatchObject({
      code: 1,
      out: expect.stringContaining('bad_signature'),
    });
  });
});

describe('keys', () => {
  test('are rotated into the profile before the new one is printed', async () => {
    const { run } = newMachine();
    const account = await Behest.signup({ name: 'Rotating', mode: 'sandbox' }, { baseUrl: acme.url });
    await run(['config', 'set', '--url', acme.url, '--key', '-'], { input: account.apiKey });

    const { code, out, err } = await run(['keys', 'rotate', '--grace', 'now']);

    expect(code).toBe(0);
    expect(out).not.toContain(account.apiKey);
    expect(out).toMatch(/bh_test_…/);
    expect(err).toContain('The new key is saved in profile "default".');
    expect((await run(['me'])).code).toBe(0);
    expect((await run(['me'], { env: { BEHEST_API_KEY: account.apiKey } })).code).toBe(3);
    expect((await run(['keys', 'rotate', '--grace', 'soon'])).code).toBe(2);
  });

  test('from the environment are rotated without a change of the profile', async () => {
    const { run, configFile } = newMachine();
    const account = await Behest.signup({ name: 'Elsewhere', mode: 'sandbox' }, { baseUrl: acme.url });
    await run(['config', 'set', '--url', acme.url, '--key', '-'], { input: acme.apiKey });
    const before = readFileSync(configFile, 'utf8');

    const { out, err } = await run(['keys', 'rotate', '--json'], { env: { BEHEST_API_KEY: account.apiKey } });

    expect(readFileSync(configFile, 'utf8')).toBe(before);
    expect(err).toContain('is not saved there');
    expect(JSON.parse(out).apiKey).toMatch(/^bh_test_/);
  });

  test('in a profile are not replaced by signup unless the person says so', async () => {
    const { run, configFile } = newMachine();
    await run(['config', 'set', '--url', acme.url, '--key', 'bh_test_kept']);
    const before = readFileSync(configFile, 'utf8');

    const refused = await run(['signup', '--name', 'New', '--mode', 'sandbox']);

    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
    expect(readFileSync(configFile, 'utf8')).toBe(before);
    expect((await run(['signup', '--name', 'New', '--mode', 'sandbox', '--yes'])).code).toBe(0);
  });

  test('are kept by signup for a new account, and shown in part', async () => {
    const { run } = newMachine({ BEHEST_URL: acme.url });

    const { code, out, err } = await run(['signup', '--name', 'New', '--mode', 'sandbox']);

    expect(code).toBe(0);
    expect(err).toBe('The key is saved in profile "default".\n');
    expect(out).toMatch(/bh_test_…[\w-]{4}/);
    expect(JSON.parse((await run(['me', '--json'])).out)).toMatchObject({ name: 'New' });
    expect((await run(['signup'])).code).toBe(2);
  });
});

describe('api', () => {
  test('calls any route, pages through it, and ends as every command does', async () => {
    const { run } = acme.signedIn();
    await run(['api', 'POST', '/v1/agents', '-f', 'name=By hand']);

    const { out } = await run(['api', 'GET', '/v1/agents', '--paginate', '-f', 'limit=1', '--json']);

    expect(JSON.parse(out).map(({ name }: { name: string }) => name)).toContain('By hand');
    expect(await run(['api', 'GET', '/v1/agents/none'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('NOT_FOUND, request '),
    });
    expect((await run(['api', 'FETCH', '/v1/agents'])).code).toBe(2);
    expect((await run(['api', 'GET', '//elsewhere.example/v1'])).code).toBe(2);
  });

  test('sends again where nothing can happen twice, as often as --retries says', async () => {
    const { run } = acme.signedIn();
    const attempts = async (argv: readonly string[], answer: () => Response | Promise<never>) => {
      const keys: (string | null)[] = [];
      const { code } = await run(['api', ...argv], {
        async fetch(_, init) {
          keys.push(new Headers(init?.headers).get('idempotency-key'));
          return answer();
        },
      });
      return { code, sent: keys.length, keys: new Set(keys).size };
    };
    const busy = () => new Response('', { status: 503, headers: { 'retry-after': '0' } });
    const limited = () => new Response('', { status: 429, headers: { 'retry-after': '0' } });
    const lost = () => Promise.reject(new TypeError('fetch failed'));

    expect(await attempts(['GET', '/v1/me', '--retries', '2'], busy)).toEqual({ code: 8, sent: 3, keys: 1 });
    expect(await attempts(['POST', '/v1/agents', '--retries', '1'], busy)).toEqual({
      code: 8,
      sent: 2,
      keys: 1,
    });
    expect(await attempts(['PATCH', '/v1/me', '--retries', '2'], busy)).toMatchObject({ code: 8, sent: 1 });
    expect(await attempts(['PATCH', '/v1/me', '--retries', '2'], limited)).toMatchObject({
      code: 7,
      sent: 3,
    });
    expect(await attempts(['GET', '/v1/me', '--retries', '1'], lost)).toMatchObject({ code: 8, sent: 2 });
    expect(await attempts(['PATCH', '/v1/me', '--retries', '1'], lost)).toMatchObject({ code: 8, sent: 1 });
    expect(await attempts(['GET', '/v1/me', '--retries', '0'], busy)).toMatchObject({ code: 8, sent: 1 });
  });
});
