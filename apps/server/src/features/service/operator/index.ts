export { type Operator, recordForOperator } from './operator.ts';
