export { endSessionsOfPrincipals } from './session.ts';
