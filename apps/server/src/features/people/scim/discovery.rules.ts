import { type Attribute, type ResourceType, resourceTypes, type Schema } from './attributes.rules.ts';
import { DEFAULT_COUNT, MAX_COUNT } from './search.rules.ts';

const CONFIG = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';
const TYPE = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema';

/** The bounds of one request of many operations. */
export const MAX_OPERATIONS = 1000;
const MAX_BYTES = 1_048_576;

/** RFC 7643 §5, RFC 9865 §4. @param base the address of the SCIM service */
export const serviceProviderConfig = (base: string) => ({
  schemas: [CONFIG],
  documentationUri: 'https://datatracker.ietf.org/doc/html/rfc7644',
  patch: { supported: true },
  bulk: { supported: true, maxOperations: MAX_OPERATIONS, maxPayloadSize: MAX_BYTES },
  filter: { supported: true, maxResults: MAX_COUNT },
  changePassword: { supported: false },
  sort: { supported: true },
  etag: { supported: true },
  pagination: {
    cursor: true,
    index: true,
    defaultPaginationMethod: 'index',
    defaultPageSize: DEFAULT_COUNT,
    maxPageSize: MAX_COUNT,
  },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'SCIM token',
      description: 'A token that an administrator makes with `POST /v1/scim/tokens`.',
      specUri: 'https://datatracker.ietf.org/doc/html/rfc6750',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
});

/** RFC 7643 §6. */
export const shownResourceTypes = (base: string) =>
  resourceTypes.map(({ name, endpoint, description, core, extensions }: ResourceType) => ({
    schemas: [TYPE],
    id: name,
    name,
    endpoint,
    description,
    schema: core.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  }));

/** RFC 7643 §7. */
export const shownSchemas = (base: string) =>
  resourceTypes
    .flatMap(({ core, extensions }) => [core, ...extensions])
    .map(({ id, name, description, attributes }: Schema) => ({
      schemas: [SCHEMA],
      id,
      name,
      description,
      attributes: attributes.map(shownAttribute),
      meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
    }));

/** The bounds that the service adds are no members of RFC 7643. */
function shownAttribute({ longest: _, most: __, subAttributes, ...facts }: Attribute): object {
  return { ...facts, ...(subAttributes && { subAttributes: subAttributes.map(shownAttribute) }) };
}
