import { type Static, Type } from 'typebox';
import { credentials, Resources, Text } from './oauth.schema.ts';

const channelMembers = {
  ...credentials,
  scope: Type.Optional(Text),
  resource: Type.Optional(Resources),
  authorization_details: Type.Optional(Text),
  purpose: Type.Optional(Text),
  request: Type.Optional(Text),
};
export type ChannelForm = Static<typeof ChannelForm>;
export const ChannelForm = Type.Object(channelMembers, { additionalProperties: true });

/** RFC 8628 §3.1. Other members are ignored. */
export type DeviceForm = Static<typeof DeviceForm>;
export const DeviceForm = Type.Object(
  {
    ...channelMembers,
    /** Only in the sandbox. */
    login_hint: Type.Optional(Text),
    /** Only from a client that has authenticated itself. */
    principal_id: Type.Optional(Text),
  },
  { additionalProperties: true },
);

/** RFC 8628 §3.2. */
export type DeviceAnswer = Static<typeof DeviceAnswer>;
export const DeviceAnswer = Type.Object({
  device_code: Type.String(),
  user_code: Type.String(),
  verification_uri: Type.String(),
  verification_uri_complete: Type.String(),
  expires_in: Type.Integer(),
  interval: Type.Integer(),
});

/** The code as a person types it: case, spaces and hyphens do not matter. */
export type EnterCode = Static<typeof EnterCode>;
export const EnterCode = Type.Object(
  {
    userCode: Type.String({ minLength: 1, maxLength: 32 }),
    /** By which the developer's application names the person whom it has signed in for the code. */
    hint: Type.Optional(Type.String({ maxLength: 4096 })),
  },
  { additionalProperties: false },
);

export type EnteredCode = Static<typeof EnteredCode>;
export const EnteredCode = Type.Object({
  /** The consent page, or the page at which the person signs in first. */
  redirectTo: Type.String(),
});

/** A browser that comes from the developer's application, which has signed the person in. */
export type Arrival = Static<typeof Arrival>;
export const Arrival = Type.Object(
  {
    clientId: Type.String({ minLength: 1, maxLength: 1000 }),
    requestUri: Type.String({ minLength: 1, maxLength: 200 }),
    hint: Type.String({ minLength: 1, maxLength: 8192 }),
  },
  { additionalProperties: false },
);

/** OpenID CIBA Core 1.0 §7.1. Other members are ignored. */
export type BackchannelForm = Static<typeof BackchannelForm>;
export const BackchannelForm = Type.Object(
  {
    ...channelMembers,
    login_hint: Type.Optional(Text),
    login_hint_token: Type.Optional(Text),
    id_token_hint: Type.Optional(Text),
    binding_message: Type.Optional(Text),
    requested_expiry: Type.Optional(Text),
    user_code: Type.Optional(Text),
  },
  { additionalProperties: true },
);

/** OpenID CIBA Core 1.0 §7.3. */
export type BackchannelAnswer = Static<typeof BackchannelAnswer>;
export const BackchannelAnswer = Type.Object({
  auth_req_id: Type.String(),
  expires_in: Type.Integer(),
  interval: Type.Integer(),
});
