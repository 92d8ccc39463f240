import type { Egress, EgressAnswer, OutgoingRequest } from '../../../platform/egress/egress.ts';
import { acceptUrl } from '../../../platform/egress/urls.ts';
import { AppError } from '../../../platform/errors.ts';
import { objectIn } from '../../vault/providers/index.ts';
import { metadataUrl } from './signals.rules.ts';

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
export function endpointIn(
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
