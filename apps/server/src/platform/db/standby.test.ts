import { expect, test } from 'vitest';
import { newDatabase, startApp } from '../../../test/app/start-app.ts';
import { requirePrimary, StandbyAwareClient } from './standby.ts';

test.each([
  ['a standby is refused', 'on', true],
  ['a primary is taken', 'off', false],
])('a connection to %s', (_, value, isRefused) => {
  const client = new StandbyAwareClient();

  client.connection.emit('parameterStatus', { parameterName: 'in_hot_standby', parameterValue: value });

  const asked = () => requirePrimary(client);
  if (isRefused) expect(asked).toThrow('is a standby');
  else expect(asked).not.toThrow();
});

test('a database that takes no writes counts as away', async () => {
  const url = new URL(await newDatabase());
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const { app } = await startApp({ databaseUrl: url.href });

  const answer = await app.inject({ method: 'POST', url: '/v1/signup', body: { name: 'Acme' } });

  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { dependency: 'db' } });
});
