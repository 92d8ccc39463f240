import { newId } from '../../../platform/ids.ts';

/**
 * The columns of a new grant that is nobody's child.
 * @param seconds the lifetime of the grant
 */
export function newRoot(seconds: number, at: Date) {
  const id = newId('grnt', at);
  return {
    id,
    rootGrantId: id,
    parentGrantId: null,
    parentTokenId: null,
    delegationDepth: 0,
    delegatedBy: [],
    status: 'active' as const,
    issuedAt: at,
    expiresAt: new Date(at.getTime() + seconds * 1000),
    revokedAt: null,
    revokedReason: null,
    expiryAnnouncedAt: null,
    lastUsedAt: null,
    authenticatedAt: null,
    authMethods: null,
  };
}
