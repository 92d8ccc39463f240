export { postgresCapsMeter } from './caps.service.ts';
