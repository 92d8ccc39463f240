export { beginCheck } from './audit.check.service.ts';
export { digestErasure, eraseEntries } from './audit.erase.service.ts';
export {
  announce,
  announceToAll,
  openChain,
  prepareActs,
  prepareActsInTurns,
  prepareRuling,
  recordActs,
  recordBlockedAttempt,
  recordEntry,
} from './audit.record.service.ts';
export { AuditEntry, ChainVerdict } from './audit.schema.ts';
export { toEntry } from './audit.service.ts';
