export {
  approveRequest,
  denyRequest,
  gone,
} from './authorization.decide.service.ts';
export { countOverdue } from './authorization.expire.service.ts';
export { expiryOfRequests } from './authorization.jobs.ts';
export { cancelRequestsOfAgent, noteWrongVerifier } from './authorization.requests.service.ts';
export { authorizationRoutes } from './authorization.routes.ts';
export {
  acceptScopes,
  boundedSeconds,
  MAX_WRONG_VERIFIERS,
  mustBeWithin,
  redirectTo,
  statusAt,
} from './authorization.rules.ts';
export { type AuthorizationDeps, agentInactive } from './authorization.service.ts';
export { findByCode, findTicket, LATE_SECONDS } from './in-flight.service.ts';
