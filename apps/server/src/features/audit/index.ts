export { type Attempt, openChain, record, recordBlocked, recordsOf } from './audit.record.service.ts';
export { auditRoutes } from './audit.routes.ts';
export type { AuditDeps, GrantFacts } from './audit.service.ts';
