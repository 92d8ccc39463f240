import { Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

export type Metric = Static<typeof Metric>;
const Metric = Type.Enum(['verifications', 'denials', 'grants', 'revocations', 'decisions']);

export type Step = Static<typeof Step>;
const Step = Type.Enum(['hour', 'day']);

export type SeriesQuery = Static<typeof SeriesQuery>;
export const SeriesQuery = Type.Object({
  metric: Metric,
  from: Time,
  to: Time,
  step: Type.Enum(['hour', 'day'], { default: 'hour' }),
});

export type Series = Static<typeof Series>;
export const Series = Type.Object({
  metric: Metric,
  step: Step,
  from: Time,
  to: Time,
  points: Type.Array(
    Type.Object({
      at: Time,
      count: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
        description:
          'Null where nothing was counted: before counting began or the counts were deleted, and in the future.',
      }),
    }),
    { description: 'One for each hour or day (UTC), oldest first.' },
  ),
  total: Type.Integer({ minimum: 0 }),
  complete: Type.Boolean({ description: 'Whether each point has a count.' }),
});

export type DenialsQuery = Static<typeof DenialsQuery>;
export const DenialsQuery = Type.Object({ from: Time, to: Time });

export type Denials = Static<typeof Denials>;
export const Denials = Type.Object({
  from: Time,
  to: Time,
  groups: Type.Array(
    Type.Object({
      reason: Type.String({ description: '`<reason_code>`, or `<reason_code>/<sub_reason>`.' }),
      count: Type.Integer({ minimum: 1 }),
    }),
    { description: 'The most frequent first.' },
  ),
  total: Type.Integer({
    minimum: 0,
    description: 'Also the denials that were counted before their reasons were.',
  }),
});
