import { createHmac } from 'node:crypto';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { isSameText, newSecret } from '../../../platform/ids.ts';
import { seal, unseal } from '../../../platform/seal.ts';
import { unproved } from '../../grants/consent/index.ts';
import {
  asClient,
  foundOf,
  getProviderRow,
  objectIn,
  openClient,
  type ProviderRow,
  settingsOf,
} from '../providers/index.ts';
import { gone } from './ask.ts';
import { type PageHold, stateHash, stateKey } from './browser.ts';
import { startSession } from './connections.repo.ts';
import { challengeOf, scopesLeft, withQuery } from './connections.rules.ts';
import type { ConnectStart } from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';
import { pageOf, rememberStart, verificationFor } from './held.ts';

export const STATE_KEY_USE = 'behest/connect-state/v1';

/** The facts of one authorization request that is in flight between a browser and an upstream. */
export interface InFlight {
  readonly developerId: string;
  readonly sessionId: string;
  readonly providerId: string;
  readonly scopes: readonly string[];
  readonly verifier: string;
  readonly nonce: string;
  readonly issuer: string | null;
  readonly namesIssuer: boolean;
}

const STATE_SECONDS = 600;

/**
 * Sends the proved person to the upstream.
 * @throws PRINCIPAL_VERIFICATION_REQUIRED, FIDO_REQUIRED, SSO_REQUIRED, INVALID_SCOPE, GONE, UPSTREAM_ERROR
 */
export async function startDance(
  deps: ConnectDeps,
  caller: Caller,
  hold: PageHold,
  input: ConnectStart,
): Promise<{ redirectTo: string }> {
  const held = await pageOf(deps, hold);
  const { row } = held;
  const verified = await verificationFor(deps, held, deps.clock());
  const { satisfied, mode } = verified.verification;
  if (!satisfied) throw unproved(deps.publicBaseUrl, verified);
  const tenant = { developerId: row.developerId };
  const provider = await getProviderRow(deps.db, tenant, row.providerId);
  if (provider?.status !== 'active') throw gone('cancelled');
  const scopes = scopesLeft(row.scopes, input.scopes, settingsOf(provider).scopes.required);
  const state = newState(deps);
  const found = foundOf(provider);
  const flight: InFlight = {
    ...tenant,
    sessionId: row.id,
    providerId: provider.id,
    scopes,
    verifier: newSecret(),
    nonce: newSecret(),
    issuer: found.issuer,
    namesIssuer: found.namesIssuer,
  };
  const redirectTo = await authorizationUrl(deps, provider, { ...flight, state });
  await keepFlight(deps, state, flight);
  await rememberStart(deps, held, stateHash(state));
  const started = await inTransaction(deps.db, (tx) => startSession(tx, caller.tenant, row.id, mode));
  if (!started) throw gone('failed');
  return { redirectTo };
}

/** A random text and a part of its HMAC, so that no look-up is made for a text that the service never sent. */
function newState({ keyRing }: Pick<ConnectDeps, 'keyRing'>): string {
  const random = newSecret();
  return `${random}.${macOf(keyRing, random)}`;
}

const MAC_BYTES = 16;

function macOf(keyRing: ConnectDeps['keyRing'], random: string): string {
  const mac = createHmac('sha256', keyRing.derive(STATE_KEY_USE).current).update(random).digest();
  return mac.subarray(0, MAC_BYTES).toString('base64url');
}

export function isOwnState({ keyRing }: Pick<ConnectDeps, 'keyRing'>, state: string): boolean {
  const [random = '', mac = ''] = state.split('.');
  return isSameText(mac, macOf(keyRing, random));
}

/** Keeps the request sealed: who reads the store learns neither verifier nor nonce. */
async function keepFlight({ store, keyRing }: ConnectDeps, state: string, flight: InFlight): Promise<void> {
  const sealed = seal(keyRing.derive(STATE_KEY_USE), JSON.stringify(flight), Buffer.from(state));
  await store.put([{ key: stateKey(state), value: sealed.toString('base64url'), seconds: STATE_SECONDS }]);
}

/** @returns undefined for a request that is over, and for one that was moved to another state */
export async function findFlight(
  { store, keyRing }: ConnectDeps,
  state: string,
): Promise<InFlight | undefined> {
  const found = await store.get(stateKey(state));
  const keys = keyRing.derive(STATE_KEY_USE);
  const text = found && unseal(keys, Buffer.from(found, 'base64url'), Buffer.from(state));
  return text === undefined || text === '' ? undefined : JSON.parse(text);
}

export const callbackUrl = ({ publicBaseUrl }: Pick<ConnectDeps, 'publicBaseUrl'>, providerId: string) =>
  `${publicBaseUrl}/connect/callback/${providerId}`;

/** RFC 6749, section 4.1.1, or RFC 9126 where the upstream demands that. @throws UPSTREAM_ERROR */
async function authorizationUrl(
  deps: ConnectDeps,
  provider: ProviderRow,
  { scopes, state, verifier, nonce }: InFlight & { readonly state: string },
): Promise<string> {
  const settings = settingsOf(provider);
  const found = foundOf(provider);
  const parameters = {
    ...settings.authorizeParams,
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: callbackUrl(deps, provider.id),
    ...(scopes.length > 0 && { scope: scopes.join(settings.scopeSeparator) }),
    state,
    ...(settings.pkce === 'required' && {
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
    }),
    ...(scopes.includes('openid') && { nonce }),
    ...(found.resource !== null && { resource: found.resource }),
  };
  if (!found.needsPar || found.parEndpoint === null) {
    return withQuery(found.authorizationEndpoint, parameters);
  }
  const client = openClient(deps.vault, provider);
  if (!client) throw new Error('The client of a provider does not open.');
  const audience = found.issuer ?? found.tokenEndpoint;
  const request = await asClient(client, new URLSearchParams(parameters), { audience, clock: deps.clock });
  const answer = await deps.connected.ask({ url: found.parEndpoint, method: 'POST', ...request });
  const said = answer.failure === undefined ? objectIn(answer.body) : undefined;
  const requestUri = said?.request_uri;
  if (typeof requestUri !== 'string') {
    throw new AppError('UPSTREAM_ERROR', 'The upstream did not take the request.', {
      service: provider.service,
      reason: 'par',
    });
  }
  return withQuery(found.authorizationEndpoint, {
    client_id: provider.clientId,
    request_uri: requestUri,
  });
}
