import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { entriesOf, grantTo } from '../../../../test/app/flow.ts';
import { newDatabase, type Service, startApp } from '../../../../test/app/start-app.ts';
import { exchange, storeCredential, upstream } from '../../../../test/app/vault.ts';
import { openEnvelope } from '../../../platform/envelope.ts';
import { countUnderFormerKeys, rotateKeys } from './rotate.ts';

const newKey = () => randomBytes(32).toString('hex');
const going = () => new AbortController().signal;

const withKeys = (databaseUrl: string, current: string, previous = '') =>
  startApp({
    databaseUrl,
    env: { VAULT_ENCRYPTION_KEY: current, VAULT_ENCRYPTION_KEYS_PREVIOUS: previous },
  });

function rotationOf(service: Service, batch = 2) {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  return { deps: { ...service, vault: service.keyRing.vault, warn, batch }, warnings };
}

const rowsIn = ({ db }: Service) =>
  db.selectFrom('vaultCredentials').selectAll().orderBy('developerId').orderBy('id').execute();

/** The access tokens, as the keys of a service open them. */
async function openedBy(service: Service) {
  return (await rowsIn(service)).map(({ developerId, principalId, service: name, dataKey, accessToken }) =>
    openEnvelope(service.keyRing.vault, dataKey, [developerId, principalId, name])?.open(
      'access_token',
      accessToken,
    ),
  );
}

/** Two developers with three credentials each, under a key. */
async function stored(databaseUrl: string, key: string) {
  const service = await withKeys(databaseUrl, key);
  const developers = [await service.asDeveloper(), await service.asDeveloper()];
  for (const developer of developers) {
    for (const each of [1, 2, 3]) {
      await storeCredential(developer, { service: `s${each}`, accessToken: `upstream-${each}` });
    }
  }
  return { service, developers };
}

test('a rotation seals every data key under the current key, and changes nothing else', async () => {
  const databaseUrl = await newDatabase();
  const [former, current] = [newKey(), newKey()];
  const { service: before, developers } = await stored(databaseUrl, former);
  const rows = await rowsIn(before);
  const after = await withKeys(databaseUrl, current, former);
  const { deps } = rotationOf(after);
  expect(await countUnderFormerKeys(deps)).toBe(6);

  await rotateKeys(deps, going());

  expect(await countUnderFormerKeys(deps)).toBe(0);
  const rotated = await rowsIn(after);
  expect(rotated.map(({ dataKey: _, keyId: __, ...rest }) => rest)).toEqual(
    rows.map(({ dataKey: _, keyId: __, ...rest }) => rest),
  );
  const alone = await withKeys(databaseUrl, current);
  expect((await openedBy(alone)).sort()).toEqual([1, 1, 2, 2, 3, 3].map((each) => `upstream-${each}`));
  for (const developer of developers) {
    const entries = await entriesOf(developer, 'vault.key.rotated');
    const counts = entries.map(({ metadata }) => Number(metadata.count));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(entries[0]?.metadata).toMatchObject({
      fromKeyId: before.keyRing.vault.current?.id,
      toKeyId: after.keyRing.vault.current?.id,
      actor: 'system',
    });
  }
});

test('a rotation that ends early leaves the rest to the next, and both sets of keys open everything', async () => {
  const databaseUrl = await newDatabase();
  const [former, current] = [newKey(), newKey()];
  await stored(databaseUrl, former);
  const after = await withKeys(databaseUrl, current, former);
  const stopping = new AbortController();
  const { deps } = rotationOf(after);
  const clock = () => {
    stopping.abort(); // the first portion asks for the time
    return after.clock();
  };

  await rotateKeys({ ...deps, clock }, stopping.signal);

  expect(await countUnderFormerKeys(deps)).toBe(4);
  expect(await openedBy(after)).not.toContain(undefined);
  await rotateKeys(deps, going());
  expect(await countUnderFormerKeys(deps)).toBe(0);
});

test('a store that comes while a credential is sealed again wins', async () => {
  const databaseUrl = await newDatabase();
  const [former, current] = [newKey(), newKey()];
  const { service, developers } = await stored(databaseUrl, former);
  const after = await withKeys(databaseUrl, current, former);
  const { deps } = rotationOf(after, 100);
  const [first] = developers;
  let renewed: Promise<unknown> | undefined;
  const clock = () => {
    renewed ??= first && storeCredential(first, { service: 's1', accessToken: 'upstream-new' });
    return after.clock();
  };

  await rotateKeys({ ...deps, clock }, going());
  await renewed;

  expect(await openedBy(after)).toContain('upstream-new');
  expect(await openedBy(after)).not.toContain(undefined);
  expect(service.keyRing.vault.current?.id).not.toBe(after.keyRing.vault.current?.id);
});

test('V6: exchanges that come during a rotation all get the credential', async () => {
  const databaseUrl = await newDatabase();
  const [former, current] = [newKey(), newKey()];
  const before = await withKeys(databaseUrl, former);
  const acme = await before.asDeveloper({ mode: 'sandbox' });
  for (const each of [1, 2, 3, 4]) await storeCredential(acme, { service: `s${each}` });
  const { grantToken } = await grantTo(acme, { scopes: ['vault:credentials:exchange'] });
  const after = await withKeys(databaseUrl, current, former);
  const { deps } = rotationOf(after, 1);

  let rotating = true;
  const rotation = rotateKeys(deps, going()).finally(() => {
    rotating = false;
  });
  const tokens: string[] = [];
  do {
    const answers = await Promise.all(
      [1, 2, 3, 4].map((each) => exchange(after, grantToken, { service: `s${each}` })),
    );
    tokens.push(...answers.map((answer) => answer.json().accessToken));
  } while (rotating);
  await rotation;

  expect(tokens.length).toBeGreaterThan(3);
  expect(new Set(tokens)).toEqual(new Set([upstream.accessToken]));
  expect(await countUnderFormerKeys(deps)).toBe(0);
});

test('V6: a key that is missing stops the start in production, and elsewhere logs a warning', async () => {
  const databaseUrl = await newDatabase();
  const { service } = await stored(databaseUrl, newKey());
  const lost = await withKeys(databaseUrl, newKey());
  const { deps, warnings } = rotationOf(lost);

  await expect(lost.prepare(true)).rejects.toThrow(
    'VAULT_ENCRYPTION_KEY does not open values sealed in this database',
  );
  await lost.prepare(false, deps.warn);
  expect(warnings).toEqual([expect.stringContaining(String(service.keyRing.vault.current?.id))]);
  await rotateKeys(deps, going());
  expect(await rowsIn(lost)).toEqual(await rowsIn(service));
});
