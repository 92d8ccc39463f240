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
export type EvaluationRequest = Static<typeof EvaluationRequest>;
export const EvaluationRequest = Type.Object(
  {
    subject: Type.Optional(Type.Unknown()),
    action: Type.Optional(Type.Unknown()),
    resource: Type.Optional(Type.Unknown()),
    context: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true },
);

export type EvaluationsRequest = Static<typeof EvaluationsRequest>;
export const EvaluationsRequest = Type.Object(
  {
    ...EvaluationRequest.properties,
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
export type EvaluationResponse = Static<typeof EvaluationResponse>;
export const EvaluationResponse = Type.Object({
  decision: Type.Boolean(),
  context: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

export type EvaluationsResponse = Static<typeof EvaluationsResponse>;
export const EvaluationsResponse = Type.Object({ evaluations: Type.Array(EvaluationResponse) });

/** AuthZEN Authorization API 1.0, the metadata of a policy decision point. */
export type AuthzenMetadata = Static<typeof AuthzenMetadata>;
export const AuthzenMetadata = Type.Object({
  policy_decision_point: Type.String(),
  access_evaluation_endpoint: Type.String(),
  access_evaluations_endpoint: Type.String(),
});
