import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { expect, test } from 'vitest';
import { newMachine, useService } from './program.ts';

const service = useService();

/** A machine whose profile has the key and the consent key of a live account. */
async function newLive(kind: 'ec' | 'rsa') {
  const { apiKey } = await Behest.signup({ name: 'Live' }, { baseUrl: service.url });
  const { publicKey, privateKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const machine = newMachine();
  const file = join(machine.folder, 'consent-key');
  const text =
    kind === 'ec'
      ? JSON.stringify(privateKey.export({ format: 'jwk' }))
      : privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(file, text, { mode: 0o600 });
  await machine.run(['config', 'set', '--url', service.url, '--key', '-', '--consent-key-file', file], {
    input: apiKey,
  });
  const client = new Behest({ apiKey, baseUrl: service.url });
  await client.updateSettings({ consentKeys: [publicKey.export({ format: 'jwk' })] as never });
  const { agentId } = await client.agents.register({ name: 'Travel', scopes: ['calendar:read'] });
  return {
    ...machine,
    apiKey,
    argv: ['authorize', '--agent', agentId, '--principal', 'user_42', '--scopes', 'calendar:read'],
  };
}

/** Opens the session of a consent page, as its script does. */
async function verificationAt(
  address: string,
): Promise<{ readonly satisfied: boolean; readonly methods: readonly string[] }> {
  const { searchParams, hash } = new URL(address);
  const { ticket, hint } = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  const answer = await fetch(`${service.url}/v1/consent/${searchParams.get('req')}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: service.url },
    body: JSON.stringify({ ticket, ...(hint !== undefined && { hint }) }),
  });
  expect(answer.status).toBe(200);
  const { verification } = Object(await answer.json());
  return verification;
}

test.each(['ec', 'rsa'] as const)(
  'authorize --open vouches for the person with the consent key of the profile (%s)',
  async (kind) => {
    const { run, argv } = await newLive(kind);
    const opened: string[] = [];

    const { code, err } = await run([...argv, '--open', '--json'], {
      browse: (address) => opened.push(address),
    });

    expect({ code, opened: opened.length }).toEqual({ code: 0, opened: 1 });
    expect(err).not.toContain('hint=');
    expect(await verificationAt(opened[0] ?? '')).toMatchObject({ satisfied: true, methods: ['hint'] });
  },
);

test('without a consent key, with one of another account or with another API key the page proves nobody', async () => {
  const [mine, other] = [await newLive('ec'), await newLive('ec')];
  const opened: string[] = [];
  const around = { browse: (address: string) => opened.push(address) };

  await mine.run([...mine.argv, '--open'], { ...around, env: { BEHEST_API_KEY: mine.apiKey } });
  await mine.run([...other.argv, '--open'], { ...around, env: { BEHEST_API_KEY: other.apiKey } });
  await mine.run(['config', 'set', '--consent-key-file', join(other.folder, 'consent-key')]);
  await mine.run([...mine.argv, '--open'], around);

  const [same, elsewhere, foreign] = opened;
  expect(same).toContain('&hint=');
  expect(elsewhere).toContain('/consent?req=');
  expect(elsewhere).not.toContain('hint=');
  expect(await verificationAt(same ?? '')).toMatchObject({ satisfied: true });
  expect(await verificationAt(foreign ?? '')).toMatchObject({ satisfied: false });
  writeFileSync(join(mine.folder, 'consent-key'), 'no key');
  await mine.run(['config', 'set', '--consent-key-file', join(mine.folder, 'consent-key')]);
  expect(await mine.run([...mine.argv, '--open'], around)).toMatchObject({
    ...{
      code: 2,
      err: expect.stringMatching(
        /holds no private key[\s\S]*\ntry: behest config set --consent-key-file <file>\n$/,
      ),
    },
  });
});

test('where no browser can be started, the address is told, and the command ends with 8', async () => {
  const { run, argv } = await newLive('ec');

  expect(await run([...argv, '--open'])).toMatchObject({
    code: 8,
    err: expect.stringMatching(/&hint=\S+ \(BROWSER\)\ntry: /),
  });
});
