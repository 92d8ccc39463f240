export { type Operator, recordForOperator } from './record.ts';
