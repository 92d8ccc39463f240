import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { entriesOf } from '../../../../test/app/flow.ts';
import { addSaml } from '../../../../test/app/saml-provider.ts';
import { addOidc, besideProvider, signOn } from '../../../../test/app/signing-on.ts';
import { newDatabase, type Service, startApp } from '../../../../test/app/start-app.ts';
import { rotateConnectionKeys } from './rotate.ts';

const newKey = () => randomBytes(32).toString('hex');

const withKeys = (databaseUrl: string, current: string, previous = '') =>
  startApp({
    ...besideProvider({ VAULT_ENCRYPTION_KEY: current, VAULT_ENCRYPTION_KEYS_PREVIOUS: previous }),
    databaseUrl,
  });

const depsOf = (service: Service, warnings: string[] = []) => ({
  ...service,
  vault: service.keyRing.vault,
  warn: (message: string) => void warnings.push(message),
});

const rowsIn = ({ db }: Service) => db.selectFrom('ssoConnections').selectAll().orderBy('protocol').execute();

test('V6: a rotation seals the secrets of connections under the current key, and people sign in meanwhile', async () => {
  const databaseUrl = await newDatabase();
  const [former, current] = [newKey(), newKey()];
  const provider = await startAccountsServer();
  const before = await withKeys(databaseUrl, former);
  const acme = await before.asDeveloper();
  const { id: connectionId } = await addOidc(acme, provider);
  await addSaml(acme); // has no secret
  const query = { org: acme.developerId, connection: connectionId };
  const rows = await rowsIn(before);
  const after = await withKeys(databaseUrl, current, former);
  const begun = await startOf(after, provider, query);

  await rotateConnectionKeys(depsOf(after), new AbortController().signal);

  const rotated = await rowsIn(after);
  const plain = (all: typeof rows) => all.map(({ dataKey: _, keyId: __, ...rest }) => rest);
  expect(plain(rotated)).toEqual(plain(rows));
  expect(rotated.map(({ keyId }) => keyId)).toEqual([after.keyRing.vault.current?.id, null]);
  expect(await begun()).toBe(200);
  const alone = await withKeys(databaseUrl, current);
  expect(await signOn(alone, provider, query)).toMatchObject({ sub: 'ada' });
  expect(await entriesOf(acme, 'sso.connection_key.rotated')).toMatchObject([{ metadata: { connectionId } }]);
});

/** A login that is under way. */
async function startOf(
  service: Service,
  provider: Awaited<ReturnType<typeof startAccountsServer>>,
  query: Record<string, string>,
) {
  const { authorizeUrl } = (
    await service.app.inject({ url: `/sso/login?${new URLSearchParams(query)}` })
  ).json();
  const back = await provider.visit(authorizeUrl);
  return async () =>
    (
      await service.app.inject({
        method: 'POST',
        url: '/sso/callback/oidc',
        body: Object.fromEntries(back.searchParams),
      })
    ).statusCode;
}

test('V6: a key that is missing stops the start in production, and elsewhere logs a warning', async () => {
  const databaseUrl = await newDatabase();
  const provider = await startAccountsServer();
  const before = await withKeys(databaseUrl, newKey());
  await addOidc(await before.asDeveloper(), provider);
  const lost = await withKeys(databaseUrl, newKey());
  const warnings: string[] = [];

  await before.prepare(true); // the control
  await expect(lost.prepare(true)).rejects.toThrow(
    'VAULT_ENCRYPTION_KEY does not open values sealed in this database',
  );
  await lost.prepare(false, depsOf(lost, warnings).warn);
  expect(warnings).toEqual([expect.stringContaining(String(before.keyRing.vault.current?.id))]);
});
