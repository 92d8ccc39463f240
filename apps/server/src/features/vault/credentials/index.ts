export { readTokenAnswer } from './answers.rules.ts';
export type { FrozenClient } from './connection.rules.ts';
export {
  findReplaced,
  listConnections,
  mustBeConnected,
  noteRefusedByUpstream,
  notStored,
  storeConnection,
} from './connection.ts';
export { rates } from './credentials.rates.ts';
export { isForProxyOnly, matchingScope, storedProxy } from './credentials.rules.ts';
export { vaultParts } from './credentials.settings.ts';
export { deleteCredentialsOfPrincipal } from './delete.ts';
export type { CredentialDeps, Unrevoked } from './deps.ts';
export { credentialDisconnected, disconnect, revokeTokens } from './disconnect.ts';
export {
  findStoredCredential,
  type LendDeps,
  type Lent,
  lend,
  lendRefreshed,
  mayRefresh,
  type StoredRow,
} from './exchange.ts';
export { type NewTokens, valueAt } from './tokens.rules.ts';
