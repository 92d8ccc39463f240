export { countPending } from './webhooks.deliver.service.ts';
export { createDispatcher } from './webhooks.dispatch.service.ts';
export { webhookDelivery, webhookHistory } from './webhooks.jobs.ts';
export { webhookRoutes } from './webhooks.routes.ts';
export { prepareWebhooks, webhookSeals } from './webhooks.secrets.service.ts';
