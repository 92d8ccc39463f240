import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, isSet, textOf } from '../program/spec.ts';

export const CONSOLE: readonly CommandSpec[] = [
  {
    name: 'console',
    summary: 'Open the console in the browser, signed in by a link that works once',
    operation: 'console.createLink',
    notes:
      'It needs a full key. A live account that has members takes no key: sign in with your passkey there.',
    examples: ['behest console', 'behest console --print'],
    options: [
      { flags: '--print', about: 'print the link, and open nothing' },
      { flags: '--name <name>', about: 'your name, the first time' },
      { flags: '--email <address>', about: 'your address: that of the member whom the link signs in' },
    ],
    async run(context, given) {
      const [displayName, email] = [textOf(given, 'name'), textOf(given, 'email')];
      const answer = await (await context.client()).console.createLink({
        ...(displayName !== undefined && { displayName }),
        ...(email !== undefined && { email }),
      });
      if (context.globals.output !== 'table') return context.one(answer);
      if (isSet(given, 'print')) return context.line(answer.url);
      await openPage(context, answer.url);
    },
  },
];

export const DECISIONS: readonly CommandSpec[] = [
  {
    name: 'decisions open',
    summary: 'Open the page of a decision in the browser, where a person with a passkey decides',
    args: [{ name: 'id', about: 'the id of the decision' }],
    examples: ['behest decisions open <id>'],
    async run(context, { args: [id = ''] }) {
      const { url } = await (await context.client()).decisions.get(id);
      await openPage(context, url);
    },
  },
];

export const OPEN: readonly CommandSpec[] = [
  {
    name: 'open',
    summary: 'Open a page of the service in the browser',
    args: [
      { name: 'page', about: 'docs, permissions, health, or consent with the id of a request' },
      { name: 'id', about: 'the id of an authorization request', isOptional: true },
    ],
    examples: ['behest open docs', 'behest open consent <id>'],
    async run(context, { args: [page = '', id] }) {
      const { url } = await context.settings();
      const base = url.replace(/\/$/, '');
      if (page === 'consent') return openPage(context, await consentUrl(context, id));
      if (page === 'docs') return openIfThere(context, '/docs', page);
      const path = { permissions: '/permissions', health: '/health' }[page];
      if (path === undefined)
        throw wrongUsage(`There is no page "${page}": docs, permissions, health or consent.`, context.help);
      await openPage(context, `${base}${path}`);
    },
  },
];

async function consentUrl(context: Context, id: string | undefined): Promise<string> {
  if (id === undefined) throw wrongUsage('Give the id of an authorization request.', context.help);
  const request: unknown = await (await context.client()).authorizations.get(id);
  const { consentUrl: address, status } = Object(request);
  if (typeof address === 'string') return address;
  throw new CliError(
    'NOT_PENDING',
    `The request is ${status}, and has no page: only the answer of authorize has its address.`,
    {
      exitCode: EXIT.no,
      next: 'behest authorize --open --help',
    },
  );
}

/** Opens a page, and says its address. A dry run says it alone. @throws CliError where no browser could be started */
async function openPage(context: Context, address: string): Promise<void> {
  if (context.globals.isDry) return context.line(address);
  context.note(address);
  if (!(await context.io.browse(address)))
    throw new CliError('BROWSER', `No browser could be opened here. The address is ${address}`, {
      exitCode: EXIT.unavailable,
      next: 'open the address in a browser of this machine',
    });
}

/**
 * Opens a page of the service that some services have, once it has answered.
 *
 * @param name the page, in words
 * @throws CliError where the service has no such page
 */
async function openIfThere(context: Context, path: string, name: string): Promise<void> {
  const address = `${(await context.settings()).url.replace(/\/$/, '')}${path}`;
  const answer = await context.exchange.fetchWith(undefined)(address, {
    ...{ headers: { accept: 'text/html' }, redirect: 'manual' },
    signal: AbortSignal.timeout(context.globals.timeout ?? 10_000),
  });
  await answer.body?.cancel();
  if (answer.status < 400) return openPage(context, address);
  throw new CliError(
    `NO_${name.toUpperCase()}`,
    `This service has no ${name}: ${address} answered ${answer.status}.`,
    {
      exitCode: answer.status < 500 ? EXIT.notFound : EXIT.unavailable,
      next: 'behest --help',
    },
  );
}
