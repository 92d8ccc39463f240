/** An attribute as RFC 7643, section 7, describes it, with the bounds that the service adds. */
export interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'complex';
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: 'readOnly' | 'readWrite' | 'immutable';
  readonly returned: 'always' | 'default';
  readonly uniqueness: 'none' | 'server';
  readonly subAttributes?: readonly Attribute[];
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  /** The most characters of a text. */
  readonly longest?: number;
  /** The most values of a multi-valued attribute. */
  readonly most?: number;
}

export interface Schema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

/** A kind of resource: its core schema, and the extensions that it may have. */
export interface ResourceType {
  readonly name: 'User' | 'Group';
  readonly endpoint: '/Users' | '/Groups';
  readonly description: string;
  readonly core: Schema;
  readonly extensions: readonly Schema[];
}

type Facts = Partial<Omit<Attribute, 'name' | 'description'>>;

const attribute = (name: string, description: string, facts: Facts = {}): Attribute => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...facts,
});

const complex = (name: string, description: string, subAttributes: readonly Attribute[], facts: Facts = {}) =>
  attribute(name, description, { type: 'complex', subAttributes, ...facts });

const valuesOf = (name: string, noun: string, types: readonly string[]) =>
  complex(
    name,
    `The ${noun}s of the person.`,
    [
      attribute('value', `The ${noun}.`),
      attribute('display', `The ${noun} as people read it.`),
      attribute('type', `The use of the ${noun}.`, { canonicalValues: types }),
      attribute('primary', `Whether the ${noun} is the preferred one. At most one is.`, { type: 'boolean' }),
    ],
    { multiValued: true, most: 20 },
  );

const readOnly = { mutability: 'readOnly' } as const;

/** RFC 7643 §3.1: the attributes of every resource. They belong to no schema. */
const commonAttributes: readonly Attribute[] = [
  attribute('id', 'The id that the service gave.', {
    ...readOnly,
    caseExact: true,
    returned: 'always',
    uniqueness: 'server',
  }),
  attribute('externalId', 'The id that the identity provider uses.', {
    caseExact: true,
    uniqueness: 'server',
    longest: 256,
  }),
  complex(
    'meta',
    'Facts about the resource itself.',
    [
      attribute('resourceType', 'The kind of the resource.', { ...readOnly, caseExact: true }),
      attribute('created', 'The time of its creation.', { ...readOnly, type: 'dateTime' }),
      attribute('lastModified', 'The time of its last change.', { ...readOnly, type: 'dateTime' }),
      attribute('location', 'Its address.', { ...readOnly, caseExact: true }),
      attribute('version', 'Its entity tag.', { ...readOnly, caseExact: true }),
    ],
    readOnly,
  ),
];

/** RFC 7643 §3: every resource has it, no request changes it, and filters ask for it. */
export const schemasAttribute = attribute('schemas', 'The schemas whose attributes the resource has.', {
  ...readOnly,
  type: 'reference',
  multiValued: true,
  returned: 'always',
});

const userSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'A person.',
  attributes: [
    attribute('userName', 'The name by which the person signs in.', {
      required: true,
      uniqueness: 'server',
      longest: 256,
    }),
    complex('name', 'The parts of the name of the person.', [
      attribute('formatted', 'The whole name as people read it.'),
      attribute('familyName', 'The family name.'),
      attribute('givenName', 'The given name.'),
      attribute('middleName', 'The middle names.'),
      attribute('honorificPrefix', 'The title before the name.'),
      attribute('honorificSuffix', 'The suffix after the name.'),
    ]),
    attribute('displayName', 'The name that is shown to people.'),
    attribute('nickName', 'The casual name.'),
    attribute('title', 'The title at work.'),
    attribute('userType', 'The relation to the organisation.'),
    attribute('preferredLanguage', 'The preferred language.'),
    attribute('locale', 'The place whose customs the person follows.'),
    attribute('timezone', 'The time zone.'),
    attribute('active', 'Whether agents may act for the person.', { type: 'boolean' }),
    valuesOf('emails', 'email address', ['work', 'home', 'other']),
    valuesOf('phoneNumbers', 'phone number', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
    complex(
      'groups',
      'The groups that the person belongs to.',
      [
        attribute('value', 'The id of the group.', { ...readOnly, caseExact: true }),
        attribute('$ref', 'The address of the group.', {
          ...readOnly,
          type: 'reference',
          caseExact: true,
          referenceTypes: ['Group'],
        }),
        attribute('display', 'The name of the group.', readOnly),
        attribute('type', 'How the person belongs to it.', { ...readOnly, canonicalValues: ['direct'] }),
      ],
      { ...readOnly, multiValued: true },
    ),
  ],
};

const enterpriseSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  name: 'EnterpriseUser',
  description: 'A person in an organisation.',
  attributes: [
    attribute('employeeNumber', 'The number of the employee.'),
    attribute('costCenter', 'The name of the cost center.'),
    attribute('organization', 'The name of the organization.'),
    attribute('division', 'The name of the division.'),
    attribute('department', 'The name of the department.'),
    complex('manager', "The person's manager.", [
      attribute('value', 'The id of the manager.', { caseExact: true }),
      attribute('displayName', 'The name of the manager.'),
    ]),
  ],
};

export const PRINCIPAL_SCHEMA = 'urn:behest:params:scim:schemas:extension:principal:2.0:User';

const principalSchema: Schema = {
  id: PRINCIPAL_SCHEMA,
  name: 'Principal',
  description: 'A person for whom agents act.',
  attributes: [
    attribute('principalIds', 'Further ids that grants name the person by.', {
      multiValued: true,
      caseExact: true,
      uniqueness: 'server',
      longest: 256,
      most: 10,
    }),
  ],
};

const groupSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'A group of people.',
  attributes: [
    attribute('displayName', 'The name of the group.', {
      required: true,
      uniqueness: 'server',
      longest: 256,
    }),
    complex(
      'members',
      'The members of the group.',
      [
        attribute('value', 'The id of the member.', { mutability: 'immutable', caseExact: true }),
        attribute('$ref', 'The address of the member.', {
          ...readOnly,
          type: 'reference',
          caseExact: true,
          referenceTypes: ['User'],
        }),
        attribute('display', 'The name of the member.', readOnly),
        attribute('type', 'The kind of the member.', { mutability: 'immutable', canonicalValues: ['User'] }),
      ],
      { multiValued: true, most: 10_000 },
    ),
  ],
};

export const userType: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'A person.',
  core: userSchema,
  extensions: [enterpriseSchema, principalSchema],
};

export const groupType: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'A group of people.',
  core: groupSchema,
  extensions: [],
};

export const resourceTypes = [userType, groupType] as const;

const cores = {
  User: [...commonAttributes, ...userSchema.attributes],
  Group: [...commonAttributes, ...groupSchema.attributes],
} as const;

/** The core attributes of a kind of resource, with those that every resource has. */
export const coreAttributes = ({ name }: ResourceType): readonly Attribute[] => cores[name];

/** A request may have many names, and most differ in their length. */
export const isSameName = (one: string, other: string) =>
  one.length === other.length && one.toLowerCase() === other.toLowerCase();

const byName = new WeakMap<readonly Attribute[], ReadonlyMap<string, Attribute>>();

export function findAttribute(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const known = byName.get(attributes) ?? new Map(attributes.map((each) => [each.name.toLowerCase(), each]));
  byName.set(attributes, known);
  return known.get(name.toLowerCase());
}
