export { freeQuota, limitOf, overQuota, recountQuota, refuseWhenFull, useQuota } from './use.ts';
