export { ownPageEntries } from './session.ts';
