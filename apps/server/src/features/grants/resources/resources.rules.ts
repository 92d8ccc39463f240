import { isScope } from '@behest/protocol/scopes';
import { malformedScopes } from '../../../platform/errors.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether the server runs on the machine of its clients. */
export const isLoopback = (resource: string): boolean => LOOPBACK.has(new URL(resource).hostname);

/** The host of the URI and the names above it, the nearest first. A top-level domain is nobody's. */
export function domainsAbove(resource: string): string[] {
  const labels = new URL(resource).hostname.split('.');
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'));
}

/** @throws INVALID_SCOPE */
export function mustBeScopes(scopes: readonly string[]): void {
  const wrong = scopes.filter((scope) => !isScope(scope));
  if (wrong.length > 0) throw malformedScopes(wrong);
}
