export { provedWorkload } from './prove.ts';
