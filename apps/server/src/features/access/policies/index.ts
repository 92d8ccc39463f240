export { type DecideDeps, type PolicyDecision, refuseDenied } from './policies.decide.service.ts';
export { outsidePoint } from './policies.outside.service.ts';
export { policySettings } from './policies.settings.ts';
