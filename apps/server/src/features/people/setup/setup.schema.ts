import { Id, NextCursor, nameOf, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';

const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

export type Purpose = Static<typeof Purpose>;
const Purpose = Type.Enum(['sso', 'scim']);

export type NewSetupLink = Static<typeof NewSetupLink>;
export const NewSetupLink = Type.Object(
  {
    name: nameOf(100),
    purposes: Type.Array(Purpose, { minItems: 1, maxItems: 2 }),
    acknowledge: Type.Optional(
      Type.Literal('all people of the account', {
        description:
          'Required with the purpose `scim`: the token of the link reads and writes the people of the whole account.',
      }),
    ),
    connectionId: Type.Optional(Id),
    expiresIn: Type.Optional(Type.Integer({ minimum: 300, maximum: 2_592_000 })),
  },
  { additionalProperties: false },
);

export type SetupLink = Static<typeof SetupLink>;
export const SetupLink = Type.Object({
  id: Id,
  name: Type.String({ description: 'The customer, as their administrator reads it.' }),
  purposes: Type.Array(Purpose),
  connectionId: nullable(Id),
  status: Type.Enum(['open', 'opened', 'finished', 'expired']),
  createdAt: Time,
  expiresAt: Time,
  openedAt: nullable(Time),
  finishedAt: nullable(Time),
});

export const CreatedSetupLink = Type.Object({
  ...SetupLink.properties,
  url: Type.String({ description: 'The link. Shown once.' }),
});
export type CreatedSetupLink = Static<typeof CreatedSetupLink>;

export const SetupLinkPath = Type.Object({ id: Id });
export type SetupLinkQuery = Static<typeof SetupLinkQuery>;
export const SetupLinkQuery = Type.Object(pageQuery('setup'));
export type SetupLinkPage = Static<typeof SetupLinkPage>;
export const SetupLinkPage = Type.Object({ links: Type.Array(SetupLink), nextCursor: NextCursor });

const Secret = Type.String({ minLength: 1, maxLength: 128 });
const Url = Type.String({ minLength: 1, maxLength: 2048 });
const session = { session: Secret };

export const OpenSetupLink = Type.Object({ link: Secret }, { additionalProperties: false });
export const SetupSession = Type.Object(session, { additionalProperties: false });

export type NewSetupProvider = Static<typeof NewSetupProvider>;
export const NewSetupProvider = Type.Object(
  {
    ...session,
    issuerUrl: Type.Optional(Url),
    clientId: Type.Optional(Type.String({ minLength: 1, maxLength: 512, pattern: '^[ -~]+$' })),
    clientSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    metadataUrl: Type.Optional(Url),
    metadata: Type.Optional(
      Type.String({ minLength: 1, description: 'At most `SSO_METADATA_LIMIT_BYTES`.' }),
    ),
  },
  { additionalProperties: false },
);

/** The values that the administrator enters at the provider, and how far the setup is. */
export type SetupState = Static<typeof SetupState>;
export const SetupState = Type.Object({
  name: Type.String(),
  accountName: Type.String(),
  purposes: Type.Array(Purpose),
  expiresAt: Time,
  redirectUri: Type.String(),
  acsUrl: Type.String(),
  entityId: Type.String(),
  scimUrl: Type.String(),
  protocol: nullable(Type.Enum(['oidc', 'saml', 'ldap'])),
});

export const OpenedSetupLink = Type.Object({ session: Type.String(), setup: SetupState });
export const SetupProviderTest = Type.Object({
  success: Type.Boolean(),
  message: Type.Optional(
    Type.String({ description: 'Says to an administrator which part failed, and how to repair it.' }),
  ),
});
export const SetupScimToken = Type.Object({ token: Type.String(), scimUrl: Type.String() });
