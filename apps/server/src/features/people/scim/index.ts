export { admitPrincipal, disablePerson, enablePerson, offboardPrincipal } from './disable.ts';
export {
  endForPerson,
  type OffboardDeps,
  type Offboarded,
  offboardDeps,
} from './offboard.ts';
export {
  type OnPrincipalClosed,
  type OnUserLeft,
  type PrincipalRights,
  principalClosed,
  principalRights,
  userLeft,
} from './scim.hooks.ts';
export { lockPeople } from './scim.repo.ts';
export { createToken } from './tokens.ts';
export { provisionPerson } from './users.ts';
