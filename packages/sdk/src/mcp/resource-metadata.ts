import { BehestError } from '../errors.ts';
import { type GuardOptions, PROOF_ALGS } from '../http/guard.ts';

export interface McpResource extends Pick<GuardOptions, 'onError' | 'dpop'> {
  /** The address of the MCP server, as clients have it. Tokens have to name it as their audience. */
  readonly resource: string;
  /** The address of the service. */
  readonly authorizationServer: string;
  /** The scopes that a client asks for first. */
  readonly scopes?: readonly string[];
  /** A name for people. */
  readonly resourceName?: string;
}

export const METADATA = '/.well-known/oauth-protected-resource';

/**
 * The protected-resource metadata, by which a client finds the authorization server.
 *
 * @see RFC 9728
 */
export function protectedResourceMetadata(options: McpResource): object {
  const { resource, authorizationServer, scopes, resourceName, dpop } = options;
  return {
    resource,
    authorization_servers: [authorizationServer],
    ...(scopes && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    ...(dpop && { dpop_signing_alg_values_supported: PROOF_ALGS }),
    ...(resourceName !== undefined && { resource_name: resourceName }),
    authorization_details_types_supported: ['urn:service:tools:v1'],
    dpop_bound_access_tokens_required: false,
  };
}

/**
 * The metadata's address has the path of the resource behind the well-known path (RFC 9728, section 3.1).
 *
 * @throws BehestError for a resource that is no address
 */
export function metadataAddress(resource: string): URL {
  if (!URL.canParse(resource))
    throw new BehestError('CONFIGURATION', 'resource has to be the address of the MCP server.');
  const { origin, pathname } = new URL(resource);
  return new URL(`${METADATA}${pathname === '/' ? '' : pathname}`, origin);
}

/** The parameters by which a challenge leads to the metadata. */
export const challengeOf = ({ resource, scopes = [] }: McpResource) => [
  `resource_metadata="${metadataAddress(resource).href}"`,
  ...(scopes.length > 0 ? [`scope="${scopes.join(' ')}"`] : []),
];
