export { mustBeSignedOn } from './sso.enforce.service.ts';
