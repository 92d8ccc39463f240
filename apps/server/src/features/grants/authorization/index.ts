export { admit, mustHaveRoomFor, recordingScopes } from './admit.ts';
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
export type { AuthorizationInput } from './authorization.schema.ts';
export {
  approveRequest,
  denyRequest,
  gone,
  mustBeNarrower,
  pinsFor,
  type ShownManifest,
} from './decide.ts';
export { type AuthorizationDeps, authorizationParts } from './deps.ts';
export { findByCode, findTicket, freeRequests, LATE_SECONDS, sessionKey, shownKey } from './in-flight.ts';
export { budgetOf, cancelRequests, countWrongVerifierOf, getRequest } from './manage.ts';
export { clientOfRequest, type RequestingClient, requestConsent } from './request.ts';
