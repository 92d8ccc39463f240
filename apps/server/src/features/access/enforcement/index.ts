export { type CallGate, callGate } from './enforcement.gate.service.ts';
export { type DecisionDeps, decisionsAsked, type OpenDecisions } from './enforcement.hooks.ts';
export { callJudge, type FindCallFacts, type JudgeCall } from './enforcement.judge.service.ts';
export { settings as meterSettings } from './enforcement.settings.ts';
