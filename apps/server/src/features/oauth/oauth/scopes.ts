import { distinctScopes } from '@behest/protocol/scopes';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { findCurrentTools } from '../../grants/manifests/manifests.queries.ts';
import type { AskedByChannel } from './request.rules.ts';
import { connectorsWithoutScope, derivedScope, mustBeScopes } from './scopes.rules.ts';

/**
 * The scopes of a request. An entry of `authorization_details` without a scope for its connector adds one (RFC 9396 §3.1),
 * which the person is shown like the others. A client that sends neither gets the scopes of its resources as default
 * (RFC 6749 §3.3). MCP clients before revision 2025-11-25 rely on that.
 * @throws invalid_scope, invalid_authorization_details
 */
export async function scopesAsked(
  db: Executor,
  tenant: Tenant,
  { scopes, details = [] }: Pick<AskedByChannel, 'scopes' | 'details'>,
  ofResources: readonly string[],
): Promise<string[]> {
  if (scopes.length === 0 && details.length === 0) return mustBeScopes(distinctScopes(ofResources));
  const connectors = connectorsWithoutScope(scopes, details);
  const tools = await findCurrentTools(db, tenant, connectors);
  const derived = connectors.map((connector) => derivedScope(connector, details, tools.get(connector)));
  if (scopes.length + derived.length > 0) return mustBeScopes([...scopes, ...derived]);
  throw oauthRefusal(
    'invalid_authorization_details',
    'Each entry of `authorization_details` has a `connector`.',
  );
}
