import { Button } from 'react-aria-components';
import { sayer } from '../../messages/language.ts';
import { useAddress } from '../filters.tsx';
import { Panel } from '../page.tsx';
import { Loading, Problem } from '../states.tsx';
import { When } from '../text.tsx';
import { Difference } from './difference-view.tsx';

const say = sayer('rules');

export interface Version {
  /** The number that counts the versions. */
  readonly number: number;
  readonly title: string;
  readonly at: string;
  readonly actor: string | null;
  /** As JSON. */
  readonly text: string;
}

interface VersionsProps {
  /** The newest first; absent while they are read. */
  readonly versions: readonly Version[] | undefined;
  readonly error: unknown;
  /** The number of the version that is compared with the newest. */
  readonly chosen: number | undefined;
  /** Takes the text of a version into the editor. */
  readonly take: (text: string) => void;
}

/** What a rule was after each change, compared with what it is, and the way back to it. */
export function Versions({ versions, error, chosen, take }: VersionsProps) {
  const change = useAddress();
  const [newest] = versions ?? [];
  return (
    <Panel title={say('versions')}>
      {Boolean(error) && <Problem error={error} />}
      {!versions && !error && <Loading />}
      <ul className="rows">
        {versions?.map((version) => {
          const isChosen = chosen === version.number;
          return (
            <li key={version.number} className="version">
              <strong>{version.title}</strong>
              <When at={version.at} />
              <code>{version.actor ?? say('unknownActor')}</code>
              {version === newest ? (
                <span className="aside">{say('current')}</span>
              ) : (
                <span className="actions">
                  <Button
                    className="button small"
                    aria-expanded={isChosen}
                    aria-label={say('compareOne', { title: version.title })}
                    onPress={() => change({ version: isChosen ? undefined : version.number })}
                  >
                    {say('compare')}
                  </Button>
                  <Button
                    className="button small"
                    aria-label={say('takeOne', { title: version.title })}
                    onPress={() => take(version.text)}
                  >
                    {say('take')}
                  </Button>
                </span>
              )}
              {isChosen && newest && (
                <Difference
                  label={say('compareOne', { title: version.title })}
                  before={version.text}
                  after={newest.text}
                />
              )}
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
