export { type CallGate, callGate } from './enforcement.gate.service.ts';
export { settings as meterSettings } from './enforcement.settings.ts';
