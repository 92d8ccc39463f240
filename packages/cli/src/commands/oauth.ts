import type { Context } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';
import type { CommandSpec } from '../program/spec.ts';

const PATH = '/.well-known/oauth-authorization-server';

export const OAUTH: readonly CommandSpec[] = [
  {
    name: 'oauth metadata',
    summary: 'Show the metadata of the authorization server',
    operation: 'oauth.metadata',
    examples: ['behest oauth metadata --json'],
    async run(context) {
      const { url } = await context.settings();
      await context.one(await documentAt(context, `${url.replace(/\/$/, '')}${PATH}`));
    },
  },
];

/** Fetches a public document. @throws CliError for anything but a JSON object */
export async function documentAt(
  context: Context,
  address: string,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await context.exchange.fetchWith(undefined)(address, {
    ...{ headers: { accept: 'application/json' }, redirect: 'error' },
    signal: AbortSignal.timeout(context.globals.timeout ?? 10_000),
  });
  const value: unknown = await answer.json().catch(() => undefined);
  if (answer.ok && typeof value === 'object' && value !== null) return { ...value };
  throw new CliError('NO_DOCUMENT', `${address} answered ${answer.status}, and no document.`, {
    exitCode: EXIT.unavailable,
    next: 'behest doctor',
  });
}
