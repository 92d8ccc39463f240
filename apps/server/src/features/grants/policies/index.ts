export { faultsOfCedar } from './cedar.ts';
export {
  type DecideDeps,
  decideCall,
  type PolicyDecision,
  refuseDenied,
} from './decide.ts';
export { outsidePoint } from './outside.ts';
export { type Explanation, PolicyRecord } from './policies.schema.ts';
export { policySettings } from './policies.settings.ts';
export { listPolicies } from './policies.ts';
