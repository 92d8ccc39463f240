export { type StatementDeps, showStatement, stateRevocation } from './confirm.ts';
export { confirmations } from './register.ts';
export { RevocationStatement, waiting } from './verifiers.schema.ts';
