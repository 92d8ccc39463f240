export { freeQuota, limitOf, overQuota, type Quotas, refuseWhenFull, useQuota } from './quotas.service.ts';
