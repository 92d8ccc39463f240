export {
  announce,
  announceToAll,
  openChain,
  prepareActs,
  prepareActsInTurns,
  recordActs,
  recordBlockedAttempt,
  recordEntry,
} from './audit.record.service.ts';
