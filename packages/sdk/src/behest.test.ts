import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryMeter } from '@behest/meter/memory-meter';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { DEVELOPER, startIssuer } from '../test/issuer.ts';
import { Behest } from './behest.ts';
import type { BehestOptions } from './client/options.ts';
import { BehestError, ManifestValidationError } from './index.ts';

afterEach(() => void vi.unstubAllEnvs());

const manifest = {
  connector: 'crm',
  tools: {
    lookup: { permission: 'read', caps: { per_hour: 2 }, arguments: { '/id': { length: [1, 4] } } },
    approve: { permission: 'write', requires_decision: true },
  },
};
const lookup = { connector: 'crm', tool: 'lookup', arguments: { id: '7' } };

async function start(more: Partial<BehestOptions> = {}) {
  const issuer = await startIssuer();
  const behest = new Behest({
    ...{ apiKey: null, baseUrl: issuer.url, developerId: DEVELOPER },
    ...{ manifests: [manifest], meter: memoryMeter(), ...more },
  });
  const token = (over: Record<string, unknown> = {}) => issuer.token({ scp: ['tool:crm:write'], ...over });
  return { issuer, behest, token };
}

/** A service that answers `GET /v1/me` and `POST /v1/tokens/verify`, and the keys of an issuer. */
function serviceOf(issuer: { readonly jwks: object }, verdict: () => object | number) {
  const asked: { url: string; init: RequestInit }[] = [];
  const state = { me: { developerId: DEVELOPER } as object | number };
  const answerOf = (what: object | number) =>
    typeof what === 'number' ? new Response('{}', { status: what }) : Response.json(what);
  const fetch = async (url: string, init: RequestInit) => {
    asked.push({ url, init });
    if (url.endsWith('jwks.json')) return Response.json(issuer.jwks);
    return answerOf(url.endsWith('/v1/me') ? state.me : verdict());
  };
  return { asked, state, fetch };
}

describe('a call', () => {
  test('is allowed, metered and denied by the one engine', async () => {
    const { behest, token } = await start();
    const grantToken = await token();

    const answers = [];
    for (let index = 0; index < 3; index += 1) answers.push(await behest.enforce({ ...lookup, grantToken }));

    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(answers[0]).toMatchObject({ grant_id: 'grnt_1', reservation: { counters: [{ remaining: 1 }] } });
    expect(answers[2]).toMatchObject({ reasonCode: 'cap_exceeded', subReason: 'limit_reached' });
    const decision = await behest.enforce({ ...lookup, tool: 'approve', grantToken });
    expect(decision).toMatchObject({ reasonCode: 'decision_required', subReason: null });
  });

  test('with a bad token is denied with its cause, and none is thrown', async () => {
    const { behest, token, issuer } = await start();
    const causes: Record<string, string> = {
      missing: '',
      malformed: 'nonsense',
      developer: await token({ dev: 'dev_2', 'urn:service:grant': undefined }),
      expired: await token({ exp: Math.floor(Date.now() / 1_000) - 60 }),
    };

    for (const [cause, grantToken] of Object.entries(causes))
      expect(await behest.enforce({ ...lookup, grantToken })).toMatchObject({
        reason_code: 'token_invalid',
        details: { cause },
      });
    const other = await startIssuer();
    const elsewhere = new Behest({ apiKey: null, baseUrl: other.url, developerId: DEVELOPER });
    other.answers('error');
    const unknown = await elsewhere.enforce({ ...lookup, grantToken: await issuer.token() });
    expect(unknown).toMatchObject({ reason_code: 'token_invalid', details: { cause: 'keys_unavailable' } });
  });

  test('is denied while the meter is away, and others go on', async () => {
    const away = { ...memoryMeter(), reserve: () => Promise.reject(new Error('ECONNREFUSED')) };
    const { behest, token } = await start({ meter: away });
    behest.loadManifest({ connector: 'mail', tools: { read: 'read' } });
    const grantToken = await token({ scp: ['tool:crm:write', 'tool:mail:read'] });

    const metered = await behest.enforce({ ...lookup, grantToken });
    const free = await behest.enforce({ grantToken, connector: 'mail', tool: 'read' });

    expect(metered).toMatchObject({ sub_reason: 'meter_unavailable', details: { cause: 'unreachable' } });
    expect(free.allowed).toBe(true);
  });
});

describe('a wrapped tool', () => {
  test('runs with the arguments that were checked, whatever happens to the originals meanwhile', async () => {
    const { behest, token } = await start();
    const seen: unknown[] = [];
    const args = { id: '7' };
    const run = behest.wrapTool((given: { id: string }) => seen.push(given), {
      ...lookup,
      grantToken: () => token(),
    });

    const running = run(args);
    args.id = 'all of them';
    await running;

    expect(seen).toEqual([{ id: '7' }]);
    await expect(run(args)).rejects.toMatchObject({
      name: 'BehestDeniedError',
      reasonCode: 'tool_not_granted',
      subReason: 'argument_not_allowed',
    });
    expect(seen).toHaveLength(1);
  });

  test('gets a new token once, when its token has expired', async () => {
    const { behest, token } = await start();
    const expired = await token({ exp: Math.floor(Date.now() / 1_000) - 60 });
    const tokens = [expired, await token(), expired, expired, await token()];
    const run = behest.wrapTool(async () => 'ran', { ...lookup, grantToken: () => tokens.shift() ?? '' });

    expect(await run({ id: '7' })).toBe('ran');
    await expect(run({ id: '7' })).rejects.toMatchObject({ reasonCode: 'token_invalid' });
    expect(tokens).toHaveLength(1);
    const fixed = behest.wrapTool(async () => 'ran', { ...lookup, grantToken: expired });
    await expect(fixed({ id: '7' })).rejects.toMatchObject({ reasonCode: 'token_invalid' });
  });
});

test('a list of tools has those that some call could use', async () => {
  const { behest, token } = await start();
  const tools = ['lookup', 'approve', 'delete'].map((name) => ({ name }));
  const grantToken = await token({ scp: ['tool:crm:read'] });

  const listed = await behest.listTools({ grantToken, connector: 'crm', tools });

  expect(listed.tools).toEqual([{ name: 'lookup' }]);
  expect(listed.hidden.map(({ tool }) => tool)).toEqual(['approve', 'delete']);
});

describe('with an API key', () => {
  test('the client learns once whose tokens it takes, and takes none before', async () => {
    const { issuer, token } = await start();
    const { fetch, state, asked } = serviceOf(issuer, () => ({ valid: true }));
    // Its own address, because the keys of an address are kept for the whole process.
    const baseUrl = `http://localhost:1/${crypto.randomUUID()}`;
    const behest = new Behest({
      apiKey: 'bh_test_1',
      baseUrl,
      issuer: issuer.url,
      manifests: [manifest],
      fetch,
    });
    state.me = 503;

    const failing = await behest.enforce({ ...lookup, tool: 'approve', grantToken: await token() });
    expect(failing).toMatchObject({ details: { cause: 'keys_unavailable' } });
    await expect(behest.verify(await token())).rejects.toMatchObject({ name: 'BehestNetworkError' });

    state.me = { developerId: DEVELOPER };
    const tokens = await Promise.all([token(), token(), token()]);
    const grants = await Promise.all(tokens.map((each) => behest.verify(each)));
    expect(grants.map(({ developerId }) => developerId)).toEqual([DEVELOPER, DEVELOPER, DEVELOPER]);
    await expect(
      behest.verify(await token({ dev: 'dev_2', 'urn:service:grant': undefined })),
    ).rejects.toMatchObject({ reason: 'developer_mismatch' });
    expect(asked.filter(({ url }) => url.endsWith('/v1/me'))).toHaveLength(3);
    expect(JSON.stringify(behest)).not.toContain('bh_test_1');
  });

  test('a revocation is seen at the next call, and an outage denies', async () => {
    const { issuer, token } = await start();
    let verdict: object | number = { valid: true };
    const { fetch, asked } = serviceOf(issuer, () => verdict);
    const behest = new Behest({
      ...{ apiKey: 'bh_test_1', baseUrl: `http://localhost:1/${crypto.randomUUID()}`, issuer: issuer.url },
      ...{ developerId: DEVELOPER, revocation: 'online', manifests: [manifest], meter: memoryMeter(), fetch },
    });
    const grantToken = await token();
    const ask = () => behest.enforce({ ...lookup, grantToken, reserve: false });

    expect((await ask()).allowed).toBe(true);
    for (const [answer, subReason] of [
      [{ valid: false, reason: 'revoked' }, 'revoked'],
      [{ valid: false, reason: 'grant_inactive' }, 'revoked'],
      [{ valid: false, reason: 'agent_inactive' }, 'suspended'],
      [{ valid: false }, 'revoked'],
      [{}, 'status_unavailable'],
      [500, 'status_unavailable'],
      [302, 'status_unavailable'],
    ] as const) {
      verdict = answer;
      expect(await ask()).toMatchObject({ reasonCode: 'grant_revoked', subReason });
    }
    const last = asked.at(-1);
    expect(JSON.parse(String(last?.init.body))).toEqual({ token: grantToken });
    expect(last?.init.redirect).toBe('manual');
  });
});

test('options that cannot be used make no client', () => {
  const baseUrl = 'https://auth.example.com';
  const wrong: [BehestOptions, string][] = [
    [{ baseUrl }, 'apiKey is missing'],
    [{ baseUrl, apiKey: '  ' }, 'apiKey is missing'],
    [{ baseUrl, apiKey: 'a\nb' }, 'line break'],
    [{ baseUrl, apiKey: null }, 'developerId is required'],
    [{ baseUrl, apiKey: null, developerId: [] }, '1 to 100'],
    [{ baseUrl: 'http://auth.example.com', apiKey: 'a' }, 'https://'],
    [{ baseUrl, apiKey: null, developerId: 'dev_1', revocation: 'online' }, 'with an API key'],
    [{ baseUrl, apiKey: null, developerId: 'dev_1', revocation: 'feed' }, 'with an API key'],
    [{ baseUrl, apiKey: null, developerId: 'dev_1', manifests: [{ connector: 'crm' }] }, 'tools'],
  ];
  vi.stubEnv('BEHEST_API_KEY', '');

  for (const [options, message] of wrong) expect(() => new Behest(options), message).toThrow(message);

  vi.stubEnv('BEHEST_API_KEY', 'bh_test_1');
  vi.stubEnv('BEHEST_URL', baseUrl);
  expect(() => new Behest()).not.toThrow();
});

test('a client calls a service over http on another machine where it was told to, keys included', async () => {
  const issuer = await startIssuer();
  const baseUrl = 'http://behest.internal:3001';
  const { fetch, asked } = serviceOf(issuer, () => ({ valid: true }));
  const options = { apiKey: 'bh_live_1', baseUrl, fetch };

  expect(() => new Behest(options)).toThrow('baseUrl has to begin with https://.');
  const behest = new Behest({ ...options, allowInsecure: true });
  const grant = await behest.verify(await issuer.token({ iss: baseUrl }));

  expect(grant.grantId).toBe('grnt_1');
  expect(asked.map(({ url }) => url.replace(baseUrl, ''))).toEqual(['/v1/me', '/.well-known/jwks.json']);
  const other = { jwksUri: 'http://elsewhere.internal/jwks.json', fetch };
  expect(() => new Behest({ apiKey: 'bh_live_1', ...other })).toThrow('https://');
});

test('no token is taken while the service names no account', async () => {
  const issuer = await startIssuer();
  const { fetch, state } = serviceOf(issuer, () => ({}));
  const behest = new Behest({ apiKey: 'bh_live_1', baseUrl: issuer.url, fetch });
  const claims = { dev: 'undefined', 'urn:service:grant': { grant_id: 'grnt_1', developer_id: 'undefined' } };
  const forged = await issuer.token(claims);

  for (const me of [{}, { developerId: '' }, { developerId: 7 }, { developerId: null }]) {
    state.me = me;
    await expect(behest.verify(forged)).rejects.toMatchObject({ name: 'BehestNetworkError' });
  }
  state.me = { developerId: DEVELOPER };

  await expect(behest.verify(forged)).rejects.toMatchObject({ reason: 'developer_mismatch' });
  expect((await behest.verify(await issuer.token())).developerId).toBe(DEVELOPER);
});

test('a manifest that does not load is an error of the SDK', async () => {
  const { behest } = await start();

  const refused = (() => {
    try {
      behest.loadManifest({ connector: 'crm', tools: { lookup: 'reads' } });
    } catch (error) {
      return error;
    }
  })();

  expect(refused).toBeInstanceOf(BehestError);
  expect(refused).toBeInstanceOf(ManifestValidationError);
  expect(refused).toMatchObject({ code: 'invalid_permission', path: 'tools.lookup', connector: 'crm' });
});

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'behest-manifests-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const client = () =>
  new Behest({ apiKey: null, baseUrl: 'https://auth.example.com', developerId: DEVELOPER });
const json = (connector: string) => JSON.stringify({ connector, tools: { lookup: { permission: 'read' } } });

test('the manifests of a folder are loaded, whatever else is there', async () => {
  const folder = folderOf({
    'crm.json': json('crm'),
    'mail.yaml': 'connector: mail\ntools:\n  send: { permission: write }\n',
    'pay.yml': '\uFEFFconnector: pay\ntools: { transfer: write }\n',
    'files.tools.json': json('files'),
    'crm.json.tools.json': '{"format":"behest.tool-definitions/1","connector":"crm","tools":{}}',
    'notes.txt': '{',
    'crm.json~': '{',
  });
  mkdirSync(join(folder, 'more'));
  writeFileSync(join(folder, 'more', 'deep.json'), json('deep'));
  const behest = client();

  const loaded = await behest.loadManifestsFromDir(folder);

  expect(loaded.map(({ connector }) => connector)).toEqual(['crm', 'files', 'mail', 'pay']);
  expect(behest.manifest('mail')?.tools.get('send')?.permission).toBe('write');
  expect(behest.manifest('pay')?.tools.get('transfer')?.permission).toBe('write');
  expect(behest.manifest('deep')).toBeUndefined();
});

test.each<[string, Record<string, string>, object]>([
  [
    'a key that JSON repeats',
    { 'b.json': '{"connector":"b","tools":{"t":"read","t":"admin"}}' },
    { name: 'ManifestValidationError', code: 'duplicate_key', path: 'tools.t' },
  ],
  [
    'a key that YAML repeats in another style',
    { 'b.yaml': 'connector: b\ntools:\n  t: read\n  "t": admin\n' },
    { name: 'ManifestValidationError', code: 'duplicate_key', path: 'tools.t' },
  ],
  ['a text that is not JSON', { 'b.json': 'connector: b' }, { code: 'unparseable', path: '' }],
  ['an empty file', { 'b.json': '' }, { code: 'unparseable', path: '' }],
  ['definitions that are none', { 'b.tools.json': '{"format":"other"}' }, { code: 'missing_key' }],
  [
    'one connector in two files',
    { 'b.yaml': 'connector: a\ntools: { t: admin }\n' },
    { name: 'BehestError', message: 'a.json and b.yaml are both about a.' },
  ],
])('a folder with %s loads nothing', async (_, files, fault) => {
  const behest = client();
  const folder = folderOf({ 'a.json': json('a'), ...files });

  await expect(behest.loadManifestsFromDir(folder)).rejects.toThrow(expect.objectContaining(fault));
  await expect(behest.loadManifestsFromDir(folder)).rejects.toThrow(Object.keys(files)[0]);
  expect(behest.manifest('a')).toBeUndefined();
});

test('a folder that is not there, and a runtime without files, are said so', async () => {
  const behest = client();

  await expect(behest.loadManifestsFromDir('/nowhere')).rejects.toThrow(
    'The manifests in /nowhere cannot be read.',
  );
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
  onTestFinished(() => void vi.restoreAllMocks());
  await expect(behest.loadManifestsFromDir(folderOf({}))).rejects.toThrow('needs a runtime with files');
});
