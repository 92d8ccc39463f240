import { type Static, Type } from 'typebox';

const Name = Type.String({ minLength: 1, maxLength: 256 });
const Properties = Type.Optional(Type.Object({}, { additionalProperties: true }));
const Entity = Type.Object({ type: Name, id: Name, properties: Properties }, { additionalProperties: true });

/** One question. Members that nobody knows are ignored, as the standard says. */
export type Evaluation = Static<typeof Evaluation>;
export const Evaluation = Type.Object(
  {
    subject: Entity,
    action: Type.Object({ name: Name, properties: Properties }, { additionalProperties: true }),
    resource: Entity,
    context: Properties,
  },
  { additionalProperties: true },
);

/** The members of a question, which the evaluations of a batch share unless they have their own. */
export type Asked = Static<typeof Asked>;
export const Asked = Type.Object(
  {
    subject: Type.Optional(Type.Unknown()),
    action: Type.Optional(Type.Unknown()),
    resource: Type.Optional(Type.Unknown()),
    context: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true },
);

export type AskedTogether = Static<typeof AskedTogether>;
export const AskedTogether = Type.Object(
  {
    ...Asked.properties,
    /** Each is checked by itself, so that a malformed one stops no other. */
    evaluations: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 100 })),
    options: Type.Optional(
      Type.Object(
        {
          evaluations_semantic: Type.Optional(
            Type.Enum(['execute_all', 'deny_on_first_deny', 'permit_on_first_permit']),
          ),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { additionalProperties: true },
);

/** AuthZEN Authorization API 1.0, §5.2 of the response. */
export type AuthzenDecision = Static<typeof AuthzenDecision>;
export const AuthzenDecision = Type.Object({
  decision: Type.Boolean(),
  context: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

export type Decisions = Static<typeof Decisions>;
export const Decisions = Type.Object({ evaluations: Type.Array(AuthzenDecision) });

/** AuthZEN Authorization API 1.0, the metadata of a policy decision point. */
export type PointMetadata = Static<typeof PointMetadata>;
export const PointMetadata = Type.Object({
  policy_decision_point: Type.String(),
  access_evaluation_endpoint: Type.String(),
  access_evaluations_endpoint: Type.String(),
});
