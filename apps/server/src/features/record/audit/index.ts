export {
  announce,
  announceToAll,
  openChain,
  prepareActs,
  prepareActsInTurns,
  recordActs,
  recordBlockedAttempt,
} from './audit.record.service.ts';
