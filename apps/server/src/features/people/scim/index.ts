export { lockPeople } from './people.ts';
export { provisionPerson } from './provision.ts';
export { type OnUserLeft, userLeft } from './scim.hooks.ts';
export { disablePerson, type Ended, enablePerson, endForPerson } from './signals.ts';
export { createToken } from './tokens.ts';
