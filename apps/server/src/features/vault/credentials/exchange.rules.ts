import { LINEAGE_TYPE, storedEntries } from '@behest/protocol/caps-lineage';

/**
 * The scope that allows a grant token to get the credential of a service. These literals do, byte for byte, and no
 * other scope that covers them.
 */
export function matchingScope(scopes: readonly string[], service: string): string | undefined {
  const allowing = [
    '*',
    `${service}:*`,
    `${service}:read`,
    `${service}:credentials:read`,
    `vault:${service}:*`,
    `vault:${service}:read`,
    'vault:credentials:exchange',
  ];
  return allowing.find((scope) => scopes.includes(scope));
}

/**
 * Whether the grant counts calls of the service's connector, or has rules for their arguments. The bare credential would
 * be the way round those. Names that differ in case alone count as one here, because the safe side is to refuse.
 * @param authorizationDetails as the grant's column has them
 */
export function limitsCallsOf(service: string, authorizationDetails: unknown): boolean {
  return storedEntries(authorizationDetails).some(
    (entry) =>
      entry.connector.toLowerCase() === service.toLowerCase() &&
      (entry.type === LINEAGE_TYPE || entry.caps !== undefined || entry.arguments !== undefined),
  );
}
