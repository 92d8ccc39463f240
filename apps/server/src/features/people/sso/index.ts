export { mustBeSignedOn } from './sso.enforce.service.ts';
export { ssoEgress, ssoSettings } from './sso.settings.ts';
export { endNamedSessions } from './sso.signals.service.ts';
