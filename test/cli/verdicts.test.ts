import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Machine, useAccount } from './program.ts';

const acme = useAccount();
const SCOPES = 'calendar:read,tool:calendar:read,payments:mpp:data,wallet:usdc:authorize';
const MANIFEST = { connector: 'calendar', tools: { list_events: 'read', delete_event: 'delete' } };

/** A grant, with all that proves it. */
async function newProofs({ run, folder }: Machine) {
  const told = async (...words: string[]) => {
    const { code, out, err } = await run([...words, '--json']);
    expect({ words, code, err: code === 0 ? '' : err }).toEqual({ words, code: 0, err: '' });
    return JSON.parse(out);
  };
  const { agentId } = await told('agents', 'register', '--name', 'Payer', '--scopes', SCOPES);
  const person = ['--principal', 'user_42', '--scopes', SCOPES];
  const { grantId, grantToken } = await told('authorize', '--agent', agentId, ...person, '--full');
  const { credential } = await told('credentials', 'issue', '--grant-id', grantId, '--format', 'vc-jwt');
  const { encodedCredential: passport } = await told(
    ...['passports', 'issue', '--agent', agentId, '--grant-id', grantId, '--allowed-mppcategories', 'data'],
    ...['--max-transaction-amount', '{"amount":"5.50","currency":"USD"}'],
  );
  const { authorization } = await told(
    ...[
      'wallet-authorizations',
      'issue',
      '--grant-id',
      grantId,
      '--account',
      'eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb',
    ],
    ...['--max-amount', '{"amount":"1.5","asset":"usdc"}'],
  );
  writeFileSync(join(folder, 'calendar.json'), JSON.stringify(MANIFEST));
  await told('manifests', 'put', 'calendar', '-f', 'calendar.json');
  return { grantId, grantToken, credential, passport, authorization };
}

test('a command that is asked a question ends with 0 for yes and with 1 for no', async () => {
  const machine = acme.signedIn();
  const { grantId, ...tokens } = await newProofs(machine);
  const question = (command: string, token: keyof typeof tokens, member: string) => async () => {
    const { code, out } = await machine.run([...command.split(' '), '--stdin', '--json'], {
      input: tokens[token],
    });
    return [command, code, JSON.parse(out)[member]];
  };
  const questions = [
    question('tokens verify', 'grantToken', 'valid'),
    question('tokens introspect', 'grantToken', 'active'),
    question('oauth introspect', 'grantToken', 'active'),
    question('credentials verify', 'credential', 'valid'),
    question('passports verify', 'passport', 'valid'),
    question('wallet-authorizations verify', 'authorization', 'valid'),
  ];
  const answered = async () => {
    const answers: unknown[] = [];
    for (const ask of questions) answers.push(await ask());
    return answers;
  };
  const commands = [
    ...['tokens verify', 'tokens introspect', 'oauth introspect'],
    ...['credentials verify', 'passports verify', 'wallet-authorizations verify'],
  ];

  expect(await answered()).toEqual(commands.map((command) => [command, 0, true]));
  const older = () => machine.run(['grants', 'verify', '--stdin'], { input: tokens.grantToken });
  expect((await older()).code).toBe(0);
  expect((await machine.run(['budgets', 'verify'])).code).toBe(0);
  await machine.run(['grants', 'revoke', grantId, '--yes']);
  expect(await answered()).toEqual(commands.map((command) => [command, 1, false]));
  expect((await older()).code).toBe(1);
});

test('a call that would be denied ends with 1, also among several in the words of AuthZEN', async () => {
  const { run, folder, ...machine } = acme.signedIn();
  const { grantId, grantToken } = await newProofs({ run, folder, ...machine });
  const env = { TOKEN: grantToken };
  const call = async (tool: string, ...more: string[]) =>
    run(
      ['enforce', 'call', '--grant-token-env', 'TOKEN', '--connector', 'calendar', '--tool', tool, ...more],
      {
        env,
      },
    );
  const asked = async (...tools: readonly string[]) => {
    const evaluations = tools.map((tool) => ({ action: { name: tool } }));
    const subject = { type: 'grant', id: grantId };
    const resource = { type: 'connector', id: 'calendar' };
    writeFileSync(join(folder, 'several.json'), JSON.stringify({ subject, resource, evaluations }));
    return run(['authzen', 'evaluate-together', '-f', 'several.json', '--json']);
  };

  expect((await call('list_events')).code).toBe(0);
  expect((await call('delete_event')).code).toBe(1);
  expect((await call('delete_event', '--dry-run')).code).toBe(0);
  expect((await call('list_events', '--amount', '1.50', '--case', 'case-1')).code).toBe(0);
  const [good, mixed] = [await asked('list_events'), await asked('list_events', 'delete_event')];
  expect([good.code, mixed.code]).toEqual([0, 1]);
});
