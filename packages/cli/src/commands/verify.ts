import { resolve } from 'node:path';
import { readText } from '../config/settings.ts';
import { keepProfile } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, listOf, textOf } from '../program/spec.ts';
import { TOKEN_OPTIONS, tokenOf } from '../secrets.ts';
import { partsOf } from './decode.ts';

export const VERIFY: readonly CommandSpec[] = [
  {
    name: 'verify',
    summary: 'Verify a grant token offline, with the published keys',
    notes: 'Ends with 0 for a valid token, 1 for any other, and 8 where the keys cannot be had.',
    args: [{ name: 'token', about: 'the grant token', isOptional: true }],
    examples: [
      'behest verify --file token.txt',
      'behest verify --env GRANT_TOKEN --scopes calendar:read --json',
    ],
    options: [
      ...TOKEN_OPTIONS,
      { flags: '--developer <id>', about: 'the account whose tokens are taken; default: that of the key' },
      { flags: '--allow-sandbox', about: 'take tokens of sandbox accounts, which no person has approved' },
      { flags: '--jwks <url>', about: 'the address of the keys' },
      { flags: '--jwks-file <file>', about: 'read the keys from a file, without a network' },
      { flags: '--issuer <url>', about: 'the issuer that the token has to name' },
      { flags: '--audience <url>', about: 'the audience that the token has to name' },
      { flags: '--scopes <a,b>', about: 'scopes that the token has to cover' },
      { flags: '--check-revocation', about: 'ask the service whether the grant still stands' },
    ],
    run: verify,
  },
];

async function verify(context: Context, given: Given): Promise<number> {
  const token = await tokenOf(context, given, given.args[0]);
  const { url } = await context.settings();
  const jwksUri = textOf(given, 'jwks') ?? `${url.replace(/\/$/, '')}/.well-known/jwks.json`;
  const { createVerifier, preloadJwks } = await import('@behest/sdk/verify');
  const file = textOf(given, 'jwksFile');
  if (file !== undefined) preloadJwks(keysIn(context, file), jwksUri);
  const [issuer, audience, scopes] = ['issuer', 'audience', 'scopes'].map((name) => textOf(given, name));
  const verifier = createVerifier({
    ...{
      jwksUri,
      developerId: await developerOf(context, given),
      allowSandbox: isSet(given, 'allowSandbox'),
    },
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
    ...(scopes !== undefined && { requiredScopes: listOf(scopes) }),
    fetch: context.exchange.fetchWith(undefined),
  });
  const result = await verifier.detailed(token);
  const isAsked = result.ok && isSet(given, 'checkRevocation');
  const revocation = isAsked ? await revocationOf(context, token) : 'not_checked';
  await context.one(reportOf(token, result, revocation));
  return result.ok && revocation !== 'revoked' ? EXIT.done : EXIT.no;
}

async function revocationOf(context: Context, token: string): Promise<'active' | 'revoked'> {
  const { valid } = await (await context.client()).tokens.verify(token);
  return valid ? 'active' : 'revoked';
}

interface Outcome {
  readonly ok: boolean;
  readonly reason?: string;
  readonly missing?: readonly string[];
  readonly grant?: {
    readonly grantId: string;
    readonly agentDid: string | undefined;
    readonly principalId: string;
    readonly scopes: readonly string[];
    readonly expiresAt: Date;
    readonly sandbox: boolean;
  };
}

const STATUS: Readonly<Record<string, string>> = {
  expired: 'expired',
  bad_signature: 'invalid_signature',
  malformed: 'malformed',
  revoked: 'revoked',
};

function reportOf(token: string, { ok, reason, missing, grant }: Outcome, revocation: string): object {
  const { header } = partsOf(token);
  const isRevoked = revocation === 'revoked';
  return {
    status: isRevoked ? 'revoked' : ok ? 'valid' : (STATUS[reason ?? ''] ?? reason),
    ...(reason !== undefined && { reason }),
    ...(missing && { missing }),
    ...(grant && {
      ...{
        grantId: grant.grantId,
        agentDid: grant.agentDid,
        principal: grant.principalId,
        scopes: grant.scopes,
      },
      expiresAt: grant.expiresAt.toISOString(),
    }),
    ...(typeof header?.alg === 'string' && { algorithm: header.alg }),
    ...(typeof header?.kid === 'string' && { keyId: header.kid }),
    revocation,
    ...(grant && { mode: grant.sandbox ? 'sandbox' : 'live' }),
  };
}

/** The account whose tokens are taken, which the service is asked for once. */
async function developerOf(context: Context, given: Given): Promise<string> {
  const told = textOf(given, 'developer');
  if (told !== undefined) return told;
  const { apiKey, profile, profileName } = await context.settings();
  const isOfProfile = apiKey !== undefined && apiKey === profile.apiKey;
  if (isOfProfile && profile.developerId !== undefined) return profile.developerId;
  if (apiKey === undefined) {
    throw new CliError(
      'USAGE',
      'developerId is missing: every account of one service signs with the same keys, so a verifier has to know whose tokens it takes.',
      { next: 'behest verify --developer <id>' },
    );
  }
  const { developerId } = await (await context.client()).me();
  if (isOfProfile) keepProfile(context.io, profileName, { developerId });
  return developerId;
}

/** Reads a JWK Set. */
export function keysIn(context: Context, file: string): unknown {
  try {
    return JSON.parse(readText(resolve(context.io.folder, file)));
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw wrongUsage(`${file} is no JSON.`, context.help);
  }
}
