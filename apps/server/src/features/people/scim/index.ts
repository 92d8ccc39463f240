export { disablePerson, enablePerson } from './disable.ts';
export {
  endForPerson,
  type OffboardDeps,
  type Offboarded,
  offboardDeps,
  offboardPrincipal,
} from './offboard.ts';
export { type OnUserLeft, type PrincipalRights, principalRights, userLeft } from './scim.hooks.ts';
export { lockPeople } from './scim.repo.ts';
export { createToken } from './tokens.ts';
export { provisionPerson } from './users.ts';
