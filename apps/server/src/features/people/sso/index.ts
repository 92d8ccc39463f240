export { addConnection, changeConnection } from './sso.connections.service.ts';
export type { SsoDeps } from './sso.deps.service.ts';
export { mustBeSignedOn } from './sso.enforce.service.ts';
export { readSamlMetadata, type SamlProvider } from './sso.metadata.rules.ts';
export { ssoDepsOf } from './sso.open.service.ts';
export { ssoEgress, ssoSettings } from './sso.settings.ts';
export { endNamedSessions } from './sso.signals.service.ts';
export { testConnection } from './sso.trial.service.ts';
