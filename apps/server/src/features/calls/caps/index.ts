export { redisCapsMeter } from './caps.redis.service.ts';
export { closeCaseCounters, postgresCapsMeter } from './caps.service.ts';
