import type { ReactNode } from 'react';
import { sayer } from '../../messages/language.ts';
import { Panel } from '../../parts/page.tsx';
import type { ToolRow } from './check.ts';

const say = sayer('manifest');

const counted = (counts: Readonly<Record<string, number>> | undefined) =>
  Object.entries(counts ?? {})
    .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`)
    .join(', ') || say('free');

const columns: readonly (readonly [name: string, cell: (row: ToolRow) => ReactNode])[] = [
  [say('tool'), ({ name }) => <code>{name}</code>],
  [say('permission'), ({ tool }) => <code>{tool.permission}</code>],
  [say('cost'), ({ tool }) => counted(tool.cost_units)],
  [say('caps'), ({ tool }) => counted(tool.caps)],
  [
    say('decision'),
    ({ tool }) =>
      tool.requires_decision
        ? say((tool.four_eyes_on ?? []).length > 0 ? 'fourEyes' : 'onePerson')
        : say('free'),
  ],
  [say('purposes'), ({ tool }) => tool.allowed_purposes?.join(', ') ?? say('any')],
  [say('change'), ({ change }) => change && <span className="status status-warn">{say(change)}</span>],
];

/** More are counted, not drawn: the text has them all. */
const MOST_ROWS = 200;

/** What each tool of the draft needs, and which become new or wider. */
export const Tools = ({ rows }: { readonly rows: readonly ToolRow[] }) => (
  <Panel title={say('tools')}>
    {rows.length === 0 ? (
      <p className="aside">{say('noTools')}</p>
    ) : (
      <div className="table-frame">
        <table aria-label={say('tools')}>
          <thead>
            <tr>
              {columns.map(([name]) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MOST_ROWS).map((row) => (
              <tr key={row.name}>
                {columns.map(([name, cell]) => (
                  <td key={name} data-label={name}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
    {rows.length > MOST_ROWS && (
      <p className="aside">{say('moreTools', { count: rows.length - MOST_ROWS })}</p>
    )}
  </Panel>
);
