export { provedWorkload } from './workloads.prove.service.ts';
