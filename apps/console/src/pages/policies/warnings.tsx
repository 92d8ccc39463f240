import { useQueryClient } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Panel } from '../../parts/page.tsx';

const say = sayer('policy');

/** Where the browser keeps what the service answered when a policy was saved. */
export const SAVED = 'saved policy';

export const useSavedPolicy = (policyId: string) =>
  useQueryClient().getQueryData<Schemas['PolicyWithWarnings']>([SAVED, policyId]);

/** What the author may not have meant: the policy never decides, or contradicts another. */
export function Warnings({ policyId }: { readonly policyId: string }) {
  const warnings = useSavedPolicy(policyId)?.warnings ?? [];
  if (warnings.length === 0) return null;
  return (
    <Panel title={say('warnings')}>
      <ul>
        {warnings.map(({ kind, message }) => (
          <li key={`${kind} ${message}`}>{message}</li>
        ))}
      </ul>
    </Panel>
  );
}
