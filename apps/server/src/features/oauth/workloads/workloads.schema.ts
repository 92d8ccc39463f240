import { Id, NextCursor, pageQuery, recordOf, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Text = Type.String({ minLength: 1, maxLength: 1024, pattern: '^[!-~]*$' });

export type NewWorkload = Static<typeof NewWorkload>;
export const NewWorkload = Type.Object(
  {
    /** An `https` issuer of OpenID Connect, or a SPIFFE trust domain such as `spiffe://acme.example`. */
    issuer: Text,
    /** The keys of an issuer that publishes no metadata. A trust domain needs it. */
    jwksUri: Type.Optional(Text),
    /** The only audience that the JWT names. The issuer of this service by default. */
    audience: Type.Optional(Text),
    /** The subject, or its beginning up to a `/` or `:`, followed by `*`. */
    subject: Text,
    claims: Type.Optional(
      recordOf(Type.String({ minLength: 1, maxLength: 128 }), Type.String({ maxLength: 512 }), {
        maxProperties: 10,
      }),
    ),
    maxTokenSeconds: Type.Integer({ minimum: 60, maximum: 86_400, default: 7200 }),
    /** Whether a JWT that has a `jti` may be shown again, as one that the platform writes to a file is. */
    allowReuse: Type.Boolean({ default: false }),
  },
  { additionalProperties: false },
);

/** `id` and `workloadId` are equal, as in other records. */
export type Workload = Static<typeof Workload>;
export const Workload = Type.Object({
  id: Id,
  workloadId: Id,
  agentId: Id,
  issuer: Type.String(),
  jwksUri: Type.String(),
  audience: Type.String(),
  subject: Type.String(),
  claims: recordOf(Type.String(), Type.String()),
  maxTokenSeconds: Type.Integer(),
  allowReuse: Type.Boolean(),
  createdAt: Time,
});

export type WorkloadQuery = Static<typeof WorkloadQuery>;
export const WorkloadQuery = Type.Object(pageQuery('wli'));
export type WorkloadPage = Static<typeof WorkloadPage>;
export const WorkloadPage = Type.Object({ workloads: Type.Array(Workload), nextCursor: NextCursor });
export const AgentPath = Type.Object({ id: Id });
export const WorkloadPath = Type.Object({ id: Id, workloadId: Id });
