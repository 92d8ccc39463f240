export { freeQuota, limitOf, overQuota, recountQuota, refuseWhenFull, useQuota } from './quotas.ts';
