import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { BODY_OPTION } from '../api/fields.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, listOf, textOf, textsOf } from '../program/spec.ts';
import { TOKEN_OPTIONS, tokenOf } from '../secrets.ts';

export const PROXY: readonly CommandSpec[] = [
  {
    name: 'proxy call',
    summary: 'Call an upstream through the vault, which adds the credential of the person',
    args: [
      { name: 'service', about: 'the service of the vault' },
      { name: 'method', about: 'GET, POST, PUT, PATCH or DELETE' },
      { name: 'path', about: 'the path of the upstream, with its query' },
    ],
    examples: ['behest proxy call github GET user --env GRANT_TOKEN'],
    options: [
      { flags: '-H, --header <name:value>', about: 'a header of the request', isMany: true },
      { ...BODY_OPTION, about: 'the body: a file, or - for standard input' },
      { flags: '--upstream <name>', about: 'another upstream of the profile than the first' },
      { flags: '--decision-grants <a,b>', about: 'decision grants of people' },
      { flags: '--case <id>', about: 'the case of the call' },
      ...TOKEN_OPTIONS,
    ],
    async run(context, given) {
      const [service = '', method = '', path = ''] = given.args;
      const verb = method.toUpperCase();
      if (!/^(GET|POST|PUT|PATCH|DELETE)$/.test(verb))
        throw wrongUsage(`"${method}" is no method that the proxy passes on.`, context.help);
      const grantToken = await tokenOf(context, given, undefined);
      const body = textOf(given, 'body');
      const [upstream, decisions, caseId] = ['upstream', 'decisionGrants', 'case'].map((name) =>
        textOf(given, name),
      );
      const client = await context.openClient();
      const answer = await client.vault.fetch(
        service,
        path,
        {
          method: verb,
          headers: Object.fromEntries(textsOf(given, 'header').map((line) => headerOf(line))),
          ...(body !== undefined && {
            body: body === '-' ? await context.io.input() : readFileSync(resolve(context.io.folder, body)),
          }),
        },
        {
          grantToken,
          ...(upstream !== undefined && { upstream }),
          ...(decisions !== undefined && { decisionGrants: listOf(decisions) }),
          ...(caseId !== undefined && { caseId }),
        },
      );
      context.io.out(await answer.text());
      if (answer.ok) return EXIT.done;
      context.note(`The upstream answered ${answer.status}.`);
      return EXIT.unavailable;
    },
  },
];

/** @throws CliError for a line that is no header */
function headerOf(line: string): [string, string] {
  const at = line.indexOf(':');
  if (at > 0) return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  throw wrongUsage('A header has the form name:value.');
}
