export { endSessionsOfPrincipals } from './principals.session.service.ts';
