import { JsonError, parseJson } from '@behest/protocol/json';
import type { RefreshSettings } from './credentials.schema.ts';

const MAX_TOKEN_BYTES = 16_384;

/** The tokens of an upstream's answer. */
export interface NewTokens {
  readonly accessToken: string;
  /** Absent when the former one goes on. */
  readonly refreshToken: string | undefined;
  readonly expiresInSeconds: number | undefined;
  /** The end of the refresh token, where the upstream says it. */
  readonly refreshExpiresInSeconds: number | undefined;
  /** The granted scopes as the upstream wrote them. Undefined means those that were asked for. */
  readonly scopes: readonly string[] | undefined;
}

/** How an upstream writes its answers. */
export interface AnswerForm {
  readonly pointers?: Readonly<
    Partial<Record<'accessToken' | 'refreshToken' | 'expiresIn' | 'scope', string>>
  >;
}

/** The meaning of an upstream's answer to a refresh. */
export type Refreshing =
  | { readonly result: 'refreshed'; readonly tokens: NewTokens }
  /** The upstream takes this refresh token no longer. */
  | { readonly result: 'refused'; readonly error: 'invalid_grant' | 'unreadable_refusal' }
  /** The upstream does not know the client: the fault is the provider's and not the connection's. */
  | { readonly result: 'client_refused' }
  /** The provider is another client of another server now, so nothing was sent. */
  | { readonly result: 'provider_changed' }
  /** It may work another time. */
  | { readonly result: 'failed' };

/** The stored settings, without the client's secret. */
export const refreshSettings = ({ refresh }: { readonly refresh: unknown }) =>
  refresh === null ? undefined : (refresh as Omit<RefreshSettings, 'clientSecret'>); // stored by this service

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

/** The words with which upstreams say that a refresh token is of no use. GitHub has one of its own. */
const REFUSALS: readonly unknown[] = ['invalid_grant', 'bad_refresh_token'];
const CLIENT_REFUSALS: readonly unknown[] = ['invalid_client', 'unauthorized_client'];

/** Reads the answer of a token endpoint. Some upstreams answer 200 with an error in the body. */
export function readRefreshing(status: number, body: Buffer, form: AnswerForm = {}): Refreshing {
  const said = objectIn(body);
  if (REFUSALS.includes(said?.error)) return { result: 'refused', error: 'invalid_grant' };
  if (CLIENT_REFUSALS.includes(said?.error)) return { result: 'client_refused' };
  if (status === 200) {
    const tokens = said && tokensIn(said, form);
    return tokens ? { result: 'refreshed', tokens } : { result: 'failed' };
  }
  const isRefusal = status === 400 || status === 401;
  return isRefusal && said === undefined
    ? { result: 'refused', error: 'unreadable_refusal' }
    : { result: 'failed' };
}

/** The tokens of an answer. @returns undefined when there are none that can be kept */
export function tokensIn(
  said: Readonly<Record<string, unknown>>,
  { pointers = {} }: AnswerForm = {},
): NewTokens | undefined {
  const accessToken = valueAt(said, pointers.accessToken ?? '/access_token');
  const refreshToken = valueAt(said, pointers.refreshToken ?? '/refresh_token');
  if (!isToken(accessToken)) return undefined;
  if (refreshToken !== undefined && refreshToken !== null && !isToken(refreshToken)) return undefined;
  return {
    accessToken,
    refreshToken: refreshToken ?? undefined,
    expiresInSeconds: secondsIn(valueAt(said, pointers.expiresIn ?? '/expires_in')),
    refreshExpiresInSeconds: secondsIn(said.refresh_token_expires_in),
    scopes: scopesIn(valueAt(said, pointers.scope ?? '/scope')),
  };
}

const secondsIn = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 && value <= MOST_SECONDS ? value : undefined;

/** GitHub takes blanks between scopes and answers with commas. An upstream that grants nothing sends an empty text. */
function scopesIn(value: unknown): string[] | undefined {
  if (Array.isArray(value)) return value.filter((scope) => typeof scope === 'string').slice(0, MOST_SCOPES);
  if (typeof value !== 'string') return undefined;
  const scopes = value.split(/[\s,]+/);
  return [...new Set(scopes)].filter((scope) => scope !== '' && scope.length <= 256).slice(0, MOST_SCOPES);
}

const MOST_SCOPES = 200;

/** RFC 6901, without the index of a list. */
export function valueAt(value: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>((inner, name) => {
    const member = name.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, member)) return undefined;
    return (inner as Readonly<Record<string, unknown>>)[member]; // an object with this member
  }, value);
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
