import { membersOf, optionsOf } from '../api/fields.ts';
import { rowOf } from '../api/specs.ts';
import { isRecord } from '../config/user-file.ts';
import { type CommandSpec, isSet } from '../program/spec.ts';
import { TOKEN_OPTIONS, tokenOf } from '../secrets.ts';

const FIELDS = rowOf('vault.exchange').body ?? [];
const SECRET = /token|secret|password|key$/i;

export const VAULT: readonly CommandSpec[] = [
  {
    name: 'vault exchange',
    summary: 'Exchange a grant token for the credential of an upstream',
    operation: 'vault.exchange',
    args: [{ name: 'token', about: 'the grant token', isOptional: true }],
    examples: [
      'behest vault exchange --env GRANT_TOKEN --service github',
      'behest vault exchange --file token.txt --service github --reveal --json',
    ],
    options: [
      ...FIELDS.flatMap(optionsOf),
      ...TOKEN_OPTIONS,
      { flags: '--reveal', about: 'print the credential itself' },
    ],
    async run(context, given) {
      const token = await tokenOf(context, given, given.args[0]);
      const { service, ...more } = await membersOf(context, given, FIELDS, false);
      const client = await context.openClient();
      const answer: unknown = await client.vault.exchange(token, { ...more, service: String(service) });
      await context.one(isSet(given, 'reveal') ? answer : withoutSecrets(answer));
      if (!isSet(given, 'reveal')) context.note('The credential is hidden: --reveal prints it.');
    },
  },
];

const withoutSecrets = (answer: unknown) =>
  isRecord(answer)
    ? Object.fromEntries(
        Object.entries(answer).map(([name, value]) => [
          name,
          SECRET.test(name) && typeof value === 'string' && !/type$/i.test(name) ? '…' : value,
        ]),
      )
    : answer;
