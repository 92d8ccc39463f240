export { type Asserted, identityOf, isSharedIssuer } from './sso.assertion.rules.ts';
export {
  type ConnectionRow,
  connectionsOfIssuer,
  findActiveOidc,
  findAsserted,
  hasVerifiedDomain,
  isSignedByProvider,
  type MeantPerson,
  settleAsserted,
} from './sso.assertion.service.ts';
export { claimAt, groupsOfClaims, isCalledUnverified } from './sso.claims.rules.ts';
export { addConnection, changeConnection } from './sso.connections.service.ts';
export { cookieNames, readSessionCookie } from './sso.cookies.service.ts';
export type { SsoDeps } from './sso.deps.service.ts';
export { mustAllowScopes, ssoRequired } from './sso.enforce.service.ts';
export {
  connectionActivated,
  enforcementBegan,
  issuerChanged,
  type OnActivated,
  type OnEnforced,
} from './sso.hooks.ts';
export { keysFor } from './sso.keyset.service.ts';
export { readSamlMetadata, type SamlProvider } from './sso.metadata.rules.ts';
export { ssoDepsOf } from './sso.open.service.ts';
export { mappedScopes } from './sso.rules.ts';
export { membersOf } from './sso.secrets.service.ts';
export { ssoEgress, ssoSettings } from './sso.settings.ts';
export { endNamedSessions } from './sso.signals.service.ts';
export { testConnection } from './sso.trial.service.ts';
