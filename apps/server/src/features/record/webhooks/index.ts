export { privateHosts } from './webhooks.settings.ts';
