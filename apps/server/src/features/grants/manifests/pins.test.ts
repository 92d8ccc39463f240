import { describe, expect, test } from 'vitest';
import {
  authorize,
  grantTo,
  partsOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
} from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import type { Developer } from '../../../../test/app/start-app.ts';
import { shownKey } from '../authorization/index.ts';

const sandbox = sharedSandbox();
const scopes = ['tool:acme_pay:write', 'tool:acme_mail:read', 'calendar:read'];

async function putManifest(developer: Developer, connector: string, tools: object = { send: 'write' }) {
  const manifest = { $schema: 'x', connector, version: '3', tools };
  return String((await developer('PUT', `/v1/manifests/${connector}`, manifest)).json().sha256);
}

const pinned = (sha256: string) => Buffer.from(sha256, 'hex').toString('base64url');
const grantClaim = (token: string) => partsOf(token).payload['urn:service:grant'];

describe('the manifests under which a person agrees', () => {
  test('are in the grant and its tokens, and stay those when the manifest changes', async () => {
    const { acme } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay');

    const { grantId, grantToken, refreshToken, agentId } = await grantTo(acme, { scopes });
    await putManifest(acme, 'acme_pay', { send: 'write', purge: 'admin' });
    const refreshed = (await acme('POST', '/v1/token/refresh', { refreshToken, agentId })).json();

    for (const token of [grantToken, refreshed.grantToken]) {
      expect(grantClaim(token)).toMatchObject({
        manifests: { acme_pay: pinned(sha256) },
        manifest_mode: 'warn',
      });
    }
    const grant = (await acme('GET', `/v1/grants/${grantId}`)).json();
    expect(grant.manifests).toEqual([{ connector: 'acme_pay', version: '3', sha256 }]);
    expect((await acme('POST', '/v1/tokens/verify', { token: refreshed.grantToken })).json().valid).toBe(
      true,
    );
  });

  test('are inherited by a grant that is delegated', async () => {
    const { acme } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay');
    const { grantToken } = await grantTo(acme, { scopes });
    const { agentId: subAgentId } = await registerAgent(acme, 'Helper');
    await putManifest(acme, 'acme_pay', { send: 'read' });

    const body = { parentGrantToken: grantToken, subAgentId, scopes: ['tool:acme_pay:read'] };
    const child = (await acme('POST', '/v1/grants/delegate', body)).json();

    expect(grantClaim(child.grantToken).manifests).toEqual({ acme_pay: pinned(sha256) });
    expect((await acme('GET', `/v1/grants/${child.grantId}`)).json().manifests).toEqual([
      { connector: 'acme_pay', version: '3', sha256 },
    ]);
  });

  test.each([
    ['the developer has turned pinning off', { manifestPinning: 'off' }, scopes],
    ['no scope names a connector', {}, ['calendar:read', 'tool:*:read']],
  ])('are in no token where %s', async (_, settings, asked) => {
    const { acme } = await sandbox();
    await putManifest(acme, 'acme_pay');
    if (Object.keys(settings).length > 0) await acme('PATCH', '/v1/me', settings);

    const { grantToken } = await grantTo(acme, { scopes: asked });

    expect(grantClaim(grantToken)).not.toHaveProperty('manifests');
    expect(grantClaim(grantToken)).not.toHaveProperty('manifest_mode');
  });

  test('are shown to the person, and those of the approved scopes are kept', async () => {
    const { acme, service } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay');
    const mail = await putManifest(acme, 'acme_mail');
    const { agentId } = await registerAgent(acme);
    const { id, consentUrl } = await authorize(acme, agentId, {
      scopes: [...scopes, 'tool:unknown:read'],
      autoApprove: false,
    });
    const person = personOn(service);

    const { manifests } = (await person.open(consentUrl)).json().request;
    const approved = await person.approve(id, {
      scopes: ['tool:acme_mail:read'],
      manifests: manifests.map(({ connector, sha256 }: { connector: string; sha256: string }) => ({
        connector,
        sha256,
      })),
    });
    const token = (await acme('POST', '/v1/token', { code: approved.json().code, agentId })).json();

    expect(manifests).toEqual([
      { connector: 'acme_pay', version: '3', sha256, pinned: true },
      { connector: 'acme_mail', version: '3', sha256: mail, pinned: true },
      { connector: 'unknown', version: null, sha256: null, pinned: false },
    ]);
    expect(grantClaim(token.grantToken).manifests).toEqual({ acme_mail: pinned(mail) });
  });

  test.each([
    ['has another version', (acme: Developer) => putManifest(acme, 'acme_pay', { send: 'read' })],
    ['is gone', (acme: Developer) => acme('DELETE', '/v1/manifests/acme_pay')],
  ])('are looked at again when one of them %s meanwhile', async (_, change) => {
    const { acme, service } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay');
    const { agentId } = await registerAgent(acme);
    const { id, consentUrl } = await authorize(acme, agentId, { scopes, autoApprove: false });
    const person = personOn(service);
    await person.open(consentUrl);
    await change(acme);

    const refused = await person.approve(id, { manifests: [{ connector: 'acme_pay', sha256 }] });
    const { manifests } = (await person.see(id)).json();
    const [{ connector, sha256: current }] = manifests;
    const approved = await person.approve(id, { manifests: [{ connector, sha256: current }] });

    expect([refusalOf(refused), refused.json().details]).toEqual(['409 CONFLICT', { field: 'manifests' }]);
    expect(approved.statusCode).toBe(200);
  });

  test('are those that the service showed, for a page that says none', async () => {
    const { acme, service } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay');
    const { agentId } = await registerAgent(acme);
    const { id, consentUrl } = await authorize(acme, agentId, { scopes, autoApprove: false });
    const person = personOn(service);
    await person.open(consentUrl);
    await putManifest(acme, 'acme_pay', { send: 'write', purge: 'admin' });

    const refused = [await person.approve(id), await person.approve(id, { manifests: [] })];
    await putManifest(acme, 'acme_mail');
    const shown = await person.see(id);
    const approved = await person.approve(id);
    const token = (await acme('POST', '/v1/token', { code: approved.json().code, agentId })).json();

    expect(refused.map(refusalOf)).toEqual(['409 CONFLICT', '409 CONFLICT']);
    const [pay, mail] = shown.json().manifests;
    expect(pay.sha256).not.toBe(sha256);
    expect(grantClaim(token.grantToken).manifests).toEqual({
      acme_pay: pinned(pay.sha256),
      acme_mail: pinned(mail.sha256),
    });
  });

  test('have to be looked at again where the store has lost what was shown', async () => {
    const { acme, service } = await sandbox();
    await putManifest(acme, 'acme_pay');
    const { agentId } = await registerAgent(acme);
    const { id, consentUrl } = await authorize(acme, agentId, { scopes, autoApprove: false });
    const person = personOn(service);
    await person.open(consentUrl);
    await service.store.remove(shownKey(id));

    const refused = await person.approve(id);
    await person.see(id);

    expect(refusalOf(refused)).toBe('409 CONFLICT');
    expect((await person.approve(id)).statusCode).toBe(200);
  });

  test('have room in every token of a request that the service takes', async () => {
    const { acme } = await sandbox();
    const connectors = Array.from({ length: 20 }, (_, n) => `connector_${n}_${'x'.repeat(60)}`);
    for (const connector of connectors) await putManifest(acme, connector);
    const asked = connectors.map((connector) => `tool:${connector}:read`);

    const { grantToken } = await grantTo(acme, { scopes: asked });

    expect(Object.keys(grantClaim(grantToken).manifests)).toEqual(connectors);
  });
});

describe('the words of a manifest', () => {
  const tools = {
    wipe: { permission: 'admin', title: 'Clear everything' },
    lookup_person: {
      permission: 'read',
      title: 'Look up a person',
      description: 'By name.',
      titles: { de: { title: 'Person nachschlagen' } },
    },
    lookup_firm: 'read',
    lookup_and_fix: { permission: 'write', title: 'Look up and correct' },
    hidden: { permission: 'read', title: 'Not asked for' },
  };
  const asked = {
    scopes: ['tool:acme_pay:write', 'tool:acme_mail:read:news*', 'calendar:read'],
    authorizationDetails: [
      { type: 'urn:service:tools:v1', connector: 'acme_pay', tools: ['lookup_*', 'lookup_person', 'wipe'] },
    ],
    autoApprove: false,
  };

  test('say in the language of the browser what a person allows, with the level and the exact text beside', async () => {
    const { acme, service } = await sandbox();
    await putManifest(acme, 'acme_pay', tools);
    const many = Object.fromEntries(Array.from({ length: 14 }, (_, n) => [`news_${n}`, 'read']));
    await putManifest(acme, 'acme_mail', { ...many, news_purge: 'admin' });
    const { agentId } = await registerAgent(acme);
    const { id, consentUrl } = await authorize(acme, agentId, asked);
    const person = personOn(service);

    const german = await person.open(consentUrl, undefined, { 'accept-language': 'de-CH,en;q=0.5' });
    const [pattern, name, mail, ...others] = german.json().request.tools;
    const english = (await person.see(id)).json().tools;

    const none = { title: null, description: null, language: null };
    const inGerman = {
      tool: 'lookup_person',
      level: 'read',
      title: 'Person nachschlagen',
      description: 'By name.',
      language: 'de',
    };
    // The tool that the scopes do not cover, `wipe`, is not shown as allowed.
    expect(others).toEqual([]);
    expect(name).toEqual({ connector: 'acme_pay', ...inGerman, covers: [], more: 0 });
    expect(pattern).toEqual({
      ...{ connector: 'acme_pay', tool: 'lookup_*', level: 'write', ...none, more: 0 },
      covers: [
        { ...none, tool: 'lookup_and_fix', level: 'write', title: 'Look up and correct' },
        inGerman,
        { ...none, tool: 'lookup_firm', level: 'read' },
      ],
    });
    expect(mail).toMatchObject({ connector: 'acme_mail', tool: 'news*', level: 'read', more: 4 });
    expect(mail.covers).toHaveLength(10);
    expect(english[1]).toMatchObject({ title: 'Look up a person', language: null });
  });

  test('are part of its hash, so that a person who saw others looks again', async () => {
    const { acme, service } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay', tools);
    const { agentId } = await registerAgent(acme);
    const { id, consentUrl } = await authorize(acme, agentId, asked);
    const person = personOn(service);
    await person.open(consentUrl);
    const reworded = { ...tools, wipe: { permission: 'admin', title: 'Look at nothing' } };
    const other = await putManifest(acme, 'acme_pay', reworded);

    const refused = await person.approve(id);
    await person.see(id);

    expect(other).not.toBe(sha256);
    expect(refusalOf(refused)).toBe('409 CONFLICT');
    expect((await person.approve(id)).statusCode).toBe(200);
  });

  test('that changed since the last consent are a change that the page names', async () => {
    const { acme, service } = await sandbox();
    await putManifest(acme, 'acme_pay', tools);
    const { agentId } = await registerAgent(acme);
    const person = personOn(service);
    const first = await authorize(acme, agentId, asked);
    await person.open(first.consentUrl);
    const { code } = (await person.approve(first.id)).json();
    await acme('POST', '/v1/token', { code, agentId });
    const lookup = { ...tools.lookup_person, titles: { de: { title: 'Nichts' } } };
    await putManifest(acme, 'acme_pay', { ...tools, lookup_person: lookup });

    const again = await authorize(acme, agentId, asked);
    const { diff } = (await person.open(again.consentUrl)).json().request;

    expect(diff.items.filter(({ dimension }: { dimension: string }) => dimension === 'manifest')).toEqual([
      expect.objectContaining({ change: 'changed', key: 'lookup_person' }),
    ]);
  });

  test('are refused where they would hide something', async () => {
    const { acme } = await sandbox();
    const manifest = { $schema: 'x', connector: 'acme_pay', version: '3' };
    const put = (title: string) =>
      acme('PUT', '/v1/manifests/acme_pay', { ...manifest, tools: { wipe: { permission: 'admin', title } } });

    const refused = await put('Wipe \u202eeverything');

    expect([refusalOf(refused), refused.json().details]).toEqual([
      '400 INVALID_MANIFEST',
      { code: 'invalid_text', path: 'tools.wipe.title' },
    ]);
    expect((await put('Wipe everything')).statusCode).toBe(201);
  });
});
