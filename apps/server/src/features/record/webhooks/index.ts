export { type MakeSet, messageUrlRules, type OnEndpointGone, setMade, streamGone } from './endpoints.ts';
export {
  addSet,
  changeQueue,
  closeQueue,
  countSets,
  emptyQueue,
  hasSets,
  openQueue,
  prepareQueues,
  type Queue,
  settleSets,
  takeSets,
  thinQueue,
} from './queues.ts';
export { type WebhookSeals, webhookSeals } from './secrets.ts';
