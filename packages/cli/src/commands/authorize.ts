import { createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { BODY_OPTION, membersOf, optionsOf } from '../api/fields.ts';
import { rowOf } from '../api/specs.ts';
import { readText } from '../config/settings.ts';
import { keepVerifier } from '../config/verifiers.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet } from '../program/spec.ts';

const LIFE_SECONDS = 300; // the service takes no longer life

/** The request that a hint is for, and the person whom it vouches for. */
interface Vouched {
  readonly authRequestId: string;
  readonly principalId: string;
  readonly consentUrl: string;
}

/**
 * Makes the address of the consent page with a hint, as the account's program makes one for a person whom it has signed
 * in. The consent key of the profile signs the hint.
 *
 * @returns the address as it is where the profile has no consent key, or where another key than that of the profile asked
 */
async function hintedUrl(context: Context, { consentUrl, ...vouched }: Vouched): Promise<string> {
  const { apiKey, profile } = await context.settings();
  if (profile.consentKeyFile === undefined || apiKey !== profile.apiKey) return consentUrl;
  const key = privateKeyIn(profile.consentKeyFile);
  const [{ developerId }, { issuer }] = await Promise.all([
    context.client().then((client) => client.me()),
    context.openClient().then((client) => client.oauth.metadata()),
  ]);
  const iat = Math.floor(Date.now() / 1_000);
  const claims = {
    ...{ iss: developerId, aud: issuer, sub: vouched.principalId, areq: vouched.authRequestId },
    ...{ iat, exp: iat + LIFE_SECONDS },
  };
  return `${consentUrl}&hint=${signed(claims, key)}`; // the fragment reaches no server and no log
}

/** @throws CliError for a file that holds no private key */
function privateKeyIn(file: string): KeyObject {
  const text = readText(file);
  try {
    return text.trimStart().startsWith('{')
      ? createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
      : createPrivateKey(text);
  } catch {
    throw new CliError(
      'CONFIGURATION',
      `${file} holds no private key: a JWK or PEM of P-256 or RSA is needed.`,
      {
        next: 'behest config set --consent-key-file <file>',
      },
    );
  }
}

/** A JWT in its compact form (RFC 7515, section 3.1), with the signature form of JWA (RFC 7518, section 3.4). */
function signed(claims: object, key: KeyObject): string {
  const alg = key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256';
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg, typ: 'consent-hint+jwt' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

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

interface Door {
  /** The address to which the consent page sends the browser back. */
  readonly url: string;
  readonly state: string;
  /** Waits for the code. @throws CliError when the person denies */
  code(): Promise<string>;
  close(): void;
}

/** Listens on this machine for the browser that comes back from the consent page. */
async function loopback(signal: AbortSignal): Promise<Door> {
  const state = randomBytes(16).toString('base64url');
  let resolve: (code: string) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<string>((good, bad) => {
    [resolve, reject] = [good, bad]; // Promise.withResolvers is not in Node 20
  });
  promise.catch(() => undefined); // nobody waits for it where the code comes with the answer
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  const server = createServer((request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const [code, error] = [searchParams.get('code'), searchParams.get('error')];
    const isOurs =
      pathname === '/callback' && searchParams.get('state') === state && (code ?? error) !== null;
    response.writeHead(isOurs ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.end(isOurs ? 'You can close this window and go back to the terminal.\n' : 'Nothing is here.\n');
    if (!isOurs) return;
    if (code !== null) resolve(code);
    else reject(new CliError('DENIED', `The person did not approve: ${error}.`, { exitCode: EXIT.no }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  return {
    url: `http://127.0.0.1:${port}/callback`,
    state,
    code: () => promise,
    close: () => server.close(),
  };
}
