export { checkpointsOfChains } from './audit.jobs.ts';
export {
  announce,
  announceToAll,
  openChain,
  record,
  recordBlocked,
  recordsInTurns,
  recordsOf,
  watchedTallies,
} from './audit.record.service.ts';
export { auditRoutes } from './audit.routes.ts';
