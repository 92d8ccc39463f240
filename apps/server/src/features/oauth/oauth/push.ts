import type { Clock } from '../../../platform/clock.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { isFirstUse } from '../../grants/tokens/index.ts';
import type { Client } from './client.ts';
import type { AuthorizationForm } from './oauth.schema.ts';

const PREFIX = 'urn:ietf:params:oauth:request_uri:';
export const PUSHED_SECONDS = 90;
/** The time that a person has to sign in. */
export const SIGN_IN_SECONDS = 600;
/** No request is kept for longer. */
const LONGEST_SECONDS = 600;

interface Pushed {
  readonly clientId: string;
  readonly form: AuthorizationForm;
  /** Whether the service itself keeps it while its person signs in. */
  readonly isSignedIn: boolean;
  /** The id that the request will have, where its person signs in for it before it is made. */
  readonly requestId?: string;
  /** When the person came first, in ISO 8601, where the service itself keeps it. */
  readonly askedAt?: string;
  /** In ISO 8601. The store may keep it for longer. */
  readonly expiresAt: string;
}

interface StoreDeps {
  readonly store: EphemeralStore;
  readonly clock: Clock;
}

const pushedKey = (secret: string) => `bh:{pushed:${hashOf(secret).toString('base64url')}}`;

/** Keeps a pushed request. The store has the hash of its name, so that no reader of the store can use it. */
export async function keepPushed(
  { store, clock }: StoreDeps,
  { clientId }: Pick<Client, 'clientId'>,
  form: AuthorizationForm,
  { seconds, ...kept }: Pick<Pushed, 'isSignedIn' | 'requestId' | 'askedAt'> & { readonly seconds: number },
): Promise<string> {
  const secret = newSecret();
  const expiresAt = new Date(clock().getTime() + seconds * 1000).toISOString();
  const pushed: Pushed = { clientId, form, ...kept, expiresAt };
  await store.put([{ key: pushedKey(secret), value: JSON.stringify(pushed), seconds }]);
  return `${PREFIX}${secret}`;
}

const notThere = () =>
  oauthRefusal('invalid_request', 'The pushed request is not there; go back and start again.');

const secretIn = (requestUri: string) =>
  requestUri.startsWith(PREFIX) ? requestUri.slice(PREFIX.length) : '';

/** Reads a pushed request, which stays. @throws invalid_request as `takePushed` */
export async function getPushed(
  { store, clock }: StoreDeps,
  { clientId }: Pick<Client, 'clientId'>,
  requestUri: string,
): Promise<Pushed> {
  const secret = secretIn(requestUri);
  const found = secret === '' ? undefined : await store.get(pushedKey(secret));
  const pushed: Pushed | undefined = found === undefined ? undefined : JSON.parse(found);
  const isOwn = pushed?.clientId === clientId && new Date(pushed.expiresAt) > clock();
  if (!pushed || !isOwn) throw notThere();
  return pushed;
}

/** Takes a pushed request, once. @throws invalid_request for an unknown, used or foreign one alike */
export async function takePushed(
  deps: StoreDeps,
  client: Pick<Client, 'clientId'>,
  requestUri: string,
): Promise<Pushed> {
  const pushed = await getPushed(deps, client, requestUri);
  const secret = secretIn(requestUri);
  if (!(await isFirstUse(deps.store, 'pushed', secret, LONGEST_SECONDS))) throw notThere();
  await deps.store.remove(pushedKey(secret));
  return pushed;
}
