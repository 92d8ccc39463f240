import { expect, test } from 'vitest';
import { freePort } from '../../../../../../scripts/machine/ports.ts';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { addSaml, metadataWith, samlKeys } from '../../../../test/app/saml-provider.ts';
import { addOidc, besideProvider } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { ADVICE } from './advice.rules.ts';

async function startTrial() {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const connection = await addOidc(acme, provider);
  const path = `/v1/sso/connections/${connection.id}`;
  const tried = async () => (await acme('POST', `${path}/test`, {})).json();
  const change = (members: object) => acme('PATCH', path, { clientSecret: 'its own', ...members });
  return { provider, service, acme, connection, path, tried, change };
}

test('a test of an OpenID provider says what works, and is remembered until the provider changes', async () => {
  const { provider, acme, path, tried, change } = await startTrial();
  expect(await tried()).toEqual({
    success: true,
    protocol: 'oidc',
    issuer: provider.issuer,
    authorizationEndpoint: `${provider.issuer}/auth`,
    tokenEndpoint: `${provider.issuer}/token`,
    jwksUri: `${provider.issuer}/jwks`,
  });
  expect((await acme('GET', path)).json().lastTestedAt).not.toBeNull();
  await change({ clientId: 'another' });
  expect((await acme('GET', path)).json().lastTestedAt).toBeNull();
});

test('a failure has a name, and words that say what to do', async () => {
  const { provider, tried, change } = await startTrial();
  const metadata = await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json();
  const document = (members: object) => () => {
    provider.behaviour.instead = ({ url }, respond) => {
      if (url?.startsWith('/.well-known/')) respond(200, { ...Object(metadata), ...members });
      return url?.startsWith('/.well-known/') === true;
    };
  };
  const at = (issuerUrl: string) => () => change({ issuerUrl });
  const causes: Readonly<Record<string, () => unknown>> = {
    issuer_mismatch: document({ issuer: 'https://other.test' }),
    unusable_endpoints: document({ token_endpoint: undefined }),
    unusable_id_token: document({ id_token_signing_alg_values_supported: ['HS256'] }),
    blocked_address: document({ jwks_uri: 'ftp://keys.test/' }),
    no_keys: document({ jwks_uri: `${provider.issuer}/nothing` }),
    too_large: document({ padding: 'x'.repeat(1_048_577) }),
    no_metadata: () => {
      provider.behaviour.instead = (_, respond) => {
        respond(404, {});
        return true;
      };
    },
    invalid_client: () => {
      provider.behaviour.instead = () => false;
      return change({ clientSecret: 'a wrong one' });
    },
    connection_failed: at(`http://127.0.0.1:${await freePort()}`),
    tls_failed: at(provider.issuer.replace('http:', 'https:')),
    dns_failed: at('https://no-such-host.invalid'),
  };
  const said: Record<string, unknown> = {};
  for (const [cause, make] of Object.entries(causes)) {
    await make();
    const { success, error, message } = await tried();
    said[cause] = { success, error, message };
  }
  const values: Record<string, string> = { issuer_mismatch: ' It says `https://other.test`.' };
  const expected = Object.keys(causes).map((cause) => [
    cause,
    { success: false, error: cause, message: `${ADVICE[cause]}${values[cause] ?? ''}` },
  ]);
  expect(said).toEqual(Object.fromEntries(expected));
  expect(Object.values(said)).not.toContainEqual(expect.objectContaining({ message: undefined }));
});

test('K6, o13: an issuer for every tenant is told as such, because it cannot be copied', async () => {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const { id } = await addOidc(acme, provider);
  provider.behaviour.instead = ({ url }, respond) => {
    if (!url?.startsWith('/.well-known/')) return false;
    respond(200, { issuer: 'https://login.test/{tenantid}/v2.0' });
    return true;
  };

  expect((await acme('POST', `/v1/sso/connections/${id}/test`, {})).json()).toMatchObject({
    success: false,
    error: 'issuer_of_any_tenant',
    message: `${ADVICE.issuer_of_any_tenant} It says \`https://login.test/{tenantid}/v2.0\`.`,
  });
});

test('K10: an issuer that is the address of its metadata, or of any tenant, is refused when it is set', async () => {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const body = { name: 'Customer', protocol: 'oidc', clientId: 'c', clientSecret: 's' };
  const set = async (issuerUrl: string) => {
    const answer = await acme('POST', '/v1/sso/connections', { ...body, issuerUrl });
    return answer.json().message;
  };

  expect(await set('https://idp.test/.well-known/openid-configuration')).toContain(
    'Leave out `/.well-known/`',
  );
  expect(await set('https://login.test/{tenantid}/v2.0')).toContain('the id of your tenant');
  expect(await set('https://login.test/7/v2.0')).toBeUndefined(); // the control
});

test('a certificate that has expired is named', async () => {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const { id } = await addSaml(acme);
  const tried = async () => (await acme('POST', `/v1/sso/connections/${id}/test`, {})).json();
  expect(await tried()).toMatchObject({ success: true, certificateExpiresAt: expect.any(String) });
  service.advance(3651 * 86_400);
  expect(await tried()).toMatchObject({
    success: false,
    error: 'certificate_expired',
    message: ADVICE.certificate_expired,
  });
});

test('metadata are read into the members that a connection takes, and nothing is kept', async () => {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const read = (body: object) => acme('POST', '/v1/sso/metadata', body);
  const said = async (body: object) => (await read(body)).json().message;
  const metadata = metadataWith(samlKeys.idp.cert);

  const found = (await read({ metadata })).json();
  const sp = { spEntityId: 'https://auth.test/sso/saml', spAcsUrl: 'https://auth.test/sso/callback/saml' };
  const kept = (await acme('GET', '/v1/sso/connections')).json().connections;
  const made = await acme('POST', '/v1/sso/connections', { name: 'C', protocol: 'saml', ...found, ...sp });

  expect(found).toMatchObject({ idpEntityId: 'https://idp.test/saml', idpSsoUrl: 'https://idp.test/sso' });
  expect([kept, made.statusCode]).toEqual([[], 201]);
  expect(await said({ metadata: metadata.replace('Redirect', 'POST') })).toContain('binding HTTP-Redirect');
  const nowhere = `http://127.0.0.1:${await freePort()}/metadata`;
  expect(await said({ metadataUrl: nowhere })).toContain('does not answer (');
  expect((await read({})).statusCode).toBe(400);
  const stranger = service.calling('no key');
  expect((await stranger('POST', '/v1/sso/metadata', { metadata })).statusCode).toBe(401);
});
