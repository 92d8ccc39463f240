import { expect, test } from 'vitest';
import { startApp } from '../../../../test/app/start-app.ts';

test('the metadata name the reference where the service serves one', async () => {
  const documentOf = async (env: Record<string, string>) => {
    const { app } = await startApp({ env });
    return (await app.inject('/.well-known/oauth-authorization-server')).json();
  };

  expect(await documentOf({})).toMatchObject({ service_documentation: 'https://auth.test/docs' });
  expect(await documentOf({ DOCS_ENABLED: 'false' })).not.toHaveProperty('service_documentation');
});

test('an issuer with a path has its metadata where clients look for them, and by its exact name', async () => {
  const issuer = 'https://auth.test/acme';
  const { app } = await startApp({ env: { JWT_ISSUER: issuer } });
  const read = async (path: string) => {
    const answer = await app.inject({ url: `/.well-known/${path}`, headers: { origin: 'https://spa.test' } });
    const { 'access-control-allow-origin': origins, 'cache-control': cached } = answer.headers;
    return { status: answer.statusCode, document: answer.json(), origins, cached };
  };

  const server = await read('oauth-authorization-server/acme');
  const resource = await read('oauth-protected-resource/acme');

  expect(server).toMatchObject({ status: 200, origins: '*', cached: 'public, max-age=300' });
  expect(server.document).toMatchObject({
    issuer,
    authorization_endpoint: 'https://auth.test/oauth/authorize',
    code_challenge_methods_supported: ['S256'],
    grant_types_supported: [
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:token-exchange',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
      'urn:ietf:params:oauth:grant-type:device_code',
      'urn:openid:params:grant-type:ciba',
      'client_credentials',
    ],
    response_types_supported: ['code'],
  });
  expect(await read('oauth-authorization-server')).toEqual(server);
  expect(resource.document).toMatchObject({ resource: issuer, authorization_servers: [issuer] });
  expect((await read('oauth-authorization-server/other')).status).toBe(404);
});
