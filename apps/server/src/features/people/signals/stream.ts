import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../platform/clock.ts';
import type { Egress, EgressAnswer, OutgoingRequest } from '../../../platform/egress/egress.ts';
import { acceptUrl } from '../../../platform/egress/urls.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { asClient, objectIn } from '../../vault/providers/index.ts';
import type { SourceRow } from './signals.repo.ts';
import { metadataUrl, WANTED_EVENTS } from './signals.rules.ts';
import type { StreamAuth } from './signals.schema.ts';

export interface StreamDeps {
  readonly upstream: Egress;
  readonly clock: Clock;
}

/** A stream that the service made at a transmitter, as its row keeps it. */
export interface Stream {
  readonly id: string;
  readonly configurationEndpoint: string;
  readonly verificationEndpoint: string | null;
  /** Null for a stream that is pushed. */
  readonly pollEndpoint: string | null;
}

export const streamOf = ({ stream }: Pick<SourceRow, 'stream'>): Stream | undefined =>
  stream === null ? undefined : (Object(stream) as Stream); // stored by `putSignals`

interface Token {
  readonly text: string;
  readonly until: number;
}
/** Access tokens of transmitters, by the credential for which this process got them. */
const tokens = new WeakMap<Egress, LRUCache<string, Token>>();
const MAX_TOKENS = 500;
const SPARE_SECONDS = 30;

/** The `Authorization` of a request to the transmitter. @throws DISCOVERY_FAILED */
async function authorizationBy(deps: StreamDeps, auth: StreamAuth): Promise<string> {
  if (auth.type === 'bearer') return `Bearer ${auth.token}`;
  const known = tokens.get(deps.upstream) ?? new LRUCache<string, Token>({ max: MAX_TOKENS });
  tokens.set(deps.upstream, known);
  const name = JSON.stringify(auth);
  const now = deps.clock().getTime();
  const kept = known.get(name);
  if (kept && kept.until > now) return `Bearer ${kept.text}`;
  const { tokenEndpoint, clientId, clientSecret, scope } = auth;
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
  });
  const client = { clientId, clientSecret, authMethod: 'client_secret_basic', privateKey: undefined };
  const request = await asClient(client, form, { audience: tokenEndpoint, clock: deps.clock });
  const answer = await asked(deps.upstream, 'token', { url: tokenEndpoint, method: 'POST', ...request });
  const { access_token: text, expires_in: seconds } = objectIn(answer.body) ?? {};
  if (answer.status !== 200) throw unusable('token', `http_${answer.status}`);
  if (typeof text !== 'string' || text === '') throw unusable('token', 'no_token');
  const lasts = typeof seconds === 'number' ? seconds - SPARE_SECONDS : 0;
  known.set(name, { text, until: now + lasts * 1000 });
  return `Bearer ${text}`;
}

/** Lets the next request ask for a new token. */
export const forgetToken = ({ upstream }: StreamDeps, auth: StreamAuth): void =>
  void tokens.get(upstream)?.delete(JSON.stringify(auth));

interface Wanted {
  readonly auth: StreamAuth;
  readonly delivery: 'push' | 'poll';
  readonly endpointUrl: string;
  readonly authorizationHeader: string;
}

const METHODS = { push: 'urn:ietf:rfc:8935', poll: 'urn:ietf:rfc:8936' };

/**
 * Makes a stream at a transmitter.
 * @throws BAD_REQUEST, DISCOVERY_FAILED
 * @see OpenID Shared Signals Framework 1.0, section 8.1.1.1
 */
export async function makeStream(
  deps: StreamDeps,
  found: Transmitter,
  { auth, delivery, endpointUrl, authorizationHeader }: Wanted,
): Promise<{ readonly stream: Stream; readonly audience: string | undefined }> {
  const { configurationEndpoint, verificationEndpoint = null } = found;
  if (configurationEndpoint === undefined) throw unusable('configuration_endpoint', 'unusable');
  if (auth.type === 'client_credentials' && !acceptUrl(auth.tokenEndpoint, deps.upstream.rules))
    throw badField('auth/tokenEndpoint', 'invalid');
  const method = METHODS[delivery];
  const pushed = { endpoint_url: endpointUrl, authorization_header: authorizationHeader };
  const answer = await asked(deps.upstream, 'stream', {
    ...{ url: configurationEndpoint, method: 'POST' },
    headers: await headersFor(deps, auth),
    body: JSON.stringify({
      events_requested: WANTED_EVENTS,
      delivery: { method, ...(delivery === 'push' && pushed) },
    }),
  });
  if (answer.status !== 201 && answer.status !== 200) throw unusable('stream', `http_${answer.status}`);
  const made = objectIn(answer.body) ?? {};
  const { stream_id: id, iss, aud, delivery: given } = made;
  if (typeof id !== 'string' || id === '') throw unusable('stream', 'no_id');
  const stream = { id, configurationEndpoint, verificationEndpoint, pollEndpoint: null };
  const delivered: Readonly<Record<string, unknown>> = Object(given);
  const pollEndpoint = endpointIn(deps.upstream, delivered, 'endpoint_url');
  const isAsWanted =
    iss === found.issuer &&
    delivered.method === method &&
    (delivery === 'push' || pollEndpoint !== undefined);
  if (!isAsWanted) {
    await dropStream(deps, stream, auth);
    throw unusable('stream', iss === found.issuer ? 'delivery' : 'issuer');
  }
  const [audience] = [aud].flat();
  return {
    stream: { ...stream, pollEndpoint: delivery === 'poll' && pollEndpoint ? pollEndpoint : null },
    audience: typeof audience === 'string' ? audience : undefined,
  };
}

/** Deletes a stream at its transmitter, as far as the transmitter lets the service. */
export async function dropStream(
  deps: StreamDeps,
  { id, configurationEndpoint }: Stream,
  auth: StreamAuth,
): Promise<void> {
  const url = new URL(configurationEndpoint);
  url.searchParams.set('stream_id', id);
  const headers = await headersFor(deps, auth).catch(() => undefined); // a transmitter that gives no token keeps its stream
  if (headers) await deps.upstream.send({ url: url.href, method: 'DELETE', headers });
}

export const headersFor = async (deps: StreamDeps, auth: StreamAuth) => ({
  accept: 'application/json',
  authorization: await authorizationBy(deps, auth),
  'content-type': 'application/json',
});

/** The facts that a transmitter publishes about itself, as far as the service uses them. */
export interface Transmitter {
  readonly issuer: string;
  readonly jwksUri: string;
  readonly configurationEndpoint: string | undefined;
  readonly verificationEndpoint: string | undefined;
}

export const unusable = (step: string, reason: string) =>
  new AppError('DISCOVERY_FAILED', 'The transmitter cannot be used as it describes itself.', {
    step,
    reason,
  });

/**
 * Reads the configuration of a transmitter.
 * @throws DISCOVERY_FAILED
 * @see OpenID Shared Signals Framework 1.0, section 7.1
 */
export async function findTransmitter(upstream: Egress, transmitter: string): Promise<Transmitter> {
  if (!acceptUrl(transmitter, upstream.rules)) throw unusable('transmitter', 'blocked_address');
  const url = metadataUrl(transmitter);
  const answer = await asked(upstream, 'fetch', {
    ...{ url, method: 'GET' },
    headers: { accept: 'application/json' },
  });
  const document = answer.status === 200 ? objectIn(answer.body) : undefined;
  if (!document) throw unusable('fetch', 'no_metadata');
  if (document.issuer !== transmitter) throw unusable('issuer', 'mismatch');
  const jwksUri = endpointIn(upstream, document, 'jwks_uri');
  if (jwksUri === undefined) throw unusable('jwks_uri', 'unusable');
  return {
    ...{ issuer: transmitter, jwksUri },
    configurationEndpoint: endpointIn(upstream, document, 'configuration_endpoint'),
    verificationEndpoint: endpointIn(upstream, document, 'verification_endpoint'),
  };
}

/** @returns undefined for a member that is no address which the service may call */
function endpointIn(
  { rules }: Egress,
  document: Readonly<Record<string, unknown>>,
  name: string,
): string | undefined {
  const url = document[name];
  return typeof url === 'string' && acceptUrl(url, rules) ? url : undefined;
}

/** @throws DISCOVERY_FAILED when there is no answer */
export async function asked(
  upstream: Egress,
  step: string,
  request: OutgoingRequest,
): Promise<EgressAnswer & { readonly failure?: undefined }> {
  const answer = await upstream.ask(request);
  if (answer.failure !== undefined) throw unusable(step, answer.failure);
  return answer;
}
