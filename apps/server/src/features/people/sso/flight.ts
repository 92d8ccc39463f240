import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, isSameText, newSecret } from '../../../platform/ids.ts';
import { type SealingKeys, seal, unseal } from '../../../platform/seal.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import type { SsoDeps } from './deps.ts';

/** One login between a browser and an identity provider. */
export interface Flight {
  readonly developerId: string;
  readonly connectionId: string;
  readonly version: number;
  /** Where the provider sends the browser: the service's callback, or one of the connection's addresses. */
  readonly redirectUri: string;
  /** Where the service sends the browser afterwards. Null without a browser of its own. */
  readonly returnTo: string | null;
  readonly isBrowser: boolean;
  readonly nonce: string;
  readonly verifier: string;
  /** The id of a SAML request. */
  readonly requestId: string;
  /** The longest time in seconds since the sign-in at the provider that counts. */
  readonly maxAgeSeconds?: number;
  /** The hash of the login's cookie. Null for a program, which binds the state itself. */
  readonly browserHash: string | null;
}

/** A request to a provider that begins a login. */
export interface LoginRequest {
  readonly flight: Flight;
  readonly state: string;
  readonly loginHint: string | undefined;
  /** Whether the provider has to identify the person again, also where it has a session. */
  readonly isAfresh: boolean;
  /** The languages that the person reads, as OpenID Connect writes them. */
  readonly uiLocales: string | undefined;
}

type Holding = Pick<SsoDeps, 'store' | 'stateKeys' | 'clock'>;

/** How long a login may take. */
export const LOGIN_SECONDS = 600;
const USED_SECONDS = 900;

const textHash = (text: string) => hashOf(text).toString('base64url');
const flightKey = (state: string) => `bh:{sso:${textHash(state)}}:state`;
const usedKey = (state: string) => `bh:{sso:${textHash(state)}}:used`;

/** Keeps the login sealed: who reads the store learns neither verifier nor nonce. */
export async function keepFlight(
  { store, stateKeys, clock }: Holding,
  state: string,
  flight: Flight,
): Promise<void> {
  const until = clock().getTime() + LOGIN_SECONDS * 1000;
  const value = seal(stateKeys, JSON.stringify({ flight, until }), Buffer.from(state)).toString('base64url');
  await store.put([{ key: flightKey(state), value, seconds: LOGIN_SECONDS }]);
}

/** Everything that is wrong with a state gets one sentence. */
export const badState = () =>
  new AppError(
    'BAD_REQUEST',
    'This login is unknown, over or used already, or of another browser. Begin again.',
    {
      fields: [{ path: 'state', problem: 'not_allowed' }],
    },
  );

/**
 * Looks at a login that goes on.
 * @throws BAD_REQUEST
 */
export async function findFlight(deps: Holding, state: string, secrets: readonly string[]): Promise<Flight> {
  const found = isOwnState(deps.stateKeys, state) ? await deps.store.get(flightKey(state)) : undefined;
  if (found === undefined) throw badState();
  return opened(deps, { state, found, secrets });
}

/**
 * Takes a login by its state, which works once, whatever comes of it. Another browser than the login's own uses nothing up.
 * @param secrets those of the browser's cookies
 * @throws BAD_REQUEST
 */
export async function takeFlight(deps: Holding, state: string, secrets: readonly string[]): Promise<Flight> {
  const flight = await findFlight(deps, state, secrets);
  const slot = { key: usedKey(state), owner: newSecret(), most: 1, seconds: USED_SECONDS };
  if (!(await deps.store.takeSlot(slot))) throw badState();
  await deps.store.remove(flightKey(state));
  return flight;
}

/** @throws BAD_REQUEST */
function opened(
  { stateKeys, clock }: Pick<Holding, 'stateKeys' | 'clock'>,
  { state, found, secrets }: { state: string; found: string; secrets: readonly string[] },
): Flight {
  const text = unseal(stateKeys, Buffer.from(found, 'base64url'), Buffer.from(state));
  if (text === undefined) throw badState();
  const { flight, until }: { flight: Flight; until: number } = JSON.parse(text);
  if (clock().getTime() >= until) throw badState();
  const { browserHash } = flight;
  const isOwn = (secret: string) => browserHash !== null && isSameText(browserHash, hashOfBrowser(secret));
  if (browserHash !== null && !secrets.some(isOwn)) throw badState();
  return flight;
}

/** The hash of a login's cookie. */
export const hashOfBrowser = (secret: string): string => textHash(secret);

export const newBrowser = () => {
  const secret = newSecret();
  return { secret, hash: hashOfBrowser(secret) };
};

export const STATE_KEY_USE = 'behest/sso-state/v1';

/** The keys of logins under way: from the operator's own secret, or else from the keys of the service. */
export function stateKeysOf({ derive }: Pick<KeyRing, 'derive'>, secret: string | undefined): SealingKeys {
  if (secret === undefined) return derive(STATE_KEY_USE);
  const current = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', STATE_KEY_USE, 32)));
  return { current, previous: [] };
}

const MAC_BYTES = 16;

/** A random text and a part of its HMAC, so that no look-up is made for a text that the service never sent. */
export function newState(keys: SealingKeys): string {
  const random = newSecret();
  return `${random}.${macOf(keys, random)}`;
}

function isOwnState(keys: SealingKeys, state: string): boolean {
  const [random = '', mac = '', ...more] = state.split('.');
  return more.length === 0 && isSameText(mac, macOf(keys, random));
}

const macOf = ({ current }: SealingKeys, random: string): string =>
  createHmac('sha256', current).update(random).digest().subarray(0, MAC_BYTES).toString('base64url');
