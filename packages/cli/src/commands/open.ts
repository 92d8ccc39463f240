import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import type { CommandSpec } from '../program/spec.ts';
import { openIfThere, openPage } from '../system/pages.ts';

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
