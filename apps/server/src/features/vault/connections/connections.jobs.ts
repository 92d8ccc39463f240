import type { Job } from '../../../platform/jobs/jobs.ts';
import type { ConnectDeps } from './connections.deps.service.ts';
import { expireSessions } from './connections.expire.service.ts';

const EVERY_SECONDS = 30;

export function expiryOfConnectSessions(deps: ConnectDeps): Job {
  return {
    name: 'expiry of connect sessions',
    everySeconds: EVERY_SECONDS,
    run: (signal) => expireSessions(deps, signal),
  };
}
