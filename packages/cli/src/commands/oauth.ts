import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { askOpenly, mcpChecks } from '../oauth/mcp-check.ts';
import { type CommandSpec, type Given, isSet, textOf, textsOf } from '../program/spec.ts';
import { secretOf, secretOptions, TOKEN_OPTIONS, tokenOf } from '../secrets.ts';

const METHODS = ['none', 'client_secret_basic', 'client_secret_post'];

export const OAUTH: readonly CommandSpec[] = [
  {
    name: 'oauth metadata',
    summary: 'Show the metadata of the authorization server',
    operation: 'oauth.metadata',
    examples: ['behest oauth metadata --json'],
    async run(context) {
      await context.one(await (await context.openClient()).oauth.metadata());
    },
  },
  {
    name: 'oauth register',
    summary: 'Register an OAuth client, as clients do for themselves (RFC 7591)',
    notes: 'The answer has a secret and a registration token, which no other answer shows.',
    examples: ['behest oauth register --name "My client" --redirect-uri http://localhost/callback --json'],
    options: [
      { flags: '--name <name>', about: 'the name that people see', isRequired: true },
      { flags: '--redirect-uri <url>', about: 'where answers go', isRequired: true, isMany: true },
      { flags: '--auth-method <method>', about: 'how it authenticates; default: none', choices: METHODS },
      { flags: '--scope <scopes>', about: 'the scopes that it asks for, with spaces between' },
    ],
    run: register,
  },
  {
    name: 'oauth device',
    summary: 'Ask as a device without a browser: a person enters a code elsewhere (RFC 8628)',
    examples: ['behest oauth device --client-id <id> --scope calendar:read --wait --json'],
    options: [
      { flags: '--client-id <id>', about: 'the OAuth client', isRequired: true },
      ...secretOptions('client-secret', 'the secret of the client'),
      { flags: '--scope <scopes>', about: 'the scopes, with spaces between' },
      { flags: '--resource <url>', about: 'the API that the token is for' },
      { flags: '--wait', about: 'wait for the person, and print the tokens' },
    ],
    run: device,
  },
  {
    name: 'oauth introspect',
    summary: 'Ask the service about a token (RFC 7662)',
    notes: 'Ends with 0 for an active token and with 1 for any other.',
    args: [{ name: 'token', about: 'the token', isOptional: true }],
    examples: ['behest oauth introspect --env TOKEN --json'],
    options: TOKEN_OPTIONS,
    async run(context, given) {
      const token = await tokenOf(context, given, given.args[0]);
      const answer = await (await context.client()).oauth.introspect({ token });
      await context.one(answer);
      return answer.active ? EXIT.done : EXIT.no;
    },
  },
  {
    name: 'oauth mcp-check',
    summary: 'Check what MCP asks of an MCP server, or of an authorization server, as a stranger sees it',
    notes: 'Ends with 1 when a check fails. It sends no token that is good anywhere.',
    args: [{ name: 'url', about: 'the address of either' }],
    examples: [
      'behest oauth mcp-check http://localhost:8080/mcp',
      'behest oauth mcp-check https://auth.example.com --json',
    ],
    async run(context, { args: [address = ''] }) {
      if (!/^https?:/.test(address) || !URL.canParse(address))
        throw wrongUsage(`An address is needed, and not "${address}".`, context.help);
      const checks = await mcpChecks(context, address);
      await context.rows(checks, { columns: ['id', 'result', 'detail', 'fix'] });
      return checks.some(({ result }) => result === 'fail') ? EXIT.no : EXIT.done;
    },
  },
];

const baseOf = async (context: Context) => (await context.settings()).url.replace(/\/$/, '');

async function register(context: Context, given: Given): Promise<void> {
  const [name, method = 'none', scope] = ['name', 'authMethod', 'scope'].map((each) => textOf(given, each));
  const answer = await askOpenly(context, `${await baseOf(context)}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ client_name: name, redirect_uris: textsOf(given, 'redirectUri') },
      ...{ token_endpoint_auth_method: method, ...(scope !== undefined && { scope }) },
    }),
  });
  const value: unknown = await answer.json().catch(() => undefined);
  const { error, error_description: why } = Object(value);
  if (!answer.ok)
    throw new CliError(String(error ?? `HTTP_${answer.status}`), String(why ?? 'The service refused.'), {
      exitCode: answer.status < 500 ? EXIT.invalid : EXIT.unavailable,
      next: context.help,
    });
  await context.one(value);
  context.note('client_secret, registration_access_token: shown once');
}

async function device(context: Context, given: Given): Promise<void> {
  const [id, scope, resource] = ['clientId', 'scope', 'resource'].map((name) => textOf(given, name));
  const secret = await secretOf(context, given, 'clientSecret');
  const client = { client_id: id ?? '', ...(secret !== undefined && { client_secret: secret }) };
  const { oauth } = await context.openClient();
  const asked = await oauth.device({
    ...client,
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
  });
  if (!isSet(given, 'wait')) return context.one(asked);
  context.note(`The person enters ${asked.user_code} at ${asked.verification_uri}`);
  await context.one(await oauth.poll(asked, client, { signal: context.io.signal }));
}
