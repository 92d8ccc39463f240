export { type Operator, recordForOperator } from './operator.record.service.ts';
