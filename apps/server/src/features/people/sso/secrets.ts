import type { Tenant } from '../../../platform/caller.ts';
import { currentKey, newEnvelope, openEnvelope } from '../../../platform/envelope.ts';
import type { SsoDeps } from './deps.ts';
import type { ConnectionRow } from './sso.repo.ts';
import { type SsoMembers, secretGoesTo } from './sso.rules.ts';
import type { SsoConnectionChange } from './sso.schema.ts';

/** The stored members. */
export const membersOf = ({ settings }: Pick<ConnectionRow, 'settings'>): SsoMembers => Object(settings); // stored by this service

/** The clientSecret or bind password. It is required where the protocol has one. */
export const secretIn = ({ clientSecret, ldapBindPassword }: SsoConnectionChange) =>
  clientSecret ?? ldapBindPassword;

/** The member that holds the secret of each protocol. */
export const SECRET_NAMES = { oidc: 'clientSecret', ldap: 'ldapBindPassword', saml: undefined } as const;

interface Sealing {
  readonly id: string;
  readonly members: SsoMembers;
  readonly secret: string | undefined;
}

/** @throws NOT_CONFIGURED */
export function sealed(
  { vault }: Pick<SsoDeps, 'vault'>,
  { developerId }: Tenant,
  { id, members, secret }: Sealing,
) {
  if (secret === undefined) return {};
  const envelope = newEnvelope(currentKey(vault), [developerId, id, secretGoesTo(members)]);
  const { dataKey, keyId } = envelope;
  return { dataKey, keyId, secret: envelope.seal('secret', secret) };
}

/** Opens the client secret or bind password. @throws an error when the row or its key is another */
export function openSecret({ vault }: Pick<SsoDeps, 'vault'>, row: ConnectionRow): string {
  const { developerId, id, dataKey, secret } = row;
  const envelope = openEnvelope(vault, dataKey ?? '', [developerId, id, secretGoesTo(membersOf(row))]);
  const opened = secret === null ? undefined : envelope?.open('secret', secret);
  if (opened === undefined) throw new Error(`The secret of connection ${id} does not open.`);
  return opened;
}
