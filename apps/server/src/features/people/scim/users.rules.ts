import { PRINCIPAL_SCHEMA, userType } from './attributes.rules.ts';
import { at } from './filter.rules.ts';
import { type Document, isObject } from './resource.rules.ts';

/** The columns that a document is found by. Every user has a name and is active or not. */
export function columnsOf(document: Document) {
  const { userName, externalId, displayName, active } = document;
  return {
    userName: String(userName),
    externalId: textOrNull(externalId),
    displayName: textOrNull(displayName),
    active: active !== false,
  };
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);

/** A document as it is stored: everybody is active or not. */
export const storable = (document: Document): Document => ({ active: true, ...document });

export function addressesOf({ emails }: Document): string[] {
  return (Array.isArray(emails) ? emails : []).map((each: unknown) => String(at(each, ['value'])));
}

/** The ids by which grants may name the person. */
export function principalValues(id: string, document: Document) {
  const { userName, externalId } = columnsOf(document);
  const further = at(document, [PRINCIPAL_SCHEMA, 'principalIds']);
  const exact = [id, externalId, ...(Array.isArray(further) ? further.map(String) : [])];
  const ids = new Set(exact.filter((each): each is string => each !== null));
  return [{ id: userName, isFolded: true }, ...[...ids].map((each) => ({ id: each, isFolded: false }))];
}

interface Shown {
  readonly id: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly attributes: unknown;
}

interface Group {
  readonly id: string;
  readonly displayName: string;
}

export const entityTag = (version: number) => `W/"${version}"`;

/** @param base the address of the SCIM service */
export function shownUser(row: Shown, groups: readonly Group[], base: string): Record<string, unknown> {
  const document: Document = isObject(row.attributes) ? { ...row.attributes } : {};
  const extensions = userType.extensions.map(({ id }) => id).filter((id) => document[id] !== undefined);
  const memberships = groups.map(({ id, displayName }) => ({
    value: id,
    display: displayName,
    $ref: `${base}/Groups/${id}`,
    type: 'direct',
  }));
  return {
    schemas: [userType.core.id, ...extensions],
    id: row.id,
    ...document,
    emails: document.emails ?? [],
    ...(groups.length > 0 && { groups: memberships }),
    meta: metaOf('User', row, `${base}/Users/${row.id}`),
  };
}

export function metaOf(
  resourceType: 'User' | 'Group',
  { version, createdAt, updatedAt }: Omit<Shown, 'attributes'>,
  location: string,
) {
  return {
    resourceType,
    created: createdAt.toISOString(),
    lastModified: updatedAt.toISOString(),
    location,
    version: entityTag(version),
  };
}

export interface ListAnswer {
  readonly total: number;
  readonly resources: readonly object[];
  readonly startIndex?: number | undefined;
  readonly nextCursor?: string | undefined;
}

/** RFC 7644 §3.4.2, RFC 9865 §2. */
export function listResponse({ total, resources, startIndex, nextCursor }: ListAnswer) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    ...(startIndex !== undefined && { startIndex }),
    itemsPerPage: resources.length,
    ...(nextCursor !== undefined && { nextCursor }),
    Resources: [...resources],
  };
}

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
