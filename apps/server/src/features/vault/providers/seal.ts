import type { Caller, Tenant } from '../../../platform/caller.ts';
import { currentKey, newEnvelope } from '../../../platform/envelope.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { sealedFor } from './client.ts';
import type { Found } from './found.rules.ts';
import type { ProviderSettings } from './providers.schema.ts';
import { type Registered, registerClient } from './registration.ts';
import { documentUrlOf, type ProviderDeps, redirectUriOf } from './show.ts';

interface Client {
  readonly id: string;
  readonly settings: ProviderSettings;
  readonly found: Found;
  readonly clientSecret: string | undefined;
}

export async function clientFor(
  deps: ProviderDeps,
  { tenant }: Caller,
  { id, settings, found, clientSecret }: Client,
): Promise<Registered> {
  return registerClient(deps.upstream, {
    settings,
    found,
    clientSecret,
    developerName: await findDeveloperName(deps.db, tenant),
    redirectUri: redirectUriOf(deps, id),
    documentUrl: documentUrlOf(deps, id),
  });
}

interface Sealing {
  readonly id: string;
  readonly found: Found;
  readonly client: Registered;
  readonly at: Date;
}

/** The client of an upstream, with its secrets sealed for the origin of the token endpoint. */
export function clientColumns({ vault }: ProviderDeps, tenant: Tenant, { id, found, client, at }: Sealing) {
  const { clientId, clientSource, authMethod, clientSecret, privateKey, registrationToken } = client;
  const hasSecret = [clientSecret, privateKey, registrationToken].some((secret) => secret !== undefined);
  const envelope = hasSecret
    ? newEnvelope(currentKey(vault), sealedFor(tenant, id, found.tokenEndpoint))
    : undefined;
  const seal = (field: string, text: string | undefined) =>
    text === undefined ? null : (envelope?.seal(field, text) ?? null);
  return {
    clientId,
    clientSource,
    authMethod,
    keyId: envelope?.keyId ?? null,
    dataKey: envelope?.dataKey ?? null,
    clientSecret: seal('client_secret', clientSecret),
    privateKey: seal('private_key', privateKey),
    registrationToken: seal('registration_token', registrationToken),
    clientExpiresAt: client.clientExpiresAt ?? null,
    registeredAt: clientSource === 'dcr' ? at : null,
  };
}
