import type { Clock } from '../../../platform/clock.ts';
import { newId } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Client } from './oauth.client.service.ts';
import { keepPushed, SIGN_IN_SECONDS } from './oauth.push.service.ts';
import type { AuthorizationForm } from './oauth.schema.ts';

interface KeepDeps {
  readonly store: EphemeralStore;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
}

interface Asking {
  readonly form: AuthorizationForm;
  /** When the browser came first. */
  readonly askedAt: Date;
  /** The id for which the person has shown their passkey, and the principal of that passkey. */
  readonly requestId: string | undefined;
  readonly byPasskey?: string;
}

/**
 * The person shows a passkey on the page `/sign-in`, without saying a name. Each request asks for it, so the sign-in is
 * never older than the request.
 */
export async function personByPasskey(
  deps: KeepDeps,
  client: Client,
  { byPasskey, form, askedAt, requestId }: Asking,
  authenticatedSince: Date | undefined,
) {
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
