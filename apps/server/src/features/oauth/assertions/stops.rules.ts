/**
 * The ends of a grant that keep the next assertion from making another: somebody here has ended it. Ends by time, by a new
 * ceiling, by the rule or by the identity provider itself do not.
 */
export const STOPPING = ['developer', 'principal', 'anomaly', 'policy', 'admin'] as const;
export type StopReason = (typeof STOPPING)[number];

export const stopReasonOf = (reason: string | null): StopReason =>
  STOPPING.find((each) => each === reason) ?? 'developer';
