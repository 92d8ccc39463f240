export { type StatementDeps, showStatement, stateRevocation } from './confirm.ts';
export { RevocationStatement, waiting } from './verifiers.schema.ts';
