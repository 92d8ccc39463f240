export {
  allServiceActions,
  isKnownEventPattern,
  isServiceAction,
  matchesEvent,
  patternsOf,
} from './events.catalogue.rules.ts';
export { retentionOfEvents } from './events.jobs.ts';
export { eventRoutes } from './events.routes.ts';
export { envelopeOf, talliesOf } from './events.rules.ts';
export type { Act, Announcement, Concerned } from './events.schema.ts';
