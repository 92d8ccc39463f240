export {
  type ConnectionRow,
  connectionsOfIssuer,
  findActiveOidc,
  findAsserted,
  hasVerifiedDomain,
  isSignedByProvider,
  type MeantPerson,
  settleAsserted,
} from './assertion.ts';
export {
  type Asserted,
  claimAt,
  groupsOfClaims,
  identityOf,
  isCalledUnverified,
  isSharedIssuer,
} from './claims.rules.ts';
export { addConnection, changeConnection } from './connections.ts';
export type { SsoDeps } from './deps.ts';
export { ssoParts } from './deps.ts';
export { mustAllowScopes, ssoRequired } from './enforce.ts';
export { keysFor } from './keyset.ts';
export { discoverConnection } from './login.ts';
export { cookieNames, readSessionCookie } from './logout.ts';
export { membersOf } from './secrets.ts';
export { endNamedSessions } from './sessions.ts';
export {
  connectionActivated,
  enforcementBegan,
  issuerChanged,
  type OnActivated,
  type OnEnforced,
} from './sso.hooks.ts';
export { loginPath, mappedScopes } from './sso.rules.ts';
export { identityProviders } from './sso.settings.ts';
export { readMetadata, testConnection } from './try.ts';
