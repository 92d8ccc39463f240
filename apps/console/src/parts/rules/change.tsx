import { useMutation } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button } from 'react-aria-components';
import { isRefusal } from '../../api/errors.ts';
import { sayer } from '../../messages/language.ts';
import { useRoleNeeded } from '../../session/roles.ts';
import { announce } from '../announcer.tsx';
import { Confirm } from '../confirm.tsx';
import { Panel } from '../page.tsx';
import { Problem } from '../states.tsx';
import { Difference } from './difference-view.tsx';
import { ReplayReport, type Report } from './report.tsx';

const say = sayer('rules');

/** The id of this part, to which the versions lead back. */
export const CHANGE = 'change';

interface Span {
  readonly since: string;
  readonly until: string;
}

interface RuleChangeProps {
  /** Both as JSON texts. `saved` is empty for a new rule. */
  readonly draft: string;
  readonly saved: string;
  readonly isValid: boolean;
  /** What is saved by its name, such as `version 3`. */
  readonly version?: string | undefined;
  /** Whether it was saved just now, on the page before. */
  readonly isSaved?: boolean;
  readonly replay: (span: Span) => Promise<Report>;
  readonly save: () => Promise<unknown>;
  /** Marks what the service refuses where it stands in the draft. */
  readonly refused: (error: unknown) => void;
  /** What the change does beside what the replay shows. */
  readonly children?: ReactNode;
}

const DAYS = 30;

/** The draft beside what is saved, what it would have changed, and after that the one button that saves it. */
export function RuleChange(props: RuleChangeProps) {
  const { draft, saved, isValid, version, isSaved, replay, save, refused, children } = props;
  const role = useRoleNeeded('configure');
  const replayed = useMutation({
    mutationFn: async (text: string) => ({ text, report: await replay(lastDays()) }),
    onSuccess: ({ report: { totals } }) => announce(say('replayed', { ...totals })),
    onError: refused,
  });
  const saving = useMutation({ mutationFn: save, onSuccess: () => announce(say('saved')), onError: refused });
  const isChanged = draft !== saved;
  const [template] = useState(draft);
  const report = isChanged && replayed.data?.text === draft ? replayed.data.report : undefined;
  /** A rule can be saved in an emergency, while the service is too busy to replay it. */
  const isAway = replayed.error !== null && !isRefusal(replayed.error) && replayed.variables === draft;
  const isReady = role === undefined && isValid && isChanged && (report !== undefined || isAway);

  return (
    <Panel
      id={CHANGE}
      title={say('change')}
      actions={
        <Button
          className="button"
          isDisabled={!isValid || !isChanged}
          isPending={replayed.isPending}
          onPress={() => replayed.mutate(draft)}
        >
          {replayed.isPending ? say('replaying') : say('replay', { count: DAYS })}
        </Button>
      }
    >
      <Difference label={say('difference')} before={saved} after={draft} />
      {isChanged && children}
      {replayed.error !== null && replayed.variables === draft && (
        <Problem error={replayed.error} title={say('noReplay')} />
      )}
      {report && <ReplayReport report={report} />}
      {saving.error !== null && <Problem error={saving.error} title={say('notSaved')} />}
      <div className="save">
        <p className="aside">
          {!isChanged && (saving.isSuccess || isSaved) && version ? (
            <span className="status status-good">{say('savedAs', { version })}</span>
          ) : role ? (
            say('needsRole', { role })
          ) : (
            reasonOf({ isChanged, isValid, report, isAway, version })
          )}
        </p>
        <Button
          className="button strong"
          isDisabled={!isReady}
          isPending={saving.isPending}
          onPress={() => saving.mutate()}
        >
          {say('save')}
        </Button>
      </div>
      <Unsaved isUnsaved={isChanged && (saved !== '' || draft !== template)} />
    </Panel>
  );
}

/** Asks before a draft is lost: by a link or by going back, and where the document is left, in the words of the browser. */
function Unsaved({ isUnsaved }: { readonly isUnsaved: boolean }) {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    enableBeforeUnload: isUnsaved,
    disabled: !isUnsaved,
    withResolver: true,
  });
  return (
    <Confirm
      isOpen={leaving.status === 'blocked'}
      close={() => leaving.reset?.()}
      title={say('leaveTitle')}
      action={say('leave')}
      run={async () => leaving.proceed?.()}
    >
      <p>{say('lost')}</p>
    </Confirm>
  );
}

interface State {
  readonly isChanged: boolean;
  readonly isValid: boolean;
  readonly report: Report | undefined;
  readonly isAway: boolean;
  readonly version: string | undefined;
}

/** What stands beside the button: what saving does, or what is missing for it. */
function reasonOf({ isChanged, isValid, report, isAway, version }: State): string {
  if (!isChanged) return version ? say('unchangedSince', { version }) : say('unchanged');
  if (!isValid) return say('invalid');
  if (!report) return say(isAway ? 'unreplayed' : 'replayFirst');
  const { newlyDenied: denied, newlyAllowed: allowed, newlyWaiting: waiting } = report.totals;
  return say('effect', { denied, allowed, waiting, count: report.evaluated });
}

function lastDays(): Span {
  const until = Date.now();
  return {
    since: new Date(until - DAYS * 86_400_000).toISOString(),
    until: new Date(until).toISOString(),
  };
}
