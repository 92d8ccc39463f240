import { JsonError, parseJson } from '@behest/protocol/json';
import type { RefreshSettings } from './credentials.schema.ts';

const MAX_TOKEN_BYTES = 16_384;

/** The tokens of an upstream's answer. */
export interface NewTokens {
  readonly accessToken: string;
  /** Absent when the former one goes on. */
  readonly refreshToken: string | undefined;
  readonly expiresInSeconds: number | undefined;
}

/** The meaning of an upstream's answer to a refresh. */
export type Refreshing =
  | { readonly result: 'refreshed'; readonly tokens: NewTokens }
  /** The upstream takes this refresh token no longer. */
  | { readonly result: 'refused'; readonly error: 'invalid_grant' | 'unreadable_refusal' }
  /** It may work another time. */
  | { readonly result: 'failed' };

type Settings = Pick<RefreshSettings, 'clientId' | 'authMethod' | 'scope'>;

/** @see RFC 6749, section 6, and section 2.3.1 for the client */
export function refreshRequest(
  settings: Settings,
  refreshToken: string,
  clientSecret: string | undefined,
): { readonly headers: Record<string, string>; readonly body: string } {
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken });
  if (settings.scope !== undefined) form.set('scope', settings.scope);
  return withClient(settings, form, clientSecret);
}

/** @see RFC 7009, section 2.1 */
export function revocationRequest(
  settings: Settings,
  refreshToken: string,
  clientSecret: string | undefined,
) {
  const form = new URLSearchParams({ token: refreshToken, token_type_hint: 'refresh_token' });
  return withClient(settings, form, clientSecret);
}

function withClient(
  { clientId, authMethod }: Settings,
  form: URLSearchParams,
  clientSecret: string | undefined,
): { headers: Record<string, string>; body: string } {
  const method = authMethod ?? (clientSecret === undefined ? 'none' : 'client_secret_basic');
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  if (method === 'client_secret_basic') {
    const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret ?? '')}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    return { headers, body: form.toString() };
  }
  form.set('client_id', clientId);
  if (method === 'client_secret_post') form.set('client_secret', clientSecret ?? '');
  return { headers, body: form.toString() };
}

/** The encoding of a form's value, which goes before that of the header. */
const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);

/** Reads the answer of a token endpoint. */
export function readRefreshing(status: number, body: Buffer): Refreshing {
  const said = objectIn(body);
  if (status === 200) {
    const tokens = said && tokensIn(said);
    return tokens ? { result: 'refreshed', tokens } : { result: 'failed' };
  }
  if (said?.error === 'invalid_grant') return { result: 'refused', error: 'invalid_grant' };
  const isRefusal = status === 400 || status === 401;
  return isRefusal && said === undefined
    ? { result: 'refused', error: 'unreadable_refusal' }
    : { result: 'failed' };
}

function tokensIn(said: Readonly<Record<string, unknown>>): NewTokens | undefined {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = said;
  if (!isToken(accessToken)) return undefined;
  if (refreshToken !== undefined && refreshToken !== null && !isToken(refreshToken)) return undefined;
  const isTime = typeof expiresIn === 'number' && expiresIn > 0 && expiresIn <= MOST_SECONDS;
  return {
    accessToken,
    refreshToken: refreshToken ?? undefined,
    expiresInSeconds: isTime ? expiresIn : undefined,
  };
}

const MOST_SECONDS = 3_153_600_000; // a hundred years, so that every end is a date

const isToken = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= MAX_TOKEN_BYTES;

function objectIn(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseJson(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Whether an access token ends so soon that the exchange asks for another one first. */
export const isDue = (tokenExpiresAt: Date | null, now: Date, skewSeconds: number): boolean =>
  tokenExpiresAt !== null && tokenExpiresAt.getTime() - now.getTime() < skewSeconds * 1000;
