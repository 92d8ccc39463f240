import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { number, sayer } from '../../messages/language.ts';
import { AgentName } from '../agents.tsx';
import { Facts } from '../page.tsx';
import { When } from '../text.tsx';

const say = sayer('rules');

interface Counts {
  readonly newlyDenied: number;
  readonly newlyAllowed: number;
  /** Those for which a person has to decide. */
  readonly newlyWaiting: number;
}

const KINDS = ['newlyDenied', 'newlyWaiting', 'newlyAllowed'] as const;

/** What a draft would have changed, as the service answers about a policy and about a manifest. */
export interface Report {
  readonly evaluated: number;
  readonly totals: Counts;
  readonly agents: readonly (Counts & { readonly agentId: string })[];
  readonly principals: readonly (Counts & { readonly principalId: string })[];
  readonly changes: readonly Change[];
  /** By the reason. */
  readonly notEvaluated: Readonly<Record<string, number>>;
  /** What the author of the draft may not have meant. */
  readonly warnings?: readonly { readonly kind: string; readonly message: string }[];
  /** False when there are more entries than are read. */
  readonly complete: boolean;
}

interface Change {
  readonly entryId: string;
  readonly at: string;
  readonly agentId: string | null;
  readonly principalId: string | null;
  /** Both in words. */
  readonly before: string;
  readonly after: string;
}

const MOST_ROWS = 10;

/** Whom the draft would have denied and allowed, and about what nothing can be said. */
export function ReplayReport({ report }: { readonly report: Report }) {
  const { evaluated, totals, agents, principals, changes, notEvaluated, complete, warnings = [] } = report;
  const left = Object.entries(notEvaluated).filter(([, count]) => count > 0);
  return (
    <div className="report">
      {warnings.length > 0 && (
        <section className="wider" aria-label={say('warnings')}>
          <ul>
            {warnings.map(({ kind, message }) => (
              <li key={`${kind} ${message}`}>{message}</li>
            ))}
          </ul>
        </section>
      )}
      <Facts
        facts={[
          [say('evaluated'), number(evaluated)],
          ...KINDS.map((kind) => [say(kind), <strong key={kind}>{number(totals[kind])}</strong>] as const),
          ...left.map(([why, count]) => [sayWhy(why), number(count)] as const),
        ]}
      />
      {!complete && <p className="aside">{say('incomplete')}</p>}
      {(agents.length > 0 || principals.length > 0) && (
        <div className="pair">
          <Concerned
            title={say('byAgent')}
            rows={agents.map(({ agentId, ...counts }) => ({
              ...counts,
              id: agentId,
              name: <AgentLink id={agentId} />,
            }))}
          />
          <Concerned
            title={say('byPerson')}
            rows={principals.map(({ principalId, ...counts }) => ({
              ...counts,
              id: principalId,
              name: <PersonLink id={principalId} />,
            }))}
          />
        </div>
      )}
      {changes.length > 0 && <Changes changes={changes} />}
    </div>
  );
}

/** A reason of the service why an entry is not judged. One without words of its own stands as it is. */
function sayWhy(why: string): string {
  switch (why) {
    case 'approvals':
    case 'unrecorded':
    case 'addresses':
    case 'decisions':
    case 'arguments':
    case 'inputs':
    case 'grants':
      return say(why);
    default:
      return why;
  }
}

const AgentLink = ({ id }: { readonly id: string }) => (
  <Link to="/agents/$agentId" params={{ agentId: id }}>
    <AgentName id={id} />
  </Link>
);

const PersonLink = ({ id }: { readonly id: string }) => (
  <Link to="/people/$principalId" params={{ principalId: id }}>
    <bdi>{id}</bdi>
  </Link>
);

interface ConcernedProps {
  readonly title: string;
  readonly rows: readonly (Counts & { readonly id: string; readonly name: ReactNode })[];
}

function Concerned({ title, rows }: ConcernedProps) {
  return (
    <table className="plain-table">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          {KINDS.map((kind) => (
            <th key={kind} scope="col" className="number">
              {say(`of_${kind}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, MOST_ROWS).map(({ id, name, ...counts }) => (
          <tr key={id}>
            <th scope="row">{name}</th>
            {KINDS.map((kind) => (
              <td key={kind} className="number">
                {number(counts[kind])}
              </td>
            ))}
          </tr>
        ))}
        {rows.length > MOST_ROWS && (
          <tr>
            <td colSpan={1 + KINDS.length} className="aside">
              {say('andMore', { count: rows.length - MOST_ROWS })}
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** The first of the decisions that would be others, each with its entry of the audit chain. */
const Changes = ({ changes }: { readonly changes: readonly Change[] }) => (
  <details>
    <summary>{say('which', { count: changes.length })}</summary>
    <ul className="rows">
      {changes.slice(0, 5 * MOST_ROWS).map(({ entryId, at, agentId, principalId, before, after }) => (
        <li key={entryId}>
          <Link to="/audit/$entryId" params={{ entryId }}>
            <When at={at} />
          </Link>
          {agentId && <AgentName id={agentId} />}
          <bdi>{principalId}</bdi>
          <span>{say('turned', { before, after })}</span>
        </li>
      ))}
    </ul>
  </details>
);
