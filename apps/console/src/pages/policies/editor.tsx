import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { useAddress } from '../../parts/filters.tsx';
import { Panel } from '../../parts/page.tsx';
import { RuleChange } from '../../parts/rules/change.tsx';
import { type Fault, readJson } from '../../parts/rules/json.ts';
import { JsonEditor } from '../../parts/rules/json-editor.tsx';
import { checkPolicy, refusedFields } from './check.ts';
import { type Draft, type Field, fieldsOf, textOf, wholeChange } from './draft.ts';
import { PolicyForm, sayEffect } from './form.tsx';
import { useAgentOf } from './known.tsx';

const say = sayer('policy');

interface EditorProps {
  /** The policy as it is saved; absent for a new one. */
  readonly policy?: Schemas['PolicyRecord'];
  readonly view: 'json' | undefined;
  /** The draft, which the page holds so that a version can take its place. */
  readonly text: string;
  readonly write: (text: string) => void;
  readonly saved: (policy: Schemas['PolicyWithWarnings']) => void;
  /** Whether the policy was saved just now, on the page before. */
  readonly isSaved?: boolean;
}

/** A policy as a form or as JSON. Both write the same text, which is checked with each change. */
export function PolicyEditor({ policy, view, text, write, saved, isSaved = false }: EditorProps) {
  const change = useAddress();
  const queries = useQueryClient();
  const [refusal, refuse] = useState<{ readonly text: string; readonly faults: readonly Fault[] }>();
  const { value, mark, lineOf } = useMemo(() => readJson(text), [text]);
  const checked = useMemo(() => checkPolicy(value), [value]);
  const refused = refusal?.text === text ? refusal.faults : [];
  const faults = [...checked.faults, ...refused];
  const { isUnknown } = useAgentOf(Object(value).agentId);
  const notes = isUnknown ? [{ path: 'agentId', text: say('noAgent') }] : [];
  const candidate = checked.policy;
  const draft: Draft | undefined = value !== null && typeof value === 'object' ? { ...value } : undefined;

  const save = async () => {
    if (!candidate) return;
    const answer = policy
      ? await api.PATCH('/v1/policies/{id}', {
          params: { path: { id: policy.id } },
          body: wholeChange(candidate),
        })
      : await api.POST('/v1/policies', { body: candidate });
    if (!answer.data || 'changeId' in answer.data) return; // the client throws where a change waits
    await queries.invalidateQueries({
      predicate: ({ queryKey }) => String(queryKey[1]).startsWith('/v1/policies'),
    });
    write(textOf(fieldsOf(answer.data)));
    saved(answer.data);
  };
  const replay = async (span: { readonly since: string; readonly until: string }) => {
    if (!candidate) throw new Error('A draft that has faults is not replayed.');
    const body = { candidate: { ...(policy && { id: policy.id }), ...candidate }, ...span };
    const { data } = await api.POST('/v1/policies/replay', { body });
    if (!data) throw new Error('The service answered without a report.');
    const changes = data.changes.map((each) => ({
      ...each,
      before: decision(each.before),
      after: decision(each.after),
    }));
    return { ...data, changes };
  };

  return (
    <>
      <Panel
        title={say('editor')}
        actions={
          <fieldset className="toggle" aria-label={say('view')}>
            {(['form', 'json'] as const).map((each) => (
              <button
                key={each}
                type="button"
                aria-pressed={each === (view ?? 'form')}
                onClick={() => change({ view: each === 'json' ? each : undefined })}
              >
                {each === 'json' ? 'JSON' : say('form')}
              </button>
            ))}
          </fieldset>
        }
      >
        {view === 'json' ? (
          <JsonEditor
            label={say('json')}
            text={text}
            change={write}
            marks={
              mark
                ? [mark]
                : [...faults, ...notes]
                    .map(({ path, text: what }) => ({
                      line: lineOf(path),
                      text: path === '' ? what : `${path}: ${what}`,
                    }))
                    .toSorted((one, other) => one.line - other.line)
            }
          />
        ) : draft ? (
          <PolicyForm
            draft={draft}
            faults={faults}
            change={(name: Field, next) => write(textOf({ ...draft, [name]: next }))}
          />
        ) : (
          <p className="fault">{say('noJson')}</p>
        )}
      </Panel>
      <RuleChange
        draft={candidate ? textOf({ ...(policy && { priority: 0 }), ...candidate }) : text}
        saved={policy ? textOf(fieldsOf(policy)) : ''}
        isValid={candidate !== undefined && refused.length === 0}
        version={policy && say('versionName', { count: policy.version })}
        isSaved={isSaved}
        replay={replay}
        save={save}
        refused={(error) => refuse({ text, faults: refusedFields(error) })}
      >
        {candidate?.connector && <p>{say('ofCalls')}</p>}
        {candidate?.networks && <p>{say('ofAddresses')}</p>}
      </RuleChange>
    </>
  );
}

const decision = (effect: string | null) => (effect === null ? say('noPolicy') : sayEffect(effect));
