export {
  announce,
  announceToAll,
  openChain,
  prepareActs,
  prepareActsInTurns,
  prepareRuling,
  recordActs,
  recordBlockedAttempt,
} from './audit.record.service.ts';
