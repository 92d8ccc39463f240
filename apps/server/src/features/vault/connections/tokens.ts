import type { Caller } from '../../../platform/caller.ts';
import { type FrozenClient, type NewTokens, readTokenAnswer, valueAt } from '../credentials/index.ts';
import {
  asClient,
  foundOf,
  noteClientAccepted,
  noteClientRefused,
  objectIn,
  openClient,
  type ProviderRow,
  type ProviderSettings,
  readIdToken,
  readKeySet,
  settingsOf,
} from '../providers/index.ts';
import { textOf } from './connections.rules.ts';
import type { ConnectDeps } from './deps.ts';
import type { Result } from './show.ts';
import { callbackUrl, type InFlight } from './start.ts';

interface CodeExchange {
  readonly provider: ProviderRow;
  readonly flight: InFlight;
  readonly code: string;
  readonly principalId: string;
}

/** Why an answer of the upstream gives no connection. */
interface Failure {
  readonly failure: 'token_request' | 'id_token' | 'scopes_missing' | 'account';
}

interface Tokens {
  readonly tokens: NewTokens;
  readonly account: Result['account'];
  readonly frozen: FrozenClient;
}

/** Redeems the code. The upstream's words about a failure are read, and shown nowhere. */
export async function askForTokens(
  deps: ConnectDeps,
  caller: Caller,
  asking: CodeExchange,
): Promise<Tokens | Failure> {
  const { provider, flight } = asking;
  const settings = settingsOf(provider);
  const found = foundOf(provider);
  const frozen: FrozenClient = {
    tokenEndpoint: found.tokenEndpoint,
    revocationEndpoint: found.revocationEndpoint,
    clientId: provider.clientId,
    authMethod: provider.authMethod,
    audience: found.issuer ?? found.tokenEndpoint,
    resource: found.resource,
    pointers: settings.tokenPointers,
  };
  const redeemed = await redeem(deps, caller, asking, frozen);
  if (!redeemed) return { failure: 'token_request' };
  const { said, tokens } = redeemed;
  const claims =
    settings.kind === 'oidc'
      ? await idClaims(deps, said.id_token, {
          found,
          clientId: provider.clientId,
          nonce: flight.nonce,
          accessToken: tokens.accessToken,
          clock: deps.clock,
        })
      : {};
  if (!claims) return { failure: 'id_token' };
  const granted = tokens.scopes ?? flight.scopes;
  const isPartial = settings.scopes.required.some((scope) => !granted.includes(scope));
  if (isPartial && !settings.acceptPartial) return { failure: 'scopes_missing' };
  const account = await accountIn(deps, settings, { said, claims, accessToken: tokens.accessToken, found });
  return account === undefined ? { failure: 'account' } : { tokens, account, frozen };
}

async function idClaims(
  { connected }: ConnectDeps,
  token: unknown,
  expected: Parameters<typeof readIdToken>[2] & { readonly found: ReturnType<typeof foundOf> },
) {
  const keys = await readKeySet(connected, expected.found);
  const read = keys && (await readIdToken(token, keys, expected));
  return read && 'claims' in read ? read.claims : undefined;
}

/** RFC 6749, section 4.1.3, with RFC 7636 and RFC 8707. */
async function redeem(
  deps: ConnectDeps,
  caller: Caller,
  { provider, flight, code, principalId }: CodeExchange,
  frozen: FrozenClient,
) {
  const client = openClient(deps.vault, provider);
  if (!client) return undefined;
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: callbackUrl(deps, provider.id),
  });
  if (settingsOf(provider).pkce === 'required') form.set('code_verifier', flight.verifier);
  if (frozen.resource !== null) form.set('resource', frozen.resource);
  const request = await asClient(client, form, { audience: frozen.audience, clock: deps.clock });
  const answer = await deps.connected.ask({ url: frozen.tokenEndpoint, method: 'POST', ...request });
  const { tokenLifetimeSeconds } = settingsOf(provider);
  const read = readTokenAnswer(answer, { pointers: frozen.pointers, tokenLifetimeSeconds }, deps.clock());
  if (read.result === 'client_refused') await noteClientRefused(deps, caller, provider, principalId);
  if (read.result !== 'tokens') return undefined;
  await noteClientAccepted(deps, caller.tenant, provider.id);
  return read;
}

interface Sources {
  readonly said: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly accessToken: string;
  readonly found: ReturnType<typeof foundOf>;
}

/** @returns null where the provider cannot tell the account, undefined where it should have and did not */
async function accountIn(
  { connected }: ConnectDeps,
  { account }: ProviderSettings,
  { said, claims, accessToken, found }: Sources,
): Promise<Result['account'] | undefined> {
  if (account === null) return null;
  const { source, id, label } = account;
  let document: Readonly<Record<string, unknown>> | undefined = source === 'token' ? said : claims;
  if (source === 'userinfo') {
    if (found.userinfoEndpoint === null) return undefined;
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${accessToken}`,
      'user-agent': 'Behest',
    };
    const answer = await connected.ask({ url: found.userinfoEndpoint, method: 'GET', headers });
    document = answer.failure === undefined && answer.status === 200 ? objectIn(answer.body) : undefined;
  }
  const told = textOf(valueAt(document, id));
  if (told === undefined) return undefined;
  return { id: told, label: label === undefined ? null : (textOf(valueAt(document, label)) ?? null) };
}
