export { closeCaseCounters, postgresCapsMeter } from './caps.ts';
export { redisCapsMeter } from './redis.ts';
