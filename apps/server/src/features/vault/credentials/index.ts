export { readTokenAnswer } from './answers.rules.ts';
export { mustBeConnected, noteRefusedByUpstream, notStored } from './connected.ts';
export type { FrozenClient } from './connection.rules.ts';
export { findReplaced, listConnections, storeConnection } from './connection.ts';
export { rates } from './credentials.rates.ts';
export { vaultParts } from './credentials.settings.ts';
export { deleteCredentialsOfPrincipal } from './delete.ts';
export type { CredentialDeps, Unrevoked } from './deps.ts';
export { disconnect, revokeTokens } from './disconnect.ts';
export { matchingScope } from './exchange.rules.ts';
export {
  findStoredCredential,
  type LendDeps,
  type Lent,
  lend,
  lendRefreshed,
  mayRefresh,
  type StoredRow,
} from './lend.ts';
export { isForProxyOnly, storedProxy } from './proxy.rules.ts';
export { type NewTokens, valueAt } from './tokens.rules.ts';
