export { cookieNames, readSessionCookie } from './sso.cookies.service.ts';
export { mustAllowScopes, ssoRequired } from './sso.enforce.service.ts';
export { enforcementBegan, type OnEnforced } from './sso.hooks.ts';
