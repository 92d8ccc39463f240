import { PRINCIPAL_SCHEMA } from './attributes.rules.ts';
import { at } from './match.rules.ts';
import { isObject } from './resource.rules.ts';

interface Stored {
  readonly id: string;
  readonly userName: string;
  readonly externalId: string | null;
  readonly active: boolean;
  readonly attributes: unknown;
}

/** The first id that was written for the purpose, then the provider's own, then the name. */
export function personOf({ id, userName, externalId, active, attributes }: Stored) {
  const written = isObject(attributes)
    ? at({ ...attributes }, [PRINCIPAL_SCHEMA, 'principalIds'])
    : undefined;
  const [first] = Array.isArray(written) ? written.map(String) : [];
  return { userId: id, principalId: first ?? externalId ?? userName, isActive: active };
}
