export { openChain, record, recordBlocked, recordsOf } from './audit.record.service.ts';
export { auditRoutes } from './audit.routes.ts';
