export {
  announce,
  announceToAll,
  openChain,
  record,
  recordBlocked,
  recordsInTurns,
  recordsOf,
} from './audit.record.service.ts';
