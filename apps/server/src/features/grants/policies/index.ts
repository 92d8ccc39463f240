export { faultsOfCedar } from './policies.cedar.service.ts';
export {
  type DecideDeps,
  decideCall,
  type PolicyDecision,
  refuseDenied,
} from './policies.decide.service.ts';
export { outsidePoint } from './policies.outside.service.ts';
export { type Explanation, PolicyRecord } from './policies.schema.ts';
export { listPolicies } from './policies.service.ts';
export { policySettings } from './policies.settings.ts';
