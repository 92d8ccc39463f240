import type { RefreshSettings } from './credentials.schema.ts';

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

/** Whether an access token ends so soon that the exchange asks for another one first. */
export const isDue = (tokenExpiresAt: Date | null, now: Date, skewSeconds: number): boolean =>
  tokenExpiresAt !== null && tokenExpiresAt.getTime() - now.getTime() < skewSeconds * 1000;

/** Whether an upstream that failed is left alone still. */
export const isResting = ({ refreshAfter }: { readonly refreshAfter: Date | null }, now: Date): boolean =>
  refreshAfter !== null && refreshAfter > now;

const FIRST_REST_SECONDS = 2;
const LONGEST_REST_SECONDS = 300;

/**
 * The time after a failure at the upstream before it is asked again: as long as it says, or else twice as long as the time
 * before.
 * @param failures how often it failed in a row, this time included
 */
export const restSeconds = (failures: number, retryAfterSeconds: number | undefined): number =>
  retryAfterSeconds ?? Math.min(FIRST_REST_SECONDS * 2 ** (failures - 1), LONGEST_REST_SECONDS);
