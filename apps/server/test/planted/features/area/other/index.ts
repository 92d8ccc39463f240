export { changeOther } from './other.service.ts';
