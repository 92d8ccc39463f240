import { useQueryClient } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Panel } from '../../parts/page.tsx';

const say = sayer('policy');

/** Where the browser keeps what the service noted about a policy when it was saved. */
export const WARNINGS = 'policy warnings';

/** What the author may not have meant: the policy never decides, or contradicts another. */
export function Warnings({ policyId }: { readonly policyId: string }) {
  const warnings = useQueryClient().getQueryData<Schemas['PolicyWarning'][]>([WARNINGS, policyId]) ?? [];
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
