import { toolLevels } from '@behest/protocol/tool-scopes';
import { type CapWindow, capWindows } from '@behest/protocol/tools-entry';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { sayer } from '../../messages/language.ts';
import { Panel } from '../../parts/page.tsx';
import type { Fault } from '../../parts/rules/json.ts';
import type { ToolRow } from './check.ts';

const say = sayer('manifest');

interface ToolsProps {
  readonly rows: readonly ToolRow[];
  readonly faults: readonly Fault[];
  /** Changes members of a tool in the text. One that is undefined is left out. */
  readonly change: (tool: string, members: Readonly<Record<string, unknown>>) => void;
}

const HEADERS = ['tool', 'permission', 'caps', 'decision', 'cost', 'purposes', 'change'] as const;

/** More are counted, not drawn: the text has them all. */
const MOST_ROWS = 200;

/** What each tool of the draft needs, and which become new or wider. What is changed most is changed here, the rest in the text. */
export const Tools = ({ rows, faults, change }: ToolsProps) => (
  <Panel title={say('tools')}>
    {rows.length === 0 ? (
      <p className="aside">{say('noTools')}</p>
    ) : (
      <div className="table-frame">
        <table aria-label={say('tools')} className="tools">
          <thead>
            <tr>
              {HEADERS.map((name) => (
                <th key={name} scope="col">
                  {say(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MOST_ROWS).map((row) => (
              <Tool
                key={row.name}
                row={row}
                faults={faults.filter(({ path }) => `${path}.`.startsWith(`tools.${row.name}.`))}
                change={(members) => change(row.name, members)}
              />
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

interface ToolProps {
  readonly row: ToolRow;
  readonly faults: readonly Fault[];
  readonly change: (members: Readonly<Record<string, unknown>>) => void;
}

function Tool({ row, faults, change: set }: ToolProps) {
  const { name, tool, change } = row;
  const permission: unknown = tool.permission;
  return (
    <tr>
      <td data-label={say('tool')}>
        <code>{name}</code>
        {faults.map(({ path, text }) => (
          <p key={path} className="fault">
            {text}
          </p>
        ))}
      </td>
      <td data-label={say('permission')}>
        <select
          aria-label={say('permissionOf', { tool: name })}
          value={String(permission)}
          onChange={({ target }) => set({ permission: target.value })}
        >
          {!toolLevels.some((level) => level === permission) && <option>{String(permission)}</option>}
          {toolLevels.map((level) => (
            <option key={level}>{level}</option>
          ))}
        </select>
      </td>
      <td data-label={say('caps')}>
        <Caps name={name} caps={tool.caps ?? {}} set={(caps) => set({ caps })} />
      </td>
      <td data-label={say('decision')}>
        <label className="check">
          <input
            type="checkbox"
            aria-label={say('decisionOf', { tool: name })}
            checked={tool.requires_decision === true}
            onChange={({ target }) => set(decisionOf(tool, target.checked))}
          />
          {say(Array.isArray(tool.four_eyes_on) ? 'fourEyes' : 'onePerson')}
        </label>
      </td>
      <td data-label={say('cost')}>{counted(tool.cost_units)}</td>
      <td data-label={say('purposes')}>
        {Array.isArray(tool.allowed_purposes) ? tool.allowed_purposes.join(', ') : say('any')}
      </td>
      <td data-label={say('change')}>
        {change && <span className="status status-warn">{say(change)}</span>}
      </td>
    </tr>
  );
}

/** Without a decision there is nothing on which two have to agree, and nothing that one binds. */
const decisionOf = (tool: ToolRow['tool'], isNeeded: boolean) =>
  isNeeded
    ? { requires_decision: true }
    : {
        requires_decision: undefined,
        ...(tool.four_eyes_on && { four_eyes_on: undefined }),
        binds: undefined,
      };

const counted = (counts: Readonly<Record<string, number>> | undefined) =>
  Object.entries(counts ?? {})
    .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`)
    .join(', ') || say('free');

interface CapsProps {
  readonly name: string;
  readonly caps: Readonly<Partial<Record<CapWindow, number>>>;
  /** Without a cap the member goes. */
  readonly set: (caps: Readonly<Record<string, number>> | undefined) => void;
}

const FIRST_CAP = 20;

function Caps({ name, caps, set }: CapsProps) {
  const left = capWindows.filter((window) => caps[window] === undefined);
  return (
    <div className="caps">
      {capWindows.map((window) => {
        const count = caps[window];
        if (count === undefined) return null;
        const label = say('capOf', { window: say(window), tool: name });
        const { [window]: _, ...others } = caps;
        return (
          <span key={window} className="cap">
            <Count label={label} count={count} set={(next) => set({ ...caps, [window]: next })} />{' '}
            {say(window)}
            <Button
              className="quiet-button"
              aria-label={say('removeCap', { cap: label })}
              onPress={() => set(Object.keys(others).length > 0 ? others : undefined)}
            >
              ×
            </Button>
          </span>
        );
      })}
      {left.length > 0 && (
        <select
          aria-label={say('addCapTo', { tool: name })}
          value=""
          onChange={({ target }) => set({ ...caps, [target.value]: FIRST_CAP })}
        >
          <option value="">{say('addCap')}</option>
          {left.map((window) => (
            <option key={window} value={window}>
              {say(window)}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

interface CountProps {
  readonly label: string;
  readonly count: number;
  readonly set: (count: number) => void;
}

/** Shows what is typed as it is typed. What is no whole number goes nowhere, and is gone when the field is left. */
function Count({ label, count, set }: CountProps) {
  const [typed, type] = useState<string>();
  return (
    <input
      inputMode="numeric"
      aria-label={label}
      value={typed ?? String(count)}
      onChange={({ target }) => {
        type(target.value);
        if (/^[0-9]{1,10}$/.test(target.value)) set(Number(target.value));
      }}
      onBlur={() => type(undefined)}
    />
  );
}
