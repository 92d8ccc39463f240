import { Button } from 'react-aria-components';
import { number, sayer } from '../../messages/language.ts';
import { useAddress } from '../../parts/filters.tsx';
import { Panel } from '../../parts/page.tsx';

const say = sayer('denials');

interface Group {
  /** The members of the address that choose it. */
  readonly chooses: Readonly<Record<string, string>>;
  readonly name: string;
  readonly note?: string;
  readonly count: number;
  readonly isChosen: boolean;
}

const MOST = 8;

/** The most frequent reasons, each with its share as a bar. One that is pressed filters the list below, or no longer. */
export function Groups({ title, groups }: { readonly title: string; readonly groups: readonly Group[] }) {
  const change = useAddress();
  const most = Math.max(1, ...groups.map(({ count }) => count));
  const shown = groups.filter(({ isChosen }, at) => at < MOST || isChosen);
  if (groups.length === 0) return null;
  return (
    <Panel title={title}>
      <ul className="reasons">
        {shown.map(({ chooses, name, note, count, isChosen }) => (
          <li key={JSON.stringify(chooses)}>
            <Button
              className="reason"
              aria-pressed={isChosen}
              onPress={() =>
                change(
                  isChosen
                    ? Object.fromEntries(Object.keys(chooses).map((key) => [key, undefined]))
                    : chooses,
                )
              }
            >
              <span className="reason-words">
                <code>{name}</code>
                {note && <span className="aside">{note}</span>}
              </span>
              <span className="reason-count">{number(count)}</span>
              <span className="bar" aria-hidden="true">
                <span ref={(bar) => bar?.style.setProperty('width', `${(100 * count) / most}%`)} />
              </span>
            </Button>
          </li>
        ))}
      </ul>
      {groups.length > shown.length && (
        <p className="aside">{say('others', { count: groups.length - shown.length })}</p>
      )}
    </Panel>
  );
}
