import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { hashOf, isSameText, newId, newSecret } from '../../../platform/ids.ts';
import { statedMembers } from './described.ts';
import { acceptMetadata } from './metadata-form.ts';
import {
  type DynamicClientRow,
  deleteDynamicClient,
  findDynamicClientAcrossTenants,
  insertDynamicClient,
  updateDynamicClient,
} from './registration.repo.ts';
import type { ClientMetadata, RegisteredClient } from './registration.schema.ts';

export interface RegistrationDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
}

const UNUSED_SECONDS = 86_400;

/**
 * Registers a client that nobody knows. It gets nothing by that: a person approves it at one developer at a time.
 * @see RFC 7591 §3
 * @throws invalid_redirect_uri, invalid_client_metadata
 */
export async function registerClient(
  deps: RegistrationDeps,
  metadata: ClientMetadata,
): Promise<RegisteredClient> {
  const accepted = acceptMetadata(statedMembers(metadata));
  const at = deps.clock();
  const managementToken = newSecret();
  const secret = accepted.needsSecret ? `bhs_${newSecret()}` : undefined;
  const row = await insertDynamicClient(deps.db, {
    ...accepted.columns,
    clientId: newId('dcr', at),
    secretHash: secret === undefined ? null : hashOf(secret),
    managementHash: hashOf(managementToken),
    createdAt: at,
    expiresAt: new Date(at.getTime() + UNUSED_SECONDS * 1000),
  });
  return { ...shown(deps, { row, managementToken }), ...secretOf(secret) };
}

/** @see RFC 7592 §2.1 @throws invalid_client */
export async function readRegistration(
  deps: RegistrationDeps,
  clientId: string,
  authorization: string | undefined,
): Promise<RegisteredClient> {
  return shown(deps, await managedClient(deps, clientId, authorization));
}

/**
 * Replaces the metadata. A client that goes on having a secret keeps it.
 * @see RFC 7592 §2.2
 * @throws invalid_client, invalid_redirect_uri, invalid_client_metadata
 */
export async function replaceRegistration(
  deps: RegistrationDeps,
  clientId: string,
  { authorization, metadata }: { authorization: string | undefined; metadata: ClientMetadata },
): Promise<RegisteredClient> {
  const { row: before, managementToken } = await managedClient(deps, clientId, authorization);
  const stated = statedMembers(metadata);
  mustBeOfClient(before, stated);
  const accepted = acceptMetadata(stated);
  const isNew = accepted.needsSecret && before.secretHash === null;
  const secret = isNew ? `bhs_${newSecret()}` : undefined;
  const kept = accepted.needsSecret ? before.secretHash : null;
  const row = await updateDynamicClient(deps.db, clientId, {
    ...accepted.columns,
    secretHash: secret === undefined ? kept : hashOf(secret),
  });
  if (!row) throw unknown();
  return { ...shown(deps, { row, managementToken }), ...secretOf(secret) };
}

/** Its agents and their grants stay, and it cannot refresh them. @see RFC 7592 §2.3 @throws invalid_client */
export async function removeRegistration(
  deps: RegistrationDeps,
  clientId: string,
  authorization: string | undefined,
): Promise<void> {
  await managedClient(deps, clientId, authorization);
  await deleteDynamicClient(deps.db, clientId);
}

const unknown = () => oauthRefusal('invalid_client', 'The registration is not there, or its token is wrong.');

/** A registration, and the token by which its client manages it. The service keeps a hash of the token alone. */
interface Managed {
  readonly row: DynamicClientRow;
  readonly managementToken: string;
}

async function managedClient(
  { db, clock }: RegistrationDeps,
  clientId: string,
  authorization: string | undefined,
): Promise<Managed> {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  const row = await findDynamicClientAcrossTenants(db, clientId, clock());
  const expected = row?.managementHash.toString('base64url') ?? '';
  if (!row || !isSameText(expected, hashOf(token).toString('base64url'))) throw unknown();
  return { row, managementToken: token };
}

/**
 * A replacement that names another client, or another secret, was meant for another registration.
 * @see RFC 7592 §2.2
 * @throws invalid_client_metadata
 */
function mustBeOfClient(
  { clientId, secretHash }: DynamicClientRow,
  { client_id, client_secret }: ClientMetadata,
): void {
  const refuse = (message: string) => oauthRefusal('invalid_client_metadata', message);
  if (client_id !== clientId) throw refuse('`client_id` has to be that of the registration.');
  if (client_secret === undefined) return;
  const expected = secretHash?.toString('base64url');
  const sent = typeof client_secret === 'string' ? hashOf(client_secret).toString('base64url') : '';
  if (expected === undefined || !isSameText(expected, sent)) {
    throw refuse('`client_secret` is not that of the client; leave it out to keep the secret.');
  }
}

/** A secret has no end of its own: it ends with the registration. */
const secretOf = (secret: string | undefined) =>
  secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 };

/** @see RFC 7592 §3 */
function shown({ publicBaseUrl }: RegistrationDeps, { row, managementToken }: Managed): RegisteredClient {
  return {
    ...Object(row.description),
    client_id: row.clientId,
    client_id_issued_at: Math.floor(row.createdAt.getTime() / 1000),
    registration_client_uri: `${publicBaseUrl}/oauth/register/${row.clientId}`,
    registration_access_token: managementToken,
  };
}
