export { AuditChainVerification, AuditEntry, chainedMembers } from './audit.schema.ts';
export { digestErasure, eraseEntries } from './erase.ts';
export { getEntry, toEntry, toLink } from './read.ts';
export {
  announce,
  announceToAll,
  type Chained,
  openChain,
  prepareActs,
  prepareActsInTurns,
  prepareAnnouncement,
  prepareEntry,
  prepareRuling,
  recordActs,
  recordBlockedAttempt,
  recordEntry,
} from './record.ts';
export { beginCheck, chainCompared } from './verify.ts';
