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
export { type MakeSet, type OnEndpointGone, setMade, streamGone } from './webhooks.hooks.ts';
export { messageUrlRules } from './webhooks.settings.ts';
