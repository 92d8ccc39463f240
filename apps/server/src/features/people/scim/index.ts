export { type OnUserLeft, userLeft } from './scim.hooks.ts';
export { lockPeople } from './scim.people.service.ts';
export { provisionPerson } from './scim.provision.service.ts';
export { disablePerson, type Ended, enablePerson, endForPerson } from './scim.signals.service.ts';
export { createToken } from './scim.tokens.service.ts';
