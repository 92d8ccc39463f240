import { Id, NextCursor, nameOf, pageQuery, recordOf, Time } from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';
import { consoleRoles } from '../../../platform/capabilities.ts';

const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

const Url = Type.String({ minLength: 1, maxLength: 2048 });
const Secret = Type.String({ minLength: 1, maxLength: 1024 });
const Name = Type.String({ minLength: 1, maxLength: 256 });
const Entity = Type.String({ minLength: 1, maxLength: 1024 });
const Scopes = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100 });
/** As long as the name of a group that a login may bring: a DN of Active Directory passes 256 characters. */
const Group = Type.String({ minLength: 1, maxLength: 1024 });
const Groups = recordOf(Group, Scopes, { maxProperties: 500 });
const ConsoleGroups = recordOf(Group, Type.Enum([...consoleRoles]), { maxProperties: 100 });

export type Protocol = Static<typeof Protocol>;
const Protocol = Type.Enum(['oidc', 'saml', 'ldap']);
const Status = Type.Enum(['active', 'inactive', 'testing']);

/** The members of each protocol. */
const oidc = { issuerUrl: Url, clientId: Type.String({ minLength: 1, maxLength: 512, pattern: '^[ -~]+$' }) };
const redirectUris = Type.Array(Url, { maxItems: 10 });
const saml = { idpEntityId: Entity, idpSsoUrl: Url, spEntityId: Entity, spAcsUrl: Url };
const Certificates = Type.Union([
  Type.String({ minLength: 1, maxLength: 20_000 }),
  Type.Array(Type.String({ minLength: 1, maxLength: 20_000 }), { minItems: 1, maxItems: 20 }),
]);
const ldap = {
  ldapUrl: Url,
  ldapBindDn: Entity,
  ldapSearchBase: Entity,
};
const ldapOptions = {
  ldapSearchFilter: Type.String({ minLength: 1, maxLength: 1024 }),
  ldapGroupSearchBase: nullable(Entity),
  ldapGroupSearchFilter: Type.String({ minLength: 1, maxLength: 1024 }),
  ldapTlsEnabled: Type.Boolean(),
};

/** Changeable members, which a new connection may have too. */
const members = {
  status: Status,
  ...oidc,
  clientSecret: Secret,
  redirectUris: nullable(redirectUris),
  ...saml,
  idpCertificate: Certificates,
  ...ldap,
  ldapBindPassword: Secret,
  ...ldapOptions,
  domains: nullable(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 50 })),
  jitProvisioning: Type.Boolean(),
  enforce: Type.Boolean(),
  scimManaged: Type.Boolean(),
  emailAttribute: nullable(Name),
  nameAttribute: nullable(Name),
  groupAttribute: nullable(Name),
  groupMappings: nullable(Groups),
  defaultScopes: nullable(Scopes),
  consoleAccess: Type.Boolean(),
  consoleGroupMappings: nullable(ConsoleGroups),
};

const optional = <Shapes extends Readonly<Record<string, TSchema>>>(shapes: Shapes) =>
  Type.Partial(Type.Object(shapes)).properties;

export type NewSsoConnection = Static<typeof NewSsoConnection>;
export const NewSsoConnection = Type.Object(
  { name: nameOf(200), protocol: Protocol, ...optional(members) },
  { additionalProperties: false },
);

export type SsoConnectionChange = Static<typeof SsoConnectionChange>;
export const SsoConnectionChange = Type.Object(
  { ...optional({ name: nameOf(200), protocol: Protocol }), ...optional(members) },
  { additionalProperties: false, minProperties: 1 },
);

/** A certificate as the service shows it. */
const ShownCertificate = Type.Object({ fingerprintSha256: Type.String(), notAfter: Time });

export type SsoConnection = Static<typeof SsoConnection>;
export const SsoConnection = Type.Object({
  id: Id,
  developerId: Id,
  name: Type.String(),
  protocol: Protocol,
  status: Status,
  ...optional({ ...oidc, redirectUris }),
  ...optional({ ...saml, idpCertificates: Type.Array(ShownCertificate) }),
  ...optional({ ...ldap, ...ldapOptions }),
  domains: Type.Array(Type.String()),
  jitProvisioning: Type.Boolean(),
  enforce: Type.Boolean(),
  scimManaged: Type.Boolean(),
  emailAttribute: nullable(
    Type.String({ description: 'The claim or attribute of the address, where it has a name of its own.' }),
  ),
  nameAttribute: nullable(Type.String()),
  groupAttribute: nullable(
    Type.String({
      description: 'The claim or attribute of the groups, or the path to it: `realm_access.roles`.',
    }),
  ),
  groupMappings: recordOf(Type.String(), Type.Array(Type.String())),
  defaultScopes: Type.Array(Type.String()),
  consoleAccess: Type.Boolean({
    description:
      'Whether people come into the console of the account by this connection. Only an owner sets it, in a session of the console.',
  }),
  consoleGroupMappings: recordOf(Type.String(), Type.Enum([...consoleRoles])),
  lastTestedAt: nullable(Time),
  lastLoginAt: nullable(Time),
  createdAt: Time,
  updatedAt: Time,
});

export const SsoConnectionPath = Type.Object({ id: Id });

export type SsoConnectionQuery = Static<typeof SsoConnectionQuery>;
export const SsoConnectionQuery = Type.Object(pageQuery('sso'));

export type SsoConnectionPage = Static<typeof SsoConnectionPage>;
export const SsoConnectionPage = Type.Object({
  connections: Type.Array(SsoConnection),
  nextCursor: NextCursor,
});

export type SsoTest = Static<typeof SsoTest>;
export const SsoTest = Type.Object({
  success: Type.Boolean(),
  protocol: Protocol,
  ...optional({
    issuer: Type.String(),
    authorizationEndpoint: Type.String(),
    tokenEndpoint: Type.String(),
    jwksUri: Type.String(),
    idpEntityId: Type.String(),
    idpSsoUrl: Type.String(),
    certificateExpiresAt: Time,
    bind: Type.Boolean(),
    searchBase: Type.String(),
    error: Type.String({ description: 'The category of the failure, for programs.' }),
    message: Type.String({
      description: 'Says to an administrator which part failed, and how to repair it.',
    }),
  }),
});

/** Either of the two. The text counts where both are there. */
export type SamlMetadataSource = Static<typeof SamlMetadataSource>;
export const SamlMetadataSource = Type.Object(
  {
    metadataUrl: Type.Optional(Url),
    metadata: Type.Optional(
      Type.String({ minLength: 1, description: 'At most `SSO_METADATA_LIMIT_BYTES`.' }),
    ),
  },
  { additionalProperties: false, minProperties: 1 },
);

export type SamlMetadata = Static<typeof SamlMetadata>;
export const SamlMetadata = Type.Object({
  idpEntityId: Type.String(),
  idpSsoUrl: Type.String(),
  idpCertificate: Type.Array(Type.String(), { description: 'The certificates that may sign, as PEM.' }),
});

export const SsoEnforcementChange = Type.Object({ enforce: Type.Boolean() }, { additionalProperties: false });
export const SsoEnforcement = Type.Object({ enforce: Type.Boolean(), developerId: Id });

/** The single configuration of older clients. */
export type LegacySsoConfigInput = Static<typeof LegacySsoConfigInput>;
export const LegacySsoConfigInput = Type.Object(
  { issuerUrl: Url, clientId: oidc.clientId, clientSecret: Secret, redirectUri: Url },
  { additionalProperties: false },
);
export type LegacySsoConfig = Static<typeof LegacySsoConfig>;
export const LegacySsoConfig = Type.Object({
  issuerUrl: Url,
  clientId: Type.String(),
  redirectUri: Type.String(),
  createdAt: Time,
  updatedAt: Time,
});

export type SsoSessionQuery = Static<typeof SsoSessionQuery>;
export const SsoSessionQuery = Type.Object({
  ...pageQuery('ssosess'),
  connectionId: Type.Optional(Id),
  principalId: Type.Optional(Type.String({ maxLength: 256 })),
});

/** The groups of a session and the scopes that they allow. */
export const groupMembers = {
  groups: Type.Array(Type.String(), {
    description:
      'The groups that the provider named at the login, and the SCIM groups of the user that `groupMappings` names.',
  }),
  mappedScopes: Type.Array(Type.String(), {
    description: 'The scopes of these groups by `groupMappings` as they are now, else `defaultScopes`.',
  }),
};

export type SsoSession = Static<typeof SsoSession>;
export const SsoSession = Type.Object({
  id: Id,
  connectionId: Id,
  principalId: nullable(Type.String()),
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  idpSubject: Type.String(),
  ...groupMembers,
  expiresAt: Time,
  createdAt: Time,
});
export type SsoSessionPage = Static<typeof SsoSessionPage>;
export const SsoSessionPage = Type.Object({ sessions: Type.Array(SsoSession), nextCursor: NextCursor });

const Principal = Type.String({ minLength: 1, maxLength: 256 });

export type SsoIdentity = Static<typeof SsoIdentity>;
export const SsoIdentity = Type.Object({
  connectionId: Id,
  provider: Type.String({ description: 'The issuer, the entity id or the directory.' }),
  subject: Type.String({
    description:
      'The person at the provider: `<issuer>|<sub>`, `<format>|<NameID>`, or the id of the directory’s entry.',
  }),
  userId: Id,
  principalId: Type.String(),
  createdAt: Time,
});
export type SsoIdentities = Static<typeof SsoIdentities>;
export const SsoIdentities = Type.Object({ identities: Type.Array(SsoIdentity) });

export type SsoIdentityQuery = Static<typeof SsoIdentityQuery>;
export const SsoIdentityQuery = Type.Object({ principalId: Principal });

export type SsoIdentityMove = Static<typeof SsoIdentityMove>;
export const SsoIdentityMove = Type.Object(
  { principalId: Principal, subject: Type.String({ minLength: 1, maxLength: 2816 }) },
  { additionalProperties: false },
);
