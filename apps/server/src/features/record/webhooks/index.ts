export { type MakeSet, type OnEndpointGone, setMade, streamGone } from './webhooks.hooks.ts';
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
} from './webhooks.queues.service.ts';
export { type WebhookSeals, webhookSeals } from './webhooks.secrets.service.ts';
export { privateHosts } from './webhooks.settings.ts';
