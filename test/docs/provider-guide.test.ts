import { expect, test } from 'vitest';
import { ownDomain, startAssertingProvider } from '../../apps/server/test/app/asserting.ts';
import { partsOf } from '../../apps/server/test/app/flow.ts';
import { besideProvider, registerAt } from '../../apps/server/test/app/signing-on.ts';
import { blocksOf, listening } from './steps.ts';

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
