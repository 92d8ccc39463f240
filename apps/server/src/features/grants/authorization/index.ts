export { admit, mustHaveRoomFor } from './admit.ts';
export {
  acceptBudget,
  acceptTokenScopes,
  boundedSeconds,
  MAX_WRONG_VERIFIERS,
  mustBeWithin,
  redirectTo,
  statusAt,
  storedBudget,
} from './authorization.rules.ts';
export type { NewRequest } from './authorization.schema.ts';
export { authorizationParts } from './authorization.settings.ts';
export { requestConsent } from './authorization.ts';
export { type AskingClient, clientOfRequest } from './clients.ts';
export {
  approveRequest,
  denyRequest,
  gone,
  mustBeNarrower,
} from './decide.ts';
export { type AuthorizationDeps, type SignOnRules, signOnRules } from './deps.ts';
export { findByCode, findTicket, LATE_SECONDS, sessionKey, shownKey } from './in-flight.ts';
export { pinsFor, type ShownManifest } from './pins.ts';
export { freeRequests } from './places.ts';
export { recordingScopes } from './refused.ts';
export { cancelRequests, countWrongVerifierOf, getRequest } from './requests.ts';
export { budgetOf } from './show.ts';
