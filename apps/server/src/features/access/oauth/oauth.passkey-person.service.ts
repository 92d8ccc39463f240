import type { Clock } from '../../../platform/clock.ts';
import { newId } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Client } from './oauth.client.service.ts';
import type { Named, Naming } from './oauth.person.service.ts';
import { keepPushed, SIGN_IN_SECONDS } from './oauth.push.service.ts';

interface KeepDeps {
  readonly store: EphemeralStore;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
}

/**
 * The person shows a passkey on the page `/sign-in`, without saying a name. Each request asks for it, so the sign-in is
 * never older than the request.
 */
export async function personByPasskey(
  deps: KeepDeps,
  client: Client,
  { byPasskey, form, askedAt, requestId }: Naming,
  authenticatedSince: Date | undefined,
): Promise<Named> {
  if (byPasskey !== undefined && requestId !== undefined) {
    return { principalId: byPasskey, isProven: true, requestId, authenticatedSince };
  }
  const requestUri = await keepPushed(deps, client, form, {
    seconds: SIGN_IN_SECONDS,
    isSignedIn: false,
    requestId: newId('areq', deps.clock()),
    askedAt: askedAt.toISOString(),
  });
  const page = new URLSearchParams({ client_id: client.clientId, request_uri: requestUri });
  return { signInAt: `${deps.publicBaseUrl}/sign-in?${page}` };
}
