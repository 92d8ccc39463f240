export { readTokenAnswer } from './credentials.answers.rules.ts';
export { mustBeConnected, noteRefusedByUpstream, notStored } from './credentials.connected.service.ts';
export type { FrozenClient } from './credentials.connection.rules.ts';
export { findReplaced, listConnections, storeConnection } from './credentials.connection.service.ts';
export { deleteCredentialsOfPrincipal } from './credentials.delete.service.ts';
export type { CredentialDeps, Unrevoked } from './credentials.deps.service.ts';
export { disconnect, revokeTokens } from './credentials.disconnect.service.ts';
export { matchingScope } from './credentials.exchange.rules.ts';
export {
  findStoredCredential,
  type LendDeps,
  type Lent,
  lend,
  lendRefreshed,
  mayRefresh,
  type StoredRow,
} from './credentials.lend.service.ts';
export { isForProxyOnly, storedProxy } from './credentials.proxy.rules.ts';
export { rates } from './credentials.rates.ts';
export { openingDeps, openingSettings } from './credentials.settings.ts';
export { type NewTokens, valueAt } from './credentials.tokens.rules.ts';
