import { BODY_OPTION, membersOf, optionsOf } from '../api/fields.ts';
import { rowOf } from '../api/specs.ts';
import { keepVerifier } from '../config/verifiers.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { type Given, isSet } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';
import { hintedUrl, type Vouched } from '../system/consent-hint.ts';
import { loopback } from '../system/loopback.ts';

const FIELDS = (rowOf('authorization.request').body ?? []).map((field) =>
  field.name === 'agentId' || field.name === 'principalId' || field.name === 'scopes'
    ? { ...field, required: true as const }
    : field,
);

export const AUTHORIZE: readonly CommandSpec[] = [
  {
    name: 'authorize',
    summary: 'Ask a person for a grant',
    operation: 'authorization.request',
    notes: 'A sandbox account gets its code at once. A live account sends the person to the consent page.',
    examples: [
      'behest authorize --agent <id> --principal user_42 --scopes calendar:read --wait',
      'behest authorize --agent <id> --principal user_42 --scopes calendar:read --full',
    ],
    options: [
      ...FIELDS.flatMap(optionsOf),
      BODY_OPTION,
      { flags: '--wait', about: 'wait for the decision, and print the code' },
      {
        flags: '--open',
        about: 'open the consent page in the browser; a consent key of the profile vouches for the person',
      },
      { flags: '--pkce', about: 'make a PKCE verifier, and keep it for tokens exchange' },
      { flags: '--full', about: 'do all of it: ask, wait, exchange, and print the token' },
    ],
    run: authorize,
  },
];

async function authorize(context: Context, given: Given): Promise<void> {
  const isFull = isSet(given, 'full');
  const wanted = await membersOf(context, given, FIELDS, true);
  const client = await context.client();
  const { generatePkce } = await import('@behest/sdk');
  if (isSet(given, 'pkce') && 'codeChallenge' in wanted)
    throw wrongUsage('--pkce makes the challenge: leave --code-challenge out.', context.help);
  const pkce = isSet(given, 'pkce') || isFull ? generatePkce() : undefined;
  const door = isFull && wanted.redirectUri === undefined ? await loopback(context.io.signal) : undefined;
  try {
    const { codeVerifier, ...challenge } = pkce ?? { codeVerifier: undefined };
    const asked = await client.authorize({
      ...wanted,
      ...{
        agentId: String(wanted.agentId),
        principalId: String(wanted.principalId),
        scopes: [wanted.scopes].flat().map(String),
      },
      ...challenge,
      ...(door && { redirectUri: door.url, state: door.state }),
    });
    const { authRequestId, consentUrl, status } = asked;
    if (codeVerifier !== undefined && !isFull) keepVerifier(context.io, String(wanted.agentId), codeVerifier);
    const principalId = String(wanted.principalId);
    if (status === 'pending' && consentUrl !== undefined)
      await show(context, given, { authRequestId, consentUrl, principalId }, isFull);
    if (!isFull && !isSet(given, 'wait')) return context.one(asked);

    const { signal } = context.io;
    const code =
      asked.code ?? (door ? await door.code() : await client.authorizations.wait(authRequestId, { signal }));
    if (!isFull) return context.one({ ...asked, status: 'approved', code });
    const tokens = await client.tokens.exchange({
      ...{ code, agentId: String(wanted.agentId) },
      ...(codeVerifier !== undefined && { codeVerifier }),
      ...(door
        ? { redirectUri: door.url }
        : typeof wanted.redirectUri === 'string' && { redirectUri: wanted.redirectUri }),
    });
    await context.one(tokens);
  } finally {
    door?.close();
  }
}

async function show(context: Context, given: Given, vouched: Vouched, isFull: boolean): Promise<void> {
  const { consentUrl } = vouched;
  const isOpened = isSet(given, 'open');
  if (isOpened || isFull) context.note(`The person decides at ${consentUrl}`);
  if (!isOpened) return;
  const address = await hintedUrl(context, vouched);
  if (await context.io.browse(address)) return;
  throw new CliError('BROWSER', `No browser could be opened. The person decides at ${address}`, {
    exitCode: EXIT.unavailable,
    next: 'open the address in a browser of this machine',
  });
}
