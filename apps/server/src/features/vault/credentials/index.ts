export type { FrozenClient } from './credentials.connection.rules.ts';
export { findReplaced, listConnections, storeConnection } from './credentials.connection.service.ts';
export type { CredentialDeps, Unrevoked } from './credentials.deps.service.ts';
export { disconnect, revokeTokens } from './credentials.disconnect.service.ts';
export { matchingScope } from './credentials.exchange.rules.ts';
export { type NewTokens, tokensIn, valueAt } from './credentials.refresh.rules.ts';
