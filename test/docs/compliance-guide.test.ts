import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownDomain, startAssertingProvider } from '../../apps/server/test/app/asserting.ts';
import { grantTo, partsOf } from '../../apps/server/test/app/flow.ts';
import { besideProvider, registerAt } from '../../apps/server/test/app/signing-on.ts';
import { checkArchive, checkPack } from '../../docs/guides/examples/check-pack.ts';
import { blocksOf, listening } from './steps.ts';

test('an audit, step by step, is counted, exported and proved on another machine', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  await grantTo(acme);

  const steps = blocksOf('docs/guides/show-an-auditor-what-happened.md', 'sh').join('\n');
  const told = await shell(`cd "$FOLDER"\n${steps}`, { KEY: acme.apiKey, FOLDER: folder });

  expect(told.trim().split(/\r?\n/)).toEqual([
    '{"total":1,"active":1,"revoked":0,"expired":0}',
    'id,grantId,agentId,agentDid',
    'end',
    'whole',
    '1.6.0',
    'ocsf',
    'Entity Management: Create',
    'end',
    'Case 7',
    'erasure',
    '[true,5]',
  ]);
  const pack = readFileSync(join(folder, 'pack.json'));
  const jwks = JSON.parse(readFileSync(join(folder, 'jwks.json'), 'utf8'));
  expect(checkPack(pack, jwks)).toMatchObject({ isGenuine: true, problem: null, chain: { valid: true } });
  const archive = readFileSync(join(folder, 'evidence.zip'));
  expect(checkArchive(archive, jwks)).toMatchObject({ isGenuine: true, chain: { valid: true } });
  expect(checkArchive(archive.subarray(1), jwks)).toMatchObject({ isGenuine: false, problem: 'malformed' });
  expect(checkPack(pack.subarray(1), jwks)).toMatchObject({ isGenuine: false, problem: 'malformed' });
});

const DOMAIN = 'upstream.test';

test('an identity provider decides, step by step, until somebody here ends the grant', async () => {
  const { shell, asDeveloper, baseUrl, ...service } = await listening(besideProvider().env);
  const acme = await asDeveloper();
  const provider = await startAssertingProvider({ ...service, asDeveloper });
  await ownDomain({ ...service, asDeveloper }, acme, DOMAIN);
  const client = await registerAt(provider, baseUrl);
  const env = { BASE: baseUrl, KEY: acme.apiKey, ISSUER: provider.issuer, DOMAIN, ...client };
  const [trust = '', list = '', show = ''] = blocksOf(
    'docs/guides/let-your-identity-provider-decide.md',
    'sh',
  );

  const [enabled, status, named = ''] = (await shell(`${trust}\n${list}`, env)).trim().split('\n');
  const [AGENT = '', SECRET = ''] = named.split(' ');
  const answerTo = async (ASSERTION: string) =>
    JSON.parse(await shell(show, { BASE: baseUrl, AGENT, SECRET, ASSERTION }));
  const assertion = (claims = {}) => provider.assert(baseUrl, AGENT, { claims });
  const once = await assertion({ scope: 'calendar:read calendar:write mail:send' });
  const token = await answerTo(once);

  expect([enabled, status]).toEqual(['true', 'active']);
  expect(token.scope).toBe('calendar:read calendar:write');
  expect(token.expires_in).toBeGreaterThan(600); // the time is real here
  expect(token.expires_in).toBeLessThanOrEqual(900);
  expect(token).not.toHaveProperty('refresh_token');
  expect(partsOf(token.access_token).payload).toMatchObject({ sub: 'ada@upstream.test', client_id: AGENT });
  expect((await answerTo(await assertion())).scope).toBe('calendar:read');
  expect(await answerTo(once)).toMatchObject({ error: 'invalid_grant', error_description: 'replayed' });
  expect((await answerTo(await provider.assert(baseUrl, 'ag_other'))).error_description).toBe('client');

  const { grantId } = (await acme('GET', '/v1/grants')).json().grants[0];
  await acme('DELETE', `/v1/grants/${grantId}`);
  expect(await answerTo(await assertion())).toMatchObject({
    error: 'access_denied',
    error_description: 'stopped',
  });
  const [stop] = (await acme('GET', '/v1/sso/id-jag/stops')).json().stops;
  expect((await acme('DELETE', `/v1/sso/id-jag/stops/${stop.id}`)).statusCode).toBe(204);
  expect((await answerTo(await assertion())).scope).toBe('calendar:read');
});
