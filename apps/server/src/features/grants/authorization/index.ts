export { admit, mustHaveRoomFor } from './authorization.admit.service.ts';
export { type AskingClient, clientOfRequest } from './authorization.clients.service.ts';
export {
  approveRequest,
  denyRequest,
  gone,
  mustBeNarrower,
} from './authorization.decide.service.ts';
export type { AuthorizationDeps } from './authorization.deps.service.ts';
export { pinsFor, type ShownManifest } from './authorization.pins.service.ts';
export { freeRequests } from './authorization.places.service.ts';
export { recordingScopes } from './authorization.refused.service.ts';
export { cancelRequests, countWrongVerifierOf, getRequest } from './authorization.requests.service.ts';
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
export { requestConsent } from './authorization.service.ts';
export { authorizationDeps, authorizationSettings } from './authorization.settings.ts';
export { budgetOf } from './authorization.show.service.ts';
export { findByCode, findTicket, LATE_SECONDS, sessionKey, shownKey } from './in-flight.service.ts';
