import type { Finding } from './anomalies.rules.ts';

type Told = Finding['metadata'];

const sentences: Readonly<Record<string, (told: Told) => string>> = {
  rate_spike: (told) =>
    `The agent has ${told.entries} entries in an hour, over the threshold of ${told.threshold}.`,
  high_failure_rate: (told) =>
    `${told.failures} of the agent’s ${told.entries} entries in 24 hours failed or were blocked.`,
  off_hours_activity: (told) =>
    `The agent has ${told.entries} entries in 24 hours between 22:00 and 06:00 UTC.`,
  new_principal: () => 'The agent got its first grant of this principal.',
  token_replay: (told) =>
    told.kind === 'code'
      ? 'A code of this grant was presented again after its use.'
      : 'A rotated refresh token of this grant was presented again.',
  scope_escalation: (told) =>
    `The agent was refused scopes that it does not have ${told.refusals} times in an hour.`,
  rapid_revocation: (told) => `Over ${told.threshold} grants of the agent were revoked within 60 seconds.`,
  budget_cliff: (told) =>
    `${told.spent} of ${told.initial} ${told.currency} was spent within an hour of the first debit.`,
};

/** A finding in a sentence. It repeats no text that a developer or an agent chose. */
export function describe({ ruleId, metadata }: Finding): string {
  const sentence = sentences[ruleId];
  if (sentence) return sentence(metadata);
  return `The agent has ${metadata.entries} matching entries in ${metadata.window}, over the threshold of ${metadata.threshold}.`;
}
