import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../packages/cli/src/api/operations.gen.ts';
import { allCommands } from '../../packages/cli/src/program/groups.ts';
import type { CommandSpec } from '../../packages/cli/src/program/spec.ts';
import { type Machine, newMachine, useAccount } from './program.ts';

const acme = useAccount();

/** Examples that need more than an account with an agent and a grant. They have tests of their own. */
const ELSEWHERE: readonly RegExp[] = [
  /body\.json|settings\.yaml/, // a file of the reader
  /-file |--env |-env |--data /, // a token, a secret or a file of the reader
  /^(principals?|oauth|approvers|connections|providers|billing|sso|scim|authzen|decisions|webauthn|did)( |$)/,
  /^(events stream|enforce|proxy|passports|wallet-authorizations|credentials|policy-bundles|agents workloads|agents offboarding)( |$)/,
  /^(login|whoami)$|^login /, // they read and answer more than the service
  /^me (close|verify-email)|^tokens exchange|^domains verify|^keys rotate|^signup|^--profile|^authorize /,
  /^authorizations (link|approve|deny|code|cancel)|^anomalies alerts (get|ack|res)|^anomalies ack/,
  /^grants (delegate|revocation)|^audit (erasure|log|explain)|^compliance (evidence-pack|principal)|^manifests|^webhooks (redeliver|delivery|recover)|^requests (get|groups)|^insights/, // they show what others did
  /^changes (get|withdraw)/, // a change waits only in a live account with two owners
  /^anomalies (rules|channels) list/, // their answer has the built-in ones too
  /^audit verify/, // the program computes it
  /^budgets refund|^anomalies rules (update|delete)|^anomalies channels (update|delete|test)|^vault (get|delete)/,
];

/** The words of a command line, as a shell reads them. */
const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** A thing is made before it is used, and ends last. */
function turnOf(name: string): number {
  if (name === 'audit erase') return 4; // a person who has a grant is not erased
  if (/(^| )(delete|remove|revoke|cancel|release|close)$/.test(name)) return 3;
  return /(^| )(register|create|add|push|issue|allocate|place|rotate-secret)$/.test(name) ? 1 : 2;
}

interface Example {
  readonly command: CommandSpec;
  readonly words: readonly string[];
}

async function examples(): Promise<Example[]> {
  const ofOperations = (await allCommands()).filter(({ operation }) => operation !== undefined);
  const found = ofOperations.flatMap((command) =>
    command.examples
      .filter((line) => line.startsWith('behest ') && !ELSEWHERE.some((each) => each.test(line.slice(7))))
      .map((line) => ({ command, words: wordsOf(line).slice(1) })),
  );
  return found.sort((one, other) => turnOf(one.command.name) - turnOf(other.command.name));
}

/** The things that examples name, by the words before the last of their commands. */
async function newWorld(run: Machine['run']): Promise<Record<string, string>> {
  const made = await run(['agents', 'register', '--name', 'Travel', '--scopes', 'calendar:read', '--json']);
  const { agentId, did } = JSON.parse(made.out);
  const ask = ['--agent', agentId, '--principal', 'user_42', '--scopes', 'calendar:read'];
  const granted = await run(['authorize', ...ask, '--full', '--json']);
  const { grantId } = JSON.parse(granted.out);
  const [token] = JSON.parse((await run(['grants', 'tokens', grantId, '--json'])).out);
  const waiting = JSON.parse((await run(['authorize', ...ask, '--json'])).out);
  const entry = JSON.parse((await run(['audit', 'list', '--limit', '1', '--json'])).out)[0];
  return {
    ...{ agents: agentId, '<agent-id>': agentId, '<agent-did>': did, ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C: agentId },
    ...{ grants: grantId, '<grant-id>': grantId, '<jti>': token.jti ?? token.tokenId },
    ...{ authorizations: waiting.authRequestId, audit: entry.entryId, '<principal-id>': 'user_42' },
  };
}

/** An answer that is nothing but a list is printed as its rows. */
function listed(answer: unknown): unknown {
  const [only, ...others] = Object.values(Object(answer));
  return Array.isArray(only) && others.length === 0 ? only : answer;
}

test('the examples of the help run against the service, and print what it answers', async () => {
  const { run } = newMachine({ BEHEST_URL: acme.url, BEHEST_API_KEY: acme.apiKey });
  const world = await newWorld(run);
  const rowsOf = new Map(OPERATIONS.map(({ id, rows }) => [id, rows]));
  const faults: string[] = [];
  const all = await examples();

  for (const { command, words } of all) {
    const about = command.name.split(' ').slice(0, -1).join(' ');
    const filled = words.map((word) => (/^<|^ag_/.test(word) ? (world[word] ?? world[about] ?? word) : word));
    const answers: unknown[] = [];
    const { code, out, err } = await run([...filled, '--yes', '--json', '--retries', '0'], {
      async fetch(address, init) {
        const answer = await fetch(address, init);
        answers.push(
          await answer
            .clone()
            .json()
            .catch(() => undefined),
        );
        return answer;
      },
    });
    const rows = rowsOf.get(command.operation ?? '');
    const wire =
      rows === undefined ? listed(answers.at(-1)) : answers.flatMap((answer) => Object(answer)[rows]);
    const printed: unknown = out === '' ? undefined : JSON.parse(out);
    if (code !== 0) faults.push(`${filled.join(' ')}: ${code} ${err.split('\n')[0]}`);
    else if (!filled.includes('--out') && !isDeepStrictEqual(printed, wire))
      faults.push(`${filled.join(' ')}: ${out}`);
    const { id, keyId, webhookId } = Object(printed);
    if (turnOf(command.name) === 1) world[about] = String(webhookId ?? keyId ?? id ?? world[about]);
  }

  expect(faults).toEqual([]);
  expect(all.length).toBeGreaterThan(60);
}, 120_000);
