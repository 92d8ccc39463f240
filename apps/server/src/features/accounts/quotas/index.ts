export { freeQuota, limitOf, overQuota, refuseWhenFull, useQuota } from './quotas.service.ts';
