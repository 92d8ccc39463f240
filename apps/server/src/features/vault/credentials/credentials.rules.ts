import { LINEAGE_TYPE, storedEntries } from '@behest/protocol/caps-lineage';
import { faultOfRules } from '@behest/protocol/proxy-patterns';
import { badField } from '../../../platform/errors.ts';
import type { FrozenProfile, NewVaultCredential, StoredProxy } from './credentials.schema.ts';

const MAX_SECRET_BYTES = 16_384;
const MAX_METADATA_BYTES = 16_384;
const MAX_METADATA_DEPTH = 5;

/** Names that stand for something else in scopes such as `vault:credentials:exchange`. */
const RESERVED_SERVICES: ReadonlySet<string> = new Set(['vault', 'credentials', 'tool']);

const SECRET_NAMES: ReadonlySet<string> = new Set([
  'password',
  'secret',
  'token',
  'accesstoken',
  'refreshtoken',
  'clientsecret',
  'apikey',
  'privatekey',
]);

/** Checks what the shape cannot say. @throws BAD_REQUEST, which repeats no value */
export function mustBeStorable(credential: NewVaultCredential): void {
  const { service, accessToken, refreshToken, metadata, refresh } = credential;
  if (refresh && !refreshToken) {
    throw badField('refreshToken', 'required', 'A credential refreshes itself with its refresh token.');
  }
  if (refresh?.authMethod?.startsWith('client_secret') && refresh.clientSecret === undefined) {
    throw badField('refresh.clientSecret', 'required', 'This `authMethod` needs a client secret.');
  }
  if (RESERVED_SERVICES.has(service.toLowerCase())) {
    throw badField('service', 'not_allowed', 'The names `vault`, `credentials` and `tool` are reserved.');
  }
  if (Buffer.byteLength(accessToken) > MAX_SECRET_BYTES) throw badField('accessToken', 'too_long');
  if (Buffer.byteLength(refreshToken ?? '') > MAX_SECRET_BYTES) throw badField('refreshToken', 'too_long');
  if (Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA_BYTES) {
    throw badField('metadata', 'too_long');
  }
  mustHoldNoSecret(metadata, 'metadata', 1);
}

/** Agents read the metadata, and the service stores it in clear. */
function mustHoldNoSecret(value: object, path: string, depth: number): void {
  if (depth > MAX_METADATA_DEPTH) throw badField(path, 'too_long', 'The metadata is nested too deeply.');
  for (const [name, member] of Object.entries(value)) {
    const isName = !Array.isArray(value);
    if (isName && SECRET_NAMES.has(name.replaceAll(/[_-]/g, '').toLowerCase())) {
      const message = 'Metadata is stored in clear and shown to agents. Leave secrets out of it.';
      throw badField(`${path}.${name}`, 'not_allowed', message);
    }
    if (typeof member === 'object' && member !== null) mustHoldNoSecret(member, `${path}.${name}`, depth + 1);
  }
}

/** @throws BAD_REQUEST for rules that cannot be used */
export function mustBeProxyLimits({ proxy }: Pick<NewVaultCredential, 'proxy'>): void {
  const fault = faultOfRules(proxy?.rules ?? [], 'proxy.rules');
  if (fault) throw badField(fault.field, 'not_allowed', fault.message);
}

/** @returns null without limits and without a profile: then no profile of later sends the credential anywhere */
export function proxyColumn(
  limits: NewVaultCredential['proxy'],
  frozen: FrozenProfile | undefined,
): string | null {
  if (!limits && !frozen) return null;
  return JSON.stringify({ ...limits, frozen: frozen ?? { origins: [], exchange: 'allowed' } });
}

/** The column of a credential's limits. The service stored it in this form. */
export const storedProxy = ({ proxy }: { readonly proxy: unknown }): StoredProxy | null =>
  proxy === null ? null : (proxy as StoredProxy); // checked before it was stored

/** Whether no agent gets the credential by exchange, whatever the service's profile says now. */
export function isForProxyOnly(row: { readonly proxy: unknown }): boolean {
  const proxy = storedProxy(row);
  return proxy?.only === true || proxy?.frozen.exchange === 'proxy_only';
}

/**
 * The scope that allows a grant token to get the credential of a service. These literals do, byte for byte, and no
 * other scope that covers them.
 */
export function matchingScope(scopes: readonly string[], service: string): string | undefined {
  const allowing = [
    '*',
    `${service}:*`,
    `${service}:read`,
    `${service}:credentials:read`,
    `vault:${service}:*`,
    `vault:${service}:read`,
    'vault:credentials:exchange',
  ];
  return allowing.find((scope) => scopes.includes(scope));
}

/**
 * Whether the grant counts calls of the service's connector, or has rules for their arguments. The bare credential would
 * be the way round those. Names that differ in case alone count as one here, because the safe side is to refuse.
 * @param authorizationDetails as the grant's column has them
 */
export function limitsCallsOf(service: string, authorizationDetails: unknown): boolean {
  return storedEntries(authorizationDetails).some(
    (entry) =>
      entry.connector.toLowerCase() === service.toLowerCase() &&
      (entry.type === LINEAGE_TYPE || entry.caps !== undefined || entry.arguments !== undefined),
  );
}
