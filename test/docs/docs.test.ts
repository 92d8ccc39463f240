import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { allSettings } from '../../apps/server/src/config.ts';
import { registerWebhook, startWithWebhooks } from '../../apps/server/test/app/deliveries.ts';
import { grantTo, partsOf, registerAgent } from '../../apps/server/test/app/flow.ts';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { onThisMachine, proxied } from '../../apps/server/test/app/proxy.ts';
import { startReceiver } from '../../apps/server/test/app/receiving.ts';
import { ADMIN_API_KEY, newDatabase, startApp } from '../../apps/server/test/app/start-app.ts';
import { emit } from '../../apps/server/test/app/streams.ts';
import { storeCredential } from '../../apps/server/test/app/vault.ts';
import { actingAgents } from '../../docs/guides/examples/acting-agents.ts';
import { keepsCheckpoint } from '../../docs/guides/examples/check-chain.ts';
import { consentLink } from '../../docs/guides/examples/consent-link.ts';
import { follow } from '../../docs/guides/examples/follow-events.ts';
import { callThroughVault } from '../../docs/guides/examples/proxied-call.ts';
import { type Event, receiver } from '../../docs/guides/examples/receive-webhooks.ts';
import { callUpstream } from '../../docs/guides/examples/upstream-call.ts';
import { offlineVerifier } from '../../docs/guides/examples/verify-offline.ts';
import { errorCodes } from '../../packages/protocol/src/errors.ts';
import { freePort } from '../../scripts/machine/ports.ts';
import { blocksOf, listening } from './steps.ts';

const ROOT = join(import.meta.dirname, '../..');
const pages = globSync(['*.md', 'docs/**/*.md', 'scripts/*/README.md'], { cwd: ROOT }).sort();
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The files and names of the worked example are not in the checkout; `npm test -- example` makes them. */
const proseOf = (page: string) =>
  page === 'docs/worked-example.md'
    ? textOf(page).replace(/^```.*?^```$|`[^`\n]*contact[^`\n]*`/gims, '')
    : textOf(page);

/** Lists the matches of a pattern's first group in every page, with the page. */
const named = (pattern: RegExp, among = pages) =>
  among.flatMap((page) => [...proseOf(page).matchAll(pattern)].map(([, name = '']) => ({ page, name })));

describe('the names in the documents', () => {
  test('links to files and headings lead somewhere', () => {
    const links = named(/\]\(([^)\s]+)\)/g).filter(({ name }) => !/^[a-z]+:/.test(name));

    expect(links.length).toBeGreaterThan(40);
    expect(links.filter(({ page, name }) => !leadsSomewhere(page, name))).toEqual([]);
  });

  test('commands are there', () => {
    const { scripts } = JSON.parse(textOf('package.json'));
    const commands = [...named(/\bnpm run ([\w:-]+)/g), ...named(/`npm (start|test)\b/g)];

    expect(commands.filter(({ name }) => !(name in scripts))).toEqual([]);
  });

  test('settings, error codes and other words in capitals are known', () => {
    // Other words in capitals: algorithms, methods of HTTP, a variable of the shell, a code of the log, and
    // variables that tools, tests and libraries read, a command of SQL, an answer of an upstream.
    const others = [
      'RS256',
      'ES256',
      'S256',
      'JWT',
      'RSA',
      ...METHODS,
      'PATH',
      'CONFIG_INVALID',
      'BEHEST_URL',
      'BEHEST_API_KEY',
      'TEST_DATABASE_URL',
      'TEST_REDIS_URL',
      'TEST_LONG',
      'TEST_SEED',
      'NODE_EXTRA_CA_CERTS',
      'NODE_OPTIONS',
      'MALLOC_ARENA_MAX',
      'OTEL_RESOURCE_ATTRIBUTES',
      'ANALYZE',
      'BAD_REFRESH_TOKEN',
      ...['FREE', 'PRO', 'ENTERPRISE'],
    ];
    const known = new Set([...Object.keys(allSettings), ...Object.keys(errorCodes), ...others]);
    const isKnown = (name: string) =>
      known.has(name) ||
      known.has(name.replace(/_FILE$/, '')) ||
      textOf('docs/configuration.md').includes(`| \`${name}\` |`);

    expect(named(/`([A-Z][A-Z0-9_]{2,})(?:=[^`]*)?`/g).filter(({ name }) => !isKnown(name))).toEqual([]);
  });

  test('routes are those of the API description', () => {
    const { paths } = JSON.parse(textOf('openapi.json'));
    const known = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, ':id')}`),
    );
    // In quotes they are routes of an example.
    const routes = named(/(?<!')\b((?:GET|POST|PUT|PATCH|DELETE) \/[\w./:-]*[\w])/g);

    expect(routes.length).toBeGreaterThan(30);
    expect(routes.filter(({ name }) => !known.includes(name))).toEqual([]);
  });

  test('files are at the paths that the documents name', () => {
    const files = named(
      /`((?:apps|packages|scripts|test|docs|src|migrations|platform|features)\/[\w./-]+)`/g,
    );
    const places = ['.', 'apps/server', 'apps/server/src'];
    const isThere = (name: string) =>
      places.some(
        (place) => existsSync(join(ROOT, place, name)) || existsSync(join(ROOT, place, `${name}.ts`)),
      );

    expect(files.filter(({ name }) => !isThere(name))).toEqual([]);
  });

  test('functions and tables of the architecture and the design are in the sources', () => {
    const sources = globSync('{apps,packages,scripts,test}/**/*.{ts,mjs,js,sql}', {
      cwd: ROOT,
      exclude: ['**/node_modules/**', 'test/docs/docs.test.ts'],
    });
    const words = new Set(sources.flatMap((path) => textOf(path).match(/\w+/g) ?? []));
    const among = pages.filter((page) =>
      /architecture|design|operations|CONTRIBUTING|worked-example/.test(page),
    );

    const names = named(/`([a-z]+(?:[A-Z_]\w*)+)(?:\(\))?`/g, among);
    expect(names.filter(({ name }) => !words.has(name))).toEqual([]);
  });
});

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? page : join(dirname(page), file);
  if (!existsSync(join(ROOT, target))) return false;
  return heading === undefined || headingsOf(target).includes(heading);
}

/**
 * Makes the anchors that the web shows: lower case, hyphens for blanks, letters and digits only. The site writes a first
 * digit and `_` in another way than the hosts of repositories, so no link may lead to such a heading.
 */
function headingsOf(page: string): string[] {
  const titles = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  const slugs = titles.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
  const anchors = [...textOf(page).matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  return [...slugs.filter((slug) => /^[a-z][a-z0-9-]*$/.test(slug)), ...anchors];
}

describe('the commands of the documents', () => {
  const run = promisify(execFile);

  test('the main job of the README ends with a token that is revoked', async () => {
    const { shell } = await listening();

    const [walk = ''] = blocksOf('README.md', 'sh').filter((block) => block.includes('curl'));

    expect(walk.trim().split('\n')).toHaveLength(10);
    expect(await shell(walk)).toMatch(/\{"valid":false,"reason":"revoked"\}$/);
  });

  test('J23: the guide’s verifier takes the own tokens, and no stranger’s and no sandbox’s unless told', async () => {
    const { baseUrl, asDeveloper } = await listening();
    const [acme, stranger] = [await asDeveloper({ mode: 'sandbox' }), await asDeveloper({ mode: 'sandbox' })];
    const [own, foreign] = [await grantTo(acme), await grantTo(stranger)];
    const settings = {
      issuer: baseUrl,
      jwksUrl: `${baseUrl}/.well-known/jwks.json`,
      developerId: acme.developerId,
    };
    const verify = offlineVerifier({ ...settings, allowSandbox: true });

    expect(await verify(own.grantToken)).toMatchObject({ dev: acme.developerId });
    await expect(verify(foreign.grantToken)).rejects.toThrow("another account's");
    await expect(offlineVerifier(settings)(own.grantToken)).rejects.toThrow('sandbox');
    expect(() => offlineVerifier({ ...settings, developerId: '' })).toThrow(TypeError);
  });

  test('the quickstart, step by step', async () => {
    const { shell } = await listening();
    const steps = blocksOf('docs/guides/quickstart.md', 'sh').filter((block) => !block.includes('npm start'));

    const told = await shell(steps.join('\n'));

    expect(told).toContain('"reason":"refresh_reused"');
    expect(told).toContain('/consent?req=areq_');
    expect(told).toContain('"status":"approved"');
    expect(told).toContain('{"valid":false,"reason":"revoked"}');
    expect(told.trimEnd()).toMatch(/\{"valid":true,"checkedEntries":\d+.*\}$/);
  });

  test('the vault, step by step, and its example at an upstream that asks for the token', async () => {
    const { asDeveloper, baseUrl, shell } = await listening();
    const acme = await asDeveloper({ mode: 'sandbox' });
    const steps = blocksOf('docs/guides/let-an-agent-call-an-api-without-its-key.md', 'sh');
    const [id, accessToken, exchanges, version, replaced, ...links] = (
      await shell(steps.join('\n'), { KEY: acme.apiKey })
    )
      .trim()
      .split('\n');
    expect([accessToken, exchanges, version, replaced]).toEqual(['gho_of_ada', '1', '1', 'true']);
    await acme('DELETE', '/v1/vault/proxy-profiles/github');
    await storeCredential(acme, { accessToken: 'gho_of_ada' }); // the profile of the guide leaves it to the proxy
    expect(id).toMatch(/^vault_/);
    expect(links).toEqual([
      expect.stringContaining(`${baseUrl}/`),
      expect.stringContaining(`${baseUrl}/connect`),
    ]);

    const receiver = await startReceiver();
    receiver.answer(({ headers }, response) => {
      response.writeHead(headers.authorization === 'Bearer gho_of_ada' ? 200 : 401).end('ada');
    });
    const { grantToken, grantId } = await grantTo(acme, { scopes: ['github:read'] });
    const asking = () => callUpstream({ baseUrl, grantToken }, { service: 'github', url: receiver.url });
    expect(await (await asking()).text()).toBe('ada');
    await acme('DELETE', `/v1/grants/${grantId}`);
    await expect(asking()).rejects.toThrow('No credential for github: UNAUTHORIZED');
    expect(receiver.received).toHaveLength(1);
  });

  test('the vault proxy, whose example holds no credential', async () => {
    const { asDeveloper, baseUrl } = await listening(onThisMachine);
    const acme = await asDeveloper({ mode: 'sandbox' });
    const { receiver, grantToken } = await proxied(acme);
    const asking = (path: string) => callThroughVault({ baseUrl, grantToken }, { service: 'github', path });

    expect(await (await asking('/repos/acme/site?page=2')).json()).toEqual({ ok: true });
    await expect(asking('/user')).rejects.toThrow('Not passed on: PROXY_DENIED no_rule');
    expect(receiver.received).toMatchObject([
      { path: '/repos/acme/site?page=2', headers: { authorization: 'Bearer upstream-access-1' } },
    ]);
  });

  test('delegation, step by step, ends with the child revoked and the parent active', async () => {
    const { shell } = await listening();
    const steps = blocksOf('docs/guides/delegation.md', 'sh');

    const [part, tree, gone, whole] = (await shell(steps.join('\n')))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

    expect(part).toMatchObject({ valid: true, scopes: ['calendar:read'], delegationDepth: 1 });
    expect(tree.grants).toHaveLength(2);
    expect(gone).toEqual({ valid: false, reason: 'revoked' });
    expect(whole).toMatchObject({ valid: true, delegationDepth: 0 });
  });

  test('a host with a bound key, step by step, takes its code and ends with a valid token', async () => {
    const { shell, asDeveloper } = await listening();
    const acme = await asDeveloper({ mode: 'sandbox' });
    const steps = blocksOf('docs/guides/run-agents-on-a-host.md', 'sh');

    const told = (await shell(steps.join('\n'), { KEY: acme.apiKey })).trim().split('\n');

    expect(told).toEqual([
      expect.stringContaining('/consent?req=areq_'),
      'approved',
      expect.stringMatching(/^\{"valid":true,.*\}$/),
      'workload_jwt',
    ]);
    const { keys } = (await acme('GET', '/v1/keys')).json();
    expect(keys).toContainEqual(
      expect.objectContaining({ name: 'host 7', agentIds: [expect.stringMatching(/^ag_/)] }),
    );
  });

  test('a policy, step by step, denies, has an exception and keeps its hours', async () => {
    const { shell, asDeveloper } = await listening();
    const acme = await asDeveloper({ mode: 'sandbox' });
    const steps = blocksOf('docs/guides/deny-in-advance-with-policies.md', 'sh');

    const told = (await shell(steps.join('\n'), { KEY: acme.apiKey })).trim().split('\n');

    expect(told).toEqual([
      'null',
      'POLICY_DENIED',
      expect.stringMatching(/^Policy pol_\w+ denies this: scopes payments:\* meets payments:transfer\.$/),
      '10',
      'allow',
      '2',
      'Europe/Berlin',
      'acme_pay',
      'deny',
      'null',
      'require_approval',
      'pending',
      '{ newlyDenied: 0, newlyAllowed: 0, newlyWaiting: 0 }',
      '3',
      'true',
      'true',
      'package behest.authz',
    ]);
  });

  test('the agents of a delegated token are read from the first to the last', async () => {
    const { asDeveloper } = await startApp();
    const acme = await asDeveloper({ mode: 'sandbox' });
    const { grantToken: parentGrantToken, did } = await grantTo(acme);
    const helper = await registerAgent(acme, 'Helper');
    const part = { parentGrantToken, subAgentId: helper.agentId, scopes: ['calendar:read'] };
    const { grantToken } = (await acme('POST', '/v1/grants/delegate', part)).json();

    expect(actingAgents(partsOf(grantToken).payload)).toEqual([did, helper.did]);
    expect(actingAgents(partsOf(parentGrantToken).payload)).toEqual([did]);
  });

  test('the calls of the other guides', async () => {
    const { shell, asDeveloper, baseUrl } = await listening();
    const acme = await asDeveloper({ mode: 'sandbox' });
    const env = { KEY: acme.apiKey, TOKEN: 'none' };
    const commands = (guide: string) => blocksOf(`docs/guides/${guide}.md`, 'sh');

    expect(await shell(commands('verify-a-token').join('\n'), env)).toBe('{"valid":false}');
    const checks = commands('check-the-audit-chain').filter((block) => !block.includes('behest audit watch'));
    expect(await shell(checks.join('\n'), env)).toContain('"valid":true');
    const { checkpoint } = (await acme('GET', '/v1/audit/head')).json();
    expect(await keepsCheckpoint({ baseUrl, apiKey: acme.apiKey }, checkpoint)).toBe(true);
    const [rotate = '', make = ''] = commands('rotate-keys');
    expect(await shell(make, env)).toContain('"role":"runtime"');
    expect(await shell(rotate, env)).toContain('"previousKeyExpiresAt"');
  });

  test('the calls of the guide to anomalies', async () => {
    const { shell, asDeveloper } = await listening();
    const acme = await asDeveloper({ mode: 'sandbox' });
    await grantTo(acme);
    const [detect = '', ...others] = blocksOf('docs/guides/notice-and-stop.md', 'sh').slice(0, 5);
    const env = { KEY: acme.apiKey };

    expect(await shell(detect, env)).toContain('"type":"new_principal"');
    const told = await shell(others.join('\n'), env);

    expect(told).toContain('"secret":"********"');
    expect(told).toContain('"ruleId":"many_transfers"');
    expect(told).toContain('"response":"revoke_grants"');
    expect(told).toContain('"occurrences":1');
  });

  test('the calls of the guide to webhooks', async () => {
    const { shell, asDeveloper } = await listening();
    const acme = await asDeveloper({ mode: 'sandbox' });
    const [register = '', ...others] = blocksOf('docs/guides/receive-events.md', 'sh').filter(
      (block) => !block.includes('/events/stream'),
    );
    const env = { KEY: acme.apiKey };

    const { webhookId } = JSON.parse(await shell(register, env));
    const { deliveryId } = (await acme('POST', `/v1/webhooks/${webhookId}/test`, {})).json();
    const told = await shell(others.join('\n'), {
      ...env,
      WEBHOOK: webhookId,
      DELIVERY: deliveryId,
      SINCE: new Date(Date.now() - 60_000).toISOString(),
    });

    expect(told).toContain('"total":2,"page":1');
    expect(told).toContain('"previousSecretExpiresAt"');
    expect(told).toContain('"complete":true');
    expect((await acme('GET', `/v1/webhooks/${webhookId}/deliveries`)).json().total).toBe(3);
  });

  test('a receiver as the guide writes it accepts each event once, and refuses forgeries', async () => {
    const { acme, deliver } = await startWithWebhooks({ startsAt: new Date().toISOString() });
    const port = await freePort();
    const { webhookId, secret } = await registerWebhook(acme, `http://127.0.0.1:${port}/`, ['agent.created']);
    const taken: Event[] = [];
    const server = receiver(secret, async (event) => void taken.push(event)).listen(port, '127.0.0.1');
    onTestFinished(() => void server.close());
    const outcomes = async () =>
      (await acme('GET', `/v1/webhooks/${webhookId}/deliveries`)).json().deliveries;

    const { agentId } = await registerAgent(acme);
    await deliver();
    const [{ id }] = await outcomes();
    await acme('POST', `/v1/webhooks/${webhookId}/deliveries/${id}/redeliver`, {});
    await deliver();

    for (const missing of ['', 'whsec_', 'undefined'])
      expect(() => receiver(missing, async () => {})).toThrow('missing or too short');
    expect(taken).toMatchObject([{ type: 'agent.created', data: { agentId } }]);
    expect(await outcomes()).toMatchObject([{ lastStatusCode: 204 }, { lastStatusCode: 204 }]);
    await acme('POST', `/v1/webhooks/${webhookId}/rotate-secret`, { graceSeconds: 0 });
    await registerAgent(acme);
    await deliver();
    expect(taken).toHaveLength(1);
    expect(await outcomes()).toContainEqual(expect.objectContaining({ lastStatusCode: 401 }));
  });

  test('a signing key of the database: rotated, listed, and taken from use', async () => {
    const [rotate = '', retire = ''] = blocksOf('docs/guides/rotate-keys.md', 'sh').slice(-2);
    const env = { SIGNING_KEY_STORE: 'postgres', SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '0' };
    const service = await listening(env);
    const former = service.keyRing.signer().kid;

    const said = await service.shell(rotate, { ADMIN_API_KEY });

    expect(said).toContain('"state":"pending"');
    await service.runJob('signing_keys');
    const signer = service.keyRing.signer().kid;
    expect(signer).not.toBe(former);
    const retired = await service.shell(retire, { ADMIN_API_KEY, KID: former });
    expect(JSON.parse(retired)).toMatchObject({ kid: former, state: 'removed' });
    expect([...service.keyRing.verificationKeys().byId.keys()]).toEqual([signer]);
  });

  test('a new signing key, step by step: every issued token verifies, and every chain is whole', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'behest-rotation-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(join(folder, 'rsa.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const databaseUrl = await newDatabase();
    const [, , publish = '', sign = ''] = blocksOf('docs/guides/rotate-keys.md', 'sh');
    let env: Readonly<Record<string, string>> = {};
    /** Starts the service with the variables that the commands of a step exported. */
    const startedAfter = async (step: string) => {
      const script = `set -eu\n${step}\nnode -p 'JSON.stringify(process.env)'`;
      const { stdout } = await run('bash', ['-c', script], { cwd: folder, env: { ...process.env, ...env } });
      const names = ['RSA_PRIVATE_KEY', 'JWT_VERIFICATION_PUBLIC_KEYS', 'JWT_LEGACY_KID_KEY'];
      const exported = Object.entries<string>(JSON.parse(stdout)).filter(([name]) => names.includes(name));
      env = Object.fromEntries(exported);
      return startApp({ databaseUrl, startsAt: new Date().toISOString(), env });
    };

    const before = await startedAfter('export RSA_PRIVATE_KEY="$(cat rsa.pem)"');
    const acme = await before.asDeveloper({ mode: 'sandbox' });
    const { grantToken: first, refreshToken, agentId } = await grantTo(acme);
    const { checkpoint } = (await acme('GET', '/v1/audit/head')).json();
    await before.app.close();
    const published = await startedAfter(publish);
    const refresh = { refreshToken, agentId };
    const refreshed = await published.calling(acme.apiKey)('POST', '/v1/token/refresh', refresh);
    await published.app.close();
    const rotated = await startedAfter(sign);
    const call = rotated.calling(acme.apiKey);

    const kidOf = (token: string) => partsOf(token).header.kid;
    const signer = rotated.keyRing.signer().kid;
    expect(published.keyRing.signer().kid).toBe(before.keyRing.signer().kid);
    expect(JSON.parse(published.keyRing.jwks().body.toString()).keys).toContainEqual(
      expect.objectContaining({ kid: signer }),
    );
    expect(kidOf(checkpoint)).toBe(kidOf(first));
    expect(signer).not.toBe(kidOf(first));
    for (const token of [first, refreshed.json().grantToken]) {
      expect((await call('POST', '/v1/tokens/verify', { token })).json()).toMatchObject({ valid: true });
    }
    expect((await call('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });

    const { RSA_PRIVATE_KEY = '' } = env; // only the new key verifies, as after a leak
    const alone = await startApp({
      databaseUrl,
      startsAt: new Date().toISOString(),
      env: { RSA_PRIVATE_KEY },
    });
    const callAlone = alone.calling(acme.apiKey);
    const refused = (await callAlone('POST', '/v1/tokens/verify', { token: first })).json();
    expect(refused).toMatchObject({ valid: false });
    const verdict = (await callAlone('GET', '/v1/audit/verify')).json();
    expect(verdict).toMatchObject({ valid: true, checkpointVerified: false });
  });

  test('a client as the guide writes it gets every event once', async () => {
    const service = await startListening();
    const acme = await service.asDeveloper();
    const { url } = service;
    const stop = new AbortController();
    const taken: string[] = [];
    const emitted = await emit(service, acme, ['agent.created']);
    const more = async (count: number) =>
      emitted.push(
        ...(await emit(
          service,
          acme,
          Array.from({ length: count }, () => 'agent.updated'),
        )),
      );
    const options = { url, apiKey: acme.apiKey, types: 'agent.*', signal: stop.signal };
    const following = (async () => {
      for await (const { id } of follow({ ...options, lastEventId: emitted[0] })) taken.push(id);
    })();
    const hasAll = () => taken.length >= emitted.length - 1;

    await more(3);
    await vi.waitUntil(hasAll, { timeout: 20_000 });
    service.app.server.closeAllConnections();
    await more(1200);
    await vi.waitUntil(hasAll, { timeout: 20_000 });
    await more(3);
    await vi.waitUntil(hasAll, { timeout: 20_000 });
    stop.abort();
    await following;

    expect(taken).toEqual(emitted.slice(1));
    const refused = follow({ ...options, apiKey: `${acme.apiKey}x`, signal: new AbortController().signal });
    await expect(refused.next()).rejects.toThrow('401');
  });

  test('a hint as the guide signs it proves its person and nobody else', async () => {
    const { app, asDeveloper, settings: configured } = await startApp({ startsAt: new Date().toISOString() });
    const acme = await asDeveloper();
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const consentKeys = [publicKey.export({ format: 'jwk' })];
    expect((await acme('PATCH', '/v1/me', { consentKeys })).statusCode).toBe(200);
    const agentId = (await acme('POST', '/v1/agents', { name: 'Travel agent' })).json().agentId;
    const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    const request = (await acme('POST', '/v1/authorize', asked)).json();
    const voucher = { developerId: acme.developerId, issuer: configured.tokens.issuer, privateKey };
    const opensAs = async (principalId: string) => {
      const fragment = new URL(await consentLink({ ...request, principalId }, voucher)).hash.slice(1);
      const body = Object.fromEntries(new URLSearchParams(fragment));
      const url = `/v1/consent/${request.authRequestId}/session`;
      return (await app.inject({ method: 'POST', url, body })).json().verification;
    };

    expect(await opensAs('user_42')).toMatchObject({ mode: 'developer', satisfied: true, methods: ['hint'] });
    expect(await opensAs('user_43')).toMatchObject({ satisfied: false });
  });
});
