import { AssertionResponse, OfStandard } from '@behest/protocol/passkey-shapes';
import { Id } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

/** A request that waits while its person shows a passkey, as the address of the page names it. */
const waiting = {
  clientId: Type.String({ minLength: 1, maxLength: 1000 }),
  requestUri: Type.String({ minLength: 1, maxLength: 200 }),
};

export type AskSignIn = Static<typeof AskSignIn>;
export const AskSignIn = Type.Object(waiting, { additionalProperties: false });

/** `publicKey` is for `PublicKeyCredential.parseRequestOptionsFromJSON`. It names no passkey. */
export const SignInOptions = Type.Object({ challengeId: Id, publicKey: OfStandard });

export type SignIn = Static<typeof SignIn>;
export const SignIn = Type.Object(
  { ...waiting, challengeId: Id, response: AssertionResponse },
  { additionalProperties: false },
);
