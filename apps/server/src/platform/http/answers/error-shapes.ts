import { type ErrorCode, invalidGrantReasons } from '@behest/protocol/errors';
import { type TSchema, Type } from 'typebox';

/** @public The API description names it. */
export const InvalidGrantReason = Type.Enum(Object.keys(invalidGrantReasons));
/** @public The API description names it. */
export const BudgetRefusalReason = Type.Enum(['insufficient', 'currency_mismatch']);
/** @public The API description names it. */
export const ProxyRefusalReason = Type.Enum([
  ...['scope', 'no_profile', 'no_rule', 'query', 'unmapped', 'origin', 'enforcement'],
]);

/** The closed sets of `details.reason`. Other codes have reasons of their own, as texts. */
const reasons: Partial<Readonly<Record<ErrorCode, TSchema>>> = {
  INVALID_GRANT: InvalidGrantReason,
  AMOUNT_EXCEEDS_BUDGET: BudgetRefusalReason,
  PROXY_DENIED: ProxyRefusalReason,
};

function detailsOf(codes: readonly ErrorCode[]) {
  const closed = codes.flatMap((code) => reasons[code] ?? []);
  const [only, ...others] = closed.length === codes.length ? closed : [...closed, Type.String()];
  const known =
    closed.length === 0 || !only ? undefined : others.length > 0 ? Type.Union([only, ...others]) : only;
  return Type.Object(known ? { reason: Type.Optional(known) } : {}, { additionalProperties: true });
}

const withCodes = (codes: ErrorCode[]) =>
  Type.Object({
    code: Type.Enum(codes),
    message: Type.String(),
    requestId: Type.String(),
    details: Type.Optional(detailsOf(codes)),
  });

/** By the codes: most routes share a few shapes. */
const known = new Map<string, ReturnType<typeof withCodes>>();

/** The shape of a refusal with one of these codes. */
export function errorShapeOf(codes: ErrorCode[]) {
  const shape = known.get(codes.join()) ?? withCodes(codes);
  known.set(codes.join(), shape);
  return shape;
}

/** RFC 6749 §5.2. */
export const OAuthError = Type.Object({ error: Type.String(), error_description: Type.String() });

/** RFC 8935 §2.4. */
export const SetError = Type.Object({ err: Type.String(), description: Type.String() });

/** RFC 7644 §3.12. */
export const ScimError = Type.Object({
  schemas: Type.Array(Type.String()),
  status: Type.String(),
  scimType: Type.Optional(Type.String()),
  detail: Type.String(),
});
