import type { ReactNode } from 'react';
import { useEffect } from 'react';

interface PageProps {
  readonly title: string;
  /** One sentence below the title. */
  readonly lead?: ReactNode;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  /** Above the title: where the page belongs. */
  readonly trail?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of every page: its title, which is also that of the window, and what can be done here. */
export function Page({ title, lead, actions, trail, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – Behest`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div>
          {trail && <p className="trail">{trail}</p>}
          <h1>{title}</h1>
          {lead && <p className="lead">{lead}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
  /** For what leads to it. */
  readonly id?: string;
}

/** A part of a page on paper. */
export const Panel = ({ title, children, actions, id }: PanelProps) => (
  <section className="panel" id={id}>
    <header className="panel-head">
      <h2>{title}</h2>
      {actions}
    </header>
    {children}
  </section>
);

/** Names with their values. */
export const Facts = ({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}) => (
  <dl className="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
