import { expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { addOidc, besideProvider } from '../app/signing-on.ts';
import { execute } from '../servers/postgres.ts';
import { consolePages, DESK } from './console.ts';
import { button, heading } from './pages.ts';

const { visit, service } = consolePages(besideProvider());

test('a person of an organisation signs in at its provider, and comes back to the console', async () => {
  const provider = await startAccountsServer();
  const acme = await service().asDeveloper();
  const { id } = await addOidc(acme, provider, { groupAttribute: 'groups' }, service().url);
  // As an owner with a passkey has set it.
  const opening = { consoleAccess: true, consoleGroupMappings: { Platform: 'operator' } };
  await execute(
    service().databaseUrl,
    `update sso_connections set settings = settings::jsonb || '${JSON.stringify(opening)}' where id = '${id}'`,
  );
  Object.assign(provider.behaviour, { account: 'bob', groups: ['Platform'] });
  const page = await visit({ viewport: DESK });

  await page.goto(`${service().url}/console`);
  await page.getByLabel('organisation').fill(acme.developerId);
  await button(page, 'Sign in with your organisation').click();

  await heading(page, 'Overview').waitFor();

  expect(new URL(page.url()).hash).toBe('');
});

test('an address that says it comes from a provider opens no console in a tab that has gone to none', async () => {
  const page = await visit();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));

  await page.goto(`${service().url}/console#sso=1`);
  await heading(page, 'Sign in to the console').waitFor();

  expect(asked).toContain('GET /v1/console/session');
  expect(asked).not.toContain('POST /v1/console/session/sso');
});
