export { type CallGate, callGate } from './enforcement.gate.service.ts';
