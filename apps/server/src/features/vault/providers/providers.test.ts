import { describe, expect, test } from 'vitest';
import { type AccountsServer, startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { addProvider, askToConnect, besideUpstream } from '../../../../test/app/connecting.ts';
import { possessionsOf } from '../../../../test/app/every-route.ts';
import { entriesOf, refusalOf, sharedSandbox, startSandbox } from '../../../../test/app/flow.ts';
import { stepping } from '../../../../test/app/steps.ts';
import { systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { markFailed } from './change.ts';
import presets from './providers.presets.json' with { type: 'json' };
import { replaceProviderKey } from './providers.repo.ts';
import { newSettings } from './providers.rules.ts';
import { shownPresets, withPreset } from './show.ts';

const sandbox = sharedSandbox();

test('a provider that fails again for the same reason is recorded once', async () => {
  const { acme, service } = await sandbox();
  const { providerId } = await possessionsOf(acme);
  const failed = { id: String(providerId), service: 'files' };
  const caller = systemCaller(acme, { mode: 'sandbox', plan: 'free' }, 'test');

  for (const error of ['timeout', 'timeout', 'invalid_client']) {
    await markFailed(service, caller, failed, error);
  }

  const entries = await entriesOf(acme, 'vault.provider.failed');
  expect(entries.map(({ metadata }) => metadata.error).sort()).toEqual(['invalid_client', 'timeout']);
  expect((await acme('GET', `/v1/vault/providers/${providerId}`)).json()).toMatchObject({
    status: 'error',
    lastError: 'invalid_client',
  });
});

const ENDPOINTS = [
  'authorizationEndpoint',
  'tokenEndpoint',
  'revocationEndpoint',
  'userinfoEndpoint',
] as const;
const issuer = 'https://accounts.acme.test/tenant';
const own = { clientId: 'client', clientSecret: 'secret of the client' };

test.each(Object.entries(presets))('the preset %s makes a whole provider', (preset, described) => {
  const open: readonly string[] = described.open;
  const hasOwnIssuer = open.includes('issuer') && !('issuer' in described);
  const settings = newSettings(withPreset({ preset, ...own, ...(hasOwnIssuer && { issuer }) }));

  const urls = [settings.issuer, ...ENDPOINTS.map((name) => settings[name])].filter((url) => url !== null);
  expect(urls.length).toBeGreaterThan(0);
  for (const url of urls) expect(url).toMatch(/^https:[/][/][^?#@]+$/);
  const isByIssuer = settings.kind === 'oidc';
  expect(settings.issuer !== null).toBe(isByIssuer);
  expect(settings.authorizationEndpoint !== null && settings.tokenEndpoint !== null).toBe(!isByIssuer);
});

test('the presets are those that the documentation of the upstreams was read for', () => {
  const names =
    'google microsoft github gitlab slack atlassian notion linear hubspot salesforce dropbox zoom';

  expect(shownPresets.map(({ preset }) => preset)).toEqual(names.split(' '));
});

test('Microsoft needs the issuer of a tenant, because that of all tenants names none in its metadata', () => {
  expect(() => newSettings(withPreset({ preset: 'microsoft', ...own }))).toThrow(
    expect.objectContaining({ code: 'BAD_REQUEST' }),
  );
});

const steps = stepping();

async function withProvider() {
  const sandbox = await startSandbox({ ...besideUpstream(), dbAs: steps.dbAs });
  const upstream = await startAccountsServer();
  const { id } = await addProvider(sandbox.acme, upstream);
  const path = `/v1/vault/providers/${id}`;
  const shown = async () => (await sandbox.acme('GET', path)).json();
  return { ...sandbox, upstream, id: String(id), path, shown };
}

/** From now on the upstream publishes this token endpoint. */
function movesTo({ issuer, behaviour }: AccountsServer, tokenEndpoint: string): void {
  behaviour.instead = ({ url }, respond) => {
    if (!url?.startsWith('/.well-known/')) return false;
    respond(200, {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: tokenEndpoint,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
    });
    return true;
  };
}

describe('a change of a provider', () => {
  test('is refused after another change, which stands', async () => {
    const { acme, path, shown } = await withProvider();

    const { outcome } = await steps.walk(
      async () => await acme('PATCH', path, { name: 'First' }),
      'Select vault_providers',
      async () => {
        expect((await acme('PATCH', path, { name: 'Second' })).statusCode).toBe(200);
      },
    );

    expect(refusalOf(outcome)).toBe('409 CONFLICT');
    expect(await shown()).toMatchObject({ name: 'Second' });
  });

  test('to another client authentication needs the secret again', async () => {
    const { acme, path } = await withProvider();
    const client = { clientId: 'ours', clientSecret: 'a secret of the client' };
    expect((await acme('PATCH', path, { ...client, authMethod: 'client_secret_basic' })).statusCode).toBe(
      200,
    );

    const without = await acme('PATCH', path, { authMethod: 'client_secret_post' });
    const withSecret = await acme('PATCH', path, { authMethod: 'client_secret_post', ...client });

    expect([refusalOf(without), without.json().details]).toEqual(['409 CONFLICT', { field: 'clientSecret' }]);
    expect(withSecret.statusCode).toBe(200);
  });

  test('by a rotation of keys is not written over a newer secret', async () => {
    const { acme, db, id } = await withProvider();
    const next = { dataKey: 'the new data key', keyId: 'k2' };
    const stored = db.selectFrom('vaultProviders').select('dataKey').where('id', '=', id);
    const before = await stored.executeTakeFirst();

    const isReplaced = await inTransaction(db, (tx) =>
      replaceProviderKey(tx, acme, { id, dataKey: 'the one that was read' }, next),
    );

    expect(isReplaced).toBe(false);
    expect(await stored.executeTakeFirst()).toEqual(before);
  });
});

describe('a provider that is read again', () => {
  test('after a failure works again, unless its token endpoint has moved to another origin', async () => {
    const { acme, path, shown, upstream } = await withProvider();
    const discover = () => acme('POST', `${path}/discover`, {});

    movesTo(upstream, 'javascript:alert(1)');
    expect((await discover()).statusCode).toBe(400);
    expect(await shown()).toMatchObject({ status: 'error', lastError: 'blocked_address' });
    movesTo(upstream, `${upstream.issuer}/token`);
    expect((await discover()).statusCode).toBe(200);
    expect(await shown()).toMatchObject({ status: 'active', lastError: null });

    movesTo(upstream, 'http://127.0.0.1:9/token');
    expect((await discover()).statusCode).toBe(200);
    expect(await shown()).toMatchObject({ status: 'error', lastError: 'endpoint_changed' });
    movesTo(upstream, `${upstream.issuer}/token`);
    expect((await discover()).statusCode).toBe(200);
    expect(await shown()).toMatchObject({ status: 'error', lastError: 'endpoint_changed' });
  });
});

test('a provider that is deleted takes its own open sessions with it, each with its entry', async () => {
  const { acme, path, upstream } = await withProvider();
  await addProvider(acme, upstream, { service: 'notes' });
  const session = await askToConnect(acme);
  const other = await askToConnect(acme, { service: 'notes' });

  expect((await acme('DELETE', path)).statusCode).toBe(204);

  const statusOf = async (id: string) =>
    (await acme('GET', `/v1/vault/connect-sessions/${id}`)).json().status;
  expect([await statusOf(session.id), await statusOf(other.id)]).toEqual(['cancelled', 'pending']);
  const entries = await entriesOf(acme, 'vault.connection.failed');
  expect(entries.map(({ metadata }) => metadata)).toMatchObject([
    { connectSessionId: session.id, reason: 'provider_deleted' },
  ]);
});
