import { queryOptions, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { api, keepCsrfToken, type Schemas } from '../api/client.ts';
import { linkOnce } from './link.ts';

export type Session = Schemas['ConsoleSession'];

export const SESSION = ['session'] as const;

/** The client throws when there is none, so an answer without data has no meaning. */
export function kept({ data }: { readonly data?: Session }): Session {
  if (!data) throw new Error('The service answered without a session.');
  keepCsrfToken(data.csrfToken);
  return data;
}

const sessionOptions = queryOptions({
  queryKey: SESSION,
  queryFn: async () => {
    if (linkOnce('sso') && hasLeft()) return kept(await api.POST('/v1/console/session/sso', { body: {} }));
    const link = linkOnce('link');
    if (link === undefined) return kept(await api.GET('/v1/console/session'));
    return kept(await api.POST('/v1/console/session/link', { body: { link } }));
  },
  staleTime: Number.POSITIVE_INFINITY,
});

export const useSessionQuery = () => useQuery(sessionOptions);

/** Signs the account's first member in. The key is sent once and kept nowhere. */
export const signInByKey = async (key: string, body: Schemas['SignInByKey']) =>
  kept(await api.POST('/v1/console/session/key', { body, headers: { authorization: `Bearer ${key}` } }));

/** Opens the console to the registration of another passkey. */
export const recover = async (body: Schemas['RecoverByCode']) =>
  kept(await api.POST('/v1/console/session/recover', { body }));

const LEFT = 'behest-left-for-provider';

/** Whether this tab itself left for a provider. Otherwise somebody else's link would sign this browser in to their account. */
function hasLeft(): boolean {
  const left = sessionStorage.getItem(LEFT);
  sessionStorage.removeItem(LEFT);
  return left !== null;
}

/** Leaves for the identity provider of an organisation. @param named its domain, an address in it, or the id of the account */
export function goToProvider(named: string): void {
  const domain = named.slice(named.lastIndexOf('@') + 1);
  const query = new URLSearchParams(named.startsWith('dev_') ? { org: named } : { domain });
  sessionStorage.setItem(LEFT, 'yes');
  location.assign(`/v1/console/session/sso?${query}`);
}

export async function signOut(): Promise<void> {
  await api.DELETE('/v1/console/session');
  keepCsrfToken(undefined);
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** The session of the page. Below the shell there always is one. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error('This part stands outside the shell.');
  return session;
}
