export { type DecideDeps, type PolicyDecision, refuseDenied } from './policies.decide.service.ts';
