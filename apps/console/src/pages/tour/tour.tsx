import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { sayer } from '../../messages/language.ts';
import { announce } from '../../parts/announcer.tsx';
import { Code, Snippets } from '../../parts/code.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Problem } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import { Denied, type Made, type Step, snippetsOf, steps } from './steps.ts';

const say = sayer('tour');

interface Progress {
  readonly made: Made;
  readonly answers: readonly unknown[];
}

/** How often the tour looks whether the person has decided. */
const LOOK_EVERY_MS = 1500;

export function Tour() {
  const { developer } = useSession();
  if (developer.mode === 'live')
    return (
      <Page title={say('title')}>
        <Empty title={say('live')}>
          <p>{say('liveText')}</p>
        </Empty>
      </Page>
    );
  return (
    <Page title={say('title')} lead={say('lead')}>
      <Steps />
    </Page>
  );
}

function Steps() {
  const queries = useQueryClient();
  const [{ made, answers }, progress] = useState<Progress>({ made: {}, answers: [] });
  const [state, set] = useState<{ readonly isBusy?: true; readonly error?: unknown }>({});
  const at = answers.length;
  const step = steps[at];

  /** @returns whether the step is done */
  const run = async (one: Step): Promise<boolean> => {
    set({ isBusy: true });
    try {
      const result = await one.run(made);
      set({});
      if (!result) return false;
      progress({ made: { ...made, ...result.made }, answers: [...answers, result.answer] });
      announce(say('done', { step: say(one.name) }));
      void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
      return true;
    } catch (error) {
      set({ error });
      return false;
    }
  };
  const list = useRef<HTMLDivElement>(null);
  useResultInView(at, list);
  useWaiting(step?.name === 'consent' && state.error === undefined, () => step && void run(step));
  const restart = () => {
    set({});
    progress({ made: {}, answers: [] });
  };

  return (
    <div ref={list}>
      <ol className="tour">
        {steps.map((one, index) => (
          <li key={one.name} className={index < at ? 'step done' : index === at ? 'step now' : 'step'}>
            <div className="step-head">
              <span className="step-mark" aria-hidden="true">
                {index < at ? '✓' : index + 1}
              </span>
              <h2>{say(one.name)}</h2>
              {index < at && <span className="unseen">{say('stepDone')}</span>}
            </div>
            {index <= at && (
              <div className="step-body">
                <p>{say(`${one.name}Text`)}</p>
                {index === at && <Act step={one} made={made} isBusy={state.isBusy === true} run={run} />}
                {index === at && state.error !== undefined && (
                  <Trouble error={state.error} retry={() => void run(one)} restart={restart} />
                )}
                <Snippets label={say(one.name)} snippets={snippetsOf(one.call(made), location.origin)} />
                {index < at && (
                  <div className="answer">
                    <Code label={say('answer')} text={shown(answers[index])} />
                  </div>
                )}
              </div>
            )}
          </li>
        ))}
      </ol>
      {!step && (
        <section className="panel now" role="status">
          <h2>{say('finished')}</h2>
          <p>{say('finishedText')}</p>
          <Results made={made} />
          <div className="actions">
            <Button className="button" onPress={restart}>
              {say('restart')}
            </Button>
          </div>
        </section>
      )}
    </div>
  );
}

/** Where what was made stands from now on. */
const Results = ({ made: { agentId = '', grantId = '', entryId } }: { readonly made: Made }) => (
  <ul className="links">
    <li>
      <Link to="/agents/$agentId" params={{ agentId }}>
        {say('toAgent')}
      </Link>
    </li>
    <li>
      <Link to="/grants/$grantId" params={{ grantId }}>
        {say('toGrant')}
      </Link>
    </li>
    {entryId !== undefined && (
      <>
        <li>
          <Link to="/audit/$entryId" params={{ entryId }}>
            {say('toEntry')}
          </Link>
        </li>
        <li>
          <Link to="/denials/$entryId" params={{ entryId }}>
            {say('toDenial')}
          </Link>
        </li>
      </>
    )}
  </ul>
);

interface ActProps {
  readonly step: Step;
  readonly made: Made;
  readonly isBusy: boolean;
  readonly run: (step: Step) => Promise<boolean>;
}

/** The button of a step. Consent is a person's act, so it leads to their page. */
function Act({ step, made, isBusy, run }: ActProps) {
  if (step.name === 'consent')
    return (
      <p className="actions">
        <a className="button strong" href={made.consentUrl} target="_blank" rel="noopener">
          {say('openConsent')}
        </a>
        <span className="aside">{say('waiting')}</span>
      </p>
    );
  return (
    <p className="actions">
      <Button className="button strong" isDisabled={isBusy} onPress={() => void run(step)}>
        {say(`${step.name}Act`)}
      </Button>
    </p>
  );
}

interface TroubleProps {
  readonly error: unknown;
  readonly retry: () => void;
  readonly restart: () => void;
}

/** A step that failed can be tried again. What it needs may be gone, so the tour can begin again too. */
function Trouble({ error, retry, restart }: TroubleProps) {
  const isDenied = error instanceof Denied;
  return (
    <>
      {!isDenied && <Problem error={error} retry={retry} />}
      <section className={isDenied ? 'problem' : undefined} {...(isDenied && { role: 'alert' })}>
        {isDenied && <h2>{say('denied')}</h2>}
        <p>{say(isDenied ? 'deniedText' : 'failedText')}</p>
        <Button className="button" onPress={restart}>
          {say('restart')}
        </Button>
      </section>
    </>
  );
}

/** Shows what a step was answered, with the next step below it, and leaves the keyboard at that step. */
function useResultInView(at: number, list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (at === 0) return;
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    list.current?.querySelector<HTMLElement>('.now :is(a, button)')?.focus({ preventScroll: true });
    list.current
      ?.querySelectorAll('.step.done .answer')
      [at - 1]?.scrollIntoView({ block: 'start', behavior: isStill ? 'instant' : 'smooth' });
  }, [at, list]);
}

/** Looks again and again, also when the reader comes back from the other page. */
function useWaiting(isWaiting: boolean, look: () => void): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => latest.current(), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [isWaiting]);
}

/** Tokens are long, and their middle says nothing to a reader. */
const shown = (answer: unknown) =>
  typeof answer === 'string'
    ? answer
    : JSON.stringify(
        answer,
        (_, value) =>
          typeof value === 'string' && value.length > 80 ? `${value.slice(0, 40)}…${value.slice(-8)}` : value,
        2,
      );
