export { faultsOfCedar } from './cedar.ts';
export {
  type DecideDeps,
  decideCall,
  type PolicyDecision,
  refuseDenied,
} from './decide.ts';
export { listPolicies } from './manage.ts';
export { overlaps } from './match.rules.ts';
export { cedarInService, decisionPoint } from './outside.ts';
export { type PolicyExplanation, PolicyRecord } from './policies.schema.ts';
