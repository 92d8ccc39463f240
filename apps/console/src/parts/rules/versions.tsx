import { useState } from 'react';
import { Button } from 'react-aria-components';
import { sayer } from '../../messages/language.ts';
import { useActorNames } from '../agents.tsx';
import { Confirm } from '../confirm.tsx';
import { useAddress } from '../filters.tsx';
import { Panel } from '../page.tsx';
import { Loading, Problem } from '../states.tsx';
import { When } from '../text.tsx';
import { CHANGE } from './change.tsx';
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
  /** The text in the editor. */
  readonly draft: string;
  /** Takes the text of a version into the editor. */
  readonly take: (text: string) => void;
}

/** What a rule was after each change, compared with what it is, and the way back to it. */
export function Versions({ versions, error, chosen, draft, take }: VersionsProps) {
  const change = useAddress();
  const nameOf = useActorNames();
  const [asked, ask] = useState<Version>();
  // A text that is a version can be taken again.
  const isLost = !versions?.some(({ text }) => text === draft);
  const replace = ({ text }: Version) => {
    take(text);
    document.getElementById(CHANGE)?.scrollIntoView({ block: 'start' });
  };
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
              <bdi title={version.actor ?? undefined}>
                {version.actor === null ? say('unknownActor') : nameOf(version.actor)}
              </bdi>
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
                    onPress={() => (isLost ? ask(version) : replace(version))}
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
      <Confirm
        isOpen={asked !== undefined}
        close={() => ask(undefined)}
        title={say('replaceTitle')}
        action={say('take')}
        run={async () => asked && replace(asked)}
      >
        <p>{say('lost')}</p>
      </Confirm>
    </Panel>
  );
}
