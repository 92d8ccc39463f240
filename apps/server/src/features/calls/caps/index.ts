export { closeCaseCounters, postgresCapsMeter, redisCapsMeter } from './meters.ts';
