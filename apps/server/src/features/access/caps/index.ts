export { redisCapsMeter } from './caps.redis.service.ts';
export { postgresCapsMeter } from './caps.service.ts';
