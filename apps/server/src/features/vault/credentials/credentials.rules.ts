import { badField } from '../../../platform/errors.ts';
import type { NewVaultCredential } from './credentials.schema.ts';

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
