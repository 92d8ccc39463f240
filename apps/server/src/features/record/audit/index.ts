export { AuditEntry, ChainVerdict } from './audit.schema.ts';
export { toEntry } from './audit.ts';
export { beginCheck } from './check.ts';
export { digestErasure, eraseEntries } from './erase.ts';
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
} from './record.ts';
