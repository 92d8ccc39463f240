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
