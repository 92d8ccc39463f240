export {
  type DecisionDeps,
  decisionsAsked,
  type EnforcementDeps,
  enforceCall,
  enforcementParts,
  type OpenDecisions,
} from './enforce.ts';
export { EnforceRequest } from './enforcement.schema.ts';
export type { CallFacts } from './facts.ts';
export { findFacts, findGrantFacts, findStoredFacts, UNKNOWN_TOKEN } from './facts.ts';
export {
  type CallGate,
  callGate,
  callJudge,
  type FindCallFacts,
  type JudgeCall,
} from './judge.ts';
export { meterOfAgent } from './meter.ts';
export { isInexact, mayBeInexact, unreadable } from './numbers.rules.ts';
export { type ChargedCall, giveBack } from './usage.ts';
