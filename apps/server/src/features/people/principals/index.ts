export { rememberAddress } from './addresses.ts';
export { byStranger } from './principals.routes.ts';
export { CreatedPrincipalSession } from './principals.schema.ts';
export {
  type OwnSessionDeps,
  openOwnSession,
  ownPageEntries,
  type ShownPerson,
  sessionEnded,
} from './session.ts';
